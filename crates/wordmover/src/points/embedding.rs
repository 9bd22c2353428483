//! Random features of sets of points.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::checked::within;
use crate::embedding::cost_table::CostTable;
use crate::embedding::features::RawFeature;
use crate::embedding::fit::{GAMMA_DOCUMENTS, GAMMA_RANDOM_DOCUMENTS, inverse_median};
use crate::embedding::sample::Sample;
use crate::embedding::transform::{Block, CostPrecision, Row, Target, Threads};
use crate::embedding::{EmbeddingStatistics, Gamma};
use crate::error::{Error, Result};
use crate::random_documents::RandomDocuments;
use crate::space::{Metric, Moments};

use super::error::PointsError;
use super::random::RandomPoints;
use super::sets::PointSets;

/// Points whose costs to a tile of random points are in memory at once, unless one set has more.
const BLOCK_POINTS: usize = 1 << 14;

/// Parameters of an embedding of sets of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointSetParams {
    /// Number of random sets and so of features (`R` in the paper). Default 512.
    pub n_features: usize,
    /// Greatest number of points of a random set (`D_max`). Default 6.
    pub d_max: usize,
    /// Scale of the features. Default [`Gamma::Auto`].
    pub gamma: Gamma,
    /// How random points are drawn. Default [`RandomPoints::Uniform`].
    pub random_points: RandomPoints,
    /// The ground cost between points. Default [`Metric::Euclidean`].
    pub metric: Metric,
    /// Seed of the random sets. Default 0.
    pub seed: u64,
}

impl Default for PointSetParams {
    fn default() -> Self {
        PointSetParams {
            n_features: 512,
            d_max: 6,
            gamma: Gamma::default(),
            random_points: RandomPoints::default(),
            metric: Metric::default(),
            seed: 0,
        }
    }
}

/// A fitted embedding of sets of points: `exp(-gamma * W(x, omega_j)) / sqrt(R)` for random sets
/// `omega_j`, where `W` is the exact Wasserstein distance.
///
/// The features are the raw ones of the paper: their inner products estimate a positive-definite
/// kernel. Distances are good to 2e-7 of their value with the Euclidean metric, whose ground
/// costs come from a product in single precision, and to all digits of single precision with
/// others.
#[derive(Debug, Clone)]
pub struct PointSetEmbedding {
    params: PointSetParams,
    gamma: Option<f64>,
    random: RandomDocuments,
}

impl PointSetEmbedding {
    /// Draws random sets around the given ones, and settles gamma.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`]; [`PointsError::NoSets`].
    pub fn fit(params: PointSetParams, sets: &PointSets) -> Result<Self> {
        Self::fit_with(params, sets, &mut |_| ControlFlow::Continue(()))
    }

    /// [`fit`](Self::fit) with `progress`, which is called with the work done since the last call
    /// and may break off.
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit), and [`Error::Interrupted`].
    pub fn fit_with(
        params: PointSetParams,
        sets: &PointSets,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<Self> {
        let (features, lengths) = ("between 1 and 1048576", "between 1 and 4096");
        within("n_features", params.n_features, 1..=1 << 20, features)?;
        within("d_max", params.d_max, 1..=4096, lengths)?;
        let n_points = params.n_features * params.d_max;
        let few = "at most 16777216";
        within("n_features times d_max", n_points, 1..=1 << 24, few)?;
        if sets.is_empty() {
            return Err(PointsError::NoSets.into());
        }
        let moments = Moments::of_vectors(sets.all_points(), sets.dim());
        let draw = |n| {
            let (d_max, seed) = (params.d_max, params.seed);
            params.random_points.draw(sets, &moments, n, d_max, seed)
        };
        let gamma = match params.gamma {
            Gamma::None => None,
            Gamma::Value(gamma) if gamma.is_finite() && gamma > 0.0 => Some(gamma),
            Gamma::Value(gamma) => {
                return Err(Error::InvalidParameter {
                    name: "gamma",
                    value: gamma.to_string(),
                    requirement: "a positive finite number",
                });
            }
            Gamma::Auto => {
                let mut sample = Sample::new(params.seed, GAMMA_DOCUMENTS);
                (0..sets.len()).for_each(|set| sample.observe(&set));
                let random = draw(GAMMA_RANDOM_DOCUMENTS);
                let mut distances = vec![0.0; sample.documents.len() * random.len()];
                let target = Target {
                    random_documents: &random,
                    metric: params.metric,
                    precision: CostPrecision::Single,
                    threads: Threads::All,
                    prepared: None,
                };
                let round = |_, distance: f64| distance as f32;
                map(
                    target,
                    sets,
                    &sample.documents,
                    &mut distances,
                    round,
                    progress,
                )?;
                Some(inverse_median(distances))
            }
        };
        Ok(PointSetEmbedding {
            random: draw(params.n_features),
            params,
            gamma,
        })
    }

    /// Puts together what [`random_sets`](Self::random_sets) and the getters gave: `lengths` of
    /// the random sets, and their points one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if these do not fit together, or a value is not finite.
    pub fn from_parts(
        params: PointSetParams,
        gamma: Option<f64>,
        dim: usize,
        lengths: &[u32],
        points: Vec<f32>,
    ) -> Result<Self> {
        let n: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let fits = dim > 0
            && !lengths.contains(&0)
            && lengths.len() == params.n_features
            && n.checked_mul(dim as u64) == Some(points.len() as u64)
            && points.iter().all(|x| x.is_finite())
            && gamma.is_none_or(|gamma| gamma.is_finite() && gamma > 0.0);
        if !fits {
            return Err(Error::InvalidParameter {
                name: "random_sets",
                value: format!("{} sets, {} values", lengths.len(), points.len()),
                requirement: "what a fitted model gave",
            });
        }
        Ok(PointSetEmbedding {
            random: RandomDocuments::from_parts(dim, lengths, points),
            params,
            gamma,
        })
    }

    /// Embeds sets: a row of [`n_features`](Self::n_features) for each.
    ///
    /// # Errors
    ///
    /// [`PointsError::Dimension`] if the points have another dimension than those it was fitted on.
    pub fn transform(&self, sets: &PointSets) -> Result<Vec<f32>> {
        let mut out = vec![0.0; sets.len() * self.n_features()];
        self.transform_into(sets, &mut out, &mut |_| ControlFlow::Continue(()))?;
        Ok(out)
    }

    /// Embeds sets into a buffer of the caller's. `progress` is called with the work done since
    /// the last call and may break off.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform), and [`Error::Interrupted`].
    ///
    /// # Panics
    ///
    /// If `out` is not `sets.len() * n_features()` long.
    pub fn transform_into(
        &self,
        sets: &PointSets,
        out: &mut [f32],
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        sets.check_dim(self.random.dim())?;
        let raw = RawFeature::new(self.gamma, self.n_features());
        // As for words, features are made of distances in single precision.
        let feature = |_, distance: f64| raw.of(f64::from(distance as f32)) as f32;
        let all: Vec<usize> = (0..sets.len()).collect();
        map(
            self.target(CostPrecision::Single),
            sets,
            &all,
            out,
            feature,
            progress,
        )
    }

    /// The exact distances from every set to every random set, row by row, with everything in
    /// double precision.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform).
    pub fn distances(&self, sets: &PointSets) -> Result<Vec<f64>> {
        sets.check_dim(self.random.dim())?;
        let mut out = vec![0.0; sets.len() * self.n_features()];
        let all: Vec<usize> = (0..sets.len()).collect();
        let target = self.target(CostPrecision::Double);
        let never = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
        map(target, sets, &all, &mut out, |_, distance| distance, never)?;
        Ok(out)
    }

    fn target(&self, precision: CostPrecision) -> Target<'_> {
        Target {
            random_documents: &self.random,
            metric: self.params.metric,
            precision,
            threads: Threads::All,
            prepared: None,
        }
    }

    /// The parameters it was fitted with.
    #[must_use]
    pub fn params(&self) -> &PointSetParams {
        &self.params
    }

    /// The settled gamma; `None` if the features are distances.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        self.gamma
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.random.len()
    }

    /// Dimension of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.random.dim()
    }

    /// The random sets.
    #[must_use]
    pub fn random_sets(&self) -> &RandomDocuments {
        &self.random
    }
}

/// Writes `feature(j, distance)` for some sets, in their order, and every random set.
fn map<T: Copy + Default + Send + Sync>(
    target: Target<'_>,
    sets: &PointSets,
    chosen: &[usize],
    out: &mut [T],
    feature: impl Fn(usize, f64) -> T + Sync,
    progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
) -> Result<()> {
    let n_features = target.random_documents.len();
    assert_eq!(out.len(), chosen.len() * n_features, "output shape");
    let mut table = CostTable::default();
    let (mut rest, mut out) = (chosen, out);
    while !rest.is_empty() {
        let clock = Instant::now();
        let mut n_points = 0;
        let fits = rest.iter().take_while(|&&set| {
            n_points += sets.weights(set).len();
            n_points <= BLOCK_POINTS
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        let (here, there) = out.split_at_mut(now.len() * n_features);
        let block = gather(sets, now);
        let empty = T::default();
        target.map_block(block, clock, here, empty, &feature, &mut table, progress)?;
        (rest, out) = (later, there);
    }
    Ok(())
}

/// The points of some sets, numbered one after the other.
fn gather<'s>(sets: &'s PointSets, chosen: &[usize]) -> Block<'s> {
    let (mut vectors, mut rows, mut first) = (Vec::new(), Vec::new(), 0);
    for &set in chosen {
        vectors.extend_from_slice(sets.points(set));
        let n = sets.weights(set).len() as u32;
        rows.push(Row {
            words: (first..first + n).collect(),
            weights: sets.weights(set),
            known: None,
        });
        first += n;
    }
    Block {
        rows,
        vectors,
        frequent: None,
    }
}
