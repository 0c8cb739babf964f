//! `josh bundle …`: what a bundle file holds and whether it is intact.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::pull::{Pull, megabytes};
use super::{Unusable, open, unusable};
use crate::bundle::{
    self, Bundle, CongressFacts, Manifest, OpenOptions, SeriesFacts, SourceFacts, Trust,
    stable_hash,
};
use crate::catalog::{self, SOURCES, Source};
use crate::output::{self, say};

#[derive(Subcommand)]
pub enum Verb {
    /// Show what a bundle holds
    Info {
        /// Bundle file
        file: PathBuf,
        /// Print the manifest as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the hash of every section, and the signature
    ///
    /// With --key the bundle must be signed with that key. Without it, a signature is checked
    /// against the key that the bundle itself names, which proves only that nothing changed since
    /// it was signed.
    Verify {
        /// Bundle file
        file: PathBuf,
        /// Ed25519 key in PEM form with which the bundle must be signed
        #[arg(long, value_name = "PEM")]
        key: Option<PathBuf>,
    },
    /// Sign a bundle with an Ed25519 key
    Sign {
        /// Bundle file
        file: PathBuf,
        /// Private key, PKCS#8 PEM: from `josh bundle keygen` or `openssl genpkey -algorithm
        /// ed25519`
        #[arg(long, value_name = "PEM")]
        key: PathBuf,
    },
    /// Download a bundle, check it, and put it in place
    ///
    /// Goes on where an earlier download stopped. Every byte and the signature are checked before
    /// the file gets its name, by renaming: a server that runs on it loads it without dropping a
    /// request.
    Pull {
        /// http or https URL of the bundle
        url: String,
        /// Ed25519 public key in PEM form with which the bundle must be signed
        #[arg(long, value_name = "PEM")]
        key: PathBuf,
        /// Where it goes [default: the name in the URL, in the current folder]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Show records added, removed or changed between two bundles
    Diff {
        /// Old bundle file
        old: PathBuf,
        /// New bundle file
        new: PathBuf,
        /// Print every id, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a key pair: the private key in FILE, the public key in FILE.pub
    Keygen {
        /// File for the private key; existing files are not overwritten
        file: PathBuf,
    },
}

pub fn run(verb: Verb) -> Result<ExitCode> {
    match verb {
        Verb::Info { file, json } => {
            let (_, manifest) = bundle::read_manifest(&file).map_err(|e| unusable(&file, &e))?;
            match json {
                true => say!("{}", serde_json::to_string_pretty(&manifest)?),
                false => output::bytes(info(&file, &manifest).as_bytes()),
            }
        }
        Verb::Verify { file, key } => verify(&file, key.as_deref())?,
        Verb::Sign { file, key } => {
            let manifest = bundle::sign(&file, &key).map_err(|e| unusable(&file, &e))?;
            say!("{}: signed bundle {}", file.display(), manifest.id);
        }
        Verb::Pull { url, key, out } => {
            Pull { url: &url, key: &key, out: out.as_deref() }.run()?;
        }
        Verb::Diff { old, new, json } => {
            let (old, new) = (
                open(Some(&old), OpenOptions::default())?,
                open(Some(&new), OpenOptions::default())?,
            );
            let changes = changes(&old, &new)?;
            match json {
                true => say!("{}", serde_json::to_string_pretty(&diff_json(&old, &new, &changes))?),
                false => output::bytes(diff(&old, &new, &changes).as_bytes()),
            }
        }
        Verb::Keygen { file } => {
            bundle::generate_key(&file).map_err(|e| unusable(&file, &e))?;
            say!("private key in {0}, public key in {0}.pub", file.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(file: &Path, key: Option<&Path>) -> Result<()> {
    let report = |kind, matches| {
        let kind = format!("{kind:?}").to_lowercase();
        say!("  {kind:<12} {}", if matches { "ok" } else { "DAMAGED" });
    };
    let manifest = bundle::verify(file, report).map_err(|e| unusable(file, &e))?;
    let trust = key.map_or(Trust::Embedded, Trust::Key);
    let signed = manifest.check_signature(&trust).map_err(|e| unusable(file, &e))?;
    let signature = match (signed, key) {
        (true, Some(key)) => format!("signed with {}", key.display()),
        (true, None) => "signed; give --key to check by whom".to_string(),
        (false, None) => "unsigned".to_string(),
        (false, Some(_)) => {
            let message = format!("{}: it is intact, but unsigned.", file.display());
            return Err(Unusable(message).into());
        }
    };
    say!("{}: bundle {} is intact ({signature})", file.display(), manifest.id);
    Ok(())
}

fn info(file: &Path, manifest: &Manifest) -> String {
    let records: u64 = manifest.sources.iter().map(|s| s.records).sum();
    let bytes: u64 = manifest.sections.iter().map(|s| s.length).sum();
    let signature = manifest.signature.as_ref();
    let mut out = format!("{}\n", file.display());
    for (name, value) in [
        ("id", manifest.id.clone()),
        ("data version", manifest.data_version.clone()),
        ("as of", manifest.as_of.clone()),
        ("format", manifest.format.to_string()),
        ("built by", manifest.built_by.clone()),
        ("size", megabytes(bytes)),
        ("search", search(manifest)),
        (
            "signature",
            signature.map_or("none".into(), |s| format!("ed25519, key {}", s.public_key)),
        ),
        ("notice", manifest.notice.clone().unwrap_or("none".into())),
    ] {
        out.push_str(&format!("  {name:<13} {value}\n"));
    }
    out.push('\n');
    out.push_str(&format!(
        "  {:<28} {:>10}  {:<24}  {}\n",
        "source", "records", "dates", "licence"
    ));
    for source in &manifest.sources {
        let dates = match (&source.from, &source.to) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            _ => "-".to_string(),
        };
        out.push_str(&format!(
            "  {:<28} {:>10}  {dates:<24}  {}\n",
            source.key, source.records, source.licence
        ));
    }
    out.push_str(&format!("  {:<28} {records:>10}\n\n", "all"));
    out.push_str(&coverage(manifest));
    for section in &manifest.sections {
        let kind = format!("{:?}", section.kind).to_lowercase();
        out.push_str(&format!(
            "  section {kind:<12} {:>12}  sha256 {}\n",
            megabytes(section.length),
            section.sha256
        ));
    }
    out
}

/// What is known to be missing, and when the files were fetched; empty if nothing is known.
fn coverage(manifest: &Manifest) -> String {
    let mut lines = Vec::new();
    for source in &manifest.sources {
        let Some(coverage) = &source.coverage else { continue };
        let mut add = |what: String| lines.push(format!("  {:<28} {what}\n", source.key));
        if let Some(day) = &coverage.fetched {
            add(format!("fetched {day}"));
        }
        coverage.not_fetched.iter().for_each(|what| add(format!("not fetched: {what}")));
        if !coverage.congresses.is_empty() {
            let congress = |c: &CongressFacts| format!("{} ({})", c.congress, c.records);
            let all: Vec<String> = coverage.congresses.iter().map(congress).collect();
            add(format!("congresses {}", shortened(&all)));
        }
        let main_date = catalog::source(&source.key).and_then(|s| s.main_date);
        if let Some(days) = main_date.and_then(|date| source.days(date)) {
            for (first, last) in days.gaps.iter().rev().take(SHOWN) {
                add(format!("nothing from {first} to {last}"));
            }
        }
        for series in coverage.series.iter().filter(|series| series.missing > 0).take(SHOWN) {
            let SeriesFacts { prefix, missing, highest, first_missing, .. } = series;
            add(format!("{prefix} lacks {missing} of {highest}: {}", shortened(first_missing)));
        }
    }
    if lines.is_empty() { String::new() } else { lines.concat() + "\n" }
}

/// The first of a list.
fn shortened(list: &[String]) -> String {
    let more = if list.len() > SHOWN { ", …" } else { "" };
    list[..list.len().min(SHOWN)].join(", ") + more
}

/// What can be searched, and with which model.
fn search(manifest: &Manifest) -> String {
    let sum = |count: fn(&SourceFacts) -> u64| manifest.sources.iter().map(count).sum::<u64>();
    let (passages, vectors) = (sum(|s| s.passages), sum(|s| s.vectors));
    match &manifest.model {
        Some(model) => format!("{passages} passages, {vectors} with a vector by {}", model.name),
        None => format!("{passages} passages, no vectors"),
    }
}

/// Ids shown per kind of change, and gaps per source.
const SHOWN: usize = 5;

/// The records of a source that differ between two bundles.
struct Changes<'a> {
    source: &'static str,
    /// `added`, `removed` and `changed`, each with its ids in order.
    ids: [(&'static str, Vec<&'a str>); 3],
}

/// What changed, source by source; unchanged sources are left out.
fn changes<'a>(old: &'a Bundle, new: &'a Bundle) -> Result<Vec<Changes<'a>>> {
    let mut changes = Vec::new();
    // The same id means the same content, even if the bytes of the files differ.
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
        let ids =
            [("added", added), ("removed", before.into_keys().collect()), ("changed", changed)];
        if ids.iter().any(|(_, ids)| !ids.is_empty()) {
            changes.push(Changes { source: source.key, ids });
        }
    }
    Ok(changes)
}

/// For people: the numbers, and the first ids per kind of change.
fn diff(old: &Bundle, new: &Bundle, changes: &[Changes]) -> String {
    if old.manifest.id == new.manifest.id {
        return format!("the same content: bundle {}\n", old.manifest.id);
    }
    let mut out = format!(
        "{} ({}) -> {} ({})\n",
        old.manifest.id, old.manifest.as_of, new.manifest.id, new.manifest.as_of
    );
    out.push_str(&format!("  {:<28} {:>8} {:>8} {:>8}\n", "source", "added", "removed", "changed"));
    for Changes { source, ids } in changes {
        let [added, removed, changed] = ids.each_ref().map(|(_, ids)| ids.len());
        out.push_str(&format!("  {source:<28} {added:>8} {removed:>8} {changed:>8}\n"));
        for (what, ids) in ids.iter().filter(|(_, ids)| !ids.is_empty()) {
            let more = if ids.len() > SHOWN { " …" } else { "" };
            out.push_str(&format!(
                "    {what}: {}{more}\n",
                ids[..ids.len().min(SHOWN)].join(", ")
            ));
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
    json!({
        "old": named(&old.manifest),
        "new": named(&new.manifest),
        "same": old.manifest.id == new.manifest.id,
        "sources": sources,
    })
}

/// Every record of a source with a hash of its fields and its text. Rows of sub-resources are left
/// out: one roll call would change every member who voted.
fn prints<'a>(bundle: &'a Bundle, source: &'static Source) -> Result<BTreeMap<&'a str, u64>> {
    let Some((_, facts)) = bundle.source(source.key) else { return Ok(BTreeMap::new()) };
    let first = bundle.first_number(source);
    let entries =
        (first..first + facts.records as usize).filter_map(|n| bundle.records().by_number(n));
    let mut prints: BTreeMap<&str, u64> =
        entries.map(|entry| (entry.id, stable_hash(entry.data.as_bytes()))).collect();
    if source.shape.has_body() {
        let columns = "version, section, heading, level, text";
        let sql = format!(
            "SELECT parent, md5(string_agg(md5(concat_ws(chr(1), {columns})), '' ORDER BY ord)) \
             FROM \"{}\" GROUP BY parent",
            source.sub_table("body")
        );
        let rows = bundle.db.query(&sql, &[], &bundle::Interrupt::never(), |row| {
            Ok((row.get::<String>(0)?, row.get::<String>(1)?))
        })?;
        for (parent, text) in rows {
            if let Some(print) = prints.get_mut(parent.as_str()) {
                *print = print.rotate_left(1) ^ stable_hash(text.as_bytes());
            }
        }
    }
    Ok(prints)
}
