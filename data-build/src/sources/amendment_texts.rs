//! The texts of Senate amendments, which the Congressional Record prints under "TEXT OF
//! AMENDMENTS": each begins with who submitted it to which measure, and "as follows:".

use std::sync::LazyLock;

use josh::catalog::wording;
use regex::Regex;

use super::{amendments, bill_plain_text};
use crate::formats::plain::{self, Block};
use crate::mentions;
use crate::patterns::pattern;
use crate::record::{Rank, Record};

/// The amendments in a granule of this title; none in others.
pub fn records(title: &str, text: &str, date: &str) -> Vec<Record> {
    static START: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?m)^ {0,10}SA (\d{1,5})\. (?:Mr|Mrs|Ms|Miss|Dr)\. "));
    let Some(congress) = wording::congress_on(date).filter(|_| is_list_of_texts(title)) else {
        return Vec::new();
    };
    let starts: Vec<(usize, i64)> = START
        .captures_iter(text)
        .filter_map(|c| Some((c.get(0)?.start(), c[1].parse().ok()?)))
        .collect();
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((start, number), end)| record(congress, *number, &text[*start..end], date))
        .collect()
}

fn is_list_of_texts(title: &str) -> bool {
    title.trim().eq_ignore_ascii_case("TEXT OF AMENDMENTS")
}

/// One amendment: what its first sentence says, and the text that follows.
fn record(congress: i64, number: i64, printed: &str, date: &str) -> Record {
    static HEAD: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)^.{0,4000}?\bas\s+follows:|^.{0,4000}?\n\s*\n"));
    static AMENDED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bto amendment SA (\d{1,5})\b"));
    let (head, body) = printed.split_at(HEAD.find(printed).map_or(0, |m| m.end()));
    let head = plain::collapse_spaces(head);
    let mut record = Record::new("amendments", format!("samdt:{congress}:{number}"), Rank::Stub);
    let bill = mentions::bills(&head, Some(congress)).into_iter().next();
    record.set("congress", congress).set("type", "samdt").set("number", number);
    record.set("chamber", "senate").set("submitted_date", date);
    record.set("title", amendments::title("samdt", number, bill.as_deref(), ""));
    record.set("bill_id", bill);
    let amended = AMENDED.captures(&head).map(|c| format!("samdt:{congress}:{}", &c[1]));
    record.set("amends_amendment_id", amended);
    let paragraphs = plain::blocks(body).into_iter().map(|block| match block {
        Block::Heading(text) | Block::Paragraph(text) => text,
    });
    let text = paragraphs.collect::<Vec<_>>().join("\n");
    record.body("text", date, bill_plain_text::sections(&text));
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRANULE: &str = "                           TEXT OF AMENDMENTS

  SA 8. Ms. DOE (for herself and Mr. Roe) submitted an amendment intended to be proposed by her
to the bill S. 5, to keep boats afloat, and for other purposes; which was ordered to lie on the
table; as follows:

       At the end, add the following:

     SEC. 4. INSPECTION OF BOATS BEFORE THEY LEAVE THE HARBOR AND
                   AFTER THEY RETURN.

       Section 2 is amended by striking ``oars'' and inserting ``oars
     and sails''.
                                 ______

       SA 14. Mr. ROE submitted an amendment intended to be proposed to
     amendment SA 8 submitted by Ms. Doe to the bill S. 5, to keep boats afloat; as
     follows:

       On page 2, strike line 3.
";

    #[test]
    fn each_amendment_has_its_own_text() {
        let found = records("TEXT OF AMENDMENTS", GRANULE, "2025-01-15");
        let ids: Vec<_> = found.iter().map(|r| r.id.as_str()).collect();
        assert_eq!(ids, ["samdt:119:8", "samdt:119:14"]);
        assert_eq!(found[0].fields["bill_id"], "s:119:5");
        assert_eq!(found[1].fields["amends_amendment_id"], "samdt:119:8");
        assert_eq!(found[1].fields["title"], "S. Amdt. 14 to S. 5");
        let sections = &found[0].bodies[0].sections;
        assert_eq!(sections[0].text, "At the end, add the following:");
        assert_eq!(
            (sections[1].section.as_str(), sections[1].heading.as_str()),
            (
                "4",
                "SEC. 4. INSPECTION OF BOATS BEFORE THEY LEAVE THE HARBOR AND AFTER THEY RETURN."
            )
        );
        let amended = "Section 2 is amended by striking ``oars'' and inserting ``oars and sails''.";
        assert_eq!(sections[1].text, amended);
        assert_eq!(found[1].bodies[0].sections[0].text, "On page 2, strike line 3.");
    }

    #[test]
    fn other_granules_have_none() {
        assert!(records("AMENDMENTS SUBMITTED AND PROPOSED", GRANULE, "2025-01-15").is_empty());
    }
}
