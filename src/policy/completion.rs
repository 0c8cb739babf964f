//! Completion of what people type into prompts and resource templates.

use super::advertised;
use super::guides::KEYS;
use crate::api::{Code, Context, Result};
use crate::catalog::Field;

/// Values that are found: one more than are offered at once tells that there are more.
const MOST: usize = 21;

/// Records that are looked at for ids.
const LOOKED_AT: usize = 50_000;

/// Records between two looks at whether anyone still waits.
const CHECKED: usize = 1024;

/// The values that an argument can take and that begin with what was typed. Reads many records:
/// call it on a blocking thread.
pub fn complete(context: &Context, argument: &str, typed: &str) -> Result<Vec<String>> {
    let bundle = &context.bundle;
    let typed = typed.to_lowercase();
    let matching = |values: &mut dyn Iterator<Item = String>| -> Vec<String> {
        values.filter(|value| value.to_lowercase().starts_with(&typed)).take(MOST).collect()
    };
    let named = |names: Vec<&str>| matching(&mut names.into_iter().map(str::to_string));
    Ok(match argument {
        "source" | "resource" | "entity_type" => named(advertised::sources(bundle)),
        "code" => named(Code::ALL.iter().map(|code| code.as_str()).collect()),
        "guide_key" => named(KEYS.to_vec()),
        "congress" => matching(&mut bundle.manifest.congresses.iter().map(i64::to_string)),
        "field" => named(advertised::fields(bundle, Field::can_filter, |_| true)),
        "bill_id" | "first_bill" | "second_bill" => ids(context, &["bills"], &typed)?,
        "member" | "bioguide_id" => ids(context, &["legislators"], &typed)?,
        "committee" | "committee_id" => ids(context, &["committees"], &typed)?,
        "id" => ids(context, &advertised::sources(bundle), &typed)?,
        _ => Vec::new(),
    })
}

/// Ids of these sources that begin so.
fn ids(context: &Context, sources: &[&str], typed: &str) -> Result<Vec<String>> {
    let bundle = &context.bundle;
    let records = bundle.records();
    let numbers =
        sources.iter().filter_map(|key| bundle.source(key)).flat_map(|(source, facts)| {
            let first = bundle.first_number(source);
            first..first + facts.records as usize
        });
    let mut found = Vec::new();
    for (at, number) in numbers.take(LOOKED_AT).enumerate() {
        if at.is_multiple_of(CHECKED) {
            context.check()?;
        }
        if let Some(id) = records.id(number)
            && id.to_lowercase().starts_with(typed)
        {
            found.push(id.to_string());
            if found.len() == MOST {
                break;
            }
        }
    }
    Ok(found)
}
