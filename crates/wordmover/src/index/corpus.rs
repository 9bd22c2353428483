//! The documents of an index, as a search sees them.

use super::open::SearchIndex;
use super::segment::Segment;
use crate::document::{Document, Word};
use crate::error::Result;
use crate::neighbors::{Loaded, SearchedCorpus, TypicalWords, WordDuals, frequent_words};
use crate::space::WordSpace;

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

    /// A bound of a document of this segment, unless it is none.
    fn finite(&self, segment: &Segment, bound: f64) -> Result<f64> {
        self.found(match bound.is_finite() {
            true => Ok(bound),
            false => Err(segment.bad("a bag in it has an unknown word or no weight")),
        })
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

    fn append_vector(&self, number: u32, out: &mut Vec<f32>) {
        let (segment, i) = self.place_of_word(number);
        out.extend(segment.vector(i));
    }

    fn squared_length(&self, number: u32) -> f32 {
        let (segment, i) = self.place_of_word(number);
        segment.squared_length(i)
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

    fn frequent_words(&self) -> &[u32] {
        self.frequent_words.get_or_init(|| {
            let mut counts = vec![0; self.n_words()];
            for segment in &self.segments {
                segment.count_postings(&mut counts);
            }
            for segment in &self.segments {
                let first = segment.first_word;
                counts[first + segment.n_vectors()..first + segment.entry.words()].fill(0);
            }
            frequent_words(&counts)
        })
    }

    fn loose_bound(&self, document: usize, duals: &WordDuals) -> Result<Option<f64>> {
        let (segment, i) = self.place(document);
        let (numbers, weights) = self.found(segment.bag_bytes(i))?;
        if numbers.is_empty() {
            return Ok(None);
        }
        let bound = duals.loose(numbers, weights, u32::from_le_bytes, f64::from_le_bytes);
        self.finite(segment, bound).map(Some)
    }

    fn tight_bound(
        &self,
        document: usize,
        duals: &WordDuals,
        missing: &mut Vec<(u32, f64)>,
    ) -> Result<f64> {
        let (segment, i) = self.place(document);
        let bound = duals.tight(self.found(segment.bag(i))?, missing);
        if missing.iter().any(|&(number, _)| !self.has_vector(number)) {
            let reason = "a bag in it has a word without a vector";
            return self.found(Err(segment.bad(reason)));
        }
        self.finite(segment, bound)
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
