//! Section 6: names as people type them lead to the record that is meant, and to nothing rather
//! than to a wrong one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{SAMPLE, segment};

const LABELLED: &str = include_str!("names.tsv");

fn first(registry: &str, name: &str) -> Value {
    let answer = SAMPLE.get(&format!("/v1/{registry}?q={}&limit=1", segment(name)));
    assert_eq!(answer.status, 200, "{name}: {}", answer.text());
    answer.json()["data"][0].clone()
}

/// Given 300 noisy names and more (slips, swaps, titles, nicknames, initials, strangers), when
/// resolved, then 95 of 100 lead to what is meant, or to nothing where nothing is.
/// `josh-data-build eval-names --names tests/josh/names.tsv` prints the rest.
#[test]
fn noisy_names_lead_to_what_is_meant() {
    let cases: Vec<Vec<&str>> =
        LABELLED.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect()).collect();
    assert!(cases.len() >= 300);
    let right = cases
        .iter()
        .filter(|case| first(case[1], case[0])["id"].as_str().unwrap_or("-") == case[2])
        .count();
    assert!(right * 100 >= cases.len() * 95, "{right} of {}", cases.len());
}

/// Given the same names, when they are typed into the search box, then its page shows everybody
/// whom they fit well. It looks only at names that have most of the letters.
#[test]
fn the_search_page_shows_names_that_fit_well() {
    let named = ["legislators", "committees"];
    let cases = LABELLED.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t'));
    let cases: Vec<Vec<&str>> =
        cases.map(Iterator::collect).filter(|c: &Vec<&str>| named.contains(&c[1])).collect();
    let mut shown = 0;
    for case in &cases {
        let (name, registry) = (case[0], case[1]);
        let found = first(registry, name);
        let fits = found["match"]["score"].as_f64().unwrap_or_default() >= 0.851;
        let Some(id) = found["id"].as_str().filter(|_| fits) else { continue };
        let page = SAMPLE.get(&format!("/search?q={}", segment(name))).text();
        let names = page.split_once("<h2 id=\"names\">").map_or("", |(_, names)| names);
        let names = names.split_once("</section>").map_or("", |(names, _)| names);
        assert!(names.contains(&format!("/{registry}/{id}")), "{name}: {id} in {names}");
        shown += 1;
    }
    assert!(shown * 2 > cases.len(), "{shown} of {}", cases.len());
}

#[test]
fn titles_states_parties_and_accents_are_understood() {
    for (name, registry, expected) in [
        ("Sen. Cruz from Texas", "legislators", "Ted Cruz"),
        ("Jodey Arington (R-TX)", "legislators", "Jodey C. Arrington"),
        (
            "HELP committee",
            "committees",
            "Senate Committee on Health, Education, Labor, and Pensions",
        ),
        ("Ways & Means", "committees", "House Committee on Ways and Means"),
        ("wasy and maens", "committees", "House Committee on Ways and Means"),
    ] {
        let found = first(registry, name);
        assert_eq!(found["name"], expected, "{name}: {found}");
        let score = found["match"]["score"].as_f64().unwrap();
        assert!((0.5..=1.0).contains(&score) && found["match"]["matched_on"].is_string());
    }
}

#[test]
fn every_registry_resolves_its_own_records() {
    for source in SAMPLE.sources().iter().filter(|s| s["shape"] == "registry") {
        let key = source["key"].as_str().unwrap();
        for record in SAMPLE.all(&format!("/v1/{key}"), 100).iter().take(8) {
            let id = record["id"].as_str().unwrap();
            assert_eq!(
                (&first(key, id)["id"], &first(key, id)["match"]["matched_on"]),
                (&record["id"], &"id".into())
            );
            let called = ["name", "registrant", "title"]
                .into_iter()
                .find_map(|field| record[field].as_str());
            let name = called.unwrap();
            let (found, total) = all(&format!("/v1/{key}?q={}", segment(name)));
            assert!(found.contains(id), "{key}: {name} gives {total} others");
        }
    }
}

fn all(path: &str) -> (BTreeSet<String>, usize) {
    let items = SAMPLE.all(path, 100);
    (items.iter().map(|r| r["id"].as_str().unwrap().to_string()).collect(), items.len())
}

#[test]
fn filters_exclude_and_pages_give_each_record_once() {
    let (ids, count) = all("/v1/legislators?q=John");
    assert!(count > 1 && ids.len() == count);
    let pages = SAMPLE.all("/v1/legislators?q=John", 1);
    assert_eq!(pages.len(), count);
    let (senators, _) = all("/v1/legislators?q=John&chamber=senate");
    let expected: BTreeSet<String> = SAMPLE
        .all("/v1/legislators?q=John", 100)
        .iter()
        .filter(|r| r["chamber"] == "senate")
        .map(|r| r["id"].as_str().unwrap().to_string())
        .collect();
    assert!(!senators.is_empty() && senators == expected);
    let narrow = SAMPLE.get("/v1/legislators?q=John&fields=name&limit=1").json()["data"][0].clone();
    assert_eq!(narrow.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "name", "match"]);
    assert!(SAMPLE.get("/v1/legislators?q=John&format=csv").text().starts_with("id,"));
    assert_eq!(SAMPLE.get("/v1/legislators?q=John&stat=TX").code(), "invalid_parameter");
    assert_eq!(SAMPLE.get("/v1/legislators?q=John&cursor=x").code(), "invalid_cursor");
    assert_eq!(SAMPLE.get("/v1/legislators?q=John&aggregate=count").code(), "invalid_parameter");
}

#[test]
fn a_stranger_is_not_mistaken_for_somebody() {
    let none = SAMPLE.get("/v1/legislators?q=Zephyrine%20Quillfeather").json();
    assert_eq!((&none["total"], none["data"].as_array().unwrap().len()), (&0.into(), 0));
    assert!(none["meta"]["empty"]["nearest"].is_array());
    for garbage in ["", "%20", "!!!", "%F0%9F%98%80", "a", "AND%20OR", "%22"] {
        let answer = SAMPLE.get(&format!("/v1/committees?q={garbage}"));
        assert_eq!(answer.status, 200, "{garbage}: {}", answer.text());
    }
    let long = SAMPLE.get(&format!("/v1/committees?q={}", "x".repeat(301)));
    assert_eq!((long.status, long.code().as_str()), (400, "invalid_parameter"));
}

/// Given a bill and a law that others name, when asked who does, then fields and texts are told
/// apart and every namer is there.
#[test]
fn who_names_a_bill_is_told_with_the_place() {
    let rows = SAMPLE.all("/v1/bills/s:119:5/mentions", 100);
    let found: BTreeSet<&str> = rows.iter().map(|r| r["found_in"].as_str().unwrap()).collect();
    assert!(found.contains("bill_id") && found.contains("bill_ids"), "{found:?}");
    for row in &rows {
        let id = row["record_id"].as_str().unwrap();
        assert_eq!(
            SAMPLE.get(&format!("/v1/fetch/{}", segment(id))).json()["data"]["source"],
            row["source"],
            "{id}"
        );
    }
    assert!(!SAMPLE.all("/v1/public-laws/pl:119:1/mentions", 100).is_empty());
}
