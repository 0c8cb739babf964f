//! The records that readers produce: in the catalog's terms, not yet validated, merged or linked.

use serde_json::{Map, Value};

/// Precedence of a file when several describe the same record: for each field the value of the
/// highest rank wins, and among equals the one read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// A mention that only shows that the record exists.
    Stub = 0,
    /// A list, an index or a heuristic split.
    Partial = 1,
    /// The publisher's own complete format.
    Full = 2,
}

/// One section of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Label as cited ("1", "122.26(a)", "II.B"); empty for text before the first heading.
    pub section: String,
    /// Heading with the headings above it: "Title I > Subtitle A > Sec. 101. Short title".
    pub heading: String,
    /// Depth of the heading, 1 at the top.
    pub level: i64,
    pub text: String,
}

/// One version of a text.
#[derive(Clone, Debug)]
pub struct Body {
    /// `ih`, `enr` … for bills, `text` where there is only one.
    pub version: String,
    /// Sort key among the versions of one record, oldest first: an ISO date, or a stage number as
    /// text.
    pub order: String,
    pub sections: Vec<Section>,
}

/// One record of any source.
#[derive(Clone, Debug)]
pub struct Record {
    pub source: &'static str,
    /// Canonical id.
    pub id: String,
    pub rank: Rank,
    /// Values by catalog field name; absent and null are equivalent.
    pub fields: Map<String, Value>,
    /// Rows of sub-resources by name, in display order. A higher rank replaces all of them.
    pub rows: Vec<(&'static str, Map<String, Value>)>,
    pub bodies: Vec<Body>,
}

impl Record {
    pub fn new(source: &'static str, id: impl Into<String>, rank: Rank) -> Self {
        Record {
            source,
            id: id.into(),
            rank,
            fields: Map::new(),
            rows: Vec::new(),
            bodies: Vec::new(),
        }
    }

    /// Sets a field; null and the empty string leave it absent.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        let value = value.into();
        if !value.is_null() && value.as_str() != Some("") {
            self.fields.insert(name.to_string(), value);
        }
        self
    }

    /// Adds a row to a sub-resource: `record.row("actions", json!({…}))`.
    pub fn row(&mut self, sub: &'static str, row: Value) -> &mut Self {
        if let Value::Object(row) = row {
            self.rows.push((sub, row));
        }
        self
    }

    /// Adds a text, unless it is empty.
    pub fn body(&mut self, version: &str, order: &str, sections: Vec<Section>) -> &mut Self {
        if sections.iter().any(|s| !s.text.is_empty()) {
            self.bodies.push(Body { version: version.into(), order: order.into(), sections });
        }
        self
    }
}

/// Receives what a reader finds.
pub trait Sink {
    fn record(&mut self, record: Record);
    /// Reports something unreadable; `place` locates it in the file (a line, an element, an id).
    fn reject(&mut self, place: &str, reason: &str);
}
