//! `josh bundle …`: what a bundle file is and whether it is whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::{Unusable, open, unusable};
use crate::bundle::{self, Bundle, Engine, Manifest, SourceFacts, Trust, stable_hash};
use crate::catalog::{SOURCES, Source};

#[derive(Subcommand)]
pub enum Verb {
    /// Say what a bundle holds
    Info {
        file: PathBuf,
        /// The manifest as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the hash of every section, and the signature
    ///
    /// With --key the bundle must be signed with that key; without it, a signature is checked against the key that the bundle
    /// itself names, which proves only that nothing changed since it was signed.
    Verify {
        file: PathBuf,
        /// Ed25519 key in PEM form that the signature must be made with
        #[arg(long, value_name = "PEM")]
        key: Option<PathBuf>,
    },
    /// Sign a bundle with an Ed25519 key
    Sign {
        file: PathBuf,
        /// Private key, PKCS#8 PEM: from `josh bundle keygen` or `openssl genpkey -algorithm ed25519`
        #[arg(long, value_name = "PEM")]
        key: PathBuf,
    },
    /// Say which records one bundle has and another has not, or has otherwise
    Diff {
        old: PathBuf,
        new: PathBuf,
        /// Every id, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a key pair: the private key in FILE, the public key in FILE.pub
    Keygen { file: PathBuf },
}

pub fn run(verb: Verb) -> Result<ExitCode> {
    match verb {
        Verb::Info { file, json } => {
            let (_, manifest) = bundle::read_manifest(&file).map_err(|e| unusable(&file, &e))?;
            if json {
                println!("{}", serde_json::to_string_pretty(&manifest)?);
            } else {
                print!("{}", info(&file, &manifest));
            }
        }
        Verb::Verify { file, key } => verify(&file, key.as_deref())?,
        Verb::Sign { file, key } => {
            let manifest = bundle::sign(&file, &key).map_err(|e| unusable(&file, &e))?;
            println!("{}: signed bundle {}", file.display(), manifest.id);
        }
        Verb::Diff { old, new, json } => {
            let (old, new) = (open(Some(&old), Engine::default())?, open(Some(&new), Engine::default())?);
            let changes = changes(&old, &new)?;
            match json {
                true => println!("{}", serde_json::to_string_pretty(&diff_json(&old, &new, &changes))?),
                false => print!("{}", diff(&old, &new, &changes)),
            }
        }
        Verb::Keygen { file } => {
            bundle::generate_key(&file)?;
            println!("private key in {0}, public key in {0}.pub", file.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(file: &Path, key: Option<&Path>) -> Result<()> {
    let report = |kind, matches| {
        println!("  {:<12} {}", format!("{kind:?}").to_lowercase(), if matches { "ok" } else { "DAMAGED" });
    };
    let manifest = bundle::verify(file, report).map_err(|e| unusable(file, &e))?;
    let trust = key.map_or(Trust::Embedded, Trust::Key);
    let signed = manifest.check_signature(&trust).map_err(|e| unusable(file, &e))?;
    let signature = match (signed, key) {
        (true, Some(key)) => format!("signed with {}", key.display()),
        (true, None) => "signed, but no --key was given to say by whom".to_string(),
        (false, None) => "not signed".to_string(),
        (false, Some(_)) => return Err(Unusable(format!("{}: it is whole, but not signed.", file.display())).into()),
    };
    println!("{}: bundle {} is whole, {signature}", file.display(), manifest.id);
    Ok(())
}

fn info(file: &Path, manifest: &Manifest) -> String {
    let records: u64 = manifest.sources.iter().map(|s| s.records).sum();
    let bytes: u64 = manifest.sections.iter().map(|s| s.length).sum();
    let mut out = format!(
        "{}\n  id            {}\n  data version  {}\n  as of         {}\n  format        {}\n  built by      {}\n  size          {}\n  search        {}\n  signature     {}\n\n",
        file.display(),
        manifest.id,
        manifest.data_version,
        manifest.as_of,
        manifest.format,
        manifest.built_by,
        megabytes(bytes),
        search(manifest),
        manifest.signature.as_ref().map_or("none".to_string(), |s| format!("ed25519, key {}", s.public_key)),
    );
    out.push_str(&format!("  {:<28} {:>10}  {:<24}  {}\n", "source", "records", "dates", "licence"));
    for source in &manifest.sources {
        let dates = match (&source.from, &source.to) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            _ => "-".to_string(),
        };
        out.push_str(&format!("  {:<28} {:>10}  {dates:<24}  {}\n", source.key, source.records, source.licence));
    }
    out.push_str(&format!("  {:<28} {records:>10}\n\n", "all"));
    for section in &manifest.sections {
        let kind = format!("{:?}", section.kind).to_lowercase();
        out.push_str(&format!("  section {kind:<12} {:>12}  sha256 {}\n", megabytes(section.length), section.sha256));
    }
    out
}

/// What can be searched, and by which model.
fn search(manifest: &Manifest) -> String {
    let sum = |count: fn(&SourceFacts) -> u64| manifest.sources.iter().map(count).sum::<u64>();
    let (passages, vectors) = (sum(|s| s.passages), sum(|s| s.vectors));
    match &manifest.model {
        Some(model) => format!("{passages} passages, {vectors} with a vector by {}", model.name),
        None => format!("{passages} passages, no vectors"),
    }
}

/// Ids shown of each kind of difference.
const SHOWN: usize = 5;

/// The records of a source that one bundle has and another has not, or has otherwise.
struct Changes<'a> {
    source: &'static str,
    /// `added`, `removed` and `changed`, each with its ids in order.
    ids: [(&'static str, Vec<&'a str>); 3],
}

/// What changed, source by source; a source in which nothing did is left out.
fn changes<'a>(old: &'a Bundle, new: &'a Bundle) -> Result<Vec<Changes<'a>>> {
    let mut changes = Vec::new();
    // One id is one content, whatever the files' bytes.
    let sources = if old.manifest.id == new.manifest.id { &[] } else { SOURCES };
    for source in sources {
        let mut before = prints(old, source)?;
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        for (id, print) in prints(new, source)? {
            match before.remove(id) {
                None => added.push(id),
                Some(known) if known != print => changed.push(id),
                Some(_) => {}
            }
        }
        let ids = [("added", added), ("removed", before.into_keys().collect()), ("changed", changed)];
        if ids.iter().any(|(_, ids)| !ids.is_empty()) {
            changes.push(Changes { source: source.key, ids });
        }
    }
    Ok(changes)
}

/// For people: the numbers, and the first ids of each kind.
fn diff(old: &Bundle, new: &Bundle, changes: &[Changes]) -> String {
    if old.manifest.id == new.manifest.id {
        return format!("the same content: bundle {}\n", old.manifest.id);
    }
    let mut out =
        format!("{} ({}) -> {} ({})\n", old.manifest.id, old.manifest.as_of, new.manifest.id, new.manifest.as_of);
    out.push_str(&format!("  {:<28} {:>8} {:>8} {:>8}\n", "source", "added", "removed", "changed"));
    for Changes { source, ids } in changes {
        let [added, removed, changed] = ids.each_ref().map(|(_, ids)| ids.len());
        out.push_str(&format!("  {source:<28} {added:>8} {removed:>8} {changed:>8}\n"));
        for (what, ids) in ids.iter().filter(|(_, ids)| !ids.is_empty()) {
            let more = if ids.len() > SHOWN { " …" } else { "" };
            out.push_str(&format!("    {what}: {}{more}\n", ids[..ids.len().min(SHOWN)].join(", ")));
        }
    }
    out
}

/// For programs: every id.
fn diff_json(old: &Bundle, new: &Bundle, changes: &[Changes]) -> Value {
    let named = |manifest: &Manifest| json!({ "id": manifest.id, "as_of": manifest.as_of });
    let sources: Map<String, Value> = changes
        .iter()
        .map(|Changes { source, ids }| {
            let ids = ids.iter().map(|(what, ids)| (what.to_string(), json!(ids)));
            (source.to_string(), Value::Object(ids.collect()))
        })
        .collect();
    json!({ "old": named(&old.manifest), "new": named(&new.manifest), "same": old.manifest.id == new.manifest.id, "sources": sources })
}

/// Every record of a source with a fingerprint of what it says, its text included. Rows are not: a roll call would make a change of
/// every member who voted.
fn prints<'a>(bundle: &'a Bundle, source: &'static Source) -> Result<BTreeMap<&'a str, u64>> {
    let Some((_, facts)) = bundle.source(source.key) else { return Ok(BTreeMap::new()) };
    let first = bundle.first_number(source);
    let entries = (first..first + facts.records as usize).filter_map(|n| bundle.records().by_number(n));
    let mut prints: BTreeMap<&str, u64> = entries.map(|entry| (entry.id, stable_hash(entry.data.as_bytes()))).collect();
    if source.shape.has_body() {
        let columns = "version, section, heading, level, text";
        let sql = format!(
            "SELECT parent, md5(string_agg(md5(concat_ws(chr(1), {columns})), '' ORDER BY ord)) FROM \"{}\" GROUP BY parent",
            source.sub_table("body")
        );
        for row in bundle.db.rows(&sql, &[])? {
            if let [Some(parent), Some(text)] = row.as_slice()
                && let Some(print) = prints.get_mut(parent.as_str())
            {
                *print = print.rotate_left(1) ^ stable_hash(text.as_bytes());
            }
        }
    }
    Ok(prints)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
