//! What a caller asks of a search, checked.

use crate::bundle::{Bundle, stable_hash};
use crate::catalog::{Shape, Source};
use crate::error::{Code, Error, Result};
use crate::query::{DEFAULT_LIMIT, Params, read_limit};

/// Longer questions are pasted documents, not questions.
const LONGEST_QUESTION: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Hybrid,
    Lexical,
    Semantic,
}

impl Mode {
    pub const NAMES: [(&'static str, Mode); 3] =
        [("hybrid", Mode::Hybrid), ("lexical", Mode::Lexical), ("semantic", Mode::Semantic)];

    pub fn name(self) -> &'static str {
        Mode::NAMES.iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }
}

/// A search as it was asked for; filters are checked when the candidates are found.
pub struct SearchRequest {
    pub question: String,
    pub mode: Mode,
    pub sources: Vec<&'static Source>,
    pub filters: Params,
    pub limit: usize,
    pub cursor: Option<String>,
}

impl SearchRequest {
    pub fn read(bundle: &Bundle, params: &Params) -> Result<SearchRequest> {
        let mut request = SearchRequest {
            question: String::new(),
            mode: Mode::Hybrid,
            sources: searchable(bundle),
            filters: Params::default(),
            limit: DEFAULT_LIMIT,
            cursor: None,
        };
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in params.iter() {
            if ["q", "mode", "source", "limit", "cursor"].contains(&name) {
                if seen.contains(&name) {
                    return Err(Error::invalid(name, format!("`{name}` is given twice.")));
                }
                seen.push(name);
            }
            match name {
                "q" => request.question = value.trim().to_string(),
                "mode" => request.mode = read_mode(value)?,
                "source" => request.sources = read_sources(bundle, value)?,
                "limit" => request.limit = read_limit(value)?,
                "cursor" => request.cursor = Some(value.to_string()),
                _ => request.filters.push(name, value),
            }
        }
        if request.question.is_empty() {
            let message = "`q` says what to search for, and it is missing or empty.";
            return Err(Error::invalid("q", message).hint("example", "/v1/search?q=drinking+water"));
        }
        if request.question.len() > LONGEST_QUESTION {
            return Err(Error::invalid("q", format!("`q` is longer than {LONGEST_QUESTION} bytes.")));
        }
        request.keep_to_meaning(bundle, seen.contains(&"source"))?;
        Ok(request)
    }

    /// A search by meaning alone takes only sources with vectors: those that were named must have them.
    fn keep_to_meaning(&mut self, bundle: &Bundle, named: bool) -> Result<()> {
        if self.mode != Mode::Semantic {
            return Ok(());
        }
        let valid = meaningful(bundle, &searchable(bundle));
        let valid_keys: Vec<&str> = valid.iter().map(|s| s.key).collect();
        let lacking: Vec<&str> = self.sources.iter().map(|s| s.key).filter(|key| !valid_keys.contains(key)).collect();
        if valid.is_empty() || (named && !lacking.is_empty()) {
            let message = match valid.is_empty() {
                true => "This bundle holds no vectors, so nothing in it can be searched by meaning.".to_string(),
                false => format!("{} can't be searched by meaning: there are no vectors of it.", lacking.join(", ")),
            };
            let mut error = Error::new(Code::SourceNotSearchableSemantically, message);
            error.field = Some(if named { "source" } else { "mode" }.into());
            return Err(error.hint("valid_sources", valid_keys));
        }
        if !named {
            self.sources = valid;
        }
        Ok(())
    }

    /// What tells this search from others, for its cursors.
    pub fn hash(&self, bundle: &Bundle) -> u64 {
        let mut key = format!("search {} {:?} {}\n", bundle.manifest.id, self.mode, self.question);
        self.sources.iter().for_each(|s| key.push_str(s.key));
        self.filters.iter().for_each(|(name, value)| key.push_str(&format!("\n{name}={value}")));
        stable_hash(key.as_bytes())
    }
}

/// The sources of this bundle that carry a text.
pub fn searchable(bundle: &Bundle) -> Vec<&'static Source> {
    bundle.sources().map(|(source, _)| source).filter(|s| s.shape.has_body()).collect()
}

/// Those of these sources whose passages have vectors.
pub fn meaningful(bundle: &Bundle, sources: &[&'static Source]) -> Vec<&'static Source> {
    let has_vectors = |s: &&&'static Source| bundle.manifest.source(s.key).is_some_and(|facts| facts.vectors > 0);
    sources.iter().filter(|s| s.shape == Shape::BodyBearing).filter(has_vectors).copied().collect()
}

fn read_mode(value: &str) -> Result<Mode> {
    let found = Mode::NAMES.iter().find(|(name, _)| *name == value);
    found.map(|(_, mode)| *mode).ok_or_else(|| {
        Error::invalid("mode", format!("`mode` can't be {value:?}.")).suggest(value, Mode::NAMES.map(|(name, _)| name))
    })
}

fn read_sources(bundle: &Bundle, value: &str) -> Result<Vec<&'static Source>> {
    let keys = || searchable(bundle).into_iter().map(|s| s.key).collect::<Vec<_>>();
    let mut found: Vec<&'static Source> = Vec::new();
    for key in value.split(',').map(str::trim).filter(|k| !k.is_empty()) {
        let Some((source, _)) = bundle.source(key) else {
            let message = format!("This bundle holds no source {key:?}.");
            let mut error = Error::new(Code::UnknownSource, message).suggest(key, keys());
            error.field = Some("source".into());
            return Err(error);
        };
        if source.shape == Shape::Registry {
            let message = format!("{key} is a registry of names and numbers: it is not searched as text.");
            let mut error = Error::new(Code::SourceNotSearchable, message).hint("use_tool", "resolve_entity");
            error.field = Some("source".into());
            return Err(error.hint("list", format!("/v1/{key}")).hint("valid_sources", keys()));
        }
        if !found.iter().any(|s| s.key == source.key) {
            found.push(source);
        }
    }
    if found.is_empty() {
        return Err(Error::invalid("source", "`source` names no source.").hint("valid", keys()));
    }
    Ok(found)
}
