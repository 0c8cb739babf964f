//! [10], [11], [13]: a wizard file is refused for one reason at a time, each said in its own words;
//! and whatever a file holds, reading it never panics.

use josh::wizard::import::import;
use josh::wizard::library::checked;
use josh::wizard::plan::plan;
use josh::wizard::recording::import_recording;
use josh::wizard::{schema, today};
use proptest::prelude::*;
use serde_json::{Value, json};

fn shipped(name: &str) -> Value {
    let path = format!("{}/assets/wizards/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// [10], [13] Given a shipped file with one thing changed, when it is checked, then it is refused
/// with a message about that.
#[test]
fn each_rule_has_a_file_that_breaks_it() {
    type Change = fn(&mut Value);
    let cases: &[(&str, Change)] = &[
        ("josh_wizard: this program reads version 1", |w| w["josh_wizard"] = json!(2)),
        ("josh_wizard is missing", |w| drop(w.as_object_mut().unwrap().remove("josh_wizard"))),
        ("unknown field", |w| w["sleep"] = json!(5)),
        ("wizard_id: takes", |w| w["wizard_id"] = json!("../x")),
        ("agency: is empty", |w| w["agency"] = json!("")),
        ("provenance.recorded_on", |w| w["provenance"]["recorded_on"] = json!("lately")),
        ("missing field `from`", |w| {
            drop(w["provenance"].as_object_mut().unwrap().remove("from"));
        }),
        ("unknown variant", |w| w["provenance"]["status"] = json!("trusted")),
        ("seconds: takes", |w| w["seconds"] = json!(0)),
        ("url: must begin with https", |w| w["url"] = json!("http://www.ssa.gov/")),
        ("url: must begin with https", |w| w["url"] = json!("file:///etc/passwd")),
        ("url: must begin with https", |w| w["url"] = json!("chrome://version")),
        ("url: must begin with https", |w| w["url"] = json!("data:text/html,x")),
        ("url: takes a host without port", |w| w["url"] = json!("https://www.ssa.gov:8443/")),
        ("url: takes a host without port", |w| w["url"] = json!("https://a@www.ssa.gov/")),
        ("is not among hosts", |w| w["url"] = json!("https://ssa.gov/")),
        ("is not the name of a host", |w| w["hosts"] = json!(["www.ssa.gov", "127.0.0.1"])),
        ("is not the name of a host", |w| w["hosts"] = json!(["www.ssa.gov", "*"])),
        ("is not the name of a host", |w| w["hosts"] = json!(["www.ssa.gov", "a.gov:8443"])),
        ("hosts: names no host", |w| w["hosts"] = json!([])),
        ("additionalProperties: false", |w| w["schema"]["additionalProperties"] = json!(true)),
        ("$schema must be", |w| w["schema"]["$schema"] = json!("x")),
        ("this keyword is not supported", |w| w["schema"]["oneOf"] = json!([])),
        ("not a pattern", |w| w["schema"]["properties"]["birth_day"]["pattern"] = json!("(")),
        ("requires nothing_here", |w| w["schema"]["required"] = json!(["nothing_here"])),
        ("has no description", |w| {
            drop(
                w["schema"]["properties"]["birth_day"]
                    .as_object_mut()
                    .unwrap()
                    .remove("description"),
            );
        }),
        ("rules: nothing_here is no property", |w| w["rules"][0]["day"] = json!(["nothing_here"])),
        ("no page asks for it", |w| {
            drop(w["pages"][0]["fields"].as_array_mut().unwrap().remove(0))
        }),
        ("is no property of the schema", |w| w["pages"][0]["fields"][0]["field"] = json!("mother")),
        ("is asked for twice", |w| {
            let again = w["pages"][0]["fields"][0].clone();
            w["pages"][0]["fields"].as_array_mut().unwrap().push(again);
        }),
        ("is allowed by the schema and has no option", |w| {
            drop(w["pages"][0]["fields"][8]["options"].as_object_mut().unwrap().remove("nominal"));
        }),
        ("the schema does not allow this value", |w| {
            w["pages"][0]["fields"][8]["options"]["real"] = json!({ "find": ["#real"] });
        }),
        ("two options choose the same control", |w| {
            w["pages"][0]["fields"][8]["options"]["nominal"]["find"] = json!(["#constant"]);
        }),
        ("check can't enter a value of type", |w| {
            w["pages"][0]["fields"][0]["do"] = json!("check")
        }),
        ("unknown variant `javascript`", |w| {
            w["pages"][0]["fields"][0]["do"] = json!("javascript")
        }),
        ("is asked for later", |w| {
            w["pages"][0]["fields"][0]["when"] = json!({ "dollar_type": "constant" })
        }),
        ("when names nothing_here", |w| {
            w["pages"][0]["fields"][4]["when"] = json!({ "nothing_here": 1 })
        }),
        ("can never be that value", |w| {
            w["pages"][0]["fields"][4]["when"] = json!({ "current_earnings": "0" })
        }),
        ("does not require it where the form needs it", |w| {
            w["pages"][0]["fields"][4]["optional"] = json!(false)
        }),
        ("the schema requires it where no page asks for it", |w| {
            let nominal = json!({ "properties": { "dollar_type": { "const": "nominal" } } });
            w["schema"]["if"] = nominal;
            w["schema"]["then"] = json!({ "required": ["last_year_worked"] });
        }),
        ("is optional, and the schema always requires it", |w| {
            w["pages"][0]["fields"][0]["optional"] = json!(true)
        }),
        ("names no locator", |w| w["pages"][0]["next"]["find"] = json!([])),
        ("must be like role=button[Continue]", |w| {
            w["pages"][0]["next"]["find"] = json!(["role=thing"])
        }),
        ("is neither CSS nor role=", |w| w["pages"][0]["next"]["find"] = json!(["//button"])),
        ("is still to be written", |w| w["pages"][0]["next"]["find"] = json!(["TODO the button"])),
        ("at names nothing that the page shows", |w| w["pages"][0]["at"] = json!({ "path": "/" })),
        ("takes an id of its own", |w| w["pages"][0]["id"] = json!("")),
        ("can't be told from page", |w| {
            let mut again = w["pages"][0].clone();
            again["id"] = json!("again");
            again["fields"] = json!([]);
            w["pages"].as_array_mut().unwrap().push(again);
        }),
        ("outcomes: there must be one", |w| w["outcomes"] = json!([])),
        ("give either find or after", |w| {
            w["outcomes"][0]["results"]["monthly_early"]["after"] = json!("x");
        }),
        ("examples: there must be one", |w| w["examples"] = json!([])),
        ("example 0: does not fit", |w| w["examples"][0]["user_data"]["birth_month"] = json!("6")),
        ("example 0: \"rich\" is no outcome", |w| w["examples"][0]["outcome"] = json!("rich")),
        ("no example reaches it", |w| {
            let mut more = w["pages"][0].clone();
            more["id"] = json!("more");
            more["at"]["path"] = json!("/more");
            more["fields"] = json!([]);
            more["when"] = json!({ "dollar_type": "constant", "current_earnings": 0 });
            w["pages"].as_array_mut().unwrap().push(more);
        }),
    ];
    assert!(checked(&shipped("ssa-quick-calculator").to_string()).is_ok());
    for (message, change) in cases {
        let mut wizard = shipped("ssa-quick-calculator");
        change(&mut wizard);
        let refused = checked(&wizard.to_string()).expect_err(message);
        assert!(refused.contains(message), "{message}\n{refused}");
    }
}

/// [10] Given fields that a form needs with some answers only, when the contract requires them
/// exactly then, then the file is fine and data without them are refused; rows are no exception.
#[test]
fn what_a_form_needs_is_required_exactly_then() {
    let mut wizard = shipped("ssa-quick-calculator");
    wizard["schema"]["then"] = json!({ "required": ["last_year_worked", "last_year_earnings"] });
    for field in 4..=5 {
        wizard["pages"][0]["fields"][field]["optional"] = json!(false);
    }
    let checked_one = checked(&wizard.to_string()).unwrap();
    let mut data = wizard["examples"][1]["user_data"].clone();
    assert!(plan(&checked_one, &data, today()).is_ok());
    data.as_object_mut().unwrap().retain(|name, _| !name.starts_with("last_"));
    let problems = plan(&checked_one, &data, today()).unwrap_err();
    let missing: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(missing, ["/last_year_worked", "/last_year_earnings"]);
    // The same in rows: one part is needed, and the rows' schema does not say so.
    let field = json!({ "field": "kind", "do": "fill", "find": [".kind"] });
    let row = json!({ "type": "object", "additionalProperties": false,
                      "properties": { "kind": { "type": "string" } } });
    wizard["schema"]["properties"]["jobs"] = json!({ "type": "array", "maxItems": 3,
        "description": "Jobs", "items": row });
    let jobs = json!({ "field": "jobs", "do": "repeat", "optional": true, "item": ".job",
                       "add": { "find": ["#add"] }, "parts": [field] });
    wizard["pages"][0]["fields"].as_array_mut().unwrap().push(jobs);
    let refused = checked(&wizard.to_string()).unwrap_err();
    assert!(refused.contains("jobs/kind: the schema does not require it"), "{refused}");
    wizard["schema"]["properties"]["jobs"]["items"]["required"] = json!(["kind"]);
    checked(&wizard.to_string()).unwrap();
}

/// A value somewhere in a document, replaced.
fn mutated(value: &mut Value, path: &[usize], new: &Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = new.clone();
        return;
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let n = first % fields.len();
            if let Some((_, inner)) = fields.iter_mut().nth(n) {
                mutated(inner, rest, new);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let n = first % items.len();
            mutated(&mut items[n], rest, new);
        }
        other => *other = new.clone(),
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!({ "present": true })),
        Just(json!({ "type": "object", "allOf": [{ "not": {} }], "pattern": "(a*)*b" })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// [11] Given a shipped file with values replaced anywhere, when it is read, checked and
    /// planned, then it is fine or refused, and never panics.
    #[test]
    fn a_mutated_file_never_panics(
        name in prop::sample::select(crate::forms::WIZARDS.to_vec()),
        path in prop::collection::vec(any::<prop::sample::Index>(), 1..7),
        new in any_json(),
    ) {
        let mut wizard = shipped(name);
        let path: Vec<usize> = path.iter().map(|index| index.index(1000)).collect();
        mutated(&mut wizard, &path, &new);
        let _ = checked(&wizard.to_string());
    }

    /// Given files of other programs with values replaced anywhere, when they are imported, then
    /// they become a file or are refused, and never panic.
    #[test]
    fn a_mutated_import_never_panics(
        path in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        new in any_json(),
    ) {
        let command = json!({ "command": "select", "target": "id=a", "value": "label=b",
                              "targets": [["id=a", "id"]] });
        let step = json!({ "type": "change", "value": "1", "selectors": [["aria/a"], ["#a"]] });
        let to = json!([{ "type": "navigation", "url": "https://x.gov/b" }]);
        let click = json!({ "type": "click", "selectors": [["#b"]], "assertedEvents": to });
        let open = json!({ "type": "navigate", "url": "https://x.gov/a" });
        let opened = json!({ "command": "open", "target": "/" });
        let commands = json!({ "commands": [opened, command] });
        let field = json!({ "field_id": "a", "selector": "#a", "field_type": "radio" });
        let page = json!({ "page_number": 1, "fields": [field], "continue_button": {} });
        let path: Vec<usize> = path.iter().map(|index| index.index(1000)).collect();
        for mut file in [
            json!({ "title": "a", "steps": [open, step, click] }),
            json!({ "name": "a", "url": "https://x.gov", "tests": [commands] }),
            json!({ "wizard_id": "a", "url": "https://x.gov/", "pages": [page],
                    "properties": { "a": { "type": "string", "enum": ["b"] } } }),
        ] {
            mutated(&mut file, &path, &new);
            let _ = import_recording(&file, today());
            let _ = import(&file, &file);
        }
    }

    /// Given data with values replaced anywhere, when they are validated, then our reading of the
    /// schema agrees with an independent one.
    #[test]
    fn validation_agrees_with_an_independent_validator(
        name in prop::sample::select(vec!["ssa-quick-calculator", "fsa-estimator"]),
        path in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
        new in any_json(),
    ) {
        let wizard = shipped(name);
        let mut data = wizard["examples"][0]["user_data"].clone();
        let path: Vec<usize> = path.iter().map(|index| index.index(1000)).collect();
        mutated(&mut data, &path, &new);
        let theirs = jsonschema::draft7::is_valid(&wizard["schema"], &data);
        prop_assert_eq!(schema::validate(&wizard["schema"], &data).is_empty(), theirs, "{}", data);
    }
}

/// [11] Given texts that are no files, when they are read, then they are refused.
#[test]
fn texts_that_are_no_files_are_refused() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in ["", "{}", "[]", "null", "{\"josh_wizard\": 1}", deep.as_str()] {
        assert!(checked(text).is_err());
    }
    let whole = shipped("ssa-quick-calculator").to_string();
    for end in (0..whole.len()).step_by(97).filter(|end| whole.is_char_boundary(*end)) {
        assert!(checked(&whole[..end]).is_err());
    }
}
