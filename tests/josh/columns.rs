//! Columns and SQL give the same: every request here is asked of a server with the sample and of
//! one with the same sample without its columns, where DuckDB answers.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use josh::bundle::format::SectionKind;
use josh::policy::query::Cursor;
use serde_json::Value;

use crate::operations::{metric_if_any, statements};
use crate::support::{SAMPLE, Server, changed, segment};

/// The sample as an older Josh would have built it.
static SQL: LazyLock<(tempfile::TempDir, Server)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = changed(folder.path(), "sql.db", |manifest| {
        let before = manifest.sections.len();
        manifest.sections.retain(|section| section.kind != SectionKind::Columns);
        assert_eq!(manifest.sections.len(), before - 1, "the sample has columns");
    });
    let server = Server::start(&["--bundle", path.to_str().expect("a path")]);
    (folder, server)
});

/// A server of our own: what it did is what we asked.
static COLUMNS: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

/// Asks both and compares; gives what they said.
fn same(path: &str) -> Value {
    let [columns, sql] = [&*COLUMNS, &SQL.1].map(|server| {
        let answer = server.get(path);
        (answer.status, stable(answer.json()))
    });
    let text = |answer: &(u16, Value)| format!("{} {}", answer.0, answer.1);
    assert_eq!(text(&columns), text(&sql), "{path}\n(columns, then SQL)");
    columns.1
}

/// Without what differs between two runs of one request.
fn stable(mut answer: Value) -> Value {
    for (part, field) in
        [("/meta", "request_id"), ("/meta", "took_ms"), ("", "took_ms"), ("/query_cost", "ms")]
    {
        if let Some(fields) = answer.pointer_mut(part).and_then(Value::as_object_mut) {
            fields.remove(field);
        }
    }
    if let Some(error) = answer.pointer_mut("/error").and_then(Value::as_object_mut) {
        error.remove("request_id");
    }
    answer
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn one<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        let at = self.roll(of.len());
        of.get(at)
    }
}

struct SourceUnderTest {
    key: String,
    fields: Vec<Value>,
    records: Vec<Value>,
    has_date: bool,
}

impl SourceUnderTest {
    fn all() -> Vec<SourceUnderTest> {
        let source = |source: &Value| {
            let key = source["key"].as_str().expect("a key").to_string();
            let about = SAMPLE.get(&format!("/v1/sources/{key}")).json();
            let fields = about["data"]["fields"].as_array().expect("fields").clone();
            let records = SAMPLE.all(&format!("/v1/{key}"), 100);
            let has_date = about["data"]["main_date"].is_string();
            SourceUnderTest { key, fields, records, has_date }
        };
        SAMPLE.sources().iter().map(source).collect()
    }

    /// Names of the fields with this mark.
    fn names(&self, mark: &str) -> Vec<&str> {
        let marked = self.fields.iter().filter(|field| field[mark] == true);
        marked.filter_map(|field| field["name"].as_str()).collect()
    }

    /// A filter with a value that some record has, or one that none has.
    fn filter(&self, dice: &mut Dice) -> String {
        let filterable: Vec<&Value> =
            self.fields.iter().filter(|field| field["filter"] == true).collect();
        let field = dice.one(&filterable).expect("a field");
        let (name, kind) = (field["name"].as_str().unwrap(), field["type"].as_str().unwrap());
        let record = dice.one(&self.records).expect("a record");
        let value = match &record[name] {
            Value::Array(items) => dice.one(items).cloned().unwrap_or(Value::Null),
            value => value.clone(),
        };
        let mut text = match (&value, kind) {
            (Value::String(text), _) => text.clone(),
            (Value::Null, "integer") => "7".into(),
            (Value::Null, "date") => "2020".into(),
            (Value::Null, "boolean") => "false".into(),
            (Value::Null, _) => "nothing like it".into(),
            (other, _) => other.to_string(),
        };
        if kind == "date" && dice.roll(3) == 0 {
            text.truncate([4, 7][dice.roll(2)]);
        }
        if kind.starts_with("keyword") && dice.roll(3) == 0 {
            text = text.to_uppercase();
        }
        if text.contains(',') {
            text = format!("\"{text}\"");
        }
        let op = match kind {
            "integer" | "date" => ["", "", ".lt", ".lte", ".gt", ".gte"][dice.roll(6)],
            _ => "",
        };
        format!("{name}{op}={}", segment(&text))
    }

    fn filters(&self, dice: &mut Dice, most: usize) -> String {
        let count = dice.roll(most + 1);
        let mut filters: Vec<String> = (0..count).map(|_| self.filter(dice)).collect();
        filters.sort();
        filters.dedup_by(|a, b| a.split('=').next() == b.split('=').next());
        filters.iter().map(|filter| format!("&{filter}")).collect()
    }
}

/// Given many lists by filter, sort, facet and page, when they are asked for, then columns give
/// what SQL gives, to the byte, and no SQL runs.
#[test]
fn lists_from_columns_are_those_of_sql() {
    let mut dice = Dice(1);
    let (mut asked, mut found) = (0, 0);
    let before = statements(&COLUMNS);
    for source in SourceUnderTest::all() {
        let (sortable, groups) = (source.names("sort"), source.names("group"));
        for _ in 0..30 {
            let mut path = format!("/v1/{}?limit={}", source.key, 1 + dice.roll(9));
            path.push_str(&source.filters(&mut dice, 3));
            if let (Some(field), true) = (dice.one(&sortable), dice.roll(4) > 0) {
                path.push_str(&format!("&sort={}{field}", ["", "-"][dice.roll(2)]));
            }
            if let (Some(field), true) = (dice.one(&groups), dice.roll(4) == 0) {
                let year = if source.has_date { ",year" } else { "" };
                path.push_str(&format!("&facets={field}{year}"));
            }
            let mut page = same(&path);
            asked += 1;
            found += u64::from(page["total"].as_u64().is_some_and(|total| total > 1));
            for _ in 0..4 {
                let Some(cursor) = page["next_cursor"].as_str() else { break };
                let forged = forged(cursor, &mut dice);
                same(&format!("{path}&cursor={forged}"));
                page = same(&format!("{path}&cursor={cursor}"));
            }
        }
    }
    assert!(asked > 500 && found > 150, "{found} of {asked} lists have something to sort");
    assert_eq!(statements(&COLUMNS), before, "columns answered without SQL");
    assert!(statements(&SQL.1) > asked, "the other server has no columns");
}

/// The cursor with another place and another value in it, as anyone could make one up.
fn forged(cursor: &str, dice: &mut Dice) -> String {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).unwrap()).unwrap();
    let (list, ord, key, total): (u64, u64, Option<String>, u64) =
        serde_json::from_str(&text[8..]).unwrap();
    let key = match (key, dice.roll(3)) {
        (_, 0) => None,
        (Some(key), 1) => match key.parse::<i64>() {
            Ok(number) => Some((number + 1).to_string()),
            Err(_) => Some(key),
        },
        (key, _) => key,
    };
    Cursor { list, ord: ord.saturating_sub(dice.roll(4) as u64), key, total }.encode()
}

/// The same of counts, sums and series.
#[test]
fn numbers_from_columns_are_those_of_sql() {
    let mut dice = Dice(2);
    let before = statements(&COLUMNS);
    let mut buckets = 0;
    for source in SourceUnderTest::all() {
        let [groups, sums, times] = ["group", "sum", "time"].map(|mark| source.names(mark));
        for round in 0..24 {
            let mut path = format!("/v1/{}?limit={}", source.key, 1 + dice.roll(30));
            path.push_str(&source.filters(&mut dice, 2));
            match (dice.one(&sums), dice.roll(2)) {
                (Some(field), 0) => path.push_str(&format!("&aggregate=sum&sum_field={field}")),
                _ => path.push_str("&aggregate=count"),
            }
            let time = dice.one(&times).filter(|_| round % 3 == 0);
            if let Some(field) = time {
                let interval = ["day", "week", "month", "quarter", "year"][dice.roll(5)];
                path.push_str(&format!("&bucket_by_time={field}&time_interval={interval}"));
            }
            let mut chosen: Vec<&str> =
                (0..dice.roll(3)).filter_map(|_| dice.one(&groups).copied()).collect();
            chosen.dedup();
            chosen.truncate(if time.is_some() { 1 } else { 2 });
            if !chosen.is_empty() {
                path.push_str(&format!("&group_by={}", chosen.join(",")));
            }
            let numbers = same(&path);
            buckets += numbers["buckets"].as_array().map_or(0, Vec::len);
        }
    }
    assert!(buckets > 500, "only {buckets} buckets were compared");
    assert_eq!(statements(&COLUMNS), before, "columns answered without SQL");
}

/// The same of searches with filters, of counts of what a search matches, of names that filters
/// understand, and of records that belong to a record.
#[test]
fn searches_and_sub_resources_from_columns_are_those_of_sql() {
    let mut dice = Dice(3);
    let before = statements(&COLUMNS);
    let mut results = 0;
    for source in SourceUnderTest::all() {
        let has_text = source.fields.iter().any(|field| field["name"] == "text_status");
        for word in ["health", "security", "report"].iter().filter(|_| has_text) {
            for _ in 0..4 {
                let filters = source.filters(&mut dice, 2);
                let found = same(&format!(
                    "/v1/search?q={word}&mode=lexical&source={}{filters}",
                    source.key
                ));
                results += found["results"].as_array().map_or(0, Vec::len);
                let facets = same(&format!(
                    "/v1/search?q={word}&mode=lexical&source={},bills&facets=year,congress{}",
                    source.key, ""
                ));
                assert!(facets["error"].is_object() || facets["facets"].is_array());
                same(&format!("/v1/{}?aggregate=count&q={word}{filters}", source.key));
            }
        }
    }
    assert!(results > 50, "only {results} results were compared");
    assert_eq!(statements(&COLUMNS), before, "columns answered without SQL");
    for path in [
        "/v1/lda-filings?client=visa",
        "/v1/lda-filings?registrant=no such firm",
        "/v1/federal-register?agencies=EPA",
        "/v1/bills?sponsor=Schumer",
    ] {
        same(&path.replace(' ', "%20"));
    }
    for member in SAMPLE.all("/v1/legislators", 100).iter().filter(|m| m["current"] == true) {
        let id = member["id"].as_str().unwrap();
        same(&format!("/v1/legislators/{id}/sponsored?sort=-introduced_date&limit=2"));
        same(&format!("/v1/legislators/{id}/sponsored?is_law=true&facets=policy_area"));
    }
}

/// Given a count that takes a while, when many ask for it at once and again, in whichever order
/// they write its parameters, then it runs once, and the metrics say so.
#[test]
fn equal_requests_run_once() {
    let server = {
        let path = SQL.0.path().join("sql.db");
        Server::start(&["--bundle", path.to_str().expect("a path")])
    };
    let series = "bucket_by_time=introduced_date&time_interval=week&group_by=status";
    let paths = [format!("/v1/bills?{series}&limit=9"), format!("/v1/bills?limit=9&{series}")];
    let bodies: Vec<Value> = std::thread::scope(|scope| {
        let ask = |n: usize| {
            let (server, path) = (&server, &paths[n % 2]);
            scope.spawn(move || stable(server.get(path).json()))
        };
        let asked: Vec<_> = (0..32).map(ask).collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect()
    });
    assert!(bodies.iter().all(|body| *body == bodies[0]), "all have the same answer");
    server.get(&paths[0]);
    let count = |result: &str| {
        let name = format!("josh_outcomes_total{{result=\"{result}\"}}");
        metric_if_any(&server, &name).unwrap_or_default() as u64
    };
    assert_eq!(count("miss"), 1);
    assert_eq!(count("miss") + count("joined") + count("hit"), 33);
    assert!(count("hit") > 0);
    let once = statements(&server);
    assert_eq!(server.get(&paths[1]).status, 200);
    assert_eq!(statements(&server), once, "what was kept needs no statement");
}

/// Given a name where the bundle has columns and where it has none, when it is resolved, then both
/// find the same records in the same order.
#[test]
fn names_are_resolved_alike_with_and_without_columns() {
    let registries = SAMPLE.sources();
    let registries = registries.iter().filter(|source| source["shape"] == "registry");
    for key in registries.filter_map(|source| source["key"].as_str()) {
        for record in SAMPLE.all(&format!("/v1/{key}"), 100).iter().step_by(3) {
            let name = ["name", "title"].iter().find_map(|field| record[*field].as_str());
            let name: String = name.unwrap_or_default().chars().take(60).collect();
            for typed in [name.clone(), format!("Sen. {name} of Ohio 2025")] {
                same(&format!("/v1/{key}?q={}", segment(&typed)));
            }
        }
    }
}
