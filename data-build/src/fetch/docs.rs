//! `josh-data-build sources`: prints the table of feeds as Markdown. `SOURCES.md` is a copy.

use josh::catalog::SOURCES;

use super::coverage;
use super::feeds::FEEDS;
use super::publishers::{self, Feed, HOSTS, Listing, Numbered};

pub fn page() -> String {
    let mut page = String::from(HEAD);
    for source in SOURCES {
        for feed in FEEDS.iter().filter(|f| f.source == source.key) {
            page.push_str(&row(feed));
        }
    }
    page.push_str("\n## Known gaps\n\n| source | what the feeds do not have |\n|---|---|\n");
    for source in SOURCES {
        for gap in coverage::known_gaps(source.key) {
            page.push_str(&format!("| {} | {gap} |\n", source.key));
        }
    }
    page.push_str(
        "\n## Keys\n\n| host | variable | where to get one | without it |\n|---|---|---|---|\n",
    );
    for (host, key) in HOSTS.iter().filter_map(|h| Some((h.name, h.key.as_ref()?))) {
        let without = match key.per_minute_without {
            Some(rate) => format!("limited to {rate} requests per minute"),
            None => "its sources are skipped, with a message".to_string(),
        };
        page.push_str(&format!("| {host} | `{}` | <{}> | {without} |\n", key.variable, key.get_at));
    }
    page
}

const HEAD: &str = "\
# Where the data come from

Written by `josh-data-build sources` from the table in `src/fetch/feeds.rs`; a test compares the
two.

An address with `{congress}`, `{session}`, `{year}`, `{quarter}`, `{month}` or `{day}` is requested
once for each of them since `--since`. *List* says how the files are found. **No address was tested
against a live server when this table was written**: they come from the publishers' documentation
and from third-party reports.

| source | publisher | address | list | format | licence | frequency | key |
|---|---|---|---|---|---|---|---|
";

fn row(feed: &Feed) -> String {
    let key = publishers::host_of(feed.address).and_then(|host| host.key.as_ref());
    let key = key.map(|key| key.variable);
    let list = match &feed.listing {
        Listing::File => "single file".to_string(),
        Listing::Bulk { archives: false } => "bulk data JSON".to_string(),
        Listing::Bulk { archives: true } => {
            "bulk data JSON; a ZIP per folder, then what changed".to_string()
        }
        Listing::Sitemap { .. } => "sitemap".to_string(),
        Listing::Numbered(_) => {
            "numbers up to the highest in the index; without one, until five are missing"
                .to_string()
        }
        Listing::Links { .. } => "links on the page".to_string(),
        Listing::Items { .. } => "API list, one request per item".to_string(),
        Listing::Statements => "single file, and the PDFs that it names".to_string(),
        Listing::Pages(_) => "API pages".to_string(),
        Listing::BankDatabases => {
            "API list of series by database (`--boj-databases`), then values by code".to_string()
        }
        Listing::LaborSeries => "one request for a fixed list of series".to_string(),
        Listing::IncludedIn(other) => format!("included in {other}"),
    };
    let address = match &feed.listing {
        Listing::Sitemap { file } | Listing::Numbered(Numbered { file, .. }) => {
            format!("`{}` → `{file}`", feed.address)
        }
        _ => format!("`{}`", feed.address),
    };
    let key = key.map_or("none".to_string(), |k| format!("`{k}`"));
    let cells = [
        feed.source,
        feed.publisher,
        &address,
        &list,
        feed.format,
        feed.licence,
        feed.frequency,
        &key,
    ];
    format!("| {} |\n", cells.join(" | "))
}
