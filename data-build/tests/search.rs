//! Search over a synthetic bundle large enough to walk the graph: filters from 0.01 % to 100 %
//! against brute force, and bundles with few vectors, none, or a model of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use josh::api::error::Code;
use josh::api::{Arguments, Context};
use josh::bundle::vectors::Vector;
use josh::bundle::{Bundle, analyzer};
use josh::policy::search::semantic::{self, Wanted};
use josh::policy::search::{Candidates, lexical, query_syntax};
use josh::toolsets::Toolsets;
use roaring::RoaringBitmap;
use serde_json::Value;
use tantivy::Term;
use tantivy::query::{BooleanQuery, EnableScoring, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

/// More passages than are ever scored one by one.
const PASSAGES: &str = "40000";

struct Synthetic {
    context: Arc<Context>,
    _folder: tempfile::TempDir,
}

static SYNTHETIC: LazyLock<Synthetic> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = Bundle::open(&synth(folder.path(), "a.db", PASSAGES, "5")).expect("a bundle");
    let context = Arc::new(Context::unbounded(Arc::new(bundle)));
    Synthetic { context, _folder: folder }
});

/// The builder, with a cache of these tests' own.
fn builder() -> Command {
    static CACHE: LazyLock<tempfile::TempDir> =
        LazyLock::new(|| tempfile::tempdir().expect("a folder"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    command.env("XDG_CACHE_HOME", CACHE.path());
    command
}

fn run(args: &[&str]) -> String {
    let output = builder().args(args).output().expect("the builder runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a report")
}

fn synth(folder: &Path, name: &str, passages: &str, seed: &str) -> PathBuf {
    let out = folder.join(name);
    run(&["synth", "--passages", passages, "--seed", seed, "--out", out.to_str().expect("UTF-8")]);
    out
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }

    /// About this share of the records, at random.
    fn some(&mut self, records: u32, share: f64) -> RoaringBitmap {
        (0..records).filter(|_| (self.below(1 << 30) as f64) < share * f64::from(1 << 30)).collect()
    }
}

fn records(bundle: &Bundle) -> u32 {
    bundle.manifest.sources.iter().map(|s| s.records as u32).sum()
}

const SHARES: [f64; 9] = [0.0001, 0.0003, 0.001, 0.01, 0.05, 0.1, 0.3, 0.7, 1.0];

/// Given random filters, when a question is asked within them, then the answer is what the whole
/// corpus answers, narrowed: the same records, scores and passages, and an exact total.
#[test]
fn words_within_a_filter_find_what_brute_force_finds() {
    let context = &SYNTHETIC.context;
    let bundle = &context.bundle;
    let index = bundle.text_index().unwrap();
    let mut random = Random(1);
    for question in [
        "public health program",
        "\"federal agency\"",
        "report -congress",
        "title:act",
        "xylophone",
    ] {
        let asked = query_syntax::parse(question);
        let search = |candidates: Candidates| {
            let restricted = lexical::restrict(context, index, &asked, candidates).unwrap();
            lexical::search(context, index, &asked, &restricted).unwrap()
        };
        let everything = search(Candidates::all(0..records(bundle)));
        for share in SHARES {
            let set = random.some(records(bundle), share);
            let expected: Vec<_> =
                everything.iter().filter(|hit| set.contains(hit.record)).copied().collect();
            let found = search(Candidates::of(set));
            assert_eq!(found, expected, "{question} within {share}");
        }
    }
    assert!(
        lexical::search(context, index, &query_syntax::parse("public"), &Candidates::default())
            .unwrap()
            .is_empty()
    );
}

/// Given words and phrases, frequent and rare, when all passages are scored, then the records,
/// their best passages and their scores are those of tantivy's own union.
#[test]
fn words_are_scored_as_tantivy_scores_them() {
    let context = &SYNTHETIC.context;
    let index = context.bundle.text_index().unwrap();
    let all = Candidates::all(0..records(&context.bundle));
    for question in [
        "public",
        "public health program",
        "public \"federal agency\" report",
        "xylophone agency",
        "well-known act of the federal-state agency",
        "xylophone",
    ] {
        let asked = query_syntax::parse(question);
        let found = lexical::search(context, index, &asked, &all).unwrap();
        let words = asked.content_words().into_iter().map(str::to_string);
        let texts = words.chain(asked.phrases.iter().map(|phrase| phrase.text.clone()));
        let clauses = texts.filter_map(|text| {
            let term = |term: &String| Term::from_field_text(index.fields.all, term);
            let terms: Vec<Term> = analyzer::terms(&text).iter().map(term).collect();
            let clause: Box<dyn Query> = match terms.as_slice() {
                [] => return None,
                [one] => Box::new(TermQuery::new(one.clone(), IndexRecordOption::WithFreqs)),
                _ => Box::new(PhraseQuery::new(terms)),
            };
            Some((Occur::Should, clause))
        });
        let query = BooleanQuery::new(clauses.collect());
        let scoring = EnableScoring::enabled_from_searcher(&index.searcher);
        let weight = query.weight(scoring).unwrap();
        let mut scores: BTreeMap<u32, Vec<(u32, f32)>> = BTreeMap::new();
        let mut score = |passage, score| {
            scores.entry(index.record_of(passage).unwrap()).or_default().push((passage, score));
        };
        weight.for_each(&index.searcher.segment_readers()[0], &mut score).unwrap();
        assert_eq!(found.len(), scores.len(), "{question}");
        for (hit, (record, passages)) in found.iter().zip(scores) {
            let best = passages.iter().map(|(_, score)| *score).fold(0.0, f32::max);
            let own = passages.iter().find(|(passage, _)| *passage == hit.passage).unwrap().1;
            // The order in which terms are added moves the last digit.
            let is_close = |a: f32, b: f32| (a - b).abs() <= 1e-5 * b.abs();
            assert!(
                hit.record == record && is_close(hit.score, own) && is_close(own, best),
                "{question}: {hit:?} {record} {passages:?}"
            );
        }
    }
}

/// Given random filters, when asked by meaning, then small sets are answered exactly, large ones
/// to 0.97 at least, and none is short of a record that exists.
#[test]
fn meaning_within_a_filter_finds_what_brute_force_finds() {
    let context = &SYNTHETIC.context;
    let bundle = &context.bundle;
    let (index, vectors) = (bundle.text_index().unwrap(), bundle.vectors().unwrap());
    let mut random = Random(2);
    for share in SHARES {
        let (mut hit, mut all) = (0, 0);
        for _ in 0..20 {
            let mut passage = || loop {
                if let Some(vector) =
                    vectors.vector(random.below(u64::from(vectors.count())) as u32)
                {
                    break vector;
                }
            };
            let (a, b) = (passage(), passage());
            let between = a
                .numbers()
                .iter()
                .zip(b.numbers())
                .map(|(a, b)| f32::from(*a) + f32::from(*b) / 2.0);
            let question = Vector::of(&between.collect::<Vec<_>>());
            let candidates = Candidates::of(random.some(records(bundle), share));
            let expected =
                semantic::exact(context, index, vectors, &question, &candidates, 10).unwrap();
            let found = semantic::search(
                context,
                index,
                vectors,
                &question,
                &candidates,
                Wanted { least: 100, most: 200, walked: 400 },
            )
            .unwrap();
            let exist = semantic::exact(context, index, vectors, &question, &candidates, 100)
                .unwrap()
                .len();
            assert!(found.len() >= exist, "none is missing at {share}: {} of {exist}", found.len());
            assert!(
                found.iter().all(|f| candidates.contains(f.record)),
                "none slips in at {share}"
            );
            assert!(found.windows(2).all(|pair| pair[0].similarity >= pair[1].similarity));
            hit += expected.iter().filter(|e| found.iter().take(10).any(|f| f == *e)).count();
            all += expected.len();
        }
        let recall = hit as f64 / all.max(1) as f64;
        assert!(recall >= if share < 0.1 { 1.0 } else { 0.97 }, "recall {recall} at {share}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bundle_with_all_sources() {
    let folder = tempfile::tempdir().unwrap();
    let id = |name, seed| Bundle::open(&synth(folder.path(), name, "400", seed)).unwrap().manifest;
    let (a, b, c) = (id("a.db", "1"), id("b.db", "1"), id("c.db", "2"));
    assert_eq!((a.id == b.id, a.id == c.id, a.sources.len()), (true, false, 22));
    let passages: u64 = a.sources.iter().map(|s| s.passages).sum();
    assert!((350..700).contains(&passages), "{passages} passages");
}

fn answer(context: &Arc<Context>, query: &str) -> josh::api::Result<(Vec<Value>, Option<Value>)> {
    let arguments = Arguments::from_query(query)?;
    let found = Toolsets::default().run("search", arguments, context)?.output.to_value()?;
    let results = found["results"].as_array().expect("results").clone();
    Ok((results, found.get("degraded").cloned()))
}

fn two_sources(folder: &Path) -> PathBuf {
    let input = folder.join("in");
    std::fs::create_dir(&input).expect("a folder");
    let body = |text: &str| {
        format!(
            "[{{\"version\":\"text\",\"order\":\"1\",\"section\":\"1\",\
             \"heading\":\"Sec. 1\",\"level\":1,\"text\":\"{text}\"}}]"
        )
    };
    let bill = |id: &str, text: &str| {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"A bill\",\"introduced_date\":\"2025-01-03\",\
             \"body\":{}}}\n",
            body(text)
        )
    };
    let bills = bill("hr:119:1", "Grants for cleaning rivers and lakes.")
        + &bill("hr:119:2", "A tax on imported steel.");
    std::fs::write(input.join("bills.josh.jsonl"), bills).expect("written");
    let report = format!(
        "{{\"id\":\"R47892\",\"title\":\"A report\",\"published_date\":\"2025-01-03\",\
         \"body\":{}}}\n",
        body("Pollution of freshwater.")
    );
    std::fs::write(input.join("crs-reports.josh.jsonl"), report).expect("written");
    input
}

#[test]
fn a_bundle_with_some_vectors_or_none_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let input = two_sources(folder.path());
    let build = |name: &str, embed: &str| {
        let out = folder.path().join(name);
        run(&[
            "build",
            "--from",
            input.to_str().unwrap(),
            "--out",
            out.to_str().unwrap(),
            "--embed",
            embed,
        ]);
        Arc::new(Context::unbounded(Arc::new(Bundle::open(&out).unwrap())))
    };
    let (none, some, all) =
        (build("none.db", "none"), build("some.db", "bills"), build("all.db", "all"));
    assert!(
        none.bundle.manifest.id != some.bundle.manifest.id
            && some.bundle.manifest.id != all.bundle.manifest.id,
        "answers differ, so ids do"
    );

    let (found, degraded) = answer(&none, "q=rivers").unwrap();
    assert_eq!(
        (found[0]["id"].as_str(), &degraded.unwrap()["sources"]),
        (Some("hr:119:1"), &serde_json::json!(["bills", "crs-reports"]))
    );
    let refused = answer(&none, "q=rivers&mode=semantic").unwrap_err();
    assert_eq!(refused.code, Code::SourceNotSearchableSemantically);

    let (_, degraded) = answer(&some, "q=rivers").unwrap();
    assert_eq!(degraded.unwrap()["sources"], serde_json::json!(["crs-reports"]));
    let refused = answer(&some, "q=rivers&mode=semantic&source=crs-reports").unwrap_err();
    assert_eq!(
        (refused.code, &refused.hint["valid_sources"]),
        (Code::SourceNotSearchableSemantically, &serde_json::json!(["bills"]))
    );
    let (found, _) = answer(&some, "q=water+pollution&mode=semantic").unwrap();
    assert_eq!((found.len(), found[0]["id"].as_str()), (2, Some("hr:119:1")));

    let (found, degraded) = answer(&all, "q=contaminated+water&mode=semantic").unwrap();
    let order: Vec<_> = found.iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!((order[2], degraded), ("hr:119:2", None), "steel is not about water: {order:?}");
}

/// Given a model that is not the binary's, when a bundle is built with it, then the bundle holds
/// it and answers with it.
#[test]
fn a_bundle_made_with_another_model_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let input = two_sources(folder.path());
    let model = folder.path().join("other-model");
    std::fs::create_dir(&model).unwrap();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/model");
    for name in josh::embed::FILE_NAMES {
        std::fs::copy(built_in.join(name), model.join(name)).unwrap();
    }
    let build = |name: &str| {
        let out = folder.path().join(name);
        let cache = folder.path().join("cache");
        run(&[
            "build",
            "--from",
            input.to_str().unwrap(),
            "--out",
            out.to_str().unwrap(),
            "--model",
            model.to_str().unwrap(),
            "--vector-cache",
            cache.to_str().unwrap(),
        ]);
        Arc::new(Context::unbounded(Arc::new(Bundle::open(&out).unwrap())))
    };
    let same = build("same.db");
    // The same model with another name for a token it never meets: another hash, the same vectors.
    let config = std::fs::read_to_string(model.join("config.json"))
        .unwrap()
        .replace("\"gelu\"", "\"gelu\", \"note\": 1");
    std::fs::write(model.join("config.json"), config).unwrap();
    let other = build("other.db");
    let size = |context: &Arc<Context>| std::fs::metadata(&context.bundle.path).unwrap().len();
    assert!(
        size(&other) > size(&same) + 20_000_000,
        "only a model that is not in the binary is packed"
    );
    assert_eq!(other.bundle.manifest.model.as_ref().unwrap().name, "other-model");
    let ids = |context: &Arc<Context>| {
        answer(context, "q=water+pollution&mode=semantic")
            .unwrap()
            .0
            .iter()
            .map(|r| r["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&other), ids(&same));
}

#[test]
fn what_cannot_be_embedded_is_refused_with_what_can() {
    let folder = tempfile::tempdir().unwrap();
    let input = two_sources(folder.path());
    for (args, said) in
        [(["--embed", "saps"], "federal-register"), (["--model", "/nowhere"], "model.onnx")]
    {
        let output = builder()
            .args(["build", "--from"])
            .arg(&input)
            .arg("--out")
            .arg(folder.path().join("x.db"))
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(said),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Given a judged corpus, when it is evaluated, then the three modes are scored; what is missing
/// is named.
#[test]
fn an_evaluation_scores_the_three_modes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "corpus.jsonl",
        "{\"_id\":\"a\",\"title\":\"Rivers\",\"text\":\"Clean water in rivers.\"}\n\
         {\"_id\":\"b\",\"title\":\"Steel\",\"text\":\"Steel and iron.\"}\n",
    );
    write(
        "queries.jsonl",
        "{\"_id\":\"1\",\"text\":\"water\"}\n{\"_id\":\"2\",\"text\":\"iron\"}\n\
         {\"_id\":\"3\",\"text\":\"not judged\"}\n",
    );
    write("qrels.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n");
    let queries = folder.path().join("queries.jsonl");
    let report = run(&["eval", "--queries", queries.to_str().unwrap()]);
    for mode in ["lexical", "semantic", "hybrid"] {
        let line = report
            .lines()
            .find(|l| l.starts_with(mode))
            .unwrap_or_else(|| panic!("no {mode} in\n{report}"));
        assert_eq!(
            line.split_whitespace().skip(1).collect::<Vec<_>>(),
            ["1.0000", "1.0000", "1.0000"],
            "{report}"
        );
    }
    assert!(report.contains("2 documents") && report.contains("2 judged queries"), "{report}");
    std::fs::remove_file(folder.path().join("qrels.tsv")).unwrap();
    let output = builder().args(["eval", "--queries"]).arg(&queries).output().unwrap();
    assert!(
        !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("qrels.tsv")
    );
}
