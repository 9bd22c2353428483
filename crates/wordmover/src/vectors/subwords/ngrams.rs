//! Hashed n-grams of letters, as fastText has them.
//!
//! A word in angle brackets, `<word>`, is cut into its runs of `least` to `most` characters; the
//! bracket alone is none. Each run has the row that its hash names, so several may share one.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use crate::vectors::checksum;
use crate::vectors::rows::Rows;

/// The longest n-grams accepted, in characters: fastText's own default is 6, and cutting a word
/// costs its length times this.
pub(in crate::vectors) const LONGEST_NGRAM: usize = 64;

/// The end of a sentence, which fastText counts among the words and never cuts.
const END_OF_SENTENCE: &str = "</s>";

/// Vectors of hashed n-grams.
pub(in crate::vectors) struct Ngrams {
    /// How many characters an n-gram has.
    lengths: RangeInclusive<usize>,
    /// One row for each value of the hash; at least one.
    rows: Rows,
    n_rows: u32,
    checksum: OnceLock<String>,
}

impl Ngrams {
    /// `checksum` is that of the lengths and rows, where it is known.
    pub(in crate::vectors) fn new(
        lengths: RangeInclusive<usize>,
        rows: Rows,
        n_rows: u32,
        checksum: Option<String>,
    ) -> Self {
        Ngrams {
            lengths,
            rows,
            n_rows,
            checksum: checksum.map_or_else(OnceLock::new, OnceLock::from),
        }
    }

    pub(in crate::vectors) fn checksum(&self) -> &str {
        self.checksum
            .get_or_init(|| checksum::of_ngrams(self).finish())
    }

    pub(in crate::vectors) fn lengths(&self) -> &RangeInclusive<usize> {
        &self.lengths
    }

    pub(in crate::vectors) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(in crate::vectors) fn n_rows(&self) -> u32 {
        self.n_rows
    }

    /// The row of every n-gram of a word, one after the other.
    pub(in crate::vectors) fn split(&self, word: &str, mut each: impl FnMut(usize)) {
        if word == END_OF_SENTENCE {
            return;
        }
        let (least, most) = (*self.lengths.start(), *self.lengths.end());
        let bracketed = format!("<{word}>");
        let len = bracketed.len();
        for (start, _) in bracketed.char_indices() {
            let mut hash = Hash::default();
            for (n, (offset, letter)) in bracketed[start..].char_indices().take(most).enumerate() {
                let (n, end) = (n + 1, start + offset + letter.len_utf8());
                bracketed.as_bytes()[start + offset..end]
                    .iter()
                    .for_each(|&byte| hash.add(byte));
                let is_bracket = n == 1 && (start == 0 || end == len);
                if n >= least && !is_bracket {
                    each((hash.0 % self.n_rows) as usize);
                }
            }
        }
    }
}

/// FNV-1a as fastText has it: bytes are widened with their sign.
struct Hash(u32);

impl Default for Hash {
    fn default() -> Self {
        Hash(2_166_136_261)
    }
}

impl Hash {
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ i32::from(byte.cast_signed()).cast_unsigned()).wrapping_mul(16_777_619);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(word: &str, lengths: RangeInclusive<usize>) -> usize {
        let ngrams = Ngrams::new(lengths, Rows::from_floats(vec![0.0; 7], 1), 7, None);
        let mut n = 0;
        ngrams.split(word, |row| {
            assert!(row < 7);
            n += 1;
        });
        n
    }

    #[test]
    fn ngrams_are_runs_of_characters_with_the_brackets() {
        // <a, ab, b>, <ab, ab>
        assert_eq!(split("ab", 2..=3), 5);
        // a, b and no bracket
        assert_eq!(split("ab", 1..=1), 2);
        assert_eq!(split("\u{e9}\u{65e5}", 2..=3), 5, "characters, not bytes");
        assert_eq!(split("", 1..=3), 1, "the two brackets");
        assert_eq!(split("</s>", 1..=3), 0);
        assert_eq!(split("ab", 9..=9), 0);
    }
}
