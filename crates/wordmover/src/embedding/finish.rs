//! What is done to the features at last, so that plain cosines mean something.
//!
//! Every document is about equally far from every random document, so raw features
//! differ in the third digit and their cosines are all near 1. Subtracting the mean
//! embedding of the corpus leaves what tells documents apart. Mean, deviations and
//! principal components are fitted once, on a sample of the corpus, and kept with
//! the model: the embedding of a document still depends on nothing beside it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::document::WordCounts;
use crate::principal;
use crate::random_documents::Stream;
use crate::text::Tokenizer;
use crate::vectors::WordVectors;
use crate::word_probabilities::zipf_rank;

/// What is done to the features after the exponential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Finish {
    /// Nothing: the features of the paper, whose inner products estimate the Word
    /// Mover's Kernel.
    Raw,
    /// The mean over the corpus is subtracted from each feature.
    Center,
    /// Centred, then divided by the feature's standard deviation over the corpus and by
    /// `sqrt(R)`: documents of the corpus have squared length 1 on average.
    #[default]
    Standardize,
}

/// What is done to the directions in which finished features vary most. They are
/// often shared by all texts of a corpus and drown the rest in a cosine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Components {
    /// Nothing.
    Keep,
    /// The first so many principal components are scaled down to the strength of the
    /// next one. A linear classifier loses nothing.
    Flatten(usize),
    /// The first so many are taken out, as SIF does with one.
    Remove(usize),
}

impl Components {
    /// How many are changed.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Components::Keep => 0,
            Components::Flatten(n) | Components::Remove(n) => n,
        }
    }
}

impl Default for Components {
    /// Found best on training files of similarity tasks: see `docs/similarity-study.md`.
    fn default() -> Self {
        Components::Flatten(10)
    }
}

/// Documents the finish is fitted on, at most; fewer where there are so many features
/// that the sample would not fit in memory.
const SAMPLE: usize = 1024;
const SAMPLE_VALUES: usize = 1 << 22;
const LEAST_SAMPLE: usize = 64;

/// A corpus with fewer documents is filled up to this many with background documents.
/// The mean of a handful of documents would be mostly those documents themselves.
const ENOUGH: usize = 256;

/// Words drawn for a background document, stop words among them.
const BACKGROUND_WORDS: usize = 24;

/// Background documents use the streams below that of the samples.
const BACKGROUND_STREAM: u64 = u64::MAX - 1;

/// How many documents the finish of `n_features` features is fitted on.
pub(super) fn sample_size(n_features: usize) -> usize {
    (SAMPLE_VALUES / n_features).clamp(LEAST_SAMPLE, SAMPLE)
}

/// Texts of words drawn from the vectors by Zipf's law: what a sample of `n` documents
/// lacks to be [`ENOUGH`].
pub(super) fn background(
    n: usize,
    seed: u64,
    tokenizer: &Tokenizer,
    vectors: &WordVectors,
) -> Vec<WordCounts> {
    let missing = ENOUGH.saturating_sub(n) as u64;
    let documents = (0..missing).map(|document| {
        let mut stream = Stream::new(seed, BACKGROUND_STREAM - document);
        let words = (0..BACKGROUND_WORDS).map(|_| {
            let rank = zipf_rank(stream.uniform(), vectors.len());
            vectors.word(rank as u32)
        });
        let text = words.collect::<Vec<_>>().join(" ");
        WordCounts::from_text(&text, tokenizer, vectors)
    });
    documents.collect()
}

/// The fitted steps. Empty where a step is not wanted.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FittedFinish {
    /// Mean of each feature.
    pub means: Vec<f64>,
    /// What each centred feature is multiplied by.
    pub scales: Vec<f64>,
    /// Directions scaled down, one after the other, of length 1.
    pub components: Vec<f64>,
    /// What a row's share in each direction is multiplied by.
    pub component_scales: Vec<f64>,
}

impl FittedFinish {
    /// Fits the steps on rows of `n_features` raw features.
    pub fn fit(
        finish: Finish,
        components: Components,
        n_features: usize,
        mut rows: Vec<f64>,
    ) -> Self {
        let mut fitted = FittedFinish::default();
        let n = (rows.len() / n_features).max(1) as f64;
        if finish != Finish::Raw {
            fitted.means = column_sums(&rows, n_features, |_, x| x);
            fitted.means.iter_mut().for_each(|mean| *mean /= n);
        }
        if finish == Finish::Standardize {
            let means = &fitted.means;
            let squares = column_sums(&rows, n_features, |j, x| (x - means[j]) * (x - means[j]));
            let scale = |square: f64| {
                // A feature that never varies is 0 when centred, whatever its scale.
                let deviation = (square / n).sqrt();
                match deviation > 0.0 && (1.0 / deviation).is_finite() {
                    true => 1.0 / (deviation * (n_features as f64).sqrt()),
                    false => 0.0,
                }
            };
            fitted.scales = squares.into_iter().map(scale).collect();
        }
        if components.count() > 0 {
            for row in rows.chunks_exact_mut(n_features) {
                for (j, x) in row.iter_mut().enumerate() {
                    *x = fitted.feature(j, *x);
                }
            }
            let n = components.count();
            // One more, whose strength the others are scaled down to.
            let mut found = principal::components(&rows, n_features, n + 1);
            let n = n.min(found.strengths.len());
            let floor = found.strengths.last().copied().unwrap_or(0.0);
            fitted.component_scales = found.strengths[..n]
                .iter()
                .map(|strength| match components {
                    Components::Flatten(_) => (floor / strength).sqrt(),
                    _ => 0.0,
                })
                .collect();
            found.directions.truncate(n * n_features);
            fitted.components = found.directions;
        }
        fitted
    }

    /// Feature `j`, centred and scaled.
    #[inline]
    pub fn feature(&self, j: usize, raw: f64) -> f64 {
        let centered = raw - self.means.get(j).copied().unwrap_or(0.0);
        centered * self.scales.get(j).copied().unwrap_or(1.0)
    }

    /// Scales the components of rows of centred and scaled features down.
    pub fn scale_components(&self, rows: &mut [f32], n_features: usize) {
        if self.components.is_empty() {
            return;
        }
        rows.par_chunks_exact_mut(n_features).for_each_init(
            Vec::new,
            |wide: &mut Vec<f64>, row| {
                wide.clear();
                wide.extend(row.iter().map(|&x| f64::from(x)));
                let each = self.components.chunks_exact(n_features);
                for (direction, &scale) in each.zip(&self.component_scales) {
                    principal::shrink(direction, scale, wide);
                }
                row.iter_mut()
                    .zip(wide)
                    .for_each(|(x, wide)| *x = *wide as f32);
            },
        );
    }
}

/// Sums over each column, row after row.
fn column_sums(rows: &[f64], n_columns: usize, of: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; n_columns];
    for row in rows.chunks_exact(n_columns) {
        for (j, (sum, &x)) in sums.iter_mut().zip(row).enumerate() {
            *sum += of(j, x);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [f64; 9] = [1.0, 5.0, 2.0, 3.0, 5.0, -1.0, 2.0, 5.0, 8.0];

    fn finished(finish: Finish, components: Components) -> Vec<f32> {
        let fitted = FittedFinish::fit(finish, components, 3, ROWS.to_vec());
        let mut rows: Vec<f32> = ROWS
            .iter()
            .enumerate()
            .map(|(i, &x)| fitted.feature(i % 3, x) as f32)
            .collect();
        fitted.scale_components(&mut rows, 3);
        rows
    }

    #[test]
    fn raw_features_stay_and_centred_ones_have_mean_zero() {
        assert_eq!(
            finished(Finish::Raw, Components::Keep),
            ROWS.map(|x| x as f32)
        );
        let centered = finished(Finish::Center, Components::Keep);
        assert_eq!(centered, [-1.0, 0.0, -1.0, 1.0, 0.0, -4.0, 0.0, 0.0, 5.0]);
    }

    #[test]
    fn standardised_rows_have_squared_length_one_on_average_and_constants_vanish() {
        let rows = finished(Finish::Standardize, Components::Keep);
        let squares: f32 = rows.iter().map(|x| x * x).sum();
        // Two of three features vary.
        assert!((squares / 3.0 - 2.0 / 3.0).abs() < 1e-6);
        assert!(rows.iter().skip(1).step_by(3).all(|&x| x == 0.0));
    }

    #[test]
    fn removed_components_leave_nothing_along_them() {
        // Two dimensions vary: with both removed, nothing is left.
        let rows = finished(Finish::Center, Components::Remove(2));
        assert!(rows.iter().all(|x| x.abs() < 1e-6), "{rows:?}");
        let rows = finished(Finish::Center, Components::Remove(1));
        assert!(rows.iter().any(|x| x.abs() > 0.5), "{rows:?}");
    }

    #[test]
    fn flattened_components_are_as_strong_as_the_next() {
        for n in [1, 2, 9] {
            let rows = finished(Finish::Center, Components::Flatten(n));
            let wide: Vec<f64> = rows.iter().map(|&x| f64::from(x)).collect();
            let found = principal::components(&wide, 3, 2);
            // Two dimensions vary, now both as much as the weaker did.
            let [strong, weak] = found.strengths[..] else {
                panic!("{found:?}")
            };
            assert!((strong / weak - 1.0).abs() < 1e-5, "{n}: {strong} {weak}");
            let before: Vec<f64> = finished(Finish::Center, Components::Keep)
                .iter()
                .map(|&x| f64::from(x))
                .collect();
            let before = principal::components(&before, 3, 2).strengths[1];
            assert!((weak / before - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn the_sample_is_bounded_in_values() {
        assert_eq!(sample_size(512), 1024);
        assert_eq!(sample_size(1 << 14), 256);
        assert_eq!(sample_size(1 << 20), 64);
    }
}
