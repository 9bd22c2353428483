//! The one definition of a feature: `exp(-gamma * distance) / sqrt(R)`.
//!
//! Distances travel in single precision: [`embed`](super::WordMoversEmbedding::embed),
//! classifiers and Python keep, cache and share them so, and all make their features here.

use rayon::prelude::*;

use crate::float_environment::IeeeArithmetic;

/// The feature of a document without a known word, which is infinitely far from everything.
pub(super) const EMPTY: f32 = 0.0;

/// How distances become raw features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RawFeature {
    /// `None`: the distances themselves.
    gamma: Option<f64>,
    /// `1 / sqrt(R)`.
    scale: f64,
}

impl RawFeature {
    pub fn new(gamma: Option<f64>, n_features: usize) -> Self {
        RawFeature {
            gamma,
            scale: 1.0 / (n_features as f64).sqrt(),
        }
    }

    /// The feature of a distance.
    #[inline]
    pub fn of(self, distance: f64) -> f64 {
        match self.gamma {
            Some(gamma) => libm::exp(-gamma * distance) * self.scale,
            None => distance,
        }
    }
}

/// The raw features of rows of `n_features` distances, as the paper has them: what
/// [`embed`](super::WordMoversEmbedding::embed) gives without post-processing, to the bit.
/// Without gamma they are the distances. The infinite distances of a document without a known word
/// become 0.
///
/// ```
/// let features = wordmover::embedding::raw_features(&[1.0, f32::INFINITY], 2, Some(0.5));
/// assert_eq!(features, [((-0.5f64).exp() / 2f64.sqrt()) as f32, 0.0]);
/// ```
#[must_use]
pub fn raw_features(distances: &[f32], n_features: usize, gamma: Option<f64>) -> Vec<f32> {
    let raw = RawFeature::new(gamma, n_features);
    let feature = |&distance: &f32| match distance {
        f32::INFINITY => EMPTY,
        distance => raw.of(f64::from(distance)) as f32,
    };
    distances
        .par_iter()
        .map_init(IeeeArithmetic::enter, |_, distance| feature(distance))
        .collect()
}
