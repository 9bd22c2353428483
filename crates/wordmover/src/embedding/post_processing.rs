//! Post-processing of the features, so that plain cosines mean something.
//!
//! Every document is about equally far from every random document, so raw features
//! differ in the third digit and their cosines are all near 1. Subtracting the mean
//! embedding of the corpus leaves what tells documents apart. Mean, deviations and
//! principal components are fitted once, on a sample of the corpus, and kept with
//! the model: the embedding of a document still depends on nothing beside it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::features::RawFeature;
use crate::error::{Error, Result};
use crate::float_environment::IeeeArithmetic;
use crate::names::names;
use crate::principal;

/// Post-processing of the features, after the exponential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PostProcessing {
    /// Nothing: the features of the paper, whose inner products estimate the Word
    /// Mover's Kernel.
    Raw,
    /// The mean over the corpus is subtracted from each feature.
    Center,
    /// Centred, then divided by the feature's standard deviation over the corpus and by
    /// `sqrt(R)`: documents of the corpus have squared length 1 on average.
    #[default]
    Standardize,
    /// Standardised, then every document scaled to length 1, after its
    /// [components](Components): inner products are cosines, and to a linear classifier no
    /// document counts for more because it is far from the others.
    Unit,
}

names!(PostProcessing, "post_processing":
    Raw "raw" "nothing: the features of the paper",
    Center "center" "the mean of the corpus subtracted",
    Standardize "standardize" "centred, then divided by the deviation over the corpus",
    Unit "unit" "standardised, then every document scaled to length 1",
);

impl PostProcessing {
    /// Whether features are divided by their deviations.
    pub(crate) fn has_scales(self) -> bool {
        matches!(self, PostProcessing::Standardize | PostProcessing::Unit)
    }
}

/// What is done to the directions in which post-processed features vary most. They are
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

impl std::fmt::Display for Components {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Components::Keep => f.pad("keep"),
            Components::Flatten(n) => f.pad(&format!("flatten={n}")),
            Components::Remove(n) => f.pad(&format!("remove={n}")),
        }
    }
}

impl std::str::FromStr for Components {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let components = match text.split_once('=') {
            None if text == "keep" => Some(Components::Keep),
            Some(("flatten", n)) => n.parse().ok().map(Components::Flatten),
            Some(("remove", n)) => n.parse().ok().map(Components::Remove),
            _ => None,
        };
        components.ok_or_else(|| Error::InvalidParameter {
            name: "components",
            value: text.to_owned(),
            requirement: "keep, flatten=K or remove=K",
        })
    }
}

impl Default for Components {
    /// Found best on training files of similarity tasks: see `docs/similarity-study.md`.
    fn default() -> Self {
        Components::Flatten(3)
    }
}

/// A feature whose deviation is smaller than this share of its mean varies by rounding
/// alone: distances are good to 2e-7 of their value. It becomes 0 for every document.
const NOISE: f64 = 1e-6;

/// The fitted steps. Empty where a step is not wanted.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FittedPostProcessing {
    /// Mean of each feature.
    pub means: Vec<f64>,
    /// What each centred feature is multiplied by.
    pub scales: Vec<f64>,
    /// Directions scaled down, one after the other, of length 1.
    pub components: Vec<f64>,
    /// What a row's share in each direction is multiplied by.
    pub component_scales: Vec<f64>,
    /// Whether rows are scaled to length 1 at last.
    pub unit: bool,
}

impl FittedPostProcessing {
    /// Fits the steps on rows of distances.
    pub fn fit(
        finish: PostProcessing,
        components: Components,
        n_features: usize,
        raw: RawFeature,
        distances: &[f32],
    ) -> Self {
        let _ieee = IeeeArithmetic::enter();
        let mut fitted = FittedPostProcessing {
            unit: finish == PostProcessing::Unit,
            ..FittedPostProcessing::default()
        };
        let n = (distances.len() / n_features).max(1) as f64;
        let feature = |distance: f32| raw.of(f64::from(distance));
        if finish != PostProcessing::Raw {
            fitted.means = column_sums(distances, n_features, |_, d| feature(d));
            fitted.means.iter_mut().for_each(|mean| *mean /= n);
        }
        if finish.has_scales() {
            let means = &fitted.means;
            let square = |j: usize, d| (feature(d) - means[j]) * (feature(d) - means[j]);
            let squares = column_sums(distances, n_features, square);
            let scale = |(square, mean): (f64, &f64)| {
                let deviation = (square / n).sqrt();
                match deviation > NOISE * mean.abs() && (1.0 / deviation).is_finite() {
                    true => 1.0 / (deviation * (n_features as f64).sqrt()),
                    false => 0.0,
                }
            };
            fitted.scales = squares.into_iter().zip(means).map(scale).collect();
        }
        if components.count() > 0 {
            let rows = distances.iter().enumerate();
            let rows = rows.map(|(i, &d)| fitted.feature(i % n_features, feature(d)));
            let n = components.count();
            // One more, whose strength the others are scaled down to.
            let mut found = principal::components(&rows.collect::<Vec<f64>>(), n_features, n + 1);
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

    /// Completes rows of centred and scaled features: components are scaled down, and rows to
    /// length 1.
    pub fn complete(&self, rows: &mut [f32], n_features: usize) {
        if self.components.is_empty() && !self.unit {
            return;
        }
        let complete = |wide: &mut Vec<f64>, row: &mut [f32]| {
            let _ieee = IeeeArithmetic::enter();
            self.scale_components(wide, row);
            if self.unit {
                scale_to_unit(row);
            }
        };
        // A single row is this thread's.
        if rows.len() == n_features {
            return complete(&mut Vec::new(), rows);
        }
        rows.par_chunks_exact_mut(n_features)
            .for_each_init(Vec::new, complete);
    }

    fn scale_components(&self, wide: &mut Vec<f64>, row: &mut [f32]) {
        if self.components.is_empty() {
            return;
        }
        wide.clear();
        wide.extend(row.iter().map(|&x| f64::from(x)));
        let each = self.components.chunks_exact(row.len());
        for (direction, &scale) in each.zip(&self.component_scales) {
            principal::shrink(direction, scale, wide);
        }
        for (x, &wide) in row.iter_mut().zip(wide.iter()) {
            *x = wide as f32;
        }
    }
}

/// A row of zeros stays one.
fn scale_to_unit(row: &mut [f32]) {
    let square: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if square > 0.0 {
        let scale = 1.0 / square.sqrt();
        row.iter_mut()
            .for_each(|x| *x = (f64::from(*x) * scale) as f32);
    }
}

/// Columns that a thread sums at once: their sums stay in its cache.
const COLUMNS_AT_ONCE: usize = 64;

/// Sums over each column, row after row.
fn column_sums(rows: &[f32], n_columns: usize, of: impl Fn(usize, f32) -> f64 + Sync) -> Vec<f64> {
    let mut sums = vec![0.0; n_columns];
    let blocks = sums.par_chunks_mut(COLUMNS_AT_ONCE).enumerate();
    blocks.for_each_init(IeeeArithmetic::enter, |_, (block, sums)| {
        let first = block * COLUMNS_AT_ONCE;
        for row in rows.chunks_exact(n_columns) {
            let values = row[first..].iter();
            for ((j, sum), &x) in sums.iter_mut().enumerate().zip(values) {
                *sum += of(first + j, x);
            }
        }
    });
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances, which are features without a gamma.
    const ROWS: [f32; 9] = [1.0, 5.0, 2.0, 3.0, 5.0, -1.0, 2.0, 5.0, 8.0];

    fn finished(finish: PostProcessing, components: Components) -> Vec<f32> {
        let raw = RawFeature::new(None, 3);
        let fitted = FittedPostProcessing::fit(finish, components, 3, raw, &ROWS);
        let mut rows: Vec<f32> = ROWS
            .iter()
            .enumerate()
            .map(|(i, &x)| fitted.feature(i % 3, f64::from(x)) as f32)
            .collect();
        fitted.complete(&mut rows, 3);
        rows
    }

    #[test]
    fn raw_features_stay_and_centred_ones_have_mean_zero() {
        assert_eq!(finished(PostProcessing::Raw, Components::Keep), ROWS);
        let centered = finished(PostProcessing::Center, Components::Keep);
        assert_eq!(centered, [-1.0, 0.0, -1.0, 1.0, 0.0, -4.0, 0.0, 0.0, 5.0]);
    }

    #[test]
    fn standardised_rows_have_squared_length_one_on_average_and_constants_vanish() {
        let rows = finished(PostProcessing::Standardize, Components::Keep);
        let squares: f32 = rows.iter().map(|x| x * x).sum();
        // Two of three features vary.
        assert!((squares / 3.0 - 2.0 / 3.0).abs() < 1e-6);
        assert!(rows.iter().skip(1).step_by(3).all(|&x| x == 0.0));
    }

    #[test]
    fn unit_rows_are_standardised_ones_of_length_one_and_zeros_stay() {
        for components in [Components::Keep, Components::Flatten(1)] {
            let standardized = finished(PostProcessing::Standardize, components);
            let unit = finished(PostProcessing::Unit, components);
            let pairs = unit.chunks_exact(3).zip(standardized.chunks_exact(3));
            for (unit, standardized) in pairs {
                let length = standardized.iter().map(|x| x * x).sum::<f32>().sqrt();
                assert!((unit.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6);
                for (x, y) in unit.iter().zip(standardized) {
                    assert!((x * length - y).abs() < 1e-6, "{unit:?} {standardized:?}");
                }
            }
        }
        let mut zeros = [0.0; 3];
        scale_to_unit(&mut zeros);
        assert_eq!(zeros, [0.0; 3]);
    }

    #[test]
    fn removed_components_leave_nothing_along_them() {
        // Two dimensions vary: with both removed, nothing is left.
        let rows = finished(PostProcessing::Center, Components::Remove(2));
        assert!(rows.iter().all(|x| x.abs() < 1e-6), "{rows:?}");
        let rows = finished(PostProcessing::Center, Components::Remove(1));
        assert!(rows.iter().any(|x| x.abs() > 0.5), "{rows:?}");
    }

    #[test]
    fn flattened_components_are_as_strong_as_the_next() {
        for n in [1, 2, 9] {
            let rows = finished(PostProcessing::Center, Components::Flatten(n));
            let wide: Vec<f64> = rows.iter().map(|&x| f64::from(x)).collect();
            let found = principal::components(&wide, 3, 2);
            // Two dimensions vary, now both as much as the weaker did.
            let [strong, weak] = found.strengths[..] else {
                panic!("{found:?}")
            };
            assert!((strong / weak - 1.0).abs() < 1e-5, "{n}: {strong} {weak}");
            let before: Vec<f64> = finished(PostProcessing::Center, Components::Keep)
                .iter()
                .map(|&x| f64::from(x))
                .collect();
            let before = principal::components(&before, 3, 2).strengths[1];
            assert!((weak / before - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn rounding_is_not_taken_for_variation() {
        // The last bit of 0.25 in single precision is 3e-8.
        let rows = [0.25, 0.5, 0.250_000_03, 0.7, 0.249_999_97, 0.1];
        let (finish, raw) = (PostProcessing::Standardize, RawFeature::new(None, 2));
        let fitted = FittedPostProcessing::fit(finish, Components::Keep, 2, raw, &rows);
        assert_eq!(fitted.scales[0], 0.0);
        assert!(fitted.scales[1] > 0.0);
    }
}
