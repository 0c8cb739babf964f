//! Names where ids are asked for: a member, a committee, an agency, a registrant or a client may be
//! given by name. When it is clear who is meant, the answer says how it was understood; when not,
//! the error lists the candidates.

use super::query::{Listing, values_with};
use super::record::{self, FoundRecord};
use super::resolve::{self, Named};
use crate::api::{Arguments, Code, Context, Error, Result, Understood};
use crate::catalog::vocabulary::folded;
use crate::catalog::{self, Field, Kind, Source, ids};

/// Candidates that an error lists.
const MOST_CANDIDATES: usize = 8;

/// Values with the same words that are compared with a name, the most frequent ones.
const MOST_SIMILAR: usize = 80;

/// Values that are compared with an acronym; a field with more of them holds no agencies.
const MOST_VALUES: usize = 3_000;

/// Replaces names by ids, and loosely written names of organizations by the values that the bundle
/// has, in the arguments that filter this listing. Blocks where there is a name to look up.
pub fn filters(
    context: &Context,
    listing: &Listing,
    arguments: &mut Arguments,
) -> Result<Vec<Understood>> {
    let mut understood = Vec::new();
    let is_column = |name: &str| listing.column(name).is_some_and(can_be_named);
    arguments.replace_values(is_column, |argument, given| {
        let Some(column) = listing.column(argument) else { return Ok(None) };
        let found = match column.kind {
            Kind::Id(target) | Kind::Ids(target) => id(context, argument, target, given)?,
            _ => organization(context, listing, column, given)?,
        };
        let Some(Meaning { values, name }) = found else { return Ok(None) };
        let (argument, given) = (argument.to_string(), given.to_string());
        understood.push(Understood { argument, given, value: values.join("; "), name });
        Ok(Some(values))
    })?;
    Ok(understood)
}

/// What a name was read as: the values to filter by.
struct Meaning {
    values: Vec<String>,
    name: String,
}

fn can_be_named(column: Field) -> bool {
    let is_registry = |key: &str| catalog::source(key).is_some_and(|s| s.naming.is_some());
    column.named || column.kind.target().is_some_and(is_registry)
}

/// Finds a record of a source by its id or, in a registry, by the name of what it is about.
pub fn record<'a>(
    context: &'a Context,
    source: &'static Source,
    input: &str,
) -> Result<FoundRecord<'a>> {
    let bundle = &context.bundle;
    match record::find_in(bundle, source, input) {
        Err(error) if error.code == Code::UnrecognizedIdFormat && source.naming.is_some() => {
            // An id of another source is no name.
            if ids::parse(input).is_some() {
                return Err(error);
            }
            match resolve::named(context, source, input)? {
                Named::Clearly { id, .. } => {
                    let found = record::find_in(bundle, source, &id)?;
                    Ok(FoundRecord { asked: Some(input.to_string()), ..found })
                }
                Named::Several(candidates) => Err(several("id", input, source, candidates)),
                Named::Nobody(nearest) => Err(error.hint("nearest_names", nearest)),
            }
        }
        found => found,
    }
}

/// Whether an id may be a name, which takes a query to find: it has a small letter or a space and
/// no digit.
pub fn may_be_name(id: &str) -> bool {
    let has = |test: fn(char) -> bool| id.chars().any(test);
    !has(|c| c.is_ascii_digit()) && has(|c| c.is_lowercase() || c.is_whitespace())
}

/// The id of the record that a name clearly means; nothing where it is an id already.
fn id(
    context: &Context,
    argument: &str,
    target: &'static str,
    given: &str,
) -> Result<Option<Meaning>> {
    let Some((source, _)) = context.bundle.source(target) else { return Ok(None) };
    if ids::parse_for(target, given).is_some() || ids::parse(given).is_some() {
        return Ok(None);
    }
    match resolve::named(context, source, given)? {
        Named::Clearly { id, name } => Ok(Some(Meaning { values: vec![id], name })),
        Named::Several(candidates) => Err(several(argument, given, source, candidates)),
        // The error of whoever reads the value says what ids look like.
        Named::Nobody(_) => Ok(None),
    }
}

fn several(
    argument: &str,
    given: &str,
    source: &Source,
    candidates: Vec<(String, String)>,
) -> Error {
    let shown: String = given.chars().take(80).collect();
    let message = format!("`{argument}`: {shown:?} may be one of several {}.", source.key);
    let candidates: Vec<serde_json::Value> = candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        .map(|(id, name)| serde_json::json!({ "id": id, "name": name }))
        .collect();
    let error = Error::invalid(argument, message).hint("candidates", candidates);
    error.hint("next", "Give one of these ids, or more of the name.")
}

/// The values that the name of an organization means: whatever its case, without "Inc." and the
/// like, by some of its words or by its initials. "Visa" means "VISA INC" and "VISA, INC.", which
/// registrants write for one client. Nothing where it is a value already or unknown.
fn organization(
    context: &Context,
    listing: &Listing,
    column: Field,
    given: &str,
) -> Result<Option<Meaning>> {
    let given = given.trim();
    let words: Vec<String> = words(given).collect();
    if words.is_empty() {
        return Ok(None);
    }
    if listing.values(column.name).is_some_and(|known| known.iter().any(|v| v == given)) {
        return Ok(None);
    }
    let mut values = values_with(context, listing, column, &words, MOST_SIMILAR)?;
    // "epa" is in every "department": each word must begin one of the value's.
    values.retain(|value| {
        let own: Vec<String> = self::words(value).collect();
        words.iter().all(|word| own.iter().any(|w| w.starts_with(word.as_str())))
    });
    if values.iter().any(|value| value.to_lowercase() == given.to_lowercase()) {
        return Ok(None);
    }
    let found = |values: Vec<String>| {
        let name = values.first().cloned().unwrap_or_default();
        Ok(Some(Meaning { values, name }))
    };
    let same: Vec<String> = values.iter().filter(|v| is_same(v, given)).cloned().collect();
    match (same.is_empty(), values.as_slice()) {
        (false, _) => return found(same),
        (true, [value]) => return found(vec![value.clone()]),
        (true, []) => {}
        (true, several) => {
            let shown: Vec<&str> =
                several.iter().take(MOST_CANDIDATES).map(String::as_str).collect();
            let name = column.name;
            let message = format!("`{name}`: {given:?} may be one of several values.");
            let error = Error::invalid(name, message).hint("candidates", shown);
            return Err(error.hint("next", "Give one of them as it is written, or a list."));
        }
    }
    if !is_acronym(given) {
        return Ok(None);
    }
    let all = values_with(context, listing, column, &[], MOST_VALUES)?;
    let named: Vec<&String> = all.iter().filter(|v| initials(v) == folded(given)).collect();
    match named.as_slice() {
        [value] => found(vec![(*value).clone()]),
        _ => Ok(None),
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let is_end = |c: char| !c.is_alphanumeric() && c != '&';
    text.split(is_end).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether two names differ only in their legal form and small words.
fn is_same(a: &str, b: &str) -> bool {
    const FORMS: [&str; 13] = [
        "inc",
        "incorporated",
        "llc",
        "llp",
        "lp",
        "ltd",
        "corp",
        "corporation",
        "co",
        "company",
        "the",
        "of",
        "and",
    ];
    let bare = |text: &str| -> Vec<String> {
        words(text).filter(|word| !FORMS.contains(&word.as_str())).collect()
    };
    bare(a) == bare(b)
}

fn is_acronym(text: &str) -> bool {
    (2..=7).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase())
}

/// "epa" for "Environmental Protection Agency".
fn initials(name: &str) -> String {
    const SMALL: [&str; 7] = ["of", "the", "and", "for", "on", "in", "department"];
    words(name)
        .filter(|word| !SMALL.contains(&word.as_str()))
        .filter_map(|word| word.chars().next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_legal_forms_and_by_initials() {
        assert!(is_same("VISA, INC.", "Visa"));
        assert!(is_same("The Boeing Company", "boeing"));
        assert!(!is_same("VISA U.S.A.", "Visa"));
        assert_eq!(initials("Environmental Protection Agency"), "epa");
        assert_eq!(initials("Department of Health and Human Services"), "hhs");
        assert!(is_acronym("FDA") && !is_acronym("Visa") && !is_acronym("A"));
    }

    #[test]
    fn only_words_may_be_names() {
        for id in ["Markey", "ways and means", "WAYS AND MEANS"] {
            assert!(may_be_name(id), "{id}");
        }
        for id in ["M000133", "HSWM", "hr:119:1", "HSWM02", ""] {
            assert!(!may_be_name(id), "{id}");
        }
    }
}
