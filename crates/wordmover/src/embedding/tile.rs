//! Tiles of random documents, and the transports onto them.

use std::ops::Range;

use super::cost_table::CostTable;
use super::transform::{CostPrecision, Row, Target};
use crate::error::Result;
use crate::float_environment::IeeeArithmetic;
use crate::ground::direct;
use crate::ground::product::{PackedColumns, PackedRows};
use crate::random_documents::RandomDocuments;
use crate::space::Metric;
use crate::transport::Workspace;

/// Random words to a tile, unless one random document has more: a row of costs is
/// then 512 bytes, and those of a block's words stay near the cache.
pub(super) const TILE_WORDS: usize = 128;

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
pub(super) enum Words {
    Direct { vectors: Vec<f32>, dim: usize },
    Packed { rows: PackedRows, n_words: usize },
}

impl Words {
    /// Of vectors one after the other.
    pub fn new(target: Target<'_>, vectors: Vec<f32>) -> Self {
        let dim = target.random_documents.dim();
        match target.takes_products() {
            true => Words::Packed {
                rows: PackedRows::new(&vectors, dim),
                n_words: vectors.len() / dim,
            },
            false => Words::Direct { vectors, dim },
        }
    }

    pub fn n_words(&self) -> usize {
        match self {
            Words::Direct { vectors, dim } => vectors.len() / dim,
            Words::Packed { n_words, .. } => *n_words,
        }
    }

    /// Rows of a table: words, filled up to whole groups.
    pub fn n_rows(&self) -> usize {
        match self {
            Words::Direct { .. } => self.n_words(),
            Words::Packed { rows, .. } => rows.n_padded(),
        }
    }

    /// The vectors, if they were not packed.
    pub fn vectors(&self) -> &[f32] {
        match self {
            Words::Direct { vectors, .. } => vectors,
            Words::Packed { .. } => &[],
        }
    }
}

/// The words of a tile of random documents.
#[derive(Debug)]
pub(super) struct TileColumns {
    pub documents: Range<usize>,
    /// Columns of each random document.
    sinks: Vec<Range<usize>>,
    pub columns: Columns,
}

/// Random words, ready for one of the two ways to ground costs.
#[derive(Debug)]
pub(super) enum Columns {
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

    /// Random words.
    pub fn n_words(&self) -> usize {
        self.sinks.last().map_or(0, |sinks| sinks.end)
    }

    /// Length of a row of costs: random words, filled up to whole groups.
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

/// Transports onto the random documents of a tile.
pub(super) struct TileTransports<'t> {
    pub tile: &'t TileColumns,
    pub costs: &'t CostTable,
}

/// What one thread reuses from problem to problem.
#[derive(Default)]
pub(super) struct Scratch {
    workspace: Workspace,
    costs: Vec<f64>,
    demand: Vec<f64>,
}

impl TileTransports<'_> {
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
        let n = document.words.len();
        self.costs.turn(&document.words, &mut scratch.costs);
        for ((out, sinks), j) in features
            .iter_mut()
            .zip(&self.tile.sinks)
            .zip(self.tile.documents.clone())
        {
            let costs = &scratch.costs[sinks.start * n..sinks.end * n];
            scratch.demand.clear();
            scratch.demand.resize(sinks.len(), 1.0 / sinks.len() as f64);
            let value = scratch.workspace.optimal_value_by_sinks(
                costs,
                document.weights,
                &scratch.demand,
            )?;
            // Ground costs are not negative; sums of differences of them may be, by rounding.
            let distance = value.max(0.0);
            *out = feature(j, distance);
        }
        Ok(())
    }
}
