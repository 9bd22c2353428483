//! Words that come again and again in a service: their ground costs are kept.
//!
//! The texts of a batch of thirty share hardly a word, but many of their words were in batches
//! before. A model that embeds few documents at a time counts the words of the first thousand, then
//! takes the costs of the most frequent ones from here and computes those of the others. The bits
//! are the same: a cost depends on its two words alone.

use std::cmp::Reverse;
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;

use super::cost_table::CostTable;
use super::tile::{TileColumns, Words};
use super::transform::{Row, Target, Transform};
use crate::document::Word;
use crate::ground::product;

/// So many documents tell which words are frequent; whoever embeds fewer would not get back the
/// time that their costs take.
const ENOUGH_DOCUMENTS: usize = 1000;

/// Frequent words at most, and their costs, 16 MiB without those between near words.
const MOST_WORDS: usize = 2048;
const MOST_COSTS: usize = 1 << 22;

/// The frequent words of a model, counted and then settled.
#[derive(Debug, Default)]
pub(super) struct FrequentWords {
    seen: Mutex<Seen>,
    settled: OnceLock<FrequentCosts>,
}

#[derive(Debug, Default)]
struct Seen {
    n_documents: usize,
    /// Documents that have a word, by its id.
    counts: HashMap<u32, u32>,
}

/// Ground costs from frequent words to the random words of every tile.
#[derive(Debug, Default)]
pub(super) struct FrequentCosts {
    /// The row of a word, by its id.
    rows: HashMap<u32, u32>,
    tiles: Vec<TileRows>,
}

/// Costs to the random words of a tile. Most are of single precision, and take half the memory.
#[derive(Debug)]
struct TileRows {
    width: usize,
    costs: Vec<f32>,
    /// Costs between near words, by column.
    near: Vec<(u32, f64)>,
    /// Where those of each row end.
    ends: Vec<usize>,
}

/// The frequent words of a block: their costs are the last rows of its tables.
pub(crate) struct FrequentInBlock<'m> {
    costs: &'m FrequentCosts,
    rows: Vec<u32>,
}

impl FrequentInBlock<'_> {
    pub fn n_words(&self) -> usize {
        self.rows.len()
    }

    /// Their costs to the random words of a tile, row by row.
    pub fn rows_of(&self, tile: usize) -> impl ExactSizeIterator<Item = CostRow<'_>> {
        let tile = &self.costs.tiles[tile];
        self.rows.iter().map(|&row| tile.row(row as usize))
    }
}

/// The costs of a word in single precision, and those to near words, by column.
type CostRow<'c> = (&'c [f32], &'c [(u32, f64)]);

impl TileRows {
    fn new(table: &CostTable, n_rows: usize) -> Self {
        let (mut near, mut ends) = (Vec::new(), Vec::new());
        for row in 0..n_rows {
            near.extend(table.near(row).iter().map(|near| (near.column, near.cost)));
            ends.push(near.len());
        }
        TileRows {
            width: table.width(),
            costs: table.single()[..n_rows * table.width()].to_vec(),
            near,
            ends,
        }
    }

    fn row(&self, row: usize) -> CostRow<'_> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        let costs = &self.costs[row * self.width..][..self.width];
        (costs, &self.near[start..self.ends[row]])
    }
}

impl<'m> Transform<'m> {
    /// Takes frequent words out of the words of a block and numbers those of its documents anew: the
    /// others first, in whole groups of rows, then the frequent ones.
    pub(super) fn take_frequent<'d>(
        &self,
        target: Target<'m>,
        documents: &mut [Row<'_>],
        words: &mut Vec<Word<'d>>,
    ) -> Option<FrequentInBlock<'m>> {
        let prepared = self.prepared?;
        if !target.takes_products() || !target.is_small(documents.len(), words.len()) {
            return None;
        }
        let tiles = target.prepared_tiles()?;
        let costs = prepared
            .frequent()
            .settle(self, target, tiles, documents, words)?;
        let (mut others, mut rows) = (Vec::new(), Vec::new());
        let take = |&word: &Word<'d>| match costs.row(word) {
            Some(row) => {
                rows.push(row);
                Err(rows.len() - 1)
            }
            None => {
                others.push(word);
                Ok(others.len() - 1)
            }
        };
        let numbers: Vec<Result<usize, usize>> = words.iter().map(take).collect();
        let first = others.len().next_multiple_of(product::ROWS);
        *words = others;
        for number in documents.iter_mut().flat_map(|row| &mut row.words) {
            *number = match numbers[*number as usize] {
                Ok(other) => other,
                Err(frequent) => first + frequent,
            } as u32;
        }
        Some(FrequentInBlock { costs, rows })
    }
}

impl FrequentWords {
    /// The costs, as soon as enough documents were seen.
    fn settle(
        &self,
        transform: &Transform<'_>,
        target: Target<'_>,
        tiles: &[TileColumns],
        documents: &[Row<'_>],
        words: &[Word<'_>],
    ) -> Option<&FrequentCosts> {
        if let Some(settled) = self.settled.get() {
            return Some(settled);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // By another thread, meanwhile.
        if let Some(settled) = self.settled.get() {
            return Some(settled);
        }
        seen.n_documents += documents.len();
        for &number in documents.iter().flat_map(|document| &document.words) {
            if let Word::Known(id) = words[number as usize] {
                *seen.counts.entry(id).or_default() += 1;
            }
        }
        if seen.n_documents < ENOUGH_DOCUMENTS {
            return None;
        }
        let most = MOST_COSTS / tiles.iter().map(TileColumns::width).sum::<usize>().max(1);
        let mut frequent: Vec<(u32, u32)> = std::mem::take(&mut seen.counts).into_iter().collect();
        frequent.sort_unstable_by_key(|&(id, count)| (Reverse(count), id));
        frequent.truncate(MOST_WORDS.min(most));
        let ids: Vec<u32> = frequent.into_iter().map(|(id, _)| id).collect();
        // Vectors that cannot be read are the matter of the documents that need them.
        let costs = FrequentCosts::new(transform, target, tiles, &ids).unwrap_or_default();
        Some(self.settled.get_or_init(|| costs))
    }
}

impl FrequentCosts {
    fn row(&self, word: Word) -> Option<u32> {
        match word {
            Word::Known(id) => self.rows.get(&id).copied(),
            Word::Unknown(_) => None,
        }
    }

    fn new(
        transform: &Transform<'_>,
        target: Target<'_>,
        tiles: &[TileColumns],
        ids: &[u32],
    ) -> crate::error::Result<Self> {
        let words: Vec<Word> = ids.iter().map(|&id| Word::Known(id)).collect();
        let vectors = transform.vectors(&words)?;
        let packed = Words::new(target, vectors);
        let mut table = CostTable::default();
        let tiles = tiles.iter().map(|tile| {
            table.fill(&packed, tile, 0);
            TileRows::new(&table, ids.len())
        });
        Ok(FrequentCosts {
            rows: ids.iter().copied().zip(0..).collect(),
            tiles: tiles.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chacha20::ChaCha8Rng;
    use chacha20::rand_core::{Rng, SeedableRng};

    use crate::{EmbeddingParams, WordMoversEmbedding, WordVectors};

    /// Numbers between 0 and 1.
    fn numbers(seed: u64) -> impl FnMut() -> f32 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        move || (rng.next_u32() >> 8) as f32 / (1 << 24) as f32
    }

    /// Texts in which a few words come time and again.
    fn texts(n: usize, seed: u64) -> Vec<String> {
        let mut number = numbers(seed);
        let text = |_| {
            let words = (0..12).map(|_| format!("w{} ", (3000.0 * number().powi(3)) as usize));
            words.collect()
        };
        (0..n).map(text).collect()
    }

    #[test]
    fn kept_costs_change_no_bit() {
        let mut number = numbers(5);
        let words: Vec<String> = (0..3000).map(|i| format!("w{i}")).collect();
        let values = (0..3000 * 10).map(|_| 2.0 * number() - 1.0);
        let vectors = WordVectors::from_rows("test", words, values.collect(), 10).unwrap();
        let params = EmbeddingParams::default().n_features(130);
        let model = WordMoversEmbedding::fit(params, Arc::new(vectors), &texts(500, 1)).unwrap();

        let texts = texts(1500, 2);
        // In one large block, where nothing is kept.
        let due = model.transform(&texts).unwrap();
        assert!(model.prepared.frequent().settled.get().is_none());
        let found: Vec<f32> = texts
            .chunks(40)
            .flat_map(|texts| model.transform(texts).unwrap())
            .collect();
        assert!(due == found);
        let settled = model.prepared.frequent().settled.get();
        let n_kept = settled.map_or(0, |costs| costs.rows.len());
        assert!((1000..2500).contains(&n_kept), "{n_kept} words");
        let again = model.transform(&texts[..1]).unwrap();
        assert_eq!(again, due[..model.n_features()]);
    }
}
