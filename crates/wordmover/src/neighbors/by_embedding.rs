//! Nearest neighbours by embedding first, by distance last.

use rayon::prelude::*;

use crate::document::Document;
use crate::embedding::WordMoversEmbedding;
use crate::error::{Error, Result};
use crate::wmd;

use super::{Neighbor, check_k};

/// A corpus whose documents are compared by the cosines of their embeddings, and the
/// best of them by exact Word Mover's Distances.
///
/// A query takes one embedding, one inner product a document, and as many exact
/// distances as candidates are asked for, however large the corpus is. What it finds
/// are exact distances, but a near document whose embedding is not among the
/// candidates is missed: [`WmdIndex`](crate::WmdIndex) misses none.
///
/// Memory: the documents, and their embeddings in single precision.
#[derive(Debug)]
pub struct EmbeddingIndex {
    model: WordMoversEmbedding,
    documents: Vec<Document>,
    /// Embeddings scaled to length 1, row by row.
    rows: Vec<f32>,
}

impl EmbeddingIndex {
    /// Embeds the documents.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`] if a word vector holds NaN or infinity.
    pub fn new(model: WordMoversEmbedding, documents: Vec<Document>) -> Result<Self> {
        let mut rows = model.embed(&documents)?;
        rows.par_chunks_exact_mut(model.n_features())
            .for_each(scale_to_unit);
        Ok(EmbeddingIndex {
            model,
            documents,
            rows,
        })
    }

    /// Of the `n_candidates` documents whose embeddings are most like that of `query`,
    /// the `k` nearest under the Word Mover's Distance, the nearest first. Documents
    /// without words are never found.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyDocument`] if the query has no word; [`Error::InvalidParameter`] if
    /// `k` is 0; [`Error::InvalidVectors`].
    pub fn search(&self, query: &Document, k: usize, n_candidates: usize) -> Result<Vec<Neighbor>> {
        check_k(k)?;
        if query.is_empty() {
            return Err(Error::EmptyDocument);
        }
        let candidates = self.candidates(query, n_candidates.max(k))?;
        let space = self.model.space();
        let mut found = candidates
            .into_par_iter()
            .map(|index| {
                let distance = wmd::distance(space, query, &self.documents[index])?;
                Ok(Neighbor { index, distance })
            })
            .collect::<Result<Vec<_>>>()?;
        found.sort_by(|a, b| (a.distance.total_cmp(&b.distance)).then(a.index.cmp(&b.index)));
        found.truncate(k);
        Ok(found)
    }

    /// The `n` documents whose embeddings have the greatest cosines with that of
    /// `query`, the most alike first and equals in their order.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`].
    pub fn candidates(&self, query: &Document, n: usize) -> Result<Vec<usize>> {
        let mut row = self.model.embed(std::slice::from_ref(query))?;
        scale_to_unit(&mut row);
        let likeness: Vec<f32> = self
            .rows
            .par_chunks_exact(row.len())
            .with_min_len(256)
            .map(|other| dot(&row, other))
            .collect();
        let with_words = |&i: &usize| !self.documents[i].is_empty();
        let mut order: Vec<usize> = (0..self.documents.len()).filter(with_words).collect();
        let best_first =
            |&a: &usize, &b: &usize| likeness[b].total_cmp(&likeness[a]).then(a.cmp(&b));
        if n < order.len() {
            order.select_nth_unstable_by(n, best_first);
            order.truncate(n);
        }
        order.sort_unstable_by(best_first);
        Ok(order)
    }

    /// The model that embeds.
    #[must_use]
    pub fn model(&self) -> &WordMoversEmbedding {
        &self.model
    }

    /// The documents, in the order they were given.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }
}

fn scale_to_unit(row: &mut [f32]) {
    let square: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if square > 0.0 {
        let scale = 1.0 / square.sqrt();
        row.iter_mut()
            .for_each(|x| *x = (f64::from(*x) * scale) as f32);
    }
}

/// Eight sums side by side, which the compiler keeps in registers.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
