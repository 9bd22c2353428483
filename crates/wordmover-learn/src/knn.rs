//! Classes by the votes of nearest neighbours, for every K at once.
//!
//! Neighbours come from elsewhere, as rows and distances. Two rules make the outcome
//! definite:
//!
//! - Of neighbours at the same distance, the one with the lower row is nearer.
//! - Of classes with equally many votes, that of the nearest neighbour among their
//!   voters wins.

use std::cmp::Ordering;

use crate::error::{Error, Result, same_length};
use crate::split::Split;

/// The neighbours of one query: rows of the labelled set and their distances, in any
/// order.
pub type Neighbors = [(usize, f64)];

/// The classes that `K = 1, 2, ..., max_k` neighbours vote for, for one query. Entry
/// `K - 1` belongs to `K`.
///
/// # Errors
///
/// If there are fewer than `max_k` neighbours, `max_k` is 0, a row has no label or a
/// distance is NaN. The query is called 0 in the error.
///
/// ```
/// use wordmover_learn::knn;
///
/// let labels = [4, 4, 9, 9];
/// let neighbors = [(0, 0.5), (2, 0.25), (3, 0.75), (1, 0.5)];
/// // Nearest first: 9, then 4 and 4 at the same distance, then 9. The votes of K = 2
/// // and K = 4 are tied, and the nearest neighbour decides.
/// assert_eq!(knn::vote(&neighbors, &labels, 4)?, [9, 9, 4, 9]);
/// # Ok::<(), wordmover_learn::Error>(())
/// ```
pub fn vote(neighbors: &Neighbors, labels: &[usize], max_k: usize) -> Result<Vec<usize>> {
    vote_among(0, neighbors, labels, max_k, |_| true)
}

/// [`vote`] for several queries: a row of `max_k` classes for each.
///
/// # Errors
///
/// As for [`vote`]; the error names the query.
pub fn predict<L: AsRef<Neighbors>>(
    neighbors: &[L],
    labels: &[usize],
    max_k: usize,
) -> Result<Vec<Vec<usize>>> {
    let queries = neighbors.iter().enumerate();
    queries
        .map(|(query, list)| vote_among(query, list.as_ref(), labels, max_k, |_| true))
        .collect()
}

/// Accuracy for every K.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KChoice {
    /// The K with the highest accuracy; of equal ones the smallest.
    pub k: usize,
    /// Share of the rows predicted right by `K = 1, 2, ...`.
    pub accuracies: Vec<f64>,
}

/// Chooses K by cross-validation on the labelled rows: row `i` is predicted from those
/// of its neighbours that are learnt from when it is held out. `neighbors[i]` are rows
/// other than `i`, and must be so many that `max_k` of them remain.
///
/// # Errors
///
/// As for [`predict`], and if the splits name rows that are not there or hold out none.
pub fn choose_k<L: AsRef<Neighbors>>(
    neighbors: &[L],
    labels: &[usize],
    splits: &[Split],
    max_k: usize,
) -> Result<KChoice> {
    let n_rows = labels.len();
    same_length(
        "lists of neighbours, one for each row",
        n_rows,
        neighbors.len(),
    )?;
    let mut n_right = vec![0u64; max_k];
    let mut n_held_out = 0;
    for split in splits {
        let mut is_learnt_from = vec![false; n_rows];
        for &row in split.train.iter().chain(&split.test) {
            if row >= n_rows {
                return Err(Error::parameter("a row of a split", row, "one of the rows"));
            }
        }
        split
            .train
            .iter()
            .for_each(|&row| is_learnt_from[row] = true);
        for &row in &split.test {
            let list = neighbors[row].as_ref();
            let may_vote = |other: usize| other != row && is_learnt_from[other];
            let classes = vote_among(row, list, labels, max_k, may_vote)?;
            for (n_right, class) in n_right.iter_mut().zip(classes) {
                *n_right += u64::from(class == labels[row]);
            }
        }
        n_held_out += split.test.len();
    }
    if n_held_out == 0 {
        let what = "rows held out";
        return Err(Error::Empty { what });
    }
    let mut best = 0;
    for (k, &n) in n_right.iter().enumerate() {
        if n > n_right[best] {
            best = k;
        }
    }
    let accuracies = n_right.iter().map(|&n| n as f64 / n_held_out as f64);
    Ok(KChoice {
        k: best + 1,
        accuracies: accuracies.collect(),
    })
}

fn vote_among(
    query: usize,
    neighbors: &Neighbors,
    labels: &[usize],
    max_k: usize,
    may_vote: impl Fn(usize) -> bool,
) -> Result<Vec<usize>> {
    if max_k == 0 {
        return Err(Error::parameter("K", max_k, "at least 1"));
    }
    for &(index, distance) in neighbors {
        if index >= labels.len() || distance.is_nan() {
            return Err(Error::BadNeighbor {
                query,
                index,
                distance,
                n_labels: labels.len(),
            });
        }
    }
    let mut voters: Vec<(usize, f64)> = neighbors
        .iter()
        .copied()
        .filter(|&(index, _)| may_vote(index))
        .collect();
    if voters.len() < max_k {
        return Err(Error::TooFewNeighbors {
            query,
            found: voters.len(),
            needed: max_k,
        });
    }
    let order = |a: &(usize, f64), b: &(usize, f64)| a.1.partial_cmp(&b.1);
    voters.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal).then(a.0.cmp(&b.0)));
    // Classes in the order of their nearest voters, with their votes so far.
    let mut tally: Vec<(usize, usize)> = Vec::new();
    let winners = voters[..max_k].iter().map(|&(index, _)| {
        let class = labels[index];
        match tally.iter_mut().find(|(other, _)| *other == class) {
            Some((_, votes)) => *votes += 1,
            None => tally.push((class, 1)),
        }
        let mut best = tally[0];
        for &(class, votes) in &tally[1..] {
            if votes > best.1 {
                best = (class, votes);
            }
        }
        best.0
    });
    Ok(winners.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::k_folds;
    use proptest::prelude::*;

    #[test]
    fn the_lower_row_is_nearer_at_equal_distance() {
        let labels = [1, 2, 3];
        let neighbors = [(2, 1.0), (1, 1.0), (0, 1.0)];
        assert_eq!(vote(&neighbors, &labels, 3).unwrap(), [1, 1, 1]);
        // Negative zero is not nearer than zero.
        assert_eq!(vote(&[(1, -0.0), (0, 0.0)], &labels, 1).unwrap(), [1]);
    }

    #[test]
    fn lists_that_cannot_vote_are_refused() {
        let labels = [0, 1];
        let error = predict(&[vec![(0, 1.0), (1, 2.0)], vec![(0, 1.0)]], &labels, 2).unwrap_err();
        let expected = "query 1 has 1 neighbours that may vote, 2 are needed";
        assert_eq!(error.to_string(), expected);
        assert!(matches!(
            vote(&[(2, 1.0)], &labels, 1),
            Err(Error::BadNeighbor { index: 2, .. })
        ));
        assert!(vote(&[(1, f64::NAN)], &labels, 1).is_err());
        assert!(vote(&[(1, 1.0)], &labels, 0).is_err());
        assert_eq!(vote(&[(1, f64::INFINITY)], &labels, 1).unwrap(), [1]);
    }

    #[test]
    fn held_out_rows_do_not_vote_for_each_other() {
        // Rows 0 and 1 are copies in one fold; their neighbours elsewhere are of the
        // other class.
        let labels = [0, 0, 1, 1];
        let lists = [
            vec![(1, 0.0), (2, 1.0), (3, 1.0)],
            vec![(0, 0.0), (2, 1.0), (3, 1.0)],
            vec![(3, 0.5), (0, 1.0), (1, 1.0)],
            vec![(2, 0.5), (0, 1.0), (1, 1.0)],
        ];
        let split = |test: [usize; 2], train: [usize; 2]| Split {
            train: train.to_vec(),
            test: test.to_vec(),
        };
        let together = [split([0, 1], [2, 3]), split([2, 3], [0, 1])];
        assert_eq!(
            choose_k(&lists, &labels, &together, 1).unwrap().accuracies,
            [0.0]
        );
        let apart = [split([0, 2], [1, 3]), split([1, 3], [0, 2])];
        let choice = choose_k(&lists, &labels, &apart, 2).unwrap();
        assert_eq!((choice.k, &choice.accuracies[..]), (1, &[1.0, 1.0][..]));
        assert!(choose_k(&lists, &labels, &apart, 3).is_err());
        assert!(choose_k(&lists, &labels, &[], 1).is_err());
        assert!(choose_k(&lists[..3], &labels, &apart, 1).is_err());
    }

    /// Counts the votes of K afresh, from an order found by repeated minima.
    fn naive(neighbors: &Neighbors, labels: &[usize], k: usize) -> usize {
        let mut rest = neighbors.to_vec();
        let mut nearest = Vec::new();
        for _ in 0..k {
            let mut least = 0;
            for i in 1..rest.len() {
                if rest[i].1 < rest[least].1
                    || (rest[i].1 == rest[least].1 && rest[i].0 < rest[least].0)
                {
                    least = i;
                }
            }
            nearest.push(labels[rest.remove(least).0]);
        }
        let votes = |class| nearest.iter().filter(|&&other| other == class).count();
        let most = nearest.iter().map(|&class| votes(class)).max().unwrap();
        *nearest.iter().find(|&&class| votes(class) == most).unwrap()
    }

    proptest! {
        #[test]
        fn every_k_is_what_a_naive_count_says(
            labels in prop::collection::vec(0..4usize, 21..30),
            distances in prop::collection::vec(0..6u8, 30),
        ) {
            let each = distances.iter().map(|&d| f64::from(d)).enumerate();
            let neighbors: Vec<_> = each.take(labels.len()).collect();
            let all = vote(&neighbors, &labels, 21).unwrap();
            for k in 1..=21 {
                prop_assert_eq!(all[k - 1], naive(&neighbors, &labels, k));
            }
            // The order of the list does not matter.
            let reversed: Vec<_> = neighbors.iter().rev().copied().collect();
            prop_assert_eq!(&all, &vote(&reversed, &labels, 21).unwrap());
            let splits = k_folds(labels.len(), labels.len(), 0).unwrap();
            let lists = vec![neighbors; labels.len()];
            let choice = choose_k(&lists, &labels, &splits, 20).unwrap();
            let best = choice.accuracies.iter().copied().fold(0.0, f64::max);
            let first = choice.accuracies.iter().position(|&a| a == best).unwrap();
            prop_assert_eq!(choice.k, first + 1);
        }
    }
}
