//! Pieces of words, as WordPiece cuts them.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::vectors::rows::Rows;
use crate::vectors::words::WordList;

/// Longest word that is composed, in bytes: longer ones are no words.
const LONGEST_WORD: usize = 128;

/// In front of pieces that go on.
const GOES_ON: &str = "##";

/// Pieces of words and their vectors.
pub(in crate::vectors) struct Pieces {
    /// Pieces that are no words of the table. Those that begin a word stand for themselves;
    /// those that go on have `##` in front.
    pieces: WordList,
    rows: Rows,
    /// Ids of words of the table that are pieces, too, ascending.
    words: Vec<u32>,
    /// Whether one of these words goes on, with `##` in front.
    has_words_that_go_on: bool,
    /// Bytes of the longest piece.
    longest: usize,
    checksum: String,
}

/// Where the vector of a piece is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Piece {
    /// Among the words of the table.
    Word(u32),
    /// Among the pieces.
    Own(u32),
}

impl Pieces {
    /// `checksum` is that of the pieces and their vectors.
    pub(in crate::vectors) fn new(
        pieces: WordList,
        rows: Rows,
        words: Vec<u32>,
        table: &WordList,
        checksum: String,
    ) -> Self {
        let of_words = words.iter().map(|&id| table.word(id).len());
        let longest = pieces.iter().map(str::len).chain(of_words).max();
        Pieces {
            has_words_that_go_on: words.iter().any(|&id| table.word(id).starts_with(GOES_ON)),
            longest: longest.unwrap_or(0),
            pieces,
            rows,
            words,
            checksum,
        }
    }

    pub(in crate::vectors) fn checksum(&self) -> &str {
        &self.checksum
    }

    pub(in crate::vectors) fn list(&self) -> &WordList {
        &self.pieces
    }

    pub(in crate::vectors) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(in crate::vectors) fn words(&self) -> &[u32] {
        &self.words
    }

    fn find(&self, piece: &str, table: &WordList) -> Option<Piece> {
        if piece.starts_with(GOES_ON) && !self.has_words_that_go_on {
            return self.pieces.id(piece).map(Piece::Own);
        }
        let word = table.id(piece);
        let word = word.filter(|id| self.words.binary_search(id).is_ok());
        word.map(Piece::Word)
            .or_else(|| self.pieces.id(piece).map(Piece::Own))
    }

    /// The pieces of a word, as WordPiece cuts it: lower case, without marks, letter runs
    /// and single other characters each for itself; of each the longest piece at its
    /// beginning, then the longest that goes on from there. A part for which that fails has
    /// none.
    pub(super) fn split(&self, word: &str, table: &WordList, mut each: impl FnMut(Piece)) {
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
            let prefix = if start == 0 { "" } else { GOES_ON };
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
    use crate::vectors::WordVectors;
    use crate::vectors::subwords::Subwords;

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
        vectors.subwords = Some(Subwords::Pieces(pieces));
        vectors
    }

    #[test]
    fn a_word_is_cut_into_its_longest_pieces() {
        let vectors = vectors();
        let split = |word: &str| {
            let mut found = Vec::new();
            let Some(Subwords::Pieces(pieces)) = &vectors.subwords else {
                panic!("the table has pieces");
            };
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
}
