//! `josh-data-build sources`: the table of feeds as Markdown, which `SOURCES.md` is a copy of.

use josh::catalog::SOURCES;

use super::names;
use super::publishers::{self, Built, FEEDS, Feed, HOSTS, Listing};

/// The page as committed.
pub fn page() -> String {
    let mut page = String::from(HEAD);
    for source in SOURCES {
        for feed in FEEDS.iter().filter(|f| f.source == source.key) {
            page.push_str(&row(feed));
        }
    }
    page.push_str("\n## Keys\n\n| host | variable | where to get one | without it |\n|---|---|---|---|\n");
    for (host, key) in HOSTS.iter().filter_map(|h| Some((h.name, h.key.as_ref()?))) {
        let without = match key.without {
            Some(rate) => format!("fetched at {rate} requests a minute"),
            None => "skipped, and said so".to_string(),
        };
        page.push_str(&format!("| {host} | `{}` | <{}> | {without} |\n", key.variable, key.get_at));
    }
    page
}

const HEAD: &str = "\
# Where the data come from

Written by `josh-data-build sources` from the table in `src/fetch/publishers.rs`; a test keeps the two equal.

An address with `{congress}`, `{session}`, `{year}`, `{quarter}`, `{month}` or `{day}` is asked for once for each of them since
`--since`. *List* says how it leads to files. *Built* says whether `build` reads the form today; a file that it does not read
is kept and passed over. **No address was tried against a live server while this table was written**: they come from the
publishers' documentation and from what others wrote of it.

| source | publisher | address | list | form | licence | rhythm | key | built |
|---|---|---|---|---|---|---|---|---|
";

fn row(feed: &Feed) -> String {
    let key = names::host(feed.address).and_then(|h| publishers::host(&h)?.key.as_ref()).map(|k| k.variable);
    let list = match &feed.listing {
        Listing::File => "the file itself",
        Listing::Bulk => "bulk data JSON",
        Listing::Sitemap { .. } => "sitemap",
        Listing::Numbered { .. } => "numbers up to the highest in the index",
        Listing::Links { .. } => "links of the page",
        Listing::Items { .. } => "API list, one request an item",
        Listing::Pages { .. } => "API pages",
        Listing::Within(_) => "",
    };
    let list = match &feed.listing {
        Listing::Within(other) => format!("comes with {other}"),
        _ => list.to_string(),
    };
    let address = match &feed.listing {
        Listing::Sitemap { file } | Listing::Numbered { file, .. } => format!("`{}` → `{file}`", feed.address),
        _ => format!("`{}`", feed.address),
    };
    let key = key.map_or("none".to_string(), |k| format!("`{k}`"));
    let built = if feed.built == Built::Yes { "yes" } else { "not yet" };
    let cells =
        [feed.source, feed.publisher, &address, &list, feed.form, feed.licence, feed.rhythm, &key, built].join(" | ");
    format!("| {cells} |\n")
}
