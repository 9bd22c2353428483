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
    /// All words in lower case, stop words among them, with a space between two.
    pub words: Box<str>,
}

impl CountedText {
    /// Counts the words of a text.
    #[must_use]
    pub fn from_text(text: &str, tokenizer: &Tokenizer, vectors: &WordVectors) -> Self {
        let all = Tokenizer {
            case: Case::Lower,
            stop_words: StopWords::None,
            ..tokenizer.clone()
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
        CountedText {
            counts: WordCounts::from_text(text, tokenizer, vectors),
            words: words.into(),
        }
    }
}

impl Borrow<WordCounts> for CountedText {
    fn borrow(&self) -> &WordCounts {
        &self.counts
    }
}
