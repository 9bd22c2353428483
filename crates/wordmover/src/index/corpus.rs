//! The documents of an index, as a search sees them.

use std::borrow::Cow;
use std::ops::Range;

use super::open::SearchIndex;
use super::segment::Segment;
use crate::document::{Document, Word};
use crate::error::Result;
use crate::neighbors::{BoundTerms, Loaded, SearchedCorpus, TypicalWords, WordBlock};
use crate::space::WordSpace;

/// Word vectors decoded at once: they stay in the first cache.
const WORDS_A_BLOCK: usize = 48;

impl SearchIndex {
    /// The segment of a document, and its place there.
    pub(super) fn place(&self, document: usize) -> (&Segment, usize) {
        let after = self
            .segments
            .partition_point(|s| s.first_document <= document);
        let segment = &self.segments[after - 1];
        (segment, document - segment.first_document)
    }

    /// The segment in which a word is new, and its place there.
    fn place_of_word(&self, number: u32) -> (&Segment, usize) {
        let number = number as usize;
        let after = self.segments.partition_point(|s| s.first_word <= number);
        let segment = &self.segments[after - 1];
        (segment, number - segment.first_word)
    }

    pub(super) fn has_vector(&self, number: u32) -> bool {
        if number as usize >= self.n_words() {
            return false;
        }
        let (segment, i) = self.place_of_word(number);
        i < segment.n_vectors()
    }

    /// The number of a word, damage told.
    pub(super) fn find_number(&self, word: Word) -> Result<Option<u32>> {
        for segment in &self.segments {
            if let Some(number) = self.found(segment.number(word))? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

impl SearchedCorpus for SearchIndex {
    fn space(&self) -> &WordSpace {
        self.model.space()
    }

    fn radius(&self) -> f64 {
        self.segments
            .iter()
            .map(|s| s.entry.radius)
            .fold(0.0, f64::max)
    }

    fn n_words(&self) -> usize {
        self.segments
            .last()
            .map_or(0, |s| s.first_word + s.entry.words())
    }

    fn word_blocks(&self) -> impl Iterator<Item = WordBlock<'_>> {
        self.segments.iter().flat_map(|segment| {
            let starts = (0..segment.n_vectors()).step_by(WORDS_A_BLOCK);
            starts.map(move |start| {
                let range: Range<usize> = start..segment.n_vectors().min(start + WORDS_A_BLOCK);
                WordBlock {
                    first: segment.first_word + start,
                    vectors: Cow::Owned(segment.vectors(range.clone()).collect()),
                    squared_lengths: Cow::Owned(segment.squared_lengths(range).collect()),
                }
            })
        })
    }

    fn append_vector(&self, number: u32, out: &mut Vec<f32>) {
        let (segment, i) = self.place_of_word(number);
        out.extend(segment.vector(i));
    }

    fn number(&self, word: Word) -> Option<u32> {
        // A damaged list of words finds nothing: bounds are worse, or the documents that
        // have the word say so themselves.
        let number = self.find_number(word).ok().flatten();
        number.filter(|&number| self.has_vector(number))
    }

    fn n_documents(&self) -> usize {
        self.segments
            .last()
            .map_or(0, |s| s.first_document + s.entry.documents)
    }

    fn typical_words(&self) -> &TypicalWords {
        self.typical_words.get_or_init(|| TypicalWords::of(self))
    }

    fn first_bound(&self, document: usize, terms: BoundTerms) -> Result<Option<f64>> {
        let (segment, i) = self.place(document);
        let bag = self.found(segment.bag(i))?;
        if bag.len() == 0 {
            return Ok(None);
        }
        match terms.bound(bag) {
            bound if bound.is_finite() => Ok(Some(bound)),
            _ => self.found(Err(
                segment.bad("a bag in it has an unknown word or no weight")
            )),
        }
    }

    fn document<'s>(
        &'s self,
        document: usize,
        loaded: &'s mut Loaded,
    ) -> Result<(&'s Document, &'s [u32])> {
        let (segment, i) = self.place(document);
        let bag = self.found(segment.bag(i))?;
        loaded.numbers.clear();
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let mut weights = Vec::with_capacity(bag.len());
        for (number, weight) in bag {
            if !(self.has_vector(number) && weight.is_finite() && weight > 0.0) {
                let reason = "a bag in it has a word without a vector, or without a weight";
                return self.found(Err(segment.bad(reason)));
            }
            loaded.numbers.push(number);
            weights.push(weight);
            let (segment, i) = self.place_of_word(number);
            match self.found(segment.word(i))? {
                Word::Known(id) if unknown.is_empty() => known.push(id),
                Word::Known(_) => {
                    let reason = "a bag in it is not in the order of its words";
                    return self.found(Err(segment.bad(reason)));
                }
                Word::Unknown(word) => unknown.push(Box::from(word)),
            }
        }
        loaded.document = Document::from_parts(known, unknown, weights);
        Ok((&loaded.document, &loaded.numbers))
    }
}
