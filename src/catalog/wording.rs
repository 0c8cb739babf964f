//! How citations and addresses are worded: ordinals, dates, slugs, the names of bill types.

use super::spec::Fields;
use super::spec::text;

/// 119 -> "119th".
pub fn ordinal(n: i64) -> String {
    let suffix = match (n % 10, n % 100) {
        (1, 11) | (2, 12) | (3, 13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

const MONTHS: [&str; 12] = [
    "Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.",
];

/// "2025-05-21" -> "May 21, 2025"; anything else is returned as it came.
pub fn long_date(iso: &str) -> String {
    let parts: Vec<&str> = iso.split('-').collect();
    if let [year, month, day] = parts[..]
        && let (Ok(m), Ok(d)) = (month.parse::<usize>(), day.parse::<u8>())
        && let Some(name) = MONTHS.get(m.wrapping_sub(1))
    {
        return format!("{name} {d}, {year}");
    }
    iso.to_string()
}

/// " (2025)" from a date field, or nothing when the record has no date.
pub fn year_of(fields: &Fields, name: &str) -> String {
    match text(fields, name).get(..4) {
        Some(year) => format!(" ({year})"),
        None => String::new(),
    }
}

/// " (May 21, 2025)" from a date field, or nothing.
pub fn date_of(fields: &Fields, name: &str) -> String {
    match text(fields, name) {
        "" => String::new(),
        date => format!(" ({})", long_date(date)),
    }
}

/// Lower case words joined by hyphens: "Ways and Means" -> "ways-and-means".
pub fn slug(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if c != '\'' && c != '’' && !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_string()
}

/// (code, how it is cited, congress.gov's path) for bill types, amendments and reports.
const LEGISLATIVE: [(&str, &str, &str); 13] = [
    ("hr", "H.R.", "house-bill"),
    ("s", "S.", "senate-bill"),
    ("hjres", "H.J. Res.", "house-joint-resolution"),
    ("sjres", "S.J. Res.", "senate-joint-resolution"),
    ("hres", "H. Res.", "house-resolution"),
    ("sres", "S. Res.", "senate-resolution"),
    ("hconres", "H. Con. Res.", "house-concurrent-resolution"),
    ("sconres", "S. Con. Res.", "senate-concurrent-resolution"),
    ("hamdt", "H. Amdt.", "house-amendment"),
    ("samdt", "S. Amdt.", "senate-amendment"),
    ("hrpt", "H.R. Rep. No.", "house-report"),
    ("srpt", "S. Rep. No.", "senate-report"),
    ("erpt", "S. Exec. Rep. No.", "executive-report"),
];

/// "hr" -> "H.R."
pub fn cited_type(code: &str) -> &str {
    LEGISLATIVE.iter().find(|t| t.0 == code).map_or(code, |t| t.1)
}

/// "hr" -> "house-bill", as in congress.gov's addresses.
pub fn path_type(code: &str) -> &str {
    LEGISLATIVE.iter().find(|t| t.0 == code).map_or(code, |t| t.2)
}

/// The code for congress.gov's path: "house-bill" -> "hr".
pub fn type_of_path(path: &str) -> Option<&'static str> {
    LEGISLATIVE.iter().find(|t| t.2 == path).map(|t| t.0)
}

/// "hr:119:1" -> "H.R. 1"; an id of another form is returned as it is.
pub fn cited_measure(id: &str) -> String {
    match id.split(':').collect::<Vec<_>>()[..] {
        [code, _, number] => format!("{} {number}", cited_type(code)),
        _ => id.to_string(),
    }
}

/// A day as ISO writes it.
pub fn day(iso: &str) -> Option<time::Date> {
    let (year, rest) = iso.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let is_iso =
        [(year, 4), (month, 2), (day, 2)].iter().all(|(part, length)| part.len() == *length);
    let month = time::Month::try_from(month.parse::<u8>().ok()?).ok()?;
    time::Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?)
        .ok()
        .filter(|_| is_iso)
}

/// The congress that sits on a date: a new one begins on 3 January of each odd year.
pub fn congress_on(iso: &str) -> Option<i64> {
    let year: i64 = iso.get(..4)?.parse().ok()?;
    let before_start = year % 2 == 1 && iso.get(5..10).is_some_and(|md| md < "01-03");
    Some((year - if before_start { 1 } else { 0 } - 1787) / 2)
}

/// The year in which a congress begins.
pub fn first_year(congress: i64) -> i64 {
    congress * 2 + 1787
}
