//! Fuzzes the manifest: any bytes with a valid footer behind them are refused, or read to the same
//! manifest once it is written again.

use std::io::Write;

use josh::bundle::format::{FORMAT, Footer, OLDEST_READER, PAGE};
use josh::bundle::{Trust, read_manifest};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::mutate;
use crate::target::{MANY, Target, texts};

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "null",
    "true",
    "-",
    "1e3",
    "\\u0000",
    "\\ud800",
    "\"kind\":",
    "\"offset\":4096",
    "\"length\":",
    "\"records\"",
    "\"database\"",
    "\"columns\"",
    "\"sections\":",
    "\"sources\":",
    "\"signature\":",
    "\"fields\":",
    "\"days\":",
    "\"coverage\":",
];

/// A short manifest that has every part.
fn whole() -> Value {
    let source = json!({
        "key": "bills", "records": 2, "from": "2025-01-03", "to": null, "publisher": "Congress",
        "licence": "public domain", "summaries": 1, "passages": 3, "vectors": 3,
        "fields": {
            "status": { "values": ["enacted", "introduced"] },
            "congress": { "numbers": [118, 119] },
            "introduced_date": { "days": { "from": "2025-01-03", "to": "2025-02-01",
                "gaps": [["2019-01-01", "2020-01-01"]] } },
        },
        "rows": { "actions": 5 },
        "coverage": {
            "congresses": [{ "congress": 119, "records": 2, "from": null, "to": null }],
            "series": [{ "prefix": "hr:119:", "records": 2, "highest": 9, "missing": 7,
                "first_missing": ["hr:119:2"] }],
        },
    });
    let section = |kind: &str| json!({ "kind": kind, "offset": 0, "length": 32, "sha256": "00" });
    let sections = ["database", "records", "links", "vectors"].map(section);
    json!({
        "format": FORMAT, "id": "ab", "data_version": "v1", "as_of": "2026-01-01",
        "built_by": "test", "notice": "A sample.", "congresses": [119, 118],
        "sources": [source], "model": { "name": "m", "sha256": "00" },
        "sections": sections,
        "signature": { "algorithm": "ed25519", "value": "AAAA",
            "public_key": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=" },
    })
}

pub fn target() -> Target<'static> {
    Target {
        name: "manifest",
        count: MANY,
        corpus: texts(&[&whole().to_string(), "{}", "[]"]),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    }
}

#[test]
fn a_manifest_is_refused_or_written_as_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let valid = bundle_with(folder.path(), whole().to_string().as_bytes());
    read_manifest(valid.path()).unwrap();
    target().run(attempt);
}

/// A file with one empty page, this manifest, and a footer that fits.
fn bundle_with(folder: &std::path::Path, manifest: &[u8]) -> tempfile::NamedTempFile {
    let footer = Footer {
        format: FORMAT,
        oldest_reader: OLDEST_READER,
        manifest_offset: PAGE,
        manifest_length: manifest.len() as u64,
        file_length: PAGE + manifest.len() as u64 + 128,
        manifest_sha256: Sha256::digest(manifest).into(),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder).unwrap();
    let parts = [&[0; PAGE as usize], manifest, &footer.to_bytes()];
    file.write_all(&parts.concat()).unwrap();
    file
}

pub fn attempt(input: &[u8]) {
    let file = bundle_with(&crate::sections::memory(), input);
    let manifest = match read_manifest(file.path()) {
        Ok((_, manifest)) => manifest,
        Err(error) => {
            let message = error.to_string();
            return assert!(message.len() > 10 && !message.contains('\n'), "{message:?}");
        }
    };
    let ends = manifest.sections.iter().map(|section| section.offset.checked_add(section.length));
    assert!(ends.into_iter().all(|end| end.is_some_and(|end| end <= PAGE)));
    let _ = manifest.check_signature(&Trust::Embedded);
    let written = serde_json::to_vec(&manifest).unwrap();
    let file = bundle_with(&crate::sections::memory(), &written);
    let (_, again) = read_manifest(file.path()).unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), written);
}
