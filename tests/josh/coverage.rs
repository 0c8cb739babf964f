//! An answer over a source of which much is missing says so: a list of the sample's Senate votes
//! must not pass for all of them.

use crate::support::SAMPLE;

/// The missing and all numbers of the series whose prefix passes.
fn numbers(source: &str, passes: impl Fn(&str) -> bool) -> (u64, u64) {
    let facts = SAMPLE.get(&format!("/v1/sources/{source}")).json();
    let series = facts["data"]["coverage"]["series"].as_array().unwrap().clone();
    let chosen: Vec<_> = series.iter().filter(|s| passes(s["prefix"].as_str().unwrap())).collect();
    let sum = |name: &str| chosen.iter().map(|s| s[name].as_u64().unwrap()).sum::<u64>();
    (sum("missing"), sum("highest"))
}

fn not_covered(path: &str) -> String {
    let answer = SAMPLE.get(path).json();
    answer["meta"]["not_covered"].as_str().unwrap_or_default().to_string()
}

#[test]
fn lists_and_counts_say_how_many_numbered_records_are_missing() {
    let (missing, all) = numbers("roll-call-votes", |prefix| prefix.starts_with("senate:"));
    assert!(missing > 0 && missing < all);
    let said = format!("at least {missing} of {all} ");
    for path in
        ["/v1/roll-call-votes?chamber=senate", "/v1/roll-call-votes?chamber=senate&aggregate=count"]
    {
        assert!(not_covered(path).contains(&said), "{path}: {}", not_covered(path));
    }
    let (missing, all) = numbers("roll-call-votes", |_| true);
    let unfiltered = not_covered("/v1/roll-call-votes?result=Passed");
    assert!(unfiltered.contains(&format!("at least {missing} of {all} ")), "{unfiltered}");
    // Only the Congresses of the days that are asked for count.
    let (missing, all) = numbers("bills", |prefix| prefix.contains(":119:"));
    let since = not_covered("/v1/bills?since=2025-01-03");
    assert!(since.contains(&format!("at least {missing} of {all} ")), "{since}");
    // The second page does not repeat it.
    let first = SAMPLE.get("/v1/roll-call-votes?limit=2").json();
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_eq!(not_covered(&format!("/v1/roll-call-votes?limit=2&cursor={cursor}")), "");
}

#[test]
fn a_source_that_ends_long_before_the_bundles_date_says_where() {
    let facts = SAMPLE.get("/v1/sources/roll-call-votes").json();
    let newest = facts["data"]["coverage"]["congresses"][0]["to"].as_str().unwrap().to_string();
    let said = format!("The newest record here is of {newest}");
    let all = not_covered("/v1/roll-call-votes?aggregate=count");
    assert!(all.contains(&said), "{all}");
    let older = not_covered("/v1/roll-call-votes?aggregate=count&until=2025-06-30");
    assert!(!older.contains(&said), "{older}");
}
