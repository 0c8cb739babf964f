//! The guides that agents read, as pages: `/guides` and `/guides/NAME`. They are the texts among
//! the resources of the capabilities that this server offers.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, Options, Parser};

use super::layout::Page;
use super::visit::Visit;
use crate::api::{Code, Error, Resource, Result};

const TEXTS: [&str; 2] = ["text/markdown", "text/plain"];

/// A guide's name is the end of its address.
fn name(guide: &Resource) -> &str {
    guide.uri.rsplit('/').next().unwrap_or_default()
}

pub fn all(visit: &Visit) -> Page {
    let guides = guides(visit);
    let body = html! {
        h1 { "Guides" }
        p { "How to ask this server. Agents read the same with get_guide." }
        ul {
            @for guide in &guides {
                li { a href=(format!("/guides/{}", name(guide))) { (guide.title) } }
            }
        }
    };
    Page::new("Guides", body)
}

pub fn one(visit: &Visit, asked: &str) -> Result<Page> {
    let guides = guides(visit);
    let known = guides.iter().find(|guide| name(guide) == asked);
    let text = known.and_then(|guide| Some((guide, visit.resource(&guide.uri)?)));
    let (guide, text) = text.ok_or_else(|| {
        let error = Error::new(Code::RouteNotFound, format!("There is no guide {asked:?}."));
        error.suggest(asked, guides.iter().map(name))
    })?;
    let body = match guide.mime {
        "text/markdown" => rendered(&text),
        _ => html! { h1 { (guide.title) } pre { (text) } },
    };
    Ok(Page::new(guide.title.as_str(), body).below("Guides", "/guides"))
}

fn guides(visit: &Visit) -> Vec<Resource> {
    let mut guides = visit.resources();
    guides.retain(|resource| TEXTS.contains(&resource.mime));
    guides
}

/// Markdown as HTML. HTML inside it is shown as text.
fn rendered(markdown: &str) -> Markup {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        event => event,
    });
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    PreEscaped(out)
}
