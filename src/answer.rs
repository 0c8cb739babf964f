//! An answer as every surface sends it: JSON spliced from prepared parts, or a table. What only the surface knows (the request's id,
//! when it came) is added last.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::aggregate::Numbers;
use crate::bundle::Bundle;
use crate::dossier::Dossier;
use crate::error::{Error, Result};
use crate::query::{Format, Page};
use crate::record::Found;
use crate::search::Results;

pub struct Answer {
    pub format: Format,
    /// How many items there are and where the next page begins, if it is a list.
    pub list: Option<(u64, Option<String>)>,
    /// A table whole; JSON up to the closing brace.
    body: String,
    /// What `meta` says beyond the request's own facts.
    extras: Vec<(&'static str, Value)>,
    /// Whether `took_ms` stands beside the results, too.
    is_timed: bool,
}

/// What a surface knows about a request.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub request_id: &'a str,
    pub started: Instant,
}

impl Answer {
    fn json(body: String) -> Answer {
        Answer { format: Format::Json, list: None, body, extras: Vec::new(), is_timed: false }
    }

    fn with(mut self, name: &'static str, value: Option<Value>) -> Answer {
        self.extras.extend(value.map(|value| (name, value)));
        self
    }

    /// One record: `{"data", "citation", "meta"}`.
    pub fn record(found: &Found, data: &str) -> Answer {
        let citation = found.entry.citation;
        let mut body = String::with_capacity(data.len() + citation.len() + 256);
        for part in ["{\"data\":", data, ",\"citation\":", citation] {
            body.push_str(part);
        }
        Answer::json(body).with("resolved", resolved(found))
    }

    /// A record with its text, as ChatGPT's retrieval wants it: `{"id", "title", "text", "url", "metadata"}`, and all that `record` gives.
    pub fn document(found: &Found, text: &str) -> Result<Answer> {
        let fields: Map<String, Value> = serde_json::from_str(found.entry.data).map_err(Error::internal)?;
        let of = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let mut metadata = Map::new();
        for field in found.source.columns().iter().filter(|f| f.can_filter() && f.name != "id") {
            let value = cell(&of(field.name));
            if !value.is_empty() && value.len() <= 200 {
                metadata.insert(field.name.into(), value.into());
            }
        }
        let head = json!({
            "id": found.entry.id, "title": cell(&of(found.source.title)), "text": text, "url": of("url"), "metadata": metadata,
        });
        let mut body = head.to_string();
        body.pop();
        let record = Answer::record(found, found.entry.data);
        body.push(',');
        body.push_str(&record.body[1..]);
        Ok(Answer { body, ..record })
    }

    /// One value that is not a record: `{"data", "meta"}`.
    pub fn value(data: &Value) -> Answer {
        Answer::json(format!("{{\"data\":{data}"))
    }

    /// A dossier: `{"data", "citation", "sections", "meta"}`.
    pub fn dossier(dossier: &Dossier) -> Answer {
        let found = &dossier.found;
        let (data, citation) = (found.entry.data, found.entry.citation);
        let body = format!("{{\"data\":{data},\"citation\":{citation},{}", dossier.sections_json());
        Answer::json(body).with("resolved", resolved(found))
    }

    /// Counts and sums: `{"value" | "buckets", "total_buckets", "other"?, "query_cost", "meta"}`, or the buckets as a table.
    pub fn numbers(numbers: &Numbers) -> Result<Answer> {
        if numbers.format != Format::Json {
            return Answer::page(numbers.format, &numbers.page);
        }
        let mut body = numbers.answer.to_string();
        body.pop();
        Ok(Answer::json(body))
    }

    /// Search results: `{"results", "total", "took_ms", "next_cursor"?, "degraded"?, "meta"}`.
    pub fn results(found: Results) -> Answer {
        let items: Vec<&str> = found.results.iter().map(|r| r.get()).collect();
        let mut body = format!("{{\"results\":[{}],\"total\":{}", items.join(","), found.total);
        if let Some(cursor) = &found.next_cursor {
            let _ = write!(body, ",\"next_cursor\":{}", json!(cursor));
        }
        if let Some(degraded) = &found.degraded {
            let _ = write!(body, ",\"degraded\":{degraded}");
        }
        let shown = shown(found.results.len(), found.total, &["source", "since", "until"]);
        Answer { is_timed: true, ..Answer::json(body).with("empty", found.empty).with("shown", shown) }
    }

    /// A list in the format that was asked for.
    pub fn page(format: Format, page: &Page) -> Result<Answer> {
        let list = Some((page.total, page.next_cursor.clone()));
        let body = match format {
            Format::Json => page_json(page),
            Format::Ndjson => page.items.iter().flat_map(|item| [item.as_str(), "\n"]).collect(),
            Format::Csv => page_csv(page)?,
        };
        let shown = shown(page.items.len(), page.total, &page.narrowing);
        Ok(Answer { format, list, ..Answer::json(body) }.with("empty", page.empty.clone()).with("shown", shown))
    }

    /// The whole body, with `meta` if it is JSON.
    pub fn into_body(self, bundle: &Bundle, asked: Asked) -> String {
        let mut body = self.body;
        if self.format != Format::Json {
            return body;
        }
        let took_ms = asked.started.elapsed().as_millis();
        if self.is_timed {
            let _ = write!(body, ",\"took_ms\":{took_ms}");
        }
        let manifest = &bundle.manifest;
        // Ids and dates are plain ASCII, and a request id is checked to be: nothing here needs escaping.
        let _ = write!(
            body,
            r#","meta":{{"request_id":"{}","bundle":{{"id":"{}","as_of":"{}"}},"took_ms":{took_ms}"#,
            asked.request_id, manifest.id, manifest.as_of
        );
        for (name, value) in &self.extras {
            let _ = write!(body, ",\"{name}\":{value}");
        }
        body.push_str("}}");
        body
    }
}

/// How the id was written, where that was not its canonical form.
fn resolved(found: &Found) -> Option<Value> {
    found.asked.as_ref().map(|asked| json!({ "asked": asked, "id": found.entry.id }))
}

/// Says that there is more, and what would make it less.
fn shown(items: usize, total: u64, narrowing: &[&str]) -> Option<Value> {
    let by = if narrowing.is_empty() { String::new() } else { format!(" narrow by {} or", narrowing.join(", ")) };
    (items > 0 && (items as u64) < total)
        .then(|| json!(format!("{items} of {total};{by} pass next_cursor on as cursor")))
}

fn page_json(page: &Page) -> String {
    let mut body = String::with_capacity(page.items.iter().map(|i| i.len() + 1).sum::<usize>() + 512);
    body.push('{');
    if let Some(contents) = &page.contents {
        let _ = write!(body, "\"contents\":{contents},");
    }
    body.push_str("\"data\":[");
    body.push_str(&page.items.join(","));
    let _ = write!(body, "],\"total\":{},\"next_cursor\":{}", page.total, json!(page.next_cursor));
    body
}

/// A header line and a line an item; the elements of a list are joined by "; ".
fn page_csv(page: &Page) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&page.columns).map_err(Error::internal)?;
    for item in &page.items {
        let record: Map<String, Value> = serde_json::from_str(item).map_err(Error::internal)?;
        let cells = page.columns.iter().map(|c| record.get(*c).map(cell).unwrap_or_default());
        writer.write_record(cells).map_err(Error::internal)?;
    }
    String::from_utf8(writer.into_inner().map_err(Error::internal)?).map_err(Error::internal)
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

/// A request's id: unique within this process and, by its random part, across restarts and machines.
pub fn new_request_id() -> String {
    static RANDOM: LazyLock<u64> = LazyLock::new(|| {
        use std::hash::{BuildHasher, Hasher};
        std::collections::hash_map::RandomState::new().build_hasher().finish()
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}-{:x}", *RANDOM, COUNT.fetch_add(1, Ordering::Relaxed))
}
