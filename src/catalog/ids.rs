//! The one grammar of identifiers: canonical forms, and every way that people write them.
//!
//! `RULES` is the table. A rule is a source, a pattern over the cleaned-up input (see [`clean`]) and a function from
//! its captures to the canonical id. Rules are tried in order; canonical forms are rules like any other. Nothing
//! here looks at a bundle: "H.R. 1" without a congress is [`Parsed::AnyCongress`], and whoever holds the bundle picks.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::wording::type_of_path;

/// Longer inputs are not identifiers; the longest official address is well below this.
const LONGEST_INPUT: usize = 400;

/// What an input turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A complete id.
    Id(Id),
    /// An id that lacks its congress: `{kind}:?:{number}`.
    AnyCongress { source: &'static str, kind: String, number: String },
}

/// A canonical id and the source whose records it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    pub source: &'static str,
    pub text: String,
}

impl Parsed {
    pub fn source(&self) -> &'static str {
        match self {
            Parsed::Id(id) => id.source,
            Parsed::AnyCongress { source, .. } => source,
        }
    }

    /// The complete id, taking `congress` where none was given.
    pub fn in_congress(&self, congress: i64) -> Id {
        match self {
            Parsed::Id(id) => id.clone(),
            Parsed::AnyCongress { source, kind, number } => Id { source, text: format!("{kind}:{congress}:{number}") },
        }
    }
}

/// (source, canonical form, example): what error hints and docs show.
pub const FORMS: &[(&str, &str, &str)] = &[
    ("bills", "(hr|s|hjres|sjres|hres|sres|hconres|sconres):CONGRESS:NUMBER", "hr:119:1"),
    ("amendments", "(hamdt|samdt):CONGRESS:NUMBER", "samdt:119:2265"),
    ("public-laws", "pl:CONGRESS:NUMBER", "pl:119:21"),
    ("committee-reports", "(hrpt|srpt|erpt):CONGRESS:NUMBER", "hrpt:119:106"),
    ("crs-reports", "(R|RL|RS|IF|IN|IG|LSB|TE)NUMBER", "R47892"),
    ("cbo-estimates", "cbo:NUMBER", "cbo:61461"),
    ("gao-reports", "gao:REPORT", "gao:GAO-25-107743"),
    ("federal-register", "document number YYYY-NNNNN", "2026-08558"),
    ("cfr-sections", "cfr:TITLE:SECTION", "cfr:40:122.26"),
    ("congressional-record", "crec:DATE:GRANULE", "crec:2025-05-21:H2210-3"),
    ("presidential-documents", "eo:NUMBER, proc:NUMBER, pmemo:DATE:N", "eo:14110"),
    ("saps", "sap:CONGRESS:TYPE:NUMBER:DATE", "sap:119:hr:1:2025-05-20"),
    ("legislators", "bioguide id: a letter and six digits", "S000033"),
    ("committees", "committee code: four letters, two digits more for a subcommittee", "HSWM"),
    ("roll-call-votes", "(house|senate):CONGRESS:SESSION:NUMBER", "house:119:1:145"),
    ("lda-filings", "lda:UUID", "lda:00b7e6a4-0c83-4f0a-9f0e-2f1a3c5d7e90"),
    ("hearings", "hearing:CONGRESS:EVENT", "hearing:119:118225"),
    ("regulations-dot-gov-dockets", "docket:ID", "docket:EPA-HQ-OAR-2021-0317"),
    ("topic-taxonomy", "topic:SLUG", "topic:health"),
    ("staff-directories", "staff:SLUG", "staff:2025q3-house-clerk-jane-doe"),
    ("nominations", "pn:CONGRESS:NUMBER[-PART]", "pn:119:12-3"),
];

/// Compiles the patterns, some 40 ms of work that the first request should not wait for.
pub fn prepare() {
    LazyLock::force(&RULES);
}

/// Reads an id of any source, however it is written.
pub fn parse(input: &str) -> Option<Parsed> {
    parse_by(input, |_| true)
}

/// Reads an id where the source is known: only its own spellings count, and its prefix may be left out (`119-21` under
/// public-laws).
pub fn parse_for(source: &'static str, input: &str) -> Option<Parsed> {
    let own = |rule: &Rule| rule.source == source;
    parse_by(input, own).or_else(|| {
        let prefix = BARE_PREFIX.iter().find(|p| p.0 == source)?.1;
        parse_by(&format!("{prefix}{}", input.trim()), own)
    })
}

fn parse_by(input: &str, counts: impl Fn(&Rule) -> bool) -> Option<Parsed> {
    if input.len() > LONGEST_INPUT {
        return None;
    }
    let cleaned = clean(input);
    if !cleaned.is_ascii() {
        return None;
    }
    RULES.iter().filter(|rule| counts(rule)).find_map(|rule| {
        let captures = rule.pattern.captures(&cleaned)?;
        let parsed = (rule.read)(&captures)?.into_parsed(rule.source);
        (rule.is_canonical || is_own_form(&parsed)).then_some(parsed)
    })
}

/// Whether a canonical form reads this as itself. Other spellings match more loosely, and may have caught something else.
fn is_own_form(parsed: &Parsed) -> bool {
    let id = parsed.in_congress(119);
    RULES.iter().filter(|rule| rule.is_canonical && rule.source == id.source).any(|rule| {
        let read = rule.pattern.captures(&id.text).and_then(|captures| (rule.read)(&captures));
        matches!(read, Some(Found::Text(text)) if text == id.text)
    })
}

/// The canonical form of an id of `source`, if the input is one that needs no bundle to complete.
pub fn canonical(source: &'static str, input: &str) -> Option<String> {
    match parse_for(source, input)? {
        Parsed::Id(id) => Some(id.text),
        Parsed::AnyCongress { .. } => None,
    }
}

/// What may be left out where the source is known.
const BARE_PREFIX: &[(&str, &str)] = &[
    ("public-laws", "pl "),
    ("cbo-estimates", "cbo:"),
    ("gao-reports", "gao:GAO-"),
    ("cfr-sections", "cfr:"),
    ("congressional-record", "crec:"),
    ("presidential-documents", "eo:"),
    ("saps", "sap:"),
    ("lda-filings", "lda:"),
    ("hearings", "hearing:"),
    ("regulations-dot-gov-dockets", "docket:"),
    ("topic-taxonomy", "topic:"),
    ("staff-directories", "staff:"),
    ("nominations", "pn"),
];

/// One spelling.
struct Rule {
    source: &'static str,
    is_canonical: bool,
    pattern: Regex,
    read: fn(&Captures) -> Option<Found>,
}

/// What a rule read, before its source is added.
enum Found {
    Text(String),
    AnyCongress(String, String),
}

impl Found {
    fn into_parsed(self, source: &'static str) -> Parsed {
        match self {
            Found::Text(text) => Parsed::Id(Id { source, text }),
            Found::AnyCongress(kind, number) => Parsed::AnyCongress { source, kind, number },
        }
    }
}

/// One spelling for typographic variants: dashes, spaces, section signs, quotes; no scheme, query or fragment of a URL.
fn clean(input: &str) -> String {
    let mut out = String::with_capacity(input.len());
    for c in input.trim().chars() {
        match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '§' | '\u{200b}' | '\u{feff}' | '"' | '“' | '”' => {}
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    let lower = out.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("www.") {
        let end = out.find(['?', '#']).unwrap_or(out.len());
        out.truncate(end);
        let start = out.find("://").map_or(0, |i| i + 3);
        return format!("url:{}", out[start..].trim_end_matches('/'));
    }
    out.trim().to_string()
}

/// Completes an id with the congress that was captured; a congress that is no number spoils it.
fn with_congress(captures: &Captures, kind: String, n: String) -> Option<Found> {
    Some(match captures.name("congress") {
        Some(_) => Found::Text(format!("{kind}:{}:{n}", number(captures, "congress")?)),
        None => Found::AnyCongress(kind, n),
    })
}

/// A number without leading zeros, above zero.
fn number(captures: &Captures, name: &str) -> Option<String> {
    let n: u64 = captures.name(name)?.as_str().parse().ok()?;
    (n > 0).then(|| n.to_string())
}

fn lower(captures: &Captures, name: &str) -> Option<String> {
    Some(captures.name(name)?.as_str().to_ascii_lowercase())
}

fn upper(captures: &Captures, name: &str) -> Option<String> {
    Some(captures.name(name)?.as_str().to_ascii_uppercase())
}

/// An ISO date that can be on a calendar.
fn date(captures: &Captures, name: &str) -> Option<String> {
    let text = captures.name(name)?.as_str();
    let (month, day): (u8, u8) = (text.get(5..7)?.parse().ok()?, text.get(8..10)?.parse().ok()?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| text.to_string())
}

/// "H.J. Res.", "House Joint Resolution", "hjres" -> "hjres".
fn measure(captures: &Captures) -> Option<String> {
    let squeezed: String = captures
        .name("type")?
        .as_str()
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    let code = match squeezed.as_str() {
        "hr" | "housebill" | "hb" => "hr",
        "s" | "senatebill" | "sb" => "s",
        "hjres" | "hjr" | "housejointresolution" | "housejointres" => "hjres",
        "sjres" | "sjr" | "senatejointresolution" | "senatejointres" => "sjres",
        "hres" | "houseresolution" | "houseres" => "hres",
        "sres" | "senateresolution" | "senateres" => "sres",
        "hconres" | "hcr" | "houseconcurrentresolution" | "houseconres" => "hconres",
        "sconres" | "scr" | "senateconcurrentresolution" | "senateconres" => "sconres",
        "hamdt" | "ha" | "houseamendment" | "hamendment" => "hamdt",
        "samdt" | "sa" | "senateamendment" | "samendment" => "samdt",
        "hrpt" | "hrept" | "hrep" | "hrrep" | "housereport" | "hreport" | "houserept" => "hrpt",
        "srpt" | "srept" | "srep" | "senatereport" | "sreport" | "senaterept" => "srpt",
        "erpt"
        | "execrept"
        | "execrep"
        | "sexecrep"
        | "sexecrept"
        | "executivereport"
        | "senateexecutivereport"
        | "exrept" => "erpt",
        _ => return None,
    };
    Some(code.to_string())
}

/// `TYPE:CONGRESS:NUMBER`, or the same with any congress.
fn measure_id(captures: &Captures) -> Option<Found> {
    with_congress(captures, measure(captures)?, number(captures, "n")?)
}

/// The same from congress.gov's path: `119th-congress/house-bill/1`.
fn measure_from_path(captures: &Captures) -> Option<Found> {
    let kind = type_of_path(&lower(captures, "path")?)?;
    Some(Found::Text(format!("{kind}:{}:{}", number(captures, "congress")?, number(captures, "n")?)))
}

fn law(captures: &Captures) -> Option<Found> {
    Some(Found::Text(format!("pl:{}:{}", number(captures, "congress")?, number(captures, "n")?)))
}

fn cfr(captures: &Captures) -> Option<Found> {
    static PARAGRAPHS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\([A-Za-z0-9]+\))+$"));
    let section = captures.name("section")?.as_str().trim_end_matches('.');
    // "122.26(b)(2)" cites a paragraph of 122.26; "1.401(k)-1" is a section.
    let section = PARAGRAPHS.replace(section, "");
    let title: u8 = captures.name("title")?.as_str().parse().ok()?;
    (1..=50).contains(&title).then(|| Found::Text(format!("cfr:{title}:{}", section.trim_end_matches('.'))))
}

fn vote(captures: &Captures) -> Option<Found> {
    let chamber = if lower(captures, "chamber")?.starts_with('h') { "house" } else { "senate" };
    let (congress, session) = match captures.name("year") {
        // The clerk counts by year: 2025 is the first session of the 119th.
        Some(year) => {
            let year: i64 = year.as_str().parse().ok()?;
            let congress = (year - 1787) / 2;
            ((year >= 1789).then_some(congress)?, year - 1786 - congress * 2)
        }
        None => (number(captures, "congress")?.parse().ok()?, number(captures, "session")?.parse().ok()?),
    };
    (1..=3).contains(&session).then_some(())?;
    Some(Found::Text(format!("{chamber}:{congress}:{session}:{}", number(captures, "n")?)))
}

fn nomination(captures: &Captures) -> Option<Found> {
    let mut n = number(captures, "n")?;
    if let Some(part) = number(captures, "part") {
        n = format!("{n}-{part}");
    }
    with_congress(captures, "pn".into(), n)
}

fn committee(captures: &Captures) -> Option<Found> {
    let code = upper(captures, "code")?;
    Some(Found::Text(code.strip_suffix("00").map_or(code.clone(), str::to_string)))
}

fn crs(captures: &Captures) -> Option<Found> {
    let prefix = upper(captures, "prefix")?;
    Some(Found::Text(format!("{prefix}{}", captures.name("digits")?.as_str())))
}

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).unwrap_or_else(|e| unreachable!("the patterns are constants: {e}"))
}

/// Types as written in prose, longest first so that "H. Res." is not read as "H.R.".
const TYPE: &str = r"(?P<type>(?:house|senate|h\.?|s\.?) ?(?:joint|concurrent|j\.?|con\.?) ?(?:resolution|res\.?)|hcr|scr|hjr|sjr|(?:house|senate|h\.?|s\.?) ?(?:resolution|res\.?)|(?:house|senate) bill|h\.? ?r\.?|hb|sb|s\.?)";
const CONGRESS_AFTER: &str =
    r"(?:[ ,]*[-(/]? ?(?:of the )?(?P<congress>\d{1,3})(?:st|nd|rd|th)? ?(?:cong(?:ress|\.)?)?[ )]*)?";
const CONGRESS_BEFORE: &str = r"(?P<congress>\d{1,3})(?:st|nd|rd|th)?(?: cong(?:ress|\.)?)?[ ,:-]*";
const UUID: &str = r"(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})";
const FR: &str = r"(?P<fr>(?:[crxz]\d{0,2}-)?(?:(?:19|20)\d{2}-\d{4,6}|\d{2}-\d{4,6})|[exz]\d{1,2}-\d{1,6})";
const CRS: &str = r"(?P<prefix>rl|rs|if|in|ig|lsb|te|r)(?P<digits>\d{5})";

/// Canonical forms, in the order of FORMS.
fn canonical_rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut rule = |source: &'static str, text: &str, read: fn(&Captures) -> Option<Found>| {
        rules.push(Rule { source, is_canonical: true, pattern: pattern(&format!("^{text}$")), read });
    };
    rule("bills", r"(?P<type>hr|s|[hs]jres|[hs]res|[hs]conres):(?P<congress>\d{1,3}):(?P<n>\d{1,5})", measure_id);
    rule("amendments", r"(?P<type>[hs]amdt):(?P<congress>\d{1,3}):(?P<n>\d{1,5})", measure_id);
    rule("public-laws", r"pl:(?P<congress>\d{1,3}):(?P<n>\d{1,4})", law);
    rule("committee-reports", r"(?P<type>[hse]rpt):(?P<congress>\d{1,3}):(?P<n>\d{1,5})", measure_id);
    rule("crs-reports", CRS, crs);
    rule("crs-reports", r"(?P<old>\d{2}-\d{3})", |c| Some(Found::Text(upper(c, "old")?)));
    rule("cbo-estimates", r"cbo:(?P<n>\d{1,7})", |c| Some(Found::Text(format!("cbo:{}", number(c, "n")?))));
    rule("gao-reports", r"(?:gao:)?(?P<report>gao[-/](?:[a-z]{2,8}[-/])?\d{2}-\d{1,6}[a-z]{0,3})", |c| {
        Some(Found::Text(format!("gao:{}", upper(c, "report")?)))
    });
    rule("federal-register", FR, |c| Some(Found::Text(upper(c, "fr")?)));
    rule("cfr-sections", r"cfr:(?P<title>\d{1,2}):(?P<section>\d[0-9a-z.()-]{0,40})", cfr);
    rule("congressional-record", r"crec:(?P<date>\d{4}-\d{2}-\d{2}):(?P<granule>[a-z0-9][a-z0-9-]{0,40})", |c| {
        Some(Found::Text(format!("crec:{}:{}", date(c, "date")?, upper(c, "granule")?)))
    });
    rule("presidential-documents", r"(?P<kind>eo|proc):(?P<n>\d{1,6})(?P<letter>-?[a-z])?", |c| {
        let letter = upper(c, "letter").unwrap_or_default();
        Some(Found::Text(format!("{}:{}{letter}", lower(c, "kind")?, number(c, "n")?)))
    });
    rule("presidential-documents", r"pmemo:(?P<date>\d{4}-\d{2}-\d{2}):(?P<n>\d{1,3})", |c| {
        Some(Found::Text(format!("pmemo:{}:{}", date(c, "date")?, number(c, "n")?)))
    });
    rule(
        "saps",
        r"sap:(?P<congress>\d{1,3}):(?P<type>hr|s|[hs]jres|[hs]res|[hs]conres):(?P<n>\d{1,5}):(?P<date>\d{4}-\d{2}-\d{2})",
        |c| {
            let (congress, kind, n) = (number(c, "congress")?, measure(c)?, number(c, "n")?);
            Some(Found::Text(format!("sap:{congress}:{kind}:{n}:{}", date(c, "date")?)))
        },
    );
    rule("legislators", r"(?P<bioguide>[a-z]\d{6})", |c| Some(Found::Text(upper(c, "bioguide")?)));
    rule("committees", r"(?P<code>[hsj][a-z]{3}(?:\d{2})?)", committee);
    rule("roll-call-votes", r"(?P<chamber>house|senate):(?P<congress>\d{1,3}):(?P<session>\d):(?P<n>\d{1,5})", vote);
    rule("lda-filings", &format!("(?:lda:)?{UUID}"), |c| Some(Found::Text(format!("lda:{}", lower(c, "uuid")?))));
    rule("hearings", r"hearing:(?P<congress>\d{1,3}):(?P<event>[a-z0-9][a-z0-9-]{0,60})", |c| {
        Some(Found::Text(format!("hearing:{}:{}", number(c, "congress")?, lower(c, "event")?)))
    });
    rule("regulations-dot-gov-dockets", r"docket:(?P<docket>[a-z0-9][a-z0-9_.-]{1,80})", |c| {
        Some(Found::Text(format!("docket:{}", upper(c, "docket")?)))
    });
    rule("topic-taxonomy", r"topic:(?P<slug>[a-z0-9][a-z0-9-]{0,120})", |c| {
        Some(Found::Text(format!("topic:{}", lower(c, "slug")?)))
    });
    rule("staff-directories", r"staff:(?P<slug>[a-z0-9][a-z0-9-]{0,160})", |c| {
        Some(Found::Text(format!("staff:{}", lower(c, "slug")?)))
    });
    rule("nominations", r"pn:(?P<congress>\d{1,3}):(?P<n>\d{1,5})(?:-(?P<part>\d{1,4}))?", nomination);
    rules
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut rules = canonical_rules();
    let mut rule = |source: &'static str, text: &str, read: fn(&Captures) -> Option<Found>| {
        rules.push(Rule { source, is_canonical: false, pattern: pattern(&format!("^{text}$")), read });
    };

    // As people write them.
    rule("bills", &format!(r"{TYPE} ?(?:no\.? ?)?(?P<n>\d{{1,5}}){CONGRESS_AFTER}"), measure_id);
    rule("bills", &format!(r"{CONGRESS_BEFORE}{TYPE}[ :-]*(?P<n>\d{{1,5}})"), measure_id);
    rule(
        "bills",
        r"bills-(?P<congress>\d{1,3})(?P<type>hr|s|[hs]jres|[hs]res|[hs]conres)(?P<n>\d{1,5})[a-z0-9]*",
        measure_id,
    );
    rule(
        "bills",
        r"billstatus-(?P<congress>\d{1,3})(?P<type>hr|s|[hs]jres|[hs]res|[hs]conres)(?P<n>\d{1,5})",
        measure_id,
    );
    rule(
        "amendments",
        &format!(
            r"(?P<type>(?:house|senate|h\.?|s\.?) ?(?:amendment|amdt\.?)|sa|ha) ?(?:no\.? ?)?(?P<n>\d{{1,5}}){CONGRESS_AFTER}"
        ),
        measure_id,
    );
    rule(
        "public-laws",
        r"(?:p\.? ?l\.?|pub\.? ?l\.?|public law|plaw)[ :-]?(?:no\.? ?)?(?P<congress>\d{1,3})(?:-|:| |publ)(?P<n>\d{1,4})",
        law,
    );
    rule(
        "committee-reports",
        r"(?P<type>(?:s\.? ?|senate )?(?:exec\.?|executive|ex\.?) ?(?:rept?\.?|report|rpt\.?)|(?:house|senate|h\.?(?: ?r\.?)?|s\.?) ?(?:rept?\.?|report|rpt\.?)) ?(?:no\.? ?)?(?P<congress>\d{1,3})[-:](?P<n>\d{1,5})(?:[, ]+(?:part|pt\.?) ?[0-9ivx]+)?",
        measure_id,
    );
    rule("committee-reports", r"crpt-(?P<congress>\d{1,3})(?P<type>[hse]rpt)(?P<n>\d{1,5})[a-z0-9-]*", measure_id);
    rule("crs-reports", &format!(r"(?:crs )?(?:report )?(?:no\.? ?)?{CRS}"), crs);
    rule("cbo-estimates", r"cbo (?:publication |estimate |no\.? )?(?P<n>\d{4,7})", |c| {
        Some(Found::Text(format!("cbo:{}", number(c, "n")?)))
    });
    rule(
        "federal-register",
        &format!(r"(?:fr|federal register)[ :]*(?:doc\.?|document)? ?(?:no\.?|number)? ?{FR}"),
        |c| Some(Found::Text(upper(c, "fr")?)),
    );
    rule(
        "cfr-sections",
        r"(?P<title>\d{1,2}) ?c\.? ?f\.? ?r\.? ?(?:sec(?:tion|\.)? ?)?(?P<section>\d{1,5}\.[0-9a-z.()-]{1,40})",
        cfr,
    );
    rule(
        "congressional-record",
        r"crec-(?P<date>\d{4}-\d{2}-\d{2})(?:-pt\d+)?-pg(?P<granule>[a-z0-9][a-z0-9-]{0,40})",
        |c| Some(Found::Text(format!("crec:{}:{}", date(c, "date")?, upper(c, "granule")?))),
    );
    rule("presidential-documents", r"(?:e\.? ?o\.?|exec(?:utive|\.)? order) ?(?:no\.? ?)?(?P<n>\d{1,6})", |c| {
        Some(Found::Text(format!("eo:{}", number(c, "n")?)))
    });
    rule("presidential-documents", r"(?:presidential )?proc(?:lamation|\.)? ?(?:no\.? ?)?(?P<n>\d{1,6})", |c| {
        Some(Found::Text(format!("proc:{}", number(c, "n")?)))
    });
    rule(
        "roll-call-votes",
        r"(?P<chamber>house|senate),? (?:roll[ -]?call )?(?:vote )?(?:no\.? ?)?(?P<n>\d{1,5})[ ,(]+(?P<congress>\d{1,3})(?:st|nd|rd|th) cong(?:ress|\.)?,? (?P<session>\d)(?:st|nd|rd) sess(?:ion|\.)?\)?",
        vote,
    );
    rule("roll-call-votes", r"(?P<chamber>[hs])(?P<n>\d{1,5})-\d{1,3}\.(?P<year>\d{4})", vote);
    rule(
        "regulations-dot-gov-dockets",
        r"(?:docket (?:id |no\.? )?)?(?P<docket>[a-z]{2,}[a-z0-9]*(?:[-_][a-z0-9]+)*-(?:19|20)\d{2}-[a-z]?-?\d{4,})",
        |c| Some(Found::Text(format!("docket:{}", upper(c, "docket")?))),
    );
    rule(
        "nominations",
        r"pn ?(?P<n>\d{1,5})(?:-(?P<part>\d{1,4}))?(?:[ ,]*\(?(?P<congress>\d{1,3})(?:st|nd|rd|th)(?: cong(?:ress|\.)?)?\)?)?",
        nomination,
    );

    // Official addresses. A path may go on after the part that matters.
    let congress_gov = r"url:(?:www\.)?congress\.gov";
    rule(
        "bills",
        &format!(
            r"{congress_gov}/bill/(?P<congress>\d{{1,3}})[a-z]{{0,2}}-congress/(?P<path>[a-z-]+)/(?P<n>\d{{1,5}})(?:/.*)?"
        ),
        measure_from_path,
    );
    rule(
        "amendments",
        &format!(
            r"{congress_gov}/amendment/(?P<congress>\d{{1,3}})[a-z]{{0,2}}-congress/(?P<path>[a-z-]+)/(?P<n>\d{{1,5}})(?:/.*)?"
        ),
        measure_from_path,
    );
    rule(
        "committee-reports",
        &format!(
            r"{congress_gov}/(?:congressional|committee)-report/(?P<congress>\d{{1,3}})[a-z]{{0,2}}-congress/(?P<path>[a-z-]+)/(?P<n>\d{{1,5}})(?:/.*)?"
        ),
        measure_from_path,
    );
    rule("crs-reports", &format!(r"url:(?:www\.|crsreports\.)?congress\.gov/.*[/=]{CRS}(?:[./].*)?"), crs);
    rule(
        "nominations",
        &format!(
            r"{congress_gov}/nomination/(?P<congress>\d{{1,3}})[a-z]{{0,2}}-congress/(?P<n>\d{{1,5}})(?:/(?P<part>\d{{1,4}}))?(?:/[a-z].*)?"
        ),
        nomination,
    );
    rule(
        "hearings",
        &format!(
            r"{congress_gov}/event/(?P<congress>\d{{1,3}})[a-z]{{0,2}}-congress/[a-z]+-event/(?P<event>[a-z0-9-]+)(?:/.*)?"
        ),
        |c| Some(Found::Text(format!("hearing:{}:{}", number(c, "congress")?, lower(c, "event")?))),
    );
    rule("legislators", r"url:(?:www\.|bioguide\.)?congress\.gov/.*/(?P<bioguide>[a-z]\d{6})", |c| {
        Some(Found::Text(upper(c, "bioguide")?))
    });
    rule(
        "committees",
        &format!(r"{congress_gov}/committee/[a-z0-9-]+/(?P<code>[hsj][a-z]{{3}}\d{{2}})(?:/.*)?"),
        committee,
    );
    rule("public-laws", r"url:.*plaw-(?P<congress>\d{1,3})publ(?P<n>\d{1,4})(?:[./].*)?", law);
    rule(
        "bills",
        r"url:.*bills-(?P<congress>\d{1,3})(?P<type>hr|s|[hs]jres|[hs]res|[hs]conres)(?P<n>\d{1,5})[a-z0-9]*(?:[./].*)?",
        measure_id,
    );
    rule(
        "committee-reports",
        r"url:.*crpt-(?P<congress>\d{1,3})(?P<type>[hse]rpt)(?P<n>\d{1,5})(?:[./-].*)?",
        measure_id,
    );
    rule(
        "congressional-record",
        r"url:.*crec-(?P<date>\d{4}-\d{2}-\d{2})-pt\d+-pg(?P<granule>[a-z0-9-]+)(?:[./].*)?",
        |c| Some(Found::Text(format!("crec:{}:{}", date(c, "date")?, upper(c, "granule")?))),
    );
    rule(
        "federal-register",
        &format!(r"url:(?:www\.)?federalregister\.gov/(?:d|a|documents/\d{{4}}/\d{{2}}/\d{{2}})/{FR}(?:/.*)?"),
        |c| Some(Found::Text(upper(c, "fr")?)),
    );
    rule("presidential-documents", r"url:(?:www\.)?federalregister\.gov/executive-order/(?P<n>\d{1,6})", |c| {
        Some(Found::Text(format!("eo:{}", number(c, "n")?)))
    });
    rule(
        "cfr-sections",
        r"url:(?:www\.)?ecfr\.gov/.*title-(?P<title>\d{1,2})/.*section-(?P<section>\d[0-9a-z.()-]{0,40})",
        cfr,
    );
    rule("cbo-estimates", r"url:(?:www\.)?cbo\.gov/publication/(?P<n>\d{1,7})(?:/.*)?", |c| {
        Some(Found::Text(format!("cbo:{}", number(c, "n")?)))
    });
    rule(
        "gao-reports",
        r"url:(?:www\.)?gao\.gov/products/(?P<report>gao-(?:[a-z]{2,8}-)?\d{2}-\d{1,6}[a-z]{0,3})(?:/.*)?",
        |c| Some(Found::Text(format!("gao:{}", upper(c, "report")?))),
    );
    rule("roll-call-votes", r"url:clerk\.(?P<chamber>house)\.gov/votes/(?P<year>\d{4})(?P<n>\d{1,4})", vote);
    rule(
        "roll-call-votes",
        r"url:(?:www\.)?(?P<chamber>senate)\.gov/.*vote_(?P<congress>\d{1,3})_(?P<session>\d)_(?P<n>\d{5})\.(?:htm|xml)",
        vote,
    );
    rule("lda-filings", &format!(r"url:lda\.(?:senate\.)?gov/.*filing[s]?/{UUID}(?:/.*)?"), |c| {
        Some(Found::Text(format!("lda:{}", lower(c, "uuid")?)))
    });
    rule(
        "regulations-dot-gov-dockets",
        r"url:(?:www\.)?regulations\.gov/docket/(?P<docket>[a-z0-9][a-z0-9_.-]{1,80})(?:/.*)?",
        |c| Some(Found::Text(format!("docket:{}", upper(c, "docket")?))),
    );
    rules
});
