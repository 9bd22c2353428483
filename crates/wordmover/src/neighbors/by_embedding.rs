//! Nearest neighbours by embedding first, by distance last.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::document::Document;
use crate::embedding::WordMoversEmbedding;
use crate::error::{Error, Result};

use super::search::Search;
use super::{Neighbor, QUERIES_PER_TASK, SearchStatistics, WmdIndex, check_k};

/// A corpus whose documents are compared by the cosines of their embeddings, and the
/// best of them by exact Word Mover's Distances.
///
/// A query takes one embedding, one inner product a document, and at most as many exact
/// distances as candidates are asked for, however large the corpus is; bounds show some
/// candidates to be too far. What it finds are exact distances, but a near document whose
/// embedding is not among the candidates is missed: [`WmdIndex`] misses none.
///
/// Memory: that of a [`WmdIndex`], and the embeddings in single precision.
#[derive(Debug)]
pub struct EmbeddingIndex {
    model: WordMoversEmbedding,
    exact: WmdIndex,
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
        let rows = model.embed(&documents)?;
        Self::with_embeddings(model, documents, rows)
    }

    /// Takes embeddings that the model made of the documents earlier, row by row.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if there are not as many values as the documents'
    /// embeddings have, or one is not finite; [`Error::InvalidVectors`].
    pub fn with_embeddings(
        model: WordMoversEmbedding,
        documents: Vec<Document>,
        mut embeddings: Vec<f32>,
    ) -> Result<Self> {
        let refused = |value: String, requirement| Error::InvalidParameter {
            name: "embeddings",
            value,
            requirement,
        };
        if embeddings.len() != documents.len() * model.n_features() {
            let value = format!("of {} values", embeddings.len());
            return Err(refused(
                value,
                "a row of the model's features for each document",
            ));
        }
        if let Some(value) = embeddings.iter().find(|value| !value.is_finite()) {
            return Err(refused(format!("not finite ({value})"), "finite"));
        }
        embeddings
            .par_chunks_exact_mut(model.n_features())
            .for_each(scale_to_unit);
        Ok(EmbeddingIndex {
            exact: WmdIndex::new(model.space().clone(), documents)?,
            model,
            rows: embeddings,
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
        let row = self.model.embed(std::slice::from_ref(query))?;
        let candidates = self.most_alike(row, n_candidates.max(k));
        Ok(Search::default()
            .rank(&self.exact, query, k, &candidates)?
            .0)
    }

    /// The neighbours of every query, as [`search`](Self::search) finds them, on all
    /// threads. A query without words has none. `progress` is that of
    /// [`WmdIndex::search_batch`]; its pairs are the candidates.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if `k` is 0; [`Error::InvalidVectors`];
    /// [`Error::Interrupted`].
    pub fn search_batch(
        &self,
        queries: &[Document],
        k: usize,
        n_candidates: usize,
        progress: &mut dyn FnMut(&SearchStatistics) -> ControlFlow<()>,
    ) -> Result<Vec<Vec<Neighbor>>> {
        check_k(k)?;
        let mut all = Vec::with_capacity(queries.len());
        for queries in queries.chunks(QUERIES_PER_TASK * rayon::current_num_threads()) {
            let rows = self.model.embed(queries)?;
            let answers: Vec<_> = queries
                .par_iter()
                .zip(rows.par_chunks_exact(self.model.n_features()))
                .map_init(Search::default, |search, (query, row)| {
                    let candidates = match query.is_empty() {
                        true => Vec::new(),
                        false => self.most_alike(row.to_vec(), n_candidates.max(k)),
                    };
                    search.rank(&self.exact, query, k, &candidates)
                })
                .collect::<Result<_>>()?;
            let mut done = SearchStatistics::default();
            for (neighbors, statistics) in answers {
                done += statistics;
                all.push(neighbors);
            }
            if progress(&done).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(all)
    }

    /// The `n` documents whose embeddings have the greatest cosines with that of
    /// `query`, the most alike first and equals in their order.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`].
    pub fn candidates(&self, query: &Document, n: usize) -> Result<Vec<usize>> {
        Ok(self.most_alike(self.model.embed(std::slice::from_ref(query))?, n))
    }

    fn most_alike(&self, mut row: Vec<f32>, n: usize) -> Vec<usize> {
        scale_to_unit(&mut row);
        let likeness: Vec<f32> = self
            .rows
            .par_chunks_exact(row.len())
            .with_min_len(256)
            .map(|other| dot(&row, other))
            .collect();
        let with_words = |&i: &usize| !self.documents()[i].is_empty();
        let mut order: Vec<usize> = (0..self.documents().len()).filter(with_words).collect();
        let best_first =
            |&a: &usize, &b: &usize| likeness[b].total_cmp(&likeness[a]).then(a.cmp(&b));
        if n < order.len() {
            order.select_nth_unstable_by(n, best_first);
            order.truncate(n);
        }
        order.sort_unstable_by(best_first);
        order
    }

    /// The model that embeds.
    #[must_use]
    pub fn model(&self) -> &WordMoversEmbedding {
        &self.model
    }

    /// The documents, in the order they were given.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        self.exact.documents()
    }
}

pub(crate) fn scale_to_unit(row: &mut [f32]) {
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
