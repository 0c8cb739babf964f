//! The text of a record: contents beside it, a link to every section, and a badge where a section
//! amends another law.

use maud::{Markup, html};
use serde_json::Value;

use super::address::{self, Query};
use super::layout::Page;
use super::list::whole_twins;
use super::notes::{notes, plain};
use super::values::{label, title_of};
use super::visit::Visit;
use crate::api::{Code, Result};
use crate::catalog::Source;
use crate::catalog::spec::TextStatus;

/// Sections of the contents; the longest laws have some 2,000.
const MOST_HEADINGS: usize = 3_000;

/// Bytes of text on one page: a long law goes on to the next.
const PAGE_BYTES: &str = "120000";

/// What leads into the text from the page of a record that has one.
pub fn entrance(source: &Source, record: &Value) -> Markup {
    let path = format!("{}/body", address::record(source.key, text(record, "id")));
    html! {
        section {
            h2 #body { a href=(path) { "Text" } }
            (find(&path, &Query::default()))
            p { a href=(path) { "Read the text" } " with its contents" }
            (version_links(&path, &versions(record), ""))
        }
    }
}

/// The versions of a record's text: only bills have several.
fn versions(record: &Value) -> Vec<&str> {
    record["text_versions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn text<'a>(item: &'a Value, name: &str) -> &'a str {
    item[name].as_str().unwrap_or_default()
}

/// A heading as a link to its section alone.
fn heading_link(path: &str, item: &Value) -> Markup {
    let (section, heading) = (text(item, "section"), last_heading(text(item, "heading")));
    let shown = match (section, heading) {
        ("", "") => "Beginning".to_string(),
        ("", heading) => heading.to_string(),
        (section, "") => section.to_string(),
        (section, heading) if heading.contains(section) => heading.to_string(),
        (section, heading) => format!("{section}. {heading}"),
    };
    let mut query = Query::of(&[("version", text(item, "version"))]);
    if !section.is_empty() {
        query = query.with("section", &address::one_value(section));
    }
    html! {
        a href=(query.at(path)) { (shown) }
        @if item["is_amendatory"] == true { " " span .badge { "amends" } }
    }
}

/// The heading itself, without those above it.
fn last_heading(heading: &str) -> &str {
    heading.rsplit(" > ").next().unwrap_or(heading).trim()
}

/// The reader. `toc` is the same page: its contents lead into the text.
pub async fn page(visit: &Visit, key: &str) -> Result<Page> {
    let parent = visit.path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let found = visit.call(parent, &Query::of(&[("fields", "id,text_versions")])).await;
    let found = match found {
        // Only bills have versions to choose from.
        Err(error) if error.code == Code::InvalidParameter => {
            visit.call(parent, &Query::of(&[("fields", "id")])).await?
        }
        other => other?,
    };
    let data = found.value.get("data").cloned().unwrap_or_default();
    let id = text(&data, "id");
    let record = address::record(key, id);
    let path = format!("{record}/body");
    let query = &visit.query;
    let answer = visit.call_whole(&path, &query.or("max_bytes", PAGE_BYTES), MOST_HEADINGS).await?;
    let version = query.get("version").map(|version| Query::of(&[("version", version)]));
    let (version, contents) = (version.unwrap_or_default(), format!("{record}/toc"));
    let toc = visit.call_whole(&contents, &version, MOST_HEADINGS).await?;
    let title = title_of(&visit.bundle, id).unwrap_or_else(|| id.to_string());
    let shown = toc.items().first().map(|item| text(item, "version")).unwrap_or_default();
    let is_part = query.has("section") || query.has("find");
    let body = html! {
        h1 { "Text: " (title) }
        (notes(&answer.notes))
        div .sides {
            aside {
                (find(&path, query))
                (version_links(&path, &versions(&data), shown))
                nav .toc aria-label="Contents" {
                    strong { "Contents" }
                    ol {
                        @for item in toc.items() {
                            @let level = item["level"].as_i64().unwrap_or(1).clamp(1, 4);
                            li class=(format!("l{level}"))
                                { (heading_link(&path, item)) }
                        }
                    }
                }
            }
            article .reader {
                @if is_part {
                    @let whole = query.without(&["section", "find", "cursor"]).at(&path);
                    p { a href=(whole) { "The whole text" } }
                }
                (status(answer.items()))
                @for item in answer.items() { (section(&path, item)) }
                @if let Some(cursor) = answer.next_cursor() {
                    nav .pages aria-label="Pages" {
                        a rel="next" href=(query.with("cursor", cursor).at(&path))
                            { "The text goes on »" }
                    }
                }
            }
        }
    };
    let page = Page::new(format!("Text: {title}"), body).below("Sources", "/sources");
    let page = page.below(label(key), format!("/{key}")).below(id, record);
    let page = page.twin("JSON", query.at(&format!("/v1{path}")));
    Ok(whole_twins(page, &path, &query.without(&["cursor", "limit"])))
}

fn find(path: &str, query: &Query) -> Markup {
    html! {
        form .row role="search" action=(path) aria-label="Find in this text" {
            @if let Some(version) = query.get("version") {
                input type="hidden" name="version" value=(version);
            }
            div {
                label for="find" { "Find in this text" }
                input #find type="search" name="find" value=(query.get("find").unwrap_or_default());
            }
            button { "Find" }
        }
    }
}

fn version_links(path: &str, versions: &[&str], shown: &str) -> Markup {
    html! {
        @if versions.len() > 1 {
            p {
                "Versions: "
                @for version in versions {
                    a href=(Query::of(&[("version", version)]).at(path))
                        aria-current=[(*version == shown).then_some("page")] { (version) } " "
                }
            }
        }
    }
}

/// That these are not the official words to the character.
fn status(items: &[Value]) -> Markup {
    let status = items.first().and_then(|item| TextStatus::named(text(item, "text_status")));
    html! { @if let Some(status) = status { p .notice role="note" { (status.note) } } }
}

fn section(path: &str, item: &Value) -> Markup {
    let (name, heading) = (text(item, "section"), text(item, "heading"));
    let anchor = anchor(name);
    let query = Query::of(&[("version", text(item, "version"))]);
    let query = query.with("section", &address::one_value(name));
    html! {
        section id=[(!name.is_empty()).then_some(&anchor)] {
            @if !heading.is_empty() || !name.is_empty() {
                h2 {
                    @if !name.is_empty() && !heading.contains(name) { (name) " " }
                    (heading) " "
                    @if !name.is_empty() {
                        a .anchor href=(query.at(path))
                            aria-label=(format!("Link to section {name}")) { "§" }
                    }
                }
            }
            @if item["is_amendatory"] == true {
                p {
                    span .badge.warn { "Amends another law" } " "
                    span .soft {
                        @if !plain(&item["amends"]).is_empty() { (plain(&item["amends"])) ". " }
                        "What it strikes or inserts is not the law as it stands."
                    }
                }
            }
            @if let Some(found) = item["found"].as_array() {
                @for place in found.iter().filter_map(Value::as_str) { p { "… " (place) " …" } }
            } @else {
                div .text { (text(item, "text")) }
            }
        }
    }
}

/// A section's label as the name of a place on the page.
fn anchor(section: &str) -> String {
    let letters = section.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    format!("s{}", letters.collect::<String>())
}
