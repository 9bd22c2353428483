//! Candidates judged at a number of features, with what was judged before in the cache.

use std::cmp::Ordering;

use wordmover_learn::split::Split;

use super::{Candidate, SurfacePoint};
use crate::cache::{Cache, KeyBuilder};
use crate::corpus::LabeledCorpus;
use crate::distances::DistanceTable;
use crate::error::Result;

/// Documents to judge by: positions in the corpus, and folds that count positions among
/// these.
#[derive(Clone, PartialEq)]
pub(super) struct Sample {
    pub rows: Vec<usize>,
    pub folds: Vec<Split>,
}

impl Sample {
    /// Adds all that a judgement takes from the documents but their features.
    pub fn content(&self, train: &LabeledCorpus, key: KeyBuilder) -> KeyBuilder {
        content(&self.rows, &self.folds, train, key)
    }
}

/// Adds rows, their classes and their folds to a key.
pub(crate) fn content(
    rows: &[usize],
    folds: &[Split],
    train: &LabeledCorpus,
    key: KeyBuilder,
) -> KeyBuilder {
    let key = key.numbers(rows.iter().map(|&row| row as u64));
    let labels = rows.iter().map(|&row| train.classes_of(row));
    let key = labels.fold(key, |key, classes| {
        key.numbers(classes.iter().map(|&class| class as u64))
    });
    folds.iter().fold(key, |key, fold| {
        key.numbers(fold.test.iter().map(|&row| row as u64))
    })
}

/// A candidate with its distances.
pub(super) struct Racer {
    pub candidate: Candidate,
    pub table: DistanceTable,
}

/// The points of a candidate: from the cache, or judged.
pub(super) fn cached(
    cache: &Cache,
    key: KeyBuilder,
    n_points: usize,
    judge: impl FnOnce() -> Result<Vec<SurfacePoint>>,
) -> Result<Vec<SurfacePoint>> {
    let key = key.finish();
    let kept = cache.get(&key)?;
    let kept = kept.and_then(|json| serde_json::from_slice::<Vec<SurfacePoint>>(&json).ok());
    if let Some(points) = kept.filter(|points| points.len() == n_points) {
        return Ok(points);
    }
    let points = judge()?;
    cache.put(&key, &serde_json::to_vec(&points).unwrap_or_default())?;
    Ok(points)
}

/// The better point first: the greater share of documents right, then the smaller C, then
/// the smaller gamma.
pub(super) fn order(a: &SurfacePoint, b: &SurfacePoint) -> Ordering {
    let right = b.accuracy.total_cmp(&a.accuracy);
    let cost = right.then(a.cost.total_cmp(&b.cost));
    cost.then(a.gamma.total_cmp(&b.gamma))
}
