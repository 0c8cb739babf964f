//! Benchmark of search, in process: lexical search compared with SQLite FTS5, semantic search
//! compared with scoring every vector, and the time and memory of opening a bundle.
//!
//! Usage: cargo run --release --example search -- BUNDLE [lexical|semantic|memory|embed ...]
//! (all of them by default)

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use josh::api::{Arguments, Context};
use josh::bundle::text::TextIndex;
use josh::bundle::vectors::Vector;
use josh::bundle::{Bundle, analyzer};
use josh::policy::search::semantic::{self, Wanted};
use josh::policy::search::{Candidates, SearchRequest, ranking};
use roaring::RoaringBitmap;

const QUESTIONS: usize = 300;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("give the path of a bundle");
    let asked: Vec<String> = arguments.collect();
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|a| a == name);
    if wanted("memory") {
        memory(Path::new(&path));
    }
    let bundle = Bundle::open(Path::new(&path)).expect("a bundle");
    let context = Context::unbounded(Arc::new(bundle));
    if wanted("lexical") {
        lexical(&context);
    }
    if wanted("semantic") {
        by_meaning(&context);
    }
    if wanted("embed") {
        embed(&context.bundle);
    }
}

/// The anonymous memory of this process in MB, without the page cache.
fn private_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:")).expect("RssAnon");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1000.0
}

fn memory(path: &Path) {
    let (before, started) = (private_memory(), Instant::now());
    let bundle = Arc::new(Bundle::open(path).expect("a bundle"));
    let opened = started.elapsed();
    bundle.prepare_search();
    let ready = started.elapsed();
    let mut arguments = Arguments::default();
    arguments.push_one("q", "public health program");
    arguments.push_one("mode", "lexical");
    let context = Context::unbounded(bundle.clone());
    let request = SearchRequest::read(&context, arguments).expect("a request");
    ranking(&context, &request, 10).expect("results");
    let passages: u64 = bundle.manifest.sources.iter().map(|s| s.passages).sum();
    println!(
        "memory     {passages} passages: opened in {:.0} ms, ready for search in {:.0} ms, \
         {:.0} MB of private memory",
        opened.as_secs_f64() * 1e3,
        ready.as_secs_f64() * 1e3,
        private_memory() - before
    );
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

/// The median and the 99th percentile.
fn percentiles(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

fn passages(index: &TextIndex) -> u32 {
    index.searcher.num_docs() as u32
}

/// Queries of one to four consecutive words of a text, without stop words. Common words are as
/// common as in the texts.
fn questions(index: &TextIndex) -> Vec<String> {
    let mut random = Random(7);
    let mut questions = Vec::new();
    while questions.len() < QUESTIONS {
        let text =
            index.passage(random.below(u64::from(passages(index))) as u32).expect("a passage").text;
        let words: Vec<&str> = text
            .split_whitespace()
            .map(|w| w.trim_matches('.'))
            .filter(|w| !analyzer::is_stop_word(w))
            .collect();
        let length = 1 + random.below(4) as usize;
        if words.len() > length {
            let at = random.below((words.len() - length) as u64) as usize;
            questions.push(words[at..at + length].join(" "));
        }
    }
    questions
}

fn lexical(context: &Context) {
    let bundle = &context.bundle;
    let index = bundle.text_index().expect("an index");
    let questions = questions(index);
    let database = rusqlite::Connection::open_in_memory().expect("SQLite");
    fill_fts5(bundle, index, &database);
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    let mut statement = database
        .prepare(
            "SELECT rowid, bm25(p, 2.0, 1.3, 1.0) AS s FROM p WHERE p MATCH ?1 ORDER BY s LIMIT 10",
        )
        .expect("a statement");
    for round in 0..2 {
        for question in &questions {
            let mut arguments = Arguments::default();
            arguments.push_one("q", question);
            arguments.push_one("mode", "lexical");
            let started = Instant::now();
            let request = SearchRequest::read(context, arguments).expect("a request");
            let found = ranking(context, &request, 10).expect("results");
            let our_time = started.elapsed().as_secs_f64() * 1e3;
            let terms: Vec<String> =
                analyzer::terms(question).iter().map(|t| format!("\"{t}\"")).collect();
            let started = Instant::now();
            let rows: Vec<i64> = statement
                .query_map([terms.join(" OR ")], |row| row.get(0))
                .expect("rows")
                .flatten()
                .collect();
            let their_time = started.elapsed().as_secs_f64() * 1e3;
            assert_eq!(found.is_empty(), rows.is_empty(), "{question}");
            if round == 1 {
                ours.push(our_time);
                theirs.push(their_time);
            }
        }
    }
    let ((p50, p99), (their_p50, their_p99)) = (percentiles(ours), percentiles(theirs));
    println!("lexical    {} passages, {QUESTIONS} questions, top 10", passages(index));
    println!("           Josh {p50:.3} ms p50, {p99:.3} ms p99 (records, with exact totals)");
    println!("           FTS5 {their_p50:.3} ms p50, {their_p99:.3} ms p99 (passages)");
    println!("           FTS5 / Josh {:.1} at p50, {:.1} at p99", their_p50 / p50, their_p99 / p99);
}

/// The same passages with the same fields, stemmed by the same code, in memory.
fn fill_fts5(bundle: &Bundle, index: &TextIndex, database: &rusqlite::Connection) {
    let create = "CREATE VIRTUAL TABLE p USING fts5(title, heading, body, content='', \
                  tokenize=\"unicode61 tokenchars '-.'\"); BEGIN";
    database.execute_batch(create).expect("FTS5");
    let mut insert = database
        .prepare("INSERT INTO p(rowid, title, heading, body) VALUES (?1, ?2, ?3, ?4)")
        .expect("insert");
    let stemmed = |text: &str| analyzer::terms(text).join(" ");
    for number in 0..passages(index) {
        let record = index.record_of(number).expect("a record") as usize;
        let entry = bundle.records().by_number(record).expect("a record");
        let source = bundle.source_of_number(record).expect("a source");
        let data: serde_json::Value = serde_json::from_str(entry.data).expect("JSON");
        let passage = index.passage(number).expect("a passage");
        let title = stemmed(data[source.title].as_str().unwrap_or_default());
        insert
            .execute((number, title, stemmed(&passage.heading), stemmed(&passage.text)))
            .expect("inserted");
    }
    database.execute_batch("COMMIT; INSERT INTO p(p) VALUES('optimize')").expect("optimized");
}

/// A query vector halfway between two neighbouring passages. A random vector would be far from
/// every text.
fn between(a: &Vector, b: &Vector) -> Vector {
    Vector::of(
        &a.numbers()
            .iter()
            .zip(b.numbers())
            .map(|(a, b)| f32::from(*a) + f32::from(*b))
            .collect::<Vec<_>>(),
    )
}

fn by_meaning(context: &Context) {
    let bundle = &context.bundle;
    let (index, vectors) =
        (bundle.text_index().expect("an index"), bundle.vectors().expect("vectors"));
    let mut random = Random(11);
    let pair = || {
        let passage = random.below(u64::from(vectors.count()) - 1) as u32;
        Some(between(&vectors.vector(passage)?, &vectors.vector(passage + 1)?))
    };
    let asked: Vec<Vector> = std::iter::repeat_with(pair).flatten().take(200).collect();
    let records: u32 = bundle.manifest.sources.iter().map(|s| s.records as u32).sum();
    println!("semantic   {} vectors, {} questions, 10 records", vectors.count(), asked.len());
    println!(
        "           {:>9} {:>10} {:>12} {:>12} {:>8}",
        "filter", "recall@10", "Josh p50", "every one", "ratio"
    );
    for share in [1.0, 0.5, 0.1, 0.01, 0.001] {
        let mut chosen = |_: &u32| (random.below(1 << 30) as f64) < share * f64::from(1 << 30);
        let candidates = match share {
            1.0 => Candidates::all(0..records),
            _ => Candidates::of((0..records).filter(&mut chosen).collect::<RoaringBitmap>()),
        };
        let (mut ours, mut exact, mut hits, mut all) = (Vec::new(), Vec::new(), 0, 0);
        for question in &asked {
            let started = Instant::now();
            let found = semantic::search(
                context,
                index,
                vectors,
                question,
                &candidates,
                Wanted { least: 20, most: 200, walked: 400 },
            )
            .expect("results");
            ours.push(started.elapsed().as_secs_f64() * 1e3);
            let started = Instant::now();
            let best =
                semantic::exact(context, index, vectors, question, &candidates, 10).expect("hits");
            exact.push(started.elapsed().as_secs_f64() * 1e3);
            hits +=
                best.iter().filter(|b| found.iter().take(10).any(|f| f.record == b.record)).count();
            all += best.len();
        }
        let ((p50, _), (exact_p50, _)) = (percentiles(ours), percentiles(exact));
        println!(
            "           {:>7.1} % {:>10.4} {p50:>9.3} ms {exact_p50:>9.3} ms {:>8.1}",
            share * 100.0,
            hits as f64 / all.max(1) as f64,
            exact_p50 / p50
        );
    }
}

fn embed(bundle: &Bundle) {
    let model = bundle.model(&|| false).expect("a model");
    let asked: Vec<String> =
        (0..100).map(|n| format!("what does bill {n} say about clean drinking water")).collect();
    let time = |question: &String| {
        let started = Instant::now();
        model.embed_query(question, &|| false).expect("a vector");
        started.elapsed().as_secs_f64() * 1e3
    };
    let (p50, p99) = percentiles(asked.iter().map(time).collect());
    let (again, _) = percentiles(asked.iter().map(time).collect());
    println!(
        "embed      a query of 9 words: {p50:.1} ms p50, {p99:.1} ms p99; \
         repeated: {again:.4} ms"
    );
}
