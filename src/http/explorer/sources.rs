//! The sources of the bundle, and the data dictionary of each.

use maud::{Markup, html};
use serde_json::Value;

use super::layout::Page;
use super::notes::plain;
use super::values::{label, number};
use super::visit::Visit;
use crate::api::Result;
use crate::bundle::Bundle;

pub async fn all(visit: &Visit) -> Result<Page> {
    visit.call("/sources", &visit.query).await?;
    let body = html! {
        h1 { "Sources" }
        (table(&visit.bundle))
    };
    Ok(Page::new("Sources", body).twin("JSON", "/v1/sources"))
}

/// Every source with its counts and dates.
pub fn table(bundle: &Bundle) -> Markup {
    html! {
        div .scroll tabindex="0" role="region" aria-label="Sources in this bundle" {
            table {
                caption { "Sources in this bundle" }
                thead {
                    tr {
                        th scope="col" { "Source" }
                        th scope="col" .n { "Records" }
                        th scope="col" { "Dates" }
                        th scope="col" { "What it holds" }
                    }
                }
                tbody {
                    @for (source, facts) in bundle.sources() {
                        tr {
                            td {
                                a href=(format!("/{}", source.key)) { (label(source.key)) }
                                br;
                                a .soft href=(format!("/sources/{}", source.key)) { "fields" }
                            }
                            td .n { (number(facts.records as i64)) }
                            td .date {
                                @if let (Some(from), Some(to)) = (&facts.from, &facts.to) {
                                    (from) " to " br; (to)
                                }
                            }
                            td { (source.about) }
                        }
                    }
                }
            }
        }
    }
}

/// The data dictionary of one source.
pub async fn one(visit: &Visit, key: &str) -> Result<Page> {
    let answer = visit.call(&visit.path, &visit.query).await?;
    let data = answer.value.get("data").cloned().unwrap_or_default();
    let text = |name: &str| data[name].as_str().unwrap_or_default().to_string();
    let subs = data["sub_resources"].as_array().map_or(&[][..], Vec::as_slice);
    let body = html! {
        h1 { "About " (label(key)) }
        p .lead { (text("about")) "." }
        p { a href=(format!("/{key}")) { "The records" } }
        dl .facts {
            div {
                dt { "Records" } dd { (number(data["records"].as_i64().unwrap_or_default())) }
            }
            @for name in ["from", "to", "main_date", "shape", "publisher", "licence"] {
                @if !text(name).is_empty() { div { dt { (label(name)) } dd { (text(name)) } } }
            }
            @if let Some(coverage) = data["coverage"].as_object() {
                @for (name, value) in coverage.iter().filter(|(_, v)| !plain(v).is_empty()) {
                    div { dt { (label(name)) } dd { (plain(value)) } }
                }
            }
        }
        h2 { "Fields" }
        (fields(&format!("Fields of {}", label(key)), &data["fields"]))
        @for sub in subs {
            @let name = sub["name"].as_str().unwrap_or_default();
            h2 #(name) { (label(name)) }
            p { (sub["about"].as_str().unwrap_or_default()) "." }
            @if let Some(other) = sub["records_of"].as_str() {
                p { "Records of " a href=(format!("/sources/{other}")) { (label(other)) } "." }
            } @else {
                (fields(&format!("Fields of {}", label(name)), &sub["fields"]))
            }
        }
    };
    let page = Page::new(format!("About {}", label(key)), body).below("Sources", "/sources");
    Ok(page.below(label(key), format!("/{key}")).twin("JSON", format!("/v1{}", visit.path)))
}

fn fields(caption: &str, fields: &Value) -> Markup {
    let uses = |field: &Value| {
        let is = |name: &&str| field[*name] == true;
        let named: Vec<&str> =
            ["filter", "sort", "group", "sum", "time"].into_iter().filter(is).collect();
        named.join(", ")
    };
    html! {
        div .scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead {
                    tr {
                        @for name in ["Name", "Type", "Meaning", "Can be used to"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for field in fields.as_array().into_iter().flatten() {
                        tr {
                            td { code { (field["name"].as_str().unwrap_or_default()) } }
                            td { (field["type"].as_str().unwrap_or_default()) }
                            td {
                                (field["about"].as_str().unwrap_or_default())
                                @if let Some(values) = field["values"].as_array() {
                                    @if values.len() <= 30 {
                                        br; span .soft { (plain(&field["values"])) }
                                    }
                                }
                            }
                            td { (uses(field)) }
                        }
                    }
                }
            }
        }
    }
}
