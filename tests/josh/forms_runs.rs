//! Section 15 in a real browser, against a site of our own: what was given is what the site
//! received. These tests need Chromium; without it they count as ignored (`tests/forms/run`).

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Instant;

use josh::wizard::plan::plan;
use josh::wizard::report::{FailureKind, Report};
use josh::wizard::run::{Request, Shots, run};
use josh::wizard::tab::Stop;
use josh::wizard::{Library, Options, Wizard, library, today};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::forms::ssa;
use crate::forms_site::{Fields, Site, seconds};

pub static LIBRARY: LazyLock<Library> = LazyLock::new(|| Library::open(None).unwrap());

/// Browsers are large: one test at a time has one.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub fn run_with(wizard: &Wizard, data: &Value, options: &Options) -> Report {
    let plan = plan(wizard, data, today()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let deadline = Instant::now() + seconds(60);
    run(&Request {
        wizard,
        plan: &plan,
        data,
        options,
        stop: Stop { token: CancellationToken::new(), deadline },
        shots: Shots::All,
        progress: &|_, _| {},
    })
}

pub fn run_shipped(id: &str, data: &Value, site: &Site) -> Report {
    run_with(LIBRARY.wizard(id).unwrap(), data, &site.options())
}

/// A run that must succeed, and what the site received.
pub fn received(id: &str, data: &Value, site: &Site) -> (Report, Fields) {
    let report = run_shipped(id, data, site);
    if let Err(failure) = &report.result {
        panic!("{id}: {failure:?} {:?}", report.warnings);
    }
    let mut received = site.take();
    assert_eq!(received.len(), 1, "{id}: one submission");
    (report, received.remove(0))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// What the site must have received for these data.
fn expected(id: &str, data: &Value) -> Fields {
    let mut fields = Fields::new();
    let given = |name: &str| data.get(name).map(text).unwrap_or_default();
    match id {
        "ssa-quick-calculator" => {
            for (name, field) in [
                ("birth_month", "dobmon"),
                ("birth_day", "dobday"),
                ("birth_year", "yob"),
                ("current_earnings", "earnings"),
                ("last_year_worked", "lastYearEarn"),
                ("last_year_earnings", "lastEarn"),
                ("retirement_month", "retiremonth"),
                ("retirement_year", "retireyear"),
            ] {
                fields.insert(field.into(), given(name));
            }
            let dollars = if given("dollar_type") == "constant" { "1" } else { "0" };
            fields.insert("dollars".into(), dollars.into());
        }
        "fsa-estimator" => {
            for (name, value) in data.as_object().unwrap() {
                fields.insert(name.clone(), text(value));
            }
        }
        _ => {
            let yes = |name: &str| if data[name] == true { "yes" } else { "no" }.to_string();
            for (path, value) in [
                ("/primaryFilerAge65OrOlder", yes("age_65_or_older")),
                ("/primaryFilerIsBlind", yes("is_blind")),
                ("/primaryFilerIsClaimingDependents", "no".into()),
                ("/primaryFilerIsClaimedOnAnotherReturn", yes("claimed_as_dependent")),
                ("/filingStatus", given("filing_status")),
                ("isHourlyJob", "no".into()),
                ("isAllYear", "yes".into()),
                ("payFrequency", given("pay_frequency")),
                ("mostRecentPayPeriodEnd", given("pay_period_end")),
                ("mostRecentPayDate", given("pay_date")),
                ("consistentPay", yes("pay_is_consistent")),
                ("amountLastPaycheck", given("last_paycheck")),
                ("mostRecentPayPeriodHasBonus", yes("last_paycheck_has_bonus")),
                ("totalFutureBonus", given("future_bonus")),
                ("yearToDateIncome", given("year_to_date_income")),
                ("amountWithheldLastPaycheck", given("withheld_last_paycheck")),
                ("yearToDateWithholding", given("year_to_date_withheld")),
            ] {
                fields.insert(path.into(), value);
            }
        }
    }
    fields
}

/// Fields of a job have a random number in their names.
fn plain(id: &str, fields: Fields) -> Fields {
    let name = |name: String| match name.strip_prefix("/jobs/") {
        Some(rest) if id == "irs-withholding" => rest.split('/').nth(1).unwrap().to_string(),
        _ => name,
    };
    let number = |value: String| match value.strip_suffix("0").filter(|v| v.contains('.')) {
        Some(short) => short.to_string(),
        None => value,
    };
    fields.into_iter().map(|(key, value)| (name(key), number(value))).collect()
}

fn example(id: &str) -> Value {
    LIBRARY.wizard(id).unwrap().examples[0].data(today())
}

/// Every value that a property can take, one set of data for each round: values of different
/// properties are tried together.
fn rounds(id: &str, most: usize) -> Vec<Value> {
    let wizard = LIBRARY.wizard(id).unwrap();
    let choices: Vec<(String, Vec<Value>)> = wizard
        .properties()
        .filter_map(|name| {
            let property = wizard.property(name).unwrap();
            let values = match (property.get("enum"), property["type"].as_str()) {
                (Some(values), _) => values.as_array().unwrap().clone(),
                (None, Some("boolean")) => vec![json!(false), json!(true)],
                _ => return None,
            };
            Some((name.to_string(), values))
        })
        .collect();
    let count = choices.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
    let round = |n: usize| {
        let mut data = example(id);
        choices.iter().for_each(|(name, values)| data[name] = values[n % values.len()].clone());
        data
    };
    let step = count.div_ceil(most).max(1);
    (0..count).step_by(step).map(round).collect()
}

fn every_choice(most: usize) {
    let _alone = alone();
    let site = Site::start();
    for id in ["ssa-quick-calculator", "irs-withholding", "fsa-estimator"] {
        for data in rounds(id, most) {
            let (_, got) = received(id, &data, &site);
            assert_eq!(plain(id, got), expected(id, &data), "{id}");
        }
    }
}

/// [1] Given every value of every choice of every shipped wizard, when it is run, then the site
/// received that value. At most eight states here; the next test tries them all.
#[test]
#[ignore = "needs Chromium"]
fn every_choice_arrives() {
    every_choice(8);
}

#[test]
#[ignore = "needs Chromium and minutes"]
fn long_every_choice_of_every_list_arrives() {
    every_choice(usize::MAX);
}

fn drawn<T: Debug>(strategy: impl Strategy<Value = T>, runner: &mut TestRunner) -> T {
    strategy.new_tree(runner).unwrap().current()
}

/// A value that fits a property of a contract.
fn random_value(property: &Value, runner: &mut TestRunner) -> Value {
    if let Some(values) = property["enum"].as_array() {
        return drawn(proptest::sample::select(values.clone()), runner);
    }
    match (property["type"].as_str().unwrap(), property["pattern"].as_str()) {
        ("boolean", _) => json!(drawn(proptest::bool::ANY, runner)),
        // A day: of this year, and not in the future.
        ("string", Some(pattern)) if pattern.contains("}-(") => {
            let ordinal = drawn(1..=today().ordinal(), runner);
            json!(time::Date::from_ordinal_date(today().year(), ordinal).unwrap().to_string())
        }
        ("string", Some(pattern)) => {
            let plain = pattern.trim_start_matches('^').trim_end_matches('$');
            json!(drawn(proptest::string::string_regex(plain).unwrap(), runner))
        }
        ("number", _) => {
            let least = property["minimum"].as_u64().unwrap();
            let most = property["maximum"].as_u64().unwrap();
            let number = drawn(least..=most, runner);
            match drawn(0..3, runner) {
                0 => json!(least),
                1 if property.get("multipleOf").is_none() => {
                    json!((number * 100 + drawn(1..100u64, runner)) as f64 / 100.0)
                }
                _ => json!(number),
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Random data that fit a wizard: every property that it requires, others now and then.
fn random_data(wizard: &Wizard, runner: &mut TestRunner) -> Value {
    let required = wizard.schema["required"].as_array().unwrap();
    for _ in 0..100_000 {
        let mut data = json!({});
        for name in wizard.properties() {
            if required.contains(&json!(name)) || drawn(proptest::bool::ANY, runner) {
                data[name] = random_value(wizard.property(name).unwrap(), runner);
            }
        }
        if plan(wizard, &data, today()).is_ok() {
            return data;
        }
    }
    panic!("{}: no data fit", wizard.wizard_id);
}

/// [2] Given random data that fit, when they are run, then the site received exactly them.
fn random_data_of(cases: [(&str, usize); 3]) {
    let _alone = alone();
    let site = Site::start();
    let mut runner = TestRunner::deterministic();
    for (id, count) in cases {
        for _ in 0..count {
            let data = random_data(LIBRARY.wizard(id).unwrap(), &mut runner);
            let (report, got) = received(id, &data, &site);
            assert_eq!(plain(id, got), expected(id, &data), "{id}");
            let earned = data["current_earnings"] != 0 || data.get("last_year_earnings").is_some();
            let outcome = match (id, earned, data.get("retirement_year").is_some()) {
                ("ssa-quick-calculator", false, _) => "insufficient_credits",
                ("ssa-quick-calculator", true, true) => "one_date",
                ("ssa-quick-calculator", true, false) => "three_ages",
                _ => "estimate",
            };
            assert_eq!(report.result.unwrap().outcome, outcome, "{id}");
        }
    }
}

#[test]
#[ignore = "needs Chromium"]
fn random_data_arrive() {
    random_data_of([("ssa-quick-calculator", 6), ("irs-withholding", 3), ("fsa-estimator", 3)]);
}

#[test]
#[ignore = "needs Chromium and minutes"]
fn long_two_hundred_random_data_arrive() {
    random_data_of([("ssa-quick-calculator", 100), ("irs-withholding", 50), ("fsa-estimator", 50)]);
}

/// [7] Given each outcome, when it is reached, then its results are typed and keep their text; and
/// a run takes as long as it may.
#[test]
#[ignore = "needs Chromium"]
fn each_outcome_is_typed_and_quick() {
    let _alone = alone();
    let site = Site::start();
    let results = |id: &str, data: &Value, most: u64| {
        let (report, _) = received(id, data, &site);
        assert!(report.took < seconds(most), "{id} took {:?}", report.took);
        assert_eq!(report.pictures.len(), report.pages_total + 1);
        assert_eq!(report.pages_completed, report.pages_total);
        let bytes: usize = report.pictures.iter().map(|p| p.base64.len() / 4 * 3).sum();
        assert!(bytes <= 300_000 && bytes > 5_000, "{bytes} bytes");
        let reached = report.result.unwrap();
        let results = reached.results.iter().map(|(name, one)| (name.clone(), one.to_json()));
        (reached.outcome, Value::Object(results.collect()))
    };
    let (outcome, got) = results("ssa-quick-calculator", &ssa(), 3);
    assert_eq!(outcome, "three_ages");
    assert_eq!(
        got["monthly_early"],
        json!({ "value": 1000.0, "type": "dollars", "text": "$1,000.00" })
    );
    let mut retiring = ssa();
    retiring["current_earnings"] = json!(75123);
    retiring["retirement_month"] = json!("9");
    retiring["retirement_year"] = json!("2045");
    let (outcome, got) = results("ssa-quick-calculator", &retiring, 3);
    assert_eq!((outcome.as_str(), &got["monthly"]["value"]), ("one_date", &json!(1123.5)));
    assert_eq!(got["retirement_date"]["value"], "9/2045");
    let mut none = ssa();
    none["current_earnings"] = json!(0);
    assert_eq!(results("ssa-quick-calculator", &none, 3).0, "insufficient_credits");
    let (_, got) = results("fsa-estimator", &example("fsa-estimator"), 8);
    assert_eq!(got["student_aid_index"]["value"], -1500.0);
    let (_, got) = results("irs-withholding", &example("irs-withholding"), 8);
    assert_eq!(got["heading"]["value"], "TEST refund");
    assert_eq!(got["amount"]["value"], 1700.5);
}

/// [3] Given a list with decoys, when a state is typed, then the equal one is taken, not the first;
/// and without it the run fails.
#[test]
#[ignore = "needs Chromium"]
fn a_typeahead_takes_the_equal_option_or_none() {
    let _alone = alone();
    let site = Site::start();
    let mut data = example("fsa-estimator");
    data["state"] = json!("Virginia");
    data["parent_state"] = json!("Kansas");
    let (_, got) = received("fsa-estimator", &data, &site);
    assert_eq!((got["state"].as_str(), got["parent_state"].as_str()), ("Virginia", "Kansas"));
    site.switch("no_option", "1");
    let failure = run_shipped("fsa-estimator", &data, &site).result.unwrap_err();
    assert_eq!(
        (failure.kind, failure.field.as_deref()),
        (FailureKind::FieldNotTaken, Some("/state"))
    );
    assert_eq!(failure.page.as_deref(), Some("student"));
    assert!(site.take().is_empty());
}

/// A wizard with a select and a repeated group.
fn loans() -> Wizard {
    let row = json!({ "type": "object", "additionalProperties": false, "required": ["kind", "sum"],
        "properties": { "kind": { "type": "string", "enum": ["direct", "plus"] },
                        "sum": { "type": "number" }, "late": { "type": "boolean" } } });
    let file = json!({
        "josh_wizard": 1, "wizard_id": "loans", "wizard_name": "Loans", "agency": "TEST",
        "url": "https://loans.example.gov/loans", "hosts": ["loans.example.gov"], "seconds": 5,
        "provenance": { "status": "recorded", "recorded_on": "2026-11-17",
                        "from": "our test site" },
        "effect": "none",
        "schema": { "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "additionalProperties": false, "required": ["degree", "loans"],
            "properties": {
                "degree": { "type": "string", "description": "Degree",
                            "enum": ["Bachelor's degree", "Master’s degree"] },
                "loans": { "type": "array", "maxItems": 20, "items": row,
                           "description": "Loans" } } },
        "pages": [{ "id": "loans", "title": "Loans", "at": { "path": "/loans", "has": ["#degree"] },
            "fields": [
                { "field": "degree", "do": "choose", "find": ["#degree"] },
                { "field": "loans", "do": "repeat", "add": { "find": ["#add"] }, "item": ".loan",
                  "save": { "find": ["role=button[Save]"] },
                  "parts": [
                      { "field": "kind", "do": "choose", "find": ["select"] },
                      { "field": "sum", "do": "fill", "find": [".sum"] },
                      { "field": "late", "do": "check", "optional": true,
                        "find": [".late"] } ] } ],
            "next": { "find": ["#next"] } }],
        "outcomes": [{ "id": "done", "about": "Done",
            "at": { "path": "/loans/done", "has": ["#total"] },
            "results": { "total": { "find": ["#total"], "as": "number" } } }],
        "examples": [{ "user_data": { "degree": "Bachelor's degree", "loans": [] },
                       "outcome": "done" }],
    });
    library::checked(&file.to_string()).unwrap()
}

/// [4], [5] Given quotes of either kind and any number of rows, when they are entered, then the
/// site received the option and every row.
#[test]
#[ignore = "needs Chromium"]
fn quotes_are_folded_and_rows_are_counted() {
    let _alone = alone();
    let site = Site::start();
    let wizard = loans();
    for (count, degree, value) in [
        (0, "Bachelor's degree", "b1"),
        (1, "Master’s degree", "m1"),
        (3, "Bachelor's degree", "b1"),
        (12, "Master’s degree", "m1"),
    ] {
        let row = |n: usize| {
            let kind = if n.is_multiple_of(2) { "direct" } else { "plus" };
            json!({ "kind": kind, "sum": 1000 + n, "late": n.is_multiple_of(3) })
        };
        let data = json!({ "degree": degree, "loans": (0..count).map(row).collect::<Vec<_>>() });
        let report = run_with(&wizard, &data, &site.options());
        assert!(report.result.is_ok(), "{:?}", report.result);
        let got = site.take().remove(0);
        assert_eq!(got["degree"], value);
        for n in 0..count {
            assert_eq!(got[&format!("sum{n}")], (1000 + n).to_string());
            assert_eq!(got[&format!("kind{n}")], if n % 2 == 0 { "direct" } else { "plus" });
            assert_eq!(got.contains_key(&format!("late{n}")), n % 3 == 0, "never toggled");
        }
        assert!(!got.contains_key(&format!("sum{count}")));
    }
}

/// [30] Given a plan, when it is run, then the site received exactly the fields that the plan
/// names.
#[test]
#[ignore = "needs Chromium"]
fn a_run_takes_the_steps_of_its_plan() {
    let _alone = alone();
    let site = Site::start();
    let wizard = LIBRARY.wizard("fsa-estimator").unwrap();
    let data = example("fsa-estimator");
    let planned = plan(wizard, &data, today()).unwrap();
    let steps = planned.pages.iter().flat_map(|page| &page.steps);
    let planned: BTreeSet<String> = steps.map(|step| step.pointer[1..].to_string()).collect();
    let (_, got) = received("fsa-estimator", &data, &site);
    assert_eq!(got.keys().cloned().collect::<BTreeSet<_>>(), planned);
}
