//! `josh-data-build eval`: scores the search modes against relevance judgements in a BEIR-style
//! folder.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use josh::api::{Arguments, Context as SearchContext};
use josh::bundle::Bundle;
use josh::policy::search::{Mode, SearchRequest, ranking};
use serde_json::{Value, json};

use crate::build::BuildJob;
use crate::checks::Limits;
use crate::embedding::Embedding;
use crate::layout::InputFolder;
use crate::progress;
use josh::output::say;

/// Results examined per query.
const DEPTH: usize = 100;

#[derive(Args)]
pub struct Eval {
    /// queries.jsonl in a BEIR-style folder, next to corpus.jsonl and qrels.tsv (or
    /// qrels/test.tsv)
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Only this mode; lexical needs no vectors and is fast [default: all three]
    #[arg(long, value_name = "MODE", value_parser = Mode::NAMES.map(|(name, _)| name))]
    mode: Option<String>,
    /// File that gets every result: query, mode, document, rank and score, separated by tabs
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Folder of an embedding model to use instead of the built-in one
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Folder for cached vectors [default: josh in the user's cache folder]
    #[arg(long, value_name = "FOLDER")]
    vector_cache: Option<PathBuf>,
}

/// Relevance of documents by query; documents that are not listed are irrelevant.
type Judgements = HashMap<String, HashMap<String, f64>>;

#[derive(Default)]
struct Scores {
    ndcg_10: f64,
    recall_100: f64,
    reciprocal_rank: f64,
    queries: usize,
}

impl Eval {
    pub fn run(&self) -> Result<()> {
        let folder = self.queries.parent().unwrap_or(Path::new("."));
        let judgements = read_judgements(folder)?;
        let queries = read_queries(&self.queries, &judgements)?;
        anyhow::ensure!(!queries.is_empty(), "none of the queries has judgements");
        let work = tempfile::tempdir()?;
        let documents = write_corpus(&folder.join("corpus.jsonl"), work.path())?;
        let out = work.path().join("corpus.db");
        let modes = Mode::NAMES
            .into_iter()
            .rev()
            .filter(|(name, _)| self.mode.as_deref().is_none_or(|m| m == *name));
        let embed = if self.mode.as_deref() == Some("lexical") { "none" } else { "cbo-estimates" };
        let job = BuildJob {
            input: InputFolder::new(work.path()),
            out: &out,
            as_of: Some("2000-01-01".into()),
            data_version: None,
            limits: Limits::strict(),
            rejects: None,
            work: None,
            embedding: Embedding::choose(
                embed,
                self.model.as_deref(),
                self.vector_cache.as_deref(),
            )?,
            cache: None,
        };
        let manifest = job.run()?.manifest;
        let passages: u64 = manifest.sources.iter().map(|s| s.passages).sum();
        let context = SearchContext::unbounded(Arc::new(Bundle::open(&out)?));
        say!(
            "{} documents in {passages} passages, {} judged queries\n",
            documents.len(),
            queries.len()
        );
        say!("{:<10} {:>8} {:>11} {:>8}", "mode", "nDCG@10", "recall@100", "MRR");
        let mut results: Box<dyn Write> = match &self.results {
            Some(path) => Box::new(BufWriter::new(File::create(path)?)),
            None => Box::new(std::io::sink()),
        };
        for (name, _) in modes {
            let scores = evaluate(&context, name, &queries, &judgements, &documents, &mut results)?;
            let mean = |sum: f64| sum / scores.queries.max(1) as f64;
            let (ndcg, recall, mrr) =
                (mean(scores.ndcg_10), mean(scores.recall_100), mean(scores.reciprocal_rank));
            say!("{name:<10} {ndcg:>8.4} {recall:>11.4} {mrr:>8.4}");
        }
        Ok(results.flush()?)
    }
}

fn json_lines(path: &Path) -> Result<impl Iterator<Item = Result<Value>>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.display().to_string();
    let parse = move |(at, line): (usize, std::io::Result<String>)| {
        serde_json::from_str(&line?).with_context(|| format!("{name}, line {}", at + 1))
    };
    Ok(BufReader::new(file).lines().enumerate().map(parse))
}

fn text(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Writes every document as a record of a source with texts. Returns document names by record id.
fn write_corpus(corpus: &Path, folder: &Path) -> Result<HashMap<String, String>> {
    let mut file = BufWriter::new(File::create(folder.join("cbo-estimates.josh.jsonl"))?);
    let mut names = HashMap::new();
    for (number, document) in json_lines(corpus)?.enumerate() {
        let document = document?;
        let id = format!("cbo:{}", number + 1);
        let record = json!({
            "id": id, "title": text(&document, "title"), "published_date": "2000-01-01",
            "body": [{
                "version": "text", "order": "1", "section": "", "heading": "", "level": 1,
                "text": text(&document, "text"),
            }],
        });
        serde_json::to_writer(&mut file, &record)?;
        file.write_all(b"\n")?;
        names.insert(id, text(&document, "_id"));
    }
    file.flush()?;
    Ok(names)
}

fn read_judgements(folder: &Path) -> Result<Judgements> {
    let path =
        [folder.join("qrels.tsv"), folder.join("qrels/test.tsv")].into_iter().find(|p| p.exists());
    let path =
        path.with_context(|| format!("no qrels.tsv or qrels/test.tsv in {}", folder.display()))?;
    let mut judgements = Judgements::new();
    for (at, line) in BufReader::new(File::open(&path)?).lines().enumerate() {
        let line = line?;
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        let (query, document, score) = match columns.as_slice() {
            [query, document, score] => (query, document, score.parse::<f64>()),
            _ => anyhow::bail!("{}, line {}: expected three columns", path.display(), at + 1),
        };
        match score {
            Ok(score) => drop(
                judgements
                    .entry(query.to_string())
                    .or_default()
                    .insert(document.to_string(), score),
            ),
            Err(_) if at == 0 => {}
            Err(_) => {
                anyhow::bail!(
                    "{}, line {}: the third column must be a number",
                    path.display(),
                    at + 1
                )
            }
        }
    }
    judgements.retain(|_, documents| documents.values().any(|score| *score > 0.0));
    Ok(judgements)
}

/// The queries that have judgements.
fn read_queries(path: &Path, judgements: &Judgements) -> Result<Vec<(String, String)>> {
    let all = json_lines(path)?
        .map(|query| query.map(|q| (text(&q, "_id"), text(&q, "text"))))
        .collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().filter(|(id, _)| judgements.contains_key(id)).collect())
}

fn evaluate(
    context: &SearchContext,
    mode: &str,
    queries: &[(String, String)],
    judgements: &Judgements,
    documents: &HashMap<String, String>,
    results: &mut dyn Write,
) -> Result<Scores> {
    let mut scores = Scores::default();
    let bar = progress::rate_bar(queries.len() as u64, "searching");
    for (query, question) in queries {
        let mut arguments = Arguments::default();
        arguments.push_one("q", question.as_str());
        arguments.push_one("mode", mode);
        let request = SearchRequest::read(context, arguments)?;
        let found = ranking(context, &request, DEPTH)?;
        let mut names: Vec<&str> = Vec::with_capacity(found.len());
        for (number, score) in found {
            let entry = context.bundle.records().by_number(number as usize);
            let Some(name) = entry.and_then(|entry| documents.get(entry.id)) else { continue };
            names.push(name);
            writeln!(results, "{query}\t{mode}\t{name}\t{}\t{score}", names.len())?;
        }
        if let Some(judged) = judgements.get(query) {
            scores.add(&names, judged);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(scores)
}

impl Scores {
    fn add(&mut self, found: &[&str], judged: &HashMap<String, f64>) {
        let gain = |score: f64| score.max(0.0);
        let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
        let score_of = |name: &&str| judged.get(*name).copied().unwrap_or(0.0);
        let mut ideal: Vec<f64> = judged.values().map(|s| gain(*s)).collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let best: f64 =
            ideal.iter().take(10).enumerate().map(|(rank, gain)| gain * discount(rank)).sum();
        let got: f64 = found
            .iter()
            .take(10)
            .enumerate()
            .map(|(rank, name)| gain(score_of(name)) * discount(rank))
            .sum();
        let relevant = ideal.iter().filter(|gain| **gain > 0.0).count();
        let hit = found.iter().take(100).filter(|name| score_of(name) > 0.0).count();
        let first = found.iter().position(|name| score_of(name) > 0.0);
        self.ndcg_10 += if best > 0.0 { got / best } else { 0.0 };
        self.recall_100 += hit as f64 / relevant.max(1) as f64;
        self.reciprocal_rank += first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        self.queries += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_match_their_definitions() {
        let judged: HashMap<String, f64> =
            [("a".to_string(), 2.0), ("b".to_string(), 1.0), ("c".to_string(), 0.0)].into();
        let score = |found: &[&str]| {
            let mut scores = Scores::default();
            scores.add(found, &judged);
            (scores.ndcg_10, scores.recall_100, scores.reciprocal_rank)
        };
        assert_eq!(score(&["a", "b"]), (1.0, 1.0, 1.0));
        assert_eq!(score(&["x", "c"]), (0.0, 0.0, 0.0));
        let (ndcg, recall, mrr) = score(&["x", "b"]);
        let best = 2.0 + 1.0 / 3f64.log2();
        assert!((ndcg - (1.0 / 3f64.log2()) / best).abs() < 1e-9 && recall == 0.5 && mrr == 0.5);
    }
}
