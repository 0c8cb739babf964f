//! What the feeds of a source do not have, though its publisher does. It is said in the summary, in
//! `SOURCES.md` and in the state, from which `build` takes it for the manifest.

const KNOWN_GAPS: &[(&str, &str)] = &[
    ("bills", "no statuses before 2003 (108th Congress) and no texts before 2013 (113th Congress)"),
    ("crs-reports", "summaries only: the API has no full texts"),
    ("gao-reports", "only reports that were among the newest when the feed was fetched"),
    ("saps", "no texts: PDFs, since 2009 only, are fetched but not read"),
    ("staff-directories", "the House only: the Senate publishes PDF reports"),
];

/// The known gaps of a source.
pub fn known_gaps(source: &str) -> impl Iterator<Item = &'static str> {
    KNOWN_GAPS.iter().filter(move |(key, _)| *key == source).map(|(_, gap)| *gap)
}
