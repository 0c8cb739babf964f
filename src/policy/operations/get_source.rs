//! One source: its fields, filters, aggregation plan and sub-resources.

use serde_json::{Value, json};

use super::list_sources::summary;
use crate::api::{Cost, Endpoint, Operation, Outcome, Result, Scope};
use crate::bundle::Bundle;
use crate::catalog::{Field, Kind, Source, SubResource, SubResourceKind};
use crate::policy::endpoints::path_parameter;
use crate::policy::query::Listing;
use crate::policy::record::require_source;
use crate::policy::{advertised, coverage, schemas};

pub const OPERATION: Operation = Operation {
    name: "get_source",
    title: "Describe a source",
    about: "One source: fields, filters, sorts, aggregation plan, sub-resources",
    route: Some("/v1/sources/{source}"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |bundle| {
        let keys = json!({ "type": "string", "enum": advertised::sources(bundle) });
        vec![Endpoint {
            path: "/v1/sources/{source}".into(),
            id: "get_source".into(),
            summary: "One source: fields, filters, sorts, aggregation plan, sub-resources".into(),
            parameters: vec![path_parameter("source", keys, "A source of this bundle")],
            output: schemas::value(json!({ "type": "object" })),
        }]
    },
    tools: &[],
    run: |mut arguments, context| {
        let described = describe(&context.bundle, &arguments.require("{source}")?)?;
        arguments.finish(&[])?;
        Ok(Outcome::typed(json!({ "data": described })))
    },
};

pub fn describe(bundle: &Bundle, key: &str) -> Result<Value> {
    let (source, facts) = require_source(bundle, key)?;
    let listing = Listing::of_source(bundle, source, facts);
    let mut out = summary(source, facts);
    out["coverage"] = coverage::details(source, facts);
    let columns = listing.columns.iter();
    out["fields"] = columns.map(|f| describe_field(f, listing.values(f.name))).collect();
    out["aggregation"] = json!({
        "group_by": listing.columns_with(|f| f.group),
        "sum": listing.columns_with(|f| f.sum),
        "bucket_by_time": listing.columns_with(|f| f.time),
    });
    let subs = source.sub_resources.iter();
    out["sub_resources"] = subs.filter_map(|sub| describe_sub(bundle, source, sub)).collect();
    out["publisher"] = json!(facts.publisher);
    out["licence"] = json!(facts.licence);
    Ok(out)
}

fn describe_field(field: &Field, values: Option<&[String]>) -> Value {
    let mut out = json!({
        "name": field.name,
        "type": field.kind.name(),
        "filter": field.can_filter(),
        "sort": field.can_sort(),
        "group": field.group,
        "sum": field.sum,
        "time": field.time,
        "about": field.about,
    });
    if let Some(target) = field.kind.target() {
        out["ids_of"] = json!(target);
    }
    if let (Kind::Keyword | Kind::Keywords, Some(values)) = (field.kind, values) {
        out["values"] = json!(values);
    }
    out
}

/// A sub-resource as this bundle offers it.
fn describe_sub(bundle: &Bundle, source: &'static Source, sub: &SubResource) -> Option<Value> {
    let listing = Listing::of_sub_resource(bundle, source, sub)?;
    let (records_of, fields) = match sub.kind {
        SubResourceKind::Records { source, .. } => (json!(source), Value::Null),
        _ => {
            let columns = listing.columns.iter();
            (Value::Null, columns.map(|f| describe_field(f, None)).collect())
        }
    };
    let (name, about) = (sub.name, sub.about);
    Some(json!({ "name": name, "about": about, "records_of": records_of, "fields": fields }))
}
