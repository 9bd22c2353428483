//! How much a word of a document weighs.

use serde::{Deserialize, Serialize};

use crate::corpus::CorpusCounts;
use crate::names::names;

/// How a word's count becomes its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Weighting {
    /// Normalised bag of words: count over total.
    #[default]
    Nbow,
    /// Count times `ln(1 + N / df)`, normalised; `N` documents, `df` of them with the word.
    Tfidf,
    /// Count times `a / (a + p)`, normalised; `p` the word's probability in running
    /// text, `a` = [`SIF_A`](crate::document::SIF_A): the weights of SIF (Arora et al., 2017).
    Sif,
}

names!(Weighting, "weighting":
    Nbow "nbow" "share of the count",
    Tfidf "tfidf" "share of count times ln(1 + N / df)",
    Sif "sif" "share of count times a / (a + p), p the word's probability in running text",
);

impl Weighting {
    /// What one occurrence of a word is worth in a corpus, before weights are normalised.
    #[must_use]
    pub fn of_word(self, word: u32, corpus: &CorpusCounts) -> f64 {
        match self {
            Weighting::Nbow => 1.0,
            Weighting::Tfidf => corpus.inverse_document_frequency(word),
            Weighting::Sif => corpus.smooth_inverse_frequency(word),
        }
    }
}
