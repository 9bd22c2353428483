//! The space in which words are compared: vectors, and what is done to them first.
//!
//! Normalising word vectors changes every distance, so it is never done on the
//! quiet: a [`WordSpace`] names it, and a model file records it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::names::names;
use crate::vectors::WordVectors;

/// What is done to every word vector before distances are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Normalization {
    /// Nothing.
    None,
    /// Every vector is scaled to length 1, as in the authors' program. A vector of
    /// zeros stays.
    #[default]
    Unit,
    /// The mean vector of the corpus' distinct words is subtracted.
    Center,
    /// First centred, then scaled to length 1.
    CenterUnit,
}

names!(Normalization, "normalization":
    None "none" "nothing",
    Unit "unit" "scaled to length 1",
    Center "center" "the mean of the corpus' words subtracted",
    CenterUnit "center-unit" "centred, then scaled to length 1",
);

impl Normalization {
    /// Whether vectors have length 1 afterwards.
    #[must_use]
    pub fn scales_to_unit(self) -> bool {
        matches!(self, Normalization::Unit | Normalization::CenterUnit)
    }

    /// Whether a mean is subtracted.
    #[must_use]
    pub fn centers(self) -> bool {
        matches!(self, Normalization::Center | Normalization::CenterUnit)
    }
}

/// Word vectors under a normalisation. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WordSpace {
    vectors: Arc<WordVectors>,
    normalization: Normalization,
    center: Option<Arc<[f64]>>,
}

impl WordSpace {
    /// The space of `vectors`; a normalisation that centres uses the mean vector
    /// of `words` (each counted once), any other ignores them.
    ///
    /// # Errors
    ///
    /// [`crate::Error::InvalidVectors`] if a word's vector holds NaN or infinity.
    pub fn new(
        vectors: Arc<WordVectors>,
        normalization: Normalization,
        words: &[u32],
    ) -> Result<Self> {
        let mut space = WordSpace {
            vectors,
            normalization: Normalization::None,
            center: None,
        };
        if normalization.centers() {
            let mean = Moments::of(&space, words)?.mean;
            space.center = Some(mean.into());
        }
        space.normalization = normalization;
        Ok(space)
    }

    /// The space a model file describes.
    pub(crate) fn with_center(
        vectors: Arc<WordVectors>,
        normalization: Normalization,
        center: Option<Vec<f64>>,
    ) -> Self {
        WordSpace {
            vectors,
            normalization,
            center: center.map(Into::into),
        }
    }

    /// The vectors behind it, as they are.
    #[must_use]
    pub fn vectors(&self) -> &Arc<WordVectors> {
        &self.vectors
    }

    /// What is done to them.
    #[must_use]
    pub fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// The mean that is subtracted, if one is.
    #[must_use]
    pub fn center(&self) -> Option<&[f64]> {
        self.center.as_deref()
    }

    /// Dimension of the space (`d` in the paper).
    #[must_use]
    pub fn dim(&self) -> usize {
        self.vectors.dim()
    }

    /// Writes a word's normalised vector to `out`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::InvalidVectors`] if it holds NaN or infinity.
    ///
    /// # Panics
    ///
    /// If `out` is not [`dim`](Self::dim) long or there is no such word.
    pub fn copy_vector(&self, word: u32, out: &mut [f32]) -> Result<()> {
        self.vectors.copy_finite_vector(word, out)?;
        if let Some(center) = &self.center {
            for (x, mean) in out.iter_mut().zip(center.iter()) {
                *x = (f64::from(*x) - mean) as f32;
            }
        }
        if self.normalization.scales_to_unit() {
            scale_to_unit(out);
        }
        Ok(())
    }

    /// The normalised vectors of `words`, one after the other.
    ///
    /// # Errors
    ///
    /// As [`copy_vector`](Self::copy_vector).
    pub fn gather(&self, words: &[u32]) -> Result<Vec<f32>> {
        let dim = self.dim();
        let mut matrix = vec![0.0; words.len() * dim];
        for (&word, row) in words.iter().zip(matrix.chunks_exact_mut(dim)) {
            self.copy_vector(word, row)?;
        }
        Ok(matrix)
    }
}

/// Scales a vector to length 1; one of zeros stays.
pub(crate) fn scale_to_unit(vector: &mut [f32]) {
    let squared: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if squared > 0.0 {
        let scale = 1.0 / squared.sqrt();
        for x in vector {
            *x = (f64::from(*x) * scale) as f32;
        }
    }
}

/// What the vectors of a set of words look like, coordinate by coordinate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    /// Least coordinate of all.
    pub min: f64,
    /// Greatest coordinate of all.
    pub max: f64,
    /// Mean of each coordinate.
    pub mean: Vec<f64>,
    /// Standard deviation of each coordinate.
    pub deviation: Vec<f64>,
}

impl Moments {
    /// Of the normalised vectors of `words`, summed in their order: the same bits
    /// for the same words.
    pub fn of(space: &WordSpace, words: &[u32]) -> Result<Self> {
        let dim = space.dim();
        let mut vector = vec![0.0; dim];
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut mean = vec![0.0; dim];
        let mut square = vec![0.0; dim];
        for &word in words {
            space.copy_vector(word, &mut vector)?;
            for (k, &x) in vector.iter().enumerate() {
                let x = f64::from(x);
                min = min.min(x);
                max = max.max(x);
                mean[k] += x;
                square[k] += x * x;
            }
        }
        let n = words.len().max(1) as f64;
        for (mean, square) in mean.iter_mut().zip(&mut square) {
            *mean /= n;
            *square = (*square / n - *mean * *mean).max(0.0).sqrt();
        }
        Ok(Moments {
            min,
            max,
            mean,
            deviation: square,
        })
    }
}
