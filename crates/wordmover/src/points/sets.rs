//! Weighted sets of vectors.

use rayon::prelude::*;

use crate::error::Result;
use crate::ground::direct::{self, Columns};
use crate::space::Metric;
use crate::transport::{self, Workspace};

use super::error::PointsError;

/// Weights whose sum is this near to one are taken as they are.
const SUM_TOLERANCE: f64 = 1e-9;

/// Weighted sets of points of one dimension.
///
/// Only proportions of weights count: those of a set are divided by their sum, unless it is one
/// to 1e-9 already. Points of weight zero are left out. A set needs a point of positive weight.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSets {
    dim: usize,
    /// Points of set `i`: `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    points: Vec<f32>,
    weights: Vec<f64>,
}

impl PointSets {
    /// No sets yet.
    ///
    /// # Errors
    ///
    /// [`PointsError::NoDimension`].
    pub fn new(dim: usize) -> Result<Self> {
        if dim == 0 {
            return Err(PointsError::NoDimension.into());
        }
        Ok(PointSets {
            dim,
            starts: vec![0],
            points: Vec::new(),
            weights: Vec::new(),
        })
    }

    /// Adds a set: points one after the other, and a weight for each; without weights, all weigh
    /// the same.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidPoints`](crate::Error::InvalidPoints) says what is wrong, and where;
    /// nothing is added then.
    pub fn push(&mut self, points: &[f32], weights: Option<&[f64]>) -> Result<()> {
        let (set, dim) = (self.len(), self.dim);
        let n = points.len() / dim;
        if n * dim != points.len() {
            let values = points.len();
            return Err(PointsError::Ragged { set, values, dim }.into());
        }
        if n == 0 {
            return Err(PointsError::Empty { set }.into());
        }
        if let Some(at) = points.iter().position(|x| !x.is_finite()) {
            return Err(PointsError::NotFinite {
                set,
                point: at / dim,
                coordinate: at % dim,
                value: points[at],
            }
            .into());
        }
        match weights {
            None => {
                self.points.extend_from_slice(points);
                self.weights.extend(std::iter::repeat_n(1.0 / n as f64, n));
            }
            Some(weights) => {
                let total = checked_sum(weights, set, n)?;
                let divisor = match (total - 1.0).abs() <= SUM_TOLERANCE {
                    true => 1.0,
                    false => total,
                };
                for (point, &weight) in points.chunks_exact(dim).zip(weights) {
                    if weight > 0.0 {
                        self.points.extend_from_slice(point);
                        self.weights.push(weight / divisor);
                    }
                }
            }
        }
        self.starts.push(self.weights.len());
        Ok(())
    }

    /// Dimension of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of sets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points of a set, one after the other.
    ///
    /// # Panics
    ///
    /// If there is no such set.
    #[must_use]
    pub fn points(&self, set: usize) -> &[f32] {
        &self.points[self.starts[set] * self.dim..self.starts[set + 1] * self.dim]
    }

    /// The weights of a set, which sum to one.
    ///
    /// # Panics
    ///
    /// If there is no such set.
    #[must_use]
    pub fn weights(&self, set: usize) -> &[f64] {
        &self.weights[self.starts[set]..self.starts[set + 1]]
    }

    /// The points of all sets.
    pub(super) fn all_points(&self) -> &[f32] {
        &self.points
    }

    /// Exact Wasserstein distances from every set to every other set's, row by row, with ground
    /// costs in double precision: with the Euclidean metric and words as points, Word Mover's
    /// Distances.
    ///
    /// # Errors
    ///
    /// [`PointsError::Dimension`] if the dimensions differ.
    pub fn distances(&self, others: &PointSets, metric: Metric) -> Result<Vec<f64>> {
        others.check_dim(self.dim)?;
        let columns: Vec<Columns> = (0..others.len())
            .into_par_iter()
            .map(|j| Columns::with_metric(others.points(j), self.dim, metric))
            .collect();
        let pairs = (0..self.len() * others.len()).into_par_iter();
        pairs
            .map_init(
                || (Workspace::default(), Vec::new(), Vec::new()),
                |(workspace, padded, costs), pair| {
                    let (i, j) = (pair / others.len(), pair % others.len());
                    let (width, m) = (columns[j].width(), others.weights(j).len());
                    padded.clear();
                    padded.resize(self.weights(i).len() * width, 0.0);
                    direct::costs(self.points(i), &columns[j], padded);
                    costs.clear();
                    for row in padded.chunks_exact(width) {
                        costs.extend_from_slice(&row[..m]);
                    }
                    let (supply, demand) = (self.weights(i), others.weights(j));
                    Ok(transport::cost(costs, supply, demand, workspace)?)
                },
            )
            .collect()
    }

    pub(super) fn check_dim(&self, expected: usize) -> Result<()> {
        let found = self.dim;
        match found == expected {
            true => Ok(()),
            false => Err(PointsError::Dimension { expected, found }.into()),
        }
    }
}

fn checked_sum(weights: &[f64], set: usize, n_points: usize) -> Result<f64, PointsError> {
    if weights.len() != n_points {
        return Err(PointsError::WrongWeights {
            set,
            points: n_points,
            weights: weights.len(),
        });
    }
    if let Some(point) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let weight = weights[point];
        return Err(PointsError::BadWeight { set, point, weight });
    }
    match weights.iter().sum() {
        total if total > 0.0 && f64::is_finite(total) => Ok(total),
        _ => Err(PointsError::NoWeight { set }),
    }
}
