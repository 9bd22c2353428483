//! Words and embeddings together.
//!
//! Common words are weighed as BM25 does (Robertson and Zaragoza, 2009), with the idf of a
//! word's document counted half as well: rare words say more about what a long query is of
//! than BM25, made for short ones, allows. The sum is divided by the mean of the ten best
//! documents, so that it means the same for long and short queries, and the cosine of the
//! embeddings is added with a weight. `bench/definitions/hybrid.toml` has the command that
//! measures this, and the corpora the constants were chosen on.

use super::hits::HitParts;
use super::open::SearchIndex;
use super::search::best;
use crate::document::{Document, WordCounts};
use crate::error::Result;

/// How soon further occurrences of a word in a document say nothing new: BM25's `k1`.
const SATURATION: f64 = 1.2;

/// How much of a document's length is held against it: BM25's `b`.
const LENGTH_SHARE: f64 = 0.9;

/// Weight of the cosine, beside word evidence that is 1 for the ten best documents.
const COSINE_WEIGHT: f64 = 0.5;

/// The best documents by words whose mean is 1.
const REFERENCE: usize = 10;

impl SearchIndex {
    /// The best documents by both, with scores and their parts.
    pub(super) fn best_by_both(
        &self,
        counts: &WordCounts,
        document: &Document,
        k: usize,
    ) -> Result<Vec<(usize, f64, HitParts)>> {
        let words = self.word_evidence(counts)?;
        let cosines = match document.is_empty() {
            true => vec![f32::NEG_INFINITY; words.len()],
            false => self.cosines(document)?,
        };
        let score = |i: usize| -> f64 {
            // A document without an embedding is judged by its words.
            let cosine = f64::from(cosines[i]).max(0.0);
            f64::from(words[i]) + COSINE_WEIGHT * cosine
        };
        let scores: Vec<f32> = (0..words.len())
            .map(|i| match words[i] > 0.0 || cosines[i] > f32::NEG_INFINITY {
                true => score(i) as f32,
                false => f32::NEG_INFINITY,
            })
            .collect();
        let found = best(&scores, k).into_iter().map(|i| {
            let cosine = (cosines[i] > f32::NEG_INFINITY).then(|| f64::from(cosines[i]));
            let parts = HitParts {
                distance: None,
                cosine,
                words: Some(f64::from(words[i])),
            };
            (i, score(i), parts)
        });
        Ok(found.collect())
    }

    /// By document: how much the words it shares with the query speak for it; 0 without any,
    /// minus infinity if it was removed.
    fn word_evidence(&self, query: &WordCounts) -> Result<Vec<f32>> {
        let n_documents = self
            .segments
            .last()
            .map_or(0, |s| s.first_document + s.entry.documents);
        let mut evidence = vec![0.0f64; n_documents];
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
            let weight = (1.0 + libm::log(f64::from(count))) * idf * idf.sqrt();
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
        let top = best(&evidence, REFERENCE);
        let sum: f64 = top.iter().map(|&i| f64::from(evidence[i])).sum();
        let mean = sum / top.len().max(1) as f64;
        if mean > 0.0 {
            evidence
                .iter_mut()
                .for_each(|value| *value = (f64::from(*value) / mean) as f32);
        }
        for segment in &self.segments {
            for i in (0..segment.entry.documents).filter(|&i| segment.is_removed(i)) {
                evidence[segment.first_document + i] = f32::NEG_INFINITY;
            }
        }
        Ok(evidence)
    }
}

/// Whether a document of a posting is there; a number that is none is not.
fn is_live(segment: &super::segment::Segment, i: u32) -> bool {
    (i as usize) < segment.entry.documents && !segment.is_removed(i as usize)
}
