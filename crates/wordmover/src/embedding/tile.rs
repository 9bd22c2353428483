//! Ground costs from the words of some documents to a tile of random words, and the transports
//! on them.

use std::ops::Range;

use rayon::prelude::*;

use super::transform::{CostPrecision, Gathered, Row, Target};
use crate::error::Result;
use crate::float_environment::IeeeArithmetic;
use crate::ground::direct::{self, Columns};
use crate::ground::product::{self, PackedColumns, PackedRows};
use crate::random_documents::RandomDocuments;
use crate::space::Metric;
use crate::transport::Workspace;

/// Random words to a tile, unless one random document has more: a row of costs is
/// then 1 KiB, and those of a block's words stay near the cache.
pub(super) const TILE_WORDS: usize = 128;

/// Word vectors handed to a thread at once, one by one or in groups.
const WORDS_PER_TASK: usize = 64;
const GROUPS_PER_TASK: usize = 16;

/// Ranges of random documents with about `most_words` words each.
pub(super) fn tiles(random_documents: &RandomDocuments, most_words: usize) -> Vec<Range<usize>> {
    let n = random_documents.len();
    let mut tiles = Vec::new();
    let mut start = 0;
    while start < n {
        let mut words = random_documents.document_len(start);
        let mut end = start + 1;
        while end < n && words + random_documents.document_len(end) <= most_words {
            words += random_documents.document_len(end);
            end += 1;
        }
        tiles.push(start..end);
        start = end;
    }
    tiles
}

/// The most words that a tile can have.
pub(super) fn widest_tile(random_documents: &RandomDocuments) -> usize {
    let lengths = (0..random_documents.len()).map(|j| random_documents.document_len(j));
    lengths.max().unwrap_or(0).max(TILE_WORDS)
}

/// The documents of a block and the vectors of their words.
pub(super) struct DocumentBlock<'d> {
    dim: usize,
    metric: Metric,
    words: Words,
    pub documents: Vec<Row<'d>>,
}

/// Word vectors, ready for one of the two ways to ground costs.
enum Words {
    Direct(Vec<f32>),
    Packed(PackedRows),
}

impl<'d> DocumentBlock<'d> {
    pub fn new(target: Target<'_>, block: Gathered<'d>) -> Self {
        let Gathered { rows, vectors } = block;
        let (dim, metric) = (target.random_documents.dim(), target.metric);
        let words = match (target.precision, metric) {
            (CostPrecision::Single, Metric::Euclidean) => {
                Words::Packed(PackedRows::new(&vectors, dim))
            }
            _ => Words::Direct(vectors),
        };
        DocumentBlock {
            dim,
            metric,
            words,
            documents: rows,
        }
    }

    /// Number of its distinct words, filled up.
    pub fn n_words(&self) -> usize {
        match &self.words {
            Words::Direct(vectors) => vectors.len() / self.dim,
            Words::Packed(rows) => rows.n_padded(),
        }
    }

    /// Ground costs from the block's words to the words of a tile, by all threads or by this
    /// one alone.
    pub fn costs<'t>(
        &self,
        random_documents: &RandomDocuments,
        tile: Range<usize>,
        costs: &'t mut Vec<f64>,
        by_all_threads: bool,
    ) -> TileCosts<'t> {
        let random_words = random_documents.words_of_range(tile.clone());
        let width = match &self.words {
            Words::Direct(vectors) => {
                let columns = Columns::with_metric(random_words, self.dim, self.metric);
                let width = columns.width();
                costs.resize(vectors.len() / self.dim * width, 0.0);
                match by_all_threads {
                    false => direct::costs(vectors, &columns, costs),
                    true => costs
                        .par_chunks_mut(WORDS_PER_TASK * width)
                        .zip(vectors.par_chunks(WORDS_PER_TASK * self.dim))
                        .for_each(|(costs, vectors)| direct::costs(vectors, &columns, costs)),
                }
                width
            }
            Words::Packed(rows) => {
                let columns = PackedColumns::new(random_words, self.dim);
                let width = columns.width();
                costs.resize(rows.n_padded() * width, 0.0);
                match by_all_threads {
                    false => product::costs(rows.all(), &columns, costs),
                    true => costs
                        .par_chunks_mut(GROUPS_PER_TASK * product::ROWS * width)
                        .zip(rows.parts(GROUPS_PER_TASK))
                        .for_each(|(costs, rows)| product::costs(rows, &columns, costs)),
                }
                width
            }
        };
        let mut start = 0;
        let sinks = tile.clone().map(|j| {
            let sinks = start..start + random_documents.document_len(j);
            start = sinks.end;
            sinks
        });
        TileCosts {
            sinks: sinks.collect(),
            documents: tile,
            width,
            costs,
        }
    }
}

/// Ground costs from a block's words (rows) to the words of some random documents.
pub(super) struct TileCosts<'t> {
    pub documents: Range<usize>,
    /// Columns of each random document.
    sinks: Vec<Range<usize>>,
    width: usize,
    costs: &'t [f64],
}

/// What one thread reuses from problem to problem.
#[derive(Default)]
pub(super) struct Scratch {
    workspace: Workspace,
    costs: Vec<f64>,
    demand: Vec<f64>,
}

impl TileCosts<'_> {
    /// One document's features for the random documents of the tile.
    pub fn solve<T: Copy>(
        &self,
        document: &Row,
        features: &mut [T],
        empty: T,
        feature: impl Fn(usize, f64) -> T,
        scratch: &mut Scratch,
    ) -> Result<()> {
        // Features may be subnormal numbers: the exponentials of great distances.
        let _ieee = IeeeArithmetic::enter();
        if let Some(known) = document.known {
            for (out, j) in features.iter_mut().zip(self.documents.clone()) {
                *out = feature(j, f64::from(known[j]));
            }
            return Ok(());
        }
        if document.words.is_empty() {
            features.fill(empty);
            return Ok(());
        }
        for ((out, sinks), j) in features
            .iter_mut()
            .zip(&self.sinks)
            .zip(self.documents.clone())
        {
            self.gather(&document.words, sinks, &mut scratch.costs);
            scratch.demand.clear();
            scratch.demand.resize(sinks.len(), 1.0 / sinks.len() as f64);
            let (costs, demand) = (&scratch.costs, &scratch.demand);
            let value = scratch
                .workspace
                .optimal_value(costs, document.weights, demand)?;
            // Ground costs are not negative; sums of differences of them may be, by rounding.
            let distance = value.max(0.0);
            *out = feature(j, distance);
        }
        Ok(())
    }

    /// The rows of some words and columns, one after the other. Copies of a length
    /// the compiler knows are a few moves; others are a call each, which for short rows
    /// costs as much as solving.
    fn gather(&self, words: &[u32], sinks: &Range<usize>, out: &mut Vec<f64>) {
        fn copy<const D: usize>(table: &TileCosts, words: &[u32], first: usize, out: &mut [f64]) {
            for (out, &word) in out.as_chunks_mut::<D>().0.iter_mut().zip(words) {
                let row = &table.costs[word as usize * table.width + first..];
                *out = *row.first_chunk().expect("a row has all columns");
            }
        }
        let d = sinks.len();
        out.resize(words.len() * d, 0.0);
        match d {
            1 => copy::<1>(self, words, sinks.start, out),
            2 => copy::<2>(self, words, sinks.start, out),
            3 => copy::<3>(self, words, sinks.start, out),
            4 => copy::<4>(self, words, sinks.start, out),
            5 => copy::<5>(self, words, sinks.start, out),
            6 => copy::<6>(self, words, sinks.start, out),
            7 => copy::<7>(self, words, sinks.start, out),
            8 => copy::<8>(self, words, sinks.start, out),
            _ => {
                for (out, &word) in out.chunks_exact_mut(d).zip(words) {
                    let row = &self.costs[word as usize * self.width..];
                    out.copy_from_slice(&row[sinks.clone()]);
                }
            }
        }
    }
}
