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

/// Cuts texts into words.
///
/// ```
/// use wordmover::text::{Case, StopWords, Tokenizer};
///
/// let tokenizer = Tokenizer { case: Case::Lower, stop_words: StopWords::Smart };
/// let mut words = Vec::new();
/// tokenizer.for_each("The President’s press-conference isn't in Chicago!", |word| {
///     words.push(word.to_owned());
/// });
/// assert_eq!(words, ["president", "press", "conference", "chicago"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokenizer {
    /// Lower-case words or leave them.
    pub case: Case,
    /// Words to drop.
    pub stop_words: StopWords,
}

impl Tokenizer {
    /// Hands every word of `text` that is not a stop word to `word`, in order.
    ///
    /// Words are the segments between Unicode word boundaries (UAX 29) that hold a
    /// letter or digit. A typographic apostrophe becomes a plain one, and a
    /// possessive `'s` is dropped, after the word as a whole was not a stop word.
    pub fn for_each(&self, text: &str, mut word: impl FnMut(&str)) {
        let mut buffer = String::new();
        let mut lowered = String::new();
        for segment in text.unicode_words() {
            buffer.clear();
            match self.case {
                Case::Lower => lower_into(segment, &mut buffer),
                Case::Keep => buffer.push_str(segment),
            }
            if buffer.contains('’') {
                buffer = buffer.replace('’', "'");
            }
            if self.is_stop_word(&buffer, &mut lowered) {
                continue;
            }
            let stem = buffer
                .strip_suffix("'s")
                .or_else(|| buffer.strip_suffix("'S"));
            match stem {
                Some(stem) if !self.is_stop_word(stem, &mut lowered) => word(stem),
                Some(_) => {}
                None => word(&buffer),
            }
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
        tokenizer.for_each(text, |word| words.push(word.to_owned()));
        words
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
