//! The home page: one search box, what the bundle holds, what is new in it, a few charts.

use std::sync::Arc;

use actix_web::{HttpRequest, web};
use arc_swap::ArcSwapOption;
use maud::{Markup, html};
use serde_json::Value;

use super::address::{self, Query};
use super::layout::{Page, search_box};
use super::values::label;
use super::visit::Visit;
use super::{numbers, sources};
use crate::api::Result;
use crate::catalog::BOJ_CREDIT;
use crate::http::AccessGuard;

/// Parameters of an address.
type Asked = &'static [(&'static str, &'static str)];

/// Stands for the day that the bundle is of.
const AS_OF: &str = "{as_of}";

/// Lists of what is newest or closest: heading, source, parameters, the field that says so. Those
/// that the bundle can't fill are left out.
const NEWEST: [(&str, &str, Asked, &str); 5] = [
    ("Newest laws", "public-laws", &[("sort", "-enacted_date")], "enacted_date"),
    ("Newest votes", "roll-call-votes", &[("sort", "-date")], "date"),
    (
        "Newest final rules",
        "federal-register",
        &[("type", "rule"), ("sort", "-publication_date")],
        "publication_date",
    ),
    (
        "Comment periods open on {as_of}",
        "federal-register",
        &[("comment_end_date.gte", AS_OF), ("sort", "comment_end_date")],
        "comment_end_date",
    ),
    ("Closest votes, by margin", "roll-call-votes", &[("sort", "margin")], "margin"),
];

/// Charts that an analyst wants to see first: heading, list, parameters.
const CHARTS: [(&str, &str, Asked); 5] = [
    (
        "Bills introduced, by month and status",
        "bills",
        &[
            ("bucket_by_time", "introduced_date"),
            ("time_interval", "month"),
            ("group_by", "status"),
            ("limit", "6"),
        ],
    ),
    (
        "Lobbying reported in dollars, by quarter",
        "lda-filings",
        &[("sum_field", "amount"), ("bucket_by_time", "filed_date"), ("time_interval", "quarter")],
    ),
    (
        "Final rules by agency",
        "federal-register",
        &[("type", "rule"), ("group_by", "agencies"), ("limit", "8")],
    ),
    ("Roll calls by result", "roll-call-votes", &[("group_by", "result"), ("limit", "8")]),
    (
        "Federal debt in dollars at the end of the fiscal year",
        "statistical-series/ust:debt_outstanding:debt_outstanding_amt/observations",
        &[("bucket_by_time", "date"), ("time_interval", "year"), ("aggregate", "last")],
    ),
];

/// The page is the same for everyone until the next bundle, so it is made once.
#[derive(Default)]
pub struct Home(ArcSwapOption<(String, Markup)>);

pub async fn page(request: &HttpRequest, visit: &Visit) -> Result<Page> {
    let guard = request.app_data::<web::Data<AccessGuard>>();
    let is_open = guard.is_some_and(|guard| guard.access.is_none());
    let content = match visit.may_read(is_open) {
        true => contents(request, visit).await,
        // Records are for those who may read them; what the bundle holds is no secret.
        false => html! {
            p { "This server asks for a key: " a href="/login" { "sign in" } " to read records." }
        },
    };
    let body = html! {
        div .hero {
            h1 { "Josh" }
            p .lead {
                "United States federal policy data from one file: bills, laws, votes, rules, \
                 reports, lobbying, each with its citation."
            }
            (search_box(""))
            p .soft {
                "Words, names or citations: "
                a href="/search?q=drinking+water" { "drinking water" } ", "
                a href="/go?id=H.R.+1" { "H.R. 1" } ". Press " kbd { "/" } " to search."
            }
        }
        (content)
        h2 { "Sources" }
        (sources::table(&visit.bundle))
        p {
            a href="/mcp" { "Connect an agent (MCP)" } " · " a href="/docs" { "REST API" } " · "
            a href="/openapi.json" { "OpenAPI" } " · " a href="/health" { "Health" }
        }
    };
    Ok(Page { has_search: true, ..Page::new("Josh", body) }.twin("JSON", "/v1/sources"))
}

async fn contents(request: &HttpRequest, visit: &Visit) -> Markup {
    let known = request.app_data::<web::Data<Home>>();
    let id = &visit.bundle.manifest.id;
    if let Some(known) = known.and_then(|home| home.0.load_full()).filter(|known| known.0 == *id) {
        return known.1.clone();
    }
    let made = html! {
        div .cards {
            @for (heading, source, parameters, field) in NEWEST {
                (newest(visit, heading, source, parameters, field).await)
            }
        }
    };
    let made = html! {
        (made)
        div .cards.charts {
            @for (heading, key, asked) in CHARTS { (chart(visit, heading, key, asked).await) }
        }
        @if holds_series_of_the_bank(visit).await { p .soft { (BOJ_CREDIT) } }
    };
    if let Some(home) = known {
        home.0.store(Some(Arc::new((id.clone(), made.clone()))));
    }
    made
}

/// The Bank of Japan's terms ask for a credit where its series are used.
async fn holds_series_of_the_bank(visit: &Visit) -> bool {
    let query = Query::of(&[("publisher", "Bank of Japan"), ("limit", "1")]);
    let answer = visit.call("/statistical-series", &query).await;
    answer.is_ok_and(|answer| !answer.items().is_empty())
}

/// A short list; nothing where the bundle can't fill it.
async fn newest(
    visit: &Visit,
    heading: &str,
    key: &'static str,
    parameters: &[(&str, &str)],
    field: &str,
) -> Markup {
    let Some((source, _)) = visit.bundle.source(key) else { return html! {} };
    let as_of = &visit.bundle.manifest.as_of;
    let heading = heading.replace(AS_OF, as_of);
    let mut query = Query::default();
    for (name, value) in parameters {
        query = query.with(name, if *value == AS_OF { as_of.as_str() } else { value });
    }
    let Ok(answer) = visit.call(&format!("/{key}"), &query.with("limit", "5")).await else {
        return html! {};
    };
    let items: Vec<&Value> = answer.items().iter().filter(|item| !item[field].is_null()).collect();
    html! {
        @if !items.is_empty() {
            section {
                h2 { a href=(query.at(&format!("/{key}"))) { (heading) } }
                ul {
                    @for item in items {
                        @let id = item["id"].as_str().unwrap_or_default();
                        @let title = item[source.title].as_str().unwrap_or(id);
                        li {
                            a href=(address::record(key, id)) { (title) } " "
                            @match &item[field] {
                                Value::String(day) => time .soft datetime=(day) { (day) },
                                number => span .soft { (label(field).to_lowercase()) " " (number) },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A chart; nothing where the bundle can't fill it.
async fn chart(visit: &Visit, heading: &str, key: &str, asked: &[(&str, &str)]) -> Markup {
    let (query, path) = (Query::of(asked), format!("/{key}"));
    let Ok(answer) = visit.call(&path, &query).await else { return html! {} };
    html! {
        section {
            h2 { a href=(query.at(&path)) { (heading) } }
            (numbers::drawn(&path, &query, &answer, heading))
        }
    }
}
