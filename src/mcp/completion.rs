//! Completion of what people type into prompts and resource templates.

use rmcp::model::{CompletionInfo, Reference};

use super::args::Plan;
use super::offer::Offer;
use super::prompts;
use super::resources::GUIDES;
use crate::catalog::Field;
use crate::error::Code;

/// Values offered at once.
const MOST: usize = 20;

/// The values that an argument of a prompt or a template can take, as far as they begin like what was typed.
pub fn complete(offer: &Offer, reference: &Reference, argument: &str, typed: &str) -> CompletionInfo {
    let is_known = match reference {
        Reference::Prompt(prompt) => prompts::arguments(&prompt.name).contains(&argument),
        Reference::Resource(_) => true,
        _ => false,
    };
    if !is_known {
        return CompletionInfo::default();
    }
    let values = match argument {
        "source" | "resource" | "entity_type" => {
            of(offer.bundle.sources().map(|(source, _)| source.key.to_string()), typed)
        }
        "code" => of(Code::ALL.iter().map(|code| code.as_str().to_string()), typed),
        "guide_key" => of(GUIDES.iter().map(|guide| guide.key.to_string()), typed),
        "congress" => of(offer.bundle.manifest.congresses.iter().map(i64::to_string), typed),
        "bill_id" | "first_bill" | "second_bill" => ids(offer, &["bills"], typed),
        "member" | "bioguide_id" => ids(offer, &["legislators"], typed),
        "committee" | "committee_id" => ids(offer, &["committees"], typed),
        "field" => of(offer.fields(Plan::Count, Field::can_filter).into_iter().map(str::to_string), typed),
        "id" => {
            let all: Vec<&str> = offer.bundle.sources().map(|(source, _)| source.key).collect();
            ids(offer, &all, typed)
        }
        _ => Vec::new(),
    };
    let has_more = values.len() > MOST;
    CompletionInfo::with_pagination(values.into_iter().take(MOST).collect(), None, has_more).unwrap_or_default()
}

fn of(values: impl Iterator<Item = String>, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    values.filter(|value| value.to_lowercase().starts_with(&typed)).collect()
}

/// Ids that begin so. Looks at so many records at most that it answers while somebody types.
fn ids(offer: &Offer, sources: &[&str], typed: &str) -> Vec<String> {
    const LOOKED_AT: usize = 50_000;
    let typed = typed.to_lowercase();
    let records = offer.bundle.records();
    let numbers = sources.iter().filter_map(|key| offer.bundle.source(key)).flat_map(|(source, facts)| {
        let first = offer.bundle.first_number(source);
        first..first + facts.records as usize
    });
    let named = numbers.take(LOOKED_AT).filter_map(|number| records.by_number(number)).map(|entry| entry.id);
    named.filter(|id| id.to_lowercase().starts_with(&typed)).take(MOST + 1).map(str::to_string).collect()
}
