//! The inner loop: exact distances from documents to random documents.
//!
//! Documents go in blocks, random documents in tiles. For a block, the vectors of
//! its distinct words are gathered once; for each tile, the ground costs from
//! those words to the tile's random words are computed once, and then every
//! document of the block solves one small transport per random document on rows
//! of that table. Memory is one block of word vectors and one tile of costs,
//! however many documents there are.
//!
//! A distance depends on its document and random document alone, so the bits are
//! the same for any block, tile and thread count.

use std::ops::{ControlFlow, Range};
use std::time::Instant;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::sample::SampleDistances;
use super::statistics::EmbeddingStatistics;
use crate::document::{Document, Word};
use crate::error::{Error, Result};
use crate::float_environment::IeeeArithmetic;
use crate::ground::direct::{self, Columns};
use crate::ground::product::{self, PackedColumns, PackedRows};
use crate::random_documents::RandomDocuments;
use crate::space::WordSpace;
use crate::transport::Workspace;

/// Documents that share the gathered word vectors.
const BLOCK: usize = 4096;

/// Random words to a tile, unless one random document has more: a row of costs is
/// then 1 KiB, and those of a block's words stay near the cache.
const TILE_WORDS: usize = 128;

/// Word vectors handed to a thread at once, one by one or in groups.
const WORDS_PER_TASK: usize = 64;
const GROUPS_PER_TASK: usize = 16;

/// How ground costs are computed; see [`crate::ground`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CostPrecision {
    /// For features in single precision.
    Single,
    /// For distances.
    Double,
}

/// What documents are compared with.
#[derive(Clone, Copy)]
pub(super) struct Transform<'m> {
    pub space: &'m WordSpace,
    pub random_documents: &'m RandomDocuments,
    pub precision: CostPrecision,
    /// Distances computed before.
    pub known: Option<&'m SampleDistances>,
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
        if let (Some(accelerator), CostPrecision::Single) =
            (self.space.accelerator(), self.precision)
        {
            return self.accelerated(&**accelerator, documents, out, empty, feature, progress);
        }
        let blocks = documents
            .chunks(BLOCK)
            .zip(out.chunks_mut(BLOCK * n_features));
        // One table for all tiles: fresh memory would take as long to map as to fill.
        let mut table = Vec::new();
        for (documents, out) in blocks {
            let mut clock = Instant::now();
            let mut lap = || {
                let now = Instant::now();
                now.duration_since(std::mem::replace(&mut clock, now))
            };
            let block = DocumentBlock::new(self, documents)?;
            for tile in tiles(self.random_documents) {
                let costs = block.costs(self.random_documents, tile, &mut table);
                let ground_costs = lap();
                out.par_chunks_mut(n_features)
                    .zip(&block.documents)
                    .try_for_each_init(Scratch::default, |scratch, (features, document)| {
                        costs.solve(document, features, empty, &feature, scratch)
                    })?;
                let done = EmbeddingStatistics {
                    distances: (documents.len() * costs.documents.len()) as u64,
                    ground_costs,
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

/// Ranges of random documents with about [`TILE_WORDS`] words each.
fn tiles(random_documents: &RandomDocuments) -> impl Iterator<Item = Range<usize>> + '_ {
    let n = random_documents.len();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == n {
            return None;
        }
        let mut words = random_documents.document_len(start);
        let mut end = start + 1;
        while end < n && words + random_documents.document_len(end) <= TILE_WORDS {
            words += random_documents.document_len(end);
            end += 1;
        }
        let tile = start..end;
        start = end;
        Some(tile)
    })
}

/// Documents whose words are numbered among themselves, and the vectors of those words.
pub(super) struct Gathered<'d> {
    pub rows: Vec<Row<'d>>,
    pub vectors: Vec<f32>,
}

/// A document of a block.
pub(super) struct Row<'d> {
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
        vectors
            .par_chunks_exact_mut(dim)
            .zip(&words)
            .with_min_len(WORDS_PER_TASK)
            .try_for_each(|(vector, &word)| transform.space.copy_vector(word, vector))?;
        Ok(Gathered { rows, vectors })
    }
}

/// The documents of a block and the vectors of their words.
struct DocumentBlock<'d> {
    dim: usize,
    words: Words,
    documents: Vec<Row<'d>>,
}

/// Word vectors, ready for one of the two ways to ground costs.
enum Words {
    Direct(Vec<f32>),
    Packed(PackedRows),
}

impl<'d> DocumentBlock<'d> {
    fn new(transform: &Transform<'d>, documents: &'d [Document]) -> Result<Self> {
        let Gathered { rows, vectors } = Gathered::new(transform, documents)?;
        let dim = transform.space.dim();
        let words = match transform.precision {
            CostPrecision::Double => Words::Direct(vectors),
            CostPrecision::Single => Words::Packed(PackedRows::new(&vectors, dim)),
        };
        Ok(DocumentBlock {
            dim,
            words,
            documents: rows,
        })
    }

    /// Ground costs from the block's words to the words of a tile.
    fn costs<'t>(
        &self,
        random_documents: &RandomDocuments,
        tile: Range<usize>,
        costs: &'t mut Vec<f64>,
    ) -> TileCosts<'t> {
        let random_words = random_documents.words_of_range(tile.clone());
        let width = match &self.words {
            Words::Direct(vectors) => {
                let columns = Columns::new(random_words, self.dim);
                let width = columns.width();
                costs.resize(vectors.len() / self.dim * width, 0.0);
                costs
                    .par_chunks_mut(WORDS_PER_TASK * width)
                    .zip(vectors.par_chunks(WORDS_PER_TASK * self.dim))
                    .for_each(|(costs, vectors)| direct::costs(vectors, &columns, costs));
                width
            }
            Words::Packed(rows) => {
                let columns = PackedColumns::new(random_words, self.dim);
                let width = columns.width();
                costs.resize(rows.n_padded() * width, 0.0);
                costs
                    .par_chunks_mut(GROUPS_PER_TASK * product::ROWS * width)
                    .zip(rows.parts(GROUPS_PER_TASK))
                    .for_each(|(costs, rows)| product::costs(rows, &columns, costs));
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
struct TileCosts<'t> {
    documents: Range<usize>,
    /// Columns of each random document.
    sinks: Vec<Range<usize>>,
    width: usize,
    costs: &'t [f64],
}

/// What one thread reuses from problem to problem.
#[derive(Default)]
struct Scratch {
    workspace: Workspace,
    costs: Vec<f64>,
    demand: Vec<f64>,
}

impl TileCosts<'_> {
    /// One document's features for the random documents of the tile.
    fn solve<T: Copy>(
        &self,
        document: &Row,
        features: &mut [T],
        empty: T,
        feature: impl Fn(usize, f64) -> T,
        scratch: &mut Scratch,
    ) -> Result<()> {
        // Features may be subnormal numbers: the exponentials of great distances.
        let _ieee = IeeeArithmetic::enter();
        let features = &mut features[self.documents.clone()];
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
