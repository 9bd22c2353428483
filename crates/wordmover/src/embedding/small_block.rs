//! Few documents, as in a service: a tile of random documents for each thread, which wait for
//! each other only once. The tiles are prepared once: for a single short text, packing the random
//! words would take as long as the products with them.
//!
//! Threads take one tile after the other, and whoever finds none left is free for the next block,
//! if another caller has one: rayon's iterators would let a thread that waits for the last tiles
//! begin with that block, and end this one only when it is done.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::cost_table::CostTable;
use super::frequent_words::{FrequentInBlock, FrequentWords};
use super::statistics::EmbeddingStatistics;
use super::tile::{Scratch, TileColumns, TileTransports, Words, tiles, widest_tile};
use super::transform::{Block, Target, Threads, lap_from};
use crate::error::{Error, Result};

/// Documents of a small block, and costs of a tile of it, 2 MiB at most: every thread can have
/// them for itself. With more documents, waiting for each other costs threads nothing.
const SMALL_BLOCK: usize = 256;
const SMALL_TABLE: usize = 1 << 19;

/// Random words to a tile of a small block, unless one random document has more: the costs of a
/// batch of thirty texts then stay in the second level of the cache, and 512 features make 38 tiles,
/// so that no thread of a dozen is idle for long.
const SMALL_TILE_WORDS: usize = 48;

/// Coordinates of prepared random words at most, 16 MiB; more are packed for each block.
const MOST_PREPARED: usize = 1 << 22;

/// Distances of a small block between two calls of `progress`: a second for the longest documents.
const DISTANCES_AT_ONCE: usize = 1 << 15;

thread_local! {
    /// What a thread needs for a tile of a small block, kept for the next one: fresh memory
    /// would take as long to map as to fill.
    static MEMORY: RefCell<(CostTable, Scratch)> = RefCell::default();
}

/// The tiles of a model's random documents, made when they are first needed, and the words that
/// are compared with them time and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct PreparedTiles(Arc<(OnceLock<Vec<TileColumns>>, FrequentWords)>);

impl PreparedTiles {
    pub(super) fn frequent(&self) -> &FrequentWords {
        &self.0.1
    }
}

impl<'m> Target<'m> {
    /// Whether so many documents with so many distinct words go this way.
    pub(super) fn is_small(self, n_documents: usize, n_words: usize) -> bool {
        let width = widest_tile(self.random_documents);
        self.threads == Threads::Caller
            || n_documents <= SMALL_BLOCK && n_words * width <= SMALL_TABLE
    }

    fn n_threads(self) -> usize {
        match self.threads {
            Threads::Caller => 1,
            Threads::All => rayon::current_num_threads(),
        }
    }

    fn small_tiles(self) -> Vec<TileColumns> {
        let tiles = tiles(self.random_documents, SMALL_TILE_WORDS).into_iter();
        tiles.map(|tile| TileColumns::new(self, tile)).collect()
    }

    /// The tiles for small blocks, if they are kept.
    pub(super) fn prepared_tiles(self) -> Option<&'m [TileColumns]> {
        let random_documents = self.random_documents;
        let all = random_documents.words_of_range(0..random_documents.len());
        let prepared = self.prepared.filter(|_| all.len() <= MOST_PREPARED)?;
        Some(prepared.0.0.get_or_init(|| self.small_tiles()))
    }

    /// [`map_block`](Target::map_block) for a small block.
    pub(super) fn map_small_block<T: Copy + Send + Sync>(
        self,
        block: Block<'_>,
        clock: Instant,
        out: &mut [T],
        empty: T,
        feature: &(impl Fn(usize, f64) -> T + Sync),
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let n_features = self.random_documents.len();
        let unprepared;
        let tiles = match self.prepared_tiles() {
            Some(tiles) => tiles,
            None => {
                unprepared = self.small_tiles();
                &unprepared
            }
        };
        let Block {
            rows,
            vectors,
            frequent,
        } = block;
        let words = Words::new(self, vectors);
        let mut wall = lap_from(clock);
        let n_frequent = frequent.as_ref().map_or(0, FrequentInBlock::n_words);
        let of_tile = |index: usize, memory: &mut (CostTable, Scratch)| {
            let (table, scratch) = memory;
            let tile = &tiles[index];
            let mut lap = lap_from(Instant::now());
            table.fill(&words, tile, n_frequent);
            if let Some(frequent) = &frequent {
                table.fill_last_rows(frequent.rows_of(index));
            }
            let ground_costs = lap();
            let transports = TileTransports { tile, costs: table };
            let mut features = vec![empty; rows.len() * tile.documents.len()];
            let of_documents = features.chunks_exact_mut(tile.documents.len());
            for (document, features) in rows.iter().zip(of_documents) {
                transports.solve(document, features, empty, feature, scratch)?;
            }
            table.shrink(SMALL_TABLE);
            Ok((features, ground_costs, lap()))
        };
        let of_tile = |index| MEMORY.with_borrow_mut(|memory| of_tile(index, memory));
        let n_each = (n_features * rows.len()).div_ceil(tiles.len().max(1));
        let at_once = (DISTANCES_AT_ONCE / n_each.max(1)).max(self.n_threads());
        for start in (0..tiles.len()).step_by(at_once) {
            let now = start..tiles.len().min(start + at_once);
            let solved: Vec<_> = match self.threads {
                Threads::Caller => now.clone().map(of_tile).collect::<Result<_>>()?,
                Threads::All => by_all_threads(now.clone(), of_tile)?,
            };
            let (mut ground_costs, mut all, mut n_random) = (Duration::ZERO, Duration::ZERO, 0);
            for (tile, (features, costs, transport)) in tiles[now].iter().zip(solved) {
                let tile = tile.documents.clone();
                let of_documents = features.chunks_exact(tile.len());
                for (out, features) in out.chunks_exact_mut(n_features).zip(of_documents) {
                    out[tile.clone()].copy_from_slice(features);
                }
                ground_costs += costs;
                all += costs + transport;
                n_random += tile.len();
            }
            // Threads worked side by side: the time on the wall is shared out as theirs was.
            let wall = wall();
            let share = ground_costs.as_secs_f64() / all.as_secs_f64().max(1e-9);
            let ground_costs = wall.mul_f64(share);
            let done = EmbeddingStatistics {
                distances: (rows.len() * n_random) as u64,
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

/// The results of some tiles, in their order, from as many threads as have time.
fn by_all_threads<R: Send + Sync>(
    tiles: Range<usize>,
    of_tile: impl Fn(usize) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let solved: Vec<OnceLock<Result<R>>> = tiles.clone().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let take_tiles = || {
        loop {
            let at = next.fetch_add(1, Relaxed);
            let Some(solved) = solved.get(at) else { break };
            let _ = solved.set(of_tile(tiles.start + at));
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(tiles.len()) {
            scope.spawn(|_| take_tiles());
        }
    });
    let solved = solved.into_iter().map(OnceLock::into_inner);
    solved
        .map(|solved| solved.expect("every tile was taken"))
        .collect()
}
