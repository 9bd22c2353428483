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
    lengths: Lengths,
    checksum: String,
}

/// How long pieces are that begin with certain letters: what is too long or too short to be one
/// is not looked up.
struct Lengths {
    /// By the first two bytes, of pieces that begin a word and then of those that go on: bit `n`
    /// stands for pieces of `n` bytes, the last for longer ones, too.
    masks: Box<[u64; 2 * LETTER_PAIRS]>,
}

/// Pairs of bytes of which five bits each are told apart, as many as small letters need.
const LETTER_PAIRS: usize = 1 << 10;

impl Lengths {
    fn of<'a>(pieces: impl Iterator<Item = &'a str>) -> Self {
        let mut masks = Box::new([0; 2 * LETTER_PAIRS]);
        for piece in pieces {
            let (piece, goes_on) = match piece.strip_prefix(GOES_ON) {
                Some(rest) => (rest, true),
                None => (piece, false),
            };
            if let Some(pair) = piece.as_bytes().first_chunk() {
                masks[Self::place(pair, goes_on)] |= 1 << piece.len().min(63);
            }
        }
        Lengths { masks }
    }

    fn place([first, second]: &[u8; 2], goes_on: bool) -> usize {
        let pair = usize::from(first & 31) << 5 | usize::from(second & 31);
        pair + usize::from(goes_on) * LETTER_PAIRS
    }

    /// Those of pieces that `text` may begin with. Single bytes always count.
    fn at(&self, text: &str, goes_on: bool) -> u64 {
        let pair = text.as_bytes().first_chunk();
        1 << 1 | pair.map_or(0, |pair| self.masks[Self::place(pair, goes_on)])
    }
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
        let all = || pieces.iter().chain(words.iter().map(|&id| table.word(id)));
        Pieces {
            has_words_that_go_on: words.iter().any(|&id| table.word(id).starts_with(GOES_ON)),
            longest: all().map(str::len).max().unwrap_or(0),
            lengths: Lengths::of(all()),
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
        let plain: String = match word.is_ascii() {
            true => word.to_ascii_lowercase(),
            false => {
                let letters = word.to_lowercase();
                let letters = letters.nfd();
                letters
                    .filter(|&letter| !is_combining_mark(letter))
                    .collect()
            }
        };
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
        let mut going_on = String::new();
        let mut start = 0;
        while start < part.len() {
            let rest = &part[start..];
            let (text, prefix) = match start {
                0 => (rest, 0),
                _ => {
                    going_on.clear();
                    going_on.push_str(GOES_ON);
                    going_on.push_str(rest);
                    (going_on.as_str(), GOES_ON.len())
                }
            };
            let most = rest.len().min(self.longest.saturating_sub(prefix));
            let lengths = self.lengths.at(rest, start > 0);
            let is_length = |end: usize| lengths >> end.min(63) & 1 == 1;
            let ends = (1..=most).rev().filter(|&end| is_length(end));
            let mut ends = ends.filter(|&end| rest.is_char_boundary(end));
            let longest =
                ends.find_map(|end| Some((self.find(&text[..prefix + end], table)?, end)));
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

    /// The longest piece at every place, with every length looked up.
    fn split_by_all_lengths(pieces: &Pieces, part: &str, table: &WordList) -> Option<Vec<Piece>> {
        let (mut found, mut start) = (Vec::new(), 0);
        while start < part.len() {
            let rest = &part[start..];
            let prefix = if start == 0 { "" } else { GOES_ON };
            let ends = (1..=rest.len()).rev();
            let mut ends = ends.filter(|&end| rest.is_char_boundary(end));
            let (piece, end) = ends.find_map(|end| {
                let candidate = format!("{prefix}{}", &rest[..end]);
                Some((pieces.find(&candidate, table)?, end))
            })?;
            found.push(piece);
            start += end;
        }
        Some(found)
    }

    #[test]
    fn lengths_that_no_piece_has_are_passed_over_and_no_others() {
        let long = "a".repeat(70);
        let goes_on = format!("##{}", "b".repeat(64));
        let own = [
            "b",
            "ab",
            "abcd",
            "\u{e9}",
            "e\u{e9}",
            "##b",
            "##c",
            "##bc",
            "##\u{6f22}x",
            &long,
            &goes_on,
        ];
        let (own, table) = (list(&own), list(&["abc", "##abc", "a"]));
        let rows = Rows::from_floats(vec![0.0; own.len()], 1);
        let pieces = Pieces::new(own, rows, vec![0, 1, 2], &table, String::new());
        let texts = [
            "a",
            "b",
            "ab",
            "abc",
            "abcd",
            "abcde",
            "abbc",
            "abcabc",
            "abcabcb",
            "e\u{e9}b",
            "\u{e9}bc",
            "a\u{6f22}x",
            "a\u{6f22}",
            "pbc",
            "x",
        ];
        let mut texts: Vec<String> = texts.map(str::to_owned).to_vec();
        texts.push(long.clone());
        texts.push(format!("{long}bc"));
        texts.push(format!("a{}c", "b".repeat(64)));
        texts.push("b".repeat(63));
        let mut n_split = 0;
        for text in &texts {
            let mut found = Vec::new();
            let expected = split_by_all_lengths(&pieces, text, &table);
            let is_split = pieces.split_part(text, &table, &mut found);
            assert_eq!(is_split.then_some(found), expected, "{text}");
            n_split += usize::from(is_split);
        }
        assert_eq!(n_split, 15, "the others have a letter without a piece");
    }

    #[test]
    fn the_built_in_pieces_are_found_whatever_their_length() {
        let vectors = WordVectors::builtin();
        let Some(Subwords::Pieces(pieces)) = &vectors.subwords else {
            panic!("the built-in table has pieces");
        };
        for piece in pieces.list().iter() {
            // A word that begins with it, and one that it ends.
            let text = match piece.strip_prefix(GOES_ON) {
                Some(rest) => format!("x{rest}"),
                None => format!("{piece}s"),
            };
            let mut found = Vec::new();
            let is_split = pieces.split_part(&text, &vectors.words, &mut found);
            let expected = split_by_all_lengths(pieces, &text, &vectors.words);
            assert_eq!(is_split.then_some(found), expected, "{text}");
        }
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
