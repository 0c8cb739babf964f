//! Results that hold a record: alone, or as a document with its text. Records stay the bundle's own
//! prepared bytes until they are written.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::record::FoundRecord;
use super::schemas::Citation;
use crate::api::outcome::append;
use crate::api::{Error, Output, Result};
use crate::bundle::{Bundle, RecordEntry};

/// A record of a bundle, as its bytes in the memory map.
pub struct RecordParts {
    bundle: Arc<Bundle>,
    number: usize,
    /// The record with only some of its fields, where these were asked for.
    selected: Option<String>,
}

impl RecordParts {
    pub fn new(bundle: Arc<Bundle>, found: &FoundRecord) -> RecordParts {
        RecordParts { bundle, number: found.number, selected: None }
    }

    /// The same with this JSON in the place of the whole record.
    pub fn with_data(mut self, data: String) -> RecordParts {
        self.selected = Some(data);
        self
    }

    fn parts(&self) -> (&str, &str) {
        // It was found before; a file cut short since reads as empty, which the caller then
        // notices.
        let entry = self.bundle.records().by_number(self.number);
        let RecordEntry { data, citation, .. } =
            entry.unwrap_or(RecordEntry { id: "", data: "{}", citation: "{}" });
        (self.selected.as_deref().unwrap_or(data), citation)
    }

    /// Appends `"data":…,"citation":…`.
    pub fn write_members(&self, out: &mut Vec<u8>) {
        let (data, citation) = self.parts();
        out.reserve(data.len() + citation.len() + 320);
        for part in ["\"data\":", data, ",\"citation\":", citation] {
            out.extend_from_slice(part.as_bytes());
        }
    }
}

/// One record: `{"data", "citation"}`.
pub struct RecordResult(pub RecordParts);

/// The JSON of a record's answer, for its schema. `data` gets the schema of the source.
#[derive(JsonSchema)]
#[schemars(rename = "RecordResult")]
#[expect(dead_code, reason = "described for its schema, written as prepared parts")]
pub struct RecordShape {
    pub data: Map<String, Value>,
    pub citation: Citation,
}

impl Output for RecordResult {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        out.push(b'{');
        self.0.write_members(out);
        out.push(b'}');
        Ok(())
    }

    fn to_value(&self) -> Result<Map<String, Value>> {
        let (data, citation) = self.0.parts();
        let parse = |json: &str| serde_json::from_str::<Value>(json).map_err(Error::internal);
        let mut fields = Map::with_capacity(3);
        fields.insert("data".into(), parse(data)?);
        fields.insert("citation".into(), parse(citation)?);
        Ok(fields)
    }
}

/// A record with its text, as ChatGPT's retrieval expects it, and everything that a record has.
pub struct DocumentResult {
    pub head: DocumentHead,
    pub record: RecordParts,
}

#[derive(Serialize, JsonSchema)]
pub struct DocumentHead {
    pub id: String,
    pub title: String,
    pub text: String,
    pub url: String,
    /// Short fields of the record, each as text
    pub metadata: Map<String, Value>,
}

/// The JSON of a document, for its schema.
#[derive(JsonSchema)]
#[schemars(rename = "Document")]
#[expect(dead_code, reason = "described for its schema, written as prepared parts")]
pub struct DocumentShape {
    #[serde(flatten)]
    pub head: DocumentHead,
    #[serde(flatten)]
    pub record: RecordShape,
}

impl Output for DocumentResult {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        append(out, &self.head)?;
        out.pop();
        out.push(b',');
        self.record.write_members(out);
        out.push(b'}');
        Ok(())
    }
}
