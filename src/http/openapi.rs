//! `/openapi.json`, made from the operations, the catalog and the open bundle: a source that the bundle does not hold is
//! not in it.

use serde_json::{Map, Value, json};

use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::ids::FORMS;
use crate::catalog::{Field, Kind, Source, Sub, SubKind};
use crate::dossier;
use crate::error::Code;
use crate::query::{DEFAULT_LIMIT, Format, INTERVALS, LEAST_TEXT, MOST_ITEMS, MOST_TEXT, Op, Table};
use crate::search::Mode;
use crate::service::{OPERATIONS, describe_sub};

/// The whole document.
pub fn document(bundle: &Bundle) -> Value {
    let mut paths = Map::new();
    let mut schemas = fixed_schemas();
    for operation in OPERATIONS {
        match operation.name {
            "list_sources" => {
                insert(&mut paths, operation.route, get(operation.name, operation.about, vec![], "Value", false))
            }
            "get_source" => {
                let keys: Vec<&str> = bundle.sources().map(|(s, _)| s.key).collect();
                let source =
                    path_parameter("source", json!({ "type": "string", "enum": keys }), "A source of this bundle");
                insert(&mut paths, operation.route, get(operation.name, operation.about, vec![source], "Value", false));
            }
            "search" => insert(&mut paths, operation.route, search_item(bundle, operation.name, operation.about)),
            "fetch" => {
                let schema = json!({ "type": "string", "examples": FORMS.iter().map(|f| f.2).collect::<Vec<_>>() });
                let id = path_parameter("id", schema, "An id of any source, however it is written; encode it");
                let parameters = vec![id, query_parameter("fields", json!({ "type": "string" }), "Fields to show")];
                insert(&mut paths, operation.route, get(operation.name, operation.about, parameters, "Record", false));
            }
            _ => {}
        }
    }
    for (source, facts) in bundle.sources() {
        schemas.insert(schema_name(source), record_schema(source, facts));
        add_source(&mut paths, bundle, source, facts);
    }
    for (path, name, about) in [
        ("/livez", "livez", "Whether the process runs"),
        ("/readyz", "readyz", "Whether it can answer"),
        ("/health", "health", "Version and bundle"),
        ("/openapi.json", "openapi", "This document"),
    ] {
        let plain =
            json!({ "description": "OK", "content": { "application/json": { "schema": { "type": "object" } } } });
        insert(
            &mut paths,
            path,
            json!({ "get": { "operationId": name, "summary": about, "responses": { "200": plain } } }),
        );
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Josh",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "United States federal policy data from one bundle file. Read-only; every record is cited.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": { "schemas": schemas, "responses": { "Error": {
            "description": "An error; `code` is one of those listed in the schema",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
        } }, "securitySchemes": { "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key or a token with the scope josh:read, where the server asks for one",
        } } },
        "security": [{}, { "bearer": [] }],
    })
}

fn insert(paths: &mut Map<String, Value>, path: &str, item: Value) {
    paths.insert(path.to_string(), item);
}

fn add_source(paths: &mut Map<String, Value>, bundle: &Bundle, source: &'static Source, facts: &SourceFacts) {
    let (key, slug) = (source.key, source.table());
    let table = Table::of_source(bundle, source, facts);
    let list = get(
        &format!("list_{slug}"),
        source.about,
        list_parameters(&table),
        &format!("{}List", schema_name(source)),
        true,
    );
    let mut list = list;
    let schema = &mut list["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    *schema = json!({ "anyOf": [schema.clone(), { "$ref": "#/components/schemas/Numbers" }] });
    insert(paths, &format!("/v1/{key}"), list);

    let form = FORMS.iter().find(|f| f.0 == key).map_or("", |f| f.1);
    let example = bundle.records().by_number(bundle.first_number(source)).map_or("", |entry| entry.id);
    let id = || path_parameter("id", json!({ "type": "string", "examples": [example] }), form);
    let about = format!("One {} with its citation", source.one);
    let fields = query_parameter("fields", json!({ "type": "string" }), "Fields to show");
    insert(
        paths,
        &format!("/v1/{key}/{{id}}"),
        get(&format!("get_{slug}"), &about, vec![id(), fields], schema_name(source).as_str(), false),
    );

    if dossier::sections(key).is_some() {
        let mut parameters = vec![id()];
        if dossier::takes_congress(key) {
            parameters.push(query_parameter(
                "congress",
                json!({ "type": "integer" }),
                "Only what belongs to this congress",
            ));
        }
        let about = format!("Everything about a {}: the record and the first items of each section", source.one);
        let mut item = get(&format!("get_{slug}_dossier"), &about, parameters, schema_name(source).as_str(), false);
        let schema = &mut item["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        schema["required"] = json!(["data", "citation", "sections", "meta"]);
        schema["properties"]["sections"] = json!({
            "type": "object",
            "additionalProperties": { "$ref": "#/components/schemas/DossierSection" },
        });
        insert(paths, &format!("/v1/{key}/{{id}}/dossier"), item);
    }

    for sub in source.subs.iter().filter(|s| describe_sub(bundle, source, s).is_some()) {
        let Some(table) = Table::of_sub(bundle, source, sub) else { continue };
        let mut parameters = vec![id()];
        parameters.extend(list_parameters(&table));
        let name = format!("list_{slug}_{}", sub.name.replace('-', "_"));
        let item = get(&name, sub.about, parameters, &sub_schema(sub), true);
        insert(paths, &format!("/v1/{key}/{{id}}/{}", sub.name), item);
    }
}

fn get(name: &str, about: &str, parameters: Vec<Value>, schema: &str, list: bool) -> Value {
    let schema = match schema.strip_suffix("List") {
        Some(item) if list => json!({
            "type": "object",
            "required": ["data", "total", "next_cursor", "meta"],
            "properties": {
                "data": { "type": "array", "items": { "$ref": format!("#/components/schemas/{item}") } },
                "total": { "type": "integer" },
                "next_cursor": { "type": ["string", "null"] },
                "meta": { "$ref": "#/components/schemas/Meta" },
            },
        }),
        _ if schema == "Value" => json!({
            "type": "object",
            "required": ["data", "meta"],
            "properties": { "data": {}, "meta": { "$ref": "#/components/schemas/Meta" } },
        }),
        _ => json!({
            "type": "object",
            "required": ["data", "citation", "meta"],
            "properties": {
                "data": { "$ref": format!("#/components/schemas/{schema}") },
                "citation": { "$ref": "#/components/schemas/Citation" },
                "meta": { "$ref": "#/components/schemas/Meta" },
            },
        }),
    };
    let mut content = json!({ "application/json": { "schema": schema } });
    if list {
        content["text/csv"] = json!({ "schema": { "type": "string" } });
        content["application/x-ndjson"] = json!({ "schema": { "type": "string" } });
    }
    json!({ "get": {
        "operationId": name,
        "summary": about,
        "parameters": parameters,
        "responses": {
            "200": { "description": "OK", "content": content },
            "304": { "description": "The client's copy (If-None-Match) still holds" },
            "default": { "$ref": "#/components/responses/Error" },
        },
    } })
}

/// Search takes the filters of every source that it searches.
fn search_item(bundle: &Bundle, name: &str, about: &str) -> Value {
    let searched: Vec<_> = bundle.sources().filter(|(s, _)| s.shape.has_body()).collect();
    let keys: Vec<&str> = searched.iter().map(|(s, _)| s.key).collect();
    let text = || json!({ "type": "string" });
    let mut question = query_parameter(
        "q",
        json!({ "type": "string", "examples": ["drinking water"] }),
        "Words, \"phrases\", -without, title:word",
    );
    question["required"] = json!(true);
    let mut parameters = vec![
        question,
        query_parameter(
            "mode",
            json!({ "type": "string", "enum": Mode::NAMES.map(|(name, _)| name) }),
            "hybrid by default",
        ),
        query_parameter(
            "source",
            json!({ "type": "string", "examples": keys }),
            "Sources to search, separated by commas",
        ),
        query_parameter("since", text(), "Main date on or after"),
        query_parameter("until", text(), "Main date on or before"),
    ];
    for (source, facts) in searched {
        for parameter in list_parameters(&Table::of_source(bundle, source, facts)) {
            let known = parameters.iter().any(|p| p["name"] == parameter["name"]);
            let of_lists = ["sort", "fields", "format"].iter().any(|n| parameter["name"] == *n);
            if !known && !of_lists {
                parameters.push(parameter);
            }
        }
    }
    let mut item = get(name, about, parameters, "Value", false);
    item["get"]["responses"]["200"]["content"]["application/json"]["schema"] = json!({
        "type": "object",
        "required": ["results", "total", "took_ms", "meta"],
        "properties": {
            "results": { "type": "array", "items": { "$ref": "#/components/schemas/SearchResult" } },
            "total": { "type": "integer" },
            "took_ms": { "type": "integer" },
            "next_cursor": { "type": "string" },
            "degraded": { "type": "object" },
            "meta": { "$ref": "#/components/schemas/Meta" },
        },
    });
    item
}

fn path_parameter(name: &str, schema: Value, about: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": schema, "description": about })
}

fn query_parameter(name: &str, schema: Value, about: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": schema, "description": about })
}

/// Every parameter that the list takes: the same names that `query` accepts.
fn list_parameters(table: &Table) -> Vec<Value> {
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": MOST_ITEMS, "default": DEFAULT_LIMIT });
    let sorts: Vec<String> = table
        .columns
        .iter()
        .filter(|c| c.can_sort())
        .flat_map(|c| [c.name.to_string(), format!("-{}", c.name)])
        .collect();
    let mut out = vec![
        query_parameter("limit", limit, "Items on a page"),
        query_parameter("cursor", json!({ "type": "string" }), "next_cursor of the page before"),
        query_parameter("sort", json!({ "type": "string", "enum": sorts }), "A field, with - for descending"),
        query_parameter("fields", json!({ "type": "string" }), "Fields to show, separated by commas"),
        query_parameter("format", json!({ "type": "string", "enum": Format::NAMES.map(|f| f.0) }), "json by default"),
    ];
    if table.is_text() {
        let bytes = json!({ "type": "integer", "minimum": LEAST_TEXT, "maximum": MOST_TEXT });
        out.push(query_parameter(
            "max_bytes",
            bytes,
            "Bytes of text on a page; a longer text begins with its `contents`",
        ));
    }
    let plan =
        |allows: fn(&Field) -> bool| table.columns.iter().filter(|f| allows(f)).map(|f| f.name).collect::<Vec<_>>();
    for name in table.number_parameters() {
        let (schema, about) = match name {
            "aggregate" => (json!({ "type": "string", "enum": ["count", "sum"] }), "Numbers instead of records"),
            "group_by" => (json!({ "type": "string", "examples": plan(|f| f.group) }), "One field to group by, or two"),
            "sum_field" => (json!({ "type": "string", "enum": plan(|f| f.sum) }), "Field to sum"),
            "bucket_by_time" => (json!({ "type": "string", "enum": plan(|f| f.time) }), "Date to bucket by"),
            "time_interval" => {
                (json!({ "type": "string", "enum": INTERVALS.map(|i| i.0), "default": "month" }), "Width of a bucket")
            }
            _ if table.has_text => {
                (json!({ "type": "string" }), "With `aggregate`: only records whose texts have all of these words")
            }
            _ => (json!({ "type": "string" }), "A name, as people type it: ranked records with `match`"),
        };
        out.push(query_parameter(name, schema, about));
    }
    if let Some(date) = table.main_date {
        let schema = json!({ "type": "string" });
        out.push(query_parameter("since", schema.clone(), &format!("{date} on or after: 2025-01-31, 2025-01 or 2025")));
        out.push(query_parameter("until", schema, &format!("{date} on or before")));
    }
    for column in table.columns.iter().filter(|c| c.can_filter()) {
        let about = format!("{}. Several values, separated by commas, mean any of them", column.about);
        let mut schema = json!({ "type": "string" });
        if let Some(values) = table.values(column.name) {
            schema["examples"] = json!(values);
        }
        out.push(query_parameter(column.name, schema, &about));
        if matches!(column.kind, Kind::Int | Kind::Date) {
            for (suffix, _) in Op::SUFFIXES {
                let name = format!("{}.{suffix}", column.name);
                out.push(query_parameter(
                    &name,
                    json!({ "type": "string" }),
                    &format!("{} compared: .{suffix}", column.name),
                ));
            }
        }
    }
    out
}

fn schema_name(source: &Source) -> String {
    source.key.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// The schema of a sub-resource's items: another source's records, or rows described in place.
fn sub_schema(sub: &Sub) -> String {
    match sub.kind {
        SubKind::Records { source, .. } => {
            crate::catalog::source(source).map_or("RowList".into(), |s| schema_name(s) + "List")
        }
        _ => "RowList".into(),
    }
}

fn record_schema(source: &Source, facts: &SourceFacts) -> Value {
    let columns: Vec<Field> = source.columns().into_iter().filter(|f| facts.fields.contains_key(f.name)).collect();
    let properties: Map<String, Value> = columns.iter().map(|f| (f.name.to_string(), field_schema(f))).collect();
    json!({ "type": "object", "description": source.about, "properties": properties, "required": ["id"] })
}

fn field_schema(field: &Field) -> Value {
    let mut schema = match field.kind {
        Kind::Text | Kind::Keyword | Kind::Id(_) => json!({ "type": ["string", "null"] }),
        Kind::Keywords | Kind::Ids(_) => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        Kind::Int => json!({ "type": ["integer", "null"] }),
        Kind::Bool => json!({ "type": ["boolean", "null"] }),
        Kind::Date => json!({ "type": ["string", "null"], "format": "date" }),
    };
    schema["description"] = json!(field.about);
    schema
}

fn fixed_schemas() -> Map<String, Value> {
    let codes: Vec<&str> = Code::ALL.iter().map(|c| c.as_str()).collect();
    let listed: Vec<String> =
        Code::ALL.iter().map(|c| format!("{} ({}): {}", c.as_str(), c.status(), c.about())).collect();
    let schemas = json!({
        "Record": { "type": "object", "description": "A record of any source", "required": ["id"] },
        "Row": { "type": "object", "description": "A row of a sub-resource; GET /v1/sources/{source} lists its fields" },
        "Numbers": { "type": "object", "description": "With `aggregate`: one value, or buckets, largest first or in the order of time", "required": ["query_cost", "meta"], "properties": {
            "value": { "type": "integer" },
            "buckets": { "type": "array", "items": { "type": "object", "required": ["key", "label", "value"], "properties": {
                "key": { "description": "The group's value or the interval's first day; a pair where there are two dimensions" },
                "label": { "description": "The key as people write it: a name beside an id" },
                "value": { "type": "integer" },
            } } },
            "total_buckets": { "type": "integer" },
            "other": { "type": "object", "description": "What the buckets that are not shown come to" },
            "query_cost": { "type": "object", "properties": { "rows": { "type": "integer" }, "ms": { "type": "integer" } } },
            "meta": { "$ref": "#/components/schemas/Meta" },
        } },
        "DossierSection": { "type": "object", "required": ["total", "items", "truncated", "more_url"], "properties": {
            "total": { "type": "integer" },
            "items": { "type": "array", "items": { "type": "object" } },
            "truncated": { "type": "boolean" },
            "more_url": { "type": ["string", "null"], "description": "The list of all items" },
            "unavailable": { "type": "string", "description": "Why this bundle can't have any" },
        } },
        "SearchResult": { "type": "object", "required": ["id", "source", "title", "url", "snippet", "score", "ranks", "citation"], "properties": {
            "id": { "type": "string" },
            "source": { "type": "string" },
            "title": { "type": ["string", "null"] },
            "url": { "type": "string", "format": "uri" },
            "date": { "type": ["string", "null"], "format": "date" },
            "snippet": { "type": "string", "description": "HTML: the best passage, matches in <mark>, everything else escaped" },
            "section": { "type": "string", "description": "Section of the text that the passage is from; goes into body?section=" },
            "heading": { "type": "string" },
            "score": { "type": "number", "description": "BM25, cosine or sum of reciprocal ranks, as the mode is" },
            "ranks": { "type": "object", "properties": { "lexical": { "type": ["integer", "null"] }, "semantic": { "type": ["integer", "null"] } } },
            "citation": { "$ref": "#/components/schemas/Citation" },
        } },
        "Citation": { "type": "object", "required": ["text", "url", "as_of", "source"], "properties": {
            "text": { "type": "string", "description": "How a person would cite it" },
            "url": { "type": "string", "format": "uri", "description": "The official page" },
            "as_of": { "type": "string", "format": "date" },
            "source": { "type": "string", "description": "Who publishes it" },
        } },
        "Meta": { "type": "object", "required": ["request_id", "bundle", "took_ms"], "properties": {
            "request_id": { "type": "string" },
            "bundle": { "type": "object", "properties": { "id": { "type": "string" }, "as_of": { "type": "string" } } },
            "took_ms": { "type": "integer" },
            "resolved": { "type": "object", "description": "How the id was asked for, and the one it was read as" },
            "empty": { "type": "object", "description": "Why a list is empty" },
        } },
        "Error": { "type": "object", "required": ["error"], "properties": { "error": {
            "type": "object",
            "required": ["type", "code", "message", "request_id", "retryable"],
            "properties": {
                "type": { "type": "string" },
                "code": { "type": "string", "enum": codes, "description": listed.join("\n") },
                "message": { "type": "string" },
                "request_id": { "type": "string" },
                "retryable": { "type": "boolean" },
                "field": { "type": "string" },
                "hint": { "type": "object" },
            },
        } } },
    });
    match schemas {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
}
