//! Errors as pages: the same code, message and hints as REST, with links where they help.

use maud::{Markup, html};
use serde_json::Value;

use super::address::encode;
use super::layout::{Page, search_box};
use super::notes::plain;
use super::values::label;
use crate::api::{Code, Error};

/// The page of an error at this path.
pub fn page(error: &Error, path: &str, request_id: &str) -> Page {
    let title = match error.code {
        Code::RouteNotFound | Code::RecordNotFound | Code::UnknownSource => "Not found",
        Code::UnrecognizedIdFormat => "Not an ID",
        Code::InvalidParameter | Code::InvalidCursor => "Not understood",
        Code::Unauthorized => "A key is needed",
        Code::InsufficientScope => "Not allowed",
        Code::RateLimited | Code::Overloaded => "Too busy",
        _ => "Something went wrong",
    };
    let next = error.hint.get("next").and_then(Value::as_str).unwrap_or(error.code.about());
    let body = html! {
        h1 { (title) }
        p .lead { (error.message) }
        p { (next) }
        @if error.code == Code::Unauthorized {
            p { "In a browser: " a href="/login" { "sign in with a key" } "." }
        }
        (near(error, path))
        (hints(error))
        div .hero { (search_box("")) }
        p .soft {
            "Error " code { (error.code.as_str()) } " · request " code { (request_id) }
        }
    };
    Page { has_search: true, ..Page::new(title, body) }
}

/// What was probably meant, as a link where it is a part of the path.
fn near(error: &Error, path: &str) -> Markup {
    let Some(meant) = error.hint.get("did_you_mean").and_then(Value::as_str) else {
        return html! {};
    };
    let is_page = matches!(error.code, Code::UnknownSource | Code::RouteNotFound);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let address = match error.code {
        Code::RouteNotFound if meant.starts_with('/') => meant.to_string(),
        Code::RouteNotFound => format!("{folder}/{}", encode(meant)),
        _ => format!("/{}", encode(meant)),
    };
    html! {
        p {
            "Did you mean "
            @if is_page { a href=(address) { (meant) } } @else { strong { (meant) } }
            "?"
        }
    }
}

/// The other hints, each in a line.
fn hints(error: &Error) -> Markup {
    const SAID: [&str; 4] = ["next", "did_you_mean", "use_tool", "retry_after_seconds"];
    let others = error.hint.iter().filter(|(name, _)| !SAID.contains(&name.as_str()));
    html! {
        @for (name, value) in others {
            @match (name.as_str(), value.as_str(), value.as_array()) {
                ("list" | "use" | "example", Some(address), _) if address.starts_with("/v1/") => {
                    @let page = &address[3..];
                    p { a href=(page) { (page) } }
                }
                ("valid_prefixes", _, Some(forms)) => {
                    div .scroll tabindex="0" role="region" aria-label="IDs by source" {
                        table {
                            caption { "IDs by source" }
                            thead {
                                tr { th scope="col" { "Source" } th scope="col" { "Example" } }
                            }
                            tbody {
                                @for form in forms {
                                    @let source = form["source"].as_str().unwrap_or_default();
                                    tr {
                                        td { a href=(format!("/{source}")) { (label(source)) } }
                                        @let example = form["example"].as_str();
                                        td { code { (example.unwrap_or_default()) } }
                                    }
                                }
                            }
                        }
                    }
                }
                _ => p { (label(name)) ": " (plain(value)) },
            }
        }
    }
}
