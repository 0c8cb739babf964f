//! The lists of the Bank's manual as results: databases, parameters, messages.

use serde_json::{Value, json};

use crate::boj::Failure;
use crate::boj::catalog::{
    DATABASES, FREQUENCIES, MESSAGES, MOST_CODES, MOST_SERIES, MOST_VALUES, PARAMETERS,
    SOURCE_DATE, SOURCE_DOCUMENT,
};

/// Endpoints as the tools name them, and as the Bank does.
pub const ENDPOINTS: &[(&str, &str)] = &[
    ("all", "all"),
    ("get_data_code", "getDataCode"),
    ("get_data_layer", "getDataLayer"),
    ("get_metadata", "getMetadata"),
];

pub fn databases() -> Value {
    let databases: Vec<Value> = DATABASES
        .iter()
        .map(|database| {
            json!({
                "code": database.code,
                "category_ja": database.category.0,
                "category_en": database.category.1,
                "name_ja": database.name.0,
                "name_en": database.name.1,
            })
        })
        .collect();
    json!({
        "source_document": SOURCE_DOCUMENT,
        "source_date": SOURCE_DATE,
        "count": databases.len(),
        "databases": databases,
    })
}

/// The parameters of an endpoint, named either way.
pub fn parameters(endpoint: &str) -> Result<Value, Failure> {
    let is_meant = |(tool, bank): &&(&str, &str)| {
        tool.eq_ignore_ascii_case(endpoint) || bank.eq_ignore_ascii_case(endpoint)
    };
    let Some(at) = ENDPOINTS.iter().position(|pair| is_meant(&pair)) else {
        let names: Vec<&str> = ENDPOINTS.iter().map(|(name, _)| *name).collect();
        let shown: String = endpoint.chars().take(40).collect();
        let message = format!("endpoint: takes one of {}; got {shown:?}", names.join(", "));
        return Err(Failure::invalid(message));
    };
    let has_layers = at == 0 || ENDPOINTS[at].0 == "get_data_layer";
    let is_shown = |needs: &[&str; 3]| at == 0 || needs[at - 1] != "unsupported";
    let rows: Vec<Value> = PARAMETERS
        .iter()
        .filter(|row| is_shown(&row.needs))
        .map(|row| {
            json!({
                "name": row.name,
                "description_ja": row.about,
                "allowed_values": row.values,
                "requirements": {
                    "code_api": row.needs[0],
                    "layer_api": row.needs[1],
                    "metadata_api": row.needs[2],
                },
                "notes": row.notes,
            })
        })
        .collect();
    let frequencies: Vec<&str> = match has_layers {
        true => FREQUENCIES.iter().map(|(code, _)| *code).collect(),
        false => Vec::new(),
    };
    let rules: &[&str] = match has_layers {
        true => &["1 to 5 layers, the first is needed", "* stands for any", "Numbers from 1"],
        false => &[],
    };
    Ok(json!({
        "source_document": SOURCE_DOCUMENT,
        "source_date": SOURCE_DATE,
        "endpoint_scope": ENDPOINTS[at].1,
        "general_notes": [
            "Values must not contain < > \" ! | \\ ; ' or full-width characters.",
            "Names and values of parameters may be in any case; the order is free.",
        ],
        "format_codes": ["JSON", "CSV"],
        "language_codes": ["JP", "EN"],
        "mcp_format_codes": ["json", "csv"],
        "mcp_language_codes": ["jp", "en"],
        "frequency_codes": frequencies,
        "layer_rules": rules,
        "parameters": rows,
        "limits": limits(),
    }))
}

fn limits() -> Value {
    json!([
        {
            "api_scope": "getDataLayer",
            "target": "series below the layer condition, before the frequency",
            "max_value": MOST_CODES,
            "overflow_behavior": "error, no data",
        },
        {
            "api_scope": "getDataCode, getDataLayer",
            "target": "series in one answer",
            "max_value": MOST_SERIES,
            "overflow_behavior": "the first ones and NEXTPOSITION",
        },
        {
            "api_scope": "getDataCode, getDataLayer",
            "target": "values in one answer, missing ones included",
            "max_value": MOST_VALUES,
            "overflow_behavior": "whole series up to there and NEXTPOSITION",
        },
    ])
}

pub fn messages(status: Option<i64>) -> Value {
    let is_meant = |wanted: i64| status.is_none_or(|status| status == wanted);
    let messages: Vec<Value> = MESSAGES
        .iter()
        .filter(|message| is_meant(message.status))
        .map(|message| {
            let note = ["M181013E", "M181014E"]
                .contains(&message.id)
                .then_some("Names the place of the code in the request");
            json!({
                "status": message.status,
                "message_id": message.id,
                "message": message.japanese,
                "message_en": message.english,
                "note": note,
            })
        })
        .collect();
    json!({
        "source_document": SOURCE_DOCUMENT,
        "source_date": SOURCE_DATE,
        "status_filter": status,
        "count": messages.len(),
        "messages": messages,
    })
}
