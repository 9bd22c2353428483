//! The inner loop: exact distances from documents to random documents.
//!
//! Documents go in blocks, random documents in tiles. For a block, the vectors of
//! its distinct words are gathered once; for each tile, the ground costs from
//! those words to the tile's random words are computed once, and then every
//! document of the block solves one small transport per random document on rows
//! of that table. Memory is one block of word vectors and one tile of costs,
//! however many documents there are. Where the documents are few, as in a service, threads take
//! a tile each instead and wait for each other only once.
//!
//! A distance depends on its document and random document alone, so the bits are
//! the same for any block, tile and thread count.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::sample::SampleDistances;
use super::statistics::EmbeddingStatistics;
use super::tile::{DocumentBlock, Scratch, TILE_WORDS, tiles, widest_tile};
use crate::document::{Document, Word};
use crate::error::{Error, Result};
use crate::random_documents::RandomDocuments;
use crate::space::{Metric, WordSpace};

/// Documents that share the gathered word vectors.
const BLOCK: usize = 4096;

/// Documents of a small block, and costs of a tile of it, 4 MiB at most: every thread can have
/// them for itself. With more documents, waiting for each other costs threads nothing.
const SMALL_BLOCK: usize = 256;
const SMALL_TABLE: usize = 1 << 19;

/// Random words to a tile of a small block, at the least: shorter rows of costs are filled up.
const MIN_TILE_WORDS: usize = 16;

/// Distances of a small block between two calls of `progress`: a second for the longest documents.
const DISTANCES_AT_ONCE: usize = 1 << 15;

/// Word vectors that a thread gathers at once.
const WORDS_PER_TASK: usize = 64;

thread_local! {
    /// What a thread needs for a tile of a small block, kept for the next one: fresh memory
    /// would take as long to map as to fill.
    static MEMORY: RefCell<(Vec<f64>, Scratch)> = RefCell::default();
}

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
        };
        let blocks = documents
            .chunks(BLOCK)
            .zip(out.chunks_mut(BLOCK * n_features));
        // One table for all tiles: fresh memory would take as long to map as to fill.
        let mut table = Vec::new();
        for (documents, out) in blocks {
            let clock = Instant::now();
            let block = Gathered::new(self, documents)?;
            target.map_block(block, clock, out, empty, &feature, &mut table, progress)?;
        }
        Ok(())
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
}

impl Target<'_> {
    /// [`Transform::map_distances`] for one block. `clock` is when work on it began, `table`
    /// memory that the next may use again.
    #[expect(clippy::too_many_arguments, reason = "what the loop over blocks holds")]
    pub fn map_block<T: Copy + Send + Sync>(
        self,
        block: Gathered<'_>,
        clock: Instant,
        out: &mut [T],
        empty: T,
        feature: &(impl Fn(usize, f64) -> T + Sync),
        table: &mut Vec<f64>,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let block = DocumentBlock::new(self, block);
        let width = widest_tile(self.random_documents);
        let is_small =
            block.documents.len() <= SMALL_BLOCK && block.n_words() * width <= SMALL_TABLE;
        if self.threads == Threads::Caller || is_small {
            return self.map_small_block(&block, clock, out, empty, feature, progress);
        }
        let n_features = self.random_documents.len();
        let mut lap = lap_from(clock);
        for tile in tiles(self.random_documents, TILE_WORDS) {
            let costs = block.costs(self.random_documents, tile.clone(), table, true);
            let ground_costs = lap();
            out.par_chunks_mut(n_features)
                .zip(&block.documents)
                .try_for_each_init(Scratch::default, |scratch, (features, document)| {
                    let features = &mut features[tile.clone()];
                    costs.solve(document, features, empty, feature, scratch)
                })?;
            let done = EmbeddingStatistics {
                distances: (block.documents.len() * tile.len()) as u64,
                ground_costs,
                transport: lap(),
            };
            if progress(&done).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// The same, a tile at a time for each thread.
    fn map_small_block<T: Copy + Send + Sync>(
        self,
        block: &DocumentBlock<'_>,
        clock: Instant,
        out: &mut [T],
        empty: T,
        feature: &(impl Fn(usize, f64) -> T + Sync),
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let n_features = self.random_documents.len();
        let n_threads = match self.threads {
            Threads::Caller => 1,
            Threads::All => rayon::current_num_threads(),
        };
        // Enough tiles that no thread is idle for long.
        let random_words = self.random_documents.words_of_range(0..n_features);
        let n_words = random_words.len() / self.random_documents.dim().max(1);
        let most_words = (n_words / (4 * n_threads)).clamp(MIN_TILE_WORDS, TILE_WORDS);
        let tiles = tiles(self.random_documents, most_words);
        let mut wall = lap_from(clock);
        let of_tile = |tile: &Range<usize>, memory: &mut (Vec<f64>, Scratch)| {
            let (table, scratch) = memory;
            let mut lap = lap_from(Instant::now());
            let costs = block.costs(self.random_documents, tile.clone(), table, false);
            let ground_costs = lap();
            let mut features = vec![empty; block.documents.len() * tile.len()];
            let rows = features.chunks_exact_mut(tile.len());
            for (document, features) in block.documents.iter().zip(rows) {
                costs.solve(document, features, empty, feature, scratch)?;
            }
            if table.capacity() > SMALL_TABLE {
                *table = Vec::new();
            }
            Ok((features, ground_costs, lap()))
        };
        let of_tile = |tile| MEMORY.with_borrow_mut(|memory| of_tile(tile, memory));
        let n_each = (n_features * block.documents.len()).div_ceil(tiles.len().max(1));
        let at_once = (DISTANCES_AT_ONCE / n_each.max(1)).max(n_threads);
        for tiles in tiles.chunks(at_once) {
            let solved: Vec<_> = match self.threads {
                Threads::Caller => tiles.iter().map(of_tile).collect::<Result<_>>()?,
                Threads::All => tiles.par_iter().map(of_tile).collect::<Result<_>>()?,
            };
            let (mut ground_costs, mut all) = (Duration::ZERO, Duration::ZERO);
            for (tile, (features, costs, transport)) in tiles.iter().zip(&solved) {
                let rows = features.chunks_exact(tile.len());
                for (out, features) in out.chunks_exact_mut(n_features).zip(rows) {
                    out[tile.clone()].copy_from_slice(features);
                }
                ground_costs += *costs;
                all += *costs + *transport;
            }
            // Threads worked side by side: the time on the wall is shared out as theirs was.
            let wall = wall();
            let share = ground_costs.as_secs_f64() / all.as_secs_f64().max(1e-9);
            let ground_costs = wall.mul_f64(share);
            let n_random = tiles.iter().map(ExactSizeIterator::len).sum::<usize>();
            let done = EmbeddingStatistics {
                distances: (block.documents.len() * n_random) as u64,
                ground_costs,
                transport: wall.saturating_sub(ground_costs),
            };
            if progress(&done).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}

/// A clock that tells how long ago it was asked last.
fn lap_from(mut last: Instant) -> impl FnMut() -> Duration {
    move || {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut last, now))
    }
}

/// Documents whose words are numbered among themselves, and the vectors of those words.
pub(crate) struct Gathered<'d> {
    pub rows: Vec<Row<'d>>,
    pub vectors: Vec<f32>,
}

/// A document of a block.
pub(crate) struct Row<'d> {
    /// Numbers of its words within the block.
    pub words: Vec<u32>,
    pub weights: &'d [f64],
    /// Its distances, where they are known already; then it has no words here.
    pub known: Option<&'d [f32]>,
}

impl<'d> Gathered<'d> {
    pub fn new(transform: &Transform<'d>, documents: &'d [Document]) -> Result<Self> {
        let mut number = HashMap::new();
        let mut words: Vec<Word> = Vec::new();
        let rows = documents.iter().map(|document| {
            let known = transform.known.and_then(|known| known.get(document));
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
        let dim = transform.space.dim();
        let mut vectors = vec![0.0; words.len() * dim];
        let copy = |(vector, &word): (&mut [f32], &Word)| transform.space.copy_vector(word, vector);
        match transform.threads {
            Threads::Caller => vectors
                .chunks_exact_mut(dim)
                .zip(&words)
                .try_for_each(copy)?,
            Threads::All => vectors
                .par_chunks_exact_mut(dim)
                .zip(&words)
                .with_min_len(WORDS_PER_TASK)
                .try_for_each(copy)?,
        }
        Ok(Gathered { rows, vectors })
    }
}
