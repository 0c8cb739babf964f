//! Parameters of REST paths, for OpenAPI and the docs: the same names that `query` and `search`
//! accept.

use serde_json::{Value, json};

use super::query::{
    AGGREGATE_PARAMETERS, DEFAULT_LIMIT, Interval, LEAST_TEXT, Listing, MOST_ITEMS, MOST_TEXT, Op,
    aggregates, facet_fields,
};
use crate::api::{EndpointParameter, Place};
use crate::bundle::Bundle;
use crate::catalog::{Field, Source};

pub fn path_parameter(name: &str, schema: Value, about: &str) -> EndpointParameter {
    let (name, about) = (name.to_string(), about.to_string());
    let (place, required, is_filter) = (Place::Path, true, false);
    EndpointParameter { name, place, required, is_filter, schema, about }
}

pub fn query_parameter(name: &str, schema: Value, about: &str) -> EndpointParameter {
    let (name, about) = (name.to_string(), about.to_string());
    let (place, required, is_filter) = (Place::Query, false, false);
    EndpointParameter { name, place, required, is_filter, schema, about }
}

fn filter_parameter(name: &str, schema: Value, about: &str) -> EndpointParameter {
    EndpointParameter { is_filter: true, ..query_parameter(name, schema, about) }
}

pub fn text() -> Value {
    json!({ "type": "string" })
}

/// The id of a record of this source, with an example that the bundle holds.
pub fn id_parameter(bundle: &Bundle, source: &Source) -> EndpointParameter {
    let first = bundle.records().by_number(bundle.first_number(source));
    let example = first.map_or("", |entry| entry.id);
    path_parameter("id", json!({ "type": "string", "examples": [example] }), source.ids.form)
}

pub fn fields_parameter() -> EndpointParameter {
    query_parameter("fields", text(), "Fields to show, separated by commas")
}

/// `facets`, with these fields to choose from.
pub fn facets_parameter(fields: Vec<&str>) -> EndpointParameter {
    let schema = json!({ "type": "string", "examples": fields });
    query_parameter("facets", schema, "Fields whose values are counted over the whole list")
}

pub fn page_parameters() -> Vec<EndpointParameter> {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": MOST_ITEMS, "default": DEFAULT_LIMIT,
    });
    vec![
        query_parameter("limit", limit, "Items per page"),
        query_parameter("cursor", text(), "next_cursor of the page before"),
    ]
}

/// Every parameter of a list. `format` is added by the surface.
pub fn list_parameters(listing: &Listing) -> Vec<EndpointParameter> {
    let sortable = listing.columns_with(Field::can_sort).into_iter();
    let sorts: Vec<String> =
        sortable.flat_map(|name| [name.to_string(), format!("-{name}")]).collect();
    let mut out = page_parameters();
    let sort = json!({ "type": "string", "enum": sorts });
    out.push(query_parameter("sort", sort, "A field; prefix - for descending"));
    out.push(fields_parameter());
    out.push(facets_parameter(facet_fields(listing)));
    if listing.is_text() {
        let bytes = json!({ "type": "integer", "minimum": LEAST_TEXT, "maximum": MOST_TEXT });
        let about = "Bytes of text per page; a longer text begins with its `contents`";
        out.push(query_parameter("max_bytes", bytes, about));
        let about = "Only sections that have these words, with the sentences around them";
        out.push(query_parameter("find", text(), about));
    }
    out.extend(filter_parameters(listing));
    out
}

/// A parameter for each field that can be filtered, and for each comparison of it.
pub fn filter_parameters(listing: &Listing) -> Vec<EndpointParameter> {
    let mut out = Vec::new();
    if let Some(date) = listing.main_date {
        let since = format!("{date} on or after: 2025-01-31, 2025-01 or 2025");
        out.push(filter_parameter("since", text(), &since));
        out.push(filter_parameter("until", text(), &format!("{date} on or before")));
    }
    for column in listing.columns.iter().filter(|c| c.can_filter()) {
        let mut schema = text();
        if let Some(values) = listing.values(column.name) {
            schema["examples"] = json!(values);
        }
        let about = format!("{}. Commas separate alternatives", column.about);
        out.push(filter_parameter(column.name, schema, &about));
        if column.can_compare() {
            for (suffix, _) in Op::SUFFIXES {
                let name = format!("{}.{suffix}", column.name);
                let about = format!("{} compared: .{suffix}", column.name);
                out.push(filter_parameter(&name, text(), &about));
            }
        }
    }
    out
}

/// Parameters that ask for numbers about a list.
pub fn aggregate_parameters(listing: &Listing, has_text: bool) -> Vec<EndpointParameter> {
    let choice = |names: Vec<&'static str>| json!({ "type": "string", "enum": names });
    let describe = |name: &'static str| match name {
        "aggregate" => (choice(aggregates(listing)), "Numbers instead of records"),
        "group_by" => {
            let groups = listing.columns_with(|f| f.group);
            (json!({ "type": "string", "examples": groups }), "One field to group by, or two")
        }
        "sum_field" => (choice(listing.columns_with(|f| f.sum)), "Field to sum"),
        "bucket_by_time" => (choice(listing.columns_with(|f| f.time)), "Date to bucket by"),
        _ => {
            let mut schema = choice(Interval::NAMES.map(|(name, _)| name).to_vec());
            schema["default"] = json!("month");
            (schema, "Width of a bucket")
        }
    };
    let mut out: Vec<EndpointParameter> = AGGREGATE_PARAMETERS
        .into_iter()
        .map(|name| {
            let (schema, about) = describe(name);
            query_parameter(name, schema, about)
        })
        .collect();
    if has_text {
        let about = "With `aggregate`: only records whose texts have all of these words";
        out.push(query_parameter("q", text(), about));
    }
    out
}
