//! Everything about one thing in one answer: the record, and the first items of what hangs on it, each with the address of the rest.

use serde_json::{Value, json};

use crate::bundle::{Bundle, Stop};
use crate::catalog::{Source, SubKind};
use crate::error::{Code, Error, Result};
use crate::query::{self, ListRequest, Params, Table};
use crate::record::{self, Found};

/// The sources that have a dossier, with its sections: sub-resources, in the order in which they are read.
pub const DOSSIERS: &[(&str, &[&str])] = &[
    ("bills", &["cosponsors", "actions", "crs", "cbo", "saps", "reports", "hearings", "votes", "amendments"]),
    ("legislators", &["terms", "committees", "sponsored", "cosponsored", "leadership", "offices", "speeches"]),
    ("committees", &["members", "subcommittees", "hearings", "bills", "reports"]),
    ("public-laws", &["bill", "cfr", "rules"]),
];

/// Items shown of a section.
const SHOWN: &str = "5";

/// Larger answers fill an agent's memory with one call.
const MOST_BYTES: usize = 60_000;

/// A dossier, its parts as JSON.
pub struct Dossier<'a> {
    pub found: Found<'a>,
    pub sections: Vec<Section>,
}

pub struct Section {
    pub name: &'static str,
    pub total: u64,
    /// The first items, each as JSON.
    pub items: Vec<String>,
    /// The address of all of them.
    pub more_url: Option<String>,
    /// Why there can be none.
    pub unavailable: Option<String>,
}

impl Section {
    pub fn truncated(&self) -> bool {
        (self.items.len() as u64) < self.total
    }

    fn bytes(&self) -> usize {
        self.items.iter().map(String::len).sum()
    }
}

/// The sections of a source's dossier.
pub fn sections(key: &str) -> Option<&'static [&'static str]> {
    DOSSIERS.iter().find(|(source, _)| *source == key).map(|(_, sections)| *sections)
}

/// Whether `congress=` narrows anything in a source's dossier.
pub fn takes_congress(key: &str) -> bool {
    matches!(key, "legislators" | "committees")
}

/// Gathers a dossier. Blocks: call it on a blocking thread.
pub fn gather<'a>(bundle: &'a Bundle, source: &'static Source, id: &str, params: &Params) -> Result<Dossier<'a>> {
    let Some(names) = sections(source.key) else {
        let message = format!("There is no dossier of a {}.", source.one);
        return Err(
            Error::new(Code::RouteNotFound, message).hint("valid", DOSSIERS.iter().map(|d| d.0).collect::<Vec<_>>())
        );
    };
    let congress = read_congress(source, params)?;
    let found = record::find_in(bundle, source, id)?;
    let id = found.entry.id;
    let gathered: Vec<Result<Section>> = match &congress {
        // Prepared, all of them: a thread would take longer to start.
        None => names.iter().map(|name| section(bundle, source, id, name, None)).collect(),
        Some(congress) => std::thread::scope(|scope| {
            let gather = |name: &&'static str| {
                let (name, stop) = (*name, Stop::current());
                scope.spawn(move || stop.during(|| section(bundle, source, id, name, Some(congress))))
            };
            let running: Vec<_> = names.iter().map(gather).collect();
            running.into_iter().map(|r| r.join().unwrap_or_else(|_| Err(Error::internal("a section failed")))).collect()
        }),
    };
    let mut sections = gathered.into_iter().collect::<Result<Vec<_>>>().map_err(|error| bundle.blame(error))?;
    fit(&mut sections, MOST_BYTES.saturating_sub(found.entry.data.len()));
    bundle.check_whole()?;
    Ok(Dossier { found, sections })
}

fn read_congress(source: &Source, params: &Params) -> Result<Option<String>> {
    let mut congress = None;
    for (name, value) in params.iter() {
        match name {
            "congress" if takes_congress(source.key) && congress.is_none() => match value.parse::<u16>() {
                Ok(number) => congress = Some(number.to_string()),
                Err(_) => return Err(Error::invalid("congress", format!("`congress` takes a number, not {value:?}."))),
            },
            _ => {
                let valid = if takes_congress(source.key) { &["congress"][..] } else { &[] };
                let message = format!("This dossier takes no parameter {name:?}, or takes it once.");
                return Err(Error::invalid(name, message).suggest(name, valid.iter().copied()));
            }
        }
    }
    Ok(congress)
}

fn section(
    bundle: &Bundle,
    source: &'static Source,
    id: &str,
    name: &'static str,
    congress: Option<&str>,
) -> Result<Section> {
    let mut section = Section { name, total: 0, items: Vec::new(), more_url: None, unavailable: None };
    let Some(sub) = source.sub(name) else { return Err(Error::internal(format!("no sub-resource {name}"))) };
    let table = match sub.kind {
        SubKind::Records { source: other, .. } => {
            Table::of_sub(bundle, source, sub).ok_or_else(|| format!("This bundle holds no {other}."))
        }
        _ => {
            let rows = bundle.manifest.source(source.key).and_then(|facts| facts.rows.get(name));
            let table = rows.and_then(|_| Table::of_sub(bundle, source, sub));
            table.ok_or_else(|| format!("This bundle holds no {name} of {}.", source.key))
        }
    };
    let table = match table {
        Ok(table) => table.under(bundle, source, sub, id)?,
        Err(reason) => {
            section.unavailable = Some(reason);
            return Ok(section);
        }
    };
    let mut params = Params::default();
    let mut url = format!("/v1/{}/{}/{name}", source.key, percent_encoding::utf8_percent_encode(id, ID));
    if let Some(congress) = congress.filter(|_| table.column("congress").is_some()) {
        params.push("congress", congress);
        url.push_str(&format!("?congress={congress}"));
    }
    params.push("limit", SHOWN);
    let request = ListRequest::read(&params, &table, &|target, id| record::canonical(bundle, target, id))?;
    let page = query::list(bundle, &table, &request)?;
    (section.total, section.items, section.more_url) = (page.total, page.items, Some(url));
    Ok(section)
}

/// Ids are plain but for a slash here and there.
const ID: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS.add(b'/').add(b' ').add(b'%').add(b'?').add(b'#');

/// Takes items off the largest sections until all of it fits. What is taken off is at `more_url`.
fn fit(sections: &mut [Section], room: usize) {
    while sections.iter().map(Section::bytes).sum::<usize>() > room {
        match sections.iter_mut().max_by_key(|s| s.bytes()) {
            Some(largest) if !largest.items.is_empty() => drop(largest.items.pop()),
            _ => return,
        }
    }
}

impl Dossier<'_> {
    /// `"sections":{…}`
    pub fn sections_json(&self) -> String {
        let mut out = String::from("\"sections\":{");
        for (at, section) in self.sections.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            out.push_str(&format!(
                "{comma}\"{}\":{{\"total\":{},\"items\":[{}],\"truncated\":{},\"more_url\":{}",
                section.name,
                section.total,
                section.items.join(","),
                section.truncated(),
                json!(section.more_url),
            ));
            if let Some(reason) = &section.unavailable {
                out.push_str(&format!(",\"unavailable\":{}", Value::from(reason.as_str())));
            }
            out.push('}');
        }
        out.push('}');
        out
    }
}
