//! The house as built: which module may use what.

use std::path::{Path, PathBuf};

use josh::catalog::{Kind, SOURCES, SubKind};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A crate or module, and where it may be named.
const ALLOWED: &[(&str, &[&str])] = &[
    ("actix_web", &["http", "cli"]),
    ("actix_tls", &["cli/serve.rs"]),
    ("duckdb", &["bundle/db.rs"]),
    ("tantivy", &["bundle/analyzer.rs", "bundle/text.rs", "search/lexical.rs"]),
    ("usearch", &["bundle/vectors.rs"]),
    ("numkong", &["bundle/vectors.rs"]),
    ("fastembed", &["embed.rs"]),
    ("crate::search", &["answer.rs", "http/openapi.rs", "mcp", "service.rs", "aggregate.rs", "resolve"]),
    ("crate::resolve", &["service.rs"]),
    ("crate::answer", &["http", "mcp", "service.rs"]),
    ("crate::aggregate", &["answer.rs", "service.rs"]),
    ("crate::dossier", &["answer.rs", "http/openapi.rs", "mcp", "service.rs"]),
    ("rmcp", &["mcp", "http/mcp.rs", "cli/mcp.rs"]),
    ("crate::mcp", &["http", "cli", "settings.rs"]),
    ("crate::embed", &["bundle/mod.rs"]),
    ("memmap2", &["bundle"]),
    ("clap", &["cli", "settings.rs", "main.rs"]),
    ("crate::http", &["http", "cli"]),
    ("crate::service", &["http", "mcp", "cli", "service.rs"]),
    (
        "crate::record",
        &["answer.rs", "mcp", "service.rs", "record.rs", "search", "aggregate.rs", "dossier.rs", "resolve"],
    ),
    (
        "crate::query",
        &[
            "http",
            "mcp",
            "answer.rs",
            "service.rs",
            "query",
            "record.rs",
            "search",
            "aggregate.rs",
            "dossier.rs",
            "resolve",
            "settings.rs",
            "cli",
        ],
    ),
    ("crate::cli", &["cli", "main.rs"]),
    ("crate::settings", &["cli", "telemetry.rs", "settings.rs", "http/door.rs"]),
    ("crate::access", &["http", "mcp", "cli", "settings.rs", "banner.rs"]),
    ("crate::tls", &["cli/serve.rs", "settings.rs", "banner.rs"]),
    ("crate::gate", &["service.rs", "settings.rs", "cli"]),
    ("jsonwebtoken", &["access"]),
    ("ureq", &["access/jwks.rs"]),
    ("rcgen", &["tls.rs"]),
    ("rustls", &["tls.rs", "access/keys.rs"]),
    ("governor", &["http/door.rs"]),
    ("prometheus", &["metrics.rs"]),
];

#[test]
fn modules_use_only_what_lies_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in files(&src) {
        let name = path.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|l| !l.trim_start().starts_with("//")) {
            for (what, places) in ALLOWED {
                let named = line.contains(&format!("{what}::")) || line.contains(&format!("use {what};"));
                let fine = places.iter().any(|p| name.starts_with(p));
                assert!(!named || fine, "src/{name} uses {what}: {line}");
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "data-build/src", "tests"] {
        for path in files(&root.join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("//!"), "{} has no //! at its head", path.display());
        }
    }
}

/// The catalog is sound: orders, links and sub-resources name fields and sources that exist.
#[test]
fn the_catalog_holds_together() {
    assert_eq!(SOURCES.len(), 21);
    for source in SOURCES {
        let field = |name: &str| source.field(name).unwrap_or_else(|| panic!("{} has no field {name}", source.key));
        source.order.iter().for_each(|(name, _)| assert!(field(name).can_sort(), "{} {name}", source.key));
        if let Some(date) = source.main_date {
            assert_eq!(field(date).kind, Kind::Date, "{}", source.key);
        }
        let mut names: Vec<&str> = source.columns().iter().map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), source.columns().len(), "{} names a field twice", source.key);
        for column in source.columns() {
            assert!(
                !["limit", "cursor", "sort", "fields", "format", "since", "until", "q", "ord"].contains(&column.name)
            );
            assert!(
                column.kind.target().is_none_or(|t| josh::catalog::source(t).is_some()),
                "{} {}",
                source.key,
                column.name
            );
        }
        for sub in source.subs {
            if let SubKind::Records { source: other, field } = sub.kind {
                let other = josh::catalog::source(other).unwrap_or_else(|| panic!("{}/{}", source.key, sub.name));
                let target = other.field(field).and_then(|f| f.kind.target());
                assert_eq!(target, Some(source.key), "{}/{}", source.key, sub.name);
            }
        }
        assert_eq!(source.shape.has_body(), source.sub("body").is_some(), "{}", source.key);
    }
}
