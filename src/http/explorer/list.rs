//! The records of a source: facets, filters, sorting, columns, pages. Names in a registry are
//! looked up by the same page.

use maud::{Markup, html};

use super::address::{Query, one_value};
use super::facets::{Facets, NOT_FILTERS};
use super::layout::Page;
use super::notes::notes;
use super::table::{Table, columns, offered};
use super::values::{label, number, word};
use super::visit::{Answer, Visit};
use crate::api::{Error, Result};
use crate::bundle::SourceFacts;
use crate::catalog::{Field, Kind, Shape, Source};

/// Facets of a list; each is one more count.
const FACETS: usize = 7;

/// Values of a field that a form lists; of more one types what one wants.
const MOST_CHOICES: usize = 80;

pub async fn page(visit: &Visit, key: &str) -> Result<Page> {
    let query = &visit.query;
    let mut asked = query.clone();
    let is_by_name = query.has("q");
    let known = visit.bundle.source(key);
    if let (Some((source, facts)), false) = (known, is_by_name) {
        asked = asked.or("facets", &facet_names(source, facts).join(","));
    }
    let answer = visit.call(&visit.path, &asked).await?;
    let (source, facts) = known.ok_or_else(|| Error::internal("a list without a source"))?;
    let columns = columns(source, facts, query);
    let sorted = Some((visit.path.as_str(), query)).filter(|_| !is_by_name);
    let total = answer.total();
    let caption = caption(source, &answer);
    let table =
        Table { bundle: &visit.bundle, caption, columns: &columns, source: Some(source), sorted };
    let facets = Facets { path: &visit.path, query, has_charts: true };
    let body = html! {
        h1 { (label(key)) }
        p .lead { (source.about) "." }
        div .sides {
            div {
                a .jump href="#narrow" { "Narrow the list" }
                (facets.chips())
                (filters(source, facts, visit))
                (notes(&answer.notes))
                @if total > 0 { (table.render(answer.items())) }
                (pages(visit, &answer))
            }
            aside #narrow aria-label="Narrow the list" {
                (find_box(source, query))
                (charts(source, facts, visit))
                (facets.render(answer.value.get("facets")))
            }
        }
    };
    let whole = query.without(&["cursor", "limit"]);
    let json = query.at(&format!("/v1{}", visit.path));
    let page = Page::new(label(key), body).below("Sources", "/sources").twin("JSON", json);
    let page = whole_twins(page, &visit.path, &whole);
    let page = record_twins(page, &visit.path, &query.without(&["cursor"]));
    Ok(page.twin("About these data", format!("/sources/{key}")))
}

/// The whole list in the other formats.
pub fn whole_twins(page: Page, path: &str, query: &Query) -> Page {
    let twin = |format: &str| query.with("format", format).at(&format!("/v1{path}"));
    page.twin("CSV", twin("csv")).twin("NDJSON", twin("ndjson"))
}

/// Records in the formats of feed readers and reference managers.
pub fn record_twins(mut page: Page, path: &str, query: &Query) -> Page {
    for (name, format) in [
        ("Atom", "atom"),
        ("BibTeX", "bibtex"),
        ("RIS", "ris"),
        ("CSL-JSON", "csl"),
        ("iCal", "ics"),
    ] {
        page = page.twin(name, query.with("format", format).at(&format!("/v1{path}")));
    }
    page
}

fn caption(source: &Source, answer: &Answer) -> String {
    let (shown, total) = (answer.items().len() as i64, answer.total() as i64);
    match shown == total {
        true => format!("{} {}", number(total), label(source.key)),
        false => format!("{} of {} {}", number(shown), number(total), label(source.key)),
    }
}

/// Fields to count beside the list: those with few values first, since they narrow best.
fn facet_names(source: &'static Source, facts: &SourceFacts) -> Vec<&'static str> {
    let all = offered(source, facts);
    let few = |f: &&Field| {
        let known = facts.fields.get(f.name);
        known.is_some_and(|known| known.values.is_some() || known.numbers.is_some())
            || f.kind == Kind::Bool
    };
    let groups = || all.iter().filter(|f| f.group);
    let years = source.main_date.filter(|_| !all.iter().any(|f| f.name == "year")).map(|_| "year");
    let ordered = groups().filter(few).chain(groups().filter(|f| !few(f)));
    years.into_iter().chain(ordered.map(|f| f.name)).take(FACETS).collect()
}

/// Words go to the search, names to the registry itself.
fn find_box(source: &Source, query: &Query) -> Markup {
    let is_registry = source.shape == Shape::Registry;
    let action = if is_registry { format!("/{}", source.key) } else { "/search".to_string() };
    let name = if is_registry { "Find by name" } else { "Search these texts" };
    html! {
        form .row role="search" action=(action) aria-label=(name) {
            div {
                label for="within" { (name) }
                input #within type="search" name="q" required
                    value=(query.get("q").unwrap_or_default());
            }
            @if !is_registry { input type="hidden" name="source" value=(source.key); }
            button { "Find" }
        }
    }
}

/// Links to the numbers behind the list.
fn charts(source: &'static Source, facts: &SourceFacts, visit: &Visit) -> Markup {
    let kept = visit.query.without(&["cursor", "sort", "fields", "limit", "facets", "q"]);
    let all = offered(source, facts);
    let time = all.iter().find(|f| f.time);
    let is_group = |name: &&str| all.iter().any(|f| f.group && f.name == *name);
    let groups = facet_names(source, facts).into_iter().filter(is_group);
    html! {
        p {
            "Charts: "
            @if let Some(field) = time {
                @let by = kept.with("bucket_by_time", field.name).with("time_interval", "month");
                a href=(by.at(&visit.path)) { "by month" } ", "
            }
            @for (at, name) in groups.take(3).enumerate() {
                @if at > 0 { ", " }
                a href=(kept.with("group_by", name).at(&visit.path))
                    { "by " (label(name).to_lowercase()) }
            }
        }
    }
}

/// Every field that can be filtered, as a form.
fn filters(source: &'static Source, facts: &SourceFacts, visit: &Visit) -> Markup {
    let query = &visit.query;
    let kept: Vec<(&str, &str)> = query
        .iter()
        .filter(|(name, _)| NOT_FILTERS.contains(name) && !["cursor", "facets"].contains(name))
        .collect();
    let is_shown = |f: &&Field| f.can_filter() && !["id", "source"].contains(&f.name);
    let fields = offered(source, facts);
    html! {
        details {
            summary { "All filters and columns" }
            form action=(visit.path) {
                @for (name, value) in &kept {
                    @if *name != "fields" { input type="hidden" name=(name) value=(value); }
                }
                div .filters {
                    @if source.main_date.is_some() {
                        @for name in ["since", "until"] {
                            (input(name, query, "2025-01-31, 2025-01 or 2025"))
                        }
                    }
                    @for field in fields.iter().filter(is_shown) {
                        (filter(field, facts, query))
                    }
                    div {
                        label for="f-fields" { "Columns" }
                        input #f-fields name="fields" placeholder="title,status"
                            value=(query.get("fields").unwrap_or_default());
                    }
                }
                button { "Apply" }
            }
            p .soft {
                "Commas separate alternatives. "
                a href=(format!("/sources/{}", source.key)) { "What the fields mean" }
            }
        }
    }
}

fn filter(field: &Field, facts: &SourceFacts, query: &Query) -> Markup {
    let values = facts.fields.get(field.name).and_then(|f| f.values.as_deref());
    let values = values.filter(|values| (1..=MOST_CHOICES).contains(&values.len()));
    let set = query.get(field.name).unwrap_or_default();
    let id = format!("f-{}", field.name);
    let select = |options: Vec<(String, String)>| {
        let is_known = set.is_empty() || options.iter().any(|(value, _)| value == set);
        html! {
            div {
                label for=(id) title=(field.about) { (label(field.name)) }
                select id=(id) name=(field.name) {
                    option value="" { "any" }
                    @if !is_known { option value=(set) selected { (set) } }
                    @for (value, shown) in &options {
                        option value=(value) selected[value == set] { (shown) }
                    }
                }
            }
        }
    };
    match (values, field.kind) {
        (Some(values), _) => select(values.iter().map(|v| (one_value(v), word(v))).collect()),
        (None, Kind::Bool) => {
            select([("true", "yes"), ("false", "no")].map(|(v, s)| (v.into(), s.into())).into())
        }
        _ => input(field.name, query, field.kind.name()),
    }
}

fn input(name: &str, query: &Query, example: &str) -> Markup {
    let id = format!("f-{name}");
    html! {
        div {
            label for=(id) { (label(name)) }
            input id=(id) name=(name) placeholder=(example)
                value=(query.get(name).unwrap_or_default());
        }
    }
}

/// Links to the first page and the next one.
pub fn pages(visit: &Visit, answer: &Answer) -> Markup {
    let next = answer.next_cursor();
    let query = &visit.query;
    html! {
        @if next.is_some() || query.has("cursor") {
            nav .pages aria-label="Pages" {
                @if query.has("cursor") {
                    a href=(query.without(&["cursor"]).at(&visit.path)) { "« First page" }
                }
                @if let Some(cursor) = next {
                    a rel="next" href=(query.with("cursor", cursor).at(&visit.path))
                        { "Next page »" }
                }
            }
        }
    }
}
