//! Everything about one thing in one answer: the record, and the first items of its sub-resources,
//! each with the address of the rest.

use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::query::{ListRequest, Listing, page};
use super::record::FoundRecord;
use super::result::RecordParts;
use super::schemas::Citation;
use super::understand;
use crate::api::outcome::append;
use crate::api::{Arguments, Code, Context, Error, Notes, Outcome, Output, Result};
use crate::bundle::Bundle;
use crate::catalog::spec::DossierSpec;
use crate::catalog::{SOURCES, Source, SubResource, SubResourceKind};

/// Items shown of a section.
const SHOWN: usize = 5;

/// Larger answers fill an agent's memory with one call.
const MOST_BYTES: usize = 60_000;

/// A dossier: `{"data", "citation", "sections"}`.
pub struct Dossier {
    record: RecordParts,
    sections: Vec<Section>,
}

/// One sub-resource of the record.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DossierSection")]
pub struct Section {
    #[serde(skip)]
    name: &'static str,
    pub total: u64,
    /// The first items
    #[schemars(with = "Vec<Map<String, Value>>")]
    items: Vec<Box<RawValue>>,
    truncated: bool,
    /// The list of all items
    more_url: Option<String>,
    /// The same list as the call of a tool
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    more_call: Option<Value>,
    /// Why this bundle can't have any
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    unavailable: Option<String>,
}

/// The JSON of a dossier, for its schema.
#[derive(JsonSchema)]
#[schemars(rename = "Dossier")]
#[expect(dead_code, reason = "described for its schema, written as prepared parts")]
pub struct DossierShape {
    pub data: Map<String, Value>,
    pub citation: Citation,
    pub sections: std::collections::BTreeMap<String, Section>,
}

impl Section {
    fn bytes(&self) -> usize {
        self.items.iter().map(|item| item.get().len()).sum()
    }
}

impl Output for Dossier {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        out.push(b'{');
        self.record.write_members(out);
        out.extend_from_slice(",\"sections\":{".as_bytes());
        for (at, section) in self.sections.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b",\"" } else { b"\"" });
            out.extend_from_slice(section.name.as_bytes());
            out.extend_from_slice("\":".as_bytes());
            append(out, section)?;
        }
        out.extend_from_slice("}}".as_bytes());
        Ok(())
    }
}

/// The sections that this bundle can fill.
pub fn available_sections(bundle: &Bundle, source: &'static Source) -> Vec<&'static str> {
    let is_available = |name: &&str| {
        let sub = source.sub_resource(name);
        sub.is_some_and(|sub| Listing::of_sub_resource(bundle, source, sub).is_some())
    };
    let sections = source.dossier.as_ref().map_or(&[][..], |dossier| dossier.sections);
    sections.iter().copied().filter(is_available).collect()
}

/// Gathers a dossier. Blocks: call it on a blocking thread.
pub fn gather(
    context: &Arc<Context>,
    source: &'static Source,
    id: &str,
    mut arguments: Arguments,
) -> Result<Outcome> {
    let Some(DossierSpec { sections, takes_congress }) = source.dossier else {
        let message = format!("There is no dossier of a {}.", source.singular);
        let has_dossier = SOURCES.iter().filter(|source| source.dossier.is_some());
        let valid: Vec<&str> = has_dossier.map(|source| source.key).collect();
        return Err(Error::new(Code::RouteNotFound, message).hint("valid", valid));
    };
    let congress = if takes_congress { take_congress(&mut arguments)? } else { None };
    arguments.finish(if takes_congress { &["congress"] } else { &[] })?;
    let found = understand::record(context, source, id)?;
    let gather = |name: &&'static str| section(context, source, &found, name, congress);
    let gathered: Vec<Result<Section>> = match congress {
        // All of it is prepared: a thread would take longer to start.
        None => sections.iter().map(gather).collect(),
        Some(_) => std::thread::scope(|scope| {
            let start = |name| {
                let thread = std::thread::Builder::new();
                thread.spawn_scoped(scope, move || gather(name)).map_err(|_| name)
            };
            let running: Vec<_> = sections.iter().map(start).collect();
            let failed = |_| Err(Error::internal("a section of a dossier failed"));
            let finish = |section: Result<ScopedJoinHandle<_>, _>| match section {
                Ok(running) => running.join().unwrap_or_else(failed),
                // No thread to spare.
                Err(name) => gather(name),
            };
            running.into_iter().map(finish).collect()
        }),
    };
    let mut sections = gathered.into_iter().collect::<Result<Vec<_>>>()?;
    fit(&mut sections, MOST_BYTES.saturating_sub(found.entry.data.len()));
    context.bundle.ensure_intact()?;
    let notes = Notes { resolved: found.resolved(), ..Notes::default() };
    let record = RecordParts::new(context.bundle.clone(), &found);
    Ok(Outcome::new(Dossier { record, sections }).with(notes))
}

fn take_congress(arguments: &mut Arguments) -> Result<Option<u16>> {
    let Some(given) = arguments.take_one("congress")? else { return Ok(None) };
    given.trim().parse().map(Some).map_err(|_| {
        Error::invalid("congress", format!("`congress` must be an integer; got {given:?}."))
    })
}

fn section(
    context: &Context,
    source: &'static Source,
    found: &FoundRecord,
    name: &'static str,
    congress: Option<u16>,
) -> Result<Section> {
    context.check()?;
    let missing = || Error::internal(format!("no sub-resource {name}"));
    let sub = source.sub_resource(name).ok_or_else(missing)?;
    let Some(listing) = Listing::of_sub_resource(&context.bundle, source, sub) else {
        let reason = match sub.kind {
            SubResourceKind::Records { source: other, .. } => {
                format!("This bundle holds no {other}.")
            }
            _ => format!("This bundle holds no {name} of {}.", source.key),
        };
        let unavailable = Some(reason);
        return Ok(Section {
            name,
            total: 0,
            items: Vec::new(),
            truncated: false,
            more_url: None,
            more_call: None,
            unavailable,
        });
    };
    let id = found.entry.id;
    let listing = listing.under(source, sub, found.number, id)?;
    let mut arguments = Arguments::default();
    let encoded = percent_encoding::utf8_percent_encode(id, ID);
    let mut url = format!("/v1/{}/{encoded}/{name}", source.key);
    let congress = congress.filter(|_| listing.column("congress").is_some());
    if let Some(congress) = congress {
        arguments.push_one("congress", congress.to_string());
        url.push_str(&format!("?congress={congress}"));
    }
    arguments.push_one("limit", SHOWN.to_string());
    let request = ListRequest::read(arguments, &listing, &[])?;
    let (page, _) = page(context, &listing, &request)?;
    let items: Vec<Box<RawValue>> = page
        .items
        .into_iter()
        .map(|item| RawValue::from_string(item).map_err(Error::internal))
        .collect::<Result<_>>()?;
    let truncated = (items.len() as u64) < page.total;
    Ok(Section {
        name,
        total: page.total,
        items,
        truncated,
        more_url: Some(url),
        more_call: truncated.then(|| more_call(sub, id, congress)),
        unavailable: None,
    })
}

/// The call of `list_records` that lists a section in full.
fn more_call(sub: &SubResource, id: &str, congress: Option<u16>) -> Value {
    let mut arguments = match sub.kind {
        SubResourceKind::Records { source, field } => {
            json!({ "resource": source, "filters": { field: id } })
        }
        _ => json!({ "resource": sub.name, "of": id }),
    };
    if let Some(congress) = congress {
        arguments["filters"]["congress"] = json!(congress);
    }
    json!({ "tool": "list_records", "arguments": arguments })
}

/// Ids are plain but for a slash here and there.
const ID: &percent_encoding::AsciiSet =
    &percent_encoding::CONTROLS.add(b'/').add(b' ').add(b'%').add(b'?').add(b'#');

/// Takes items off the largest sections until all of it fits. The rest is at `more_url`.
fn fit(sections: &mut [Section], room: usize) {
    while sections.iter().map(Section::bytes).sum::<usize>() > room {
        match sections.iter_mut().max_by_key(|s| s.bytes()) {
            Some(largest) if !largest.items.is_empty() => {
                largest.items.pop();
                largest.truncated = true;
            }
            _ => return,
        }
    }
}
