//! The page of one record: where it stands, its facts, its citation, and the first items of
//! everything that belongs to it.

use maud::{Markup, html};
use serde_json::Value;

use super::address::{self, Query};
use super::layout::Page;
use super::notes::notes;
use super::table::{Table, columns, items_of, row_columns};
use super::values::{field_label, for_people, is_empty, is_web, label, number, official, value};
use super::visit::{Answer, Visit, Work};
use super::{numbers, text, tracker, vote};
use crate::api::{Code, Error, Notes, Result};
use crate::bundle::Bundle;
use crate::catalog::{Field, Kind, Source, SubResource, SubResourceKind};

/// Items shown of each sub-resource.
const SHOWN: usize = 5;

/// Longer texts stand by themselves, below the facts.
const LONG: usize = 240;

/// From how many records on their numbers say more than the first of them.
const MANY: u64 = 8;

pub async fn page(visit: &Visit, key: &str) -> Result<Page> {
    let mut answer = visit.call(&visit.path, &visit.query).await?;
    let (source, _) =
        visit.bundle.source(key).ok_or_else(|| Error::internal("a record without a source"))?;
    let (record, citation) = (answer.take("data"), answer.take("citation"));
    let id = record["id"].as_str().unwrap_or_default();
    let subs = held(&visit.bundle, source, id)?;
    let found = Found { source, address: address::record(key, id), record, citation };
    if subs.iter().all(|sub| matches!(sub.kind, SubResourceKind::Body)) {
        let texts = subs.iter().map(|sub| (sub.name, text::entrance(source, &found.record)));
        return Ok(found.page(visit, &answer.notes, &texts.collect::<Vec<_>>()));
    }
    let work = move |work: &Work| {
        let mut sections = Vec::with_capacity(subs.len());
        for sub in subs {
            sections.extend(found.section(work, sub)?.map(|section| (sub.name, section)));
        }
        Ok(found.page(work.visit, &answer.notes, &sections))
    };
    visit.work(work).await
}

/// The sub-resources that a record has, those of the dossier first, in its order. The links tell,
/// so that nothing is asked of what is empty.
fn held(bundle: &Bundle, source: &'static Source, id: &str) -> Result<Vec<&'static SubResource>> {
    let number = bundle.records().by_id(id).map(|(number, _)| number);
    let ord = number.and_then(|number| number.checked_sub(bundle.first_number(source)));
    let (Some(ord), false) = (ord, source.sub_resources.is_empty()) else { return Ok(Vec::new()) };
    let links = bundle.links()?;
    let is_held = |sub: &&SubResource| {
        !matches!(sub.kind, SubResourceKind::Toc) && links.count(source.key, sub.name, ord) > 0
    };
    let first = source.dossier.as_ref().map_or(&[][..], |dossier| dossier.sections);
    let place = |sub: &&SubResource| first.iter().position(|name| *name == sub.name);
    let mut subs: Vec<&'static SubResource> = source.sub_resources.iter().filter(is_held).collect();
    subs.sort_by_key(|sub| match sub.kind {
        // What the record says itself comes before everything about it.
        SubResourceKind::Body => 0,
        _ => place(sub).map_or(usize::MAX, |place| place + 1),
    });
    Ok(subs)
}

/// A sub-resource that the page shows: its name, and what it shows of it.
type Section = (&'static str, Markup);

/// The record of the page.
struct Found {
    source: &'static Source,
    record: Value,
    citation: Value,
    address: String,
}

impl Found {
    fn page(&self, visit: &Visit, said: &Notes, sections: &[Section]) -> Page {
        let Found { source, record, citation, address } = self;
        let id = record["id"].as_str().unwrap_or_default();
        let title = record[source.title].as_str().filter(|title| !title.is_empty()).unwrap_or(id);
        let body = html! {
            h1 { (title) }
            p .soft { (capital(source.singular)) " · " code { (id) } }
            (notes(said))
            (tracker::tracker(record))
            (vote::tally(record))
            (cite(citation))
            (facts(visit, source, record, sections))
            @for (_, section) in sections { (section) }
        };
        let page = Page::new(title, body).below("Sources", "/sources");
        let page = page.below(label(source.key), format!("/{}", source.key));
        let mut page = page.twin("JSON", format!("/v1{address}"));
        for (name, format) in [("BibTeX", "bibtex"), ("RIS", "ris"), ("CSL-JSON", "csl")] {
            page = page.twin(name, format!("/v1{address}?format={format}"));
        }
        match source.dossier {
            Some(_) => page.twin("Dossier as JSON", format!("/v1{address}/dossier")),
            None => page,
        }
    }

    /// What the page shows of a sub-resource.
    fn section(&self, work: &Work, sub: &'static SubResource) -> Result<Option<Markup>> {
        if matches!(sub.kind, SubResourceKind::Body) {
            return Ok(Some(text::entrance(self.source, &self.record)));
        }
        let path = format!("{}/{}", self.address, sub.name);
        let most = if sub.name == "positions" { vote::MOST_MEMBERS } else { SHOWN };
        let answer = match work.call_whole(&path, &Query::default(), most) {
            Ok(answer) => answer,
            // This bundle does not hold the source on the other side, or its rows.
            Err(error) if error.code == Code::RouteNotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let total = answer.total();
        let heading = html! {
            h2 #(sub.name) {
                a href=(path) { (label(sub.name)) } " "
                span .soft { "(" (number(total as i64)) ")" }
            }
        };
        if sub.name == "positions" {
            let members = vote::members(&work.visit.bundle, &answer);
            return Ok(Some(html! { section { (heading) (members) } }));
        }
        let chart = numbers_of(work, sub, &self.record, total);
        Ok(Some(html! {
            section {
                (heading)
                (chart)
                (items(work.visit, sub, &answer, for_people(sub.about).to_string(), None))
                @if total > SHOWN as u64 {
                    @let name = label(sub.name).to_lowercase();
                    p { a href=(path) { "All " (number(total as i64)) " " (name) } }
                }
            }
        }))
    }
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

/// How many of the records behind a sub-resource have which status, where they are many.
fn numbers_of(work: &Work, sub: &SubResource, record: &Value, total: u64) -> Markup {
    let SubResourceKind::Records { source: key, field } = sub.kind else { return html! {} };
    // A list of ids is looked through record by record: too slow for a side note.
    let has_status = |(source, _): &(&Source, _)| {
        source.field(field).is_some_and(|f| !f.kind.is_list())
            && source
                .fields
                .iter()
                .any(|f| f.name == "status" && f.group && f.kind == Kind::Keyword)
    };
    let is_many = total >= MANY && work.visit.bundle.source(key).as_ref().is_some_and(has_status);
    let id = record["id"].as_str().filter(|_| is_many);
    let Some(id) = id else { return html! {} };
    let query = Query::of(&[(field, &address::one_value(id)), ("group_by", "status")]);
    let path = format!("/{key}");
    match work.call(&path, &query) {
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
