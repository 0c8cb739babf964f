//! Reciprocal rank fusion of two rankings: the score of a record is the sum of 1 / (60 + rank) over
//! the rankings that contain it. BM25 scores and cosine similarities have no common scale, but each
//! ranking knows how far a record stands above its others: the higher, the more its rank counts.
//! Pure functions; nothing is looked up.

/// The usual constant of reciprocal rank fusion.
const K: f32 = 60.0;

/// How much more the rank of the best record counts than that of one at `FLOOR`. Of 0.25 to 4 the
/// best on four test collections (`benches/README.md`); 0 is plain reciprocal rank fusion.
const SURENESS: f32 = 4.0;

/// The rank whose score counts as nothing: below it, scores hardly differ.
const FLOOR: usize = 100;

/// A record and its score in one ranking.
pub type Scored = (u32, f32);

/// A record with its rank in each ranking, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fused {
    pub record: u32,
    pub score: f32,
    pub lexical: Option<usize>,
    pub semantic: Option<usize>,
}

/// What a rank far below the best adds to the score.
pub fn share(rank: usize) -> f32 {
    1.0 / (K + rank as f32)
}

/// A ranking, the best first.
struct Half<'a> {
    ranked: &'a [Scored],
    best: f32,
    floor: f32,
}

impl Half<'_> {
    fn new(ranked: &[Scored]) -> Half<'_> {
        let best = ranked.first().map_or(0.0, |(_, score)| *score);
        let floor = ranked.get(..FLOOR).unwrap_or(ranked).last().map_or(0.0, |(_, score)| *score);
        Half { ranked, best, floor }
    }

    /// What the rank of its record adds to the score.
    fn share(&self, rank: usize) -> f32 {
        let score = self.ranked.get(rank - 1).map_or(self.floor, |(_, score)| *score);
        let height = match self.best > self.floor {
            true => ((score - self.floor) / (self.best - self.floor)).clamp(0.0, 1.0),
            // All are equal: the best is as sure as any.
            false => 1.0,
        };
        share(rank) * (1.0 + SURENESS * height)
    }
}

/// The records of both rankings, the best first; records with equal scores by number.
pub fn fuse(lexical: &[Scored], semantic: &[Scored]) -> Vec<Fused> {
    let (words, meaning) = (Half::new(lexical), Half::new(semantic));
    let mut by_record: Vec<(u32, usize)> =
        semantic.iter().enumerate().map(|(at, (record, _))| (*record, at + 1)).collect();
    by_record.sort_unstable();
    let mut is_semantic_only = vec![true; semantic.len()];
    let mut fused = Vec::with_capacity(lexical.len() + semantic.len());
    for (at, (record, _)) in lexical.iter().enumerate() {
        let found = by_record.binary_search_by_key(record, |(r, _)| *r).ok();
        let semantic_rank = found.map(|place| by_record[place].1);
        if let Some(rank) = semantic_rank {
            is_semantic_only[rank - 1] = false;
        }
        let score = words.share(at + 1) + semantic_rank.map_or(0.0, |rank| meaning.share(rank));
        fused.push(Fused {
            record: *record,
            score,
            lexical: Some(at + 1),
            semantic: semantic_rank,
        });
    }
    for (at, (record, _)) in semantic.iter().enumerate().filter(|(at, _)| is_semantic_only[*at]) {
        fused.push(Fused {
            record: *record,
            score: meaning.share(at + 1),
            lexical: None,
            semantic: Some(at + 1),
        });
    }
    fused.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.record.cmp(&b.record)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rankings whose scores fall evenly.
    fn even(records: &[u32]) -> Vec<Scored> {
        let score = |at: usize| (records.len() - at) as f32;
        records.iter().enumerate().map(|(at, record)| (*record, score(at))).collect()
    }

    fn order(lexical: &[Scored], semantic: &[Scored]) -> Vec<u32> {
        fuse(lexical, semantic).iter().map(|f| f.record).collect()
    }

    #[test]
    fn a_record_in_both_rankings_comes_before_those_in_one() {
        let fused = fuse(&even(&[1, 2, 3]), &even(&[3, 4]));
        let order: Vec<u32> = fused.iter().map(|f| f.record).collect();
        assert_eq!(order, [3, 1, 2, 4], "{fused:?}");
        assert_eq!((fused[0].lexical, fused[0].semantic), (Some(3), Some(1)));
        assert!((fused[0].score - (1.0 / 63.0 + 5.0 / 61.0)).abs() < 1e-6);
        assert_eq!((fused[1].lexical, fused[1].semantic), (Some(1), None));
    }

    #[test]
    fn a_single_ranking_keeps_its_order_and_ties_are_ordered_by_number() {
        assert_eq!(order(&even(&[9, 5, 7]), &[]), [9, 5, 7]);
        assert_eq!(order(&even(&[9]), &even(&[2])), [2, 9]);
        assert_eq!(order(&[], &[]), Vec::<u32>::new());
    }

    #[test]
    fn the_half_that_is_sure_decides() {
        // By words 1 stands far above the rest; 2 is second in both, and no half is sure of it.
        let words = [(1, 20.0), (2, 3.0), (3, 2.0)];
        let meaning = [(4, 0.50), (2, 0.41), (5, 0.40)];
        assert_eq!(order(&words, &meaning)[0], 1, "{:?}", fuse(&words, &meaning));
        // Where both halves are sure of the others, too, being in both counts.
        let words = [(1, 20.0), (2, 19.0), (3, 2.0)];
        let meaning = [(4, 0.50), (2, 0.49), (5, 0.40)];
        assert_eq!(order(&words, &meaning)[0], 2, "{:?}", fuse(&words, &meaning));
    }
}
