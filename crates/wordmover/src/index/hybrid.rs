//! Words and embeddings together.
//!
//! 1. Common words speak for a document as in BM25 (Robertson and Zaragoza, 2009). The sum is
//!    divided by the mean of the ten best documents after the first, so that it means the same
//!    for long and short queries, and for a query that is itself a document of the index.
//! 2. The cosine of the embeddings is added.
//! 3. The best documents of this order are taken to be what is looked for (pseudo-relevance
//!    feedback; Rocchio, 1971): the cosine with the mean of their embeddings is added for the
//!    documents at the top.
//! 4. The best of these are compared by exact distance; what counts is by how much of the mean
//!    distance one of them is nearer than the mean.
//!
//! The weights are those that found most documents of the query's label in TWITTER and AMAZON,
//! of 150 combinations and eight weights of the distance (`bench/run hybrid_weights`); many others
//! come within half a point. They are judged on other corpora (`bench/run hybrid`).

use rayon::prelude::*;

use super::hits::HitParts;
use super::open::SearchIndex;
use super::search::{best, dot};
use super::segment::Segment;
use crate::document::{Document, WordCounts};
use crate::error::Result;
use crate::neighbors::{Search, scale_to_unit};

/// How soon further occurrences of a word in a document say nothing new: BM25's `k1`.
const SATURATION: f64 = 1.2;

/// How much of a document's length is held against it: BM25's `b`.
const LENGTH_SHARE: f64 = 0.6;

/// The best documents by words, after the first, whose mean is 1.
const REFERENCE: usize = 10;

/// Weight of the cosine with the query's embedding.
const COSINE_WEIGHT: f64 = 1.0;

/// Documents whose mean embedding stands for what is looked for.
const FEEDBACK: usize = 5;

/// Weight of the cosine with that mean.
const FEEDBACK_WEIGHT: f64 = 4.0;

/// Documents that are ordered anew by it, if no more are asked for.
const REORDERED: usize = 1000;

/// Documents whose exact distance is computed, if no more are asked for.
const COMPARED: usize = 50;

/// Weight of the share of the mean distance by which a document is nearer than the mean.
const DISTANCE_WEIGHT: f64 = 3.0;

/// A document with its score and what this is made of.
pub(super) type Scored = (usize, f64, HitParts);

impl SearchIndex {
    /// The best documents, with scores and what these are made of.
    pub(super) fn best_by_both(
        &self,
        search: &mut Search,
        counts: &WordCounts,
        document: &Document,
        k: usize,
    ) -> Result<Vec<Scored>> {
        let words = self.word_evidence(counts)?;
        let cosines = match document.is_empty() {
            true => vec![f32::NEG_INFINITY; words.len()],
            false => self.cosines(document)?,
        };
        let has_embedding = |i: usize| cosines[i] > f32::NEG_INFINITY;
        // A document without an embedding is judged by its words, if it shares any.
        let first = |i: usize| -> f32 {
            match (has_embedding(i), words[i] > 0.0) {
                (true, _) => (f64::from(words[i]) + COSINE_WEIGHT * f64::from(cosines[i])) as f32,
                (false, true) => words[i],
                (false, false) => f32::NEG_INFINITY,
            }
        };
        let first: Vec<f32> = (0..words.len()).map(first).collect();
        let top = best(&first, k.max(REORDERED));
        let models: Vec<usize> = top.iter().copied().filter(|&i| has_embedding(i)).collect();
        let mean = self.mean_embedding(&models[..models.len().min(FEEDBACK)]);
        let mut found: Vec<Scored> = top
            .into_par_iter()
            .map(|i| {
                let feedback = has_embedding(i).then(|| {
                    let (segment, at) = self.place(i);
                    f64::from(dot(&mean, segment.embedding(at)))
                });
                let score = f64::from(first[i]) + FEEDBACK_WEIGHT * feedback.unwrap_or(0.0);
                let parts = HitParts {
                    distance: None,
                    cosine: has_embedding(i).then(|| f64::from(cosines[i])),
                    words: Some(f64::from(words[i])),
                    feedback,
                };
                (i, score, parts)
            })
            .collect();
        let best_first = |a: &Scored, b: &Scored| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        found.sort_by(best_first);
        found.truncate(k.max(COMPARED));
        self.add_distances(search, document, &mut found)?;
        found.sort_by(best_first);
        found.truncate(k);
        Ok(found)
    }

    /// Compares documents with the query by exact distance, as far as they have words that have
    /// a vector.
    fn add_distances(
        &self,
        search: &mut Search,
        query: &Document,
        found: &mut [Scored],
    ) -> Result<()> {
        let comparable = found.iter().filter(|(_, _, parts)| parts.cosine.is_some());
        let candidates: Vec<usize> = comparable.map(|&(i, _, _)| i).collect();
        let (mut neighbors, _) = search.rank(self, query, candidates.len(), &candidates)?;
        let sum: f64 = neighbors.iter().map(|neighbor| neighbor.distance).sum();
        let mean = sum / neighbors.len().max(1) as f64;
        neighbors.sort_unstable_by_key(|neighbor| neighbor.index);
        for (document, score, parts) in found {
            if let Ok(at) = neighbors.binary_search_by_key(document, |neighbor| neighbor.index) {
                let distance = neighbors[at].distance;
                parts.distance = Some(distance);
                if mean > 0.0 {
                    *score += DISTANCE_WEIGHT * (1.0 - distance / mean);
                }
            }
        }
        Ok(())
    }

    /// The mean of embeddings, scaled to length 1; zeros of none.
    fn mean_embedding(&self, documents: &[usize]) -> Vec<f32> {
        let mut sum = vec![0.0; self.manifest.n_features];
        for &document in documents {
            let (segment, i) = self.place(document);
            for (sum, &x) in sum.iter_mut().zip(segment.embedding(i)) {
                *sum += f32::from_le_bytes(x);
            }
        }
        scale_to_unit(&mut sum);
        sum
    }

    /// By document: how much the words it shares with the query speak for it; 0 without any,
    /// minus infinity if it was removed.
    fn word_evidence(&self, query: &WordCounts) -> Result<Vec<f32>> {
        let end = |segment: &Segment| segment.first_document + segment.entry.documents;
        let mut evidence = vec![0.0f64; self.segments.last().map_or(0, end)];
        let n = self.n_live() as f64;
        let n_tokens: u64 = self.manifest.segments.iter().map(|s| s.live_tokens()).sum();
        let mean_length = (n_tokens as f64 / n.max(1.0)).max(1.0);
        for (word, count) in query.iter() {
            let Some(number) = self.find_number(word)? else {
                continue;
            };
            let mut df = 0usize;
            for segment in &self.segments {
                let documents = self.found(segment.postings(number))?;
                df += documents.filter(|&(i, _)| is_live(segment, i)).count();
            }
            let df = df as f64;
            let idf = libm::log1p((n - df + 0.5) / (df + 0.5));
            let weight = (1.0 + libm::log(f64::from(count))) * idf;
            for segment in &self.segments {
                let documents = self.found(segment.postings(number))?;
                for (i, count) in documents.filter(|&(i, _)| is_live(segment, i)) {
                    let length = f64::from(segment.tokens(i as usize)) / mean_length;
                    let penalty = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
                    let count = f64::from(count);
                    let share = count * (SATURATION + 1.0) / (count + penalty);
                    evidence[segment.first_document + i as usize] += weight * share;
                }
            }
        }
        let mut evidence: Vec<f32> = evidence.into_iter().map(|sum| sum as f32).collect();
        for segment in &self.segments {
            let removed = (0..segment.entry.documents).filter(|&i| segment.is_removed(i));
            removed.for_each(|i| evidence[segment.first_document + i] = f32::NEG_INFINITY);
        }
        let mut top = best(&evidence, REFERENCE + 1);
        if top.len() > 1 && evidence[top[1]] > 0.0 {
            // The first may be the query itself, far ahead of all others.
            top.remove(0);
        }
        let sum: f64 = top.iter().map(|&i| f64::from(evidence[i])).sum();
        let mean = sum / top.len().max(1) as f64;
        if mean > 0.0 {
            let all = evidence.iter_mut();
            all.for_each(|value| *value = (f64::from(*value) / mean) as f32);
        }
        Ok(evidence)
    }
}

/// Whether a document of a posting is there; a number that is none is not.
fn is_live(segment: &Segment, i: u32) -> bool {
    (i as usize) < segment.entry.documents && !segment.is_removed(i as usize)
}
