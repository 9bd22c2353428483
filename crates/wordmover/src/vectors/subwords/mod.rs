//! Vectors for words that the table lacks.
//!
//! A table may come with vectors of parts of words: [pieces](Pieces), as those of the built-in
//! set, or hashed [n-grams](Ngrams) of letters, as those of fastText. A word that the table
//! lacks gets the mean of the vectors of its parts.

mod ngrams;
mod pieces;

pub(super) use ngrams::{LONGEST_NGRAM, Ngrams};
pub(super) use pieces::Pieces;

use sha2::{Digest, Sha256};

use self::pieces::Piece;
use super::{Place, WordVectors};
use crate::Result;
use crate::random_documents::Stream;

/// Words whose vectors tell how long a vector is.
const SAMPLE: usize = 1000;

/// The stream that vectors of unknown words are drawn from; the seed is the word's.
const STREAM: u64 = 0;

/// Parts of words of one kind.
pub(super) enum Subwords {
    Pieces(Pieces),
    Ngrams(Ngrams),
}

impl Subwords {
    pub(super) fn checksum(&self) -> &str {
        match self {
            Subwords::Pieces(pieces) => pieces.checksum(),
            Subwords::Ngrams(ngrams) => ngrams.checksum(),
        }
    }
}

impl WordVectors {
    /// Whether words that the table lacks can be composed of their parts.
    #[must_use]
    pub fn has_subwords(&self) -> bool {
        self.subwords.is_some()
    }

    /// Whether a word has a part that the table knows.
    #[must_use]
    pub fn composes(&self, word: &str) -> bool {
        let mut n = 0;
        match &self.subwords {
            Some(Subwords::Pieces(pieces)) => pieces.split(word, &self.words, |_| n += 1),
            Some(Subwords::Ngrams(ngrams)) => ngrams.split(word, |_| n += 1),
            None => {}
        }
        n > 0
    }

    /// Writes the mean of the vectors of a word's parts to `out`; zeros if it has none that the
    /// table knows.
    ///
    /// # Errors
    ///
    /// [`crate::Error::InvalidVectors`] when a vector of a part holds NaN or infinity.
    ///
    /// # Panics
    ///
    /// If `out.len()` is not [`dim()`](Self::dim).
    pub fn compose(&self, word: &str, out: &mut [f32]) -> Result<()> {
        assert_eq!(out.len(), self.dim(), "the buffer's dimension");
        let mut sum = vec![0.0; out.len()];
        let mut n = 0.0;
        let mut add = |part: &[f32]| {
            let terms = sum.iter_mut().zip(part);
            terms.for_each(|(sum, x)| *sum += f64::from(*x));
            n += 1.0;
        };
        match &self.subwords {
            Some(Subwords::Pieces(pieces)) => pieces.split(word, &self.words, |piece| {
                match piece {
                    Piece::Word(id) => self.rows.copy_row(id as usize, out),
                    Piece::Own(id) => pieces.rows().copy_row(id as usize, out),
                }
                add(out);
            }),
            Some(Subwords::Ngrams(ngrams)) => ngrams.split(word, |bucket| {
                ngrams.rows().copy_row(bucket, out);
                add(out);
            }),
            None => {}
        }
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = (sum / f64::max(n, 1.0)) as f32;
        }
        self.check_finite_at(out, Place::Piece)
    }

    /// Writes a vector to `out` that is drawn from a hash of the word, and as long as the
    /// vectors of the table are on average: the same everywhere for the same word and table.
    ///
    /// # Panics
    ///
    /// If `out.len()` is not [`dim()`](Self::dim).
    pub fn copy_random_vector(&self, word: &str, out: &mut [f32]) {
        assert_eq!(out.len(), self.dim(), "the buffer's dimension");
        let digest: [u8; 32] = Sha256::digest(word).into();
        let seed = u64::from_le_bytes(*digest.first_chunk().expect("32 bytes"));
        let mut stream = Stream::new(seed, STREAM);
        let mut square = 0.0;
        for x in &mut *out {
            let drawn = 2.0 * stream.uniform() - 1.0;
            square += drawn * drawn;
            *x = drawn as f32;
        }
        let scale = self.typical_length() / square.sqrt();
        for x in out {
            *x = (f64::from(*x) * scale) as f32;
        }
    }

    /// Probabilities of the words in running text, in their order, if the table has them.
    #[must_use]
    pub fn probabilities(&self) -> Option<&[f32]> {
        self.probabilities.as_deref()
    }

    /// The checksum of the parts of words, if the table has them.
    #[must_use]
    pub fn subwords_checksum(&self) -> Option<&str> {
        self.subwords.as_ref().map(Subwords::checksum)
    }

    /// Mean length of the first vectors that are finite; 1 if there is none.
    fn typical_length(&self) -> f64 {
        *self.length.get_or_init(|| {
            let mut vector = vec![0.0; self.dim()];
            let ids = 0..self.len().min(SAMPLE) as u32;
            let lengths = ids.map(|id| {
                self.copy_vector(id, &mut vector);
                vector
                    .iter()
                    .map(|&x| f64::from(x) * f64::from(x))
                    .sum::<f64>()
                    .sqrt()
            });
            let lengths: Vec<f64> = lengths.filter(|x| x.is_finite() && *x > 0.0).collect();
            match lengths.len() {
                0 => 1.0,
                n => lengths.iter().sum::<f64>() / n as f64,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_same_random_vector_everywhere_as_long_as_the_others() {
        let words = ["a", "b"].map(str::to_owned).to_vec();
        let vectors = WordVectors::from_rows("v", words, vec![3.0, 4.0, 0.0, 7.0], 2).unwrap();
        let random = |word: &str| {
            let mut out = [0.0; 2];
            vectors.copy_random_vector(word, &mut out);
            out
        };
        let [x, y] = random("goverment");
        assert_eq!([x, y], random("goverment"));
        assert_ne!([x, y], random("Zyrtecon"));
        assert!((f64::from(x).hypot(f64::from(y)) - 6.0).abs() < 1e-6);
    }
}
