//! A corpus as a search sees it, wherever it is kept.

use super::{TypicalWords, WordDuals};
use crate::document::{Document, Word};
use crate::error::Result;
use crate::space::WordSpace;

/// What a search asks of a corpus: in memory, or in the files of an index.
pub(crate) trait SearchedCorpus {
    /// The space of the words.
    fn space(&self) -> &WordSpace;

    /// Greatest length of a word's vector.
    fn radius(&self) -> f64;

    /// Numbers of words are below this. Not every number needs a vector.
    fn n_words(&self) -> usize;

    /// Appends the vector of a word of a document.
    fn append_vector(&self, number: u32, out: &mut Vec<f32>);

    /// The squared length of that vector.
    fn squared_length(&self, number: u32) -> f32;

    /// The number of a word, if a document has it.
    fn number(&self, word: Word) -> Option<u32>;

    /// Documents are numbered below this.
    fn n_documents(&self) -> usize;

    /// What its documents are made of.
    fn typical_words(&self) -> &TypicalWords;

    /// The words that nearly all of it consists of, ascending.
    fn frequent_words(&self) -> &[u32];

    /// The cheapest bound of a document, `None` if it has no words or is not there any more.
    fn loose_bound(&self, document: usize, duals: &WordDuals) -> Result<Option<f64>>;

    /// A better one of a document with words, and those of its words whose duals are missing.
    fn tight_bound(
        &self,
        document: usize,
        duals: &WordDuals,
        missing: &mut Vec<(u32, f64)>,
    ) -> Result<f64>;

    /// A document and the numbers of its words; without words if it is not there any more.
    fn document<'s>(
        &'s self,
        document: usize,
        loaded: &'s mut Loaded,
    ) -> Result<(&'s Document, &'s [u32])>;
}

/// Memory for a document that is not kept as such.
#[derive(Default)]
pub(crate) struct Loaded {
    pub document: Document,
    pub numbers: Vec<u32>,
}
