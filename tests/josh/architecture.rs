//! The architecture as it is meant: which module may use which, read from the syntax trees of every
//! file, and a catalog that holds together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use josh::catalog::{Kind, SOURCES, Shape, SubResourceKind};
use syn::visit::{self, Visit};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

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

/// Every path that a file names: `use` trees, grouped or not, and paths in code.
#[derive(Default)]
struct Names {
    paths: BTreeSet<Vec<String>>,
}

impl Names {
    fn of(text: &str) -> BTreeSet<Vec<String>> {
        let mut names = Names::default();
        names.visit_file(&syn::parse_file(text).expect("Rust that parses"));
        names.paths
    }

    fn add_tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |ident: &syn::Ident| {
            before.iter().cloned().chain([ident.to_string()]).collect::<Vec<_>>()
        };
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) => drop(self.paths.insert(with(&name.ident))),
            syn::UseTree::Rename(name) => drop(self.paths.insert(with(&name.ident))),
            syn::UseTree::Glob(_) => drop(self.paths.insert(before.to_vec())),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.add_tree(item, before));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.insert(path.segments.iter().map(|s| s.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_test = |attribute: &syn::Attribute| {
            let tokens = quote_tokens(attribute);
            tokens.contains("cfg") && tokens.contains("test")
        };
        // Tests may use what they like.
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }
}

fn quote_tokens(attribute: &syn::Attribute) -> String {
    let path = attribute.path().segments.iter().map(|s| s.ident.to_string());
    let list = attribute.meta.require_list().map(|list| list.tokens.to_string());
    path.chain(list.ok()).collect::<Vec<_>>().join(" ")
}

/// The modules of the crate from top to bottom. A module may use what is on a lower line, and
/// itself; modules on one line don't use each other unless they are listed in `BESIDE`.
const LAYERS: &[&[&str]] = &[
    &["main"],
    &["cli"],
    // Surfaces, and how the server presents itself.
    &["banner", "docs"],
    &["http"],
    &["settings"],
    &["mcp"],
    &["telemetry"],
    // Running operations, and naming the capabilities.
    &["executor"],
    &["toolsets"],
    // Capabilities.
    &["clients", "forms", "policy", "statistics"],
    // Limits speak the contract's errors.
    &["limits"],
    // Contract.
    &["api"],
    // Runtime that nothing above data needs to know.
    &["reloads", "tls"],
    &["metrics"],
    // Data.
    &["boj", "bundle", "client_config", "wizard"],
    &["catalog", "embed"],
    // Runtime at the bottom.
    &["access"],
    &["allocator", "folders", "output", "priority", "request_id", "signing", "spelling", "stamp"],
    &["timestamp"],
];

/// Uses that point up, each with its reason.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("telemetry", "settings", "the format of the logs is a setting")];

/// Macros of `output`, which are exported at the root.
const MACROS: [&str; 2] = ["note", "say"];

/// External crates, and the only places that may name them.
const CRATES: &[(&str, &[&str])] = &[
    ("actix_web", &["http", "cli"]),
    ("actix_http", &["cli/get.rs"]),
    ("actix_service", &["cli/get.rs"]),
    ("actix_tls", &["cli/serve.rs"]),
    ("clap", &["cli", "settings", "main.rs"]),
    ("duckdb", &["bundle/db.rs"]),
    ("ed25519_dalek", &["signing.rs"]),
    ("fastembed", &["embed/general.rs"]),
    ("governor", &["http/access_guard.rs"]),
    ("josh_minilm", &["embed"]),
    ("jsonc_parser", &["client_config/edit"]),
    ("jsonwebtoken", &["access"]),
    ("memmap2", &["bundle"]),
    ("numkong", &["bundle/vectors.rs", "bundle/walk.rs"]),
    ("ort", &["embed/general.rs"]),
    ("ort_tract", &["embed/general.rs"]),
    ("prometheus", &["metrics.rs"]),
    ("rcgen", &["tls.rs"]),
    ("rmcp", &["mcp", "http/mcp.rs", "cli/mcp.rs"]),
    ("rmcp_actix_web", &["http/mcp.rs"]),
    ("rustls", &["tls.rs"]),
    ("saphyr_parser", &["client_config/edit"]),
    ("serde_json_canonicalizer", &["client_config/artifact.rs"]),
    ("socket2", &["cli/serve.rs"]),
    ("tantivy", &["bundle", "policy/search/lexical.rs", "policy/search/union.rs"]),
    ("similar", &["client_config/install.rs"]),
    ("ureq", &["access/jwks.rs", "client_config/fetch.rs", "cli/pull.rs", "boj/live.rs"]),
    ("usearch", &["bundle/vectors.rs"]),
];

fn layer(module: &str) -> usize {
    let found = LAYERS.iter().position(|layer| layer.contains(&module));
    found.unwrap_or_else(|| panic!("src/{module} is on no layer: give it a line in LAYERS"))
}

/// Given every file of the crate, when its syntax tree is read, then it uses only what is on lower
/// layers, and external crates only where they belong.
#[test]
fn modules_use_only_what_is_below_them() {
    let src = root().join("src");
    let mut seen = BTreeSet::new();
    for path in files(&src) {
        let name = path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
        if name == "lib.rs" {
            continue;
        }
        let own = name.split('/').next().unwrap().trim_end_matches(".rs").to_string();
        seen.insert(own.clone());
        for path in Names::of(&std::fs::read_to_string(&path).unwrap()) {
            let first = path.first().map(String::as_str).unwrap_or_default();
            if let Some((_, places)) = CRATES.iter().find(|(name, _)| *name == first) {
                let is_fine = places.iter().any(|place| name.starts_with(place));
                assert!(is_fine, "src/{name} names {first}; only {places:?} may");
            }
            let (Some(used), "crate" | "josh") = (path.get(1), first) else { continue };
            // `crate::Name` re-exported at the root is no module.
            let is_macro = MACROS.contains(&used.as_str());
            if *used == own || is_macro || used.chars().next().is_some_and(char::is_uppercase) {
                continue;
            }
            let is_excepted = EXCEPTIONS.iter().any(|(a, b, _)| *a == own && b == used);
            let is_below = layer(used) > layer(&own);
            assert!(
                is_below || is_excepted,
                "src/{name} uses crate::{used}, which is not below it"
            );
        }
    }
    for module in LAYERS.iter().copied().flatten() {
        let is_there = seen.contains(*module) || *module == "docs";
        assert!(is_there, "LAYERS names {module}, which is not there");
    }
}

/// Given a grouped `use`, when it is read, then every name in it is seen.
#[test]
fn grouped_uses_are_seen() {
    let names =
        Names::of("use crate::{http, policy::{query, search::*}}; fn f() { crate::cli::run() }");
    for path in [
        &["crate", "http"][..],
        &["crate", "policy", "query"],
        &["crate", "policy", "search"],
        &["crate", "cli", "run"],
    ] {
        assert!(
            names.contains(&path.iter().map(|p| p.to_string()).collect::<Vec<_>>()),
            "{path:?}"
        );
    }
}

/// A capability never knows a surface, and a surface never looks inside a capability: `toolsets`
/// alone names them.
#[test]
fn only_the_toolsets_name_a_capability() {
    let src = root().join("src");
    for path in files(&src) {
        let name = path.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
        if ["toolsets.rs", "lib.rs"].contains(&name.as_str()) {
            continue;
        }
        let names = Names::of(&std::fs::read_to_string(&path).unwrap());
        let capabilities = ["clients", "forms", "policy", "statistics"];
        for capability in capabilities.iter().filter(|c| !name.starts_with(**c)) {
            let uses =
                names.iter().find(|p| p.len() > 1 && p[0] == "crate" && p[1] == **capability);
            assert_eq!(uses, None, "src/{name} looks inside a capability");
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for folder in ["src", "data-build/src", "tests", "benches", "minilm/src", "workspace-hack/src"]
    {
        for path in files(&root().join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("//!"), "{} has no //! at its head", path.display());
        }
    }
}

/// No file is over 500 lines; half of those with code are under 150, their unit tests not counted;
/// and lines are at most 100 columns.
#[test]
fn files_are_small_and_lines_short() {
    let mut lengths = Vec::new();
    let mut long_lines = Vec::new();
    for folder in ["src", "data-build/src", "data-build/tests", "minilm/src", "tests", "benches"] {
        for path in files(&root().join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().count();
            assert!(lines <= 500, "{} has {lines} lines", path.display());
            if folder.ends_with("src") {
                let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
                lengths.push(code.lines().count());
            }
            // Publishers' documents in the readers' tests keep their lines.
            let is_reader = path.starts_with(root().join("data-build/src"));
            if is_reader && path.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            let ours = text.split("#[cfg(test)]").next().filter(|_| is_reader).unwrap_or(&text);
            for (at, line) in ours.lines().enumerate() {
                // A raw string can't be broken.
                let is_raw = line.contains("r#\"") || line.contains("r\"");
                if line.chars().count() > 100 && !is_raw {
                    long_lines.push(format!("{}:{}", path.display(), at + 1));
                }
            }
        }
    }
    lengths.sort_unstable();
    assert!(lengths[lengths.len() / 2] < 150, "the median is {}", lengths[lengths.len() / 2]);
    assert!(long_lines.is_empty(), "over 100 columns:\n{}", long_lines.join("\n"));
}

/// The catalog is sound: orders, links, hints, sub-resources and sections of dossiers name fields
/// and sources that exist.
#[test]
fn the_catalog_holds_together() {
    assert_eq!(SOURCES.len(), 22);
    for source in SOURCES {
        let field = |name: &str| {
            source.field(name).unwrap_or_else(|| panic!("{} has no field {name}", source.key))
        };
        source
            .order
            .iter()
            .for_each(|(name, _)| assert!(field(name).can_sort(), "{} {name}", source.key));
        if let Some(date) = source.main_date {
            assert_eq!(field(date).kind, Kind::Date, "{}", source.key);
        }
        let mut names: Vec<&str> = source.columns().iter().map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), source.columns().len(), "{} names a field twice", source.key);
        for column in source.columns() {
            assert!(
                !["limit", "cursor", "sort", "fields", "format", "since", "until", "q", "ord"]
                    .contains(&column.name)
            );
            assert!(
                column.kind.target().is_none_or(|t| josh::catalog::source(t).is_some()),
                "{} {}",
                source.key,
                column.name
            );
        }
        for sub in source.sub_resources {
            if let SubResourceKind::Records { source: other, field } = sub.kind {
                let other = josh::catalog::source(other)
                    .unwrap_or_else(|| panic!("{}/{}", source.key, sub.name));
                let target = other.field(field).and_then(|f| f.kind.target());
                assert_eq!(target, Some(source.key), "{}/{}", source.key, sub.name);
            }
        }
        let key = source.key;
        assert_eq!(source.shape.has_body(), source.sub_resource("body").is_some(), "{key}");
        assert_eq!(source.shape == Shape::Registry, source.naming.is_some(), "{key}");
        if let Some(naming) = &source.naming {
            let hints = &naming.hints;
            let named = [hints.chamber, hints.party, hints.state, naming.recency];
            named.into_iter().flatten().chain(hints.year.iter().copied()).for_each(|name| {
                field(name);
            });
        }
        for section in source.dossier.iter().flat_map(|dossier| dossier.sections) {
            assert!(source.sub_resource(section).is_some(), "{key}: no section {section}");
        }
    }
}
