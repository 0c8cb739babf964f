//! What a caller asks of a search, read from arguments and checked.

use crate::api::{Arguments, Code, Context, Error, Result, Understood};
use crate::bundle::{Bundle, stable_hash};
use crate::catalog::{Shape, Source};
use crate::policy::query::{
    DEFAULT_LIMIT, Listing, Selection, take_cursor, take_facets, take_limit,
};
use crate::policy::understand;

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

/// Parameters of a search that are not filters. Surfaces read `format` themselves.
pub const SEARCH_PARAMETERS: [&str; 7] =
    ["q", "mode", "source", "limit", "cursor", "facets", "format"];

/// A search, complete and valid.
pub struct SearchRequest {
    pub question: String,
    pub mode: Mode,
    /// Whether the caller named the sources.
    pub is_named: bool,
    /// The sources to search, each with the filters on it.
    pub scopes: Vec<SearchScope>,
    pub limit: usize,
    pub cursor: Option<String>,
    /// Fields whose values are counted beside the results.
    pub facets: Vec<String>,
    /// How names in the filters were read.
    pub understood: Vec<Understood>,
}

/// A source and the part of it that filters leave.
pub struct SearchScope {
    pub source: &'static Source,
    pub selection: Selection,
}

impl SearchRequest {
    /// Reads a search. Blocks where a filter names somebody, who is then looked up.
    pub fn read(context: &Context, mut arguments: Arguments) -> Result<SearchRequest> {
        let bundle = &*context.bundle;
        let question = arguments.take_one("q")?.map(|q| q.trim().to_string()).unwrap_or_default();
        if question.is_empty() {
            let message = "`q` says what to search for, and it is missing or empty.";
            let error = Error::invalid("q", message);
            return Err(error.hint("example", "/v1/search?q=drinking+water"));
        }
        let mode = arguments.take_one("mode")?.map(|mode| read_mode(&mode)).transpose()?;
        let mode = mode.unwrap_or(Mode::Hybrid);
        let named = arguments.take("source")?;
        let named =
            named.map(|given| read_sources(bundle, &given.values("source")?)).transpose()?;
        let is_named = named.is_some();
        let sources = match mode {
            Mode::Semantic => sources_for_semantic(bundle, named)?,
            _ => named.unwrap_or_else(|| searchable_sources(bundle)),
        };
        let limit = take_limit(&mut arguments)?.unwrap_or(DEFAULT_LIMIT);
        let cursor = take_cursor(&mut arguments)?;
        let facets = take_facets(&mut arguments)?;
        let mut understood = Vec::new();
        for (source, facts) in sources.iter().filter_map(|source| bundle.source(source.key)) {
            let listing = Listing::of_source(bundle, source, facts);
            understood.extend(understand::filters(context, &listing, &mut arguments)?);
        }
        Ok(SearchRequest {
            question,
            mode,
            is_named,
            limit,
            cursor,
            facets,
            understood,
            scopes: scopes(bundle, &sources, &arguments, &SEARCH_PARAMETERS)?,
        })
    }

    pub fn sources(&self) -> impl Iterator<Item = &'static Source> {
        self.scopes.iter().map(|scope| scope.source)
    }

    /// The filters as they were written.
    pub fn filters(&self) -> Vec<&str> {
        self.scopes.first().map_or_else(Vec::new, |scope| scope.selection.written().collect())
    }

    /// What tells this search from others, for its cursors.
    pub fn hash(&self, bundle: &Bundle) -> u64 {
        let id = &bundle.manifest.id;
        let mut key = format!("search {id} {:?} {}\n", self.mode, self.question);
        for scope in &self.scopes {
            key.push_str(&format!("{} {}\n", scope.source.key, scope.selection.key()));
        }
        stable_hash(key.as_bytes())
    }
}

/// The sources that have every field that is filtered; a filter on a field that none has is an
/// error, which lists `valid` names besides.
pub fn scopes(
    bundle: &Bundle,
    sources: &[&'static Source],
    filters: &Arguments,
    valid: &[&str],
) -> Result<Vec<SearchScope>> {
    let mut found = Vec::new();
    let mut refused = None;
    for (source, facts) in sources.iter().filter_map(|source| bundle.source(source.key)) {
        let listing = Listing::of_source(bundle, source, facts);
        match Selection::read(filters, &listing, valid) {
            Ok(selection) => found.push(SearchScope { source, selection }),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// The sources of this bundle that carry a text.
pub fn searchable_sources(bundle: &Bundle) -> Vec<&'static Source> {
    bundle.sources().map(|(source, _)| source).filter(|s| s.shape.has_body()).collect()
}

/// The sources of this bundle whose passages have vectors.
pub fn sources_with_vectors(bundle: &Bundle) -> Vec<&'static Source> {
    let has_vectors = |source: &&'static Source| {
        let facts = bundle.manifest.source(source.key);
        source.shape == Shape::BodyBearing && facts.is_some_and(|facts| facts.vectors > 0)
    };
    searchable_sources(bundle).into_iter().filter(has_vectors).collect()
}

/// A search by meaning alone takes only sources with vectors: those that were named must have them.
fn sources_for_semantic(
    bundle: &Bundle,
    named: Option<Vec<&'static Source>>,
) -> Result<Vec<&'static Source>> {
    let valid = sources_with_vectors(bundle);
    let valid_keys: Vec<&str> = valid.iter().map(|s| s.key).collect();
    let lacking: Vec<&str> = named.iter().flatten().map(|s| s.key).collect();
    let lacking: Vec<&str> = lacking.into_iter().filter(|key| !valid_keys.contains(key)).collect();
    if !valid.is_empty() && lacking.is_empty() {
        return Ok(named.unwrap_or(valid));
    }
    let message = match valid.is_empty() {
        true => "This bundle holds no vectors, so it can't be searched by meaning.".to_string(),
        false => {
            format!("{} can't be searched by meaning: it has no vectors.", lacking.join(", "))
        }
    };
    let error = Error::new(Code::SourceNotSearchableSemantically, message);
    let field = if named.is_some() { "source" } else { "mode" };
    Err(Error { field: Some(field.into()), ..error }.hint("valid_sources", valid_keys))
}

fn read_mode(value: &str) -> Result<Mode> {
    let found = Mode::NAMES.iter().find(|(name, _)| *name == value);
    found.map(|(_, mode)| *mode).ok_or_else(|| {
        let error = Error::invalid("mode", format!("`mode` can't be {value:?}."));
        error.suggest(value, Mode::NAMES.map(|(name, _)| name))
    })
}

fn read_sources(bundle: &Bundle, names: &[impl AsRef<str>]) -> Result<Vec<&'static Source>> {
    let keys = || searchable_sources(bundle).into_iter().map(|s| s.key).collect::<Vec<_>>();
    let fail = |error: Error| Error { field: Some("source".into()), ..error };
    let mut found: Vec<&'static Source> = Vec::new();
    for key in names.iter().map(|name| name.as_ref().trim()) {
        let Some((source, _)) = bundle.source(key) else {
            let message = format!("This bundle holds no source {key:?}.");
            return Err(fail(Error::new(Code::UnknownSource, message).suggest(key, keys())));
        };
        if source.shape == Shape::Registry {
            let message =
                format!("{key} is a registry of names and numbers: it is not searched as text.");
            let error = Error::new(Code::SourceNotSearchable, message);
            let error = error.hint("use_tool", "resolve_entity").hint("list", format!("/v1/{key}"));
            return Err(fail(error.hint("valid_sources", keys())));
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
