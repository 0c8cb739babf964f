//! Section 8: everything about one thing in one answer, each section with an address that works.

use josh::catalog::{SOURCES, SubResourceKind};

use crate::support::{SAMPLE, segment};

/// Every source that has a dossier, with its sections.
fn dossiers() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    SOURCES.iter().filter_map(|source| Some((source.key, source.dossier.as_ref()?.sections)))
}

/// Given any record with a dossier, when it is asked for, then every section's address answers
/// with the same total and items.
#[test]
fn every_section_leads_to_the_whole_list() {
    for (source, sections) in dossiers() {
        for record in SAMPLE.all(&format!("/v1/{source}?fields=id"), 100) {
            let id = record["id"].as_str().unwrap();
            let answer = SAMPLE.get(&format!("/v1/{source}/{}/dossier", segment(id)));
            assert_eq!(answer.status, 200, "{id}: {}", answer.text());
            assert!(answer.bytes.len() <= 61_000, "{id}: {} bytes", answer.bytes.len());
            let dossier = answer.json();
            assert_eq!(
                dossier["data"],
                SAMPLE.get(&format!("/v1/{source}/{}", segment(id))).json()["data"]
            );
            assert!(dossier["citation"]["url"].as_str().unwrap().starts_with("https://"));
            let names: Vec<&String> = dossier["sections"].as_object().unwrap().keys().collect();
            assert_eq!(names, *sections, "{id}");
            for (name, section) in dossier["sections"].as_object().unwrap() {
                let list = SAMPLE.get(section["more_url"].as_str().unwrap()).json();
                assert_eq!(section["total"], list["total"], "{id} {name}");
                let (items, all) =
                    (section["items"].as_array().unwrap(), list["data"].as_array().unwrap());
                assert_eq!(items[..], all[..items.len()], "{id} {name}");
                assert_eq!(
                    section["truncated"],
                    (items.len() as u64) < section["total"].as_u64().unwrap(),
                    "{id} {name}"
                );
            }
        }
    }
}

/// Given the sample, when all dossiers are read, then each section of each kind has something to
/// show somewhere.
#[test]
fn every_section_has_something_to_show() {
    for (source, sections) in dossiers() {
        let mut filled = std::collections::BTreeSet::new();
        for record in SAMPLE.all(&format!("/v1/{source}?fields=id"), 100) {
            let id = segment(record["id"].as_str().unwrap());
            let dossier = SAMPLE.get(&format!("/v1/{source}/{id}/dossier")).json();
            let shown =
                dossier["sections"].as_object().unwrap().iter().filter(|(_, s)| s["total"] != 0);
            filled.extend(shown.map(|(name, _)| name.clone()));
        }
        assert_eq!(filled, sections.iter().map(|s| s.to_string()).collect(), "{source}");
    }
}

#[test]
fn a_congress_narrows_the_sections_that_have_one() {
    let all = SAMPLE.get("/v1/legislators/A000375/dossier").json();
    let narrowed = SAMPLE.get("/v1/legislators/A000375/dossier?congress=118").json();
    let sponsored = |d: &serde_json::Value| d["sections"]["sponsored"]["total"].as_u64().unwrap();
    assert!(sponsored(&narrowed) < sponsored(&all));
    assert_eq!(
        narrowed["sections"]["sponsored"]["more_url"],
        "/v1/legislators/A000375/sponsored?congress=118"
    );
    assert_eq!(narrowed["sections"]["offices"], all["sections"]["offices"]);
}

#[test]
fn an_id_in_any_spelling_has_its_dossier() {
    let written = SAMPLE.get("/v1/bills/H.R.%201/dossier").json();
    assert_eq!(
        (&written["data"]["id"], &written["meta"]["resolved"]["asked"]),
        (&"hr:119:1".into(), &"H.R. 1".into())
    );
    assert_eq!(SAMPLE.get("/v1/bills/hr:119:99999/dossier").code(), "record_not_found");
}

/// Given links prepared at build time, when a sub-resource is listed, then it is what a filter on
/// the other source gives.
#[test]
fn prepared_links_are_those_that_a_filter_finds() {
    let mut compared = 0;
    for source in SOURCES {
        let records = SAMPLE.all(&format!("/v1/{}?fields=id", source.key), 100);
        for sub in source.sub_resources {
            let SubResourceKind::Records { source: other, field } = sub.kind else { continue };
            for id in records.iter().take(60).map(|r| r["id"].as_str().unwrap()) {
                let listed = SAMPLE
                    .get(&format!("/v1/{}/{}/{}?limit=100", source.key, segment(id), sub.name))
                    .json();
                let filtered =
                    SAMPLE.get(&format!("/v1/{other}?{field}={}&limit=100", segment(id))).json();
                assert_eq!(
                    (&listed["data"], &listed["total"]),
                    (&filtered["data"], &filtered["total"]),
                    "{id} {}",
                    sub.name
                );
                compared += listed["total"].as_u64().unwrap();
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
