//! What a question asks for beyond what the bundle covers: there nothing is known, which is not the
//! same as none.

use time::Date;

use super::filter::Filter;
use super::listing::Listing;
use crate::bundle::SeriesFacts;
use crate::catalog::wording::{congress_on, day};
use crate::catalog::{Field, Kind};

/// Ranges that a note names; more are counted.
const SHOWN: usize = 5;

/// Days by which the newest record may be older than the bundle without a word.
const LATE_DAYS: i64 = 30;

/// First and last day.
type Span = (Date, Date);

/// What of a question lies outside of the bundle.
#[derive(Default)]
pub struct Outside {
    notes: Vec<String>,
    /// Whether nothing of the question lies inside.
    pub is_all: bool,
}

impl Outside {
    /// Looks at the filters, and at the field of a series over time.
    pub fn of(listing: &Listing, filters: &[Filter], time: Option<&Field>) -> Outside {
        let mut outside = Outside::default();
        for field in &listing.columns {
            let on_field: Vec<&Filter> = filters.iter().filter(|f| f.is_on(field.name)).collect();
            let is_time = time.is_some_and(|time| time.name == field.name);
            if on_field.is_empty() && !is_time {
                continue;
            }
            match field.kind {
                Kind::Date => outside.add_days(listing, field, &on_field),
                Kind::Int if field.is_period() => outside.add_numbers(listing, field, &on_field),
                _ => {}
            }
        }
        if outside.notes.is_empty() && listing.parent.is_none() {
            outside.notes.extend(ends_early(listing, filters));
        }
        outside.notes.extend(numbers_missing(listing, filters));
        outside
    }

    /// For `meta`.
    pub fn note(&self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.join(" "))
    }

    fn add_days(&mut self, listing: &Listing, field: &Field, filters: &[&Filter]) {
        let Some(covered) = Covered::of(listing, field.name) else { return };
        let mut asked: Vec<Span> = vec![(Date::MIN, Date::MAX)];
        for filter in filters {
            asked = intersect(&asked, &filter.days());
        }
        // An open end asks for what there is.
        let (from, to) = (covered.from, covered.to);
        let close = |(first, last): Span| {
            (
                if first == Date::MIN { from } else { first },
                if last == Date::MAX { to } else { last },
            )
        };
        let asked: Vec<Span> = asked.into_iter().map(close).filter(|(a, b)| a <= b).collect();
        let outside = covered.without(&asked);
        if outside.is_empty() {
            return;
        }
        self.is_all |= intersect(&asked, &covered.spans()).is_empty();
        let shown: Vec<String> =
            outside.iter().take(SHOWN).map(|(a, b)| format!("{a} to {b}")).collect();
        let more = match outside.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        self.notes.push(format!(
            "Not covered by this bundle: {} {}{more}. It has {0} from {from} to {to}.",
            field.name,
            shown.join(", ")
        ));
    }

    fn add_numbers(&mut self, listing: &Listing, field: &Field, filters: &[&Filter]) {
        let facts = listing.facts.and_then(|facts| facts.fields.get(field.name));
        let Some(held) = facts.and_then(|facts| facts.numbers.as_deref()) else { return };
        let asked: Vec<i64> = filters.iter().flat_map(|filter| filter.numbers()).collect();
        let absent: Vec<i64> = asked.iter().copied().filter(|n| !held.contains(n)).collect();
        if absent.is_empty() {
            return;
        }
        self.is_all |= absent.len() == asked.len();
        let list = |numbers: &[i64]| {
            let all: Vec<String> = numbers.iter().map(i64::to_string).collect();
            all.join(", ")
        };
        self.notes.push(format!(
            "Not covered by this bundle: {} {}. It has {}.",
            field.name,
            list(&absent),
            list(held)
        ));
    }
}

/// Says that the newest record is much older than the bundle, unless only older ones are asked for.
fn ends_early(listing: &Listing, filters: &[Filter]) -> Option<String> {
    let as_of = day(&listing.bundle.manifest.as_of)?;
    let covered = Covered::of(listing, listing.main_date?)?;
    let on_date = |filter: &&Filter| listing.main_date.is_some_and(|date| filter.is_on(date));
    let is_older = |filter: &Filter| filter.days().iter().all(|(_, last)| *last <= covered.to);
    let is_behind = (as_of - covered.to).whole_days() > LATE_DAYS;
    (is_behind && !filters.iter().filter(on_date).any(is_older))
        .then(|| format!("The newest record here is of {}; the bundle is of {as_of}.", covered.to))
}

/// Says that more than a twentieth of the numbered records that are asked for is missing.
fn numbers_missing(listing: &Listing, filters: &[Filter]) -> Option<String> {
    let coverage = listing.facts?.coverage.as_ref()?;
    let mut series: Vec<&SeriesFacts> = coverage.series.iter().collect();
    for filter in filters {
        let words = filter.words();
        let has_part = |series: &&SeriesFacts| {
            series.prefix.split(':').any(|part| words.iter().any(|word| word == part))
        };
        // A filter on what the numbers do not tell does not choose among them.
        if series.iter().any(has_part) {
            series.retain(has_part);
        }
        if listing.main_date.is_some_and(|date| filter.is_on(date)) {
            let congresses = filter.days().into_iter().map(|(first, last)| {
                let congress = |day: Date| congress_on(&day.to_string()).unwrap_or_default();
                congress(first)..=congress(last)
            });
            let congresses: Vec<_> = congresses.collect();
            series.retain(|series| {
                let number = series.prefix.split(':').find_map(|part| part.parse().ok());
                number.is_none_or(|n: i64| congresses.iter().any(|range| range.contains(&n)))
            });
        }
    }
    let missing: u64 = series.iter().map(|series| series.missing).sum();
    let all: u64 = series.iter().map(|series| series.highest).sum();
    (missing * 20 > all).then(|| {
        format!("By their numbers, at least {missing} of {all} of these records are missing here.")
    })
}

/// The days that a bundle covers by a date field.
pub struct Covered {
    from: Date,
    to: Date,
    pub gaps: Vec<Span>,
}

impl Covered {
    pub fn of(listing: &Listing, field: &str) -> Option<Covered> {
        let days = listing.facts?.days(field)?;
        let gap = |(first, last): &(String, String)| Some((day(first)?, day(last)?));
        Some(Covered {
            from: day(&days.from)?,
            to: day(&days.to)?,
            gaps: days.gaps.iter().filter_map(gap).collect(),
        })
    }

    fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut from = Some(self.from);
        for (first, last) in &self.gaps {
            if let (Some(from), Some(before)) = (from, first.previous_day()) {
                spans.push((from, before));
            }
            from = last.next_day();
        }
        spans.extend(from.map(|from| (from, self.to)));
        spans
    }

    /// What of these spans is not covered.
    fn without(&self, asked: &[Span]) -> Vec<Span> {
        let before = self.from.previous_day().map(|last| (Date::MIN, last));
        let after = self.to.next_day().map(|first| (first, Date::MAX));
        let outside: Vec<Span> =
            before.into_iter().chain(self.gaps.iter().copied()).chain(after).collect();
        let mut found = intersect(asked, &outside);
        found.sort();
        found
    }
}

/// The days that are in both.
fn intersect(a: &[Span], b: &[Span]) -> Vec<Span> {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|(first, last)| first <= last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: &str, last: &str) -> Span {
        (day(first).unwrap(), day(last).unwrap())
    }

    #[test]
    fn what_is_outside_and_in_gaps_is_not_covered() {
        let (from, to) = span("2023-01-03", "2026-08-21");
        let covered = Covered { from, to, gaps: vec![span("2024-04-02", "2026-07-01")] };
        let asked = [span("2022-01-01", "2024-12-31"), span("2026-08-01", "2026-12-31")];
        assert_eq!(
            covered.without(&asked),
            [
                span("2022-01-01", "2023-01-02"),
                span("2024-04-02", "2024-12-31"),
                span("2026-08-22", "2026-12-31"),
            ]
        );
        assert_eq!(
            covered.spans(),
            [span("2023-01-03", "2024-04-01"), span("2026-07-02", "2026-08-21")]
        );
        assert!(covered.without(&[span("2023-05-01", "2024-01-01")]).is_empty());
    }
}
