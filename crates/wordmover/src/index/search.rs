//! Queries on an index.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::hits::{Hit, HitParts, SearchBy};
use super::open::SearchIndex;
use super::segment::Segment;
use crate::document::{Document, WordCounts};
use crate::error::{Error, Result};
use crate::neighbors::{Neighbor, Search, SearchStatistics, check_k, scale_to_unit};

/// Queries a thread answers between two calls of `progress`.
const QUERIES_PER_TASK: usize = 8;

/// Documents whose likeness a thread computes at once.
const DOCUMENTS_PER_TASK: usize = 256;

/// How a search is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// How many documents to find. Default 10.
    pub k: usize,
    /// How to find them. Default [`SearchBy::Hybrid`].
    pub by: SearchBy,
    /// With [`SearchBy::Embedding`]: how many documents with the most similar embeddings are
    /// compared by exact distance. Default 100.
    pub n_candidates: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            k: 10,
            by: SearchBy::default(),
            n_candidates: 100,
        }
    }
}

impl SearchOptions {
    /// Sets how many documents to find.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// Sets how to find them.
    #[must_use]
    pub fn by(mut self, by: SearchBy) -> Self {
        self.by = by;
        self
    }

    /// Sets how many documents with the most similar embeddings are compared by exact
    /// distance.
    #[must_use]
    pub fn n_candidates(mut self, n_candidates: usize) -> Self {
        self.n_candidates = n_candidates;
        self
    }
}

impl SearchIndex {
    /// The `k` best documents for a text, the best first and equals in the order in which they
    /// came; fewer if there are fewer that can be found.
    ///
    /// With [`SearchBy::Wmd`] these are the documents and distances, to the bit, of a
    /// [`WmdIndex`](crate::WmdIndex) of the same documents; with [`SearchBy::Embedding`] those of
    /// an [`EmbeddingIndex`](crate::EmbeddingIndex) with this model. A document without words that
    /// have a vector is found by its words alone. A query without any words finds nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if `k` is 0; [`Error::InvalidIndex`] if the index is damaged;
    /// [`Error::InvalidVectors`].
    pub fn search(&self, query: &str, k: usize, by: SearchBy) -> Result<Vec<Hit>> {
        let options = SearchOptions::default().k(k).by(by);
        check_k(k)?;
        Ok(self.answer(&mut Search::default(), query, &options)?.0)
    }

    /// The answers to many queries, on all threads. `progress` is called with the work done
    /// since the last call and may break off.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search), and [`Error::Interrupted`].
    pub fn search_batch(
        &self,
        queries: &[impl AsRef<str> + Sync],
        options: &SearchOptions,
        progress: &mut dyn FnMut(&SearchStatistics) -> ControlFlow<()>,
    ) -> Result<Vec<Vec<Hit>>> {
        check_k(options.k)?;
        let mut all = Vec::with_capacity(queries.len());
        for queries in queries.chunks(QUERIES_PER_TASK * rayon::current_num_threads()) {
            let answers: Vec<_> = queries
                .par_iter()
                .map_init(Search::default, |search, query| {
                    self.answer(search, query.as_ref(), options)
                })
                .collect::<Result<_>>()?;
            let mut done = SearchStatistics::default();
            for (hits, statistics) in answers {
                done += statistics;
                all.push(hits);
            }
            if progress(&done).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(all)
    }

    /// Whether a text has a word with a vector, and so a Word Mover's Distance.
    #[must_use]
    pub fn has_words(&self, text: &str) -> bool {
        !self.query(text).1.is_empty()
    }

    fn query(&self, text: &str) -> (WordCounts, Document) {
        let counts = self.model.documents().word_counts(text);
        let document = self.model.documents().document_by(&counts, &self.rules());
        (counts, document)
    }

    fn answer(
        &self,
        search: &mut Search,
        query: &str,
        options: &SearchOptions,
    ) -> Result<(Vec<Hit>, SearchStatistics)> {
        let (counts, document) = self.query(query);
        if options.by == SearchBy::Hybrid {
            let hits = self.best_by_both(search, &counts, &document, options.k)?;
            let hits = hits.iter();
            let hits = hits.map(|&(i, score, parts)| self.hit(&counts, i, score, parts));
            let statistics = SearchStatistics {
                queries: 1,
                ..SearchStatistics::default()
            };
            return Ok((hits.collect::<Result<_>>()?, statistics));
        }
        if self.segments.is_empty() || document.is_empty() {
            let statistics = SearchStatistics {
                queries: 1,
                ..SearchStatistics::default()
            };
            return Ok((Vec::new(), statistics));
        }
        let (neighbors, statistics, cosines) = match options.by {
            SearchBy::Wmd => {
                let (neighbors, statistics) = search.run(self, &document, options.k, |_| true)?;
                (neighbors, statistics, None)
            }
            _ => {
                let n = options.n_candidates.max(options.k);
                let (candidates, cosines) = self.candidates(&document, n)?;
                let (neighbors, statistics) =
                    search.rank(self, &document, options.k, &candidates)?;
                (neighbors, statistics, Some((candidates, cosines)))
            }
        };
        let hit = |&Neighbor { index, distance }: &Neighbor| {
            let parts = HitParts {
                distance: Some(distance),
                cosine: cosines.as_ref().and_then(|(candidates, cosines)| {
                    let at = candidates
                        .iter()
                        .position(|&candidate| candidate == index)?;
                    Some(f64::from(cosines[at]))
                }),
                words: None,
                feedback: None,
            };
            self.hit(&counts, index, -distance, parts)
        };
        let hits = neighbors.iter().map(hit).collect::<Result<_>>()?;
        Ok((hits, statistics))
    }

    /// The documents whose embeddings have the `n` greatest cosines with that of the query,
    /// greatest first, and these; if there is a graph, as far as it finds them.
    fn candidates(&self, query: &Document, n: usize) -> Result<(Vec<usize>, Vec<f32>)> {
        let row = self.row(query)?;
        let (mut found, cosines) = match self.nearest_in_graph(&row, n)? {
            Some(mut found) => {
                let n_covered = self.n_in_graph();
                found.sort_unstable();
                let mut cosines = Vec::with_capacity(found.len());
                for &document in &found {
                    let (segment, i) = self.place(document);
                    cosines.push(self.cosine(&row, segment, i)?);
                }
                let first = self
                    .segments
                    .partition_point(|s| s.first_document < n_covered);
                let later = self.cosines_from(&row, first)?;
                found.extend(n_covered..n_covered + later.len());
                cosines.extend(later);
                (found, cosines)
            }
            None => {
                let cosines = self.cosines_from(&row, 0)?;
                ((0..cosines.len()).collect(), cosines)
            }
        };
        let best = best(&cosines, n);
        let cosines = best.iter().map(|&i| cosines[i]).collect();
        found = best.iter().map(|&i| found[i]).collect();
        Ok((found, cosines))
    }

    /// The embedding of a query, of length 1.
    fn row(&self, query: &Document) -> Result<Vec<f32>> {
        let mut row = self.model.embed(std::slice::from_ref(query))?;
        scale_to_unit(&mut row);
        Ok(row)
    }

    /// By document: the cosine of its embedding with that of the query; minus infinity for
    /// documents that have none.
    pub(super) fn cosines(&self, query: &Document) -> Result<Vec<f32>> {
        self.cosines_from(&self.row(query)?, 0)
    }

    /// The same for documents of segments from this one on.
    fn cosines_from(&self, row: &[f32], first_segment: usize) -> Result<Vec<f32>> {
        let mut cosines = Vec::new();
        for segment in &self.segments[first_segment..] {
            let of_segment = (0..segment.entry.documents).into_par_iter();
            let likeness = of_segment
                .with_min_len(DOCUMENTS_PER_TASK)
                .map(|i| self.cosine(row, segment, i));
            cosines.extend(likeness.collect::<Result<Vec<f32>>>()?);
        }
        Ok(cosines)
    }

    fn cosine(&self, row: &[f32], segment: &Segment, i: usize) -> Result<f32> {
        Ok(match self.found(segment.bag_bytes(i))?.0.is_empty() {
            false => dot(row, segment.embedding(i)),
            true => f32::NEG_INFINITY,
        })
    }
}

/// The documents with the `n` greatest values, greatest first and equals in their order; never
/// one with minus infinity.
pub(super) fn best(values: &[f32], n: usize) -> Vec<usize> {
    let can_be_found = |&i: &usize| values[i] > f32::NEG_INFINITY;
    let mut order: Vec<usize> = (0..values.len()).filter(can_be_found).collect();
    let best_first = |&a: &usize, &b: &usize| values[b].total_cmp(&values[a]).then(a.cmp(&b));
    if n < order.len() {
        order.select_nth_unstable_by(n, best_first);
        order.truncate(n);
    }
    order.sort_unstable_by(best_first);
    order
}

/// The product that [`EmbeddingIndex`](crate::EmbeddingIndex) takes, sum by sum, of a row in
/// memory and one in a file.
pub(super) fn dot(a: &[f32], b: &[[u8; 4]]) -> f32 {
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        for lane in 0..8 {
            sums[lane] += a[lane] * f32::from_le_bytes(b[lane]);
        }
    }
    let rest = a_rest.iter().zip(b_rest);
    let rest: f32 = rest.map(|(a, &b)| a * f32::from_le_bytes(b)).sum();
    sums.iter().sum::<f32>() + rest
}
