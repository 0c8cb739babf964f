//! Reciprocal rank fusion of two rankings: the score of a record is the sum of 1 / (60 + rank) over
//! the rankings that contain it. Ranks are used because BM25 scores and cosine similarities have no
//! common scale. Pure functions; nothing is looked up.

/// The usual constant of reciprocal rank fusion.
const K: f32 = 60.0;

/// A record with its rank in each ranking, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fused {
    pub record: u32,
    pub score: f32,
    pub lexical: Option<usize>,
    pub semantic: Option<usize>,
}

/// What a rank in one ranking adds to the score.
pub fn share(rank: usize) -> f32 {
    1.0 / (K + rank as f32)
}

/// The records of both rankings, the best first; records with equal scores by number.
pub fn fuse(lexical: &[u32], semantic: &[u32]) -> Vec<Fused> {
    let mut by_record: Vec<(u32, usize)> =
        semantic.iter().enumerate().map(|(at, record)| (*record, at + 1)).collect();
    by_record.sort_unstable();
    let mut is_semantic_only = vec![true; semantic.len()];
    let mut fused = Vec::with_capacity(lexical.len() + semantic.len());
    for (at, record) in lexical.iter().enumerate() {
        let found = by_record.binary_search_by_key(record, |(r, _)| *r).ok();
        let semantic_rank = found.map(|place| by_record[place].1);
        if let Some(rank) = semantic_rank {
            is_semantic_only[rank - 1] = false;
        }
        let score = share(at + 1) + semantic_rank.map_or(0.0, share);
        fused.push(Fused {
            record: *record,
            score,
            lexical: Some(at + 1),
            semantic: semantic_rank,
        });
    }
    for (at, record) in semantic.iter().enumerate().filter(|(at, _)| is_semantic_only[*at]) {
        fused.push(Fused {
            record: *record,
            score: share(at + 1),
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

    #[test]
    fn a_record_in_both_rankings_comes_before_those_in_one() {
        let fused = fuse(&[1, 2, 3], &[3, 4]);
        let order: Vec<u32> = fused.iter().map(|f| f.record).collect();
        assert_eq!(order, [3, 1, 2, 4], "{fused:?}");
        assert_eq!((fused[0].lexical, fused[0].semantic), (Some(3), Some(1)));
        assert!((fused[0].score - (1.0 / 63.0 + 1.0 / 61.0)).abs() < 1e-6);
        assert_eq!((fused[1].lexical, fused[1].semantic), (Some(1), None));
    }

    #[test]
    fn a_single_ranking_keeps_its_order_and_ties_are_ordered_by_number() {
        let order = |lexical: &[u32], semantic: &[u32]| {
            fuse(lexical, semantic).iter().map(|f| f.record).collect::<Vec<_>>()
        };
        assert_eq!(order(&[9, 5, 7], &[]), [9, 5, 7]);
        assert_eq!(order(&[9], &[2]), [2, 9]);
        assert_eq!(order(&[], &[]), Vec::<u32>::new());
    }
}
