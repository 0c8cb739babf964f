//! Feeds that differ only in their address and format.

use super::publishers::{Feed, Listing, NextPage, Pages};

pub const US_WORK: &str = "US Government work";

/// A list of statements. The White House itself publishes PDFs without a list.
pub const fn sap_list(address: &'static str, listing: Listing) -> Feed {
    Feed {
        source: "saps",
        publisher: "Office of Management and Budget, listed by \
            unitedstates/statements-of-administration-policy",
        address,
        format: "YAML (list with address, date and bills)",
        licence: US_WORK,
        frequency: "weekly",
        folder: "archive",
        listing,
    }
}

/// A page with links to quarterly accounts. Those of years before `--since` are left out.
pub const fn disbursements(address: &'static str) -> Feed {
    Feed {
        source: "staff-directories",
        publisher: "House of Representatives (Chief Administrative Officer)",
        address,
        format: "CSV of payments by quarter",
        licence: US_WORK,
        frequency: "quarterly",
        folder: "house-disbursements",
        listing: Listing::Links { pattern: r#"(?i)href="([^"]+\.csv)""# },
    }
}

pub const fn congress_legislators(source: &'static str, address: &'static str) -> Feed {
    Feed {
        source,
        publisher: "unitedstates/congress-legislators",
        address,
        format: "YAML",
        licence: "CC0 1.0",
        frequency: "weekly",
        folder: "",
        listing: Listing::File,
    }
}

pub const fn topic_list(
    address: &'static str,
    format: &'static str,
    licence: &'static str,
) -> Feed {
    Feed {
        source: "topic-taxonomy",
        publisher: "Congressional Research Service",
        address,
        format,
        licence,
        frequency: "rarely",
        folder: "",
        listing: Listing::File,
    }
}

/// A dataset of the Treasury, which needs no key. Its pages hold up to 10,000 rows.
pub const fn fiscal_data(
    address: &'static str,
    frequency: &'static str,
    folder: &'static str,
) -> Feed {
    Feed {
        source: "statistical-series",
        publisher: "U.S. Department of the Treasury, Fiscal Data",
        address,
        format: "Fiscal Data API JSON, pages of rows",
        licence: US_WORK,
        frequency,
        folder,
        listing: Listing::Pages(&Pages {
            next: NextPage::Count { pages: "/meta/total-pages", parameter: "page%5Bnumber%5D" },
            keep: "",
            list: "/data",
            count: "/meta/total-count",
        }),
    }
}
