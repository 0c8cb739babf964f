//! `/v1`: from a path to an operation. A record is answered on the spot from the memory map; whatever asks DuckDB goes
//! to a blocking thread.

use actix_web::{HttpRequest, HttpResponse, web};
use percent_encoding::percent_decode_str;

use super::respond;
use crate::bundle::Bundle;
use crate::error::{Code, Error, Result};
use crate::query::{AggregateRequest, ListRequest, Page, Params, narrow, read_fields};
use crate::record::Found;
use crate::service::{self, Josh};

/// What a path asks for.
#[derive(Debug, PartialEq, Eq)]
enum Route {
    Sources,
    Source(String),
    Search,
    Fetch(String),
    List(String),
    Record(String, String),
    Sub(String, String, String),
}

impl Route {
    /// Reads a path below `/v1/`. Segments are split before they are decoded, so that an id may hold an encoded slash;
    /// under `fetch` a plain URL works too.
    fn read(path: &str) -> Result<Route> {
        let segment = |text: &str| match percent_decode_str(text).decode_utf8() {
            Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
            _ => Err(Error::new(Code::RouteNotFound, "The path is not valid percent-encoded UTF-8.")),
        };
        if let Some(id) = path.strip_prefix("fetch/") {
            return Ok(Route::Fetch(segment(id)?));
        }
        let parts = path.trim_end_matches('/').split('/').map(segment).collect::<Result<Vec<_>>>()?;
        Ok(match parts.as_slice() {
            [empty] if empty.is_empty() => return Err(Error::new(Code::RouteNotFound, "Nothing is asked for.")),
            [key] if key == "sources" => Route::Sources,
            [key] if key == "search" => Route::Search,
            [key] => Route::List(key.clone()),
            [first, key] if first == "sources" => Route::Source(key.clone()),
            [key, id] => Route::Record(key.clone(), id.clone()),
            [key, id, sub] => Route::Sub(key.clone(), id.clone(), sub.clone()),
            _ => return Err(Error::new(Code::RouteNotFound, "There is nothing at this path.")),
        })
    }
}

pub async fn answer(request: HttpRequest, josh: web::Data<Josh>) -> HttpResponse {
    let bundle = josh.bundle();
    if let Some(response) = respond::not_modified(&request, &bundle) {
        return response;
    }
    let path = request.uri().path().strip_prefix("/v1/").unwrap_or_default();
    let answered = match (Route::read(path), Params::parse(request.query_string())) {
        (Err(error), _) | (_, Err(error)) => Err(error),
        (Ok(route), Ok(params)) => match route {
            Route::Sources => {
                no_params(&params).map(|()| respond::value(&request, &bundle, &service::list_sources(&bundle).into()))
            }
            Route::Source(key) => service::get_source(&bundle, &key).and_then(|data| {
                no_params(&params)?;
                Ok(respond::value(&request, &bundle, &data))
            }),
            Route::Fetch(id) => {
                service::fetch(&bundle, &id).and_then(|found| record(&request, &bundle, &found, &params))
            }
            Route::Record(key, id) => {
                service::get_record(&bundle, &key, &id).and_then(|found| record(&request, &bundle, &found, &params))
            }
            Route::Search => {
                let held = bundle.clone();
                // Never closed, so it is always given.
                let _turn = josh.searches.acquire().await;
                let found = web::block(move || service::search(&held, &params)).await;
                found.map_err(Error::internal).flatten().map(|results| respond::results(&request, &bundle, &results))
            }
            Route::List(key) if AggregateRequest::is_meant(&params) => {
                let (held, limits) = (bundle.clone(), josh.limits);
                let counted = web::block(move || service::aggregate_records(&held, &key, &params, limits)).await;
                counted.map_err(Error::internal).flatten().and_then(|n| respond::numbers(&request, &bundle, &n))
            }
            Route::List(key) => {
                let held = bundle.clone();
                let listed = web::block(move || service::list_records(&held, &key, &params)).await;
                page(&request, &bundle, listed)
            }
            Route::Sub(key, id, sub) if sub == "dossier" => {
                let held = bundle.clone();
                let body = web::block(move || {
                    let dossier = service::get_dossier(&held, &key, &id, &params)?;
                    Ok(respond::dossier_body(&dossier))
                });
                body.await.map_err(Error::internal).flatten().map(|body| respond::dossier(&request, &bundle, body))
            }
            Route::Sub(key, id, sub) => {
                let held = bundle.clone();
                let listed = web::block(move || service::list_sub_resource(&held, &key, &id, &sub, &params)).await;
                page(&request, &bundle, listed)
            }
        },
    };
    answered.unwrap_or_else(|error| respond::error(&request, &error))
}

fn page(
    request: &HttpRequest,
    bundle: &Bundle,
    listed: Result<Result<(ListRequest, Page)>, actix_web::error::BlockingError>,
) -> Result<HttpResponse> {
    let (asked, page) = listed.map_err(Error::internal)??;
    respond::page(request, bundle, asked.format, &page)
}

fn record(request: &HttpRequest, bundle: &Bundle, found: &Found, params: &Params) -> Result<HttpResponse> {
    if params.is_empty() {
        return Ok(respond::record(request, bundle, found, found.entry.data));
    }
    let mut data = found.entry.data.to_string();
    for (name, value) in params.iter() {
        match name {
            "fields" => data = narrow(&data, &read_fields(value, &found.source.columns())?)?,
            _ => {
                return Err(
                    Error::invalid(name, format!("A record takes no parameter {name:?}.")).suggest(name, ["fields"])
                );
            }
        }
    }
    Ok(respond::record(request, bundle, found, &data))
}

fn no_params(params: &Params) -> Result<()> {
    match params.iter().next() {
        Some((name, _)) => Err(Error::invalid(name, "This takes no parameters.")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_segment_by_segment() {
        let read = |path: &str| Route::read(path).unwrap();
        assert_eq!(read("sources"), Route::Sources);
        assert_eq!(read("sources/bills"), Route::Source("bills".into()));
        assert_eq!(read("bills"), Route::List("bills".into()));
        assert_eq!(read("bills/"), Route::List("bills".into()));
        assert_eq!(read("bills/H.R.%201"), Route::Record("bills".into(), "H.R. 1".into()));
        assert_eq!(read("gao-reports/GAO%2FHEHS-98-12"), Route::Record("gao-reports".into(), "GAO/HEHS-98-12".into()));
        assert_eq!(read("bills/hr:119:1/actions"), Route::Sub("bills".into(), "hr:119:1".into(), "actions".into()));
        assert_eq!(read("fetch/https://x.gov/a/b"), Route::Fetch("https://x.gov/a/b".into()));
    }

    #[test]
    fn what_is_no_path_is_no_route() {
        for path in ["", "a/b/c/d", "bills/%ff", "bills/%00"] {
            assert_eq!(Route::read(path).unwrap_err().code, Code::RouteNotFound, "{path}");
        }
    }
}
