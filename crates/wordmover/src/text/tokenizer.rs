//! Unicode word segmentation with the few rules English text needs on top.

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use super::StopWords;
use crate::names::names;

/// What happens to upper-case letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Case {
    /// Words are lower-cased: for vectors of lower-case words, such as the built-in ones.
    #[default]
    Lower,
    /// Words stay as they are: for cased vectors, such as those of Google News.
    /// Stop words are still recognised when they begin a sentence.
    Keep,
}

names!(Case, "case":
    Lower "lower" "words are lower-cased",
    Keep "keep" "words stay as they are, for cased vectors",
);

/// The rules by which texts are cut. Models keep theirs, so that a text always gives the
/// words it gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TokenizerVersion {
    /// Every segment between Unicode word boundaries is a word; hyphens separate.
    #[serde(rename = "1")]
    V1,
    /// Hyphenated forms and abbreviations that the vectors know are one word.
    #[default]
    #[serde(rename = "2")]
    V2,
}

impl TokenizerVersion {
    /// That of model files which do not name theirs.
    pub(crate) fn first() -> Self {
        TokenizerVersion::V1
    }
}

/// Cuts texts into words.
///
/// ```
/// use wordmover::text::Tokenizer;
///
/// let tokenizer = Tokenizer::default();
/// let known = |word: &str| ["covid-19", "u.s."].contains(&word);
/// let mut words = Vec::new();
/// tokenizer.for_each("The President’s U.S. press-conference isn't on COVID-19!", known, |word| {
///     words.push(word.to_owned());
/// });
/// assert_eq!(words, ["president", "u.s.", "press", "conference", "covid-19"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokenizer {
    /// Lower-case words or leave them.
    pub case: Case,
    /// Words to drop.
    pub stop_words: StopWords,
    /// The rules by which texts are cut.
    #[serde(default = "TokenizerVersion::first")]
    pub version: TokenizerVersion,
}

impl Tokenizer {
    /// Hands every word of `text` that is not a stop word to `word`, in order.
    ///
    /// Words are the segments between Unicode word boundaries (UAX 29) that hold a
    /// letter or digit. A typographic apostrophe becomes a plain one, and a
    /// possessive `'s` is dropped, after the word as a whole was not a stop word.
    ///
    /// Segments joined by hyphens (`covid-19`, `state-of-the-art`) are one word where
    /// `is_known` knows the whole, and so is an abbreviation with its last full stop
    /// (`u.s.`); the longest known form counts, from the left. Signs before a word, as in
    /// `#tag` and `@name`, are not part of it.
    pub fn for_each(
        &self,
        text: &str,
        is_known: impl Fn(&str) -> bool,
        mut word: impl FnMut(&str),
    ) {
        let mut buffers = Buffers::default();
        if self.version == TokenizerVersion::V1 {
            for segment in text.unicode_words() {
                self.emit(segment.trim_start(), &mut buffers, &mut word);
            }
            return;
        }
        let mut segments: Vec<(usize, &str)> = text.unicode_word_indices().collect();
        for (at, segment) in &mut segments {
            // A mark after a blank belongs to it, and some marks count as letters.
            let word = segment.trim_start();
            *at += segment.len() - word.len();
            *segment = word;
        }
        let mut first = 0;
        while first < segments.len() {
            let chain = chain(text, &segments[first..]);
            let start = segments[first].0;
            let longest = (1..=chain).rev().find_map(|n| {
                let (at, last) = segments[first + n - 1];
                let end = at + last.len();
                let full_stop = last.contains('.') && text[end..].starts_with('.');
                let with_stop = full_stop.then_some(end + 1);
                // One segment is a word anyhow, known or not.
                let ends = with_stop.into_iter().chain((n > 1).then_some(end));
                ends.map(|end| (n, &text[start..end])).find(|(_, form)| {
                    self.spell(form, &mut buffers.word);
                    is_known(&buffers.word)
                })
            });
            let (n, form) = longest.unwrap_or((1, segments[first].1));
            self.emit(form, &mut buffers, &mut word);
            first += n;
        }
    }

    /// A word as it is looked up.
    fn spell(&self, segment: &str, out: &mut String) {
        out.clear();
        match self.case {
            Case::Lower => lower_into(segment, out),
            Case::Keep => out.push_str(segment),
        }
        if out.is_ascii() {
            return;
        }
        for (typographic, plain) in [('’', "'"), ('\u{2010}', "-"), ('\u{2011}', "-")] {
            if out.contains(typographic) {
                *out = out.replace(typographic, plain);
            }
        }
    }

    /// Hands a word over, unless it is a stop word.
    fn emit(&self, segment: &str, buffers: &mut Buffers, word: &mut impl FnMut(&str)) {
        let Buffers {
            word: buffer,
            lowered,
        } = buffers;
        self.spell(segment, buffer);
        if self.is_stop_word(buffer, lowered) {
            return;
        }
        let stem = buffer
            .strip_suffix("'s")
            .or_else(|| buffer.strip_suffix("'S"));
        match stem {
            Some(stem) if !self.is_stop_word(stem, lowered) => word(stem),
            Some(_) => {}
            None => word(buffer),
        }
    }

    fn is_stop_word(&self, word: &str, lowered: &mut String) -> bool {
        match self.case {
            Case::Lower => self.stop_words.contains(word),
            Case::Keep => {
                lowered.clear();
                lower_into(word, lowered);
                self.stop_words.contains(word) || self.stop_words.contains(lowered)
            }
        }
    }
}

/// Memory for one word after the other.
#[derive(Default)]
struct Buffers {
    word: String,
    lowered: String,
}

/// Longest form with hyphens that is looked up, in segments.
const LONGEST_CHAIN: usize = 5;

/// How many segments, from the first on, are joined by single hyphens.
fn chain(text: &str, segments: &[(usize, &str)]) -> usize {
    let joined = segments
        .windows(2)
        .take(LONGEST_CHAIN - 1)
        .take_while(|pair| {
            let end = pair[0].0 + pair[0].1.len();
            matches!(&text[end..pair[1].0], "-" | "\u{2010}" | "\u{2011}")
        });
    1 + joined.count()
}

/// Lower-cases without allocating for ASCII, which most words are.
fn lower_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
    } else {
        out.push_str(&word.to_lowercase());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        let known = ["covid-19", "state-of-the-art", "u.s.", "e.g.", "e-mail"];
        let is_known = |word: &str| known.contains(&word);
        tokenizer.for_each(text, is_known, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn hyphenated_forms_and_abbreviations_that_are_known_are_one_word() {
        let mut all = Tokenizer {
            stop_words: StopWords::None,
            ..Tokenizer::default()
        };
        let text = "COVID-19 in the U.S. and the U.S., e.g. State\u{2010}of-the-art e-mail-s #tag @me 1,999";
        assert_eq!(
            words(&all, text),
            [
                "covid-19",
                "in",
                "the",
                "u.s.",
                "and",
                "the",
                "u.s.",
                "e.g.",
                "state-of-the-art",
                "e-mail",
                "s",
                "tag",
                "me",
                "1,999"
            ]
        );
        // Models of earlier versions cut as they did.
        all.version = TokenizerVersion::V1;
        assert_eq!(
            words(&all, "COVID-19 in the U.S. e-mail"),
            ["covid", "19", "in", "the", "u.s", "e", "mail"]
        );
        let json = r#"{"case":"lower","stop_words":"none"}"#;
        let read: Tokenizer = serde_json::from_str(json).unwrap();
        assert_eq!(read.version, TokenizerVersion::V1);
    }

    #[test]
    fn punctuation_and_blanks_are_not_words() {
        let all = Tokenizer {
            stop_words: StopWords::None,
            ..Tokenizer::default()
        };
        assert_eq!(words(&all, " ... — !? \t\n"), Vec::<String>::new());
        assert_eq!(
            words(&all, "re-read: 3.5 (GB) état"),
            ["re", "read", "3.5", "gb", "état"]
        );
    }

    #[test]
    fn a_blank_before_a_mark_is_not_part_of_the_word() {
        let words = words(&Tokenizer::default(), "a_b \u{119df} band");
        assert_eq!(words, ["a_b", "\u{119df}", "band"]);
    }

    #[test]
    fn possessives_lose_their_s_and_contractions_are_stop_words() {
        let smart = Tokenizer::default();
        assert_eq!(
            words(&smart, "Obama's dog doesn’t know IT'S Bo’s"),
            ["obama", "dog", "bo"]
        );
    }

    #[test]
    fn kept_case_still_knows_stop_words() {
        let cased = Tokenizer {
            case: Case::Keep,
            ..Tokenizer::default()
        };
        assert_eq!(
            words(&cased, "The President of Illinois"),
            ["President", "Illinois"]
        );
    }

    #[test]
    fn custom_stop_words_are_one_a_line() {
        let custom = Tokenizer {
            stop_words: StopWords::from_lines("dog\n\n cat \n"),
            ..Tokenizer::default()
        };
        assert_eq!(
            words(&custom, "the dog and the Cat ran"),
            ["the", "and", "the", "ran"]
        );
    }

    #[test]
    fn the_smart_list_is_complete() {
        // Of the list's 571 entries one, "would", stands there twice.
        assert_eq!(StopWords::Smart.len(), 570);
        assert!(StopWords::Smart.contains("can't") && !StopWords::Smart.contains("media"));
    }
}
