//! What a corpus says about its words: how frequent each is, and so how much it is worth.

use hashbrown::HashMap;

use crate::document::{Word, WordCounts};
use crate::word_probabilities::WordProbabilities;

/// `a` of the SIF weights `a / (a + p(w))`: the value of Arora et al. (2017).
pub const SIF_A: f64 = 1e-3;

/// How often each word occurs in a corpus, and in how many of its documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CorpusCounts {
    n_documents: u64,
    n_occurrences: u64,
    words: HashMap<u32, WordFrequency>,
    unknown: HashMap<Box<str>, WordFrequency>,
    probabilities: Option<WordProbabilities>,
    factors: Option<WordFactors>,
}

/// What the weights of words are multiplied by; words that are not named keep theirs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordFactors {
    known: HashMap<u32, f64>,
    unknown: HashMap<Box<str>, f64>,
}

impl WordFactors {
    /// Sets the factor of a word; it must be positive and finite, or it is 1.
    pub fn insert(&mut self, word: Word, factor: f64) {
        let factor = match factor.is_finite() && factor > 0.0 {
            true => factor,
            false => 1.0,
        };
        match word {
            Word::Known(id) => self.known.insert(id, factor),
            Word::Unknown(word) => self.unknown.insert(word.into(), factor),
        };
    }

    /// The factor of a word.
    #[must_use]
    pub fn of(&self, word: Word) -> f64 {
        let factor = match word {
            Word::Known(id) => self.known.get(&id),
            Word::Unknown(word) => self.unknown.get(word),
        };
        factor.copied().unwrap_or(1.0)
    }
}

/// One word's frequency in a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordFrequency {
    /// Documents that hold the word (`df`).
    pub documents: u64,
    /// Occurrences in all.
    pub occurrences: u64,
}

impl CorpusCounts {
    /// Takes note of those words of one more document that have a vector.
    pub(crate) fn observe(&mut self, counts: &WordCounts, has_vector: impl Fn(Word) -> bool) {
        self.n_documents += 1;
        for (word, count) in counts.iter() {
            let seen = match word {
                Word::Known(id) => self.words.get_mut(&id),
                Word::Unknown(word) => self.unknown.get_mut(word),
            };
            // What was seen before has a vector: to ask again would cut it into its parts again.
            let frequency = match (seen, word) {
                (Some(frequency), _) => frequency,
                (None, word) if !has_vector(word) => continue,
                (None, Word::Known(id)) => self.words.entry(id).or_default(),
                (None, Word::Unknown(word)) => self.unknown.entry(word.into()).or_default(),
            };
            frequency.documents += 1;
            frequency.occurrences += u64::from(count);
            self.n_occurrences += u64::from(count);
        }
    }

    /// Puts together what a model file kept.
    pub(crate) fn from_parts(
        n_documents: u64,
        words: HashMap<u32, WordFrequency>,
        unknown: HashMap<Box<str>, WordFrequency>,
    ) -> Self {
        let frequencies = words.values().chain(unknown.values());
        CorpusCounts {
            n_documents,
            n_occurrences: frequencies.fold(0, |sum, word| sum.saturating_add(word.occurrences)),
            words,
            unknown,
            probabilities: None,
            factors: None,
        }
    }

    /// The same number of documents, without what is known of each word.
    pub(crate) fn without_words(&self) -> Self {
        CorpusCounts {
            n_documents: self.n_documents,
            ..CorpusCounts::default()
        }
    }

    /// Documents seen.
    #[must_use]
    pub fn n_documents(&self) -> u64 {
        self.n_documents
    }

    /// A word's frequency; zeros if it was never seen.
    #[must_use]
    pub fn frequency(&self, word: Word) -> WordFrequency {
        let frequency = match word {
            Word::Known(id) => self.words.get(&id),
            Word::Unknown(word) => self.unknown.get(word),
        };
        frequency.copied().unwrap_or_default()
    }

    /// The distinct words seen that the table lacks, ascending.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.unknown.keys().map(|word| &**word).collect();
        words.sort_unstable();
        words
    }

    /// The distinct words of the table seen, ascending.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut words: Vec<u32> = self.words.keys().copied().collect();
        words.sort_unstable();
        words
    }

    /// `ln(1 + N / df)`. A word the corpus lacks counts as one that a single
    /// document holds: the rarest there can be, and finite.
    #[must_use]
    pub fn inverse_document_frequency(&self, word: Word) -> f64 {
        let df = self.frequency(word).documents.max(1) as f64;
        libm::log1p(self.n_documents as f64 / df)
    }

    /// Takes the probabilities of words from elsewhere than this corpus, or with `None`
    /// from this corpus again.
    pub fn set_probabilities(&mut self, probabilities: Option<WordProbabilities>) {
        self.probabilities = probabilities;
    }

    /// The probabilities that were set.
    #[must_use]
    pub fn probabilities(&self) -> Option<&WordProbabilities> {
        self.probabilities.as_ref()
    }

    /// Multiplies the weights of words by these factors, or with `None` by none.
    pub fn set_factors(&mut self, factors: Option<WordFactors>) {
        self.factors = factors;
    }

    /// The factors that were set.
    #[must_use]
    pub fn factors(&self) -> Option<&WordFactors> {
        self.factors.as_ref()
    }

    /// What the weight of a word is multiplied by.
    #[must_use]
    pub fn factor(&self, word: Word) -> f64 {
        self.factors
            .as_ref()
            .map_or(1.0, |factors| factors.of(word))
    }

    /// How likely a word is in running text, `p(w)`: as set, or else its share of the
    /// known words of this corpus.
    #[must_use]
    pub fn probability(&self, word: Word) -> f64 {
        match (&self.probabilities, word) {
            (Some(probabilities), Word::Known(id)) => probabilities.of(id),
            // Too rare to be in the table.
            (Some(_), Word::Unknown(_)) => 0.0,
            (None, word) => {
                self.frequency(word).occurrences as f64 / self.n_occurrences.max(1) as f64
            }
        }
    }

    /// The smooth inverse frequency `a / (a + p(w))` (SIF; Arora et al., 2017), with
    /// `a` = [`SIF_A`].
    #[must_use]
    pub fn smooth_inverse_frequency(&self, word: Word) -> f64 {
        SIF_A / (SIF_A + self.probability(word))
    }
}
