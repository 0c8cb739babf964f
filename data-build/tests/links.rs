//! What one source's records say about another's, after a build: amendments and their roll calls,
//! bills and their laws, people and their names, a bill and its text.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use josh::api::{Arguments, Context};
use josh::bundle::Bundle;
use josh::toolsets::Toolsets;
use serde_json::{Value, json};

fn build(folder: &Path, files: &[(&str, &[Value])]) -> Bundle {
    let input = folder.join("in");
    for (name, records) in files {
        let path = input.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        std::fs::write(path, lines.join("\n")).unwrap();
    }
    let out = folder.join("out.db");
    let output = Command::new(env!("CARGO_BIN_EXE_josh-data-build"))
        .args(["build", "--embed", "none", "--as-of", "2025-12-31", "--from"])
        .arg(&input)
        .arg("--out")
        .arg(&out)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Bundle::open(&out).unwrap()
}

fn record(bundle: &Bundle, id: &str) -> Value {
    serde_json::from_str(bundle.records().by_id(id).unwrap().1.data).unwrap()
}

/// Given a roll call that does not say what it was on, when an amendment's action names it, then
/// it belongs to the amendment and to the amendment's bill; a vote on two belongs to neither.
#[test]
fn a_roll_call_belongs_to_the_amendment_whose_action_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let amendment = |number: i64, votes: &[&str]| {
        let actions: Vec<Value> = votes
            .iter()
            .map(|vote| json!({"date": "2025-07-01", "text": "Not agreed to.", "vote_id": vote}))
            .collect();
        json!({"id": format!("samdt:119:{number}"), "title": "An amendment", "congress": 119,
            "bill_id": "hr:119:1", "submitted_date": "2025-07-01", "rows": {"actions": actions}})
    };
    let vote = |number: i64| {
        json!({"id": format!("senate:119:1:{number}"), "title": "A vote", "congress": 119,
            "session": 1, "chamber": "senate", "number": number, "date": "2025-07-01"})
    };
    let amendments = [
        amendment(2848, &["senate:119:1:371"]),
        amendment(2849, &["senate:119:1:369", "senate:119:1:371"]),
    ];
    let bundle = build(
        folder.path(),
        &[
            ("amendments.josh.jsonl", &amendments),
            ("roll-call-votes.josh.jsonl", &[vote(369), vote(371)]),
        ],
    );
    let voted = record(&bundle, "senate:119:1:369");
    assert_eq!(
        (&voted["amendment_id"], &voted["bill_id"]),
        (&json!("samdt:119:2849"), &json!("hr:119:1"))
    );
    assert!(record(&bundle, "senate:119:1:371")["amendment_id"].is_null());
}

/// Given laws that only the list of laws knows, when built, then status, flag, type and number of
/// their bills agree, and a private law has no id.
#[test]
fn whichever_file_knows_the_law_the_fields_of_its_bill_agree() {
    let folder = tempfile::tempdir().unwrap();
    let bill = |number: i64| {
        json!({"bill": {"congress": 119, "type": "HR", "number": number, "title": "A bill",
            "introducedDate": "2025-05-13"}})
    };
    let laws = [
        json!({"bill_id": "hr3377-119", "number": "119-1", "type": "Private Law", "title": "A"}),
        json!({"bill_id": "hr1-119", "number": "119-21", "type": "Public Law", "title": "B"}),
    ];
    let bundle = build(
        folder.path(),
        &[("bills/b.jsonl", &[bill(3377), bill(1), bill(2)]), ("public-laws/l.jsonl", &laws)],
    );
    for (id, status, is_law, kind, number, law) in [
        ("hr:119:3377", "enacted", true, json!("private"), json!("Private Law 119-1"), Value::Null),
        (
            "hr:119:1",
            "enacted",
            true,
            json!("public"),
            json!("Public Law 119-21"),
            json!("pl:119:21"),
        ),
        ("hr:119:2", "introduced", false, Value::Null, Value::Null, Value::Null),
    ] {
        let bill = record(&bundle, id);
        assert_eq!((&bill["status"], &bill["is_law"]), (&json!(status), &json!(is_law)), "{id}");
        assert_eq!(
            (&bill["law_type"], &bill["law_number"], &bill["law_id"]),
            (&kind, &number, &law)
        );
    }
}

/// Given a sponsor whose name the bill prints otherwise, when the bundle has the legislator, then
/// the legislator's name is used; party and state stay those of the bill.
#[test]
fn names_come_from_the_legislators_record() {
    let folder = tempfile::tempdir().unwrap();
    let bill = json!({"id": "hr:119:7", "title": "A bill", "introduced_date": "2025-01-09",
        "sponsor": "B001323", "sponsor_name": "Nicholas Begich", "sponsor_party": "I"});
    let member =
        json!({"id": "B001323", "name": "Nicholas J. Begich III", "party": "R", "state": "AK"});
    let files: [(&str, &[Value]); 2] =
        [("bills.josh.jsonl", &[bill]), ("legislators.josh.jsonl", &[member])];
    let found = record(&build(folder.path(), &files), "hr:119:7");
    assert_eq!(found["sponsor_name"], "Nicholas J. Begich III");
    assert_eq!((&found["sponsor_party"], &found["sponsor_state"]), (&json!("I"), &json!("AK")));
}

/// Given a text whose data set lost the quotation marks and one in XML, when built, then the bill
/// is marked whose current text is the former.
#[test]
fn texts_without_their_quotation_marks_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let text = |version: &str| {
        let text = "#### 1. A\nBy striking or ;";
        json!({ "bill_id": "hr7-119", "version": version, "text": text })
    };
    let introduced = "<bill bill-stage='Introduced-in-House'>\
        <form><congress>119th CONGRESS</congress>\
        <legis-num>H. R. 7</legis-num><official-title>To do.</official-title></form><legis-body>\
        <section><enum>1.</enum><text>By striking <quote>or</quote>.</text></section>\
        </legis-body></bill>";
    std::fs::create_dir_all(folder.path().join("in/bills")).unwrap();
    std::fs::write(folder.path().join("in/bills/x.xml"), introduced).unwrap();
    let bundle = build(folder.path(), &[("bills/t.jsonl", &[text("IH"), text("EH")])]);
    let bill = record(&bundle, "hr:119:7");
    assert_eq!(bill["text_versions"], json!(["ih", "eh"]));
    assert_eq!(bill["text_status"], "extract");
    let citation = bundle.records().by_id("hr:119:7").unwrap().1.citation.to_string();
    assert!(citation.contains("lost the quotation marks"), "{citation}");

    // The current text is the official one: an older extract does not mark the bill.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("in/bills")).unwrap();
    let passed = introduced.replace("Introduced-in-House", "Engrossed-in-House");
    std::fs::write(folder.path().join("in/bills/x.xml"), passed).unwrap();
    let bill = record(&build(folder.path(), &[("bills/t.jsonl", &[text("IH")])]), "hr:119:7");
    assert_eq!(bill["text_versions"], json!(["ih", "eh"]));
    assert_eq!(bill["text_status"], Value::Null);
}

/// Given an entry of the Record that names measures by number alone, when one of them was
/// introduced long after that day, or must have been by its number, then it is not linked.
#[test]
fn the_record_names_no_measure_of_the_future() {
    let folder = tempfile::tempdir().unwrap();
    let bill = |number: i64, introduced: &str| {
        json!({"id": format!("sres:119:{number}"), "title": "A resolution", "congress": 119,
            "type": "sres", "number": number, "introduced_date": introduced})
    };
    let bills = [bill(87, "2025-02-21"), bill(88, "2025-02-27"), bill(400, "2025-09-17")];
    let ids = ["sres:119:87", "sres:119:88", "sres:119:400", "sres:119:445", "sjres:119:9"];
    let entry = json!({"id": "crec:2025-02-26:S1392", "title": "Notices", "date": "2025-02-26",
        "congress": 119, "bill_ids": ids});
    let files: [(&str, &[Value]); 2] =
        [("bills.josh.jsonl", &bills), ("congressional-record.josh.jsonl", &[entry])];
    let found = record(&build(folder.path(), &files), "crec:2025-02-26:S1392");
    assert_eq!(found["bill_ids"], json!(["sres:119:87", "sres:119:88", "sjres:119:9"]));
}

/// Given a text of more sections than are read at once, when it is listed page by page, from its
/// end or one section of it, then every section comes with its own text, in two statements a page.
#[test]
fn the_sections_of_a_long_text_come_with_their_texts() {
    const SECTIONS: usize = 150;
    let folder = tempfile::tempdir().unwrap();
    let section = |n: usize| {
        json!({"version": "enr", "order": "1", "section": n.to_string(), "level": 1,
            "heading": format!("SEC. {n}. A heading"), "text": format!("The text of section {n}.")})
    };
    let body: Vec<Value> = (1..=SECTIONS).map(section).collect();
    let bill = json!({"id": "hr:119:1", "title": "A bill", "congress": 119, "type": "hr",
        "number": 1, "introduced_date": "2025-05-20", "body": body});
    let bundle = build(folder.path(), &[("bills.josh.jsonl", &[bill])]);
    let context = Arc::new(Context::unbounded(Arc::new(bundle)));
    let toolsets = Toolsets::default();
    let operation = toolsets.operations().find(|o| o.name == "list_sub_resource").unwrap();
    let list = |given: &[(&'static str, &str)]| {
        let mut arguments = Arguments::default();
        for (name, value) in [("{source}", "bills"), ("{id}", "hr:119:1"), ("{sub}", "body")] {
            arguments.push_one(name, value);
        }
        given.iter().for_each(|(name, value)| arguments.push_one(name, *value));
        let before = context.bundle.db.statements();
        let page = (operation.run)(arguments, &context).unwrap().output.to_value().unwrap();
        assert!(context.bundle.db.statements() - before <= 2, "{given:?}");
        page
    };
    let texts = |page: &serde_json::Map<String, Value>| {
        let items = page["data"].as_array().unwrap().iter();
        items.map(|item| item["text"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let all: Vec<String> = (1..=SECTIONS).map(|n| format!("The text of section {n}.")).collect();
    let (mut found, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut given = vec![("limit", "40")];
        given.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = list(&given);
        assert_eq!(page["total"], SECTIONS);
        found.extend(texts(&page));
        cursor = page["next_cursor"].as_str().map(str::to_string);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, all);
    assert_eq!(texts(&list(&[("section", "77")])), all[76..77]);
    let last = list(&[("sort", "-section"), ("limit", "1")]);
    assert_eq!(texts(&last), all[98..99], "99 is the last section as text");
}
