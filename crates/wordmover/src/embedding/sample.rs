//! The documents of a corpus that fitting looks at, and their distances.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::document::{Document, WordCounts};
use crate::document_model::DocumentModel;
use crate::random_documents::Stream;
use crate::word_probabilities::zipf_rank;

/// The stream that picks documents; random documents use the low numbers.
const SAMPLE_STREAM: u64 = u64::MAX;

/// Documents that the post-processing is fitted on, at most; fewer where there are so many
/// features that the sample would not fit in memory.
const SAMPLE: usize = 1024;
const SAMPLE_VALUES: usize = 1 << 22;
const LEAST_SAMPLE: usize = 64;

/// A sample with fewer distinct documents is filled up to this many with background
/// documents. The mean of a handful of documents would be mostly those documents
/// themselves, and documents that are all alike vary in nothing that could be scaled by.
pub(super) const ENOUGH: usize = 256;

/// Words drawn for a background document, stop words among them.
const BACKGROUND_WORDS: usize = 24;

/// Background documents use the streams below that of the samples.
const BACKGROUND_STREAM: u64 = u64::MAX - 1;

/// How many documents the post-processing of `n_features` features is fitted on.
pub(super) fn sample_size(n_features: usize) -> usize {
    (SAMPLE_VALUES / n_features).clamp(LEAST_SAMPLE, SAMPLE)
}

/// A uniform sample of the documents that have a known word (reservoir sampling).
#[derive(Debug, Clone)]
pub(crate) struct Sample<D> {
    seed: u64,
    size: usize,
    n_seen: u64,
    pub documents: Vec<D>,
}

impl<D: Clone> Sample<D> {
    pub fn new(seed: u64, size: usize) -> Self {
        Sample {
            seed,
            size,
            n_seen: 0,
            documents: Vec::new(),
        }
    }

    pub fn observe(&mut self, document: &D) {
        if self.documents.len() < self.size {
            self.documents.push(document.clone());
        } else if self.size > 0 {
            // A stream per document keeps this free of state that could go astray.
            let mut stream = Stream::new(self.seed ^ self.n_seen, SAMPLE_STREAM);
            let position = stream.below(self.n_seen + 1) as usize;
            if let Some(place) = self.documents.get_mut(position) {
                place.clone_from(document);
            }
        }
        self.n_seen += 1;
    }
}

impl Sample<WordCounts> {
    /// The sampled documents that have words left once they are weighed.
    pub fn weighted(&self, model: &DocumentModel) -> Vec<Document> {
        let mut documents = model.documents(&self.documents);
        documents.retain(|document| !document.is_empty());
        documents
    }
}

/// How many of the documents differ from each other.
pub(super) fn n_distinct(documents: &[Document]) -> usize {
    let mut seen = HashMap::new();
    for document in documents {
        seen.entry(Key::of(document)).or_insert(());
    }
    seen.len()
}

/// Documents of words drawn from the vectors by Zipf's law: what a sample with `n`
/// distinct documents lacks to be [`ENOUGH`].
pub(super) fn background(n: usize, seed: u64, model: &DocumentModel) -> Vec<Document> {
    let vectors = model.vectors();
    let missing = ENOUGH.saturating_sub(n) as u64;
    let documents = (0..missing).map(|document| {
        let mut stream = Stream::new(seed, BACKGROUND_STREAM - document);
        let words = (0..BACKGROUND_WORDS).map(|_| {
            let rank = zipf_rank(stream.uniform(), vectors.len());
            vectors.word(rank as u32)
        });
        let text = words.collect::<Vec<_>>().join(" ");
        model.document_of(&text)
    });
    documents.filter(|document| !document.is_empty()).collect()
}

/// Distances of sampled documents to all random documents. Fitting computes them; the
/// model keeps them while it is in memory, so that embedding the corpus it was fitted on
/// does not solve the same problems again.
#[derive(Debug, Clone, Default)]
pub(crate) struct SampleDistances {
    n_features: usize,
    distances: Arc<[f32]>,
    rows: Arc<HashMap<Key, usize>>,
}

impl SampleDistances {
    /// `distances` has a row for each document.
    pub fn new(documents: &[Document], distances: Vec<f32>) -> Self {
        let numbered = documents.iter().enumerate();
        SampleDistances {
            n_features: distances.len() / documents.len().max(1),
            distances: distances.into(),
            rows: Arc::new(numbered.map(|(row, d)| (Key::of(d), row)).collect()),
        }
    }

    /// The distances of all sampled documents, row by row.
    pub fn all(&self) -> &[f32] {
        &self.distances
    }

    /// The distances of an equal document, if it was in the sample.
    pub fn get(&self, document: &Document) -> Option<&[f32]> {
        if self.rows.is_empty() {
            return None;
        }
        let row = *self.rows.get(&Key::of(document))?;
        Some(&self.distances[row * self.n_features..][..self.n_features])
    }
}

/// A document's words and weights, bit by bit.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    known: Box<[u32]>,
    unknown: Box<[Box<str>]>,
    weights: Box<[u64]>,
}

impl Key {
    fn of(document: &Document) -> Self {
        let weights = document.weights().iter();
        Key {
            known: document.known().into(),
            unknown: document.unknown().into(),
            weights: weights.map(|weight| weight.to_bits()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_bounded_in_values() {
        assert_eq!(sample_size(512), 1024);
        assert_eq!(sample_size(1 << 14), 256);
        assert_eq!(sample_size(1 << 20), 64);
    }

    #[test]
    fn distances_are_found_for_equal_documents_alone() {
        let document = |words: &[(u32, f64)]| Document::from_weights(words.iter().copied());
        let a = document(&[(1, 0.5), (4, 0.5)]).unwrap();
        let b = document(&[(1, 0.25), (4, 0.75)]).unwrap();
        let c = document(&[(1, 0.5), (5, 0.5)]).unwrap();
        let known = SampleDistances::new(&[a.clone(), b.clone()], vec![1.0, 2.0, 3.0, 4.0]);
        assert_eq!(known.get(&a), Some(&[1.0, 2.0][..]));
        assert_eq!(known.get(&b), Some(&[3.0, 4.0][..]));
        assert_eq!(known.get(&c), None);
        assert_eq!(n_distinct(&[a.clone(), b, a, c]), 3);
        assert_eq!(SampleDistances::default().get(&Document::default()), None);
    }
}
