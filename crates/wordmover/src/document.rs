//! Tokens to weighted bags of words.
//!
//! [`WordCounts`] is what a text says: its words and how often each occurs, in
//! order of first occurrence. A [`Document`] is what the transport needs:
//! distinct words with positive weights that sum to one. Between the
//! two stand the corpus, whose [`CorpusCounts`] decide which words are frequent
//! enough and how much each is worth, and the [`Weighting`].

use std::cmp::Reverse;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::Tokenizer;
use crate::vectors::WordVectors;

pub use crate::corpus::{CorpusCounts, SIF_A, WordFactors, WordFrequency};
pub use crate::weighting::Weighting;
pub use crate::word_probabilities::WordProbabilities;

/// A word of a document. Words of the table come first, in its order; then the others, in
/// the order of their letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word<'w> {
    /// A word of the table, by its id.
    Known(u32),
    /// A word that the table lacks. It has a vector nevertheless, made of its letters: see
    /// [`UnknownWords`](crate::space::UnknownWords).
    Unknown(&'w str),
}

impl<'w> Word<'w> {
    /// The word itself.
    ///
    /// # Panics
    ///
    /// If the table has no such word.
    #[must_use]
    pub fn text(self, vectors: &'w WordVectors) -> &'w str {
        match self {
            Word::Known(id) => vectors.word(id),
            Word::Unknown(word) => word,
        }
    }
}

/// The words of one text with their counts, in order of first occurrence: those of the table,
/// and those it lacks. What becomes of the latter is decided by the
/// [`DocumentModel`](crate::DocumentModel) that weighs them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordCounts {
    /// Ids of words of the table, and counts.
    pub words: Vec<(u32, u32)>,
    /// Words that the table lacks, and counts.
    pub unknown: Vec<(Box<str>, u32)>,
    /// Tokens the table knows.
    pub n_known: u64,
    /// Tokens it does not know.
    pub n_unknown: u64,
}

impl WordCounts {
    /// Counts the words of a text.
    #[must_use]
    pub fn from_text(text: &str, tokenizer: &Tokenizer, vectors: &WordVectors) -> Self {
        let mut counter = Counter::new(vectors, text.len() / LETTERS_PER_WORD);
        let is_known = |word: &str| vectors.id(word).is_some();
        tokenizer.for_each(text, is_known, |word| counter.add(word));
        counter.counts
    }

    /// Counts words that were tokenised elsewhere; nothing is lower-cased or dropped.
    #[must_use]
    pub fn from_tokens<'t>(
        tokens: impl IntoIterator<Item = &'t str>,
        vectors: &WordVectors,
    ) -> Self {
        let mut counter = Counter::new(vectors, 0);
        for token in tokens {
            counter.add(token);
        }
        counter.counts
    }

    /// All words and their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Word<'_>, u32)> {
        let known = self.words.iter().map(|&(id, n)| (Word::Known(id), n));
        let unknown = self.unknown.iter();
        known.chain(unknown.map(|(word, n)| (Word::Unknown(word), *n)))
    }
}

/// A text of so many letters has a distinct word that counts, more or less.
const LETTERS_PER_WORD: usize = 16;

/// Counts words while keeping their order.
struct Counter<'v> {
    vectors: &'v WordVectors,
    counts: WordCounts,
    position: HashMap<u32, u32>,
    unknown_position: HashMap<Box<str>, u32>,
}

impl<'v> Counter<'v> {
    /// For about so many distinct words.
    fn new(vectors: &'v WordVectors, n_words: usize) -> Self {
        Counter {
            vectors,
            counts: WordCounts::default(),
            position: HashMap::with_capacity(n_words),
            unknown_position: HashMap::new(),
        }
    }

    fn add(&mut self, word: &str) {
        let counts = &mut self.counts;
        if let Some(id) = self.vectors.id(word) {
            counts.n_known += 1;
            let next = counts.words.len() as u32;
            let position = *self.position.entry(id).or_insert(next);
            if position == next {
                counts.words.push((id, 0));
            }
            let count = &mut counts.words[position as usize].1;
            *count = count.saturating_add(1);
        } else {
            counts.n_unknown += 1;
            let next = counts.unknown.len() as u32;
            let position = self.unknown_position.get(word).copied();
            let position = position.unwrap_or_else(|| {
                self.unknown_position.insert(word.into(), next);
                counts.unknown.push((word.into(), 0));
                next
            });
            let count = &mut counts.unknown[position as usize].1;
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
/// [Words](Word) ascend and are distinct; weights are positive and sum to one. The
/// bag of a text without a word that has a vector is empty: it has no Word Mover's Distance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    known: Vec<u32>,
    unknown: Vec<Box<str>>,
    /// Those of the known words, then those of the others.
    weights: Vec<f64>,
    n_cut: usize,
}

impl Document {
    /// Applies the rules to those of one text's words that have a vector.
    pub(crate) fn from_counts(
        counts: &WordCounts,
        corpus: &CorpusCounts,
        rules: &BagRules,
        has_vector: impl Fn(Word) -> bool,
    ) -> Self {
        let frequent = |word: Word| {
            rules.min_count <= 1 || corpus.frequency(word).occurrences >= rules.min_count
        };
        let counted = counts.iter();
        let kept = counted.filter(|&(word, _)| has_vector(word) && frequent(word));
        let mut kept: Vec<(Word, u32)> = kept.collect();
        let n_cut = kept.len().saturating_sub(rules.max_words);
        if n_cut > 0 {
            // Stable: equal counts stay in order of occurrence.
            kept.sort_by_key(|&(_, count)| Reverse(count));
            kept.truncate(rules.max_words);
        }
        kept.sort_unstable();
        let weight = |&(word, count): &(Word, u32)| {
            f64::from(count) * rules.weighting.of_word(word, corpus) * corpus.factor(word)
        };
        let raw: Vec<f64> = kept.iter().map(weight).collect();
        let total: f64 = raw.iter().sum();
        let mut document = Document {
            weights: raw.iter().map(|weight| weight / total).collect(),
            n_cut,
            ..Document::default()
        };
        for (word, _) in kept {
            match word {
                Word::Known(id) => document.known.push(id),
                Word::Unknown(word) => document.unknown.push(word.into()),
            }
        }
        document
    }

    /// A bag that was kept.
    pub(crate) fn from_parts(known: Vec<u32>, unknown: Vec<Box<str>>, weights: Vec<f64>) -> Self {
        Document {
            known,
            unknown,
            weights,
            n_cut: 0,
        }
    }

    /// A bag on its own, without a corpus: NBOW weights of all words that the table knows.
    #[must_use]
    pub fn nbow(counts: &WordCounts) -> Self {
        let rules = BagRules {
            max_words: usize::MAX,
            ..BagRules::default()
        };
        let is_known = |word: Word| matches!(word, Word::Known(_));
        Self::from_counts(counts, &CorpusCounts::default(), &rules, is_known)
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
        let (known, weights) = pairs.into_iter().unzip();
        Ok(Document {
            known,
            weights,
            ..Document::default()
        })
    }

    /// The same words, each weight multiplied by a factor of the word, and all divided by their
    /// sum again. Words that weigh nothing then are dropped.
    pub(crate) fn reweighted(&self, mut factor: impl FnMut(Word) -> Result<f64>) -> Result<Self> {
        let mut document = Document::default();
        for (word, weight) in self.words().zip(&self.weights) {
            let weight = weight * factor(word)?;
            if weight > 0.0 {
                document.weights.push(weight);
                match word {
                    Word::Known(id) => document.known.push(id),
                    Word::Unknown(word) => document.unknown.push(word.into()),
                }
            }
        }
        let total: f64 = document.weights.iter().sum();
        document
            .weights
            .iter_mut()
            .for_each(|weight| *weight /= total);
        Ok(document)
    }

    /// Distinct words, ascending.
    pub fn words(&self) -> impl ExactSizeIterator<Item = Word<'_>> + Clone {
        (0..self.len()).map(|position| self.word(position))
    }

    /// The word at a position.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[must_use]
    pub fn word(&self, position: usize) -> Word<'_> {
        match self.known.get(position) {
            Some(&id) => Word::Known(id),
            None => Word::Unknown(&self.unknown[position - self.known.len()]),
        }
    }

    /// Ids of the words of the table, ascending.
    #[must_use]
    pub fn known(&self) -> &[u32] {
        &self.known
    }

    /// Words that the table lacks, ascending.
    #[must_use]
    pub fn unknown(&self) -> &[Box<str>] {
        &self.unknown
    }

    /// Their weights, which sum to one.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of distinct words (`L` in the paper).
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no word in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
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

    fn document(counts: &WordCounts, corpus: &CorpusCounts, rules: &BagRules) -> Document {
        Document::from_counts(counts, corpus, rules, |word| matches!(word, Word::Known(_)))
    }

    fn observe(corpus: &mut CorpusCounts, counts: &WordCounts) {
        corpus.observe(counts, |word| matches!(word, Word::Known(_)));
    }

    fn counts(words: &[(u32, u32)]) -> WordCounts {
        WordCounts {
            words: words.to_vec(),
            ..WordCounts::default()
        }
    }

    #[test]
    fn nbow_weights_are_shares_of_the_count() {
        let document = document(
            &counts(&[(7, 3), (2, 1)]),
            &CorpusCounts::default(),
            &BagRules::default(),
        );
        assert_eq!(document.known(), [2, 7]);
        assert_eq!(document.weights(), [0.25, 0.75]);
    }

    #[test]
    fn tfidf_weights_use_the_logarithm_of_one_plus_n_over_df() {
        let mut corpus = CorpusCounts::default();
        observe(&mut corpus, &counts(&[(1, 5), (2, 1)]));
        observe(&mut corpus, &counts(&[(1, 1)]));
        observe(&mut corpus, &counts(&[(1, 1)]));
        let rules = BagRules {
            weighting: Weighting::Tfidf,
            ..BagRules::default()
        };
        let document = document(&counts(&[(1, 2), (2, 1), (9, 1)]), &corpus, &rules);
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
        let document = document(&long, &CorpusCounts::default(), &rules);
        assert_eq!(document.known(), [5, 9]);
        assert_eq!(document.n_cut(), 1);
    }

    #[test]
    fn rare_words_are_dropped_only_when_asked() {
        let mut corpus = CorpusCounts::default();
        observe(&mut corpus, &counts(&[(1, 4), (2, 5)]));
        let text = counts(&[(1, 1), (2, 1), (3, 1)]);
        let with = |min_count| {
            let rules = BagRules {
                min_count,
                ..BagRules::default()
            };
            document(&text, &corpus, &rules).known().to_vec()
        };
        assert_eq!(with(1), [1, 2, 3]);
        assert_eq!(with(5), [2]);
        assert_eq!(with(6), Vec::<u32>::new());
    }

    #[test]
    fn words_that_the_table_lacks_come_last_in_the_order_of_their_letters() {
        let text = WordCounts {
            words: vec![(9, 1), (2, 1)],
            unknown: vec![("zz".into(), 1), ("ab".into(), 1)],
            ..WordCounts::default()
        };
        let (corpus, rules) = (CorpusCounts::default(), BagRules::default());
        let all = Document::from_counts(&text, &corpus, &rules, |_| true);
        let words = [
            Word::Known(2),
            Word::Known(9),
            Word::Unknown("ab"),
            Word::Unknown("zz"),
        ];
        assert_eq!(all.words().collect::<Vec<_>>(), words);
        assert_eq!(all.weights(), [0.25; 4]);
        assert_eq!(document(&text, &corpus, &rules).known(), [2, 9]);
    }

    #[test]
    fn given_weights_are_checked_not_rescaled() {
        let bag = Document::from_weights([(4, 0.5), (1, 0.25), (4, 0.25), (6, 0.0)]).unwrap();
        assert_eq!(
            (bag.known(), bag.weights()),
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
