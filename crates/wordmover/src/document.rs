//! Tokens to weighted bags of words.
//!
//! [`WordCounts`] is what a text says: its known words and how often each
//! occurs, in order of first occurrence. A [`Document`] is what the transport
//! needs: distinct word ids with positive weights that sum to one. Between the
//! two stand the corpus, whose [`CorpusCounts`] decide which words are frequent
//! enough and how much each is worth, and the [`Weighting`].

use std::cmp::Reverse;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::Tokenizer;
use crate::vectors::WordVectors;

pub use crate::corpus::{CorpusCounts, SIF_A, WordFrequency};
pub use crate::weighting::Weighting;
pub use crate::word_probabilities::WordProbabilities;

/// The known words of one text with their counts, in order of first occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordCounts {
    /// Word ids and counts.
    pub words: Vec<(u32, u32)>,
    /// Tokens the vectors know.
    pub n_known: u64,
    /// Tokens the vectors do not know; they have no place in a bag.
    pub n_unknown: u64,
}

impl WordCounts {
    /// Counts the words of a text.
    #[must_use]
    pub fn from_text(text: &str, tokenizer: &Tokenizer, vectors: &WordVectors) -> Self {
        let mut counter = Counter::default();
        tokenizer.for_each(text, |word| counter.add(vectors.id(word)));
        counter.counts
    }

    /// Counts words that were tokenised elsewhere; nothing is lower-cased or dropped.
    #[must_use]
    pub fn from_tokens<'t>(
        tokens: impl IntoIterator<Item = &'t str>,
        vectors: &WordVectors,
    ) -> Self {
        let mut counter = Counter::default();
        for token in tokens {
            counter.add(vectors.id(token));
        }
        counter.counts
    }
}

/// Counts ids while keeping their order.
#[derive(Default)]
struct Counter {
    counts: WordCounts,
    position: HashMap<u32, u32>,
}

impl Counter {
    fn add(&mut self, id: Option<u32>) {
        let Some(id) = id else {
            self.counts.n_unknown += 1;
            return;
        };
        self.counts.n_known += 1;
        let next = self.counts.words.len() as u32;
        let position = *self.position.entry(id).or_insert(next);
        if position == next {
            self.counts.words.push((id, 1));
        } else {
            let count = &mut self.counts.words[position as usize].1;
            *count = count.saturating_add(1);
        }
    }
}

/// The rules that turn counts into a weighted bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BagRules {
    /// How a count becomes a weight.
    pub weighting: Weighting,
    /// Words the corpus holds less often than this are dropped. At 1, the default,
    /// nothing is: not even words the corpus lacks.
    pub min_count: u64,
    /// At most this many distinct words; the most frequent of the document stay,
    /// and among equally frequent ones the first.
    pub max_words: usize,
}

impl Default for BagRules {
    fn default() -> Self {
        BagRules {
            weighting: Weighting::Nbow,
            min_count: 1,
            max_words: 500,
        }
    }
}

/// A weighted bag of words: the paper's document `x` with its weights `f_x`.
///
/// Word ids ascend and are distinct; weights are positive and sum to one. The
/// bag of a text without a known word is empty: it has no Word Mover's Distance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    words: Vec<u32>,
    weights: Vec<f64>,
    n_cut: usize,
}

impl Document {
    /// Applies the rules to one text's counts.
    #[must_use]
    pub fn from_counts(counts: &WordCounts, corpus: &CorpusCounts, rules: &BagRules) -> Self {
        let frequent = |word: u32| {
            rules.min_count <= 1 || corpus.frequency(word).occurrences >= rules.min_count
        };
        let mut kept: Vec<(u32, u32)> = counts
            .words
            .iter()
            .copied()
            .filter(|&(word, _)| frequent(word))
            .collect();
        let n_cut = kept.len().saturating_sub(rules.max_words);
        if n_cut > 0 {
            // Stable: equal counts stay in order of occurrence.
            kept.sort_by_key(|&(_, count)| Reverse(count));
            kept.truncate(rules.max_words);
        }
        kept.sort_unstable();
        let raw = kept.iter().map(|&(word, count)| {
            let weight = f64::from(count) * rules.weighting.of_word(word, corpus);
            (word, weight)
        });
        let (words, raw): (Vec<u32>, Vec<f64>) = raw.unzip();
        let total: f64 = raw.iter().sum();
        let weights = raw.iter().map(|weight| weight / total).collect();
        Document {
            words,
            weights,
            n_cut,
        }
    }

    /// A bag on its own, without a corpus: NBOW weights of all its words.
    #[must_use]
    pub fn nbow(counts: &WordCounts) -> Self {
        let rules = BagRules {
            max_words: usize::MAX,
            ..BagRules::default()
        };
        Self::from_counts(counts, &CorpusCounts::default(), &rules)
    }

    /// A bag of word ids with weights of one's own.
    ///
    /// Words may come in any order and repeat (their weights add up); zero weights
    /// are dropped. Weights must sum to one within 1e-9: nothing is rescaled.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidDocument`] if a weight is negative or not finite, or the sum
    /// is not one.
    pub fn from_weights(words: impl IntoIterator<Item = (u32, f64)>) -> Result<Self> {
        let mut pairs: Vec<(u32, f64)> = words.into_iter().collect();
        if let Some(&(word, weight)) = pairs.iter().find(|(_, w)| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::InvalidDocument(DocumentError::BadWeight {
                word,
                weight,
            }));
        }
        pairs.retain(|&(_, weight)| weight > 0.0);
        pairs.sort_by_key(|&(word, _)| word);
        pairs.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
        let total: f64 = pairs.iter().map(|&(_, weight)| weight).sum();
        if !pairs.is_empty() && (total - 1.0).abs() > 1e-9 {
            return Err(Error::InvalidDocument(DocumentError::WrongSum { total }));
        }
        let (words, weights) = pairs.into_iter().unzip();
        Ok(Document {
            words,
            weights,
            n_cut: 0,
        })
    }

    /// Distinct word ids, ascending.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Their weights, which sum to one.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of distinct words (`L` in the paper).
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Distinct words that [`BagRules::max_words`] cut off.
    #[must_use]
    pub fn n_cut(&self) -> usize {
        self.n_cut
    }
}

/// What is wrong with a bag given by the caller.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// A weight is negative, NaN or infinite.
    #[error("the weight of word {word} is {weight}, not a finite number of at least zero")]
    BadWeight {
        /// The word's id.
        word: u32,
        /// Its weight.
        weight: f64,
    },
    /// The weights do not sum to one.
    #[error("the weights of a document sum to {total}, not to 1")]
    WrongSum {
        /// Their sum.
        total: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(words: &[(u32, u32)]) -> WordCounts {
        WordCounts {
            words: words.to_vec(),
            n_known: 0,
            n_unknown: 0,
        }
    }

    #[test]
    fn nbow_weights_are_shares_of_the_count() {
        let document = Document::from_counts(
            &counts(&[(7, 3), (2, 1)]),
            &CorpusCounts::default(),
            &BagRules::default(),
        );
        assert_eq!(document.words(), [2, 7]);
        assert_eq!(document.weights(), [0.25, 0.75]);
    }

    #[test]
    fn tfidf_weights_use_the_logarithm_of_one_plus_n_over_df() {
        let mut corpus = CorpusCounts::default();
        corpus.observe(&counts(&[(1, 5), (2, 1)]));
        corpus.observe(&counts(&[(1, 1)]));
        corpus.observe(&counts(&[(1, 1)]));
        let rules = BagRules {
            weighting: Weighting::Tfidf,
            ..BagRules::default()
        };
        let document = Document::from_counts(&counts(&[(1, 2), (2, 1), (9, 1)]), &corpus, &rules);
        // df: 3 of 3, 1 of 3, and a word never seen, which counts as 1 of 3.
        let raw = [2.0 * 2f64.ln(), 4f64.ln(), 4f64.ln()];
        let total: f64 = raw.iter().sum();
        for (weight, raw) in document.weights().iter().zip(raw) {
            assert!((weight - raw / total).abs() < 1e-15);
        }
    }

    #[test]
    fn the_most_frequent_words_stay_and_ties_go_to_the_first() {
        let rules = BagRules {
            max_words: 2,
            ..BagRules::default()
        };
        let long = counts(&[(9, 1), (5, 2), (1, 1)]);
        let document = Document::from_counts(&long, &CorpusCounts::default(), &rules);
        assert_eq!(document.words(), [5, 9]);
        assert_eq!(document.n_cut(), 1);
    }

    #[test]
    fn rare_words_are_dropped_only_when_asked() {
        let mut corpus = CorpusCounts::default();
        corpus.observe(&counts(&[(1, 4), (2, 5)]));
        let text = counts(&[(1, 1), (2, 1), (3, 1)]);
        let with = |min_count| {
            let rules = BagRules {
                min_count,
                ..BagRules::default()
            };
            Document::from_counts(&text, &corpus, &rules)
                .words()
                .to_vec()
        };
        assert_eq!(with(1), [1, 2, 3]);
        assert_eq!(with(5), [2]);
        assert_eq!(with(6), Vec::<u32>::new());
    }

    #[test]
    fn given_weights_are_checked_not_rescaled() {
        let bag = Document::from_weights([(4, 0.5), (1, 0.25), (4, 0.25), (6, 0.0)]).unwrap();
        assert_eq!(
            (bag.words(), bag.weights()),
            (&[1, 4][..], &[0.25, 0.75][..])
        );
        let say = |pairs: &[(u32, f64)]| {
            Document::from_weights(pairs.iter().copied())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            say(&[(1, 0.5)]),
            "the weights of a document sum to 0.5, not to 1"
        );
        assert_eq!(
            say(&[(1, f64::NAN)]),
            "the weight of word 1 is NaN, not a finite number of at least zero"
        );
    }
}
