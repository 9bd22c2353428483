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

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::document::Document;
use crate::error::{Error, Result};
use crate::ground::{self, Columns};
use crate::random_documents::RandomDocuments;
use crate::space::WordSpace;
use crate::transport::Workspace;

/// Documents that share the gathered word vectors.
const BLOCK: usize = 4096;

/// Random words to a tile, unless one random document has more: a row of costs is
/// then 1 KiB, and those of a block's words stay near the cache.
const TILE_WORDS: usize = 128;

/// Word vectors handed to a thread at once.
const WORDS_PER_TASK: usize = 64;

/// Distances from every document to every random document, row by row. A document
/// without words gets infinity.
pub(super) fn distances(
    space: &WordSpace,
    random_documents: &RandomDocuments,
    documents: &[Document],
) -> Result<Vec<f64>> {
    let mut out = vec![0.0; documents.len() * random_documents.len()];
    let never = &mut |_| ControlFlow::Continue(());
    map_distances(
        space,
        random_documents,
        documents,
        &mut out,
        f64::INFINITY,
        |_, d| d,
        never,
    )?;
    Ok(out)
}

/// Like [`distances`], but writes `feature(j, distance)` for random document `j`, and
/// `empty` for documents without words. `progress` hears of the distances done since it was last called
/// and may break off.
pub(super) fn map_distances<T: Copy + Send + Sync>(
    space: &WordSpace,
    random_documents: &RandomDocuments,
    documents: &[Document],
    out: &mut [T],
    empty: T,
    feature: impl Fn(usize, f64) -> T + Sync,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<()> {
    let n_features = random_documents.len();
    assert_eq!(out.len(), documents.len() * n_features, "output shape");
    let blocks = documents
        .chunks(BLOCK)
        .zip(out.chunks_mut(BLOCK * n_features));
    for (documents, out) in blocks {
        let block = Block::new(space, documents)?;
        for tile in tiles(random_documents) {
            let costs = block.costs(random_documents, tile);
            out.par_chunks_mut(n_features)
                .zip(&block.rows)
                .try_for_each_init(Scratch::default, |scratch, (features, document)| {
                    costs.solve(document, features, empty, &feature, scratch)
                })?;
            let done = documents.len() * costs.documents.len();
            if progress(done as u64).is_break() {
                return Err(Error::Interrupted);
            }
        }
    }
    Ok(())
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

/// The documents of a block and the vectors of their words.
struct Block<'d> {
    dim: usize,
    vectors: Vec<f32>,
    rows: Vec<Row<'d>>,
}

/// A document whose words are numbered within their block.
struct Row<'d> {
    words: Vec<u32>,
    weights: &'d [f64],
}

impl<'d> Block<'d> {
    fn new(space: &WordSpace, documents: &'d [Document]) -> Result<Self> {
        let mut number = HashMap::new();
        let mut words = Vec::new();
        let rows = documents.iter().map(|document| Row {
            words: document
                .words()
                .iter()
                .map(|&word| {
                    *number.entry(word).or_insert_with(|| {
                        words.push(word);
                        words.len() as u32 - 1
                    })
                })
                .collect(),
            weights: document.weights(),
        });
        let rows = rows.collect();
        let dim = space.dim();
        let mut vectors = vec![0.0; words.len() * dim];
        vectors
            .par_chunks_exact_mut(dim)
            .zip(&words)
            .with_min_len(WORDS_PER_TASK)
            .try_for_each(|(vector, &word)| space.copy_vector(word, vector))?;
        Ok(Block { dim, vectors, rows })
    }

    /// Ground costs from the block's words to the words of a tile.
    fn costs(&self, random_documents: &RandomDocuments, tile: Range<usize>) -> TileCosts {
        let columns = Columns::new(random_documents.words_of_range(tile.clone()), self.dim);
        let width = columns.width();
        let mut costs = vec![0.0; self.vectors.len() / self.dim * width];
        costs
            .par_chunks_mut(WORDS_PER_TASK * width)
            .zip(self.vectors.par_chunks(WORDS_PER_TASK * self.dim))
            .for_each(|(costs, vectors)| ground::costs(vectors, &columns, costs));
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
struct TileCosts {
    documents: Range<usize>,
    /// Columns of each random document.
    sinks: Vec<Range<usize>>,
    width: usize,
    costs: Vec<f64>,
}

/// What one thread reuses from problem to problem.
#[derive(Default)]
struct Scratch {
    workspace: Workspace,
    costs: Vec<f64>,
    demand: Vec<f64>,
}

impl TileCosts {
    /// One document's features for the random documents of the tile.
    fn solve<T: Copy>(
        &self,
        document: &Row,
        features: &mut [T],
        empty: T,
        feature: impl Fn(usize, f64) -> T,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let features = &mut features[self.documents.clone()];
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
            let distance = scratch.workspace.solve(costs, document.weights, demand)?;
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
