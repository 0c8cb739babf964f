//! The text of a CBO cost estimate, taken from its PDF. CBO prints no publication number in it, so
//! the file is named after that: `61461.txt`, `cbo-61461.txt`, `61461-hr82.txt`.

use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::wording;
use regex::Regex;

use crate::formats::dates;
use crate::input::Input;
use crate::mentions;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

static NUMBERED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:cbo[-_. ]?)?(\d{4,7})(?:[-_. ].*)?\.txt(?:\.\w+)?$"));

/// The headings of an estimate, each on a line of its own.
const HEADINGS: &[&str] = &[
    "At a Glance",
    "Bill Summary",
    "Legislation Summary",
    "Summary",
    "Summary of Legislation",
    "Estimated Federal Cost",
    "Estimated Cost to the Federal Government",
    "Basis of Estimate",
    "Direct Spending",
    "Revenues",
    "Spending Subject to Appropriation",
    "Uncertainty",
    "Pay-As-You-Go Considerations",
    "Increase in Long-Term Net Direct Spending and Deficits",
    "Increase in Long-Term Deficits",
    "Mandates",
    "Intergovernmental and Private-Sector Impact",
    "Previous CBO Estimate",
    "Previous CBO Estimates",
    "Estimate Prepared By",
    "Estimate Reviewed By",
    "Estimate Approved By",
];

/// A title takes a few lines at most, and stands near the top.
const LONGEST_TITLE: usize = 4;
const TOP: usize = 30;

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(number) = NUMBERED.captures(input.file_name()).map(|c| c[1].to_string()) else {
        return Ok(Outcome::Skipped);
    };
    let text = input.text()?;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let top = &lines[..lines.len().min(TOP)];
    let mut record = Record::new("cbo-estimates", format!("cbo:{number}"), Rank::Full);
    let date = top.iter().filter(|line| is_date_line(line)).find_map(|line| dates::iso(line));
    let title = title(top);
    let congress = date.as_deref().and_then(wording::congress_on);
    let bill = title.as_ref().and_then(|title| mentions::bills(title, congress).into_iter().next());
    record
        .set("number", number.parse::<i64>().ok())
        .set("title", title)
        .set("bill_id", bill)
        .set("deficit_effect_millions", deficit_effect(&lines));
    let sections = sections(&lines);
    if sections.is_empty() {
        out.reject(input.file_name(), "no text");
        return Ok(Outcome::Read);
    }
    record.body("text", date.as_deref().unwrap_or_default(), sections);
    record.set("published_date", date);
    out.record(record);
    Ok(Outcome::Read)
}

/// "September 9, 2024" and nothing else: the days in sentences are those of the bill.
fn is_date_line(line: &str) -> bool {
    line.len() <= "Wednesday, September 30, 2026".len() && line.starts_with(char::is_uppercase)
}

/// "H.R. 82, Social Security Fairness Act of 2023", above "As introduced …".
fn title(lines: &[&str]) -> Option<String> {
    let begins = |line: &&str| {
        (line.starts_with("H.") || line.starts_with("S."))
            && line.contains(|c: char| c.is_ascii_digit())
    };
    let at = lines.iter().position(begins)?;
    let rest = lines[at..].iter().take(LONGEST_TITLE);
    let own = rest.take_while(|line| !line.is_empty() && !line.starts_with("As "));
    Some(own.copied().collect::<Vec<_>>().join(" "))
}

/// The last column of the line on the deficit in the table at the top: the effect over the whole
/// period of the estimate. Nothing unless every column of the table is there.
fn deficit_effect(lines: &[&str]) -> Option<i64> {
    static PERIODS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^By Fiscal Year, Millions of Dollars((?:\s+\d{4}(?:[-–]\d{4})?)+)$")
    });
    static DEFICIT: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^Increase or Decrease \([-–−]\) in the Deficit\s+(\S.*)$"));
    let header = lines.iter().position(|line| PERIODS.is_match(line))?;
    let periods = PERIODS.captures(lines[header])?[1].split_whitespace().count();
    let row = lines[header..].iter().take(TOP).find_map(|line| DEFICIT.captures(line))?;
    let cells: Vec<&str> = row.get(1)?.as_str().split_whitespace().collect();
    // "*" is an amount near zero, and "not estimated" is none.
    let amount = cells.last()?.replace(',', "").replace(['–', '−'], "-");
    if cells.len() == periods { amount.parse().ok() } else { None }
}

/// The text by its headings; what stands above the first is a section without one.
fn sections(lines: &[&str]) -> Vec<Section> {
    let mut sections = vec![Section { level: 1, ..Section::default() }];
    let mut open = String::new();
    for line in lines.iter().chain([&""]) {
        let heading = HEADINGS.iter().find(|h| line.trim_end_matches(':').eq_ignore_ascii_case(h));
        if (heading.is_some() || line.is_empty())
            && let Some(last) = sections.last_mut()
        {
            let gap = if last.text.is_empty() || open.is_empty() { "" } else { "\n\n" };
            last.text.push_str(&format!("{gap}{}", std::mem::take(&mut open)));
        }
        match heading {
            Some(heading) => {
                let (section, heading) = (heading.to_string(), heading.to_string());
                sections.push(Section { section, heading, level: 1, text: String::new() });
            }
            None if line.is_empty() => {}
            None => {
                // The lines of a table stay lines; those of a paragraph are joined.
                let is_table = line.contains("  ") || line.contains('\t');
                open.push_str(if open.is_empty() {
                    ""
                } else if is_table {
                    "\n"
                } else {
                    " "
                });
                open.push_str(line);
            }
        }
    }
    sections.retain(|section| !section.text.is_empty());
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    const TEXT: &str = "Congressional Budget Office\nCost Estimate\nSeptember 9, 2024\n\n\
        At a Glance\nH.R. 82, Social Security Fairness Act of\n2023\n\
        As introduced in the House of Representatives on January 9, 2023\n\n\
        By Fiscal Year, Millions of Dollars     2024    2024-2029    2024-2034\n\
        Direct Spending (Outlays)                  0       91,970      195,650\n\
        Revenues                                   0            0            0\n\
        Increase or Decrease (-) in the Deficit    0       91,970      195,650\n\
        Spending Subject to Appropriation          0  not estimated  not estimated\n\n\
        Bill Summary\nTwo rules would end.\nMore is paid to retirees.\n\nMANDATES:\nNone.\n";

    #[test]
    fn a_text_under_its_publication_number() {
        for name in ["60690.txt", "cbo-60690.txt", "CBO_60690.txt", "60690-hr82.txt"] {
            let read = read_text(read, &format!("cbo-estimates/text/{name}"), TEXT);
            assert_eq!(read.ids(), ["cbo:60690"], "{name}");
            assert_eq!(read.field(0, "deficit_effect_millions"), 195_650);
        }
        let read = read_text(read, "cbo-estimates/60690.txt", TEXT);
        assert_eq!(read.field(0, "title"), "H.R. 82, Social Security Fairness Act of 2023");
        assert_eq!(read.field(0, "bill_id"), "hr:118:82");
        assert_eq!(read.field(0, "published_date"), "2024-09-09");
        let sections = &read.records[0].bodies[0].sections;
        let headings: Vec<&str> = sections.iter().map(|s| s.heading.as_str()).collect();
        assert_eq!(headings, ["", "At a Glance", "Bill Summary", "Mandates"]);
        assert_eq!(sections[2].text, "Two rules would end. More is paid to retirees.");
        assert!(sections[1].text.contains("\nRevenues "), "{}", sections[1].text);
    }

    #[test]
    fn an_effect_that_is_not_stated_clearly_is_left_out() {
        let effect = |from: &str, to: &str| {
            let text = TEXT.replace(from, to);
            deficit_effect(&text.lines().map(str::trim).collect::<Vec<_>>())
        };
        let row = "in the Deficit    0       91,970      195,650";
        assert_eq!(effect(row, "in the Deficit    0  -3  -1,250"), Some(-1_250));
        assert_eq!(effect(row, "in the Deficit    0  −3  −1,250"), Some(-1_250));
        assert_eq!(effect(row, "in the Deficit    0  *  *"), None);
        assert_eq!(effect(row, "in the Deficit    0  91,970  not estimated"), None);
        assert_eq!(effect(row, "in the Deficit    0  91,970"), None);
        assert_eq!(effect("Millions of Dollars", "Billions of Dollars"), None);
    }

    #[test]
    fn an_excerpt_without_a_number_is_no_estimate() {
        let name = "cbo-estimates/text/CBO-hr272-118-in-CRPT-118srpt298.excerpt.txt";
        assert_eq!(read_text(read, name, TEXT).outcome, Outcome::Skipped);
        let empty = read_text(read, "cbo-estimates/60690.txt", "\n\n");
        assert_eq!((empty.records.len(), empty.rejects.len()), (0, 1));
    }
}
