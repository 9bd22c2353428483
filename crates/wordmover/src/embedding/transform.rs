//! The inner loop: exact distances from documents to random documents.
//!
//! Documents go in blocks, random documents in tiles. For a block, the vectors of
//! its distinct words are gathered once; for each tile, the ground costs from
//! those words to the tile's random words are computed once, and then every
//! document of the block solves one small transport per random document on rows
//! of that table. Memory is one block of word vectors and one tile of costs,
//! however many documents there are. Few documents, as in a service, go another way: see
//! [`super::small_block`].
//!
//! A distance depends on its document and random document alone, so the bits are
//! the same for any block, tile and thread count.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::cost_table::CostTable;
use super::frequent_words::FrequentInBlock;
use super::sample::SampleDistances;
use super::small_block::PreparedTiles;
use super::statistics::EmbeddingStatistics;
use super::tile::{Scratch, TILE_WORDS, TileColumns, TileTransports, Words, tiles};
use crate::document::{Document, Word};
use crate::error::{Error, Result};
use crate::random_documents::RandomDocuments;
use crate::space::{Metric, WordSpace};

/// Documents that share the gathered word vectors. The more they are, the more words they share.
const BLOCK: usize = 16_384;

/// Documents between two reports of progress, at which the caller may break off.
const REPORTED_AT_ONCE: usize = 2048;

/// Word vectors that a thread gathers at once.
const WORDS_PER_TASK: usize = 64;

/// How ground costs are computed; see [`crate::ground`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CostPrecision {
    /// For features in single precision.
    Single,
    /// For distances.
    Double,
}

/// What documents are compared with.
#[derive(Clone, Copy)]
pub(crate) struct Transform<'m> {
    pub space: &'m WordSpace,
    pub random_documents: &'m RandomDocuments,
    pub precision: CostPrecision,
    /// Distances computed before.
    pub known: Option<&'m SampleDistances>,
    /// The random documents as a few documents are compared with them, if they are all.
    pub prepared: Option<&'m PreparedTiles>,
    pub threads: Threads,
}

/// Who works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Those of the current thread pool.
    All,
    /// The one that calls; no thread pool is touched.
    Caller,
}

/// Distances from every document to every random document, row by row. A document
/// without words gets infinity. `progress` as in [`Transform::map_distances`].
pub(super) fn distances(
    space: &WordSpace,
    random_documents: &RandomDocuments,
    documents: &[Document],
    progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
) -> Result<Vec<f64>> {
    let mut out = vec![0.0; documents.len() * random_documents.len()];
    let transform = Transform {
        space,
        random_documents,
        precision: CostPrecision::Double,
        known: None,
        prepared: None,
        threads: Threads::All,
    };
    transform.map_distances(documents, &mut out, f64::INFINITY, |_, d| d, progress)?;
    Ok(out)
}

impl<'m> Transform<'m> {
    /// Writes `feature(j, distance)` for every document and random document `j`, and `empty`
    /// for documents without words. `progress` is called with the work done since the last
    /// call and may break off.
    pub fn map_distances<T: Copy + Send + Sync>(
        &self,
        documents: &[Document],
        out: &mut [T],
        empty: T,
        feature: impl Fn(usize, f64) -> T + Sync,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let n_features = self.random_documents.len();
        assert_eq!(out.len(), documents.len() * n_features, "output shape");
        if let (Some(accelerator), CostPrecision::Single, Metric::Euclidean) = (
            self.space.accelerator(),
            self.precision,
            self.space.metric(),
        ) {
            return self.accelerated(&**accelerator, documents, out, empty, feature, progress);
        }
        let target = Target {
            random_documents: self.random_documents,
            metric: self.space.metric(),
            precision: self.precision,
            threads: self.threads,
            prepared: self.prepared,
        };
        let blocks = documents
            .chunks(BLOCK)
            .zip(out.chunks_mut(BLOCK * n_features));
        let mut table = CostTable::default();
        for (documents, out) in blocks {
            let clock = Instant::now();
            let (mut rows, mut words) = self.number(documents);
            let frequent = self.take_frequent(target, &mut rows, &mut words);
            let block = Block {
                rows,
                vectors: self.vectors(&words)?,
                frequent,
            };
            target.map_block(block, clock, out, empty, &feature, &mut table, progress)?;
        }
        Ok(())
    }

    /// The documents of a block, their words numbered among themselves, and those words.
    pub fn number<'d>(&self, documents: &'d [Document]) -> (Vec<Row<'d>>, Vec<Word<'d>>)
    where
        'm: 'd,
    {
        let mut number = HashMap::new();
        let mut words: Vec<Word> = Vec::new();
        let rows = documents.iter().map(|document| {
            let known = self.known.and_then(|known| known.get(document));
            let n_words = if known.is_some() { 0 } else { document.len() };
            let numbered = document.words().take(n_words).map(|word| {
                *number.entry(word).or_insert_with(|| {
                    words.push(word);
                    words.len() as u32 - 1
                })
            });
            Row {
                words: numbered.collect(),
                weights: document.weights(),
                known,
            }
        });
        let rows = rows.collect();
        (rows, words)
    }

    /// The vectors of some words, one after the other.
    pub fn vectors(&self, words: &[Word]) -> Result<Vec<f32>> {
        let dim = self.space.dim();
        let mut vectors = vec![0.0; words.len() * dim];
        let copy = |(vector, &word): (&mut [f32], &Word)| self.space.copy_vector(word, vector);
        match self.threads {
            Threads::Caller => vectors
                .chunks_exact_mut(dim)
                .zip(words)
                .try_for_each(copy)?,
            Threads::All => vectors
                .par_chunks_exact_mut(dim)
                .zip(words)
                .with_min_len(WORDS_PER_TASK)
                .try_for_each(copy)?,
        }
        Ok(vectors)
    }
}

/// Random documents, and how costs to their words are computed: all that a block of documents
/// needs once the vectors of its words are gathered.
#[derive(Clone, Copy)]
pub(crate) struct Target<'m> {
    pub random_documents: &'m RandomDocuments,
    pub metric: Metric,
    pub precision: CostPrecision,
    pub threads: Threads,
    /// As in [`Transform`].
    pub prepared: Option<&'m PreparedTiles>,
}

impl Target<'_> {
    /// [`Transform::map_distances`] for one block. `clock` is when work on it began, `table`
    /// memory that the next may use again.
    #[expect(clippy::too_many_arguments, reason = "what the loop over blocks holds")]
    pub fn map_block<T: Copy + Send + Sync>(
        self,
        block: Block<'_>,
        clock: Instant,
        out: &mut [T],
        empty: T,
        feature: &(impl Fn(usize, f64) -> T + Sync),
        table: &mut CostTable,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let dim = self.random_documents.dim();
        if self.is_small(block.rows.len(), block.vectors.len() / dim.max(1)) {
            return self.map_small_block(block, clock, out, empty, feature, progress);
        }
        let Block { rows, vectors, .. } = block;
        let words = Words::new(self, vectors);
        let n_features = self.random_documents.len();
        let mut lap = lap_from(clock);
        for tile in tiles(self.random_documents, TILE_WORDS) {
            let columns = TileColumns::new(self, tile.clone());
            table.fill_by_all_threads(&words, &columns);
            let transports = TileTransports {
                tile: &columns,
                costs: table,
            };
            let mut ground_costs = lap();
            let parts = out.chunks_mut(REPORTED_AT_ONCE * n_features);
            for (out, rows) in parts.zip(rows.chunks(REPORTED_AT_ONCE)) {
                out.par_chunks_mut(n_features).zip(rows).try_for_each_init(
                    Scratch::default,
                    |scratch, (features, document)| {
                        let features = &mut features[tile.clone()];
                        transports.solve(document, features, empty, feature, scratch)
                    },
                )?;
                let done = EmbeddingStatistics {
                    distances: (rows.len() * tile.len()) as u64,
                    ground_costs: std::mem::take(&mut ground_costs),
                    transport: lap(),
                };
                if progress(&done).is_break() {
                    return Err(Error::Interrupted);
                }
            }
        }
        Ok(())
    }
}

/// A clock that tells how long ago it was asked last.
pub(super) fn lap_from(mut last: Instant) -> impl FnMut() -> Duration {
    move || {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut last, now))
    }
}

/// Documents, and the vectors of words that they name by number.
pub(crate) struct Block<'d> {
    pub rows: Vec<Row<'d>>,
    pub vectors: Vec<f32>,
    /// Words more whose costs are known, if the block is small.
    pub frequent: Option<FrequentInBlock<'d>>,
}

/// A document of a block.
pub(crate) struct Row<'d> {
    /// Numbers of its words.
    pub words: Vec<u32>,
    pub weights: &'d [f64],
    /// Its distances, where they are known already; then it has no words here.
    pub known: Option<&'d [f32]>,
}
