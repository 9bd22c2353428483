//! Vectors for words that the table lacks.
//!
//! A table may come with vectors of parts of words: pieces, as those of the built-in set, or
//! hashed n-grams of letters, as those of fastText. A word that the table lacks gets the mean
//! of the vectors of its parts.

use sha2::{Digest, Sha256};

use super::WordVectors;
use super::rows::Rows;
use super::words::WordList;
use crate::Result;
use crate::random_documents::Stream;

/// Longest word that is composed, in bytes: longer ones are no words.
const LONGEST_WORD: usize = 128;

/// Words whose vectors tell how long a vector is.
const SAMPLE: usize = 1000;

/// The stream that vectors of unknown words are drawn from; the seed is the word's.
const STREAM: u64 = 0;

impl WordVectors {
    /// Whether words that the table lacks can be composed of their parts.
    #[must_use]
    pub fn has_subwords(&self) -> bool {
        self.pieces.is_some()
    }

    /// Whether a word has a part that the table knows.
    #[must_use]
    pub fn composes(&self, word: &str) -> bool {
        self.pieces.as_ref().is_some_and(|pieces| pieces.covers(word))
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
        match &self.pieces {
            Some(pieces) => pieces.compose(word, out),
            None => out.fill(0.0),
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
    pub fn pieces_checksum(&self) -> Option<&str> {
        self.pieces.as_ref().map(Pieces::checksum)
    }

    /// Mean length of the first vectors that are finite; 1 if there is none.
    fn typical_length(&self) -> f64 {
        *self.length.get_or_init(|| {
            let mut vector = vec![0.0; self.dim()];
            let ids = 0..self.len().min(SAMPLE) as u32;
            let lengths = ids.map(|id| {
                self.copy_vector(id, &mut vector);
                vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
            });
            let lengths: Vec<f64> = lengths.filter(|x| x.is_finite() && *x > 0.0).collect();
            match lengths.len() {
                0 => 1.0,
                n => lengths.iter().sum::<f64>() / n as f64,
            }
        })
    }
}

/// Parts of words and their vectors.
pub(super) struct Pieces {
    /// Pieces that begin a word stand for themselves; those that go on have `##` in front.
    pieces: WordList,
    rows: Rows,
    /// Bytes of the longest piece.
    longest: usize,
    checksum: String,
}

impl Pieces {
    /// `checksum` is that of the pieces and their vectors, as for words.
    pub(super) fn new(pieces: WordList, rows: Rows, checksum: String) -> Self {
        let longest = pieces.iter().map(str::len).max().unwrap_or(0);
        Pieces {
            pieces,
            rows,
            longest,
            checksum,
        }
    }

    pub(super) fn checksum(&self) -> &str {
        &self.checksum
    }

    pub(super) fn list(&self) -> &WordList {
        &self.pieces
    }

    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The pieces of a word: the longest there is at its beginning, then the longest that
    /// goes on from there. A letter that no piece begins with is passed over.
    fn split(&self, word: &str, mut each: impl FnMut(u32)) {
        if word.len() > LONGEST_WORD {
            return;
        }
        let mut candidate = String::with_capacity(self.longest + 2);
        let mut start = 0;
        while start < word.len() {
            let rest = &word[start..];
            let prefix = if start == 0 { "" } else { "##" };
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8());
            let ends: Vec<usize> = ends.take_while(|end| prefix.len() + end <= self.longest).collect();
            let found = ends.iter().rev().find_map(|&end| {
                candidate.clear();
                candidate.push_str(prefix);
                candidate.push_str(&rest[..end]);
                Some((self.pieces.id(&candidate)?, end))
            });
            start += match found {
                Some((id, end)) => {
                    each(id);
                    end
                }
                None => rest.chars().next().map_or(1, char::len_utf8),
            };
        }
    }

    /// Whether a word has a known part.
    pub(super) fn covers(&self, word: &str) -> bool {
        let mut n = 0;
        self.split(word, |_| n += 1);
        n > 0
    }

    /// The mean of the vectors of a word's parts; zeros if it has none.
    pub(super) fn compose(&self, word: &str, out: &mut [f32]) {
        let mut sum = vec![0.0; out.len()];
        let mut n = 0.0;
        self.split(word, |id| {
            self.rows.copy_row(id as usize, out);
            sum.iter_mut().zip(&*out).for_each(|(sum, x)| *sum += f64::from(*x));
            n += 1.0;
        });
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = (sum / f64::max(n, 1.0)) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(list: &[&str]) -> Pieces {
        let mut words = WordList::default();
        for piece in list {
            words.push(piece).unwrap();
        }
        let values = (0..list.len()).map(|i| i as f32).collect();
        Pieces::new(words, Rows::from_floats(values, 1), String::new())
    }

    #[test]
    fn a_word_is_split_into_its_longest_pieces() {
        let pieces = pieces(&["un", "u", "##know", "##n", "##own", "##\u{e4}", "k"]);
        let split = |word: &str| {
            let mut ids = Vec::new();
            pieces.split(word, |id| ids.push(id));
            ids
        };
        assert_eq!(split("unknown"), [0, 2, 4][..2]);
        assert_eq!(split("unn"), [0, 3]);
        // Letters that no piece begins with are passed over.
        assert_eq!(split("uxn"), [1, 3]);
        assert_eq!(split("k\u{e4}n"), [6, 5, 3]);
        assert_eq!(split("xyz"), Vec::<u32>::new());
        assert_eq!(split(&"u".repeat(200)), Vec::<u32>::new());
        assert!(pieces.covers("unn") && !pieces.covers("xyz"));
        let mut out = [0.0];
        pieces.compose("unn", &mut out);
        assert_eq!(out, [1.5]);
        pieces.compose("xyz", &mut out);
        assert_eq!(out, [0.0]);
    }
}
