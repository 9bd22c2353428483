//! Vectors for words that the table lacks.
//!
//! A table may come with vectors of parts of words: pieces, as those of the built-in set, or
//! hashed n-grams of letters, as those of fastText. A word that the table lacks gets the mean
//! of the vectors of its parts.

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::rows::Rows;
use super::words::WordList;
use super::{Place, WordVectors};
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
        let mut n = 0;
        if let Some(pieces) = &self.pieces {
            pieces.split(word, &self.words, |_| n += 1);
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
        if let Some(pieces) = &self.pieces {
            pieces.split(word, &self.words, |piece| {
                match piece {
                    Piece::Word(id) => self.rows.copy_row(id as usize, out),
                    Piece::Own(id) => pieces.rows.copy_row(id as usize, out),
                }
                let terms = sum.iter_mut().zip(&*out);
                terms.for_each(|(sum, x)| *sum += f64::from(*x));
                n += 1.0;
            });
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

/// Parts of words and their vectors.
pub(super) struct Pieces {
    /// Pieces that are no words of the table. Those that begin a word stand for themselves;
    /// those that go on have `##` in front.
    pieces: WordList,
    rows: Rows,
    /// Ids of words of the table that are pieces, too, ascending.
    words: Vec<u32>,
    /// Bytes of the longest piece.
    longest: usize,
    checksum: String,
}

/// Where the vector of a piece is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    /// Among the words of the table.
    Word(u32),
    /// Among the pieces.
    Own(u32),
}

impl Pieces {
    /// `checksum` is that of the pieces and their vectors.
    pub(super) fn new(
        pieces: WordList,
        rows: Rows,
        words: Vec<u32>,
        table: &WordList,
        checksum: String,
    ) -> Self {
        let of_words = words.iter().map(|&id| table.word(id).len());
        let longest = pieces.iter().map(str::len).chain(of_words).max();
        Pieces {
            longest: longest.unwrap_or(0),
            pieces,
            rows,
            words,
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

    pub(super) fn words(&self) -> &[u32] {
        &self.words
    }

    fn find(&self, piece: &str, table: &WordList) -> Option<Piece> {
        let word = table.id(piece);
        let word = word.filter(|id| self.words.binary_search(id).is_ok());
        word.map(Piece::Word)
            .or_else(|| self.pieces.id(piece).map(Piece::Own))
    }

    /// The pieces of a word, as WordPiece cuts it: lower case, without marks, letter runs
    /// and single other characters each for itself; of each the longest piece at its
    /// beginning, then the longest that goes on from there. A part for which that fails has
    /// none.
    fn split(&self, word: &str, table: &WordList, mut each: impl FnMut(Piece)) {
        if word.len() > LONGEST_WORD {
            return;
        }
        let plain: String = word
            .to_lowercase()
            .nfd()
            .filter(|&letter| !is_combining_mark(letter))
            .collect();
        let mut found = Vec::new();
        for part in parts(&plain) {
            found.clear();
            if self.split_part(part, table, &mut found) {
                found.iter().copied().for_each(&mut each);
            }
        }
    }

    /// Whether a part can be cut into pieces, and these.
    fn split_part(&self, part: &str, table: &WordList, found: &mut Vec<Piece>) -> bool {
        let mut candidate = String::with_capacity(self.longest + 2);
        let mut start = 0;
        while start < part.len() {
            let rest = &part[start..];
            let prefix = if start == 0 { "" } else { "##" };
            let most = rest.len().min(self.longest.saturating_sub(prefix.len()));
            let mut ends = (1..=most).rev().filter(|&end| rest.is_char_boundary(end));
            let longest = ends.find_map(|end| {
                candidate.clear();
                candidate.push_str(prefix);
                candidate.push_str(&rest[..end]);
                Some((self.find(&candidate, table)?, end))
            });
            let Some((piece, end)) = longest else {
                return false;
            };
            found.push(piece);
            start += end;
        }
        true
    }
}

/// Runs of letters and digits; every other character, and every ideograph, by itself.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let joins = |letter: char| letter.is_alphanumeric() && !is_ideograph(letter);
        let end = match joins(first) {
            true => rest.find(|letter| !joins(letter)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

/// The ideographs that WordPiece cuts apart: the CJK blocks, not Hangul nor kana.
fn is_ideograph(letter: char) -> bool {
    matches!(u32::from(letter),
        0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x2ceaf | 0x2f800..=0x2fa1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[&str]) -> WordList {
        let mut list = WordList::default();
        for word in words {
            list.push(word).unwrap();
        }
        list
    }

    fn vectors() -> WordVectors {
        let table = list(&["know", "un", "u"]);
        let own = ["##know", "##n", "##own", "k", "-", "\u{6f22}"];
        let rows = Rows::from_floats((0..own.len()).map(|i| i as f32).collect(), 1);
        let pieces = Pieces::new(list(&own), rows, vec![1, 2], &table, String::new());
        let words = ["know", "un", "u"].map(str::to_owned).to_vec();
        let mut vectors = WordVectors::from_rows("v", words, vec![100.0, 10.0, 20.0], 1).unwrap();
        vectors.pieces = Some(pieces);
        vectors
    }

    #[test]
    fn a_word_is_cut_into_its_longest_pieces() {
        let vectors = vectors();
        let split = |word: &str| {
            let mut found = Vec::new();
            let pieces = vectors.pieces.as_ref().unwrap();
            pieces.split(word, &vectors.words, |piece| found.push(piece));
            found
        };
        use Piece::{Own, Word};
        assert_eq!(split("unknown"), [Word(1), Own(0), Own(1)]);
        assert_eq!(split("unkno"), [], "nothing goes on after un");
        assert_eq!(split("unknow"), [Word(1), Own(0)]);
        assert_eq!(
            split("U\u{f1}own"),
            [Word(1), Own(2)],
            "marks and capitals go"
        );
        assert_eq!(split("un-k"), [Word(1), Own(4), Own(3)]);
        assert_eq!(split("k\u{6f22}un"), [Own(3), Own(5), Word(1)]);
        // A word of the table that is no piece does not count, nor does a part that fails.
        assert_eq!(split("know"), []);
        assert_eq!(split("know-u"), [Own(4), Word(2)]);
        assert_eq!(split(&"u".repeat(200)), []);
    }

    #[test]
    fn a_composed_vector_is_the_mean_of_the_pieces() {
        let vectors = vectors();
        assert!(vectors.composes("unknow") && !vectors.composes("xyz"));
        let mut out = [0.0];
        vectors.compose("unn", &mut out).unwrap();
        assert_eq!(out, [5.5]);
        vectors.compose("xyz", &mut out).unwrap();
        assert_eq!(out, [0.0]);
    }

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
