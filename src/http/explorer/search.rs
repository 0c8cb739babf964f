//! The search page: results with snippets, names that fit, facets, the mode.

use std::borrow::Cow;

use maud::{Markup, html};
use serde_json::Value;

use super::address::{self, Query};
use super::facets::Facets;
use super::layout::{Page, search_box};
use super::list::{pages, record_twins, whole_twins};
use super::notes::notes;
use super::values::{label, number, record_link, snippet};
use super::visit::{Visit, Work};
use crate::api::argument::LEAST_FIT;
use crate::api::{Result, UnknownWord};
use crate::catalog::{Shape, Source};

/// What is counted beside the results, where the searched sources have it.
const FACETS: [&str; 2] = ["source", "year"];
/// Fields that are counted as well once the search is narrowed to one source.
const MOST_FACETS: usize = 6;

/// Names worse than this are rather words of a text.
const GOOD_NAME: &str = "0.85";
const MOST_NAMES: usize = 5;

const MODES: [(&str, &str); 3] =
    [("hybrid", "words and meaning"), ("lexical", "words only"), ("semantic", "meaning only")];

pub async fn page(visit: &Visit) -> Result<Page> {
    let query = &visit.query;
    let Some(question) = query.get("q") else { return Ok(empty()) };
    let facets = facet_names(visit).join(",");
    let asked = query.or("facets", &facets);
    let (answer, names) = tokio::join!(visit.call(&visit.path, &asked), names(visit, question));
    let answer = answer?;
    let side = Facets { path: &visit.path, query, has_charts: false };
    let total = answer.total() as i64;
    let body = html! {
        h1 { "Search: " (question) }
        div .sides {
            div {
                a .jump href="#narrow" { "Narrow the search" }
                (side.chips())
                (names)
                (notes(&answer.notes))
                @if let Some(meant) = corrected(question, &answer.notes.unknown_words) {
                    @let asked = query.without(&["cursor"]).with("q", &meant);
                    p { "Search for " a href=(asked.at(&visit.path)) { (meant) } " instead" }
                }
                @let degraded = answer.value.get("degraded");
                @if let Some(reason) = degraded.and_then(|degraded| degraded["reason"].as_str()) {
                    p .soft { "By words alone: " (reason) }
                }
                @if total > 0 {
                    p .soft {
                        (number(total)) (if total == 1 { " result" } else { " results" })
                    }
                }
                ol .results data-walk { @for item in answer.items() { (result(visit, item)) } }
                (pages(visit, &answer))
            }
            aside #narrow aria-label="Narrow the search" {
                (modes(query))
                (side.render(answer.value.get("facets")))
            }
        }
    };
    let json = query.at(&format!("/v1{}", visit.path));
    let mut page = Page::new(format!("Search: {question}"), body).twin("JSON", json);
    page.question = question.to_string();
    let page = whole_twins(page, &visit.path, &query.without(&["cursor", "limit"]));
    Ok(record_twins(page, &visit.path, &query.without(&["cursor"])))
}

/// The question with the words that were meant, where one is known.
fn corrected(question: &str, unknown: &[UnknownWord]) -> Option<String> {
    let mut words: Vec<Cow<str>> = question.split(' ').map(Cow::Borrowed).collect();
    for UnknownWord { word, did_you_mean } in unknown {
        let Some(meant) = did_you_mean else { continue };
        for given in &mut words {
            let small = given.to_lowercase();
            if small.contains(word.as_str()) {
                *given = Cow::Owned(small.replace(word.as_str(), meant));
            }
        }
    }
    let is_changed = words.iter().any(|word| matches!(word, Cow::Owned(_)));
    is_changed.then(|| words.join(" "))
}

/// The page before anything was asked.
fn empty() -> Page {
    let body = html! {
        h1 { "Search" }
        div .hero { (search_box("")) }
        p .soft {
            "Words, " code { "\"exact phrases\"" } ", " code { "-without" } ", "
            code { "title:word" } ", a name, or a citation such as H.R. 1 or 40 CFR 122.26."
        }
    };
    Page { has_search: true, ..Page::new("Search", body) }
}

/// Once one source is chosen, its own fields.
fn facet_names(visit: &Visit) -> Vec<&'static str> {
    let mut names = FACETS.to_vec();
    let one = visit.query.get("source").and_then(|key| visit.bundle.source(key));
    if let Some((source, facts)) = one {
        let is_few = |name: &str| {
            let known = facts.fields.get(name);
            known.is_some_and(|known| known.values.is_some() || known.numbers.is_some())
        };
        let groups = source.fields.iter().filter(|f| f.group && facts.fields.contains_key(f.name));
        names.extend(groups.clone().filter(|f| is_few(f.name)).map(|f| f.name));
        names.extend(groups.filter(|f| !is_few(f.name)).map(|f| f.name));
        names.truncate(MOST_FACETS);
    }
    names
}

fn modes(query: &Query) -> Markup {
    let kept = query.without(&["mode", "cursor"]);
    html! {
        form .row action="/search" {
            @for (name, value) in kept.iter() { input type="hidden" name=(name) value=(value); }
            div {
                label for="mode" { "Search by" }
                select #mode name="mode" data-submit {
                    @for (mode, shown) in MODES {
                        option value=(mode) selected[query.get("mode").unwrap_or("hybrid") == mode]
                            { (shown) }
                    }
                }
            }
            button { "Change" }
        }
    }
}

/// Records of the registries whose names fit what was typed. They carry no text to search.
async fn names(visit: &Visit, question: &str) -> Markup {
    if visit.query.iter().any(|(name, _)| !["q", "mode", "facets"].contains(&name)) {
        return html! {};
    }
    let question = question.to_string();
    // A name that can't be looked up is no reason to show no results.
    let found = visit.work(move |work| Ok(fitting(work, &question))).await.unwrap_or_default();
    html! {
        @if !found.is_empty() {
            section aria-labelledby="names" {
                h2 #names { "Names" }
                ul {
                    @for (_, key, id) in found.iter().take(MOST_NAMES) {
                        li {
                            (record_link(&visit.bundle, key, id)) " "
                            span .soft { (label(key)) " · " (id) }
                        }
                    }
                }
            }
        }
    }
}

/// Score, source and id of the records whose names fit well, the best first.
fn fitting(work: &Work, question: &str) -> Vec<(f64, &'static str, String)> {
    let mut found = Vec::new();
    // Of other registries the titles are sentences, which share words with any question.
    let is_of_names = |s: &Source| s.shape == Shape::Registry && s.title == "name";
    let registries = work.visit.bundle.sources().filter(|(s, _)| is_of_names(s));
    for (source, _) in registries {
        let asked = Query::of(&[("q", question), ("limit", "3"), ("fields", "id")]);
        let path = format!("/{}", source.key);
        let Ok(answer) = work.call_with(&path, &asked, LEAST_FIT, GOOD_NAME) else { continue };
        for item in answer.items() {
            let score = item["match"]["score"].as_f64().unwrap_or_default();
            let id = item["id"].as_str().unwrap_or_default();
            found.push((score, source.key, id.to_string()));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}

fn result(visit: &Visit, item: &Value) -> Markup {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    let (id, source) = (text("id"), text("source"));
    let title = if text("title").is_empty() { id } else { text("title") };
    let has_text = visit.bundle.source(source).is_some_and(|(source, _)| {
        source.sub_resource("body").is_some() && !text("section").is_empty()
    });
    html! {
        li {
            h2 { a href=(address::record(source, id)) { (title) } }
            p .meta {
                a href=(format!("/{source}")) { (label(source)) } " · " (id)
                @if !text("date").is_empty() {
                    " · " time datetime=(text("date")) { (text("date")) }
                }
                @if has_text {
                    @let body = format!("{}/body", address::record(source, id));
                    " · "
                    @let section = address::one_value(text("section"));
                    a href=(Query::of(&[("section", &section)]).at(&body))
                        { "section " (text("section")) }
                }
            }
            p { (snippet(text("snippet"))) }
        }
    }
}
