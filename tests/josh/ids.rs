//! Section 2: one grammar, every spelling.

use josh::catalog::SOURCES;
use josh::catalog::ids::{Id, Parsed, canonical, parse, parse_for};
use proptest::prelude::*;

use crate::support::{SAMPLE, segment};

#[test]
fn every_canonical_example_reads_as_itself() {
    for source in SOURCES {
        let example = source.ids.example;
        let id = Parsed::Id(Id { source: source.key, text: example.to_string() });
        assert_eq!(parse(example), Some(id), "{example}");
    }
}

#[test]
fn people_write_ids_their_own_way() {
    for (written, id) in [
        ("H.R. 1 (119th Congress)", "hr:119:1"),
        ("H. R. 1 (119th Congress)", "hr:119:1"),
        ("hr1-119", "hr:119:1"),
        ("HR 1, 119th Cong.", "hr:119:1"),
        ("119 HR 1", "hr:119:1"),
        ("119th Congress H.R. 1", "hr:119:1"),
        ("hr:119:0001", "hr:119:1"),
        ("BILLS-119hr1enr", "hr:119:1"),
        ("S.J.Res. 3 (119th)", "sjres:119:3"),
        ("House Joint Resolution 88, 119th Congress", "hjres:119:88"),
        ("S. Con. Res. 7 (119th Congress)", "sconres:119:7"),
        ("S.Amdt. 2265 (119th Congress)", "samdt:119:2265"),
        ("P.L. 119-21", "pl:119:21"),
        ("Pub. L. 119-21", "pl:119:21"),
        ("Pub. L. No. 119–21", "pl:119:21"),
        ("Public Law 119-21", "pl:119:21"),
        ("PLAW-119publ21", "pl:119:21"),
        ("H. Rept. 119-106", "hrpt:119:106"),
        ("H.R. Rep. No. 119-106", "hrpt:119:106"),
        ("S. Rept. 119-5", "srpt:119:5"),
        ("CRS Report R47892", "R47892"),
        ("r47892", "R47892"),
        ("GAO-25-107743", "gao:GAO-25-107743"),
        ("40 CFR 122.26", "cfr:40:122.26"),
        ("40 C.F.R. § 122.26(b)(14)", "cfr:40:122.26"),
        ("26 CFR 1.401(k)-1", "cfr:26:1.401(k)-1"),
        ("E.O. 14110", "eo:14110"),
        ("Executive Order 14110", "eo:14110"),
        ("Proclamation 10886", "proc:10886"),
        ("CREC-2025-05-21-pt1-PgH2210-3", "crec:2025-05-21:H2210-3"),
        ("s000033", "S000033"),
        ("R000605", "R000605"),
        ("hswm00", "HSWM"),
        ("House roll call vote 145, 119th Congress, 1st session", "house:119:1:145"),
        ("h145-119.2025", "house:119:1:145"),
        ("EPA-HQ-OAR-2021-0317", "docket:EPA-HQ-OAR-2021-0317"),
        ("PN12-3 (119th Congress)", "pn:119:12-3"),
        ("https://www.congress.gov/bill/119th-congress/house-bill/1", "hr:119:1"),
        (
            "https://www.congress.gov/bill/119th-congress/senate-joint-resolution/3/text\
             ?format=txt",
            "sjres:119:3",
        ),
        ("congress.gov/nothing", ""),
        ("https://www.federalregister.gov/documents/2026/05/01/2026-08558/a-rule", "2026-08558"),
        (
            "https://www.ecfr.gov/current/title-40/chapter-I/subchapter-D/part-122/subpart-B/\
             section-122.26",
            "cfr:40:122.26",
        ),
        ("https://clerk.house.gov/Votes/2025145", "house:119:1:145"),
        ("https://www.govinfo.gov/app/details/PLAW-119publ21", "pl:119:21"),
    ] {
        let read = match parse(written) {
            Some(Parsed::Id(id)) => id.text,
            _ => String::new(),
        };
        assert_eq!(read, id, "{written}");
    }
}

#[test]
fn a_measure_without_a_congress_is_left_open() {
    for (written, kind, number) in [
        ("H.R. 1", "hr", "1"),
        ("HR1", "hr", "1"),
        ("S.J.Res. 3", "sjres", "3"),
        ("PN 12", "pn", "12"),
    ] {
        match parse(written) {
            Some(Parsed::AnyCongress { kind: k, number: n, .. }) => {
                assert_eq!((k.as_str(), n.as_str()), (kind, number))
            }
            other => panic!("{written}: {other:?}"),
        }
    }
}

#[test]
fn where_the_source_is_known_its_prefix_may_be_left_out() {
    for (source, written, id) in [
        ("public-laws", "119-21", "pl:119:21"),
        ("cbo-estimates", "61461", "cbo:61461"),
        ("topic-taxonomy", "health", "topic:health"),
        ("legislators", "R000605", "R000605"),
        ("cfr-sections", "40:122.26", "cfr:40:122.26"),
    ] {
        assert_eq!(canonical(source, written).as_deref(), Some(id), "{source} {written}");
    }
    assert_eq!(parse_for("bills", "pl:119:21"), None);
}

proptest! {
    #[test]
    fn a_canonical_id_comes_back_as_it_was(
        kind in "hr|s|hjres|sjres|hres|sres|hconres|sconres|hamdt|samdt|hrpt|srpt|erpt|pl",
        congress in 1u32..=200, number in 1u32..=9999,
    ) {
        let id = format!("{kind}:{congress}:{number}");
        match parse(&id) {
            Some(Parsed::Id(found)) => prop_assert_eq!(found.text, id),
            other => prop_assert!(false, "{}: {:?}", id, other),
        }
    }

    #[test]
    fn other_canonical_forms_come_back_too(
        letter in "[A-Z]", six in 0u32..=999_999, session in 1u8..=2, chamber in "house|senate",
        title in 1u8..=50, section in "[1-9][0-9]{0,3}\\.[1-9][0-9]{0,2}",
        year in 1990u16..=2030, slug in "[a-z]{1,12}(-[a-z]{1,8}){0,3}",
    ) {
        for id in [
            format!("{letter}{six:06}"),
            format!("{chamber}:119:{session}:{}", six % 1000 + 1),
            format!("cfr:{title}:{section}"),
            format!("{year}-{:05}", six % 100_000),
            format!("topic:{slug}"),
            format!("staff:{slug}"),
            format!("docket:{}-{year}-{:04}", slug.to_uppercase(), six % 10_000),
            format!("crec:{year}-05-21:H{}", six % 9999 + 1),
            format!("R{:05}", six % 100_000),
        ] {
            match parse(&id) {
                Some(Parsed::Id(found)) => prop_assert_eq!(found.text, id),
                other => prop_assert!(false, "{}: {:?}", id, other),
            }
        }
    }

    #[test]
    fn what_is_read_is_canonical_and_garbage_never_panics(
        text in "\\PC{0,40}|[a-zA-Z0-9:. -]{0,30}"
    ) {
        if let Some(Parsed::Id(id)) = parse(&text) {
            prop_assert_eq!(canonical(id.source, &id.text), Some(id.text.clone()), "{}", text);
        }
    }
}

#[test]
fn a_bill_without_a_congress_is_the_newest_one_that_the_bundle_has() {
    for written in ["H.R. 1", "HR1", "hr 1"] {
        let answer = SAMPLE.get(&format!("/v1/fetch/{}", segment(written))).json();
        assert_eq!(answer["data"]["id"], "hr:119:1");
        assert_eq!(answer["meta"]["resolved"]["asked"], written);
        assert_eq!(answer["meta"]["resolved"]["id"], "hr:119:1");
    }
    // H.R. 82 is in the sample only for the 118th Congress.
    assert_eq!(SAMPLE.get("/v1/bills/HR82").json()["data"]["id"], "hr:118:82");
}

#[test]
fn an_official_address_fetches_encoded_or_not() {
    let url = "https://www.congress.gov/bill/119th-congress/house-bill/1";
    for path in [
        format!("/v1/fetch/{}", segment(url)),
        format!("/v1/fetch/{url}"),
        format!("/v1/bills/{}", segment(url)),
    ] {
        assert_eq!(SAMPLE.get(&path).json()["data"]["id"], "hr:119:1", "{path}");
    }
}

#[test]
fn filters_read_ids_as_people_write_them() {
    let canonical = SAMPLE.get("/v1/amendments?bill_id=s:119:5").json()["total"].clone();
    assert_eq!(SAMPLE.get("/v1/amendments?bill_id=S.+5").json()["total"], canonical);
    assert_ne!(canonical, 0);
}
