//! A sub-resource of a record: its items, with facets, sorting and pages.

use maud::html;

use super::address;
use super::facets::Facets;
use super::layout::Page;
use super::list::{pages, whole_twins};
use super::notes::notes;
use super::numbers;
use super::record::items;
use super::table::items_of;
use super::values::{for_people, label, number, title_of};
use super::visit::Visit;
use crate::api::{Error, Result};
use crate::catalog::{Field, Kind, SubResource};

/// Short fields of rows that are counted beside them.
const FACETS: usize = 5;

pub async fn page(visit: &Visit, key: &str, name: &str) -> Result<Page> {
    let known = visit.bundle.source(key).and_then(|(source, _)| source.sub_resource(name));
    let facets = known.map(|sub| facet_names(visit, sub).join(",")).unwrap_or_default();
    let query = &visit.query;
    let asked = if facets.is_empty() { query.clone() } else { query.or("facets", &facets) };
    let answer = visit.call(&visit.path, &asked.or("limit", "50")).await?;
    let sub = known.ok_or_else(|| Error::internal("a sub-resource without a source"))?;
    let parent = Parent::of(visit).await?;
    let title = &parent.title;
    let (shown, total) = (answer.items().len() as i64, answer.total() as i64);
    let about = for_people(sub.about);
    let caption = match shown == total {
        true => format!("{}: {}", about, number(total)),
        false => format!("{}: {} of {}", about, number(shown), number(total)),
    };
    let side = Facets { path: &visit.path, query, has_charts: false };
    let sorted = Some((visit.path.as_str(), query));
    let body = html! {
        h1 { (label(name)) ": " (title) }
        div .sides {
            div {
                a .jump href="#narrow" { "Narrow the list" }
                @if numbers::time_field(visit, key, name).is_some() {
                    p {
                        "As a chart: "
                        @for interval in ["month", "quarter", "year"] {
                            @let chart = query.without(&["cursor", "limit", "sort", "fields"]);
                            a href=(chart.with("time_interval", interval).at(&visit.path)) {
                                "by " (interval)
                            }
                            " "
                        }
                    }
                }
                (side.chips())
                (notes(&answer.notes))
                @if total > 0 { (items(visit, sub, &answer, caption, sorted)) }
                (pages(visit, &answer))
            }
            aside #narrow aria-label="Narrow the list" { (side.render(answer.value.get("facets"))) }
        }
    };
    let page = parent.above(Page::new(format!("{}: {title}", label(name)), body), key);
    let page = page.twin("JSON", query.at(&format!("/v1{}", visit.path)));
    Ok(whole_twins(page, &visit.path, &query.without(&["cursor", "limit"])))
}

/// The record that a sub-resource belongs to.
pub struct Parent {
    id: String,
    pub title: String,
}

impl Parent {
    pub async fn of(visit: &Visit) -> Result<Parent> {
        // The path may name the record in any spelling.
        let parent = visit.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let found = visit.call(parent, &address::Query::of(&[("fields", "id")])).await?;
        let id = found.value.get("data").and_then(|data| data["id"].as_str()).unwrap_or_default();
        let title = title_of(&visit.bundle, id).unwrap_or_else(|| id.to_string());
        Ok(Parent { id: id.to_string(), title })
    }

    /// Adds what is above a page of the record.
    pub fn above(&self, page: Page, key: &str) -> Page {
        let page = page.below("Sources", "/sources").below(label(key), format!("/{key}"));
        page.below(self.id.as_str(), address::record(key, &self.id))
    }
}

fn facet_names(visit: &Visit, sub: &SubResource) -> Vec<&'static str> {
    let (records, fields) = items_of(&visit.bundle, sub);
    let is_few = |f: &&Field| {
        let is_short = matches!(f.kind, Kind::Keyword | Kind::Bool) || f.is_period();
        is_short && !["name", "lis_id", "paired_lis_id", "record_id", "code"].contains(&f.name)
    };
    match records {
        Some((source, facts)) => {
            let groups = source.fields.iter().filter(|f| f.group && !f.kind.is_list());
            let held = groups.filter(|f| facts.fields.contains_key(f.name));
            held.map(|f| f.name).take(FACETS).collect()
        }
        None => fields.iter().filter(is_few).map(|f| f.name).take(FACETS).collect(),
    }
}
