//! What a source covers in this bundle, as it is told to callers. `query::coverage` says what a
//! question asks for beyond that.

use serde_json::{Value, json};

use crate::bundle::{SeriesFacts, SourceFacts};
use crate::catalog::Source;

/// What a list of sources says: when it was fetched, which Congresses and gaps there are.
pub fn summary(source: &Source, facts: &SourceFacts) -> Value {
    let Some(coverage) = &facts.coverage else { return Value::Null };
    let congresses: Vec<i64> = coverage.congresses.iter().map(|c| c.congress).collect();
    let mut out = json!({
        "fetched": coverage.fetched,
        "congresses": congresses,
        "gaps": gaps(source, facts),
    });
    if !coverage.not_fetched.is_empty() {
        out["not_fetched"] = json!(coverage.not_fetched);
    }
    if !coverage.series.is_empty() {
        let missing: u64 = coverage.series.iter().map(|series| series.missing).sum();
        out["missing_numbers"] = json!(missing);
    }
    out
}

/// The same with numbers for each Congress and each numbered series.
pub fn details(source: &Source, facts: &SourceFacts) -> Value {
    let mut out = summary(source, facts);
    if let Some(coverage) = &facts.coverage {
        out["congresses"] = json!(coverage.congresses);
        out["series"] = json!(coverage.series);
        out["more_series"] = json!(coverage.more_series);
    }
    out
}

/// What the source covers, for someone who asked for a record that is not here.
pub fn hint(source: &Source, facts: &SourceFacts, id: &str) -> Value {
    let mut out = json!({
        "source": facts.key, "records": facts.records, "from": facts.from, "to": facts.to,
    });
    let Some(coverage) = &facts.coverage else { return out };
    if !coverage.congresses.is_empty() {
        out["congresses"] = coverage.congresses.iter().map(|c| c.congress).collect();
    }
    if source.main_date.is_some() {
        out["gaps"] = gaps(source, facts);
    }
    let is_of = |series: &&SeriesFacts| id.starts_with(&series.prefix);
    if let Some(series) = coverage.series.iter().find(is_of) {
        out["series"] = json!(series);
    }
    out
}

/// Stretches of a year or more without any record, by the main date.
fn gaps(source: &Source, facts: &SourceFacts) -> Value {
    let days = source.main_date.and_then(|date| facts.days(date));
    days.map_or(json!([]), |days| json!(days.gaps))
}
