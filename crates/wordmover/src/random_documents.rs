//! Random documents drawn from `p(omega)` (section 3.2 of the paper).
//!
//! A random document has `D` words, `D` uniform on `1..=d_max`, each a vector
//! drawn from a named distribution and of weight `1 / D`. The generator is ChaCha
//! with 8 rounds, whose output is fixed for good; the mapping from its bits to
//! lengths and coordinates is ours, below, and pinned by a test. Random document
//! `j` is drawn from stream `j` alone, so the first `R'` of a model with `R`
//! random documents are those of a model with `R'`.

use std::ops::Range;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::content_hash::ContentHash;
use crate::document::Word;
use crate::document_model::DocumentModel;
use crate::error::{Error, Result};
use crate::names::names;
use crate::space::{Moments, scale_to_unit};

/// Name of the generator and of the mapping from its bits, kept in model files.
pub const GENERATOR: &str = "chacha8-1";

/// How the words of a random document are drawn. `v` are the normalised vectors of
/// the distinct words of the corpus the model was fitted on. Where those have
/// length 1, so have the random words, as in the authors' program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RandomWords {
    /// Every coordinate uniform between the least and the greatest coordinate of
    /// all `v`: Algorithm 1 of the paper.
    #[default]
    Uniform,
    /// The same spread, around the mean of the `v`.
    UniformCentered,
    /// Every coordinate normal with its own mean and deviation over the `v`.
    Gaussian,
    /// A word of the corpus, every distinct word being equally likely.
    Vocabulary,
    /// Words of one document of the corpus: a random document is a part of a real one. Its
    /// words are distinct, so it may be shorter than drawn.
    Documents,
}

names!(RandomWords, "random_words":
    Uniform "uniform" "coordinates between the extremes of the corpus' word vectors (the paper's)",
    UniformCentered "uniform-centered" "the same spread around the mean of the corpus' word vectors",
    Gaussian "gaussian" "normal, with the corpus' mean and deviation of each coordinate",
    Vocabulary "vocabulary" "words of the corpus",
    Documents "documents" "words of one document of the corpus",
);

/// `R` random documents: lengths, and word vectors one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomDocuments {
    dim: usize,
    /// `starts[j]..starts[j + 1]` are the words of random document `j`.
    starts: Vec<u32>,
    words: Vec<f32>,
}

impl RandomDocuments {
    /// Draws `n` random documents of at most `d_max` words, from the words of the model's
    /// corpus or from its [documents](DocumentModel::with_landmarks).
    pub(crate) fn sample(
        model: &DocumentModel,
        distribution: RandomWords,
        n: usize,
        d_max: usize,
        seed: u64,
    ) -> Result<Self> {
        if distribution == RandomWords::Documents {
            return Self::sample_landmarks(model, n, d_max, seed);
        }
        let (space, words) = (model.space(), &model.words());
        let dim = space.dim();
        let moments = Moments::of(space, words)?;
        let mut documents = RandomDocuments {
            dim,
            starts: vec![0],
            words: Vec::new(),
        };
        let mut vector = vec![0.0; dim];
        for document in 0..n {
            let mut stream = Stream::new(seed, document as u64);
            let length = 1 + stream.below(d_max as u64);
            for _ in 0..length {
                match distribution {
                    RandomWords::Uniform => stream.uniform_vector(&moments, &mut vector),
                    RandomWords::UniformCentered => {
                        let half_width = (moments.max - moments.min) / 2.0;
                        for (x, mean) in vector.iter_mut().zip(&moments.mean) {
                            *x = (mean + (2.0 * stream.uniform() - 1.0) * half_width) as f32;
                        }
                    }
                    RandomWords::Gaussian => stream.normal_vector(&moments, &mut vector),
                    // Documents are drawn elsewhere.
                    RandomWords::Vocabulary | RandomWords::Documents => {
                        let word = words[stream.below(words.len() as u64) as usize];
                        space.copy_vector(Word::Known(word), &mut vector)?;
                    }
                }
                // A word of the corpus has its length already.
                let drawn = distribution != RandomWords::Vocabulary;
                if drawn && space.normalization().scales_to_unit() {
                    scale_to_unit(&mut vector);
                }
                documents.words.extend_from_slice(&vector);
            }
            let end = (documents.words.len() / dim) as u32;
            documents.starts.push(end);
        }
        Ok(documents)
    }

    /// Parts of documents: one is drawn, then words of it, without replacement.
    fn sample_landmarks(model: &DocumentModel, n: usize, d_max: usize, seed: u64) -> Result<Self> {
        let landmarks = model.landmarks();
        if landmarks.is_empty() {
            return Err(Error::InvalidParameter {
                name: "random_words",
                value: RandomWords::Documents.to_string(),
                requirement: "another distribution where no documents with known words are at hand",
            });
        }
        let space = model.space();
        let mut documents = RandomDocuments {
            dim: space.dim(),
            starts: vec![0],
            words: Vec::new(),
        };
        let mut vector = vec![0.0; space.dim()];
        for document in 0..n {
            let mut stream = Stream::new(seed, document as u64);
            let length = 1 + stream.below(d_max as u64) as usize;
            let landmark = &landmarks[stream.below(landmarks.len() as u64) as usize];
            let mut words: Vec<Word> = model.kept(landmark).collect();
            let length = length.min(words.len());
            for place in 0..length {
                let other = place + stream.below((words.len() - place) as u64) as usize;
                words.swap(place, other);
                space.copy_vector(words[place], &mut vector)?;
                documents.words.extend_from_slice(&vector);
            }
            let end = (documents.words.len() / documents.dim) as u32;
            documents.starts.push(end);
        }
        Ok(documents)
    }

    /// Puts together what a model file kept; the caller has checked that the
    /// lengths are positive and sum to the number of words.
    pub(crate) fn from_parts(dim: usize, lengths: &[u32], words: Vec<f32>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for length in lengths {
            end += length;
            starts.push(end);
        }
        debug_assert_eq!(words.len(), end as usize * dim);
        RandomDocuments { dim, starts, words }
    }

    /// Some of them, in their order.
    pub(crate) fn range(&self, range: Range<usize>) -> Self {
        let first = self.starts[range.start];
        let starts = &self.starts[range.start..=range.end];
        RandomDocuments {
            dim: self.dim,
            starts: starts.iter().map(|start| start - first).collect(),
            words: self.words_of_range(range).to_vec(),
        }
    }

    /// Adds some of them to a hash.
    #[must_use]
    pub fn hash(&self, hash: ContentHash, range: Range<usize>) -> ContentHash {
        range.fold(hash, |hash, j| {
            hash.numbers(self.words(j).iter().map(|x| u64::from(x.to_bits())))
        })
    }

    /// Dimension of their words.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// How many there are (`R` in the paper).
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none; never so in a model.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word vectors of random document `j`, one after the other.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    #[must_use]
    pub fn words(&self, j: usize) -> &[f32] {
        self.words_of_range(j..j + 1)
    }

    /// Number of words of random document `j` (`D` in the paper).
    ///
    /// # Panics
    ///
    /// If there is no such document.
    #[must_use]
    pub fn document_len(&self, j: usize) -> usize {
        (self.starts[j + 1] - self.starts[j]) as usize
    }

    /// The word vectors of several random documents, one after the other.
    pub(crate) fn words_of_range(&self, documents: Range<usize>) -> &[f32] {
        let start = self.starts[documents.start] as usize;
        let end = self.starts[documents.end] as usize;
        &self.words[start * self.dim..end * self.dim]
    }
}

/// One stream of the generator with our mapping from bits to numbers.
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    /// The key is the seed, little-endian, followed by zeros.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Stream(generator)
    }

    /// Uniform on `[0, 1)`: the upper 53 bits of 64.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (0.5f64).powi(53)
    }

    /// Uniform on `0..n` by multiplication; the bias is below `n / 2^64`.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Every coordinate uniform between the least and the greatest of all.
    pub fn uniform_vector(&mut self, moments: &Moments, vector: &mut [f32]) {
        let half_width = (moments.max - moments.min) / 2.0;
        for x in vector {
            *x = (moments.min + self.uniform() * (2.0 * half_width)) as f32;
        }
    }

    /// Every coordinate normal with its own mean and deviation.
    pub fn normal_vector(&mut self, moments: &Moments, vector: &mut [f32]) {
        let each = moments.mean.iter().zip(&moments.deviation);
        for (x, (mean, deviation)) in vector.iter_mut().zip(each) {
            *x = (mean + deviation * self.normal()) as f32;
        }
    }

    /// Standard normal, by Box and Muller with the portable `libm`.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_pinned() {
        let mut stream = Stream::new(7, 3);
        let seen = [stream.uniform(), stream.below(1000) as f64, stream.normal()];
        // Found by an independent ChaCha in Python too.
        assert_eq!(seen, [0.6629217734268726, 504.0, 1.5723425728118112]);
    }

    #[test]
    fn draws_have_the_moments_they_should() {
        let mut stream = Stream::new(1, 0);
        let n = 20_000;
        let uniforms: f64 = (0..n).map(|_| stream.uniform()).sum::<f64>() / f64::from(n);
        assert!((uniforms - 0.5).abs() < 0.01);
        let normals: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let variance = normals.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05);
        let mut seen = [0; 6];
        for _ in 0..6000 {
            seen[stream.below(6) as usize] += 1;
        }
        assert!(
            seen.iter().all(|&count| (850..1150).contains(&count)),
            "{seen:?}"
        );
    }
}
