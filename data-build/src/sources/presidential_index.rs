//! The Federal Register's JSON list of executive orders: what number an order of a given title and
//! day has.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use josh::catalog::ids;
use serde_json::Value;

use crate::formats::dates;
use crate::formats::json::str_at;

/// One order of the list.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: String,
    pub title: String,
    pub signed: Option<String>,
    pub published: Option<String>,
    pub president: String,
    pub document: Option<String>,
}

impl Entry {
    pub fn of(row: &Value) -> Option<Entry> {
        let number = str_at(row, &["executive_order_number"]);
        Some(Entry {
            id: ids::canonical("presidential-documents", &format!("eo:{number}"))?,
            title: str_at(row, &["title"]),
            signed: dates::iso(&str_at(row, &["signing_date"])),
            published: dates::iso(&str_at(row, &["publication_date"])),
            president: str_at(row, &["president", "name"]),
            document: ids::canonical("federal-register", &str_at(row, &["document_number"])),
        })
    }
}

/// How many folders above a page an index is looked for.
const LEVELS: usize = 8;
/// A page may go up some days after the signing.
const DAYS_APART: i64 = 4;

/// The order with this title, signed about this day, in an index that lies in one of the folders
/// above the page.
pub fn find(page: &Path, title: &str, day: &str) -> Option<Entry> {
    page.ancestors()
        .skip(1)
        .take(LEVELS)
        .find_map(|folder| matching(&entries_in(folder), title, day))
}

fn matching(entries: &[Entry], title: &str, day: &str) -> Option<Entry> {
    let apart = |e: &Entry| {
        e.signed
            .as_deref()
            .and_then(|s| days_between(s, day))
            .filter(|d| (0..=DAYS_APART).contains(d))
    };
    let mut close: Vec<(i64, &Entry)> =
        entries.iter().filter_map(|e| Some((apart(e)?, e))).collect();
    // The same title may come again within days: the nearest day before the page counts.
    close.sort_by_key(|(days, _)| *days);
    let exact = close.iter().find(|(_, e)| letters(&e.title) == letters(title));
    // Titles differ by a misprint, an article or a shortened end: the one clear winner of the same
    // day counts.
    let alike: Vec<_> =
        close.iter().filter(|(days, e)| *days <= 1 && is_alike(&e.title, title)).collect();
    exact.or(if let [one] = alike[..] { Some(one) } else { None }).map(|(_, e)| (*e).clone())
}

fn is_alike(listed: &str, title: &str) -> bool {
    let long_enough = plain(title).split(' ').count() >= 5;
    overlap(listed, title) >= 0.75 || long_enough && letters(listed).starts_with(&letters(title))
}

fn letters(title: &str) -> String {
    plain(title).replace(' ', "")
}

/// Lower case words without marks.
pub fn plain(title: &str) -> String {
    let letters = title.chars().filter(|c| !"'’‘".contains(*c));
    let spaced: String =
        letters.map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The share of words that two titles have in common.
fn overlap(a: &str, b: &str) -> f64 {
    let (a, b) = (plain(a), plain(b));
    let words =
        |t: &str| t.split(' ').map(str::to_string).collect::<std::collections::BTreeSet<_>>();
    let (a, b) = (words(&a), words(&b));
    a.intersection(&b).count() as f64 / a.union(&b).count().max(1) as f64
}

/// Days from one ISO date to another.
fn days_between(from: &str, to: &str) -> Option<i64> {
    Some(day_number(to)? - day_number(from)?)
}

/// Days since a fixed day, by the civil calendar.
fn day_number(iso: &str) -> Option<i64> {
    let mut parts = iso.split('-').map(|p| p.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day)
}

/// The orders listed in the JSON files of a folder, read once.
fn entries_in(folder: &Path) -> Arc<Vec<Entry>> {
    static READ: LazyLock<Mutex<HashMap<PathBuf, Arc<Vec<Entry>>>>> = LazyLock::new(Mutex::default);
    let mut read = READ.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    read.entry(folder.to_path_buf()).or_insert_with(|| Arc::new(load(folder))).clone()
}

fn load(folder: &Path) -> Vec<Entry> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    files.sort();
    let lists = files.iter().filter(|p| p.extension().is_some_and(|e| e == "json"));
    let values =
        lists.filter_map(|p| serde_json::from_str::<Value>(&std::fs::read_to_string(p).ok()?).ok());
    values
        .flat_map(|v| v.as_array().cloned().unwrap_or_default())
        .filter_map(|row| Entry::of(&row))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, title: &str, signed: &str) -> Entry {
        let (title, signed) = (title.to_string(), Some(signed.to_string()));
        Entry {
            id: id.into(),
            title,
            signed,
            published: None,
            president: String::new(),
            document: None,
        }
    }

    #[test]
    fn titles_and_days() {
        let entries = [
            entry("eo:1", "Restoring the Nation's Great Old Boats", "2025-12-30"),
            entry("eo:2", "Restoring the Nation's Great Old Boats", "2025-06-01"),
        ];
        let found = |title: &str, day: &str| matching(&entries, title, day).map(|e| e.id);
        assert_eq!(
            found("RESTORING THE NATION’S GREAT OLD BOATS", "2026-01-02").as_deref(),
            Some("eo:1")
        );
        assert_eq!(found("Restoring the Nations Great Old Baots", "2025-06-01"), None);
        assert_eq!(
            found("Restoring the Nation's Great Old", "2025-06-01").as_deref(),
            Some("eo:2")
        );
        assert_eq!(
            found("Restoring the Nation's Great and Old Boats", "2025-06-02").as_deref(),
            Some("eo:2")
        );
        assert_eq!(found("Restoring the Nation's Great Old Boats", "2025-08-01"), None);
    }

    #[test]
    fn the_nearest_of_two_with_one_title() {
        let entries =
            [entry("eo:1", "On Boats", "2025-03-02"), entry("eo:2", "On Boats", "2025-03-06")];
        assert_eq!(
            matching(&entries, "On boats", "2025-03-06").map(|e| e.id).as_deref(),
            Some("eo:2")
        );
        assert_eq!(
            matching(&entries, "On boats", "2025-03-02").map(|e| e.id).as_deref(),
            Some("eo:1")
        );
    }

    #[test]
    fn days_across_a_year() {
        assert_eq!(days_between("2025-12-30", "2026-01-02"), Some(3));
        assert_eq!(days_between("2024-02-28", "2024-03-01"), Some(2));
    }
}
