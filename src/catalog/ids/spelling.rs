//! How a source describes its ids: the types, and the parts of patterns that several sources use.
//! What only one source needs belongs into that source's file.

use regex::{Captures, Regex};

/// The ids of a source.
#[derive(Debug)]
pub struct Ids {
    /// The canonical form as error hints and docs show it.
    pub form: &'static str,
    /// A canonical id.
    pub example: &'static str,
    /// What may be left out where the source is known.
    pub bare_prefix: Option<&'static str>,
    /// Canonical forms and all others. Spellings of one precedence are tried in this order.
    pub spellings: &'static [Spelling],
}

/// One way to write an id: a pattern and a function from its captures to the canonical id.
#[derive(Debug)]
pub struct Spelling {
    pub precedence: Precedence,
    /// The parts of a regular expression over the cleaned input, without regard to case. Together
    /// they must match all of it.
    pub pattern: &'static [&'static str],
    pub reader: fn(&Captures) -> Option<Reading>,
}

/// The order in which spellings are tried: those of all sources with one precedence, in the order
/// of `SOURCES`, before any of the next. Among addresses it decides only for one that names two
/// records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// The canonical form.
    Canonical,
    /// As people write it in prose.
    Written,
    /// A page of a document on congress.gov.
    CongressGov,
    /// A page of a member or a committee on congress.gov; a member's id may end any path there.
    CongressGovProfile,
    /// The name of a public law's package at govinfo, anywhere in an address.
    LawPackage,
    /// The name of any other package at govinfo, anywhere in an address.
    Package,
    /// A page on a site of its own.
    Site,
}

/// What a spelling was read as.
#[derive(Debug)]
pub enum Reading {
    /// The canonical id.
    Complete(String),
    /// An id that lacks its congress.
    AnyCongress { kind: String, number: String },
}

impl Spelling {
    pub const fn new(
        precedence: Precedence,
        pattern: &'static [&'static str],
        reader: fn(&Captures) -> Option<Reading>,
    ) -> Self {
        Spelling { precedence, pattern, reader }
    }

    pub const fn canonical(
        pattern: &'static [&'static str],
        reader: fn(&Captures) -> Option<Reading>,
    ) -> Self {
        Self::new(Precedence::Canonical, pattern, reader)
    }

    pub const fn written(
        pattern: &'static [&'static str],
        reader: fn(&Captures) -> Option<Reading>,
    ) -> Self {
        Self::new(Precedence::Written, pattern, reader)
    }

    /// A page on a site of its own; other addresses say their precedence.
    pub const fn site(
        pattern: &'static [&'static str],
        reader: fn(&Captures) -> Option<Reading>,
    ) -> Self {
        Self::new(Precedence::Site, pattern, reader)
    }
}

/// A pattern of the catalog, which is a constant, as a regular expression.
pub fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}"))
        .unwrap_or_else(|e| unreachable!("the patterns are constants: {e}"))
}

/// Codes of bills and resolutions.
pub const BILL_TYPE: &str = r"(?P<type>hr|s|[hs]jres|[hs]res|[hs]conres)";

pub const CONGRESS: &str = r"(?P<congress>\d{1,3})";

/// "(119th Congress)", "-119", ", 119th Cong." or nothing.
pub const CONGRESS_AFTER: &str = concat!(
    r"(?:[ ,]*[-(/]? ?(?:of the )?(?P<congress>\d{1,3})(?:st|nd|rd|th)?",
    r" ?(?:cong(?:ress|\.)?)?[ )]*)?",
);

pub const DATE: &str = r"(?P<date>\d{4}-\d{2}-\d{2})";

/// The host of congress.gov in a cleaned URL.
pub const CONGRESS_GOV: &str = r"url:(?:www\.)?congress\.gov";

/// "/119th-congress/" in a path of congress.gov.
pub const CONGRESS_IN_PATH: &str = r"/(?P<congress>\d{1,3})[a-z]{0,2}-congress/";

/// "house-bill/1" in a path of congress.gov, and whatever follows.
pub const MEASURE_IN_PATH: &str = r"(?P<path>[a-z-]+)/(?P<n>\d{1,5})(?:/.*)?";
