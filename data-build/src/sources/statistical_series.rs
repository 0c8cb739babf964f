//! Time series: answers of Treasury Fiscal Data, of the Bureau of Labor Statistics and of the Bank
//! of Japan, told apart by the members of the JSON object.

use std::io::Read;

use anyhow::Result;
use josh::catalog::ids;
use serde_json::{Value, json};

use super::{series_bls, series_boj, series_treasury};
use crate::formats::json::at;
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "statistical-series";

/// The members that tell the Bank's answers come first, before a list of up to 99 MB.
const HEAD_BYTES: u64 = 16 << 10;

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    if input.extension() != "json" {
        return Ok(Outcome::Skipped);
    }
    let mut head = Vec::new();
    input.open()?.take(HEAD_BYTES).read_to_end(&mut head)?;
    if String::from_utf8_lossy(&head).contains("\"MESSAGEID\"") {
        return series_boj::read(input, out);
    }
    let answer: Value = serde_json::from_str(&input.text()?)?;
    if at(&answer, &["Results", "series"]).is_some() {
        return Ok(series_bls::read(&answer, out));
    }
    Ok(series_treasury::read(&answer, out))
}

/// A series without its values; nothing if its code can't be part of an id. A series comes in
/// several files, whose observations add up.
pub fn series(id: &str, rank: Rank) -> Option<Record> {
    ids::canonical(SOURCE, id).map(|id| Record::new(SOURCE, id, rank))
}

/// Adds a value as it was published; the texts for a missing value leave it absent.
pub fn observe(record: &mut Record, period: &str, date: &str, value: &str) {
    let value = Some(value.trim()).filter(|v| !["", "-", "null", "NA", "ND"].contains(v));
    let number = value.and_then(|v| v.replace(',', "").parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite());
    let row = json!({ "period": period, "date": date, "value": value, "number": number });
    record.row("observations", row);
}
