//! The records that sources, dates and filters leave, found before anything is scored.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::request::SearchScope;
use crate::api::{Context, Error, Result};
use crate::bundle::text::TextIndex;
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::Source;
use crate::policy::query::{Listing, Selection, select_ords};

/// A set of record numbers: whole sources as ranges, selections of others as a bitmap.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    whole: Vec<Range<u32>>,
    chosen: RoaringBitmap,
}

impl Candidates {
    /// The records of these sources that their filters leave.
    pub fn find(context: &Context, scopes: &[SearchScope]) -> Result<Candidates> {
        let mut found = Candidates::default();
        for SearchScope { source, selection } in scopes {
            found.add(context, source, selection)?;
        }
        Ok(found)
    }

    fn add(&mut self, context: &Context, source: &Source, selection: &Selection) -> Result<()> {
        let Some((source, facts)) = context.bundle.source(source.key) else { return Ok(()) };
        let range = numbers(&context.bundle, source, facts);
        if selection.is_everything() {
            self.whole.push(range);
        } else {
            let listing = Listing::of_source(&context.bundle, source, facts);
            self.chosen |= selected(context, &listing, selection, range.start)?.as_ref();
        }
        Ok(())
    }

    /// Every record of a range.
    pub fn all(records: Range<u32>) -> Candidates {
        Candidates { whole: vec![records], chosen: RoaringBitmap::new() }
    }

    pub fn of(chosen: RoaringBitmap) -> Candidates {
        Candidates { whole: Vec::new(), chosen }
    }

    pub fn contains(&self, record: u32) -> bool {
        self.whole.iter().any(|range| range.contains(&record)) || self.chosen.contains(record)
    }

    /// The first of them after this record.
    pub fn after(&self, record: u32) -> Option<u32> {
        let next = record.checked_add(1)?;
        let whole = self.whole.iter().filter(|range| range.end > next && !range.is_empty());
        let whole = whole.map(|range| range.start.max(next)).min();
        let chosen = self.chosen.range(next..).next();
        whole.into_iter().chain(chosen).min()
    }

    /// Answers whether records are candidates, fastest when they come in order.
    pub fn membership(&self) -> Membership<'_> {
        Membership { candidates: self, known: 0..0 }
    }

    pub fn count(&self) -> u64 {
        self.whole.iter().map(|range| range.len() as u64).sum::<u64>() + self.chosen.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.whole.iter().cloned().flatten().chain(self.chosen.iter())
    }

    /// How many passages they have.
    pub fn passages(&self, index: &TextIndex) -> u64 {
        let end = |record: u32| u64::from(index.passages_of(record).end);
        let whole = self.whole.iter().filter(|range| !range.is_empty());
        let whole: u64 =
            whole.map(|r| end(r.end - 1) - u64::from(index.passages_of(r.start).start)).sum();
        whole + self.chosen.iter().map(|record| index.passages_of(record).len() as u64).sum::<u64>()
    }

    /// Those of them that are in the set.
    pub fn only(&self, set: &RoaringBitmap) -> Candidates {
        Candidates::of(set.iter().filter(|record| self.contains(*record)).collect())
    }

    /// Those of them that are not in the set.
    pub fn without(&self, set: &RoaringBitmap) -> Candidates {
        let mut left = self.chosen.clone();
        for range in &self.whole {
            left.insert_range(range.clone());
        }
        Candidates::of(left - set)
    }

    /// Those of them that belong to these sources.
    pub fn within(&self, bundle: &Bundle, sources: &[&'static Source]) -> Candidates {
        let known = sources.iter().filter_map(|s| bundle.source(s.key));
        let ranges: Vec<Range<u32>> =
            known.map(|(source, facts)| numbers(bundle, source, facts)).collect();
        let mut allowed = RoaringBitmap::new();
        for range in &ranges {
            allowed.insert_range(range.clone());
        }
        let whole = self.whole.iter().filter(|range| ranges.contains(range)).cloned().collect();
        Candidates { whole, chosen: allowed & &self.chosen }
    }
}

/// See `Candidates::membership`.
pub struct Membership<'a> {
    candidates: &'a Candidates,
    /// The source that was asked for last.
    known: Range<u32>,
}

impl Membership<'_> {
    pub fn contains(&mut self, record: u32) -> bool {
        if self.known.contains(&record) {
            return true;
        }
        let whole = self.candidates.whole.iter().find(|range| range.contains(&record));
        match whole {
            Some(range) => self.known = range.clone(),
            None => return self.candidates.chosen.contains(record),
        }
        true
    }
}

/// The record numbers of a source.
fn numbers(bundle: &Bundle, source: &Source, facts: &SourceFacts) -> Range<u32> {
    let first = bundle.first_number(source) as u32;
    first..first + facts.records as u32
}

/// The record numbers that a selection leaves. A bundle never changes, so what was selected lately
/// is kept.
fn selected(
    context: &Context,
    listing: &Listing,
    selection: &Selection,
    first: u32,
) -> Result<Arc<RoaringBitmap>> {
    let key = format!("{}\n{}", listing.table, selection.key());
    let selections = &context.bundle.selections;
    if let Some(known) = selections.get(&key) {
        return Ok(known);
    }
    let ords = select_ords(context, listing, selection)?;
    let numbers = ords.into_iter().map(|ord| first + ord);
    let set = Arc::new(RoaringBitmap::from_sorted_iter(numbers).map_err(Error::internal)?);
    selections.insert(key, set.clone());
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_candidate_is_the_first_one_that_it_contains(
            whole in prop::collection::vec((0u32..300, 0u32..40), 0..4),
            chosen in prop::collection::vec(0u32..300, 0..30),
            record in 0u32..320,
        ) {
            let whole = whole.into_iter().map(|(start, length)| start..start + length).collect();
            let candidates = Candidates { whole, chosen: chosen.into_iter().collect() };
            let expected = (record + 1..400).find(|next| candidates.contains(*next));
            prop_assert_eq!(candidates.after(record), expected);
        }
    }
}
