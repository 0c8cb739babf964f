//! What describes a publisher: feeds, how their files are listed, hosts with their rate limits and
//! API keys. The table of feeds itself is in `feeds`.

use super::calendar::Window;
use super::names;

/// One way to get files of a source.
///
/// Addresses and folders may contain `{congress}`, `{session}`, `{year}`, `{quarter}`, `{month}`,
/// `{day}`, `{next_day}`, `{since}` and `{until}`. The shortest period among them determines how
/// many requests are made.
pub struct Feed {
    /// The source's key, which is also its folder.
    pub source: &'static str,
    pub publisher: &'static str,
    /// Address of the file, or of the list of files.
    pub address: &'static str,
    pub format: &'static str,
    pub licence: &'static str,
    pub frequency: &'static str,
    /// Folder below the source's, with placeholders.
    pub folder: &'static str,
    pub listing: Listing,
}

impl Feed {
    /// The path of a file, relative to the target folder.
    pub fn path(&self, window: &Window, name: &str) -> String {
        let folder = window.fill(self.folder);
        let parts = [self.source, &folder, name];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }
}

/// How the files of a feed are found.
pub enum Listing {
    /// The address is the file.
    File,
    /// GPO bulk data: a JSON list of files and folders with their modification times. With
    /// `archives`, a folder is downloaded as one ZIP archive, then only what changed.
    Bulk { archives: bool },
    /// A sitemap of packages. `file` is the address of a package's file, with `{id}`.
    Sitemap { file: &'static str },
    /// An index that contains numbers: files 1 to the highest.
    Numbered(&'static Numbered),
    /// A web page with links to files (`pattern`).
    Links { pattern: &'static str },
    /// A list of statements of administration policy, and the PDFs that it names.
    Statements,
    /// An API that lists items in `list`, each with `url` and `updateDate`. `parts` are fetched
    /// with them.
    Items { list: &'static str, parts: &'static [Part] },
    /// An API whose pages are the files.
    Pages(&'static Pages),
    /// Databases of the Bank of Japan: the address is that of a list of series, with `{database}`.
    BankDatabases,
    /// A fixed list of series of the Bureau of Labor Statistics, in one request.
    LaborSeries,
    /// Nothing to fetch: included in the files of another source.
    IncludedIn(&'static str),
}

/// Files with consecutive numbers. Without an index they are found by asking for one number after
/// the other.
pub struct Numbered {
    /// Finds the numbers in the index.
    pub pattern: &'static str,
    /// The address of a file; `{number:3}` is padded to three digits.
    pub file: &'static str,
    /// The element that a file has. The answer for a missing file may be another document.
    pub root: &'static str,
    /// Finds the day of a file, which can be corrected for a week.
    pub date: &'static str,
}

/// Pages of an API. All are JSON pointers.
pub struct Pages {
    pub next: NextPage,
    /// The part to store; empty for all.
    pub keep: &'static str,
    /// The list of records, which every page must have.
    pub list: &'static str,
    /// The number of records on all pages.
    pub count: &'static str,
}

/// A list that an API item only links to. The address at `from` has it under `list`; it is
/// inserted into the item at `into`. `from` and `into` are JSON pointers.
pub struct Part {
    pub from: &'static str,
    pub list: &'static str,
    pub into: &'static str,
}

/// How a page refers to the next one.
pub enum NextPage {
    /// JSON pointer to the next page's address.
    Address(&'static str),
    /// JSON pointer to a boolean; the page number is passed in `parameter`.
    Number { more: &'static str, parameter: &'static str },
    /// JSON pointer to the number of pages; the page number is passed in `parameter`.
    Count { pages: &'static str, parameter: &'static str },
}

/// A host with a known rate limit or an API key.
pub struct Host {
    pub name: &'static str,
    pub per_minute: u32,
    pub key: Option<Key>,
}

/// An API key, read from an environment variable and sent in a header.
pub struct Key {
    pub variable: &'static str,
    /// Empty where the key is part of the question.
    pub header: &'static str,
    pub prefix: &'static str,
    pub get_at: &'static str,
    /// Requests per minute without a key; `None` if a key is required.
    pub per_minute_without: Option<u32>,
}

impl Key {
    /// The key from the environment.
    pub fn value(&self) -> Option<String> {
        std::env::var(self.variable).ok().map(|v| v.trim().to_string()).filter(|v| !v.is_empty())
    }
}

/// For hosts without a stated limit.
const DEFAULT_PER_MINUTE: u32 = 120;

/// Slightly below the stated limits: congress.gov 5,000 per hour, regulations.gov 1,000 per hour,
/// lda.gov 120 per minute.
pub const HOSTS: &[Host] = &[
    Host {
        name: "api.congress.gov",
        per_minute: 80,
        key: Some(Key {
            variable: "CONGRESS_API_KEY",
            header: "X-Api-Key",
            prefix: "",
            get_at: "https://api.congress.gov/sign-up/",
            per_minute_without: None,
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
            per_minute_without: None,
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
            per_minute_without: Some(14),
        }),
    },
    Host { name: "www.govinfo.gov", per_minute: 600, key: None },
    Host {
        name: "api.bls.gov",
        per_minute: 20,
        key: Some(Key {
            variable: "BLS_API_KEY",
            header: "",
            prefix: "",
            get_at: "https://data.bls.gov/registrationEngine/",
            per_minute_without: None,
        }),
    },
    // The Bank states no rate and forbids a high one.
    Host { name: "www.stat-search.boj.or.jp", per_minute: 20, key: None },
];

pub fn host(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|h| h.name == name)
}

/// The host of an address, if something is known of it.
pub fn host_of(address: &str) -> Option<&'static Host> {
    names::host(address).and_then(|name| host(&name))
}

/// The rate limit of a host, which may depend on whether a key is set.
pub fn per_minute(host: Option<&Host>) -> u32 {
    let Some(host) = host else { return DEFAULT_PER_MINUTE };
    let missing_key = host.key.as_ref().filter(|key| key.value().is_none());
    missing_key.and_then(|key| key.per_minute_without).unwrap_or(host.per_minute)
}
