//! Finds citations of federal documents in text: bills, public laws, committee reports, executive
//! orders, CFR sections, Federal Register documents, CRS reports, and addresses of official pages.
//!
//! Each source's forms are found by a pattern that is stricter than the grammar of [`ids`], which
//! reads what somebody typed into a box for ids: in prose "S. 113" is a bill, but not in "410 U.S.
//! 113". What stands around a form decides; what is found becomes an id by the grammar of [`ids`].
//! Nothing here looks at a bundle, so whether a cited record exists is for the caller to check.

mod bills;
mod boundaries;
mod congress;
mod documents;
mod laws;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::ids::spelling::compile;
use super::ids::{self, Parsed};

pub use congress::Setting;

/// A citation in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The bytes of the text that hold it, with a congress that follows it directly. In a list
    /// ("H.R. 1, 2, and 3") each item has bytes of its own; the bills within "H.R. 21-29" share
    /// those of the last number.
    pub range: Range<usize>,
    /// The id; a bill whose congress is not stated beside it is [`Parsed::AnyCongress`].
    pub cited: Parsed,
}

impl Citation {
    fn new(range: Range<usize>, cited: Parsed) -> Citation {
        Citation { range, cited }
    }

    /// A citation whose id is complete, if the grammar of its source takes it.
    fn of(range: Range<usize>, source: &'static str, id: &str) -> Option<Citation> {
        let text = ids::canonical(source, id)?;
        Some(Citation::new(range, Parsed::Id(ids::Id { source, text })))
    }

    pub fn source(&self) -> &'static str {
        self.cited.source()
    }

    /// The id, for a bill without a stated congress with the one that its surroundings suggest.
    pub fn id(&self, text: &str, setting: Setting) -> Option<String> {
        match &self.cited {
            Parsed::Id(id) => Some(id.text.clone()),
            Parsed::AnyCongress { .. } => {
                let congress = congress::judge(text, &self.range, setting)?;
                Some(self.cited.in_congress(congress).text)
            }
        }
    }
}

type Finder = fn(&str) -> Vec<Citation>;

/// What finds the citations of each source.
const FINDERS: &[(&str, Finder)] = &[
    ("bills", bills::find),
    ("public-laws", laws::find),
    ("committee-reports", documents::committee_reports),
    ("presidential-documents", documents::orders),
    ("cfr-sections", documents::cfr_sections),
    ("federal-register", documents::federal_register),
    ("crs-reports", documents::crs_reports),
];

/// The citations of every source in a text, by position. Where two overlap, the longer one counts.
pub fn scan(text: &str) -> Vec<Citation> {
    find(text, |_| true)
}

/// The citations of one source, by position.
pub fn scan_for(source: &str, text: &str) -> Vec<Citation> {
    find(text, |key| key == source)
}

fn find(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<Citation> {
    let mut addresses: Vec<Range<usize>> = Vec::new();
    let mut found: Vec<Citation> = Vec::new();
    for range in addresses_in(text) {
        if let Some(cited) = ids::parse(&text[range.clone()]).filter(|c| wanted(c.source())) {
            found.push(Citation::new(range.clone(), cited));
        }
        addresses.push(range);
    }
    let inside_address = |citation: &Citation| {
        let next = addresses.partition_point(|a| a.start <= citation.range.start);
        next > 0 && addresses[next - 1].end > citation.range.start
    };
    for (_, finder) in FINDERS.iter().filter(|(key, _)| wanted(key)) {
        found.extend(finder(text).into_iter().filter(|c| !inside_address(c)));
    }
    without_overlaps(found)
}

fn addresses_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| compile(r#"(?-i)https?://[^\s<>"”\[\]{}|]+"#));
    ADDRESS.find_iter(text).map(|m| {
        let address = m.as_str().trim_end_matches(['.', ',', ';', ':', '\'', '’', ')']);
        m.start()..m.start() + address.len()
    })
}

/// By position, the longest first where several begin, without those inside one that is kept. The
/// items of a range of bills have the same bytes and all stay.
fn without_overlaps(mut found: Vec<Citation>) -> Vec<Citation> {
    found.sort_by_key(|c| (c.range.start, std::cmp::Reverse(c.range.end)));
    let mut kept: Vec<Citation> = Vec::new();
    for citation in found {
        let overlaps = kept
            .last()
            .is_some_and(|k| k.range.end > citation.range.start && k.range != citation.range);
        if !overlaps {
            kept.push(citation);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |c: Citation| match c.cited {
            Parsed::Id(id) => format!("{} {}", id.text, &text[c.range]),
            Parsed::AnyCongress { kind, number, .. } => {
                format!("{kind}:?:{number} {}", &text[c.range])
            }
        };
        scan(text).into_iter().map(show).collect()
    }

    /// Given a text that cites several sources, when it is scanned, then each citation comes once,
    /// in order, with its bytes.
    #[test]
    fn citations_of_all_sources_come_in_order() {
        let text = "S. 5 (119th Congress) became Pub. L. 119-1; see H. Rept. 119-106, E.O. 14110, \
                    40 CFR 122.26(b), FR Doc. 2026-08558 and CRS Report R47892.";
        let expected = [
            "s:119:5 S. 5 (119th Congress",
            "pl:119:1 Pub. L. 119-1",
            "hrpt:119:106 H. Rept. 119-106",
            "eo:14110 E.O. 14110",
            "cfr:40:122.26 40 CFR 122.26(b)",
            "2026-08558 FR Doc. 2026-08558",
            "R47892 R47892",
        ];
        assert_eq!(shown(text), expected);
    }

    /// Given addresses, when a text is scanned, then one of an official page is a citation, and
    /// nothing else is found inside of any.
    #[test]
    fn addresses_are_citations() {
        let text = "See https://www.congress.gov/bill/118th-congress/senate-bill/5. \
                    Or (https://example.com/S.7/H.R.8).";
        assert_eq!(
            shown(text),
            ["s:118:5 https://www.congress.gov/bill/118th-congress/senate-bill/5"]
        );
    }

    /// Given one source, when a text is scanned for it, then citations of others are left out.
    #[test]
    fn one_source_is_scanned_for() {
        let found = scan_for("public-laws", "S. 5 became Public Law No. 119-1.");
        assert_eq!(found.iter().map(Citation::source).collect::<Vec<_>>(), ["public-laws"]);
    }
}
