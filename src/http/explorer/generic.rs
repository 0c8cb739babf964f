//! The page of an operation that has none of its own: what it gave back, as nested lists. A new
//! capability can be read here before anybody draws a page for it.

use maud::{Markup, html};
use serde_json::Value;

use super::layout::Page;
use super::notes::notes;
use super::values::{is_web, label, official};
use super::visit::Visit;
use crate::api::{Operation, Result};

pub async fn page(visit: &Visit, operation: &Operation) -> Result<Page> {
    let answer = visit.call(&visit.path, &visit.query).await?;
    let body = html! {
        h1 { (operation.title) }
        p .lead { (operation.about) "." }
        (notes(&answer.notes))
        dl .facts {
            @for (name, value) in &answer.value {
                div { dt { (label(name)) } dd { (tree(value)) } }
            }
        }
    };
    let json = visit.query.at(&format!("/v1{}", visit.path));
    Ok(Page::new(operation.title, body).twin("JSON", json))
}

fn tree(value: &Value) -> Markup {
    match value {
        Value::Null => html! { span .soft { "none" } },
        Value::String(text) if is_web(text) => official(text),
        Value::String(text) => html! { (text) },
        Value::Array(items) => html! { ul { @for item in items { li { (tree(item)) } } } },
        Value::Object(fields) => html! {
            dl .facts {
                @for (name, value) in fields {
                    div { dt { (label(name)) } dd { (tree(value)) } }
                }
            }
        },
        other => html! { (other.to_string()) },
    }
}
