//! The versions of a bill's text: GPO's codes, the names they go by, and their order.

/// (code, name) as GPO has them, names in lower case and without punctuation.
const VERSIONS: &[(&str, &str)] = &[
    ("ih", "introduced in house"),
    ("is", "introduced in senate"),
    ("rih", "referral instructions house"),
    ("ris", "referral instructions senate"),
    ("rch", "reference change house"),
    ("rcs", "reference change senate"),
    ("rth", "referred to committee house"),
    ("rts", "referred to committee senate"),
    ("rdh", "received in house"),
    ("rds", "received in senate"),
    ("rfh", "referred in house"),
    ("rfs", "referred in senate"),
    ("rah", "referred with amendments house"),
    ("rah", "referred w amendments house"),
    ("ras", "referred with amendments senate"),
    ("ras", "referred w amendments senate"),
    ("hdh", "held at desk house"),
    ("hds", "held at desk senate"),
    ("pch", "placed on calendar house"),
    ("pcs", "placed on calendar senate"),
    ("cdh", "committee discharged house"),
    ("cds", "committee discharged senate"),
    ("rh", "reported in house"),
    ("rs", "reported in senate"),
    ("rh", "reported to house"),
    ("rs", "reported to senate"),
    ("as", "amendment ordered to be printed senate"),
    ("as", "amended ordered to be printed senate"),
    ("pwah", "ordered to be printed with house amendment"),
    ("pwah", "ordered printed with house amendment"),
    ("ash", "additional sponsors house"),
    ("sas", "additional sponsors senate"),
    ("sc", "sponsor change house"),
    ("sc", "sponsor change"),
    ("oph", "ordered to be printed house"),
    ("ops", "ordered to be printed senate"),
    ("lth", "laid on table in house"),
    ("lth", "laid on table house"),
    ("lts", "laid on table in senate"),
    ("lts", "laid on table senate"),
    ("iph", "indefinitely postponed house"),
    ("ips", "indefinitely postponed senate"),
    ("fph", "failed passage house"),
    ("fps", "failed passage senate"),
    ("fah", "failed amendment house"),
    ("pav", "previous action vitiated"),
    ("rhuc", "returned to the house by unanimous consent"),
    ("rhuc", "returned to house by unanimous consent"),
    ("cph", "considered and passed house"),
    ("cps", "considered and passed senate"),
    ("ath", "agreed to house"),
    ("ats", "agreed to senate"),
    ("eph", "engrossed and deemed passed by house"),
    ("eh", "engrossed in house"),
    ("es", "engrossed in senate"),
    ("eah", "engrossed amendment house"),
    ("eas", "engrossed amendment senate"),
    ("eah", "engrossed amendment as agreed to by house"),
    ("eas", "engrossed amendment as agreed to by senate"),
    ("reah", "re engrossed amendment house"),
    ("reah", "reengrossed amendment house"),
    ("res", "re engrossed amendment senate"),
    ("res", "reengrossed amendment senate"),
    ("pap", "printed as passed"),
    ("pp", "public print"),
    ("enr", "enrolled bill"),
    ("renr", "re enrolled bill"),
];

/// The code of a version named by its code ("IH", "eas2"), its name ("Introduced in House") or the
/// stage attribute of the older XML ("Introduced-in-House").
pub fn code(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_lowercase();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if VERSIONS.iter().any(|(code, _)| *code == stem) {
        return Some(name);
    }
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let words = words.collect::<Vec<_>>().join(" ");
    VERSIONS.iter().find(|(_, known)| *known == words).map(|(code, _)| code.to_string())
}

/// The code at the end of GPO's file names: "…/BILLS-119hr1eas2.xml", "H1037_RFS.XML".
pub fn code_in_file_name(name: &str) -> Option<String> {
    let file = name.rsplit('/').next()?;
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let last = stem.rsplit(['-', '_']).next()?;
    // "119hr1eas2": congress, type, number, version.
    let after_congress = last.trim_start_matches(|c: char| c.is_ascii_digit());
    let after_type = after_congress.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let version = after_type.trim_start_matches(|c: char| c.is_ascii_digit());
    code(if version.is_empty() { last } else { version })
}

/// Sorts the versions of one bill, oldest first: the stage, then the date. `kind` is the bill's
/// type, which tells the chamber of origin: a Senate print of a House bill comes after the
/// House's.
pub fn order(kind: &str, code: &str, date: &str) -> String {
    format!("{:02} {date}", stage(kind, code)).trim_end().to_string()
}

fn stage(kind: &str, code: &str) -> u8 {
    let stem = code.trim_end_matches(|c: char| c.is_ascii_digit());
    let again = stem.len() < code.len();
    let of_house = stem.ends_with('h') || stem == "sc";
    let at_home = of_house == kind.starts_with('h');
    match stem {
        "enr" => 90,
        "renr" => 91,
        "pap" | "pp" => 80,
        // The Senate gives a bill of the House back; an amendment that the Senate prints.
        "rhuc" => 56,
        "pwah" => 59,
        // The home chamber amends only what the other one sent back; a second amendment follows
        // that.
        "eah" | "eas" | "reah" | "res" => match (at_home, again) {
            (false, false) => 58,
            (true, false) => 60,
            (_, true) => 62,
        },
        _ => (if at_home { 10 } else { 40 }) + within_chamber(stem),
    }
}

/// The usual course of a bill within a chamber.
fn within_chamber(stem: &str) -> u8 {
    match stem {
        "ih" | "is" => 0,
        "rdh" | "rds" | "hdh" | "hds" => 1,
        "rfh" | "rfs" | "rth" | "rts" | "rah" | "ras" => 2,
        "rih" | "ris" | "rch" | "rcs" | "sc" | "ash" | "sas" | "oph" | "ops" => 3,
        "pch" | "pcs" => 4,
        "cdh" | "cds" => 5,
        "rh" | "rs" => 6,
        "as" => 7,
        "lth" | "lts" | "iph" | "ips" | "fph" | "fps" | "fah" => 8,
        "cph" | "cps" | "ath" | "ats" => 9,
        _ => 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_by_name_code_and_stage() {
        for (name, expected) in [
            ("Introduced in House", "ih"),
            ("IH", "ih"),
            ("Introduced-in-House", "ih"),
            ("Reported to Senate", "rs"),
            ("EAS2", "eas2"),
            ("Enrolled Bill", "enr"),
            ("Amendment Ordered to be Printed (Senate)", "as"),
            ("Returned to the House by Unanimous Consent", "rhuc"),
            ("Re-engrossed Amendment House", "reah"),
        ] {
            assert_eq!(code(name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(code("Public Law"), None);
    }

    /// The list of govinfo's help page on bill versions.
    #[test]
    fn every_code_of_gpo_is_known() {
        let codes = "as ash ath ats cdh cds cph cps eah eas eh enr eph es fah fph fps hdh hds ih \
             iph ips is lth lts oph ops pap pav pch pcs pp pwah rah ras rch rcs rdh rds reah renr \
             res rfh rfs rh rhuc rih ris rs rth rts sas sc";
        for known in codes.split_whitespace() {
            assert_eq!(code(known).as_deref(), Some(known));
            let file = format!("bills/BILLS-119hr7148{known}.xml");
            assert_eq!(code_in_file_name(&file).as_deref(), Some(known));
        }
    }

    #[test]
    fn versions_by_file_name() {
        assert_eq!(code_in_file_name("bills/BILLS-115hr1eas2.xml").as_deref(), Some("eas2"));
        assert_eq!(code_in_file_name("H1037_RFS.XML").as_deref(), Some("rfs"));
        assert_eq!(code_in_file_name("readme.xml"), None);
    }

    #[test]
    fn oldest_first_in_either_direction() {
        let sorted = |kind: &str, codes: [&str; 6]| {
            let mut sorted = codes.to_vec();
            sorted.sort_by_key(|c| order(kind, c, "2025-01-03"));
            assert_eq!(sorted, codes, "{kind}");
        };
        sorted("hr", ["ih", "rh", "eh", "pcs", "eas", "enr"]);
        sorted("s", ["is", "pcs", "cps", "es", "eah", "enr"]);
    }
}
