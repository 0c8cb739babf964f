//! Any record with its text, as agents and ChatGPT's retrieval fetch it.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::outcome::cell;
use crate::api::{
    Arguments, Context, Cost, Error, Kind, Notes, Operation, Outcome, Parameter, Result, Scope,
    Tool,
};
use crate::catalog::SubResourceKind;
use crate::catalog::spec::{TEXT_STATUS, TextStatus};
use crate::policy::parameters::DETAIL;
use crate::policy::query::{ListRequest, Listing, MOST_ITEMS, page};
use crate::policy::record::{self, FoundRecord};
use crate::policy::result::{DocumentHead, DocumentResult, RecordParts};
use crate::policy::schemas;

/// Bytes of a text that come with its record.
const TEXT_BYTES: usize = 40_000;

/// Longer fields are not metadata.
const LONGEST_METADATA: usize = 200;

pub const OPERATION: Operation = Operation {
    name: "fetch_document",
    title: "Fetch a record with its text",
    about: "Any record by its id, with its text",
    route: None,
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Query,
    cost_with: None,
    is_list: false,
    endpoints: |_| Vec::new(),
    tools: &[Tool {
        name: "fetch",
        title: "Fetch any record by id",
        is_offered: |_| true,
        about: |_| {
            "Any record by any id, among them those that search returned, with its text, from any \
             source. `text` is the document, `data` the whole record, `url` its official page. \
             Bills, members and committees have tools of their own."
                .into()
        },
        examples: &[
            "Executive Order 14008",
            "FR doc 2024-01234, whole",
            "CRS report R47892",
            "40 CFR 122.26",
        ],
        fixed: &[],
        arguments: &[
            &[Parameter::required(
                "id",
                Kind::Id("hr:119:1"),
                "Id as returned by another tool, a citation, or an official address",
            )
            .sets("{id}")],
            &[Parameter::optional(
                "find",
                Kind::Text,
                "Only sections of the text with these words, and the sentences around them",
            )],
            DETAIL,
        ],
        output: |_| schemas::document(),
    }],
    run,
};

fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let found = record::fetch(&context.bundle, &arguments.require("{id}")?)?;
    let find = arguments.take_one("find")?;
    arguments.finish(&["find"])?;
    let fields: Map<String, Value> =
        serde_json::from_str(found.entry.data).map_err(Error::internal)?;
    let field = |name: &str| fields.get(name).map(cell).unwrap_or_default();
    let mut metadata = Map::new();
    for column in found.source.columns().iter().filter(|f| f.can_filter() && f.name != "id") {
        let value = field(column.name);
        if !value.is_empty() && value.len() <= LONGEST_METADATA {
            metadata.insert(column.name.into(), value.into());
        }
    }
    let text = match body(context, &found, find)? {
        text if text.is_empty() => listed(&fields),
        text => match TextStatus::named(&field(TEXT_STATUS.name)) {
            Some(status) => format!("[{}]\n\n{text}", status.note),
            None => text,
        },
    };
    let head = DocumentHead {
        id: found.entry.id.to_string(),
        title: field(found.source.title),
        text,
        url: field("url"),
        metadata,
    };
    let record = RecordParts::new(context.bundle.clone(), &found);
    let notes = Notes { resolved: found.resolved(), ..Notes::default() };
    Ok(Outcome::new(DocumentResult { head, record }).with(notes))
}

/// The beginning of the record's text, or the places where words are found in it; empty where it
/// has none.
fn body(context: &Context, found: &FoundRecord, find: Option<String>) -> Result<String> {
    let source = found.source;
    let sub = source.sub_resources.iter().find(|sub| matches!(sub.kind, SubResourceKind::Body));
    let listing =
        sub.and_then(|sub| Some((sub, Listing::of_sub_resource(&context.bundle, source, sub)?)));
    let Some((sub, listing)) = listing else { return Ok(String::new()) };
    let listing = listing.under(source, sub, found.number, found.entry.id)?;
    let request = ListRequest::read(Arguments::default(), &listing, &[])?;
    let (limit, max_bytes) = (Some(MOST_ITEMS), Some(TEXT_BYTES));
    let request = ListRequest { limit, max_bytes, find: find.clone(), ..request };
    let (page, _) = page(context, &listing, &request)?;
    let mut text = String::new();
    if let (Some(find), []) = (find, page.items.as_slice()) {
        return Ok(format!("[No section of the text has all of these words: {find}]"));
    }
    for item in &page.items {
        let section: Value = serde_json::from_str(item).map_err(Error::internal)?;
        for part in ["heading", "text"] {
            if let Some(part) = section[part].as_str().filter(|part| !part.is_empty()) {
                text.push_str(part);
                text.push_str("\n\n");
            }
        }
        for place in section["found"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            text.push_str(&format!("… {place} …\n\n"));
        }
    }
    if page.next_cursor.is_some() {
        text.push_str(&format!(
            "[{} of {} sections; the rest: /v1/{}/{}/body]",
            page.items.len(),
            page.total,
            source.key,
            found.entry.id
        ));
    }
    Ok(text.trim_end().to_string())
}

/// The fields of a record without a text, one per line.
fn listed(fields: &Map<String, Value>) -> String {
    let line = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        format!("{name}: {value}\n")
    };
    let lines: String = fields.iter().filter(|(_, value)| !value.is_null()).map(line).collect();
    lines.trim_end().to_string()
}
