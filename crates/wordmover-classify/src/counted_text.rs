//! From a text to what classifiers take of it.

use std::borrow::Borrow;

use wordmover::text::{Case, StopWords, Tokenizer};
use wordmover::{WordVectors, document::WordCounts};

/// The words of a text, counted for the Word Mover's Embedding and in their order for the
/// view of words.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct CountedText {
    /// Without stop words, as the tokenizer says.
    pub counts: WordCounts,
    /// With stop words, where the tokenizer drops them.
    pub with_stop_words: Option<WordCounts>,
    /// All words in lower case, stop words among them, with a space between two.
    pub words: Box<str>,
}

impl CountedText {
    /// Counts the words of a text.
    #[must_use]
    pub fn from_text(text: &str, tokenizer: &Tokenizer, vectors: &WordVectors) -> Self {
        let all = Tokenizer {
            case: Case::Lower,
            ..keeping_stop_words(tokenizer)
        };
        let mut words = String::with_capacity(text.len());
        // What vectors know is no matter here: the same features with any vectors.
        all.for_each(
            text,
            |_| false,
            |word| {
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(word);
            },
        );
        let drops = !tokenizer.stop_words.is_empty();
        CountedText {
            counts: WordCounts::from_text(text, tokenizer, vectors),
            with_stop_words: drops
                .then(|| WordCounts::from_text(text, &keeping_stop_words(tokenizer), vectors)),
            words: words.into(),
        }
    }

    /// The counts that a tokenizer gives which keeps stop words, or drops those that the
    /// text was counted without.
    pub(crate) fn counts_with(&self, keeps_stop_words: bool) -> &WordCounts {
        match &self.with_stop_words {
            Some(all) if keeps_stop_words => all,
            _ => &self.counts,
        }
    }
}

/// The same tokenizer, which drops nothing.
pub(crate) fn keeping_stop_words(tokenizer: &Tokenizer) -> Tokenizer {
    Tokenizer {
        stop_words: StopWords::None,
        ..tokenizer.clone()
    }
}

impl Borrow<WordCounts> for CountedText {
    fn borrow(&self) -> &WordCounts {
        &self.counts
    }
}
