//! Answers of the Bureau of Labor Statistics' API: `Results.series`, each with its `data`. Names
//! come from a fixed list, or from the catalog that an answer has when it was asked for with a key.

use serde_json::Value;

use super::statistical_series::{observe, series};
use crate::formats::dates::checked;
use crate::formats::json::{items_at, str_at};
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const PUBLISHER: &str = "U.S. Bureau of Labor Statistics";

pub fn read(answer: &Value, out: &mut dyn Sink) -> Outcome {
    for found in items_at(answer, &["Results", "series"]) {
        let code = str_at(found, &["seriesID"]);
        match read_series(found, &code) {
            Some(record) => out.record(record),
            None => out.reject(&code, "can't be an id, or has no value of a known period"),
        }
    }
    Outcome::Read
}

fn read_series(found: &Value, code: &str) -> Option<Record> {
    let mut record = series(&format!("bls:{code}"), Rank::Partial)?;
    let known = SERIES.iter().find(|(known, ..)| *known == code);
    let title = str_at(found, &["catalog", "series_title"]);
    let name = match known {
        Some((_, name, _)) => (*name).to_string(),
        None if title.is_empty() => code.to_string(),
        None => title,
    };
    let survey = str_at(found, &["catalog", "survey_name"]);
    let mut frequency = None;
    for row in items_at(found, &["data"]) {
        let (year, period) = (str_at(row, &["year"]), str_at(row, &["period"]));
        let Some((each, date)) = first_day(&year, &period) else { continue };
        frequency = frequency.or(Some(each));
        observe(&mut record, &format!("{year}{period}"), &date, &str_at(row, &["value"]));
    }
    record
        .set("name", name)
        .set("publisher", PUBLISHER)
        .set("database", code.get(..2)?)
        .set("code", code)
        .set("frequency", frequency?)
        .set("unit", known.map(|(_, _, unit)| *unit))
        .set("category", survey);
    Some(record)
}

/// The frequency and the first day of a period: M01 to M12, Q01 to Q04, S01, S02, A01. Averages of
/// a year (M13, Q05, S03) are no further period.
fn first_day(year: &str, period: &str) -> Option<(&'static str, String)> {
    let number: i64 = period.get(1..)?.parse().ok()?;
    let (frequency, most, months) = match period.as_bytes().first()? {
        b'M' => ("monthly", 12, 1),
        b'Q' => ("quarterly", 4, 3),
        b'S' => ("semiannual", 2, 6),
        b'A' => ("annual", 1, 12),
        _ => return None,
    };
    let is_period = (1..=most).contains(&number);
    let month = (number - 1) * months + 1;
    let date = is_period.then(|| checked(year.parse().ok()?, month, 1)).flatten()?;
    Some((frequency, date))
}

const INDEX: &str = "Index";
const PERCENT: &str = "Percent";
const THOUSANDS: &str = "Thousands of persons";
const DOLLARS: &str = "U.S. dollars";

/// The series that `fetch` asks for: code, name, unit.
pub const SERIES: &[(&str, &str, &str)] = &[
    ("CUUR0000SA0", "Consumer Price Index (CPI-U), all items, not seasonally adjusted", INDEX),
    ("CUSR0000SA0", "Consumer Price Index (CPI-U), all items, seasonally adjusted", INDEX),
    ("CUUR0000SA0L1E", "Consumer Price Index (CPI-U), all items less food and energy", INDEX),
    ("CUUR0000SAF1", "Consumer Price Index (CPI-U), food", INDEX),
    ("CUUR0000SA0E", "Consumer Price Index (CPI-U), energy", INDEX),
    ("CUUR0000SAH1", "Consumer Price Index (CPI-U), shelter", INDEX),
    ("CUUR0000SAM", "Consumer Price Index (CPI-U), medical care", INDEX),
    ("CUUR0000SETB01", "Consumer Price Index (CPI-U), gasoline", INDEX),
    (
        "CWUR0000SA0",
        "Consumer Price Index (CPI-W), all items, which Social Security follows",
        INDEX,
    ),
    ("SUUR0000SA0", "Chained Consumer Price Index (C-CPI-U), all items", INDEX),
    ("WPUFD4", "Producer Price Index, final demand, not seasonally adjusted", INDEX),
    ("WPSFD4", "Producer Price Index, final demand, seasonally adjusted", INDEX),
    ("EIUIR", "Import Price Index, all commodities", INDEX),
    ("EIUIQ", "Export Price Index, all commodities", INDEX),
    ("LNS14000000", "Unemployment rate, seasonally adjusted", PERCENT),
    ("LNU04000000", "Unemployment rate, not seasonally adjusted", PERCENT),
    ("LNS14000001", "Unemployment rate, men", PERCENT),
    ("LNS14000002", "Unemployment rate, women", PERCENT),
    ("LNS14000003", "Unemployment rate, White", PERCENT),
    ("LNS14000006", "Unemployment rate, Black or African American", PERCENT),
    ("LNS14000009", "Unemployment rate, Hispanic or Latino", PERCENT),
    ("LNS14000012", "Unemployment rate, 16 to 19 years", PERCENT),
    ("LNS13327709", "Unemployment and underemployment, U-6", PERCENT),
    ("LNS11300000", "Labor force participation rate", PERCENT),
    ("LNS12300000", "Employment-population ratio", PERCENT),
    ("LNS11000000", "Civilian labor force", THOUSANDS),
    ("LNS12000000", "Employment level", THOUSANDS),
    ("LNS13000000", "Unemployment level", THOUSANDS),
    ("CES0000000001", "Employees on nonfarm payrolls, total", THOUSANDS),
    ("CES0500000001", "Employees on nonfarm payrolls, private", THOUSANDS),
    ("CES1000000001", "Employees on nonfarm payrolls, mining and logging", THOUSANDS),
    ("CES2000000001", "Employees on nonfarm payrolls, construction", THOUSANDS),
    ("CES3000000001", "Employees on nonfarm payrolls, manufacturing", THOUSANDS),
    ("CES4200000001", "Employees on nonfarm payrolls, retail trade", THOUSANDS),
    ("CES5000000001", "Employees on nonfarm payrolls, information", THOUSANDS),
    ("CES5500000001", "Employees on nonfarm payrolls, financial activities", THOUSANDS),
    ("CES7000000001", "Employees on nonfarm payrolls, leisure and hospitality", THOUSANDS),
    ("CES9000000001", "Employees on nonfarm payrolls, government", THOUSANDS),
    ("CES9091000001", "Employees on nonfarm payrolls, federal government", THOUSANDS),
    ("CES9092000001", "Employees on nonfarm payrolls, state government", THOUSANDS),
    ("CES9093000001", "Employees on nonfarm payrolls, local government", THOUSANDS),
    ("CES0500000002", "Average weekly hours, private", "Hours"),
    ("CES0500000003", "Average hourly earnings, private", DOLLARS),
    ("CES0500000011", "Average weekly earnings, private", DOLLARS),
    ("PRS85006092", "Labor productivity, nonfarm business, change at an annual rate", PERCENT),
    ("PRS85006112", "Unit labor costs, nonfarm business, change at an annual rate", PERCENT),
    ("CIU1010000000000A", "Employment Cost Index, civilian workers, change in 12 months", PERCENT),
    ("CIU2010000000000A", "Employment Cost Index, private industry, change in 12 months", PERCENT),
    ("JTS000000000000000JOL", "Job openings, total nonfarm", "Thousands"),
    ("JTS000000000000000QUL", "Quits, total nonfarm", "Thousands"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;
    use crate::sources::statistical_series::read as read_file;
    use serde_json::json;

    /// Invented values in the documented shape.
    #[test]
    fn months_are_periods_and_averages_of_years_are_not() {
        let row = |year: &str, period: &str, value: &str| {
            json!({ "year": year, "period": period, "periodName": "x", "value": value,
                    "footnotes": [{}] })
        };
        let data = [
            row("2024", "M13", "9"),
            row("2024", "M12", "1.50"),
            row("2024", "M11", "-"),
            row("2024", "Q9", "1"),
        ];
        let answer = json!({ "status": "REQUEST_SUCCEEDED", "message": [], "Results": { "series": [
            { "seriesID": "LNS14000000", "data": data },
            { "seriesID": "XX99", "catalog": { "series_title": "Tea", "survey_name": "Drinks" },
              "data": [row("2024", "Q03", "7")] },
            { "seriesID": "no id!", "data": data },
        ] } });
        let got = read_text(read_file, "statistical-series/bls.json", &answer.to_string());
        assert_eq!(got.ids(), ["bls:LNS14000000", "bls:XX99"]);
        assert_eq!(*got.field(0, "name"), "Unemployment rate, seasonally adjusted");
        assert_eq!(
            (got.field(1, "name"), got.field(1, "frequency")),
            (&json!("Tea"), &json!("quarterly"))
        );
        let rows: Vec<String> = got.records[0]
            .rows
            .iter()
            .map(|(_, row)| format!("{} {} {}", row["period"], row["date"], row["value"]))
            .collect();
        assert_eq!(
            rows,
            ["\"2024M12\" \"2024-12-01\" \"1.50\"", "\"2024M11\" \"2024-11-01\" null"]
        );
        assert_eq!(got.rejects.len(), 1);
    }

    #[test]
    fn one_request_asks_for_all_series() {
        assert!((40..=50).contains(&SERIES.len()), "a key allows 50 in one request");
        for (code, ..) in SERIES {
            assert!(series(&format!("bls:{code}"), Rank::Partial).is_some(), "{code}");
        }
    }
}
