//! Answers of Treasury Fiscal Data (`data`, `meta`, `links`): a list of rows, all values strings.
//! An answer does not name its dataset; the columns tell it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::statistical_series::{observe, series};
use crate::formats::dates::iso;
use crate::formats::json::{items_at, str_at};
use crate::formats::people::ascii_slug;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

/// A dataset of which series are kept.
struct Dataset {
    /// As in its address.
    name: &'static str,
    page: &'static str,
    frequency: &'static str,
    unit: &'static str,
    category: &'static str,
    /// Columns with values, and what they are called.
    values: &'static [(&'static str, &'static str)],
    /// The column that tells several series in one column of values apart.
    by: Option<&'static str>,
    /// The column with the heading under which a series is published.
    heading: Option<&'static str>,
}

const DATASETS: &[Dataset] = &[
    Dataset {
        name: "debt_to_penny",
        page: "https://fiscaldata.treasury.gov/datasets/debt-to-the-penny/",
        frequency: "daily",
        unit: "U.S. dollars",
        category: "Debt to the Penny",
        values: &[
            ("tot_pub_debt_out_amt", "Total Public Debt Outstanding (federal debt)"),
            ("debt_held_public_amt", "Debt Held by the Public"),
            ("intragov_hold_amt", "Intragovernmental Holdings"),
        ],
        by: None,
        heading: None,
    },
    Dataset {
        name: "debt_outstanding",
        page: "https://fiscaldata.treasury.gov/datasets/historical-debt-outstanding/",
        frequency: "annual",
        unit: "U.S. dollars",
        category: "Historical Debt Outstanding",
        values: &[(
            "debt_outstanding_amt",
            "Historical Debt Outstanding at the end of the fiscal year",
        )],
        by: None,
        heading: None,
    },
    Dataset {
        name: "avg_interest_rates",
        page: "https://fiscaldata.treasury.gov/datasets/\
               average-interest-rates-treasury-securities/",
        frequency: "monthly",
        unit: "Percent",
        category: "Average Interest Rates on U.S. Treasury Securities",
        values: &[("avg_interest_rate_amt", "Average Interest Rate")],
        by: Some("security_desc"),
        heading: Some("security_type_desc"),
    },
];

const PUBLISHER: &str = "U.S. Department of the Treasury, Fiscal Data";

pub fn read(answer: &Value, out: &mut dyn Sink) -> Outcome {
    let rows = items_at(answer, &["data"]);
    let has = |column: &str| rows.first().is_some_and(|row| row.get(column).is_some());
    let dataset = DATASETS
        .iter()
        .find(|dataset| has("record_date") && dataset.values.iter().any(|(column, _)| has(column)));
    let Some(dataset) = dataset else { return Outcome::Skipped };
    let mut found: BTreeMap<String, Record> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let place = format!("row {}", at + 1);
        let period = str_at(row, &["record_date"]);
        let Some(date) = iso(&period) else {
            out.reject(&place, &format!("record_date is {period:?}"));
            continue;
        };
        for (column, name) in dataset.values.iter().filter(|(column, _)| row.get(*column).is_some())
        {
            match dataset.series(column, name, row) {
                Some(new) => {
                    let record = found.entry(new.id.clone()).or_insert(new);
                    observe(record, &period, &date, &str_at(row, &[column]));
                }
                None => out.reject(&place, "says not which series it belongs to"),
            }
        }
    }
    found.into_values().for_each(|record| out.record(record));
    Outcome::Read
}

impl Dataset {
    /// The series that this column of a row belongs to.
    fn series(&self, column: &str, name: &str, row: &Value) -> Option<Record> {
        let kind = self.by.map(|by| str_at(row, &[by]));
        let code = match &kind {
            Some(kind) => ascii_slug(kind, 80).replace('-', "_"),
            None => column.to_string(),
        };
        let mut record = series(&format!("ust:{}:{code}", self.name), Rank::Partial)?;
        record
            .set("name", kind.map_or(name.to_string(), |kind| format!("{name}, {kind}")))
            .set("publisher", PUBLISHER)
            .set("database", self.name)
            .set("code", code)
            .set("frequency", self.frequency)
            .set("unit", self.unit)
            .set("category", self.category)
            .set("url", self.page);
        if let Some(heading) = self.heading.map(|column| str_at(row, &[column])) {
            record.row("headings", json!({ "name": heading }));
        }
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::read_text;
    use crate::reader::Outcome;
    use crate::sources::statistical_series::read;
    use serde_json::{Value, json};

    fn answer(data: Value) -> String {
        json!({ "data": data, "meta": { "count": 1, "total-pages": 1 }, "links": {} }).to_string()
    }

    /// Given real values of 2005 and a day without one, when they are read, then each column is a
    /// series and every value is as published, to the cent.
    #[test]
    fn each_column_of_the_debt_is_a_series() {
        let text = answer(json!([
            { "record_date": "2005-12-06", "debt_held_public_amt": "4754600281664.05",
              "intragov_hold_amt": "3368110506847.87", "tot_pub_debt_out_amt": "8122710788511.92",
              "src_line_nbr": "1" },
            { "record_date": "2005-12-07", "debt_held_public_amt": "null",
              "intragov_hold_amt": "null", "tot_pub_debt_out_amt": "null" },
            { "record_date": "soon", "tot_pub_debt_out_amt": "1" },
        ]));
        let got = read_text(read, "statistical-series/debt_to_penny.json", &text);
        assert_eq!(
            got.ids(),
            [
                "ust:debt_to_penny:debt_held_public_amt",
                "ust:debt_to_penny:intragov_hold_amt",
                "ust:debt_to_penny:tot_pub_debt_out_amt",
            ]
        );
        assert_eq!(*got.field(2, "frequency"), "daily");
        let rows: Vec<&Value> = got.records[2].rows.iter().map(|(_, row)| &row["value"]).collect();
        assert_eq!(rows, [&json!("8122710788511.92"), &Value::Null]);
        assert_eq!(got.records[2].rows[0].1["number"], json!(8122710788511.92));
        assert_eq!(got.rejects, ["row 3: record_date is \"soon\""]);
    }

    #[test]
    fn a_column_of_rates_holds_a_series_for_each_security() {
        let row = |day: &str, security: &str, rate: &str| {
            json!({ "record_date": day, "security_type_desc": "Marketable",
                    "security_desc": security, "avg_interest_rate_amt": rate })
        };
        let text = answer(json!([
            row("2001-01-31", "Treasury Notes", "6.096"),
            row("2001-01-31", "Treasury Bonds", "8.450"),
            row("2001-02-28", "Treasury Notes", "6.071"),
            row("2001-02-28", "", "1"),
        ]));
        let got = read_text(read, "statistical-series/rates.json", &text);
        let ids =
            ["ust:avg_interest_rates:treasury_bonds", "ust:avg_interest_rates:treasury_notes"];
        assert_eq!(got.ids(), ids);
        assert_eq!(*got.field(0, "name"), "Average Interest Rate, Treasury Bonds");
        let (heading, values) = got.records[1].rows.split_first().unwrap();
        assert_eq!((&heading.1["name"], values.len()), (&json!("Marketable"), 2));
        assert_eq!(got.rejects.len(), 1);
        // The published text keeps its zeros.
        assert_eq!(got.records[0].rows[1].1["value"], "8.450");
    }

    #[test]
    fn other_datasets_and_pages_that_are_no_answer_are_skipped() {
        let other = answer(json!([{ "record_date": "2025-01-31", "exchange_rate": "1.5" }]));
        assert_eq!(read_text(read, "s/x.json", &other).outcome, Outcome::Skipped);
        assert_eq!(read_text(read, "s/x.html", "<html>404</html>").outcome, Outcome::Skipped);
        assert_eq!(read_text(read, "s/x.json", "[]").outcome, Outcome::Skipped);
    }
}
