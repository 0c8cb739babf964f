//! Paths below `/v1` to operations: the routes come from their declarations.

use percent_encoding::percent_decode_str;
use smallvec::SmallVec;

use crate::api::{Arguments, Code, Error, Operation, Result, Scope};
use crate::toolsets::Toolsets;

/// The routes of the offered operations.
pub struct Router {
    routes: Vec<Route>,
}

struct Route {
    operation: &'static Operation,
    path: &'static str,
    segments: Vec<Segment>,
}

enum Segment {
    Literal(&'static str),
    /// As it is written, in braces: no parameter of a query string has such a name.
    Variable(&'static str),
    /// The rest of the path, slashes included.
    Rest(&'static str),
}

impl Segment {
    fn read(text: &'static str) -> Segment {
        match text {
            "{id...}" => Segment::Rest("{id}"),
            _ if text.starts_with('{') => Segment::Variable(text),
            _ => Segment::Literal(text),
        }
    }
}

impl Route {
    /// How many segments match to the letter, if the path matches at all.
    fn matches(&self, path: &[&str]) -> Option<usize> {
        let takes_rest = matches!(self.segments.last(), Some(Segment::Rest(_)));
        let fits = match takes_rest {
            true => path.len() >= self.segments.len(),
            false => path.len() == self.segments.len(),
        };
        let mut literals = 0;
        for (segment, text) in self.segments.iter().zip(path) {
            match segment {
                Segment::Literal(literal) if literal == text => literals += 1,
                Segment::Literal(_) => return None,
                Segment::Variable(_) if text.is_empty() => return None,
                Segment::Variable(_) | Segment::Rest(_) => {}
            }
        }
        fits.then_some(literals)
    }
}

impl Router {
    pub fn new(toolsets: &Toolsets) -> Router {
        let route = |operation: &'static Operation| {
            let path = operation.route?;
            let segments = path.trim_start_matches('/').split('/').map(Segment::read).collect();
            Some(Route { operation, path, segments })
        };
        Router { routes: toolsets.operations().filter_map(route).collect() }
    }

    /// The routes that match best: several where parameters decide between operations.
    fn candidates<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a Route> + 'a {
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments: SmallVec<[&str; 8]> = path.split('/').collect();
        let scored: SmallVec<[Option<usize>; 16]> =
            self.routes.iter().map(|route| route.matches(&segments)).collect();
        let best = scored.iter().flatten().max().copied();
        let is_best = move |(_, score): &(&Route, Option<usize>)| score.is_some() && *score == best;
        self.routes.iter().zip(scored).filter(is_best).map(|(route, _)| route)
    }

    /// What a caller of this path must be allowed to do.
    pub fn scope(&self, path: &str) -> Option<Scope> {
        self.candidates(without_slash(path)).next().map(|route| route.operation.scope)
    }

    /// Whether requests to this path have a body: those are sent by POST.
    pub fn takes_body(&self, path: &str) -> bool {
        let mut candidates = self.candidates(without_slash(path));
        candidates.next().is_some_and(|route| route.operation.takes_body)
    }

    /// The operation that is meant, with the variables of its path added to the arguments.
    /// Segments are split before they are decoded, so that an id may hold an encoded slash.
    pub fn find(
        &self,
        path: &str,
        arguments: Arguments,
    ) -> Result<(&'static Operation, Arguments)> {
        let (operation, arguments) = self.find_any(path, arguments)?;
        match operation.takes_body {
            true => Err(Error::new(Code::MethodNotAllowed, "This takes POST with a JSON object.")),
            false => Ok((operation, arguments)),
        }
    }

    /// The same for a request with a body, whose members are the arguments.
    pub fn find_for_body(
        &self,
        path: &str,
        arguments: Arguments,
    ) -> Result<(&'static Operation, Arguments)> {
        let (operation, arguments) = self.find_any(path, arguments)?;
        match operation.takes_body {
            true => Ok((operation, arguments)),
            false => Err(Error::new(Code::MethodNotAllowed, "This takes no POST.")),
        }
    }

    fn find_any(
        &self,
        path: &str,
        arguments: Arguments,
    ) -> Result<(&'static Operation, Arguments)> {
        // A slash at the end belongs to what takes the rest of the path, and is nothing elsewhere.
        let takes_rest = |route: &Route| matches!(route.segments.last(), Some(Segment::Rest(_)));
        let path = match path.ends_with('/') && !self.candidates(path).any(takes_rest) {
            true => without_slash(path),
            false => path,
        };
        let is_meant = |route: &&Route| match route.operation.selects {
            Some(selects) => selects(&arguments),
            None => true,
        };
        // Those without a test come last, wherever they are declared.
        let chosen = self
            .candidates(path)
            .filter(is_meant)
            .min_by_key(|route| route.operation.selects.is_none());
        let Some(route) = chosen else {
            return Err(Error::new(Code::RouteNotFound, "There is nothing at this path."));
        };
        let mut all = Arguments::default();
        let mut rest = path.strip_prefix('/').unwrap_or(path);
        for segment in &route.segments {
            let (text, behind) = rest.split_once('/').unwrap_or((rest, ""));
            match segment {
                Segment::Literal(_) => {}
                Segment::Variable(name) => all.push_one(name, decode(text)?),
                Segment::Rest(name) => all.push_one(name, decode(rest)?),
            }
            rest = behind;
        }
        all.extend(arguments);
        Ok((route.operation, all))
    }

    /// The declared routes, for the metrics and the docs.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.routes.iter().map(|route| route.path)
    }
}

fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

fn decode(text: &str) -> Result<String> {
    match percent_decode_str(text).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
        _ => {
            let message = "The path is not valid percent-encoded UTF-8.";
            Err(Error::new(Code::RouteNotFound, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Given;

    fn read(path: &str, query: &str) -> (&'static str, Vec<(String, String)>) {
        let router = Router::new(&Toolsets::default());
        let (operation, arguments) =
            router.find(path, Arguments::from_query(query).unwrap()).unwrap();
        let shown = arguments.iter().map(|(name, given)| (name.to_string(), Given::shown(given)));
        (operation.name, shown.collect())
    }

    #[test]
    fn a_path_is_read_segment_by_segment() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        for (path, operation, variables) in [
            ("/v1/sources", "list_sources", &[][..]),
            ("/v1/sources/bills", "get_source", &[("{source}", "bills")]),
            ("/v1/bills", "list_records", &[("{source}", "bills")]),
            ("/v1/bills/", "list_records", &[("{source}", "bills")]),
            ("/v1/search", "search", &[]),
            ("/v1/bills/H.R.%201", "get_record", &[("{source}", "bills"), ("{id}", "H.R. 1")]),
            (
                "/v1/gao-reports/GAO%2FHEHS-98-12",
                "get_record",
                &[("{source}", "gao-reports"), ("{id}", "GAO/HEHS-98-12")],
            ),
            (
                "/v1/bills/hr:119:1/actions",
                "list_sub_resource",
                &[("{source}", "bills"), ("{id}", "hr:119:1"), ("{sub}", "actions")],
            ),
            (
                "/v1/bills/hr:119:1/dossier",
                "get_dossier",
                &[("{source}", "bills"), ("{id}", "hr:119:1")],
            ),
            ("/v1/fetch/https://x.gov/a/b", "fetch", &[("{id}", "https://x.gov/a/b")]),
        ] {
            assert_eq!(read(path, ""), (operation, pairs(variables)), "{path}");
        }
    }

    #[test]
    fn parameters_decide_between_operations_with_one_route() {
        assert_eq!(read("/v1/bills", "status=enacted").0, "list_records");
        assert_eq!(read("/v1/legislators", "q=markey").0, "resolve_entity");
        assert_eq!(read("/v1/bills", "q=water&aggregate=count").0, "aggregate_records");
        assert_eq!(read("/v1/bills", "group_by=status").0, "aggregate_records");
    }

    #[test]
    fn anything_else_is_not_found() {
        let router = Router::new(&Toolsets::default());
        for path in
            ["/v1", "/v1/", "/v1//", "/v1//x", "/v1/a/b/c/d", "/v1/bills/%ff", "/v1/bills/%00"]
        {
            let error = router.find(path, Arguments::default()).map(|(o, _)| o.name).unwrap_err();
            assert_eq!(error.code, Code::RouteNotFound, "{path}");
        }
    }
}
