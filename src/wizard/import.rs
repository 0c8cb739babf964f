//! Files of FederalRunner, a structure and a schema, as one wizard file. What they say in prose, or
//! not at all, becomes a `TODO`, which `check` refuses: every option of a choice but the one that
//! was seen, the list of a typeahead, and how the form ends.

use serde_json::{Map, Value, json};

use super::file::VERSION;
use super::schema::DRAFT;

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The wizard file as far as it can be written.
pub fn import(structure: &Value, schema: &Value) -> Result<Value, String> {
    let id = structure["wizard_id"].as_str().ok_or("the structure has no wizard_id")?;
    let url = structure["url"].as_str().ok_or("the structure has no url")?;
    let pages = structure["pages"].as_array().ok_or("the structure has no pages")?;
    let properties = schema["properties"].as_object().ok_or("the schema has no properties")?;
    let mut example = Map::new();
    let mut described = Vec::new();
    for page in pages {
        described.push(import_page(page, properties, &mut example));
    }
    let start: Vec<Value> = structure.get("start_action").map(press).into_iter().collect();
    let discovered: String = text(&structure["discovered_at"]).chars().take(10).collect();
    let provenance = json!({ "status": "described", "recorded_on": discovered,
                             "from": "FederalRunner", "note": "Imported, not tried." });
    let name = text(&structure["name"]);
    let mut file = draft(id, &name, url, provenance, schema, described, example);
    file["start"] = json!(start);
    Ok(file)
}

/// A wizard file with these pages, and with what no other program's file says still to be written.
pub fn draft(
    id: &str,
    name: &str,
    url: &str,
    provenance: Value,
    schema: &Value,
    pages: Vec<Value>,
    example: Map<String, Value>,
) -> Value {
    let mut contract = schema.clone();
    contract["$schema"] = json!(DRAFT);
    contract["additionalProperties"] = json!(false);
    json!({
        "josh_wizard": VERSION, "wizard_id": id, "wizard_name": name,
        "agency": "TODO the agency", "url": url, "hosts": [host_and_path(url).0], "seconds": 30,
        "provenance": provenance,
        "effect": "TODO what a run does in the world",
        "schema": contract, "pages": pages,
        "outcomes": [{ "id": "result", "about": "TODO how it ends",
                       "at": { "has": ["TODO what the result shows"] },
                       "results": { "result": { "find": ["TODO the result"], "as": "text" } } }],
        "examples": [{ "user_data": example, "outcome": "result" }],
    })
}

/// The host and the path of an address.
pub fn host_and_path(url: &str) -> (String, String) {
    let rest = url.split("://").nth(1).unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = path.split(['?', '#']).next().unwrap_or_default();
    (host.to_string(), format!("/{path}"))
}

fn import_page(
    page: &Value,
    properties: &Map<String, Value>,
    example: &mut Map<String, Value>,
) -> Value {
    let fields = page["fields"].as_array().map(Vec::as_slice).unwrap_or_default();
    let described: Vec<Value> =
        fields.iter().map(|field| import_field(field, properties, example)).collect();
    let path = page["url_pattern"].as_str().filter(|url| url.contains("://"));
    let path = path.map(|url| host_and_path(url).1);
    let first = fields.first().map(|field| text(&field["selector"]));
    let mut at = json!({ "has": [first.unwrap_or_else(|| "TODO what the page shows".into())] });
    if let Some(path) = path {
        at["path"] = json!(path);
    }
    json!({
        "id": format!("page-{}", text(&page["page_number"])), "title": text(&page["page_title"]),
        "at": at, "fields": described, "next": press(&page["continue_button"]),
        "errors": page["validation"]["error_selector"].as_str().into_iter().collect::<Vec<_>>(),
    })
}

fn import_field(
    field: &Value,
    properties: &Map<String, Value>,
    example: &mut Map<String, Value>,
) -> Value {
    let name = text(&field["field_id"]);
    let property = properties.get(&name).cloned().unwrap_or_default();
    let value = match (property["type"].as_str(), &field["example_value"]) {
        (Some("number" | "integer"), Value::String(text)) => {
            text.parse::<f64>().map_or(json!(text), |number| json!(number))
        }
        (Some("boolean"), Value::String(text)) => json!(text == "true" || text == "checked"),
        (_, value) => value.clone(),
    };
    if !value.is_null() {
        example.insert(name.clone(), value.clone());
    }
    let selector = text(&field["selector"]);
    let kind = field["field_type"].as_str().unwrap_or_default();
    let find: Vec<String> = std::iter::once(selector.clone())
        .chain(field["selector_alternatives"].as_array().into_iter().flatten().map(text))
        .collect();
    let mut described = match (kind, property["type"].as_str(), property["enum"].as_array()) {
        (_, Some("boolean"), _) => json!({ "field": name, "do": "check", "find": find }),
        ("group", ..) | (_, Some("array"), _) => {
            let add = field["add_button_selector"].as_str().unwrap_or("TODO the button that adds");
            json!({ "field": name, "do": "repeat", "add": { "find": [add] },
                    "item": "TODO one row", "parts": [] })
        }
        ("typeahead" | "search", ..) => json!({
            "field": name, "do": "typeahead", "find": find, "list": ["TODO the list of options"],
        }),
        ("select", _, Some(_)) => json!({ "field": name, "do": "choose", "find": find }),
        (_, _, Some(values)) => {
            let notes = text(&field["notes"]);
            let option = |one: &Value| {
                let todo = format!("TODO {} ({notes})", text(one)).chars().take(250).collect();
                let find = if *one == value { selector.clone() } else { todo };
                (text(one), json!({ "find": [find] }))
            };
            let options: Map<String, Value> = values.iter().map(option).collect();
            json!({ "field": name, "do": "choose", "options": options })
        }
        _ => json!({ "field": name, "do": "fill", "find": find }),
    };
    // Where the schema does not say the same, `check` asks which of them is right.
    if field["required"] == false {
        described["optional"] = json!(true);
    }
    described
}

/// A button by its text, id or selector.
fn press(button: &Value) -> Value {
    let selector = text(&button["selector"]);
    let find = match button["selector_type"].as_str().unwrap_or("css") {
        _ if selector.is_empty() => "TODO the button".to_string(),
        "text" => format!("role=button[{selector}]"),
        "id" => format!("#{}", selector.trim_start_matches('#')),
        _ => selector,
    };
    json!({ "find": [find] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wizard::library::checked;

    /// Given a structure and a schema in FederalRunner's shape, when they are imported, then the
    /// file is refused until every option is named, and then it is fine.
    #[test]
    fn an_imported_file_is_refused_until_every_option_is_named() {
        let structure = json!({
            "wizard_id": "x-estimator", "name": "X", "url": "https://x.gov/",
            "discovered_at": "2025-10-20T12:00:00", "discovery_version": "1.0.0", "total_pages": 1,
            "start_action": { "selector": "Start", "selector_type": "text" },
            "pages": [{ "page_number": 1, "page_title": "You", "url_pattern": "https://x.gov/you",
                "fields": [
                    { "label": "Month", "field_id": "birth_month", "selector": "#m",
                      "field_type": "number", "interaction": "fill", "example_value": "05" },
                    { "label": "Status", "field_id": "status", "selector": "#s1",
                      "field_type": "radio", "interaction": "javascript_click",
                      "example_value": "single", "notes": "Options: single #s1, married #s2" } ],
                "continue_button": { "text": "Go", "selector": "next", "selector_type": "id" } }],
        });
        let schema = json!({ "type": "object", "required": ["birth_month", "status"],
            "properties": {
                "birth_month": { "type": "string", "description": "Month" },
                "status": { "type": "string", "enum": ["single", "married"],
                            "description": "Status" } } });
        let mut file = import(&structure, &schema).unwrap();
        let refused = checked(&file.to_string()).unwrap_err();
        assert!(refused.contains("option married: is still to be written"), "{refused}");
        file["pages"][0]["fields"][1]["options"]["married"]["find"] = json!(["#s2"]);
        let refused = checked(&file.to_string()).unwrap_err();
        assert!(!refused.contains("married") && refused.contains("outcome"), "{refused}");
        file["outcomes"][0]["at"]["has"] = json!(["#result"]);
        file["agency"] = json!("X");
        file["effect"] = json!("An estimate.");
        file["outcomes"][0]["results"]["result"]["find"] = json!(["#result"]);
        let wizard = checked(&file.to_string()).unwrap();
        assert_eq!(wizard.pages[0].next.find, ["#next"]);
        assert_eq!(wizard.start[0].find, ["role=button[Start]"]);
        // A field that the structure requires and the schema does not: one of them is wrong.
        file["schema"]["required"] = json!(["birth_month"]);
        let refused = checked(&file.to_string()).unwrap_err();
        assert!(refused.contains("status: the schema does not require it"), "{refused}");
        assert!(import(&json!({}), &schema).is_err() && import(&structure, &json!({})).is_err());
    }
}
