//! Fuzzes the id parser: whatever parses has a canonical form, and that parses to itself.

use josh::catalog::SOURCES;
use josh::catalog::ids::{Id, Parsed, canonical, parse, parse_for};

use crate::mutate;
use crate::target::{MANY, Target, texts};

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

/// Inputs that once parsed to an id whose canonical form did not parse.
const FOUND: &[&str] = &[
    "40 CFR 122.26(b).",
    "40 CFR 122.26-00b7e6a4-0c83-4f0a-9f0e-2f1a3c5d7e90",
    "h145-119.6025",
    "https://clerk.house.gov/Votes/1700145",
    "https://www.govinfo.gov/app/CREC-2025-05-21-pt1-Pg-3.htm",
    "https://www.congress.gov/event/119th-congress/house-event/-1",
    "https://www.congress.gov/congressional-report/119th-congress/house-bill/1",
    "https://www.congress.gov/bill/119th-congress/house-report/1",
    "EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-EPA-2021-0317",
];

pub fn target() -> Target<'static> {
    let known = SOURCES
        .iter()
        .map(|source| source.ids.example)
        .chain(WRITTEN.iter().chain(FOUND).copied())
        .collect::<Vec<_>>();
    Target {
        name: "ids",
        count: MANY,
        corpus: texts(&known),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    }
}

#[test]
fn every_parsed_id_has_a_canonical_form_that_parses_to_itself() {
    target().run(attempt);
}

pub fn attempt(input: &[u8]) {
    let text = &*String::from_utf8_lossy(input);
    let parsed = parse(text);
    check(parsed.as_ref());
    assert_eq!(parse(&format!(" {text}\n")), parsed, "surrounding space is ignored");
    for source in SOURCES.iter().map(|source| source.key) {
        let own = parse_for(source, text);
        check(own.as_ref());
        assert!(own.as_ref().is_none_or(|own| own.source() == source), "{source}: {own:?}");
        if let Some(parsed) = parsed.as_ref().filter(|parsed| parsed.source() == source) {
            assert_eq!(own.as_ref(), Some(parsed), "knowing the source takes nothing away");
        }
    }
}

fn check(parsed: Option<&Parsed>) {
    let Some(parsed) = parsed else { return };
    let id = parsed.in_congress(119);
    let Id { source, text } = &id;
    assert!(
        !text.is_empty() && text.is_ascii() && !text.contains(char::is_whitespace),
        "{parsed:?}"
    );
    assert_eq!(parse_for(source, text), Some(Parsed::Id(id.clone())), "{parsed:?}");
    assert_eq!(canonical(source, text).as_ref(), Some(text), "{parsed:?}");
    assert_eq!(parse(text), Some(Parsed::Id(id.clone())), "{parsed:?}");
}
