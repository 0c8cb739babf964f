//! The frame of every page: head, search box, where one is, what the bundle says about itself.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets::{Asset, PAGE_SCRIPT, STYLE};
use crate::bundle::{Bundle, is_sample};

/// What a page is, without its frame.
#[derive(Default)]
pub struct Page {
    pub title: String,
    /// The pages above this one: name and address.
    pub trail: Vec<(String, String)>,
    /// The same as data: name and address.
    pub twins: Vec<(&'static str, String)>,
    /// What stands in the search box.
    pub question: String,
    pub body: PreEscaped<String>,
    pub script: Option<&'static Asset>,
    /// Whether the page brings a search box of its own.
    pub has_search: bool,
}

impl Page {
    pub fn new(title: impl Into<String>, body: Markup) -> Page {
        Page { title: title.into(), body, ..Page::default() }
    }

    pub fn below(mut self, name: impl Into<String>, address: impl Into<String>) -> Page {
        self.trail.push((name.into(), address.into()));
        self
    }

    pub fn twin(mut self, name: &'static str, address: impl Into<String>) -> Page {
        self.twins.push((name, address.into()));
        self
    }

    pub fn render(&self, bundle: &Bundle) -> String {
        let title = match self.title.as_str() {
            "Josh" => "Josh".to_string(),
            title => format!("{} · Josh", title.chars().take(120).collect::<String>()),
        };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href=(STYLE.path);
                    @for (name, address) in &self.twins {
                        @if *name == "Atom" {
                            link rel="alternate" type="application/atom+xml" title="Atom"
                                href=(address);
                        }
                    }
                    script defer src=(PAGE_SCRIPT.path) {}
                    @if let Some(script) = self.script { script defer src=(script.path) {} }
                }
                body {
                    a .skip href="#main" { "Skip to content" }
                    (self.header())
                    main #main {
                        (self.breadcrumbs())
                        (notices(bundle))
                        (self.body)
                    }
                    (footer(bundle, &self.twins))
                }
            }
        }
        .into_string()
    }

    fn header(&self) -> Markup {
        html! {
            header .top {
                a .brand href="/" { "Josh" }
                @if !self.has_search { (search_box(&self.question)) }
                nav aria-label="Site" {
                    a href="/sources" { "Sources" }
                    a href="/guides" { "Guides" }
                    a href="/docs" { "API" }
                    a href="/mcp" { "Agents" }
                }
            }
        }
    }

    fn breadcrumbs(&self) -> Markup {
        html! {
            @if !self.trail.is_empty() {
                nav .trail aria-label="Breadcrumb" {
                    ol {
                        li { a href="/" { "Home" } }
                        @for (name, address) in &self.trail { li { a href=(address) { (name) } } }
                    }
                }
            }
        }
    }
}

/// One box for words, names and citations.
pub fn search_box(question: &str) -> Markup {
    html! {
        form .find role="search" action="/search" {
            label .hidden for="q" { "Search" }
            input #q type="search" name="q" value=(question) required
                placeholder="drinking water, H.R. 1, Markey, 40 CFR 122.26";
            button { "Search" }
        }
    }
}

/// That it is the sample, and that its texts are summaries.
pub fn notices(bundle: &Bundle) -> Markup {
    let is_sample = is_sample(&bundle.path);
    let notice = bundle.manifest.notice.as_deref();
    html! {
        @if is_sample || notice.is_some() {
            div .notice role="note" {
                @if is_sample {
                    details {
                        summary {
                            strong { "This is the sample that is built into Josh" }
                            ": a few records of every source"
                            @if notice.is_some() { ", with summaries for texts" } "."
                        }
                        @if let Some(notice) = notice { p { (notice) } }
                        p {
                            "Serve your own bundle with " code { "josh serve --bundle FILE" } "."
                        }
                    }
                } @else if let Some(notice) = notice { p { (notice) } }
            }
        }
    }
}

fn footer(bundle: &Bundle, twins: &[(&'static str, String)]) -> Markup {
    let manifest = &bundle.manifest;
    html! {
        footer {
            @if !twins.is_empty() {
                p .twins {
                    "This page as data:"
                    @for (name, address) in twins { a href=(address) { (name) } }
                }
            }
            p {
                "Josh " (env!("CARGO_PKG_VERSION")) " · data up to " (manifest.as_of)
                " · bundle " code { (manifest.id) }
                @if manifest.signature.is_some() { " · signed" }
            }
        }
    }
}
