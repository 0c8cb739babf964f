//! Staff of the House from its Statement of Disbursements, the CSV of all payments of a quarter:
//! those who are paid are the payees of its rows on personnel.

use std::collections::BTreeMap;

use anyhow::Result;

use super::staff_directories::{Directory, Entry, job, office_of};
use crate::formats::dates::{checked, day_first, iso};
use crate::formats::people;
use crate::formats::tables::{Row, Table};
use crate::input::Input;
use crate::record::Sink;

/// Whether a table has the columns of the Statement; those for the quarter have gone by two names.
pub fn is_statement(table: &Table) -> bool {
    let columns = [
        "organization",
        "sort subtotal description",
        "sort sequence",
        "vendor name",
        "description",
        "amount",
    ];
    table.has(&columns) && END_OF_SERVICE.iter().any(|name| table.has(&[name]))
}

const END_OF_SERVICE: [&str; 2] = ["perform end dt", "end date"];

/// Reads the payees. The rows do not name the quarter, so they are gone through twice.
pub fn read(input: &Input, out: &mut dyn Sink) -> Result<()> {
    let Some(period) = quarter_of(input)? else {
        out.reject("the whole file", "no quarter: no pay for service has an end");
        return Ok(());
    };
    let mut directory = Directory::default();
    let mut table = Table::open(input)?;
    while let Some(row) = table.next_readable(out) {
        if !is_pay(&table, &row) {
            continue;
        }
        match entry(&table, &row, &period) {
            Ok(entry) => directory.add(entry, out),
            Err(reason) => out.reject(&format!("line {}", row.line), &reason),
        }
    }
    Ok(())
}

/// Whether a row is a payment to someone for work: sums have rows of their own, and what is taken
/// back is negative.
fn is_pay(table: &Table, row: &Row) -> bool {
    table.get(row, "sort subtotal description") == "PERSONNEL COMPENSATION"
        && table.get(row, "sort sequence") == "DETAIL"
        && !table.get(row, "amount").starts_with(['-', '('])
}

fn entry<'a>(table: &Table, row: &'a Row, period: &'a str) -> Result<Entry<'a>, String> {
    if table.has_cells_after(row, "amount") {
        return Err("more cells than columns: a comma without quotes moved them".into());
    }
    let (printed, office) =
        (table.get(row, "vendor name"), office_of(table.get(row, "organization")));
    if office.is_empty() || !is_person(printed) {
        return Err(format!("not a person in an office: {printed:?}"));
    }
    let (name, title) = (people::from_register(printed), job(table.get(row, "description")));
    Ok(Entry { period, chamber: "house", office, name, title, bioguide: "" })
}

/// "DOE,JANE A" or, as the newer statements have it, "DOE JANE A".
fn is_person(printed: &str) -> bool {
    let letters = printed.chars().all(|c| c.is_alphabetic() || " ,.'’-".contains(c));
    letters && printed.split([' ', ',']).filter(|word| !word.is_empty()).count() >= 2
}

/// The quarter in which most of the service that is paid for ended: late pay is of the quarter
/// before.
fn quarter_of(input: &Input) -> Result<Option<String>> {
    let mut table = Table::open(input)?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(row) = table.next_row() {
        let Ok(row) = row else { continue };
        if is_pay(&table, &row) {
            let ended = END_OF_SERVICE.iter().find_map(|name| day(table.get(&row, name)));
            if let Some(quarter) = ended.and_then(|day| quarter(&day)) {
                *counts.entry(quarter).or_default() += 1;
            }
        }
    }
    Ok(counts.into_iter().max_by_key(|(_, count)| *count).map(|(quarter, _)| quarter))
}

/// "31-Mar-25", "3/31/2025" or "3/31/25".
fn day(text: &str) -> Option<String> {
    day_first(text).or_else(|| iso(text)).or_else(|| {
        let parts: Vec<i64> =
            text.split('/').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let [month, day, year] = parts[..] else { return None };
        checked(2000 + year, month, day)
    })
}

fn quarter(day: &str) -> Option<String> {
    let month: u32 = day.get(5..7)?.parse().ok()?;
    Some(format!("{}Q{}", day.get(..4)?, month.div_ceil(3)))
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::read_text;
    use crate::sources::staff_directories::read;

    /// Written for this test with the columns that the House has used since the end of 2022,
    /// padded as it pads them.
    const NEWER: &str = "ORGANIZATION,FISCAL YEAR OR LEGISLATIVE YEAR,ORGANIZATION CODE,PROGRAM,PROGRAM CODE,\
        SORT SUBTOTAL DESCRIPTION,BUDGET OBJECT CLASS,SORT SEQUENCE,TRANSACTION DATE,DATA SOURCE,DOCUMENT,VENDOR NAME,\
        VENDOR ID,PERFORM START DT,PERFORM END DT,DESCRIPTION,BUDGET OBJECT CODE,AMOUNT   ,\n\
        2025 HON. ADA DOE,LY2025,1,MEMBERS REPRESENTATIONAL ALLOWANCE,M,PERSONNEL COMPENSATION,11,DETAIL,,PR,,\
        ROE JANE A ,,03-Jan-25,31-Mar-25,CHIEF OF STAFF,1105,\"40,000.00\",\n\
        2025 HON. ADA DOE,LY2025,1,MEMBERS REPRESENTATIONAL ALLOWANCE,M,PERSONNEL COMPENSATION,11,DETAIL,,PR,,\
        ROE JANE A,,03-Jan-25,31-Mar-25,CHIEF OF STAFF (OTHER COMPENSATION),1105,500,\n\
        2024 HON. ADA DOE,LY2024,1,MEMBERS REPRESENTATIONAL ALLOWANCE,M,PERSONNEL COMPENSATION,11,DETAIL,,PR,,\
        \"MCKAY III,AL\",,01-Dec-24,31-Dec-24,STAFF ASSISTANT,1105,100,\n\
        2025 HON. ADA DOE,LY2025,1,M,M,PERSONNEL COMPENSATION,11,DETAIL,,PR,,GONE PAT,,,31-Mar-25,CLERK,1105,-100,\n\
        2025 HON. ADA DOE,LY2025,1,M,M,PERSONNEL COMPENSATION,11,SUBTOTAL,,,,,,,,TOTALS:,,40600,\n\
        2025 HON. ADA DOE,LY2025,1,M,M,SUPPLIES AND MATERIALS,26,DETAIL,,AP,,PENS INC,,,01-Feb-25,PENS,2620,10,\n\
        2025 COMMITTEE ON AGRICULTURE,FY2025,2,C,C,PERSONNEL COMPENSATION,11,DETAIL,,PR,,\
        SMITH,SAM,,,31-Mar-25,CLERK,1105,9\n\
        2025 COMMITTEE ON AGRICULTURE,FY2025,2,C,C,PERSONNEL COMPENSATION,11,DETAIL,,PR,,\
        PAYROLL 2025,,,31-Mar-25,,1105,9,\n";

    #[test]
    fn those_who_are_paid_are_staff() {
        let found = read_text(read, "staff-directories/house-disbursements/x.csv", NEWER);
        assert_eq!(
            found.ids(),
            [
                "staff:2025q1-house-hon-ada-doe-roe-jane-a-chief-of-staff",
                "staff:2025q1-house-hon-ada-doe-al-mckay-iii-staff-assistant",
            ]
        );
        assert_eq!(
            (found.field(0, "period"), found.field(0, "office")),
            (&"2025Q1".into(), &"HON. ADA DOE".into())
        );
        assert_eq!(
            (found.field(0, "name"), found.field(1, "name")),
            (&"Roe Jane A".into(), &"Al McKay III".into())
        );
        assert_eq!(found.field(0, "title_role"), "CHIEF OF STAFF");
        assert_eq!(found.rejects.len(), 2, "{:?}", found.rejects);
        assert!(
            found.rejects[0].contains("more cells") && found.rejects[1].contains("PAYROLL"),
            "{:?}",
            found.rejects
        );
    }

    #[test]
    fn the_older_columns() {
        let csv = "ORGANIZATION,PROGRAM,SORT SUBTOTAL DESCRIPTION,SORT SEQUENCE,TRANSACTION DATE,DATA SOURCE,DOCUMENT,\
            VENDOR NAME,PERFORM START DT,PERFORM END DT,DESCRIPTION,AMOUNT\n\
            FISCAL YEAR 2020 COMMITTEE ON AGRICULTURE,C,PERSONNEL COMPENSATION,DETAIL,,,,\
            \"DOE,JANE\",7/1/20,9/30/20,COUNSEL,1\n";
        let found = read_text(read, "staff-directories/house-disbursements/y.csv", csv);
        assert_eq!(found.ids(), ["staff:2020q3-house-committee-on-agriculture-jane-doe-counsel"]);
        assert_eq!(found.field(0, "committee"), "HSAG");
    }

    #[test]
    fn a_statement_without_a_quarter_is_rejected() {
        let csv = "ORGANIZATION,SORT SUBTOTAL DESCRIPTION,SORT SEQUENCE,VENDOR NAME,END DATE,DESCRIPTION,AMOUNT\n\
            TEA,PERSONNEL COMPENSATION,DETAIL,\"DOE,JANE\",soon,CLERK,1\n";
        let found = read_text(read, "staff-directories/house-disbursements/z.csv", csv);
        assert_eq!((found.records.len(), found.rejects.len()), (0, 1));
    }
}
