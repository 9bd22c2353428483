//! Which rows are learnt from and which are held out.
//!
//! Everything is drawn from a seed: ChaCha with 8 rounds, whose output is fixed for
//! good, with our own mapping from its bits (that of the embedding's random
//! documents), pinned by a test. Split `i` is drawn from stream `i` alone, so asking
//! for more splits does not change the first ones.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::error::{Error, Result};

/// Rows to learn from and rows held out, each ascending; together all rows, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows held out.
    pub test: Vec<usize>,
}

impl Split {
    fn new(n_rows: usize, is_test: impl Fn(usize) -> bool) -> Self {
        let (test, train) = (0..n_rows).partition(|&row| is_test(row));
        Split { train, test }
    }
}

/// Divides the rows at random into folds whose sizes differ by one at most; each is
/// held out once. A fold need not contain every class.
///
/// # Errors
///
/// If there are fewer than two folds, or fewer rows than folds.
pub fn k_folds(n_rows: usize, n_folds: usize, seed: u64) -> Result<Vec<Split>> {
    check_folds(n_rows, n_folds)?;
    let mut rows: Vec<usize> = (0..n_rows).collect();
    shuffle(&mut rows, seed, 0);
    Ok(deal(&rows, n_folds))
}

/// As [`k_folds`], with the members of every class spread evenly too: their numbers
/// in two folds differ by one at most.
///
/// # Errors
///
/// As for [`k_folds`], and [`Error::ClassSmallerThanFolds`] if a class has fewer
/// members than there are folds: it could not be in all of them. Use fewer folds, join
/// the class to another, or take [`k_folds`].
pub fn stratified_k_folds(labels: &[usize], n_folds: usize, seed: u64) -> Result<Vec<Split>> {
    check_folds(labels.len(), n_folds)?;
    let mut rows = Vec::with_capacity(labels.len());
    for (stream, (class, mut members)) in members_by_class(labels).into_iter().enumerate() {
        let n_members = members.len();
        if n_members < n_folds {
            return Err(Error::ClassSmallerThanFolds {
                class,
                n_members,
                n_folds,
            });
        }
        shuffle(&mut members, seed, stream as u64);
        rows.extend(members);
    }
    // Dealt like cards, class after class: even within classes and on the whole.
    Ok(deal(&rows, n_folds))
}

/// As [`stratified_k_folds`], for classes of any size: the members of every class are spread
/// over the folds, and one that is alone in its class is in none of them. So every class is
/// learnt from, whichever fold is held out. There are no more folds than rows to hold out,
/// and none if every class has one member.
///
/// # Errors
///
/// If there are fewer than two folds.
pub fn spread_folds(labels: &[usize], n_folds: usize, seed: u64) -> Result<Vec<Split>> {
    check_folds(n_folds, n_folds)?;
    let mut order = Vec::with_capacity(labels.len());
    for (stream, (_, mut members)) in members_by_class(labels).into_iter().enumerate() {
        if members.len() > 1 {
            shuffle(&mut members, seed, stream as u64);
            order.extend(members);
        }
    }
    let n_folds = n_folds.min(order.len());
    let mut fold_of = vec![None; labels.len()];
    for (i, &row) in order.iter().enumerate() {
        fold_of[row] = Some(i % n_folds);
    }
    let folds = (0..n_folds).map(|fold| Split::new(labels.len(), |row| fold_of[row] == Some(fold)));
    Ok(folds.collect())
}

/// About so many rows, drawn at random in the proportions of the classes, ascending; all rows
/// where they are no more. Of every class there are two at least, if it has them.
#[must_use]
pub fn stratified_sample(labels: &[usize], n_rows: usize, seed: u64) -> Vec<usize> {
    if labels.len() <= n_rows {
        return (0..labels.len()).collect();
    }
    let mut sample = Vec::new();
    for (stream, (_, mut members)) in members_by_class(labels).into_iter().enumerate() {
        shuffle(&mut members, seed, stream as u64);
        let share = (members.len() * n_rows).div_ceil(labels.len());
        members.truncate(share.max(2));
        sample.extend(members);
    }
    sample.sort_unstable();
    sample
}

/// All rows in random order.
#[must_use]
pub fn shuffled(n_rows: usize, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n_rows).collect();
    shuffle(&mut rows, seed, 0);
    rows
}

/// Repeated random splits: `train_share` of the rows, rounded to the nearest number,
/// to learn from (the paper: five times 70 %).
///
/// # Errors
///
/// If the share is not between 0 and 1, or leaves nothing on one side.
pub fn random_splits(
    n_rows: usize,
    train_share: f64,
    n_splits: usize,
    seed: u64,
) -> Result<Vec<Split>> {
    check_share(train_share)?;
    let n_train = (train_share * n_rows as f64).round() as usize;
    if n_train == 0 || n_train == n_rows {
        let what = "rows on one side of the split";
        return Err(Error::Empty { what });
    }
    let splits = (0..n_splits).map(|split| {
        let mut rows: Vec<usize> = (0..n_rows).collect();
        shuffle(&mut rows, seed, split as u64);
        hold_out(n_rows, &rows[n_train..])
    });
    Ok(splits.collect())
}

/// As [`random_splits`], with the share taken of every class: at least one member to
/// learn from, and one held out of every class that has two.
///
/// # Errors
///
/// If the share is not between 0 and 1, or nothing would be held out.
pub fn stratified_random_splits(
    labels: &[usize],
    train_share: f64,
    n_splits: usize,
    seed: u64,
) -> Result<Vec<Split>> {
    check_share(train_share)?;
    let classes = members_by_class(labels);
    if classes.iter().all(|(_, members)| members.len() < 2) {
        let what = "classes with two members";
        return Err(Error::Empty { what });
    }
    let splits = (0..n_splits).map(|split| {
        let mut test = Vec::new();
        for (c, (_, members)) in classes.iter().enumerate() {
            let mut members = members.clone();
            shuffle(&mut members, seed, (split * classes.len() + c) as u64);
            let n_train = (train_share * members.len() as f64).round() as usize;
            let n_train = n_train.clamp(1, (members.len() - 1).max(1));
            test.extend_from_slice(&members[n_train..]);
        }
        hold_out(labels.len(), &test)
    });
    Ok(splits.collect())
}

fn check_folds(n_rows: usize, n_folds: usize) -> Result<()> {
    if n_folds < 2 {
        return Err(Error::parameter("number of folds", n_folds, "at least 2"));
    }
    if n_rows < n_folds {
        return Err(Error::TooFewRows { n_rows, n_folds });
    }
    Ok(())
}

fn check_share(train_share: f64) -> Result<()> {
    if train_share > 0.0 && train_share < 1.0 {
        return Ok(());
    }
    let requirement = "between 0 and 1";
    Err(Error::parameter(
        "share to learn from",
        train_share,
        requirement,
    ))
}

/// Row `i` of the order goes to fold `i mod n_folds`.
fn deal(order: &[usize], n_folds: usize) -> Vec<Split> {
    let mut fold_of = vec![0; order.len()];
    for (i, &row) in order.iter().enumerate() {
        fold_of[row] = i % n_folds;
    }
    let folds = (0..n_folds).map(|fold| Split::new(order.len(), |row| fold_of[row] == fold));
    folds.collect()
}

fn hold_out(n_rows: usize, test: &[usize]) -> Split {
    let mut is_test = vec![false; n_rows];
    test.iter().for_each(|&row| is_test[row] = true);
    Split::new(n_rows, |row| is_test[row])
}

/// Classes by ascending id, each with its rows in their order.
fn members_by_class(labels: &[usize]) -> Vec<(usize, Vec<usize>)> {
    let mut classes = std::collections::BTreeMap::<usize, Vec<usize>>::new();
    for (row, &label) in labels.iter().enumerate() {
        classes.entry(label).or_default().push(row);
    }
    classes.into_iter().collect()
}

/// Fisher and Yates, from the end.
pub(crate) fn shuffle<T>(rows: &mut [T], seed: u64, stream: u64) {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    generator.set_stream(stream);
    for last in (1..rows.len()).rev() {
        let n = last as u128 + 1;
        let other = (u128::from(generator.next_u64()) * n) >> 64;
        rows.swap(last, other as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_order_is_pinned() {
        let mut rows: Vec<usize> = (0..10).collect();
        shuffle(&mut rows, 7, 3);
        // Found by an independent ChaCha in Python too.
        assert_eq!(rows, [2, 8, 7, 1, 3, 9, 0, 5, 4, 6]);
    }

    #[test]
    fn what_cannot_be_divided_is_refused() {
        assert!(k_folds(10, 1, 0).is_err());
        let error = k_folds(3, 4, 0).unwrap_err();
        assert_eq!(error.to_string(), "3 rows cannot be divided into 4 folds");
        let error = stratified_k_folds(&[5, 5, 5, 8, 5, 8], 3, 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "class 8 has 2 members, fewer than the 3 folds"
        );
        for share in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(random_splits(10, share, 1, 0).is_err());
            assert!(stratified_random_splits(&[0, 0, 1, 1], share, 1, 0).is_err());
        }
        assert!(random_splits(2, 0.9, 1, 0).is_err());
        assert!(random_splits(0, 0.7, 1, 0).is_err());
        assert!(stratified_random_splits(&[1, 2, 3], 0.7, 1, 0).is_err());
    }

    #[test]
    fn a_sample_has_two_of_every_class() {
        let labels: Vec<usize> = (0..1000)
            .map(|row| if row < 3 { row % 2 } else { 7 })
            .collect();
        let sample = stratified_sample(&labels, 100, 5);
        let n_of = |class| sample.iter().filter(|&&row| labels[row] == class).count();
        assert_eq!((n_of(0), n_of(1), n_of(7)), (2, 1, 100));
        assert!(sample.is_sorted_by(|a, b| a < b));
        assert_eq!(stratified_sample(&labels, 1000, 5).len(), 1000);
    }

    #[test]
    fn seventy_percent_of_twitter_is_what_the_paper_says() {
        let splits = random_splits(3108, 0.7, 5, 1).unwrap();
        assert!(
            splits
                .iter()
                .all(|s| (s.train.len(), s.test.len()) == (2176, 932))
        );
        assert_ne!(splits[0], splits[1]);
        assert_eq!(splits[..2], random_splits(3108, 0.7, 2, 1).unwrap());
        assert_ne!(splits, random_splits(3108, 0.7, 5, 2).unwrap());
    }

    fn is_partition(split: &Split, n_rows: usize) -> bool {
        let mut rows = [&split.train[..], &split.test[..]].concat();
        rows.sort_unstable();
        rows == (0..n_rows).collect::<Vec<_>>()
    }

    fn spread(counts: impl Iterator<Item = usize> + Clone) -> usize {
        counts.clone().max().unwrap_or(0) - counts.min().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn folds_are_even_and_every_row_is_held_out_once(
            labels in prop::collection::vec(0..4usize, 2..120), n_folds in 2..11usize, seed: u64
        ) {
            prop_assume!(labels.len() >= n_folds);
            let plain = k_folds(labels.len(), n_folds, seed).unwrap();
            let stratified = stratified_k_folds(&labels, n_folds, seed);
            let smallest = (0..4).map(|c| labels.iter().filter(|&&l| l == c).count());
            let small = smallest.filter(|&n| n > 0).min().unwrap() < n_folds;
            prop_assert_eq!(stratified.is_err(), small);
            for folds in [Ok(plain), stratified].iter().flatten() {
                prop_assert!(folds.iter().all(|split| is_partition(split, labels.len())));
                let mut held_out: Vec<_> = folds.iter().flat_map(|s| s.test.clone()).collect();
                held_out.sort_unstable();
                prop_assert_eq!(held_out, (0..labels.len()).collect::<Vec<_>>());
                prop_assert!(spread(folds.iter().map(|split| split.test.len())) <= 1);
            }
            if let Ok(folds) = stratified_k_folds(&labels, n_folds, seed) {
                for class in 0..4 {
                    let members = folds
                        .iter()
                        .map(|s| s.test.iter().filter(|&&row| labels[row] == class).count());
                    prop_assert!(spread(members) <= 1);
                }
            }
        }

        #[test]
        fn every_class_is_learnt_from_whichever_fold_is_held_out(
            labels in prop::collection::vec(0..9usize, 1..60), n_folds in 2..11usize, seed: u64
        ) {
            let folds = spread_folds(&labels, n_folds, seed).unwrap();
            let n_members = |class: usize| labels.iter().filter(|&&l| l == class).count();
            for (row, &label) in labels.iter().enumerate() {
                let n_held_out = folds.iter().filter(|s| s.test.contains(&row)).count();
                prop_assert_eq!(n_held_out, usize::from(n_members(label) > 1));
            }
            for split in &folds {
                prop_assert!(is_partition(split, labels.len()) && !split.test.is_empty());
                for &label in &labels {
                    prop_assert!(split.train.iter().any(|&row| labels[row] == label));
                }
            }
            if let Ok(even) = stratified_k_folds(&labels, n_folds, seed) {
                prop_assert_eq!(folds, even);
            }
        }

        #[test]
        fn every_class_is_on_both_sides_of_a_stratified_split(
            labels in prop::collection::vec(0..4usize, 8..120), share in 0.05..0.95, seed: u64
        ) {
            let Ok(splits) = stratified_random_splits(&labels, share, 2, seed) else {
                return Ok(());
            };
            for split in &splits {
                prop_assert!(is_partition(split, labels.len()));
                for class in 0..4 {
                    let n = labels.iter().filter(|&&label| label == class).count();
                    let of_class = |rows: &[usize]| {
                        rows.iter().filter(|&&row| labels[row] == class).count()
                    };
                    prop_assert_eq!(of_class(&split.train) > 0, n > 0);
                    prop_assert_eq!(of_class(&split.test) > 0, n > 1);
                }
            }
        }
    }
}
