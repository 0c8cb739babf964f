//! The law that a bill became. Public laws are records of their own; a private law, which concerns
//! named persons, is known by its number alone.

use std::sync::LazyLock;

use josh::catalog::ids;
use regex::Regex;

use crate::patterns::pattern;
use crate::record::Record;

#[derive(Debug, PartialEq)]
pub struct Law {
    is_private: bool,
    congress: u32,
    number: u32,
}

impl Law {
    /// From congress.gov's list of a bill's laws: "Private Law", "119-1".
    pub fn listed(kind: &str, number: &str) -> Option<Law> {
        let (congress, number) = number.trim().split_once(['-', '–'])?;
        let is_private = match kind.trim() {
            "Private Law" => true,
            "Public Law" => false,
            _ => return None,
        };
        Some(Law { is_private, congress: congress.parse().ok()?, number: number.parse().ok()? })
    }

    /// From the action by which it became law: "Became Public Law No: 119-1."
    pub fn in_action(text: &str) -> Option<Law> {
        static BECAME: LazyLock<Regex> = LazyLock::new(|| {
            pattern(r"^Became (Public|Private) Law No[:.]? *(\d{1,3}[-–]\d{1,4})\b")
        });
        let found = BECAME.captures(text)?;
        Law::listed(&format!("{} Law", &found[1]), &found[2])
    }

    /// Sets everything that a bill's record says about its law, so that the fields agree.
    pub fn set_on_bill(&self, bill: &mut Record) {
        let (kind, word) =
            if self.is_private { ("private", "Private") } else { ("public", "Public") };
        let number = format!("{}-{}", self.congress, self.number);
        bill.set("status", "enacted").set("is_law", true).set("law_type", kind);
        bill.set("law_number", format!("{word} Law {number}"));
        if !self.is_private {
            bill.set("law_id", ids::canonical("public-laws", &number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Rank;

    #[test]
    fn laws_are_listed_or_named_by_the_action() {
        let private = Law { is_private: true, congress: 119, number: 1 };
        assert_eq!(Law::listed("Private Law", "119-1").as_ref(), Some(&private));
        assert_eq!(Law::in_action("Became Private Law No: 119-1.").as_ref(), Some(&private));
        assert_eq!(Law::in_action("Message on how it became Public Law No: 119-1."), None);
        assert_eq!(Law::listed("Public Law", "none"), None);
    }

    #[test]
    fn only_public_laws_have_an_id() {
        let mut bill = Record::new("bills", "hr:119:3377", Rank::Full);
        Law { is_private: true, congress: 119, number: 1 }.set_on_bill(&mut bill);
        assert_eq!(bill.fields["law_number"], "Private Law 119-1");
        assert_eq!((&bill.fields["is_law"], bill.fields.get("law_id")), (&true.into(), None));
        Law { is_private: false, congress: 119, number: 21 }.set_on_bill(&mut bill);
        assert_eq!(
            (&bill.fields["law_id"], &bill.fields["law_type"]),
            (&"pl:119:21".into(), &"public".into())
        );
    }
}
