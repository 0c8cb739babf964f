//! The manifest: what a bundle says about itself, a JSON document near the end of the file. Only
//! the types; `open` reads it and `writer` writes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::format::SectionKind;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// A hash of the content: the same data have the same id, whenever and wherever the bundle was
    /// built.
    pub id: String,
    /// A name of this edition for people; the as-of date unless the builder gave another.
    pub data_version: String,
    /// The last day that the data cover.
    pub as_of: String,
    pub built_by: String,
    /// What every answer says about this bundle, if some of its texts are summaries.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notice: Option<String>,
    /// The Congresses whose bills the bundle holds, newest first.
    pub congresses: Vec<i64>,
    /// In the order of the records section.
    pub sources: Vec<SourceFacts>,
    /// The embedding model that made the vectors, if there are vectors.
    pub model: Option<ModelFacts>,
    pub sections: Vec<SectionFacts>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signature: Option<Signature>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceFacts {
    pub key: String,
    pub records: u64,
    /// First and last day of the source's main date.
    pub from: Option<String>,
    pub to: Option<String>,
    pub publisher: String,
    pub licence: String,
    /// The columns of its table; only these are offered as fields.
    pub fields: BTreeMap<String, FieldFacts>,
    /// The number of rows of each sub-resource that has its own table.
    pub rows: BTreeMap<String, u64>,
    /// The number of records whose text is a summary instead of the official wording.
    #[serde(default)]
    pub summaries: u64,
    /// The number of passages of its texts, and how many of them have a vector.
    pub passages: u64,
    pub vectors: u64,
    /// Absent in bundles of older builders.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coverage: Option<Coverage>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FieldFacts {
    /// All values of a keyword field that has few of them, sorted: the ones a filter accepts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<Vec<String>>,
    /// All values of a number that records are grouped by, if they are few, sorted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub numbers: Option<Vec<i64>>,
    /// The days of a date field.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub days: Option<DayFacts>,
}

/// What of a source the bundle holds, beyond its first and last day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The day on which the newest of its files was fetched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fetched: Option<String>,
    /// What its publisher has and its feeds do not, and what could not be fetched.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_fetched: Vec<String>,
    /// By Congress, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub congresses: Vec<CongressFacts>,
    /// Series whose records are numbered from 1, newest first: which numbers are missing.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub series: Vec<SeriesFacts>,
    /// How many more series there are.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more_series: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The records of one Congress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CongressFacts {
    pub congress: i64,
    pub records: u64,
    /// First and last day of the main date.
    pub from: Option<String>,
    pub to: Option<String>,
}

/// Records that are numbered from 1, such as the House bills of a Congress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesFacts {
    /// What the ids of its records begin with: `hr:119:`.
    pub prefix: String,
    pub records: u64,
    pub highest: u64,
    /// Numbers below the highest without a record, and the first of their ids.
    pub missing: u64,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub first_missing: Vec<String>,
}

/// The days of a date field: the first, the last, and stretches of a year or more without any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DayFacts {
    pub from: String,
    pub to: String,
    /// First and last day of each stretch, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gaps: Vec<(String, String)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelFacts {
    pub name: String,
    pub sha256: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SectionFacts {
    pub kind: SectionKind,
    pub offset: u64,
    pub length: u64,
    pub sha256: String,
}

/// An Ed25519 signature over the manifest without this field. The manifest has a hash of every
/// section, so the signature covers the whole file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Signature {
    pub algorithm: String,
    pub public_key: String,
    pub value: String,
}

impl SourceFacts {
    /// The days of a date field.
    pub fn days(&self, field: &str) -> Option<&DayFacts> {
        self.fields.get(field)?.days.as_ref()
    }
}

/// Far above any real count, and far below where the sum of all in a manifest would overflow.
const MAX_COUNT: u64 = 1 << 40;

impl Manifest {
    /// Whether every count is one that a bundle can have: they are added up in many places.
    pub fn has_possible_counts(&self) -> bool {
        let is_possible = |number: i64| number.unsigned_abs() <= MAX_COUNT;
        self.congresses.iter().all(|congress| is_possible(*congress))
            && self.sources.iter().all(|source| {
                let coverage = source.coverage.iter();
                let congresses = coverage.clone().flat_map(|coverage| &coverage.congresses);
                let series = coverage.clone().flat_map(|coverage| &coverage.series);
                let own = [source.records, source.summaries, source.passages, source.vectors];
                let mut counts = own
                    .into_iter()
                    .chain(source.rows.values().copied())
                    .chain(coverage.map(|coverage| coverage.more_series))
                    .chain(congresses.clone().map(|facts| facts.records))
                    .chain(series.flat_map(|facts| [facts.records, facts.highest, facts.missing]));
                counts.all(|count| count <= MAX_COUNT)
                    && congresses.into_iter().all(|facts| is_possible(facts.congress))
            })
    }

    pub fn section(&self, kind: SectionKind) -> Option<&SectionFacts> {
        self.sections.iter().find(|s| s.kind == kind)
    }

    pub fn source(&self, key: &str) -> Option<&SourceFacts> {
        self.sources.iter().find(|s| s.key == key)
    }

    /// The bytes that a signature covers.
    pub fn signed_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Manifest { signature: None, ..self.clone() })
    }
}
