//! The operations: one verb each, over the bundle that is open now. Every surface turns what it is asked into a `Call`, and a `Call`
//! into an `Answer`, here.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::aggregate::{self, Numbers};
use crate::answer::Answer;
use crate::bundle::{Bundle, BundleError, SourceFacts, Stop};
use crate::catalog::{Field, Kind, Shape, Source, Sub, SubKind};
use crate::dossier::{self, Dossier};
use crate::error::{Code, Error, Result};
use crate::gate::{Gate, Load};
use crate::metrics::METRICS;
use crate::query::{self, AggregateRequest, Limits, ListRequest, Page, Params, Table};
use crate::record::{self, Found};
use crate::resolve;
use crate::search::{self, Results, SearchRequest};

/// An operation as surfaces list it. OpenAPI and the docs are made from this table.
pub struct Operation {
    pub name: &'static str,
    pub route: &'static str,
    pub about: &'static str,
}

pub const OPERATIONS: &[Operation] = &[
    Operation { name: "list_sources", route: "/v1/sources", about: "What this bundle holds: sources, counts, dates" },
    Operation {
        name: "get_source",
        route: "/v1/sources/{source}",
        about: "One source: fields, filters, sorts, aggregation plan, sub-resources",
    },
    Operation { name: "fetch", route: "/v1/fetch/{id}", about: "Any record by its id, however the id is written" },
    Operation {
        name: "search",
        route: "/v1/search",
        about: "Full text and meaning: the best passages of the records that carry a text",
    },
    Operation {
        name: "list_records",
        route: "/v1/{source}",
        about: "Records of a source: filtered, sorted, page by page",
    },
    Operation { name: "get_record", route: "/v1/{source}/{id}", about: "One record with its citation" },
    Operation {
        name: "get_dossier",
        route: "/v1/{source}/{id}/dossier",
        about: "The record and the first items of everything that hangs on it, in one answer",
    },
    Operation {
        name: "list_sub_resource",
        route: "/v1/{source}/{id}/{sub}",
        about: "What hangs under a record: filtered, sorted, page by page",
    },
];

/// What is asked for, whichever surface it came through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Sources,
    Source(String),
    Search,
    Fetch(String),
    /// A record with its text.
    Document(String),
    List(String),
    Record(String, String),
    Dossier(String, String),
    Sub(String, String, String),
}

impl Call {
    /// Reads a path below `/v1/`. Segments are split before they are decoded, so that an id may hold an encoded slash;
    /// under `fetch` a plain URL works too.
    pub fn read(path: &str) -> Result<Call> {
        let segment = |text: &str| match percent_decode_str(text).decode_utf8() {
            Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
            _ => Err(Error::new(Code::RouteNotFound, "The path is not valid percent-encoded UTF-8.")),
        };
        if let Some(id) = path.strip_prefix("fetch/") {
            return Ok(Call::Fetch(segment(id)?));
        }
        let parts = path.trim_end_matches('/').split('/').map(segment).collect::<Result<Vec<_>>>()?;
        Ok(match parts.as_slice() {
            [empty] if empty.is_empty() => return Err(Error::new(Code::RouteNotFound, "Nothing is asked for.")),
            [key] if key == "sources" => Call::Sources,
            [key] if key == "search" => Call::Search,
            [key] => Call::List(key.clone()),
            [first, key] if first == "sources" => Call::Source(key.clone()),
            [key, id] => Call::Record(key.clone(), id.clone()),
            [key, id, sub] if sub == "dossier" => Call::Dossier(key.clone(), id.clone()),
            [key, id, sub] => Call::Sub(key.clone(), id.clone(), sub.clone()),
            _ => return Err(Error::new(Code::RouteNotFound, "There is nothing at this path.")),
        })
    }

    /// The route of `OPERATIONS` that asks the same.
    pub fn route(&self) -> &'static str {
        match self {
            Call::Sources => "/v1/sources",
            Call::Source(_) => "/v1/sources/{source}",
            Call::Search => "/v1/search",
            Call::Fetch(_) | Call::Document(_) => "/v1/fetch/{id}",
            Call::List(_) => "/v1/{source}",
            Call::Record(..) => "/v1/{source}/{id}",
            Call::Dossier(..) => "/v1/{source}/{id}/dossier",
            Call::Sub(..) => "/v1/{source}/{id}/{sub}",
        }
    }

    /// Whether it is answered from the memory map alone, in microseconds.
    fn is_quick(&self) -> bool {
        matches!(self, Call::Sources | Call::Source(_) | Call::Fetch(_) | Call::Record(..))
    }

    /// Answers. Blocks, unless it is quick.
    fn answer(&self, bundle: &Bundle, params: &Params, limits: Limits) -> Result<Answer> {
        match self {
            Call::Sources => no_params(params).map(|()| Answer::value(&list_sources(bundle).into())),
            Call::Source(key) => {
                let data = get_source(bundle, key)?;
                no_params(params).map(|()| Answer::value(&data))
            }
            Call::Fetch(id) => shown_record(&fetch(bundle, id)?, params),
            Call::Document(id) => {
                let found = fetch(bundle, id)?;
                Answer::document(&found, &text_of(bundle, &found)?)
            }
            Call::Record(key, id) => shown_record(&get_record(bundle, key, id)?, params),
            Call::Search => search(bundle, params).map(Answer::results),
            Call::List(key) if AggregateRequest::is_meant(params) => {
                Answer::numbers(&aggregate_records(bundle, key, params, limits)?)
            }
            Call::List(key) => list_records(bundle, key, params).and_then(shown_page),
            Call::Dossier(key, id) => get_dossier(bundle, key, id, params).map(|dossier| Answer::dossier(&dossier)),
            Call::Sub(key, id, sub) => list_sub_resource(bundle, key, id, sub, params).and_then(shown_page),
        }
    }
}

/// Bytes of a text that come with its record.
const TEXT_BYTES: &str = "40000";

/// A record's text, or where it has none its fields, a line each.
fn text_of(bundle: &Bundle, found: &Found) -> Result<String> {
    let body = found.source.subs.iter().find(|sub| matches!(sub.kind, SubKind::Body));
    let has_body = body.is_some_and(|sub| describe_sub(bundle, found.source, sub).is_some());
    let mut text = String::new();
    if has_body {
        let mut params = Params::default();
        params.push("limit", "100");
        params.push("max_bytes", TEXT_BYTES);
        let (_, page) = list_sub_resource(bundle, found.source.key, found.entry.id, "body", &params)?;
        for item in &page.items {
            let section: Value = serde_json::from_str(item).map_err(Error::internal)?;
            for part in ["heading", "text"] {
                if let Some(part) = section[part].as_str().filter(|part| !part.is_empty()) {
                    text.push_str(part);
                    text.push_str("\n\n");
                }
            }
        }
        if page.next_cursor.is_some() {
            let more = format!(
                "[{} of {} sections; the rest: /v1/{}/{}/body]",
                page.items.len(),
                page.total,
                found.source.key,
                found.entry.id
            );
            text.push_str(&more);
        }
    }
    if text.is_empty() {
        let fields: serde_json::Map<String, Value> = serde_json::from_str(found.entry.data).map_err(Error::internal)?;
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            let said = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            text.push_str(&format!("{name}: {said}\n"));
        }
    }
    Ok(text.trim_end().to_string())
}

fn shown_page((request, page): (ListRequest, Page)) -> Result<Answer> {
    Answer::page(request.format, &page)
}

fn shown_record(found: &Found, params: &Params) -> Result<Answer> {
    if params.is_empty() {
        return Ok(Answer::record(found, found.entry.data));
    }
    let mut data = found.entry.data.to_string();
    for (name, value) in params.iter() {
        match name {
            "fields" => data = query::narrow(&data, &query::read_fields(value, &found.source.columns())?)?,
            _ => {
                return Err(
                    Error::invalid(name, format!("A record takes no parameter {name:?}.")).suggest(name, ["fields"])
                );
            }
        }
    }
    Ok(Answer::record(found, &data))
}

fn no_params(params: &Params) -> Result<()> {
    match params.iter().next() {
        Some((name, _)) => Err(Error::invalid(name, "This takes no parameters.")),
        None => Ok(()),
    }
}

/// The open bundle, swapped as a whole. Requests hold the one they began with.
pub struct Josh {
    current: ArcSwap<Bundle>,
    limits: Limits,
    time: Duration,
    searches: Gate,
    /// Lists, counts, dossiers.
    queries: Gate,
    /// What was offered since and could not be used: a bundle, a certificate, with the reason.
    refused: Mutex<BTreeMap<&'static str, String>>,
}

impl Josh {
    pub fn new(bundle: Bundle, limits: Limits, load: Load) -> Josh {
        Josh {
            current: ArcSwap::from_pointee(bundle),
            limits,
            time: load.time,
            searches: Gate::new("searches", load),
            queries: Gate::new("queries", load),
            refused: Mutex::default(),
        }
    }

    pub fn bundle(&self) -> Arc<Bundle> {
        self.current.load_full()
    }

    /// Answers a call over this bundle. When the caller goes away, or time is up, so is its query.
    pub async fn answer(&self, bundle: &Arc<Bundle>, call: Call, params: Params) -> Result<Answer> {
        if call.is_quick() {
            // On a blocking thread a panic ends the thread; here it would end a worker, and nobody would get an answer.
            let answered = catch_unwind(AssertUnwindSafe(|| call.answer(bundle, &params, self.limits)));
            return answered.unwrap_or_else(|_| Err(Error::internal("a panic, which is in the log above")));
        }
        let late = || Error::new(Code::AnswerTimeout, format!("No answer within {} ms.", self.time.as_millis()));
        tokio::time::timeout(self.time, self.answer_in_turn(bundle, call, params)).await.map_err(|_| late())?
    }

    async fn answer_in_turn(&self, bundle: &Arc<Bundle>, call: Call, params: Params) -> Result<Answer> {
        let gate = if call == Call::Search { &self.searches } else { &self.queries };
        let _turn = gate.turn().await?;
        let (bundle, limits, stop) = (bundle.clone(), self.limits, Stop::default());
        let _when_dropped = stop.clone().when_dropped();
        let span = tracing::Span::current();
        let work = move || span.in_scope(|| stop.during(|| call.answer(&bundle, &params, limits)));
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }

    /// Opens the file again; the old bundle goes on if the new one can't be used.
    pub fn reload(&self) -> Result<Arc<Bundle>, BundleError> {
        let bundle = Arc::new(self.bundle().open_again()?);
        bundle.prepare_search();
        self.current.store(bundle.clone());
        Ok(bundle)
    }

    /// Notes what became of something new: taken, or refused for this reason.
    pub fn offered(&self, what: &'static str, refused: Option<String>) {
        METRICS.reloads.with_label_values(&[what, if refused.is_some() { "refused" } else { "taken" }]).inc();
        let mut all = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        match refused {
            Some(reason) => drop(all.insert(what, reason)),
            None => drop(all.remove(what)),
        }
    }

    pub fn refused(&self) -> BTreeMap<&'static str, String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// `GET /v1/sources`
pub fn list_sources(bundle: &Bundle) -> Vec<Value> {
    bundle.sources().map(|(source, facts)| summary(source, facts)).collect()
}

/// `GET /v1/sources/{source}`
pub fn get_source(bundle: &Bundle, key: &str) -> Result<Value> {
    let (source, facts) = held(bundle, key)?;
    let table = Table::of_source(bundle, source, facts);
    let mut out = summary(source, facts);
    out["fields"] = table.columns.iter().map(|f| describe(f, table.values(f.name))).collect();
    let named = |test: fn(&Field) -> bool| table.columns.iter().filter(|f| test(f)).map(|f| f.name).collect::<Vec<_>>();
    out["aggregation"] = json!({
        "group_by": named(|f| f.group),
        "sum": named(|f| f.sum),
        "bucket_by_time": named(|f| f.time),
    });
    let subs = source.subs.iter().filter_map(|sub| describe_sub(bundle, source, sub));
    out["sub_resources"] = subs.collect();
    out["publisher"] = json!(facts.publisher);
    out["licence"] = json!(facts.licence);
    Ok(out)
}

/// `GET /v1/{source}`
pub fn list_records(bundle: &Bundle, key: &str, params: &Params) -> Result<(ListRequest, Page)> {
    let (source, facts) = held(bundle, key)?;
    let table = Table::of_source(bundle, source, facts);
    if source.shape == Shape::Registry && params.iter().any(|(name, _)| name == "q") {
        return resolve::resolve(bundle, source, &table, params).map_err(|error| bundle.blame(error));
    }
    run(bundle, &table, params)
}

/// `GET /v1/{source}?aggregate=…`
pub fn aggregate_records(bundle: &Bundle, key: &str, params: &Params, limits: Limits) -> Result<Numbers> {
    let (source, facts) = held(bundle, key)?;
    aggregate::numbers(bundle, source, &Table::of_source(bundle, source, facts), params, limits)
}

/// `GET /v1/search`
pub fn search(bundle: &Bundle, params: &Params) -> Result<Results> {
    let request = SearchRequest::read(bundle, params)?;
    search::search(bundle, &request).map_err(|error| bundle.blame(error))
}

/// `GET /v1/{source}/{id}`
pub fn get_record<'a>(bundle: &'a Bundle, key: &str, id: &str) -> Result<Found<'a>> {
    let (source, _) = held(bundle, key)?;
    record::find_in(bundle, source, id)
}

/// `GET /v1/fetch/{id}`
pub fn fetch<'a>(bundle: &'a Bundle, id: &str) -> Result<Found<'a>> {
    record::fetch(bundle, id)
}

/// `GET /v1/{source}/{id}/{sub}`
pub fn list_sub_resource(
    bundle: &Bundle,
    key: &str,
    id: &str,
    sub: &str,
    params: &Params,
) -> Result<(ListRequest, Page)> {
    let (source, _) = held(bundle, key)?;
    let offered = || source.subs.iter().filter(|s| describe_sub(bundle, source, s).is_some());
    let Some(sub) = offered().find(|s| s.name == sub) else {
        let message = format!("A {} has no sub-resource {sub:?}.", source.one);
        return Err(Error::new(Code::RouteNotFound, message).suggest(sub, offered().map(|s| s.name)));
    };
    let found = record::find_in(bundle, source, id)?;
    let table = Table::of_sub(bundle, source, sub).ok_or_else(|| Error::internal("a sub-resource without a table"))?;
    run(bundle, &table.under(bundle, source, sub, found.entry.id)?, params)
}

/// `GET /v1/{source}/{id}/dossier`
pub fn get_dossier<'a>(bundle: &'a Bundle, key: &str, id: &str, params: &Params) -> Result<Dossier<'a>> {
    let (source, _) = held(bundle, key)?;
    dossier::gather(bundle, source, id, params)
}

fn run(bundle: &Bundle, table: &Table, params: &Params) -> Result<(ListRequest, Page)> {
    let request = ListRequest::read(params, table, &|source, id| record::canonical(bundle, source, id))?;
    let page = query::list(bundle, table, &request).map_err(|error| bundle.blame(error))?;
    Ok((request, page))
}

/// The source, if this bundle holds it.
fn held<'a>(bundle: &'a Bundle, key: &str) -> Result<(&'static Source, &'a SourceFacts)> {
    bundle.source(key).ok_or_else(|| {
        let shown: String = key.chars().take(60).collect();
        Error::new(Code::UnknownSource, format!("This bundle holds no source {shown:?}."))
            .suggest(&shown, bundle.sources().map(|(s, _)| s.key))
    })
}

fn summary(source: &Source, facts: &SourceFacts) -> Value {
    json!({
        "key": source.key,
        "shape": source.shape.name(),
        "about": source.about,
        "records": facts.records,
        "from": facts.from,
        "to": facts.to,
        "main_date": source.main_date,
        "list": format!("/v1/{}", source.key),
    })
}

fn describe(field: &Field, values: Option<&[String]>) -> Value {
    let mut out = json!({
        "name": field.name,
        "type": field.kind.name(),
        "filter": field.can_filter(),
        "sort": field.can_sort(),
        "group": field.group,
        "sum": field.sum,
        "time": field.time,
        "about": field.about,
    });
    if let Some(target) = field.kind.target() {
        out["ids_of"] = json!(target);
    }
    if let (Kind::Keyword | Kind::Keywords, Some(values)) = (field.kind, values) {
        out["values"] = json!(values);
    }
    out
}

/// A sub-resource as this bundle offers it; nothing when it lacks the table or the source on the other side.
pub fn describe_sub(bundle: &Bundle, source: &'static Source, sub: &Sub) -> Option<Value> {
    let facts = bundle.manifest.source(source.key)?;
    let table = match sub.kind {
        SubKind::Body | SubKind::Toc => "body",
        _ => sub.name,
    };
    if !matches!(sub.kind, SubKind::Records { .. }) && !facts.rows.contains_key(table) {
        return None;
    }
    let table = Table::of_sub(bundle, source, sub)?;
    let items_of = match sub.kind {
        SubKind::Records { source, .. } => json!(source),
        _ => Value::Null,
    };
    let fields: Value = match sub.kind {
        SubKind::Records { .. } => Value::Null,
        _ => table.columns.iter().map(|f| describe(f, None)).collect(),
    };
    Some(json!({ "name": sub.name, "about": sub.about, "records_of": items_of, "fields": fields }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_segment_by_segment() {
        let read = |path: &str| Call::read(path).unwrap();
        assert_eq!(read("sources"), Call::Sources);
        assert_eq!(read("sources/bills"), Call::Source("bills".into()));
        assert_eq!(read("bills"), Call::List("bills".into()));
        assert_eq!(read("bills/"), Call::List("bills".into()));
        assert_eq!(read("bills/H.R.%201"), Call::Record("bills".into(), "H.R. 1".into()));
        assert_eq!(read("gao-reports/GAO%2FHEHS-98-12"), Call::Record("gao-reports".into(), "GAO/HEHS-98-12".into()));
        assert_eq!(read("bills/hr:119:1/actions"), Call::Sub("bills".into(), "hr:119:1".into(), "actions".into()));
        assert_eq!(read("bills/hr:119:1/dossier"), Call::Dossier("bills".into(), "hr:119:1".into()));
        assert_eq!(read("fetch/https://x.gov/a/b"), Call::Fetch("https://x.gov/a/b".into()));
    }

    #[test]
    fn what_is_no_path_is_no_route() {
        for path in ["", "a/b/c/d", "bills/%ff", "bills/%00"] {
            assert_eq!(Call::read(path).unwrap_err().code, Code::RouteNotFound, "{path}");
        }
    }
}
