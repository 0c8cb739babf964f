//! The table of feeds: for each source who publishes it, at which address, in which form, under which licence and how
//! often. `fetch` fetches by it and `SOURCES.md` is written from it. Addresses hold `{congress}`, `{session}`,
//! `{year}`, `{quarter}`, `{month}`, `{day}`, `{next_day}`, `{since}` and `{until}`; the smallest period among them
//! says how often an address is asked for.

/// One way to a source's files.
pub struct Feed {
    /// The catalog's key, and the folder.
    pub source: &'static str,
    pub publisher: &'static str,
    /// Where the list of files, or the file, is.
    pub address: &'static str,
    pub form: &'static str,
    pub licence: &'static str,
    pub rhythm: &'static str,
    /// Folder below the source's, with placeholders.
    pub folder: &'static str,
    pub listing: Listing,
    pub built: Built,
}

/// How an address leads to files.
pub enum Listing {
    /// It is the file.
    File,
    /// GPO's bulk data: a list of files and folders in JSON, each with its time of change.
    Bulk,
    /// A sitemap of packages: `file` is the address of a package's file, with `{id}`.
    Sitemap { file: &'static str },
    /// An index that names numbers (`pattern`): every file from 1 to the highest, `{number:3}` being three digits wide.
    Numbered { pattern: &'static str, file: &'static str },
    /// A web page with links to files (`pattern`).
    Links { pattern: &'static str },
    /// An API that lists items below `list`, each with its own `url` and `updateDate`; `parts` are fetched with them.
    Items { list: &'static str, parts: &'static [Part] },
    /// An API whose pages are the files; `keep` is the part of a page to keep, all if empty.
    Pages { next: Next, keep: &'static str },
    /// Nothing to fetch: the files of another source hold it.
    Within(&'static str),
}

/// What an item only links to: the address at `from` lists things below `list`, which are put at `into`.
pub struct Part {
    pub from: &'static str,
    pub list: &'static str,
    pub into: &'static str,
}

/// How a page names the next.
pub enum Next {
    /// An address, at this place.
    Address(&'static str),
    /// Whether there is one, at this place; the address takes a page number.
    Number { more: &'static str, parameter: &'static str },
}

/// What the builder makes of the form today.
#[derive(PartialEq)]
pub enum Built {
    Yes,
    /// The files are fetched and kept; `build` passes them over until a reader for the form is there.
    #[expect(dead_code, reason = "every form is read today; a feed may come before its reader again")]
    NotYet,
}

/// A host that is known to want something: a pace, a key.
pub struct Host {
    pub name: &'static str,
    pub per_minute: u32,
    pub key: Option<Key>,
}

pub struct Key {
    pub variable: &'static str,
    pub header: &'static str,
    pub prefix: &'static str,
    pub get_at: &'static str,
    /// Requests a minute without a key, where the host answers at all.
    pub without: Option<u32>,
}

impl Key {
    /// The key from the environment.
    pub fn value(&self) -> Option<String> {
        std::env::var(self.variable).ok().map(|v| v.trim().to_string()).filter(|v| !v.is_empty())
    }
}

/// The pace of hosts that state none.
const USUAL_PER_MINUTE: u32 = 120;

/// The stated limits with some room: congress.gov 5,000 an hour, regulations.gov 1,000 an hour, lda.gov 120 a minute.
pub const HOSTS: &[Host] = &[
    Host {
        name: "api.congress.gov",
        per_minute: 80,
        key: Some(Key {
            variable: "CONGRESS_API_KEY",
            header: "X-Api-Key",
            prefix: "",
            get_at: "https://api.congress.gov/sign-up/",
            without: None,
        }),
    },
    Host {
        name: "api.regulations.gov",
        per_minute: 16,
        key: Some(Key {
            variable: "REGULATIONS_API_KEY",
            header: "X-Api-Key",
            prefix: "",
            get_at: "https://open.gsa.gov/api/regulationsgov/",
            without: None,
        }),
    },
    Host {
        name: "lda.gov",
        per_minute: 110,
        key: Some(Key {
            variable: "LDA_API_KEY",
            header: "Authorization",
            prefix: "Token ",
            get_at: "https://lda.gov/api/register/",
            without: Some(14),
        }),
    },
    Host { name: "www.govinfo.gov", per_minute: 600, key: None },
];

pub fn host(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|h| h.name == name)
}

/// How often a host may be asked, with the key that is there or without one.
pub fn per_minute(host: Option<&Host>) -> u32 {
    let Some(host) = host else { return USUAL_PER_MINUTE };
    let without = host.key.as_ref().filter(|key| key.value().is_none()).and_then(|key| key.without);
    without.unwrap_or(host.per_minute)
}

const US_WORK: &str = "US Government work";
const GPO: &str = "GPO govinfo";
const CONGRESS_GOV: &str = "Congress.gov (Library of Congress)";

pub const FEEDS: &[Feed] = &[
    Feed {
        source: "bills",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/BILLSTATUS/{congress}",
        form: "BILLSTATUS XML",
        licence: US_WORK,
        rhythm: "several times a day",
        folder: "status/{congress}",
        listing: Listing::Bulk,
        built: Built::Yes,
    },
    Feed {
        source: "bills",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/BILLS/{congress}",
        form: "bill texts in XML (bill DTD, USLM)",
        licence: US_WORK,
        rhythm: "daily",
        folder: "text/{congress}",
        listing: Listing::Bulk,
        built: Built::Yes,
    },
    Feed {
        source: "amendments",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/amendment/{congress}?format=json&limit=250",
        form: "congress.gov API JSON, one amendment a file, with its actions",
        licence: US_WORK,
        rhythm: "daily",
        folder: "{congress}",
        listing: Listing::Items {
            list: "amendments",
            parts: &[Part { from: "/amendment/actions/url", list: "actions", into: "/amendment/actions" }],
        },
        built: Built::Yes,
    },
    Feed {
        source: "public-laws",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/PLAW/{congress}/public",
        form: "USLM XML",
        licence: US_WORK,
        rhythm: "as laws are printed",
        folder: "{congress}",
        listing: Listing::Bulk,
        built: Built::Yes,
    },
    Feed {
        source: "committee-reports",
        publisher: GPO,
        address: "https://www.govinfo.gov/sitemap/CRPT_{year}_sitemap.xml",
        form: "text in HTML",
        licence: US_WORK,
        rhythm: "daily",
        folder: "{year}",
        listing: Listing::Sitemap { file: "https://www.govinfo.gov/content/pkg/{id}/html/{id}.htm" },
        built: Built::Yes,
    },
    Feed {
        source: "crs-reports",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/crsreport?format=json&limit=250&fromDateTime={since}T00:00:00Z",
        form: "congress.gov API JSON, one report a file (summary, no full text)",
        licence: US_WORK,
        rhythm: "daily",
        folder: "api",
        listing: Listing::Items { list: "CRSReports", parts: &[] },
        built: Built::Yes,
    },
    Feed {
        source: "cbo-estimates",
        publisher: "Congressional Budget Office, listed by GPO govinfo",
        address: "https://www.govinfo.gov/bulkdata/json/BILLSTATUS/{congress}",
        form: "BILLSTATUS XML (`cboCostEstimates`)",
        licence: US_WORK,
        rhythm: "with the bills",
        folder: "",
        listing: Listing::Within("bills"),
        built: Built::Yes,
    },
    Feed {
        source: "gao-reports",
        publisher: "U.S. Government Accountability Office",
        address: "https://www.gao.gov/rss/reports.xml",
        form: "RSS of the newest reports",
        licence: US_WORK,
        rhythm: "daily",
        // The feed shows the newest only: each day's is kept.
        folder: "rss/{until}",
        listing: Listing::File,
        built: Built::Yes,
    },
    Feed {
        source: "federal-register",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/FR/{year}/{month}",
        form: "daily issues in XML (FEDREG)",
        licence: US_WORK,
        rhythm: "every working day",
        folder: "{year}/{month}",
        listing: Listing::Bulk,
        built: Built::Yes,
    },
    Feed {
        source: "cfr-sections",
        publisher: "Office of the Federal Register and GPO govinfo",
        address: "https://www.govinfo.gov/bulkdata/json/ECFR",
        form: "eCFR XML, one title a file",
        licence: US_WORK,
        rhythm: "daily",
        folder: "ecfr",
        listing: Listing::Bulk,
        built: Built::Yes,
    },
    Feed {
        source: "congressional-record",
        publisher: GPO,
        address: "https://www.govinfo.gov/sitemap/CREC_{year}_sitemap.xml",
        form: "ZIP of a day: granules in HTML, MODS metadata",
        licence: US_WORK,
        rhythm: "every day of session",
        folder: "{year}",
        listing: Listing::Sitemap { file: "https://www.govinfo.gov/content/pkg/{id}.zip" },
        built: Built::Yes,
    },
    Feed {
        source: "presidential-documents",
        publisher: "Office of the Federal Register",
        address: "https://www.federalregister.gov/api/v1/documents.json?per_page=1000&order=oldest\
            &conditions%5Btype%5D%5B%5D=PRESDOCU&conditions%5Bpresidential_document_type%5D%5B%5D=executive_order\
            &conditions%5Bpublication_date%5D%5Byear%5D={year}&fields%5B%5D=document_number\
            &fields%5B%5D=executive_order_number&fields%5B%5D=title&fields%5B%5D=signing_date\
            &fields%5B%5D=publication_date&fields%5B%5D=president&fields%5B%5D=html_url",
        form: "federalregister.gov API JSON (list of executive orders)",
        licence: US_WORK,
        rhythm: "every working day",
        folder: "executive-orders",
        listing: Listing::Pages { next: Next::Address("/next_page_url"), keep: "/results" },
        built: Built::Yes,
    },
    Feed {
        source: "presidential-documents",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/FR/{year}/{month}",
        form: "daily issues in XML (`PRESDOCU`): orders and proclamations in full",
        licence: US_WORK,
        rhythm: "every working day",
        folder: "",
        listing: Listing::Within("federal-register"),
        built: Built::Yes,
    },
    sap(
        "https://raw.githubusercontent.com/unitedstates/statements-of-administration-policy/HEAD/archive/44-Obama.yaml",
    ),
    sap(
        "https://raw.githubusercontent.com/unitedstates/statements-of-administration-policy/HEAD/archive/45-Trump.yaml",
    ),
    sap(
        "https://raw.githubusercontent.com/unitedstates/statements-of-administration-policy/HEAD/archive/46-Biden.yaml",
    ),
    sap(
        "https://raw.githubusercontent.com/unitedstates/statements-of-administration-policy/HEAD/archive/47-Trump.yaml",
    ),
    people(
        "legislators",
        "https://raw.githubusercontent.com/unitedstates/congress-legislators/main/legislators-current.yaml",
    ),
    people(
        "legislators",
        "https://raw.githubusercontent.com/unitedstates/congress-legislators/main/legislators-historical.yaml",
    ),
    people(
        "legislators",
        "https://raw.githubusercontent.com/unitedstates/congress-legislators/main/legislators-district-offices.yaml",
    ),
    people(
        "committees",
        "https://raw.githubusercontent.com/unitedstates/congress-legislators/main/committees-current.yaml",
    ),
    people(
        "committees",
        "https://raw.githubusercontent.com/unitedstates/congress-legislators/main/committees-historical.yaml",
    ),
    people(
        "committees",
        "https://raw.githubusercontent.com/unitedstates/congress-legislators/main/committee-membership-current.yaml",
    ),
    Feed {
        source: "staff-directories",
        publisher: "House of Representatives, summed up by dwillis/house-expenditures",
        address: "https://raw.githubusercontent.com/dwillis/house-expenditures/HEAD/output/{year}Q{quarter}-summary.csv",
        form: "CSV of offices by quarter",
        licence: "public record",
        rhythm: "quarterly",
        folder: "house-summary",
        listing: Listing::File,
        built: Built::Yes,
    },
    Feed {
        source: "staff-directories",
        publisher: "House of Representatives (Chief Administrative Officer)",
        address: "https://www.house.gov/the-house-explained/open-government/statement-of-disbursements",
        form: "CSV of payments by quarter",
        licence: US_WORK,
        rhythm: "quarterly",
        folder: "house-disbursements",
        listing: Listing::Links { pattern: r#"(?i)href="([^"]+\.csv)""# },
        built: Built::Yes,
    },
    Feed {
        source: "lda-filings",
        publisher: "Office of Public Records, United States Senate",
        address: "https://lda.gov/api/v1/filings/?filing_dt_posted_after={day}&filing_dt_posted_before={next_day}&page_size=25",
        form: "LDA API JSON, pages of filings by day of posting",
        licence: US_WORK,
        rhythm: "daily",
        folder: "{year}",
        listing: Listing::Pages { next: Next::Address("/next"), keep: "" },
        built: Built::Yes,
    },
    Feed {
        source: "roll-call-votes",
        publisher: "Clerk of the House",
        address: "https://clerk.house.gov/evs/{year}/index.asp",
        form: "XML of the Clerk, one vote a file",
        licence: US_WORK,
        rhythm: "after every vote",
        folder: "house/{year}",
        listing: Listing::Numbered {
            pattern: r"rollnumber=(\d+)",
            file: "https://clerk.house.gov/evs/{year}/roll{number:3}.xml",
        },
        built: Built::Yes,
    },
    Feed {
        source: "roll-call-votes",
        publisher: "Secretary of the Senate",
        address: "https://www.senate.gov/legislative/LIS/roll_call_lists/vote_menu_{congress}_{session}.xml",
        form: "XML of the Secretary, one vote a file",
        licence: US_WORK,
        rhythm: "after every vote",
        folder: "senate/{congress}-{session}",
        listing: Listing::Numbered {
            pattern: r"<vote_number>\s*(\d+)\s*</vote_number>",
            file: "https://www.senate.gov/legislative/LIS/roll_call_votes/vote{congress}{session}/vote_{congress}_{session}_{number:5}.xml",
        },
        built: Built::Yes,
    },
    Feed {
        source: "hearings",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/committee-meeting/{congress}?format=json&limit=250",
        form: "congress.gov API JSON, one meeting a file",
        licence: US_WORK,
        rhythm: "daily",
        folder: "meetings/{congress}",
        listing: Listing::Items { list: "committeeMeetings", parts: &[] },
        built: Built::Yes,
    },
    Feed {
        source: "hearings",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/hearing/{congress}?format=json&limit=250",
        form: "congress.gov API JSON, one printed hearing a file",
        licence: US_WORK,
        rhythm: "as hearings are printed",
        folder: "printed/{congress}",
        listing: Listing::Items { list: "hearings", parts: &[] },
        built: Built::Yes,
    },
    Feed {
        source: "regulations-dot-gov-dockets",
        publisher: "Regulations.gov (General Services Administration)",
        address: "https://api.regulations.gov/v4/documents?filter%5BpostedDate%5D%5Bge%5D={day}\
            &filter%5BpostedDate%5D%5Ble%5D={day}&sort=postedDate&page%5Bsize%5D=250",
        form: "regulations.gov v4 JSON, pages of documents by day of posting",
        licence: US_WORK,
        rhythm: "daily",
        folder: "documents/{year}",
        listing: Listing::Pages {
            next: Next::Number { more: "/meta/hasNextPage", parameter: "page%5Bnumber%5D" },
            keep: "",
        },
        built: Built::Yes,
    },
    Feed {
        source: "regulations-dot-gov-dockets",
        publisher: "Regulations.gov (General Services Administration)",
        address: "https://api.regulations.gov/v4/dockets?filter%5BlastModifiedDate%5D%5Bge%5D={day}%2000:00:00\
            &filter%5BlastModifiedDate%5D%5Ble%5D={day}%2023:59:59&sort=lastModifiedDate&page%5Bsize%5D=250",
        form: "regulations.gov v4 JSON, pages of dockets by day of change",
        licence: US_WORK,
        rhythm: "daily",
        folder: "dockets/{year}",
        listing: Listing::Pages {
            next: Next::Number { more: "/meta/hasNextPage", parameter: "page%5Bnumber%5D" },
            keep: "",
        },
        built: Built::Yes,
    },
    topics(
        "https://raw.githubusercontent.com/osma/annif-us-congress-bills/HEAD/policy_area.csv",
        "CSV of policy areas (copy of osma/annif-us-congress-bills)",
        "CC0 1.0",
    ),
    topics(
        "https://raw.githubusercontent.com/osma/annif-us-congress-bills/HEAD/legislative_subjects.csv",
        "CSV of legislative subjects (copy of osma/annif-us-congress-bills)",
        "CC0 1.0",
    ),
    topics(
        "https://raw.githubusercontent.com/govtrack/govtrack.us-web/HEAD/bill/crsnet.xml",
        "XML of the subject hierarchy (copy of govtrack/govtrack.us-web)",
        US_WORK,
    ),
    Feed {
        source: "nominations",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/nomination/{congress}?format=json&limit=250",
        form: "congress.gov API JSON, one nomination a file, with its actions",
        licence: US_WORK,
        rhythm: "daily",
        folder: "{congress}",
        listing: Listing::Items {
            list: "nominations",
            parts: &[Part { from: "/nomination/actions/url", list: "actions", into: "/actions" }],
        },
        built: Built::Yes,
    },
];

/// A file of the archive of statements; the White House itself puts up PDFs without a list.
const fn sap(address: &'static str) -> Feed {
    Feed {
        source: "saps",
        publisher: "Office of Management and Budget, listed by unitedstates/statements-of-administration-policy",
        address,
        form: "YAML (list with address, day and bills)",
        licence: US_WORK,
        rhythm: "weekly",
        folder: "archive",
        listing: Listing::File,
        built: Built::Yes,
    }
}

const fn people(source: &'static str, address: &'static str) -> Feed {
    Feed {
        source,
        publisher: "unitedstates/congress-legislators",
        address,
        form: "YAML",
        licence: "CC0 1.0",
        rhythm: "weekly",
        folder: "",
        listing: Listing::File,
        built: Built::Yes,
    }
}

const fn topics(address: &'static str, form: &'static str, licence: &'static str) -> Feed {
    Feed {
        source: "topic-taxonomy",
        publisher: "Congressional Research Service",
        address,
        form,
        licence,
        rhythm: "seldom",
        folder: "",
        listing: Listing::File,
        built: Built::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_a_feed_and_every_feed_a_source() {
        for source in josh::catalog::SOURCES {
            assert!(FEEDS.iter().any(|f| f.source == source.key), "{}", source.key);
        }
        for feed in FEEDS {
            assert!(josh::catalog::SOURCES.iter().any(|s| s.key == feed.source), "{}", feed.source);
            assert!(feed.address.starts_with("https://"), "{}", feed.address);
        }
    }
}
