//! Random features from any distance (D2KE: Wu et al., 2018), of which the Word Mover's Embedding
//! is the case for texts.
//!
//! With random objects `omega_j` and any distance `d`, the features
//! `exp(-gamma * d(x, omega_j)) / sqrt(R)` have inner products that estimate a positive-definite
//! kernel, whatever the distance is: edit distances of strings, warped time series, sets. The
//! distance is a [`Distance`], most simply a closure; the random objects are the caller's, or
//! parts of the training objects ([`sub_slices`]), as in the paper.
//!
//! ```
//! use wordmover::d2ke::{D2ke, edit_distance};
//! use wordmover::embedding::Gamma;
//!
//! let names = ["anna", "hanna", "bertram"].map(String::from);
//! let random = ["ann", "bert", "ram"].map(String::from);
//! let edit = |a: &String, b: &String| edit_distance(a, b);
//! let model = D2ke::fit(edit, random.to_vec(), Gamma::Value(0.5), &names)?;
//! let z = model.transform(&names)?;
//! assert_eq!(z[0], (f64::exp(-0.5) / 3f64.sqrt()) as f32);
//! # Ok::<(), wordmover::Error>(())
//! ```

mod distances;
mod samplers;

pub use distances::{WordMoversDistance, dtw, edit_distance, hausdorff};
pub use samplers::{sub_slices, substrings};

use rayon::prelude::*;

use crate::embedding::Gamma;
use crate::embedding::features::RawFeature;
use crate::embedding::fit::{GAMMA_DOCUMENTS, GAMMA_RANDOM_DOCUMENTS, inverse_median};
use crate::error::{Error, Result};
use crate::float_environment::IeeeArithmetic;

/// A distance between two objects: at least 0. It need not be a metric.
pub trait Distance<T: ?Sized>: Sync {
    /// The distance.
    ///
    /// # Errors
    ///
    /// Whatever keeps two objects from having one.
    fn distance(&self, first: &T, second: &T) -> Result<f64>;
}

impl<T: ?Sized, F: Fn(&T, &T) -> f64 + Sync> Distance<T> for F {
    fn distance(&self, first: &T, second: &T) -> Result<f64> {
        Ok(self(first, second))
    }
}

/// Random features from a distance.
#[derive(Debug, Clone)]
pub struct D2ke<T, D> {
    distance: D,
    random_objects: Vec<T>,
    gamma: Option<f64>,
}

impl<T: Sync, D: Distance<T>> D2ke<T, D> {
    /// Takes the random objects and settles gamma: [`Gamma::Auto`] is one over the median
    /// distance of the first 256 objects to the first 32 random objects.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if there is no random object, or gamma is not a positive
    /// finite number; [`Error::InvalidDistance`], and what the distance gives.
    pub fn fit(distance: D, random_objects: Vec<T>, gamma: Gamma, objects: &[T]) -> Result<Self> {
        if random_objects.is_empty() {
            return Err(Error::InvalidParameter {
                name: "n_features",
                value: "0".to_owned(),
                requirement: "at least 1",
            });
        }
        let mut model = D2ke {
            distance,
            random_objects,
            gamma: None,
        };
        model.gamma = match gamma {
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
                let objects = &objects[..objects.len().min(GAMMA_DOCUMENTS)];
                let n = model.random_objects.len().min(GAMMA_RANDOM_DOCUMENTS);
                let distances = model.some_distances(objects, n, |_, d| d as f32)?;
                Some(inverse_median(distances))
            }
        };
        Ok(model)
    }

    /// The features of objects: a row for each.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidDistance`], and what the distance gives.
    pub fn transform(&self, objects: &[T]) -> Result<Vec<f32>> {
        let n = self.random_objects.len();
        let raw = RawFeature::new(self.gamma, n);
        self.some_distances(objects, n, |_, distance| raw.of(distance) as f32)
    }

    /// Distances of objects to all random objects, row by row.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform).
    pub fn distances(&self, objects: &[T]) -> Result<Vec<f64>> {
        self.some_distances(objects, self.random_objects.len(), |_, distance| distance)
    }

    fn some_distances<U: Send>(
        &self,
        objects: &[T],
        n: usize,
        map: impl Fn(usize, f64) -> U + Sync,
    ) -> Result<Vec<U>> {
        let pairs = (0..objects.len() * n).into_par_iter();
        pairs
            .map(|pair| {
                let _ieee = IeeeArithmetic::enter();
                let (i, j) = (pair / n, pair % n);
                let random = &self.random_objects[j];
                let distance = self.distance.distance(&objects[i], random)?;
                // Also refuses NaN.
                match distance >= 0.0 {
                    true => Ok(map(j, distance)),
                    false => Err(Error::InvalidDistance {
                        object: i,
                        random_object: j,
                        distance,
                    }),
                }
            })
            .collect()
    }

    /// The random objects.
    #[must_use]
    pub fn random_objects(&self) -> &[T] {
        &self.random_objects
    }

    /// The settled gamma; `None` if the features are distances.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        self.gamma
    }
}
