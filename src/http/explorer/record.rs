//! The page of one record: where it stands, its facts, its citation, and the first items of
//! everything that belongs to it.

use maud::{Markup, html};
use serde_json::Value;

use super::address::{self, Query};
use super::layout::Page;
use super::notes::notes;
use super::table::{Table, columns, items_of, row_columns};
use super::values::{field_label, for_people, is_empty, is_web, label, number, official, value};
use super::visit::{Answer, Visit};
use super::{numbers, text, tracker, vote};
use crate::api::{Code, Error, Result};
use crate::catalog::{Field, Kind, Source, SubResource, SubResourceKind};

/// Items shown of each sub-resource.
const SHOWN: usize = 5;

/// Longer texts stand by themselves, below the facts.
const LONG: usize = 240;

/// From how many records on their numbers say more than the first of them.
const MANY: u64 = 8;

pub async fn page(visit: &Visit<'_>, key: &str) -> Result<Page> {
    let answer = visit.call(&visit.path, &visit.query).await?;
    let (source, _) =
        visit.bundle.source(key).ok_or_else(|| Error::internal("a record without a source"))?;
    let record = answer.value.get("data").cloned().unwrap_or_default();
    let citation = answer.value.get("citation").cloned().unwrap_or_default();
    let id = record["id"].as_str().unwrap_or_default();
    let address = address::record(key, id);
    let title = record[source.title].as_str().filter(|title| !title.is_empty()).unwrap_or(id);
    let sections = sections(visit, source, &record, &address).await?;
    let body = html! {
        h1 { (title) }
        p .soft { (capital(source.singular)) " · " code { (id) } }
        (notes(&answer.notes))
        (tracker::tracker(&record))
        (vote::tally(&record))
        (cite(&citation))
        (facts(visit, source, &record, &sections))
        @for (_, section) in &sections { (section) }
    };
    let page = Page::new(title, body).below("Sources", "/sources");
    let page = page.below(label(key), format!("/{key}"));
    let mut page = page.twin("JSON", format!("/v1{address}"));
    for (name, format) in [("BibTeX", "bibtex"), ("RIS", "ris"), ("CSL-JSON", "csl")] {
        page = page.twin(name, format!("/v1{address}?format={format}"));
    }
    Ok(match source.dossier {
        Some(_) => page.twin("Dossier as JSON", format!("/v1{address}/dossier")),
        None => page,
    })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|c| c.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn cite(citation: &Value) -> Markup {
    let text = |name: &str| citation[name].as_str().unwrap_or_default();
    html! {
        div .cite {
            p {
                strong { "Cite: " } span { (text("text")) } " "
                button type="button" hidden data-copy=(text("text")) { "Copy" }
            }
            p { "Official page: " (official(text("url"))) }
            p .soft { (text("source")) ", as of " (text("as_of")) }
            @if !text("note").is_empty() { p { span .badge.warn { "Note" } " " (text("note")) } }
        }
    }
}

/// A sub-resource that the page shows: its name, and what it shows of it.
type Section = (&'static str, Markup);

/// The record's own fields: short ones in a list, prose below it. What the page says elsewhere is
/// left out.
fn facts(visit: &Visit, source: &'static Source, record: &Value, sections: &[Section]) -> Markup {
    let is_said = |name: &str| {
        // `sponsor_name` beside `sponsor`, which is shown as a name where the bundle holds it.
        let of = name.strip_suffix("_name").and_then(|of| record[of].as_str());
        of.is_some_and(|id| visit.bundle.records().by_id(id).is_some())
            || (name == "short_title" && record[name] == record[source.title])
            || sections.iter().any(|(shown, _)| *shown == name)
            || vote::is_in_tally(record, name)
            || [source.title, "id", "source", "url", "text_status"].contains(&name)
            || is_empty(&record[name])
    };
    let fields = source.columns().into_iter().filter(|field| !is_said(field.name));
    let is_long = |name: &str| record[name].as_str().is_some_and(|text| text.len() > LONG);
    let (long, short): (Vec<_>, Vec<_>) = fields.partition(|field| is_long(field.name));
    html! {
        dl .facts {
            @for field in &short {
                div {
                    dt title=(field.about) { (field_label(field)) }
                    dd { (value(&visit.bundle, field, &record[field.name])) }
                }
            }
        }
        @for field in &long {
            h2 { (label(field.name)) }
            p .reader { (record[field.name].as_str().unwrap_or_default()) }
        }
    }
}

/// The sub-resources: those of the dossier first, in its order.
async fn sections(
    visit: &Visit<'_>,
    source: &'static Source,
    record: &Value,
    address: &str,
) -> Result<Vec<Section>> {
    let first = source.dossier.as_ref().map_or(&[][..], |dossier| dossier.sections);
    let place = |sub: &&SubResource| first.iter().position(|name| *name == sub.name);
    let mut subs: Vec<&'static SubResource> = source.sub_resources.iter().collect();
    subs.sort_by_key(|sub| match sub.kind {
        // What the record says itself comes before everything about it.
        SubResourceKind::Body => 0,
        _ => place(sub).map_or(usize::MAX, |place| place + 1),
    });
    let mut shown = Vec::new();
    for sub in subs {
        let path = format!("{address}/{}", sub.name);
        let answer = match sub.kind {
            SubResourceKind::Toc => continue,
            SubResourceKind::Body => {
                shown.push((sub.name, text::entrance(visit, source, record)));
                continue;
            }
            _ => visit.call(&path, &Query::of(&[("limit", &SHOWN.to_string())])).await,
        };
        match answer {
            Ok(answer) if answer.total() > 0 => {
                shown.push((sub.name, section(visit, sub, record, &path, &answer).await));
            }
            // This bundle does not hold the source on the other side, or its rows.
            Err(error) if error.code != Code::RouteNotFound => return Err(error),
            _ => {}
        }
    }
    Ok(shown)
}

async fn section(
    visit: &Visit<'_>,
    sub: &'static SubResource,
    record: &Value,
    path: &str,
    answer: &Answer,
) -> Markup {
    let total = answer.total();
    let heading = html! {
        h2 #(sub.name) {
            a href=(path) { (label(sub.name)) } " " span .soft { "(" (number(total as i64)) ")" }
        }
    };
    if sub.name == "positions" {
        let members = vote::members(visit, path).await.unwrap_or_default();
        return html! { section { (heading) (members) } };
    }
    let chart = numbers_of(visit, sub, record, total).await;
    html! {
        section {
            (heading)
            (chart)
            (items(visit, sub, answer, for_people(sub.about).to_string(), None))
            @if total > SHOWN as u64 {
                @let name = label(sub.name).to_lowercase();
                p { a href=(path) { "All " (number(total as i64)) " " (name) } }
            }
        }
    }
}

/// How many of the records behind a sub-resource have which status, where they are many.
async fn numbers_of(visit: &Visit<'_>, sub: &SubResource, record: &Value, total: u64) -> Markup {
    let SubResourceKind::Records { source: key, field } = sub.kind else { return html! {} };
    // A list of ids is looked through record by record: too slow for a side note.
    let has_status = |(source, _): &(&Source, _)| {
        source.field(field).is_some_and(|f| !f.kind.is_list())
            && source
                .fields
                .iter()
                .any(|f| f.name == "status" && f.group && f.kind == Kind::Keyword)
    };
    let is_many = total >= MANY && visit.bundle.source(key).as_ref().is_some_and(has_status);
    let id = record["id"].as_str().filter(|_| is_many);
    let Some(id) = id else { return html! {} };
    let query = Query::of(&[(field, &address::one_value(id)), ("group_by", "status")]);
    let path = format!("/{key}");
    match visit.call(&path, &query).await {
        Ok(answer) => numbers::bars(&path, &query, &answer, "By status"),
        Err(_) => html! {},
    }
}

/// The items of a sub-resource, as the kind of list that fits them.
pub fn items(
    visit: &Visit,
    sub: &'static SubResource,
    answer: &Answer,
    caption: String,
    sorted: Option<(&str, &Query)>,
) -> Markup {
    let (records, fields) = items_of(&visit.bundle, sub);
    let has = |name: &str| fields.iter().any(|f| f.name == name);
    if has("date") && has("text") && sorted.is_none_or(|(_, query)| !query.has("sort")) {
        return timeline(visit, fields, answer.items());
    }
    let mut columns = match records {
        Some((source, facts)) => columns(source, facts, &visit.query.without(&["q"])),
        None => row_columns(&visit.bundle, fields, answer.items()),
    };
    if let SubResourceKind::Records { field, .. } = sub.kind {
        // It names the record whose page this is.
        columns.retain(|column| column.name != field || column.kind.is_list());
    }
    let source = records.map(|(source, _)| source);
    let bundle = &visit.bundle;
    Table { bundle, caption, columns: &columns, source, sorted }.render(answer.items())
}

/// What happened when, each stage under its name.
fn timeline(visit: &Visit, fields: &[Field], items: &[Value]) -> Markup {
    let stage = |item: &Value| item["type"].as_str().unwrap_or_default().to_string();
    html! {
        @for part in items.chunk_by(|a, b| stage(a) == stage(b)) {
            @let name = words(&stage(&part[0]));
            @if !name.is_empty() { p .stage { (name) } }
            (events(visit, fields, part, &name))
        }
    }
}

/// `ResolvingDifferences` as "Resolving differences".
fn words(name: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        match letter.is_uppercase() && before.is_lowercase() {
            true => out.extend([' '].into_iter().chain(letter.to_lowercase())),
            false => out.push(letter),
        }
        before = letter;
    }
    out
}

fn events(visit: &Visit, fields: &[Field], items: &[Value], stage: &str) -> Markup {
    const SAID: [&str; 4] = ["date", "text", "code", "type"];
    let others = |item: &Value| {
        let is_other = |f: &&Field| !SAID.contains(&f.name) && !is_empty(&item[f.name]);
        fields.iter().filter(is_other).copied().collect::<Vec<_>>()
    };
    let name = Some(stage).filter(|stage| !stage.is_empty());
    html! {
        ol .timeline data-walk aria-label=[name] {
            @for item in items {
                @let day = item["date"].as_str().unwrap_or_default();
                @let said = item["text"].as_str().unwrap_or_default();
                li {
                    time datetime=(day) { (day) }
                    p { @if is_web(said) { (official(said)) } @else { (said) } }
                    @for (at, field) in others(item).iter().enumerate() {
                        @if at > 0 { " · " }
                        span .soft {
                            (field_label(field)) ": "
                            (value(&visit.bundle, field, &item[field.name]))
                        }
                    }
                }
            }
        }
    }
}
