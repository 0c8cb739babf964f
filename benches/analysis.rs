//! Benchmark, in process: resolving misspelt names, and a sum by registrant compared with SQLite
//! and with plain SQL in DuckDB.
//!
//! Usage: cargo run --release --example analysis -- BUNDLE
//! (`josh-data-build synth --filings 1000000` makes a large one)

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use josh::api::{Arguments, Context};
use josh::bundle::{Bundle, Interrupt};
use josh::toolsets::Toolsets;
use serde_json::Value;

fn main() {
    let path = std::env::args().nth(1).expect("give the path of a bundle");
    let bundle = Bundle::open(Path::new(&path)).expect("a bundle");
    let context = Arc::new(Context::unbounded(Arc::new(bundle)));
    for (registry, field) in
        [("legislators", "name"), ("lda-filings", "registrant"), ("lda-filings", "client")]
    {
        names(&context, registry, field);
    }
    sums(&context);
}

/// The median and the 99th percentile.
fn percentiles(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

fn milliseconds(mut f: impl FnMut()) -> f64 {
    let started = Instant::now();
    f();
    started.elapsed().as_secs_f64() * 1e3
}

/// Resolves 300 names of the registry, every other one with two letters swapped.
fn names(context: &Arc<Context>, registry: &str, field: &str) {
    let bundle = &context.bundle;
    let toolsets = Toolsets::default();
    let (source, facts) = bundle.source(registry).expect("the registry");
    let first = bundle.first_number(source);
    let step = (facts.records as usize / 300).max(1);
    let mut times = Vec::new();
    let mut found = 0;
    for (n, number) in (first..first + facts.records as usize).step_by(step).take(300).enumerate() {
        let data: Value =
            serde_json::from_str(bundle.records().by_number(number).expect("a record").data)
                .expect("JSON");
        let Some(name) = data[field].as_str() else { continue };
        let mut typed: Vec<char> = name.chars().collect();
        if n % 2 == 1 && typed.len() > 4 {
            typed.swap(2, 3);
        }
        let mut arguments = Arguments::default();
        arguments.push_one("{source}", registry);
        arguments.push_one("q", typed.into_iter().collect::<String>());
        arguments.push_one("limit", "5");
        times.push(milliseconds(|| {
            let outcome = toolsets.run("resolve_entity", arguments.clone(), context);
            let outcome = outcome.expect("records");
            let (_, items) = outcome.output.items().expect("a list");
            found += usize::from(items.iter().any(|item| item.contains(name)));
        }));
    }
    let (asked, (p50, p99)) = (times.len(), percentiles(times));
    println!(
        "names      {} {registry} by {field}: {p50:.2} ms p50, {p99:.2} ms p99; \
         {found} of {asked} among the first five",
        facts.records
    );
}

fn sums(context: &Arc<Context>) {
    let bundle = &context.bundle;
    let toolsets = Toolsets::default();
    let sql = "SELECT registrant, sum(amount)::BIGINT FROM lda_filings \
               GROUP BY registrant ORDER BY sum(amount) DESC LIMIT 20";
    let all = "SELECT registrant, amount FROM lda_filings";
    let never = Interrupt::never();
    let rows = bundle.db.query(all, &[], &never, |row| {
        Ok((row.get::<Option<String>>(0)?, row.get::<Option<i64>>(1)?))
    });
    let rows = rows.expect("rows");
    let sqlite = rusqlite::Connection::open_in_memory().expect("SQLite");
    sqlite
        .execute_batch("CREATE TABLE f (registrant TEXT, amount INTEGER); BEGIN")
        .expect("a table");
    {
        let mut insert = sqlite.prepare("INSERT INTO f VALUES (?1, ?2)").expect("insert");
        for (registrant, amount) in &rows {
            insert.execute((registrant.as_deref(), amount)).expect("inserted");
        }
    }
    sqlite
        .execute_batch("COMMIT; CREATE INDEX by_registrant ON f (registrant); ANALYZE")
        .expect("an index");
    let mut statement = sqlite
        .prepare(
            "SELECT registrant, sum(amount) AS s FROM f \
             GROUP BY registrant ORDER BY s DESC LIMIT 20",
        )
        .expect("a statement");
    let query = "{source}=lda-filings&aggregate=sum&sum_field=amount&group_by=registrant";
    let arguments = Arguments::from_query(query).expect("arguments");
    let (mut ours, mut direct, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..30 {
        ours.push(milliseconds(|| {
            let sums = toolsets.run("aggregate_records", arguments.clone(), context);
            drop(sums.expect("sums"));
        }));
        direct.push(milliseconds(|| {
            let rows = bundle.db.query(sql, &[], &never, |row| {
                Ok((row.get::<Option<String>>(0)?, row.get::<i64>(1)?))
            });
            drop(rows.expect("rows"));
        }));
    }
    for _ in 0..5 {
        let mut all =
            || statement.query_map([], |r| r.get::<_, Option<String>>(0)).expect("rows").count();
        theirs.push(milliseconds(|| assert!(all() > 0)));
    }
    let ((ours, _), (direct, _), (theirs, _)) =
        (percentiles(ours), percentiles(direct), percentiles(theirs));
    println!(
        "sum        {} filings by registrant: Josh {ours:.1} ms, \
         the same SQL in DuckDB {direct:.1} ms, SQLite {theirs:.1} ms",
        rows.len()
    );
    println!("           SQLite / Josh {:.1}, Josh / DuckDB {:.2}", theirs / ours, ours / direct);
}
