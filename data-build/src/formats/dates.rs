//! Parses dates of official files into ISO format.

use std::sync::LazyLock;

use regex::Regex;

use crate::patterns::pattern;

static MONTH_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b",
    )
});

static DAY_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(\d{1,2})[- ](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[- ](\d{4}|\d{2})\b",
    )
});

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// "2025-01-03T12:00:00Z", "20250103", "01/03/2025", "Jan. 3, 2025", "Friday, January 3, 2025" ->
/// "2025-01-03". `None` if the text has no date or an invalid one.
pub fn iso(text: &str) -> Option<String> {
    let text = text.trim();
    let digits =
        |range: std::ops::Range<usize>| text.get(range).and_then(|s| s.parse::<i64>().ok());
    let bytes = text.as_bytes();
    if bytes.len() >= 10 && bytes[4] == b'-' && bytes[7] == b'-' {
        return checked(digits(0..4)?, digits(5..7)?, digits(8..10)?);
    }
    if bytes.len() == 8 && bytes.iter().all(u8::is_ascii_digit) {
        return checked(digits(0..4)?, digits(4..6)?, digits(6..8)?);
    }
    if let [month, day, year] = text.split([' ', 'T']).next()?.split('/').collect::<Vec<_>>()[..] {
        return checked(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    }
    let c = MONTH_FIRST.captures(text)?;
    checked(c[3].parse().ok()?, month(&c[1])?, c[2].parse().ok()?)
}

/// Formats with the day first: "Fri, 03 Jan 2025 10:00:00 -0500", "3-Jan-2025", "3-Jan-25" ->
/// "2025-01-03".
pub fn day_first(text: &str) -> Option<String> {
    let c = DAY_FIRST.captures(text)?;
    let year: i64 = c[3].parse().ok()?;
    checked(if c[3].len() == 2 { 2000 + year } else { year }, month(&c[2])?, c[1].parse().ok()?)
}

fn month(name: &str) -> Option<i64> {
    MONTHS.iter().position(|m| name.eq_ignore_ascii_case(m)).map(|n| n as i64 + 1)
}

/// The ISO date, if the day is valid.
pub fn checked(year: i64, month: i64, day: i64) -> Option<String> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    ((1700..=2200).contains(&year) && (1..=days).contains(&day))
        .then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_with_the_day_first_are_parsed() {
        for text in ["Fri, 03 Jan 2025 10:00:00 -0500", "3-Jan-2025", "3-JAN-25", "03 January 2025"]
        {
            assert_eq!(day_first(text).as_deref(), Some("2025-01-03"), "{text}");
        }
        assert_eq!(day_first("31-Feb-2025"), None);
        assert_eq!(day_first("January 3, 2025"), None);
    }
}
