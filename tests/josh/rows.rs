//! Rows of sub-resources: whatever is asked of them, without SQL, is what SQL gives.

use std::sync::LazyLock;

use josh::api::Context;
use josh::bundle::Bundle;
use josh::catalog::spec::{BODY, TOC};
use josh::catalog::{Field, Kind, SOURCES, SubResourceKind};
use josh::policy::query::row_json;
use serde_json::Value;

use crate::operations::statements;
use crate::support::{Server, sample, segment};

/// A server of our own: what it did is what we asked.
static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

static BUNDLE: LazyLock<Context> =
    LazyLock::new(|| Context::unbounded(Bundle::open(&sample()).expect("the sample").into()));

/// The rows of a record that SQL gives.
fn expected(table: &str, columns: &[Field], parent: &str, wheres: &str, order: &str) -> Vec<Value> {
    let sql = format!(
        "SELECT {} FROM \"{table}\" WHERE parent = '{parent}' AND {wheres} ORDER BY {order}",
        row_json(columns)
    );
    let rows = BUNDLE.bundle.db.query(&sql, &[], &BUNDLE.interrupt(), |row| row.get::<String>(0));
    let rows = rows.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    rows.iter().map(|row| serde_json::from_str(row).expect("JSON")).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Filters on a column that some row passes, as a parameter and as SQL.
fn filters(field: &Field, rows: &[Value]) -> Vec<(String, String)> {
    let (name, column) = (field.name, format!("\"{}\"", field.name));
    let Some(value) = rows.iter().map(|row| &row[name]).find(|value| !value.is_null()) else {
        return Vec::new();
    };
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => match items.first() {
            Some(Value::String(text)) => text.clone(),
            _ => return Vec::new(),
        },
        other => other.to_string(),
    };
    let exact = match field.kind {
        Kind::Text => return Vec::new(),
        Kind::Keyword => format!("lower({column}) = lower({})", quoted(&text)),
        Kind::Keywords => format!(
            "list_contains(list_transform({column}, lambda x: lower(x)), lower({}))",
            quoted(&text)
        ),
        Kind::Ids(_) => format!("list_contains({column}, {})", quoted(&text)),
        kind => format!("{column} = {}::{}", quoted(&text), kind.sql()),
    };
    let given = if text.contains(',') { format!("\"{text}\"") } else { text.clone() };
    let mut filters = vec![(format!("{name}={}", segment(&given)), exact)];
    if matches!(field.kind, Kind::Int | Kind::Number | Kind::Date) {
        let ops = [("lt", "<"), ("lte", "<="), ("gt", ">"), ("gte", ">=")];
        filters.extend(ops.map(|(op, sql)| {
            let value = format!("{}::{}", quoted(&text), field.kind.sql());
            (format!("{name}.{op}={}", segment(&text)), format!("{column} {sql} {value}"))
        }));
    }
    filters
}

/// Given every sub-resource of rows and records with few and with many of them, when they are
/// listed whole, filtered, sorted and page by page, then the rows are those of the table in its
/// order, and no statement was run.
#[test]
fn rows_without_sql_are_those_of_sql() {
    let (mut lists, mut long) = (0, 0);
    for source in SOURCES.iter().filter(|source| BUNDLE.bundle.source(source.key).is_some()) {
        for sub in source.sub_resources {
            let SubResourceKind::Rows(columns) = sub.kind else { continue };
            let table = source.sub_table(sub.name);
            // Records with the most rows, and some with few.
            let sql = format!(
                "SELECT parent, count(*) AS n FROM \"{table}\" GROUP BY 1 ORDER BY n DESC, 1"
            );
            let parents = BUNDLE.bundle.db.query(&sql, &[], &BUNDLE.interrupt(), |row| {
                Ok((row.get::<String>(0)?, row.get::<i64>(1)?))
            });
            let parents = parents.expect("parents");
            let few = parents.len().saturating_sub(2);
            for (at, (parent, count)) in parents.iter().enumerate() {
                if at >= 3 && at < few {
                    continue;
                }
                long += u32::from(*count > 20);
                let path = format!("/v1/{}/{}/{}", source.key, segment(parent), sub.name);
                let all = expected(&table, columns, parent, "TRUE", "ord");
                let before = statements(&SERVER);
                assert_eq!(SERVER.all(&path, 100), all, "{path}");
                assert_eq!(SERVER.all(&path, 7), all, "{path}");
                lists += 2;
                for field in columns {
                    for (parameter, wheres) in filters(field, &all) {
                        let rows = expected(&table, columns, parent, &wheres, "ord");
                        assert!(!rows.is_empty() || parameter.contains('.'), "{parameter}");
                        assert_eq!(
                            SERVER.all(&format!("{path}?{parameter}"), 100),
                            rows,
                            "{path}?{parameter}"
                        );
                        lists += 1;
                    }
                    if field.can_sort() {
                        for (sign, direction) in [("", "ASC"), ("-", "DESC")] {
                            let order = format!("\"{}\" {direction} NULLS LAST, ord", field.name);
                            let rows = expected(&table, columns, parent, "TRUE", &order);
                            let sorted = format!("{path}?sort={sign}{}", field.name);
                            assert_eq!(SERVER.all(&sorted, 9), rows, "{sorted}");
                            lists += 1;
                        }
                    }
                }
                assert_eq!(statements(&SERVER), before, "{path}");
            }
        }
    }
    assert!(lists > 500 && long > 10, "{lists} lists, {long} records with many rows");
}

/// Given a list of rows that is sorted, when a cursor names a row that is none of its own, then it
/// is refused.
#[test]
fn a_cursor_of_no_row_is_refused() {
    use josh::policy::query::Cursor;
    let path = "/v1/roll-call-votes/house:119:1:145/positions?sort=name&limit=5";
    let page = SERVER.get(path).json();
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let decoded = {
        use base64::Engine as _;
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(cursor);
        String::from_utf8(bytes.expect("Base64")).expect("text")
    };
    let list: u64 = decoded[9..].split(',').next().and_then(|n| n.parse().ok()).expect("a hash");
    let forged = Cursor { list, ord: 999_999_999, key: None, total: 5 }.encode();
    let answer = SERVER.get(&format!("{path}&cursor={forged}"));
    assert_eq!((answer.status, answer.code()), (400, "invalid_cursor".to_string()));
    let next = SERVER.get(&format!("{path}&cursor={cursor}"));
    assert_eq!(next.status, 200);
}

/// Given series with few and with many values, when they are asked for by interval, with every
/// statistic and within days, then the values are those of SQL to the last bit, and no statement
/// was run.
#[test]
fn numbers_of_rows_without_sql_are_those_of_sql() {
    let table = "\"statistical_series_observations\"";
    let run = |sql: &str, path: &str| -> Vec<(Option<String>, f64)> {
        let rows = BUNDLE.bundle.db.query(sql, &[], &BUNDLE.interrupt(), |row| {
            Ok((row.get::<Option<String>>(0)?, row.get::<Option<f64>>(1)?))
        });
        let rows = rows.unwrap_or_else(|error| panic!("{path}: {error:?}"));
        rows.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    };
    let parents =
        format!("SELECT parent, count(*)::DOUBLE FROM {table} GROUP BY 1 ORDER BY 2 DESC");
    let parents = run(&parents, "parents");
    assert!(parents.len() > 10, "{parents:?}");
    let exact = "number::DECIMAL(38, 6)";
    let statistics = [
        ("last", "arg_max(number, date)".to_string()),
        ("first", "arg_min(number, date)".to_string()),
        ("mean", format!("sum({exact})::DOUBLE / count(number)")),
        ("min", "min(number)".to_string()),
        ("max", "max(number)".to_string()),
        ("sum", format!("sum({exact})::DOUBLE")),
        ("count", "count(*)::DOUBLE".to_string()),
    ];
    let mut numbers = 0;
    for (parent, _) in &parents {
        let parent = parent.as_deref().expect("an id");
        let path = format!("/v1/statistical-series/{}/observations", segment(parent));
        for (since, wheres) in [("", "TRUE"), ("&since=2001-02", "date >= DATE '2001-02-01'")] {
            for (statistic, value) in &statistics {
                let is_count = *statistic == "count";
                let present = if is_count { "TRUE" } else { "number IS NOT NULL" };
                let from =
                    format!("FROM {table} WHERE parent = '{parent}' AND {present} AND {wheres}");
                let whole = run(&format!("SELECT NULL::VARCHAR, {value} {from}"), &path);
                let before = statements(&SERVER);
                let asked = SERVER.get(&format!("{path}?aggregate={statistic}{since}")).json();
                assert_eq!(asked["value"].as_f64(), whole.first().map(|(_, value)| *value));
                for interval in ["day", "week", "month", "quarter", "year"] {
                    let path =
                        format!("{path}?aggregate={statistic}&time_interval={interval}{since}");
                    let answer = SERVER.get(&path).json();
                    let Some(buckets) = answer["buckets"].as_array() else {
                        assert_eq!(answer["error"]["code"], "aggregate_too_broad", "{path}");
                        continue;
                    };
                    let expected = run(
                        &format!(
                            "SELECT date_trunc('{interval}', date)::DATE::VARCHAR, {value} {from} \
                             AND date IS NOT NULL GROUP BY 1 ORDER BY 1"
                        ),
                        &path,
                    );
                    let found = buckets.iter().map(|bucket| {
                        let key = bucket["key"].as_str().map(str::to_string);
                        (key, bucket["value"].as_f64().expect("a number"))
                    });
                    // Where nothing is, a count is 0.
                    let found: Vec<_> = found.filter(|(_, n)| !is_count || *n > 0.0).collect();
                    assert_eq!(found, expected, "{path}");
                    numbers += found.len();
                }
                assert_eq!(statements(&SERVER), before, "{path} {statistic}");
            }
        }
    }
    assert!(numbers > 1_000, "{numbers}");
}

/// Given texts in one version or several, when they are listed whole, filtered, sorted and page by
/// page, then the sections are those of the table in its order, and a page took two statements at
/// most. (`data-build/tests/links.rs` has a text of many sections.)
#[test]
fn sections_of_a_text_are_those_of_the_table() {
    let server = Server::start(&[]);
    let mut lists = 0;
    for source in SOURCES.iter().filter(|source| source.shape.has_body()) {
        if BUNDLE.bundle.source(source.key).is_none() {
            continue;
        }
        let table = source.sub_table("body");
        let sql =
            format!("SELECT parent, count(*) AS n FROM \"{table}\" GROUP BY 1 ORDER BY n DESC, 1");
        let parents = BUNDLE.bundle.db.query(&sql, &[], &BUNDLE.interrupt(), |row| {
            Ok((row.get::<String>(0)?, row.get::<usize>(1)?))
        });
        for (parent, _) in parents.expect("parents").iter().take(2) {
            for (sub, columns) in [("body", BODY), ("toc", TOC)] {
                let path = format!("/v1/{}/{}/{sub}", source.key, segment(parent));
                let all = expected(&table, columns, parent, "TRUE", "ord");
                let check = |query: String, wheres: &str, order: &str, limit: usize| {
                    let rows = expected(&table, columns, parent, wheres, order);
                    let before = statements(&server);
                    assert_eq!(server.all(&format!("{path}{query}"), limit), rows, "{path}{query}");
                    let pages = rows.len().div_ceil(limit).max(1) as u64;
                    let ran = statements(&server) - before;
                    assert!(ran <= 2 * pages, "{path}{query}: {ran} statements, {pages} pages");
                };
                check(String::new(), "current", "ord", 100);
                check(String::new(), "current", "ord", 7);
                check("?current=true,false".into(), "TRUE", "ord", 90);
                lists += 3;
                for field in columns {
                    let is_version = ["version", "current"].contains(&field.name);
                    let scope = if is_version { "TRUE" } else { "current" };
                    for (parameter, wheres) in filters(field, &all) {
                        if !parameter.ends_with('=') {
                            let wheres = format!("{wheres} AND {scope}");
                            check(format!("?{parameter}"), &wheres, "ord", 100);
                            lists += 1;
                        }
                    }
                    if field.can_sort() {
                        let order = format!("\"{}\" DESC NULLS LAST, ord", field.name);
                        check(format!("?sort=-{}", field.name), "current", &order, 30);
                        lists += 1;
                    }
                }
            }
        }
    }
    assert!(lists > 100, "{lists} lists");
}
