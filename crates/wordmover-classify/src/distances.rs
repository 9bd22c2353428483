//! Distances from documents to random documents, kept in tiles.
//!
//! A tile is some thousand documents by [`COLUMNS`] random documents. It is the unit of
//! the cache: an interrupted run loses the tile it was at, a run with more features
//! adds columns, and one with other gammas, values of C or folds computes none.

use std::ops::Range;
use std::sync::Arc;

use wordmover::{
    Document, EmbeddingParams, WordMoversEmbedding,
    embedding::{EmbeddingStatistics, Gamma, PostProcessing},
};

use crate::cache::{Cache, Key, KeyBuilder};
use crate::error::Result;
use crate::progress::{Event, Reporter};
use crate::training_documents::TrainingDocuments;

/// Random documents to a tile.
const COLUMNS: usize = 128;

/// Documents to a tile.
const ROWS: usize = 4096;

/// The distances of the training documents to the random documents of one embedding.
pub(crate) struct DistanceTable {
    pub training: Arc<TrainingDocuments>,
    /// Its random documents are drawn as columns are wanted.
    embedding: WordMoversEmbedding,
    /// Key of each block of documents.
    blocks: Vec<Key>,
    /// Tiles there are: all blocks of the first columns, then of the next.
    tiles: Vec<Vec<f32>>,
}

/// The features of a table's documents, row by row, and the embedding that gives them.
pub(crate) struct EmbeddedRows {
    pub embedding: WordMoversEmbedding,
    pub features: Vec<f32>,
}

impl DistanceTable {
    /// Without columns yet; the parameters' number of features is not used.
    pub fn new(params: &EmbeddingParams, training: Arc<TrainingDocuments>) -> Result<Self> {
        // Distances know no gamma and no post-processing.
        let params = params.clone().raw().gamma(Gamma::None).n_features(COLUMNS);
        let space = training.model.space();
        let blocks = training.documents.chunks(ROWS).map(|block| {
            let key = KeyBuilder::new("documents-2");
            key.with(|hash| hash.documents(space, block)).finish()
        });
        Ok(DistanceTable {
            blocks: blocks.collect(),
            embedding: WordMoversEmbedding::draw(params, training.model.clone())?,
            training,
            tiles: Vec::new(),
        })
    }

    /// Sees to it that the distances to the first random documents are there.
    pub fn extend(&mut self, n_columns: usize, cache: &Cache, reporter: &Reporter) -> Result<()> {
        self.draw(n_columns)?;
        let places: Vec<_> = self.places(n_columns).skip(self.tiles.len()).collect();
        let mut tiles = Vec::with_capacity(places.len());
        let mut n_missing = 0;
        for &(tile, block) in &places {
            let n_values = COLUMNS * self.block(block).len();
            let kept = cache.get(&self.key(tile, block))?;
            let values = kept.and_then(|bytes| decode(&bytes, n_values));
            if values.is_none() {
                n_missing += n_values as u64;
            }
            tiles.push(values);
        }
        if n_missing > 0 {
            reporter.stage("distances", n_missing, "distances")?;
        }
        for ((tile, block), values) in places.into_iter().zip(tiles) {
            let values = match values {
                Some(values) => values,
                None => self.compute(tile, block, cache, reporter)?,
            };
            self.tiles.push(values);
        }
        Ok(())
    }

    /// Sees to it that the first random documents are there.
    fn draw(&mut self, n_columns: usize) -> Result<()> {
        let n_columns = n_columns.next_multiple_of(COLUMNS);
        if self.embedding.n_features() < n_columns {
            let params = self.embedding.params().clone().n_features(n_columns);
            self.embedding = WordMoversEmbedding::draw(params, self.training.model.clone())?;
        }
        Ok(())
    }

    fn compute(
        &self,
        tile: usize,
        block: usize,
        cache: &Cache,
        reporter: &Reporter,
    ) -> Result<Vec<f32>> {
        let documents = self.block(block);
        let mut values = vec![0.0; documents.len() * COLUMNS];
        let observer = reporter.observer();
        let mut progress = |done: &EmbeddingStatistics| observer(Event::Steps(done.distances));
        self.embedding
            .distances_into(documents, columns(tile), &mut values, &mut progress)?;
        cache.put(&self.key(tile, block), &encode(&values))?;
        Ok(values)
    }

    /// The first columns of the table, row by row.
    ///
    /// # Panics
    ///
    /// If [`extend`](Self::extend) did not see to them.
    pub fn rows(&self, n_columns: usize) -> Vec<f32> {
        let mut rows = vec![0.0; self.training.documents.len() * n_columns];
        for (place, values) in self.places(n_columns).zip(&self.tiles) {
            copy_tile(place, values, &mut rows, n_columns);
        }
        rows
    }

    /// The features that the first columns make, row by row, and the embedding that gives
    /// them.
    ///
    /// # Panics
    ///
    /// If [`extend`](Self::extend) did not see to them.
    pub fn features(
        &self,
        n_columns: usize,
        gamma: f64,
        how: PostProcessing,
    ) -> Result<EmbeddedRows> {
        self.embedded(self.rows(n_columns), n_columns, gamma, how)
    }

    /// The embedding with raw features, and the features of no document.
    pub fn without_features(&self, n_columns: usize, gamma: f64) -> Result<EmbeddedRows> {
        self.embedded(Vec::new(), n_columns, gamma, PostProcessing::Raw)
    }

    fn embedded(
        &self,
        mut rows: Vec<f32>,
        n_columns: usize,
        gamma: f64,
        how: PostProcessing,
    ) -> Result<EmbeddedRows> {
        let params = self.embedding.params().clone();
        let params = params.n_features(n_columns).gamma(Gamma::Value(gamma));
        let embedding = WordMoversEmbedding::draw(params, self.training.model.clone())?;
        let embedding = embedding.post_processed(how, &rows);
        embedding.make_features(&mut rows)?;
        Ok(EmbeddedRows {
            embedding,
            features: rows,
        })
    }

    /// The same for columns that need not be there, of a table that has none after: with many
    /// features, distances beside them would take as much memory again.
    pub fn take_features(
        &mut self,
        n_columns: usize,
        gamma: f64,
        how: PostProcessing,
        cache: &Cache,
        reporter: &Reporter,
    ) -> Result<EmbeddedRows> {
        self.draw(n_columns)?;
        let mut rows = vec![0.0; self.training.documents.len() * n_columns];
        let mut tiles = std::mem::take(&mut self.tiles).into_iter();
        let mut missing = Vec::new();
        let mut n_missing = 0;
        for place @ (tile, block) in self.places(n_columns) {
            let n_values = COLUMNS * self.block(block).len();
            let values = match tiles.next() {
                Some(values) => Some(values),
                None => {
                    let kept = cache.get(&self.key(tile, block))?;
                    kept.and_then(|bytes| decode(&bytes, n_values))
                }
            };
            match values {
                Some(values) => copy_tile(place, &values, &mut rows, n_columns),
                None => {
                    missing.push(place);
                    n_missing += n_values as u64;
                }
            }
        }
        if n_missing > 0 {
            reporter.stage("distances", n_missing, "distances")?;
        }
        for place @ (tile, block) in missing {
            let values = self.compute(tile, block, cache, reporter)?;
            copy_tile(place, &values, &mut rows, n_columns);
        }
        self.embedded(rows, n_columns, gamma, how)
    }

    /// One over the median distance in the first tile, the scale that gamma is counted
    /// in; 1 where that says nothing.
    pub fn scale(&self) -> f64 {
        let mut distances = self.tiles.first().cloned().unwrap_or_default();
        let middle = distances.len() / 2;
        if distances.is_empty() {
            return 1.0;
        }
        let (_, median, _) = distances.select_nth_unstable_by(middle, f32::total_cmp);
        if *median > 0.0 {
            1.0 / f64::from(*median)
        } else {
            1.0
        }
    }

    /// What the first columns depend on.
    pub fn content(&self, key: KeyBuilder, n_columns: usize) -> KeyBuilder {
        self.places(n_columns)
            .fold(key, |key, (tile, block)| {
                key.bytes(self.key(tile, block).hash())
            })
            .numbers([n_columns as u64].into_iter())
    }

    /// Tile of columns and block of documents, in the order of [`tiles`](Self::tiles).
    fn places(&self, n_columns: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n_blocks = self.blocks.len();
        let tiles = 0..n_columns.div_ceil(COLUMNS);
        tiles.flat_map(move |tile| (0..n_blocks).map(move |block| (tile, block)))
    }

    fn block(&self, block: usize) -> &[Document] {
        let start = block * ROWS;
        let end = (start + ROWS).min(self.training.documents.len());
        &self.training.documents[start..end]
    }

    fn key(&self, tile: usize, block: usize) -> Key {
        let random = self.embedding.random_documents();
        let key = KeyBuilder::new("distances-2").bytes(self.blocks[block].hash());
        key.with(|hash| random.hash(hash, columns(tile))).finish()
    }
}

/// Copies a tile of columns and block of documents to where they are in whole rows.
fn copy_tile((tile, block): (usize, usize), values: &[f32], rows: &mut [f32], n_columns: usize) {
    let start = tile * COLUMNS;
    let width = COLUMNS.min(n_columns - start);
    let rows = rows[block * ROWS * n_columns..].chunks_exact_mut(n_columns);
    for (row, values) in rows.zip(values.chunks_exact(COLUMNS)) {
        row[start..][..width].copy_from_slice(&values[..width]);
    }
}

/// Random documents of a tile.
fn columns(tile: usize) -> Range<usize> {
    tile * COLUMNS..(tile + 1) * COLUMNS
}

fn encode(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// The values, if they are as many as they should be.
fn decode(bytes: &[u8], n_values: usize) -> Option<Vec<f32>> {
    let (values, rest) = bytes.as_chunks::<4>();
    let fits = values.len() == n_values && rest.is_empty();
    fits.then(|| {
        values
            .iter()
            .map(|&value| f32::from_le_bytes(value))
            .collect()
    })
}
