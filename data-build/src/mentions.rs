//! Ids of the bills and public laws that a text cites: the scanner of the catalog, with the
//! congress of a bill that states none judged by the text.

use josh::catalog::citations::{self, Setting};

/// Distinct canonical ids of the bills cited in a document of a congress, in order. One that states
/// no congress is of that congress, unless its sentence names another; with `None` it is left out,
/// because its number alone is ambiguous.
pub fn bills(text: &str, congress: Option<i64>) -> Vec<String> {
    ids("bills", text, congress.map_or(Setting::Unknown, Setting::During))
}

/// The same for a text that may look back: `congress` is the one at the time of writing.
pub fn bills_looking_back(text: &str, congress: Option<i64>) -> Vec<String> {
    ids("bills", text, congress.map_or(Setting::Unknown, Setting::LookingBack))
}

/// Distinct canonical ids of the public laws cited in a text, in order.
pub fn laws(text: &str) -> Vec<String> {
    ids("public-laws", text, Setting::Unknown)
}

fn ids(source: &str, text: &str, setting: Setting) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    citations::scan_for(source, text)
        .iter()
        .filter_map(|citation| citation.id(text, setting))
        .filter(|id| seen.insert(id.clone()))
        .collect()
}
