//! The inner loop by an accelerator: documents in, distances out, features made of them here.

use std::ops::ControlFlow;
use std::time::Instant;

use rayon::prelude::*;

use super::statistics::EmbeddingStatistics;
use super::transform::Transform;
use crate::accelerator::{Accelerator, DistanceBatch};
use crate::document::Document;
use crate::error::{Error, Result};
use crate::float_environment::IeeeArithmetic;

/// Distances asked for at once. Enough that starting a call costs nothing beside them, and
/// few enough that progress is seen and an interrupt heard several times a second.
const DISTANCES: usize = 1 << 25;

impl Transform<'_> {
    /// As [`map_distances`](Transform::map_distances).
    pub(super) fn accelerated<T: Copy + Send + Sync>(
        &self,
        accelerator: &dyn Accelerator,
        documents: &[Document],
        out: &mut [T],
        empty: T,
        feature: impl Fn(usize, f64) -> T + Sync,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let (random, dim) = (self.random_documents, self.space.dim());
        let n_features = random.len();
        if n_features == 0 {
            return Ok(());
        }
        let lengths = (0..n_features).map(|j| random.document_len(j));
        let random_starts = starts(lengths);
        let n_rows = (DISTANCES / n_features).max(1);
        let mut distances = Vec::new();
        let blocks = documents
            .chunks(n_rows)
            .zip(out.chunks_mut(n_rows * n_features));
        for (documents, out) in blocks {
            let clock = Instant::now();
            let (rows, distinct) = self.number(documents);
            let vectors = self.vectors(&distinct)?;
            let words = rows.iter().flat_map(|row| &row.words);
            let words: Vec<u32> = words.copied().collect();
            // A row without words here has no weights either: its distances are known.
            let weights = rows.iter().flat_map(|row| &row.weights[..row.words.len()]);
            let weights: Vec<f64> = weights.copied().collect();
            let batch = DistanceBatch {
                dim,
                vectors: &vectors,
                starts: &starts(rows.iter().map(|row| row.words.len())),
                words: &words,
                weights: &weights,
                random_starts: &random_starts,
                random_vectors: random.words_of_range(0..n_features),
            };
            distances.resize(out.len(), 0.0);
            let computed = accelerator.distances(batch, &mut distances);
            computed.map_err(|source| Error::Accelerator {
                name: accelerator.name().to_owned(),
                source,
            })?;
            out.par_chunks_mut(n_features)
                .zip(distances.par_chunks(n_features))
                .zip(&rows)
                .for_each(|((features, computed), row)| {
                    // Features may be subnormal numbers: the exponentials of great distances.
                    let _ieee = IeeeArithmetic::enter();
                    if row.words.is_empty() && row.known.is_none() {
                        features.fill(empty);
                        return;
                    }
                    let distances = row.known.unwrap_or(computed);
                    for (j, (out, &distance)) in features.iter_mut().zip(distances).enumerate() {
                        *out = feature(j, f64::from(distance));
                    }
                });
            let done = EmbeddingStatistics {
                distances: out.len() as u64,
                transport: clock.elapsed(),
                ..EmbeddingStatistics::default()
            };
            if progress(&done).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}

/// Where parts of these lengths begin, one after the other, and where the last ends.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}
