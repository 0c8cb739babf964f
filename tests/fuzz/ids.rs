//! The grammar of ids: what parses has a canonical form, and that form is its own.

use std::cell::Cell;

use josh::catalog::ids::{FORMS, Id, Parsed, canonical, parse, parse_for};

use crate::{MANY, Target, mutate, texts};

const WRITTEN: &[&str] = &[
    "H.R. 1 (119th Congress)",
    "hr1-119",
    "119th Congress H.R. 1",
    "BILLS-119hr1enr",
    "BILLSTATUS-119hr1",
    "House Joint Resolution 88, 119th Congress",
    "S. Con. Res. 7",
    "S.Amdt. 2265 (119th Congress)",
    "Pub. L. No. 119–21",
    "PLAW-119publ21",
    "H. Rept. 119-106, part 2",
    "CRPT-119erpt3",
    "CRS Report R47892",
    "98-123",
    "CBO publication 61461",
    "GAO/T-RCED-99-123",
    "FR Doc. No. 2026-08558",
    "E9-31418",
    "40 C.F.R. § 122.26(b)(14)",
    "26 CFR 1.401(k)-1",
    "CREC-2025-05-21-pt1-PgH2210-3",
    "Executive Order 14110",
    "eo:12345-A",
    "Presidential Proclamation No. 10886",
    "pmemo:2025-01-20:3",
    "hswm00",
    "House roll call vote 145, 119th Congress, 1st session",
    "h145-119.2025",
    "Docket ID EPA-HQ-OAR-2021-0317",
    "PN12-3 (119th Congress)",
    "https://www.congress.gov/bill/119th-congress/senate-joint-resolution/3/text?format=txt",
    "https://www.congress.gov/amendment/119th-congress/senate-amendment/2265",
    "https://www.congress.gov/congressional-report/119th-congress/house-report/106/1",
    "https://www.congress.gov/nomination/119th-congress/12/3",
    "https://www.congress.gov/event/119th-congress/house-event/118225",
    "https://www.congress.gov/member/jane-doe/S000033",
    "https://www.congress.gov/committee/house-ways-and-means/hswm00",
    "https://crsreports.congress.gov/product/pdf/R/R47892",
    "https://www.govinfo.gov/content/pkg/PLAW-119publ21/html/PLAW-119publ21.htm",
    "https://www.govinfo.gov/content/pkg/CREC-2025-05-21/html/CREC-2025-05-21-pt1-PgH2210-3.htm",
    "https://www.govinfo.gov/app/details/CRPT-119hrpt106/CRPT-119hrpt106-pt1",
    "https://www.federalregister.gov/documents/2026/05/01/2026-08558/a-rule",
    "https://www.federalregister.gov/executive-order/14110",
    "https://www.ecfr.gov/current/title-40/chapter-I/part-122/section-122.26",
    "https://www.cbo.gov/publication/61461",
    "https://www.gao.gov/products/gao-25-107743",
    "https://clerk.house.gov/Votes/2025145",
    "https://www.senate.gov/legislative/LIS/roll_call_votes/vote1191/vote_119_1_00372.htm",
    "https://lda.senate.gov/filings/public/filing/00b7e6a4-0c83-4f0a-9f0e-2f1a3c5d7e90/print/",
    "https://www.regulations.gov/docket/EPA-HQ-OAR-2021-0317",
];

const WORDS: &[&str] = &[
    ":",
    "::",
    "-",
    "(",
    ")",
    "(b)",
    ".",
    " no. ",
    " of the ",
    "th Congress",
    "url:",
    "http://",
    "https://www.",
    "congress.gov/",
    "?",
    "#",
    "/",
    "pl:",
    "cfr:",
    "lda:",
    "gao:",
    "docket:",
    "section-",
    "title-",
    "1789",
    "0001",
];

/// What fuzzing found in the grammar and nobody has mended yet: (input, source, canonical form that is not its own). Whoever mends
/// one takes its line out here and its arm out of [`is_known`].
const KNOWN: &[(&str, &str, &str)] = &[
    // A full stop behind a paragraph keeps the paragraph.
    ("40 CFR 122.26(b).", "cfr-sections", "cfr:40:122.26(b)"),
    // In prose the part before the point does not count towards the length.
    (
        "40 CFR 122.26-00b7e6a4-0c83-4f0a-9f0e-2f1a3c5d7e90",
        "cfr-sections",
        "cfr:40:122.26-00b7e6a4-0c83-4f0a-9f0e-2f1a3c5d7e90",
    ),
    // Years that no congress of three digits has, and years before the first congress.
    ("h145-119.6025", "roll-call-votes", "house:2119:1:145"),
    ("https://clerk.house.gov/Votes/1700145", "roll-call-votes", "house:-43:0:145"),
    // Addresses take what the canonical form does not: a hyphen at the head, any length.
    ("https://www.govinfo.gov/app/CREC-2025-05-21-pt1-Pg-3.htm", "congressional-record", "crec:2025-05-21:-3"),
    ("https://www.congress.gov/event/119th-congress/house-event/-1", "hearings", "hearing:119:-1"),
    // A bill's type in the address of a report, and the other way round.
    ("https://www.congress.gov/congressional-report/119th-congress/house-bill/1", "committee-reports", "hr:119:1"),
    ("https://www.congress.gov/bill/119th-congress/house-report/1", "bills", "hrpt:119:1"),
];

/// A docket without `docket:` may be of any length, with it of at most this.
const LONGEST_DOCKET: usize = "docket:".len() + 81;

fn is_known(id: &Id) -> bool {
    let mut parts = id.text.split(':');
    let (kind, second, third) =
        (parts.next().unwrap(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match id.source {
        "cfr-sections" => third.ends_with(')') || third.len() > 41,
        "roll-call-votes" => !(1..=999).contains(&second.parse::<i64>().unwrap()),
        "congressional-record" => third.starts_with('-') || third.len() > 41,
        "hearings" => third.starts_with('-') || third.len() > 61,
        "regulations-dot-gov-dockets" => id.text.len() > LONGEST_DOCKET,
        "bills" => kind.ends_with("rpt") || kind.ends_with("amdt"),
        "amendments" => !kind.ends_with("amdt"),
        "committee-reports" => !kind.ends_with("rpt"),
        _ => false,
    }
}

/// Given what is known to be wrong, when it is parsed, then it is still wrong: a line that is not must go.
#[test]
fn known_mistakes_are_still_there() {
    for (input, source, text) in KNOWN {
        let id = Id { source, text: text.to_string() };
        assert_eq!(parse(input), Some(Parsed::Id(id.clone())), "{input} is mended");
        assert!(is_known(&id) && canonical(source, text).as_deref() != Some(text), "{input} is mended");
    }
    let docket = format!("{}-2021-0317", "EPA-".repeat(30).trim_end_matches('-'));
    assert!(matches!(parse(&docket), Some(Parsed::Id(id)) if is_known(&id) && parse(&id.text).is_none()), "mended");
}

#[test]
fn what_parses_has_a_canonical_form_that_is_its_own() {
    let known = FORMS.iter().map(|(_, _, example)| *example).chain(WRITTEN.iter().copied()).collect::<Vec<_>>();
    let target = Target {
        name: "ids",
        count: MANY,
        corpus: texts(&known),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    };
    let known = Cell::new(0);
    target.run(|input| attempt(&String::from_utf8_lossy(input), &known));
    println!("{} ids were wrong in a way that is known", known.get());
}

fn attempt(text: &str, known: &Cell<u64>) {
    let parsed = parse(text);
    check(parsed.as_ref(), known);
    assert_eq!(parse(&format!(" {text}\n")), parsed, "space around it means nothing");
    for (source, ..) in FORMS {
        let own = parse_for(source, text);
        check(own.as_ref(), known);
        assert!(own.as_ref().is_none_or(|own| own.source() == *source), "{source}: {own:?}");
        if let Some(parsed) = parsed.as_ref().filter(|parsed| parsed.source() == *source) {
            assert_eq!(own.as_ref(), Some(parsed), "knowing the source takes nothing away");
        }
    }
}

fn check(parsed: Option<&Parsed>, known: &Cell<u64>) {
    let Some(parsed) = parsed else { return };
    let id = parsed.in_congress(119);
    let Id { source, text } = &id;
    assert!(!text.is_empty() && text.is_ascii() && !text.contains(char::is_whitespace), "{parsed:?}");
    if is_known(&id) {
        return known.set(known.get() + 1);
    }
    assert_eq!(parse_for(source, text), Some(Parsed::Id(id.clone())), "{parsed:?}");
    assert_eq!(canonical(source, text).as_ref(), Some(text), "{parsed:?}");
    assert_eq!(parse(text), Some(Parsed::Id(id.clone())), "{parsed:?}");
}
