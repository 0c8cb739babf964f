//! Staff of Congress from the chambers' disbursement reports: positions of the House (CSV without
//! a header: name, title, quarter, bioguide, office), the House's quarterly summary of offices and
//! its statements of payments, and salary rows of the Senate.

use std::collections::HashMap;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use super::staff_disbursements;
use crate::formats::dates::iso;
use crate::formats::people::{self, ascii_slug};
use crate::formats::tables::{Row, Rows, Table};
use crate::formats::{committee_names, congress};
use crate::input::Input;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "staff-directories";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    if input.extension() != "csv" {
        return Ok(Outcome::Skipped);
    }
    let table = Table::open(input)?;
    if table.has(&["organization", "quarter_label", "description", "bioguide_id"]) {
        read_offices(table, out);
    } else if table.has(&["record_type", "payee_or_name", "description_or_position"]) {
        let period = senate_period(input)?;
        read_senate(table, period.as_deref(), out);
    } else if staff_disbursements::is_statement(&table) {
        staff_disbursements::read(input, out)?;
    } else if Rows::open(input)?
        .next()
        .is_some_and(|first| first.is_ok_and(|row| is_position(&row)))
    {
        read_positions(Rows::open(input)?, out);
    } else {
        // The lists of staffers, titles and offices that go with the positions repeat what those
        // say.
        return Ok(Outcome::Skipped);
    }
    Ok(Outcome::Read)
}

/// One entry before it has an id.
pub struct Entry<'a> {
    pub period: &'a str,
    pub chamber: &'a str,
    pub office: &'a str,
    pub name: String,
    pub title: &'a str,
    pub bioguide: &'a str,
}

/// The ids given so far, so that a second payment to the same person is not a second person.
#[derive(Default)]
pub struct Directory {
    taken: HashMap<String, String>,
}

impl Directory {
    pub fn add(&mut self, entry: Entry, out: &mut dyn Sink) {
        let whole = [entry.period, entry.chamber, entry.office, &entry.name, entry.title].join("|");
        let parts = [
            (entry.period, 12),
            (entry.chamber, 8),
            (entry.office, 42),
            (&entry.name, 40),
            (entry.title, 44),
        ];
        let slugs = parts
            .iter()
            .map(|(text, longest)| ascii_slug(text, *longest))
            .filter(|slug| !slug.is_empty());
        let slug = slugs.collect::<Vec<_>>().join("-");
        let mut id = format!("staff:{slug}");
        // Long parts are cut, so two entries can meet in one slug; only then is a number added.
        for n in 2.. {
            match self.taken.get(&id) {
                Some(other) if *other == whole => return,
                Some(_) => id = format!("staff:{slug}-{n}"),
                None => break,
            }
        }
        self.taken.insert(id.clone(), whole);
        let mut r = Record::new(SOURCE, id, Rank::Full);
        r.set("name", entry.name).set("office", entry.office).set("title_role", entry.title);
        r.set("period", entry.period)
            .set("chamber", entry.chamber)
            .set("bioguide", congress::bioguide(entry.bioguide));
        if entry.bioguide.is_empty() {
            r.set("committee", committee_names::code(entry.chamber, entry.office));
        }
        out.record(r);
    }
}

/// "2015Q1".
static QUARTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d{4}Q[1-4]$"));
/// Kinds of pay and dates of service, which are not part of a job's title.
static PAY_NOTE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\s*\((?:OTHER COMPENSATION|OVERTIME)\)$|\s+(?:FROM|TO) [A-Z]{3}\.? \d{1,2}\b.*$")
});
/// "DOE,JANE A", also with the zeros that stand for an O in some reports.
static PERSON: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[\p{L}0' .\-]+, ?[\p{L}0' .\-]+$"));
/// The year that the House puts before an office's name.
static YEAR_BEFORE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:FISCAL YEAR )?\d{4} "));

fn is_position(row: &Row) -> bool {
    row.cells.len() == 5 && QUARTER.is_match(&row.cells[2])
}

/// An office's name without the year.
pub fn office_of(organization: &str) -> &str {
    &organization[YEAR_BEFORE.find(organization).map_or(0, |year| year.end())..]
}

pub fn job(title: &str) -> &str {
    PAY_NOTE.find(title).map_or(title, |note| &title[..note.start()])
}

fn read_positions(rows: Rows, out: &mut dyn Sink) {
    let mut directory = Directory::default();
    for row in rows {
        let row = match row {
            Ok(row) => row,
            Err(e) => {
                out.reject("row", &e);
                continue;
            }
        };
        let place = format!("line {}", row.line);
        let [printed, title, period, bioguide, office] = &row.cells[..] else {
            out.reject(&place, "not five columns");
            continue;
        };
        // Members' offices pay people only; elsewhere a payee without a comma is a shop.
        if !PERSON.is_match(printed) && (bioguide.is_empty() || printed.is_empty()) {
            out.reject(&place, &format!("not a person: {printed:?}"));
            continue;
        }
        let name = people::from_register(printed);
        directory.add(
            Entry { period, chamber: "house", office, name, title: job(title), bioguide },
            out,
        );
    }
}

/// One entry for each office that paid staff in the quarter; the summary names no staff.
fn read_offices(mut table: Table, out: &mut dyn Sink) {
    let mut directory = Directory::default();
    while let Some(row) = table.next_readable(out) {
        let cell = |name: &str| table.get(&row, name);
        if cell("description") != "PERSONNEL COMPENSATION" {
            continue;
        }
        let office = office_of(cell("organization"));
        if office.is_empty() || !QUARTER.is_match(cell("quarter_label")) {
            out.reject(&format!("line {}", row.line), "no office or no quarter");
            continue;
        }
        let name = match cell("member_name") {
            "" => people::capitalized(office),
            member => format!("Office of {member}"),
        };
        let (period, bioguide) = (cell("quarter_label"), cell("bioguide_id"));
        directory.add(Entry { period, chamber: "house", office, name, title: "", bioguide }, out);
    }
}

/// Salary rows without their `office` column, which the recovery of the printed tables got wrong.
fn read_senate(mut table: Table, period: Option<&str>, out: &mut dyn Sink) {
    let mut directory = Directory::default();
    while let Some(row) = table.next_readable(out) {
        if table.get(&row, "record_type") != "salary" {
            continue;
        }
        let (printed, title) =
            (table.get(&row, "payee_or_name"), job(table.get(&row, "description_or_position")));
        if title.is_empty() || !PERSON.is_match(printed) {
            out.reject(
                &format!("line {}", row.line),
                &format!("not a person with a position: {printed:?}"),
            );
            continue;
        }
        let name = people::from_register(printed);
        let period = period.unwrap_or_default();
        directory
            .add(Entry { period, chamber: "senate", office: "", name, title, bioguide: "" }, out);
    }
}

/// Salary rows have no dates; the report they are from is of the half-year in which its newest
/// voucher was posted.
fn senate_period(input: &Input) -> Result<Option<String>> {
    let mut table = Table::open(input)?;
    let mut newest: Option<String> = None;
    while let Some(row) = table.next_row() {
        if let Ok(row) = row {
            newest = newest.max(iso(table.get(&row, "date_posted")));
        }
    }
    Ok(newest.and_then(|date| half_year(&date)))
}

/// The Senate reports April to September, and October to March.
fn half_year(date: &str) -> Option<String> {
    let (year, month): (i64, i64) = (date.get(..4)?.parse().ok()?, date.get(5..7)?.parse().ok()?);
    Some(match month {
        4..=9 => format!("{year}Q2-Q3"),
        10.. => format!("{year}Q4-{}Q1", year + 1),
        _ => format!("{}Q4-{year}Q1", year - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn a_second_payment_is_not_a_second_person() {
        let csv = "\"DOE,JANE A\",CLERK,2015Q1,X000001,HON. ADA ROE\n\
                   \"DOE,JANE A\",CLERK (OTHER COMPENSATION),2015Q1,X000001,HON. ADA ROE\n\
                   \"MCROE, AL\",COUNSEL,2015Q1,\"\",COMMITTEE ON AGRICULTURE\n\
                   CARD PAYMENT,BONUS,2015Q1,\"\",CLERK OF THE HOUSE\n";
        let got = read_text(read, "s/positions.csv", csv);
        assert_eq!(
            got.ids(),
            [
                "staff:2015q1-house-hon-ada-roe-jane-a-doe-clerk",
                "staff:2015q1-house-committee-on-agriculture-al-mcroe-counsel"
            ]
        );
        assert_eq!(*got.field(0, "bioguide"), "X000001");
        assert_eq!(
            (got.field(1, "committee"), got.field(1, "name")),
            (&"HSAG".into(), &"Al McRoe".into())
        );
        assert_eq!(got.rejects.len(), 1);
    }

    #[test]
    fn the_senates_office_column_is_not_presented() {
        let csv = "office,record_type,date_posted,payee_or_name,description_or_position\n\
                   CHAPLAIN,salary,,\"DOE, JANE\",INTERN FROM MAY 28 TO AUG. 9\n\
                   CHAPLAIN,salary,,STAFF PER DIEM,\n\
                   CHAPLAIN,expense,09/02/2024,SHOP,PENS\n";
        let got = read_text(read, "s/senate.csv", csv);
        assert_eq!(got.ids(), ["staff:2024q2-q3-senate-jane-doe-intern"]);
        assert!(got.field(0, "office").is_null());
        assert_eq!(got.rejects.len(), 1);
    }

    #[test]
    fn offices_that_paid_staff_are_listed_once() {
        let csv = "bioguide_id,organization,description,member_name,quarter_label\n\
                   X000001,2025 HON. ADA ROE,PERSONNEL COMPENSATION,Ada Roe,2025Q3\n\
                   X000001,2025 HON. ADA ROE,PERSONNEL COMPENSATION,Ada Roe,2025Q3\n\
                   ,FISCAL YEAR 2025 STATIONERY,EQUIPMENT,,2025Q3\n";
        let got = read_text(read, "s/summary.csv", csv);
        assert_eq!((got.records.len(), got.field(0, "name")), (1, &"Office of Ada Roe".into()));
        assert_eq!(*got.field(0, "office"), "HON. ADA ROE");
    }
}
