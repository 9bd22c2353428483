//! Costs from words of a corpus to the words of a query, as far as they are needed.

use super::SearchedCorpus;
use super::query_panels::QueryPanels;
use crate::ground::direct::{self, Columns};

/// No row yet.
const NONE: u32 = u32::MAX;

/// The words of a query, ready for costs to them: exact ones, or lower bounds of them.
pub(super) trait QueryWords: Default {
    type Cost: Copy + Default;

    fn new(vectors: &[f32], dim: usize) -> Self;

    /// Length of a row: the number of words, filled up.
    fn width(&self) -> usize;

    /// A row of costs for each of these vectors.
    fn costs(&self, vectors: &[f32], out: &mut [Self::Cost]);
}

/// In double precision, and exact: what problems are solved with.
impl QueryWords for Columns {
    type Cost = f64;

    fn new(vectors: &[f32], dim: usize) -> Self {
        Columns::new(vectors, dim)
    }

    fn width(&self) -> usize {
        self.width()
    }

    fn costs(&self, vectors: &[f32], out: &mut [f64]) {
        direct::costs(vectors, self, out);
    }
}

/// In single precision, and never above the exact cost: what bounds are made of.
impl QueryWords for QueryPanels {
    type Cost = f32;

    fn new(vectors: &[f32], dim: usize) -> Self {
        QueryPanels::new(vectors, dim)
    }

    fn width(&self) -> usize {
        self.width()
    }

    fn costs(&self, vectors: &[f32], out: &mut [f32]) {
        self.costs(vectors, out);
    }
}

/// Rows of costs by word of the corpus; one is computed when it is first needed.
#[derive(Default)]
pub(super) struct CostTable<W: QueryWords> {
    pub query: W,
    n_words: usize,
    /// By corpus word: its row, or [`NONE`].
    rows: Vec<u32>,
    costs: Vec<W::Cost>,
    missing: Vec<f32>,
}

impl<W: QueryWords> CostTable<W> {
    /// Begins anew with the vectors of a query's words.
    pub fn reset(&mut self, index: &impl SearchedCorpus, vectors: &[f32]) {
        let dim = index.space().dim();
        self.n_words = vectors.len() / dim;
        self.query = W::new(vectors, dim);
        self.rows.clear();
        self.rows.resize(index.n_words(), NONE);
        self.costs.clear();
    }

    /// Computes the rows of these words where that was not done yet.
    pub fn ensure(&mut self, index: &impl SearchedCorpus, numbers: impl IntoIterator<Item = u32>) {
        let (width, start) = (self.query.width(), self.costs.len());
        let mut n_rows = start / width;
        self.missing.clear();
        for number in numbers {
            let row = &mut self.rows[number as usize];
            if *row == NONE {
                *row = n_rows as u32;
                n_rows += 1;
                index.append_vector(number, &mut self.missing);
            }
        }
        if !self.missing.is_empty() {
            self.costs.resize(n_rows * width, W::Cost::default());
            let new = &mut self.costs[start..];
            self.query.costs(&self.missing, new);
        }
    }

    /// Number of the query's words.
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// Which row a word has; it must have been computed.
    pub fn row_number(&self, number: u32) -> u32 {
        self.rows[number as usize]
    }

    /// Costs from a word to the query's words; they must have been computed.
    pub fn row(&self, number: u32) -> &[W::Cost] {
        let row = self.row_number(number) as usize;
        &self.costs[row * self.query.width()..][..self.n_words]
    }

    /// All rows.
    pub fn costs(&self) -> &[W::Cost] {
        &self.costs
    }
}
