//! A corpus as a search sees it, wherever it is kept.

use std::borrow::Cow;

use super::TypicalWords;
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

    /// The vectors of all words that have one.
    fn word_blocks(&self) -> impl Iterator<Item = WordBlock<'_>>;

    /// Appends the vector of a word of a document.
    fn append_vector(&self, number: u32, out: &mut Vec<f32>);

    /// The number of a word, if a document has it.
    fn number(&self, word: Word) -> Option<u32>;

    /// Documents are numbered below this.
    fn n_documents(&self) -> usize;

    /// What its documents are made of.
    fn typical_words(&self) -> &TypicalWords;

    /// The first bound of a document, `None` if it has no words or is not there any more.
    fn first_bound(&self, document: usize, terms: BoundTerms) -> Result<Option<f64>>;

    /// A document and the numbers of its words; without words if it is not there any more.
    fn document<'s>(
        &'s self,
        document: usize,
        loaded: &'s mut Loaded,
    ) -> Result<(&'s Document, &'s [u32])>;
}

/// Vectors of words whose numbers follow each other.
pub(crate) struct WordBlock<'v> {
    /// Number of the first.
    pub first: usize,
    pub vectors: Cow<'v, [f32]>,
    pub squared_lengths: Cow<'v, [f32]>,
}

/// Memory for a document that is not kept as such.
#[derive(Default)]
pub(crate) struct Loaded {
    pub document: Document,
    pub numbers: Vec<u32>,
}

/// What the first bounds of documents are made of; lists are by number of a word.
#[derive(Clone, Copy)]
pub(crate) struct BoundTerms<'t> {
    /// The value of the query if a document shares no word with it: its weights by its duals.
    pub query: f64,
    /// The dual of the word as a source: what a unit of its mass costs beyond the duals of
    /// the query, wherever it goes.
    pub duals: &'t [f32],
    /// The weight it has in the query.
    pub kept: &'t [f64],
    /// The dual it has in the query.
    pub kept_duals: &'t [f64],
}

impl BoundTerms<'_> {
    /// The bound of a document's words and weights; NaN if one of them has a number that no
    /// word has.
    ///
    /// A word of both documents keeps the mass that both have there: only the excess is a
    /// source, and what is kept demands nothing.
    #[inline]
    pub fn bound(self, words: impl Iterator<Item = (u32, f64)>) -> f64 {
        let terms = words.map(|(number, weight)| {
            let number = number as usize;
            match (self.duals.get(number), self.kept.get(number)) {
                (Some(&dual), Some(&0.0)) => weight * f64::from(dual),
                (Some(&dual), Some(&kept)) => {
                    let excess = (weight - kept).max(0.0) * f64::from(dual);
                    excess - weight.min(kept) * self.kept_duals[number]
                }
                _ => f64::NAN,
            }
        });
        terms.sum::<f64>() + self.query
    }
}
