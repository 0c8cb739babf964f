//! Members of Congress from the congress-legislators project: people with terms (JSON or YAML),
//! people as CSV (fewer fields), district offices. Social media and the executive carry nothing
//! for the catalog and are passed over.

use anyhow::Result;
use serde_json::{Value, json};

use crate::formats::congress::bioguide;
use crate::formats::dates::iso;
use crate::formats::documents::{self, non_empty, non_empty_list};
use crate::formats::json::{int_at, items_at, str_at};
use crate::formats::people;
use crate::formats::tables::{Row, Table};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "legislators";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    if input.extension() == "csv" {
        return read_csv(input, out);
    }
    match documents::value(input)? {
        Some(Value::Array(people)) => Ok(read_people(&people, is_historical(input), out)),
        _ => Ok(Outcome::Skipped),
    }
}

/// The project keeps those who serve and those who served in files of one form: only the name
/// tells them apart.
fn is_historical(input: &Input) -> bool {
    input.file_name().contains("historical")
}

fn read_people(people: &[Value], historical: bool, out: &mut dyn Sink) -> Outcome {
    let newest_start = people
        .iter()
        .flat_map(|p| seats(p))
        .map(|t| str_at(t, &["start"]))
        .max()
        .unwrap_or_default();
    let mut outcome = Outcome::Skipped;
    for (i, person) in people.iter().enumerate() {
        let (terms, offices) = (seats(person), items_at(person, &["offices"]));
        if terms.is_empty() && offices.is_empty() {
            continue;
        }
        outcome = Outcome::Read;
        let place = || format!("person {}", i + 1);
        match bioguide(&str_at(person, &["id", "bioguide"])) {
            None => out.reject(&place(), "no bioguide id"),
            Some(id) if terms.is_empty() => out.record(with_offices(id, &offices)),
            Some(id) => match member(id, person, terms) {
                Some(mut record) => {
                    let ends = record
                        .fields
                        .get("last_term_end")
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    let serves = !historical && ends > newest_start.as_str();
                    record.set("current", serves);
                    out.record(record);
                }
                None => out.reject(&place(), "no name"),
            },
        }
    }
    outcome
}

/// The terms in Congress, newest first; those of presidents are not.
fn seats(person: &Value) -> Vec<&Value> {
    let mut terms = items_at(person, &["terms"]);
    terms.retain(|t| chamber(&str_at(t, &["type"])).is_some());
    terms.sort_by_key(|t| std::cmp::Reverse(str_at(t, &["start"])));
    terms
}

fn member(id: String, person: &Value, terms: Vec<&Value>) -> Option<Record> {
    let mut r = Record::new(SOURCE, id, Rank::Full);
    let name = |part: &str| str_at(person, &["name", part]);
    let official = name("official_full");
    let composed =
        people::full_name(&name("first"), &name("middle"), &name("last"), &name("suffix"));
    let shown = if official.is_empty() { composed } else { official.clone() };
    if shown.is_empty() {
        return None;
    }
    r.set("name", shown)
        .set("first", name("first"))
        .set("last", name("last"))
        .set("official_name", official);
    r.set("nicknames", non_empty_list(other_names(person)));
    r.set("gender", str_at(person, &["bio", "gender"]))
        .set("birthday", iso(&str_at(person, &["bio", "birthday"])));
    r.set("lis_id", str_at(person, &["id", "lis"]))
        .set("govtrack_id", int_at(person, &["id", "govtrack"]));
    r.set("icpsr_id", int_at(person, &["id", "icpsr"]))
        .set("wikidata_id", str_at(person, &["id", "wikidata"]));
    r.set("fec_id", items_at(person, &["id", "fec"]).first().map(|f| str_at(f, &[])));
    r.set("terms_count", terms.len() as i64);
    r.set("first_term_start", terms.last().and_then(|t| iso(&str_at(t, &["start"]))));
    if let Some(latest) = terms.first() {
        let now = affiliations(latest).into_iter().next().unwrap_or(latest);
        r.set("party", party(&str_at(now, &["party"])))
            .set("caucus", party(&str_at(now, &["caucus"])))
            .set("state", str_at(latest, &["state"]));
        r.set("district", district(int_at(latest, &["district"])))
            .set("chamber", chamber(&str_at(latest, &["type"])));
        r.set("last_term_end", iso(&str_at(latest, &["end"])));
        r.set("website", str_at(latest, &["url"])).set("phone", str_at(latest, &["phone"]));
    }
    for term in terms {
        for affiliation in affiliations(term) {
            r.row("terms", term_row(term, affiliation));
        }
    }
    let mut posts = items_at(person, &["leadership_roles"]);
    posts.sort_by_key(|p| std::cmp::Reverse(str_at(p, &["start"])));
    for post in posts {
        r.row("leadership", leadership_row(post));
    }
    Some(r)
}

/// Nickname and former names ("other_names" of those who changed theirs).
fn other_names(person: &Value) -> Vec<String> {
    let first = str_at(person, &["name", "first"]);
    let mut names = vec![str_at(person, &["name", "nickname"])];
    for other in items_at(person, &["other_names"]) {
        let part = |key: &str| str_at(other, &[key]);
        let given = if part("first").is_empty() { first.clone() } else { part("first") };
        if !part("last").is_empty() {
            names.push(people::full_name(&given, &part("middle"), &part("last"), &part("suffix")));
        }
    }
    names.retain(|n| !n.is_empty());
    names
}

/// The parties of a term, newest first: the term itself where the party never changed, otherwise
/// its `party_affiliations`, each with its days. The term's own party is that of its end.
fn affiliations(term: &Value) -> Vec<&Value> {
    let mut found = items_at(term, &["party_affiliations"]);
    found.sort_by_key(|a| std::cmp::Reverse(str_at(a, &["start"])));
    if found.is_empty() { vec![term] } else { found }
}

fn term_row(term: &Value, affiliation: &Value) -> Value {
    json!({
        "chamber": chamber(&str_at(term, &["type"])),
        "state": non_empty(&str_at(term, &["state"])),
        "district": district(int_at(term, &["district"])),
        "senate_class": int_at(term, &["class"]),
        "party": non_empty(&party(&str_at(affiliation, &["party"]))),
        "caucus": non_empty(&party(&str_at(affiliation, &["caucus"]))),
        "start": iso(&str_at(affiliation, &["start"])),
        "end": iso(&str_at(affiliation, &["end"])),
    })
}

fn leadership_row(post: &Value) -> Value {
    json!({
        "role": non_empty(&str_at(post, &["title"])),
        "chamber": non_empty(&str_at(post, &["chamber"]).to_ascii_lowercase()),
        "start": iso(&str_at(post, &["start"])),
        "end": iso(&str_at(post, &["end"])),
    })
}

fn with_offices(id: String, offices: &[&Value]) -> Record {
    let mut record = Record::new(SOURCE, id, Rank::Partial);
    for office in offices {
        let text = |key: &str| non_empty(&str_at(office, &[key]));
        record.row(
            "offices",
            json!({
                "city": text("city"), "state": text("state"), "address": text("address"),
                "suite": text("suite"),
                "building": text("building"), "zip": text("zip"),
                "phone": text("phone"), "fax": text("fax"),
            }),
        );
    }
    record
}

fn read_csv(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut table = Table::open(input)?;
    if !table.has(&["bioguide_id", "last_name", "type", "state"]) {
        return Ok(Outcome::Skipped);
    }
    // The CSV has no dates, so only the name of the file says whether its people serve.
    let current = if is_historical(input) {
        Some(false)
    } else {
        input.file_name().contains("current").then_some(true)
    };
    while let Some(row) = table.next_readable(out) {
        match person_of_row(&table, &row) {
            Ok(mut record) => {
                record.set("current", current);
                out.record(record);
            }
            Err(reason) => out.reject(&format!("line {}", row.line), reason),
        }
    }
    Ok(Outcome::Read)
}

fn person_of_row(table: &Table, row: &Row) -> Result<Record, &'static str> {
    let cell = |name: &str| table.get(row, name);
    let id = bioguide(cell("bioguide_id")).ok_or("no bioguide id")?;
    let mut r = Record::new(SOURCE, id, Rank::Partial);
    let composed = people::full_name(
        cell("first_name"),
        cell("middle_name"),
        cell("last_name"),
        cell("suffix"),
    );
    let name = if cell("full_name").is_empty() { composed } else { cell("full_name").to_string() };
    if name.is_empty() {
        return Err("no name");
    }
    let number = |name: &str| cell(name).parse::<i64>().ok();
    r.set("name", name).set("first", cell("first_name")).set("last", cell("last_name"));
    r.set("official_name", cell("full_name"));
    if !cell("nickname").is_empty() {
        r.set("nicknames", vec![cell("nickname")]);
    }
    r.set("party", party(cell("party")))
        .set("state", cell("state"))
        .set("district", district(number("district")));
    r.set("chamber", chamber(cell("type")))
        .set("gender", cell("gender"))
        .set("birthday", iso(cell("birthday")));
    r.set("lis_id", cell("lis_id"))
        .set("govtrack_id", number("govtrack_id"))
        .set("icpsr_id", number("icpsr_id"));
    r.set("fec_id", cell("fec_ids").split(',').next().unwrap_or_default().trim());
    r.set("website", cell("url")).set("phone", cell("phone"));
    Ok(r)
}

fn chamber(term_type: &str) -> Option<&'static str> {
    match term_type {
        "rep" => Some("house"),
        "sen" => Some("senate"),
        _ => None,
    }
}

/// -1 stands for a district that history does not know.
fn district(number: Option<i64>) -> Option<i64> {
    number.filter(|n| *n >= 0)
}

/// The usual letters for today's parties; a party of the past keeps its name.
fn party(name: &str) -> String {
    match name {
        "Democrat" | "Democratic" => "D",
        "Republican" => "R",
        "Independent" => "I",
        "Unknown" => "",
        other => other,
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    const PEOPLE: &str = r#"[
        {"id": {"bioguide": "X000001", "lis": "S900", "fec": ["S1"]},
         "name": {"first": "Ada", "last": "Doe", "nickname": "Addie"},
         "terms": [{"type": "rep", "start": "2001-01-03", "end": "2003-01-03",
                    "state": "WA", "district": 1, "party": "Democrat"},
                   {"type": "sen", "start": "2025-01-03", "end": "2031-01-03",
                    "state": "WA", "class": 1, "party": "Independent"}]},
        {"id": {"bioguide": "X000002"}, "name": {"first": "Vic", "last": "Roe"},
         "terms": [{"type": "viceprez", "start": "2025-01-20", "end": "2029-01-20"}]},
        {"id": {}, "name": {"first": "No", "last": "Id"}, "terms": [{"type": "rep", "start": "1801-01-03"}]}]"#;

    #[test]
    fn a_person_of_both_chambers_is_described_by_the_latest_term() {
        let got = read_text(read, "legislators/legislators-current.json", PEOPLE);
        assert_eq!(got.ids(), ["X000001"], "no vice president");
        assert_eq!(got.rejects, ["person 3: no bioguide id"]);
        assert_eq!(*got.field(0, "chamber"), "senate");
        assert_eq!(*got.field(0, "district"), Value::Null);
        assert_eq!(*got.field(0, "party"), "I");
        assert_eq!(*got.field(0, "first_term_start"), "2001-01-03");
        assert_eq!(*got.field(0, "current"), true);
        let starts: Vec<_> =
            got.records[0].rows.iter().map(|(_, row)| row["start"].clone()).collect();
        assert_eq!(starts, ["2025-01-03", "2001-01-03"], "newest first");
    }

    /// K000401's term of 2025, in the structure of the YAML of June 2026.
    const CHANGED: &str = "
- id: {bioguide: K000401}
  name: {first: Kevin, last: Kiley, official_full: Kevin Kiley}
  terms:
  - {type: rep, start: '2023-01-03', end: '2025-01-03', state: CA, district: 3, party: Republican}
  - type: rep
    start: '2025-01-03'
    end: '2027-01-03'
    state: CA
    district: 3
    party: Independent
    caucus: Republican
    party_affiliations:
    - {start: '2025-01-03', end: '2026-03-08', party: Republican}
    - {start: '2026-03-09', end: '2027-01-03', party: Independent, caucus: Republican}
";

    #[test]
    fn a_change_of_party_divides_a_term() {
        let got = read_text(read, "legislators/legislators-current.yaml", CHANGED);
        assert_eq!((got.field(0, "party"), got.field(0, "caucus")), (&json!("I"), &json!("R")));
        assert_eq!(*got.field(0, "terms_count"), 2, "three rows, two terms");
        let rows: Vec<_> = got.records[0]
            .rows
            .iter()
            .map(|(_, r)| json!([r["party"], r["caucus"], r["start"], r["end"], r["district"]]))
            .collect();
        assert_eq!(
            rows,
            [
                json!(["I", "R", "2026-03-09", "2027-01-03", 3]),
                json!(["R", null, "2025-01-03", "2026-03-08", 3]),
                json!(["R", null, "2023-01-03", "2025-01-03", 3]),
            ]
        );
    }

    #[test]
    fn historical_people_do_not_serve() {
        let got = read_text(read, "legislators/legislators-historical.json", PEOPLE);
        assert_eq!(*got.field(0, "current"), false);
    }

    #[test]
    fn csv_has_fewer_fields_and_unknown_districts() {
        let csv = "last_name,first_name,middle_name,suffix,full_name,type,state,district,party,bioguide_id,fec_ids\n\
                   Roe,Ann,B.,Jr.,,rep,VA,-1,Whig,X000003,\n\
                   Poe,Eve,,,,rep,VA,2,Republican,,\n";
        let got = read_text(read, "legislators/legislators-historical.csv", csv);
        assert_eq!(*got.field(0, "name"), "Ann B. Roe, Jr.");
        assert_eq!(
            (got.field(0, "party"), got.field(0, "district")),
            (&json!("Whig"), &Value::Null)
        );
        assert_eq!(got.rejects, ["line 3: no bioguide id"]);
    }

    #[test]
    fn offices_come_as_rows_alone() {
        let text =
            r#"[{"id": {"bioguide": "X000001"}, "offices": [{"city": "Elma", "suite": 12}]}]"#;
        let got = read_text(read, "legislators/offices.json", text);
        assert!(got.records[0].fields.is_empty());
        assert_eq!(got.records[0].rows[0].1["suite"], "12");
    }
}
