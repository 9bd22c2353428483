//! Ground costs from the words of some documents to a tile of random words, and the transports
//! on them.

use std::ops::Range;

use rayon::prelude::*;

use super::transform::{CostPrecision, Row, Target};
use crate::error::Result;
use crate::float_environment::IeeeArithmetic;
use crate::ground::direct;
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

/// Vectors of words, ready for one of the two ways to ground costs.
pub(super) enum Words<'v> {
    Direct { vectors: &'v [f32], dim: usize },
    Packed(PackedRows),
}

impl<'v> Words<'v> {
    /// Of vectors one after the other.
    pub fn new(target: Target<'_>, vectors: &'v [f32]) -> Self {
        let dim = target.random_documents.dim();
        match target.takes_products() {
            true => Words::Packed(PackedRows::new(vectors, dim)),
            false => Words::Direct { vectors, dim },
        }
    }

    /// Fills a table with a row of ground costs for each word, and some rows more; the last `n_more`
    /// rows are left to the caller and returned. By this thread.
    pub fn costs<'t>(
        &self,
        tile: &TileColumns,
        table: &'t mut Vec<f64>,
        n_more: usize,
    ) -> &'t mut [f64] {
        let n_rows = match self {
            Words::Direct { vectors, dim } => vectors.len() / dim,
            Words::Packed(rows) => rows.n_padded(),
        };
        table.resize((n_rows + n_more) * tile.width(), 0.0);
        let (costs, more) = table.split_at_mut(n_rows * tile.width());
        match (self, &tile.columns) {
            (Words::Direct { vectors, .. }, Columns::Direct(columns)) => {
                direct::costs(vectors, columns, costs);
            }
            (Words::Packed(rows), Columns::Packed(columns)) => {
                product::costs(rows.all(), columns, costs);
            }
            _ => unreachable!("words and columns are made for the same way"),
        }
        more
    }

    /// The same by all threads.
    pub fn costs_by_all_threads(&self, tile: &TileColumns, table: &mut Vec<f64>) {
        match (self, &tile.columns) {
            (Words::Direct { vectors, dim }, Columns::Direct(columns)) => {
                let width = columns.width();
                table.resize(vectors.len() / dim * width, 0.0);
                table
                    .par_chunks_mut(WORDS_PER_TASK * width)
                    .zip(vectors.par_chunks(WORDS_PER_TASK * dim))
                    .for_each(|(costs, vectors)| direct::costs(vectors, columns, costs));
            }
            (Words::Packed(rows), Columns::Packed(columns)) => {
                let width = columns.width();
                table.resize(rows.n_padded() * width, 0.0);
                table
                    .par_chunks_mut(GROUPS_PER_TASK * product::ROWS * width)
                    .zip(rows.parts(GROUPS_PER_TASK))
                    .for_each(|(costs, rows)| product::costs(rows, columns, costs));
            }
            _ => unreachable!("words and columns are made for the same way"),
        }
    }
}

/// The words of a tile of random documents.
#[derive(Debug)]
pub(super) struct TileColumns {
    pub documents: Range<usize>,
    /// Columns of each random document.
    sinks: Vec<Range<usize>>,
    columns: Columns,
}

/// Random words, ready for one of the two ways to ground costs.
#[derive(Debug)]
enum Columns {
    Direct(direct::Columns),
    Packed(PackedColumns),
}

impl TileColumns {
    pub fn new(target: Target<'_>, documents: Range<usize>) -> Self {
        let random_documents = target.random_documents;
        let (dim, metric) = (random_documents.dim(), target.metric);
        let words = random_documents.words_of_range(documents.clone());
        let columns = match target.takes_products() {
            true => Columns::Packed(PackedColumns::new(words, dim)),
            false => Columns::Direct(direct::Columns::with_metric(words, dim, metric)),
        };
        let mut start = 0;
        let sinks = documents.clone().map(|j| {
            let sinks = start..start + random_documents.document_len(j);
            start = sinks.end;
            sinks
        });
        TileColumns {
            sinks: sinks.collect(),
            documents,
            columns,
        }
    }

    /// Length of a row of costs.
    pub fn width(&self) -> usize {
        match &self.columns {
            Columns::Direct(columns) => columns.width(),
            Columns::Packed(columns) => columns.width(),
        }
    }
}

impl Target<'_> {
    /// Whether ground costs are computed by products of matrices.
    pub(super) fn takes_products(self) -> bool {
        (self.precision, self.metric) == (CostPrecision::Single, Metric::Euclidean)
    }
}

/// Ground costs from some words (rows) to the words of some random documents.
pub(super) struct TileCosts<'t> {
    tile: &'t TileColumns,
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

impl<'t> TileCosts<'t> {
    pub fn new(tile: &'t TileColumns, costs: &'t [f64]) -> Self {
        TileCosts {
            tile,
            width: tile.width(),
            costs,
        }
    }

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
            for (out, j) in features.iter_mut().zip(self.tile.documents.clone()) {
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
            .zip(&self.tile.sinks)
            .zip(self.tile.documents.clone())
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
