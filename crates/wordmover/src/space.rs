//! The space in which words are compared: vectors, and what is done to them first.
//!
//! Normalising word vectors changes every distance, so it is never done on the
//! quiet: a [`WordSpace`] names it, and a model file records it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::accelerator::Accelerator;
use crate::document::Word;
use crate::error::{Error, Result};
use crate::names::names;
use crate::vectors::WordVectors;

pub use crate::ground::Metric;

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

/// What becomes of a word that the vectors do not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnknownWords {
    /// It is dropped, as in the paper.
    #[default]
    Skip,
    /// It gets a vector composed of those of its parts; only with vectors that have
    /// [subwords](WordVectors::has_subwords). A word without any known part is dropped.
    Compose,
    /// It gets a vector of its own, drawn from a hash of its letters: the same everywhere,
    /// and about as far from every other word as two words can be.
    Random,
}

names!(UnknownWords, "unknown":
    Skip "skip" "dropped, as in the paper",
    Compose "compose" "a vector composed of the word's parts",
    Random "random" "a vector of its own, from a hash of the word",
);

impl UnknownWords {
    /// What is done where nothing else is asked for, so that no word is lost: words are
    /// composed where the vectors have subwords, and get vectors of their own otherwise.
    #[must_use]
    pub fn default_for(vectors: &WordVectors) -> Self {
        match vectors.has_subwords() {
            true => UnknownWords::Compose,
            false => UnknownWords::Random,
        }
    }

    /// Whether a word that the vectors do not know gets a vector.
    #[must_use]
    pub fn gives_vector(self, word: &str, vectors: &WordVectors) -> bool {
        match self {
            UnknownWords::Skip => false,
            UnknownWords::Compose => vectors.composes(word),
            UnknownWords::Random => true,
        }
    }
}

/// Word vectors under a normalisation, and the metric between them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WordSpace {
    vectors: Arc<WordVectors>,
    normalization: Normalization,
    unknown: UnknownWords,
    metric: Metric,
    center: Option<Arc<[f64]>>,
    map: Option<Arc<[f32]>>,
    accelerator: Option<Arc<dyn Accelerator>>,
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
            unknown: UnknownWords::Skip,
            metric: Metric::Euclidean,
            center: None,
            map: None,
            accelerator: None,
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
            unknown: UnknownWords::Skip,
            metric: Metric::Euclidean,
            center: center.map(Into::into),
            map: None,
            accelerator: None,
        }
    }

    /// The same space with another way to treat words that the vectors do not know.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if words are to be composed and the vectors have no
    /// subwords.
    pub fn with_unknown(mut self, unknown: UnknownWords) -> Result<Self> {
        if unknown == UnknownWords::Compose && !self.vectors.has_subwords() {
            return Err(Error::InvalidParameter {
                name: "unknown",
                value: unknown.to_string(),
                requirement: "skip or random with vectors that have no subwords",
            });
        }
        self.unknown = unknown;
        Ok(self)
    }

    /// The same space with another ground cost between words; Euclidean distances until then.
    #[must_use]
    pub fn with_metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// The ground cost between words.
    #[must_use]
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The same space, its normalised vectors multiplied by a square matrix, given row by
    /// row: a learnt metric.
    ///
    /// # Panics
    ///
    /// If the matrix has not as many rows and columns as the vectors have coordinates.
    #[must_use]
    pub fn with_map(mut self, map: Option<Arc<[f32]>>) -> Self {
        let n_entries = self.dim() * self.dim();
        assert!(map.as_ref().is_none_or(|map| map.len() == n_entries));
        self.map = map;
        self
    }

    /// The matrix that the normalised vectors are multiplied by, row by row, if there is one.
    #[must_use]
    pub fn map(&self) -> Option<&[f32]> {
        self.map.as_deref()
    }

    /// The same space, with distances to random documents computed by an accelerator.
    #[must_use]
    pub fn with_accelerator(mut self, accelerator: Option<Arc<dyn Accelerator>>) -> Self {
        self.accelerator = accelerator;
        self
    }

    /// What computes distances to random documents, if not the CPU.
    #[must_use]
    pub fn accelerator(&self) -> Option<&Arc<dyn Accelerator>> {
        self.accelerator.as_ref()
    }

    /// What becomes of words that the vectors do not know.
    #[must_use]
    pub fn unknown(&self) -> UnknownWords {
        self.unknown
    }

    /// Whether a word has a vector here.
    #[must_use]
    pub fn has_vector(&self, word: Word) -> bool {
        match word {
            Word::Known(_) => true,
            Word::Unknown(word) => self.unknown.gives_vector(word, &self.vectors),
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

    /// Writes a word's normalised vector to `out`, mapped if there is a map.
    ///
    /// # Errors
    ///
    /// [`crate::Error::InvalidVectors`] if it holds NaN or infinity.
    ///
    /// # Panics
    ///
    /// If `out` is not [`dim`](Self::dim) long or there is no such word.
    pub fn copy_vector(&self, word: Word, out: &mut [f32]) -> Result<()> {
        match (word, self.unknown) {
            (Word::Known(id), _) => self.vectors.copy_finite_vector(id, out)?,
            (Word::Unknown(word), UnknownWords::Compose) => self.vectors.compose(word, out)?,
            (Word::Unknown(word), _) => self.vectors.copy_random_vector(word, out),
        }
        if let Some(center) = &self.center {
            for (x, mean) in out.iter_mut().zip(center.iter()) {
                *x = (f64::from(*x) - mean) as f32;
            }
        }
        if self.normalization.scales_to_unit() {
            scale_to_unit(out);
        }
        if let Some(map) = &self.map {
            let vector = out.to_vec();
            for (out, row) in out.iter_mut().zip(map.chunks_exact(vector.len())) {
                let products = row
                    .iter()
                    .zip(&vector)
                    .map(|(&a, &x)| f64::from(a) * f64::from(x));
                *out = products.sum::<f64>() as f32;
            }
        }
        Ok(())
    }

    /// The normalised vectors of `words`, one after the other.
    ///
    /// # Errors
    ///
    /// As [`copy_vector`](Self::copy_vector).
    pub fn gather<'w>(&self, words: impl ExactSizeIterator<Item = Word<'w>>) -> Result<Vec<f32>> {
        let dim = self.dim();
        let mut matrix = vec![0.0; words.len() * dim];
        for (word, row) in words.zip(matrix.chunks_exact_mut(dim)) {
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
        let mut vector = vec![0.0; space.dim()];
        let mut sums = Sums::new(space.dim());
        for &word in words {
            space.copy_vector(Word::Known(word), &mut vector)?;
            sums.add(&vector);
        }
        Ok(sums.moments(words.len()))
    }

    /// Of vectors stored one after the other.
    pub fn of_vectors(vectors: &[f32], dim: usize) -> Self {
        let mut sums = Sums::new(dim);
        vectors.chunks_exact(dim).for_each(|v| sums.add(v));
        sums.moments(vectors.len() / dim)
    }
}

/// Sums on their way to moments.
struct Sums {
    min: f64,
    max: f64,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(dim: usize) -> Self {
        Sums {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sums: vec![0.0; dim],
            squares: vec![0.0; dim],
        }
    }

    fn add(&mut self, vector: &[f32]) {
        for (k, &x) in vector.iter().enumerate() {
            let x = f64::from(x);
            self.min = self.min.min(x);
            self.max = self.max.max(x);
            self.sums[k] += x;
            self.squares[k] += x * x;
        }
    }

    fn moments(self, n: usize) -> Moments {
        let (mut mean, mut deviation) = (self.sums, self.squares);
        let n = n.max(1) as f64;
        for (mean, square) in mean.iter_mut().zip(&mut deviation) {
            *mean /= n;
            *square = (*square / n - *mean * *mean).max(0.0).sqrt();
        }
        Moments {
            min: self.min,
            max: self.max,
            mean,
            deviation,
        }
    }
}
