//! From the captures of a spelling to the parts of an id, for readers of several sources. What only
//! one source needs belongs into that source's file.
//!
//! Captures go by name: `congress`, `n` (a number), `type`, `path`, `date`.

use regex::Captures;

use super::spelling::Reading;
use crate::catalog::wording::type_of_path;

/// A number without leading zeros, above zero.
pub fn number(captures: &Captures, name: &str) -> Option<String> {
    let n: u64 = captures.name(name)?.as_str().parse().ok()?;
    (n > 0).then(|| n.to_string())
}

pub fn lower(captures: &Captures, name: &str) -> Option<String> {
    Some(captures.name(name)?.as_str().to_ascii_lowercase())
}

pub fn upper(captures: &Captures, name: &str) -> Option<String> {
    Some(captures.name(name)?.as_str().to_ascii_uppercase())
}

/// An ISO date whose month and day can exist.
pub fn date(captures: &Captures, name: &str) -> Option<String> {
    let text = captures.name(name)?.as_str();
    let (month, day): (u8, u8) = (text.get(5..7)?.parse().ok()?, text.get(8..10)?.parse().ok()?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| text.to_string())
}

/// Adds the captured congress, if any. A congress that is not a number makes the whole unreadable.
pub fn with_congress(captures: &Captures, kind: String, n: String) -> Option<Reading> {
    Some(match captures.name("congress") {
        Some(_) => Reading::Complete(format!("{kind}:{}:{n}", number(captures, "congress")?)),
        None => Reading::AnyCongress { kind, number: n },
    })
}

/// `TYPE:CONGRESS:NUMBER`, or the same without its congress.
pub fn measure_id(captures: &Captures) -> Option<Reading> {
    with_congress(captures, measure_type(captures)?, number(captures, "n")?)
}

/// The same from a path of congress.gov: `119th-congress/house-bill/1`.
pub fn measure_from_path(captures: &Captures) -> Option<Reading> {
    let kind = type_of_path(&lower(captures, "path")?)?;
    with_congress(captures, kind.to_string(), number(captures, "n")?)
}

/// The code of a bill, amendment or report: "H.J. Res.", "House Joint Resolution", "hjres" ->
/// "hjres".
pub fn measure_type(captures: &Captures) -> Option<String> {
    let letters: String = captures
        .name("type")?
        .as_str()
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    let code = match letters.as_str() {
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
