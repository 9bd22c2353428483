//! Ground costs from the words of some documents to the random words of a tile.
//!
//! A table has a row for every word. Costs from products are of single precision, and kept so:
//! tables are larger than the cache, and half as long to read. The few costs between near words,
//! which are of double precision, stand beside them.

use rayon::prelude::*;

use super::tile::{Columns, TileColumns, Words};
use crate::ground::direct;
use crate::ground::product::{self, NearCost};
use wordmover_transport::instruction_sets::by_instruction_set;
use wordmover_transport::lanes::Simd;

/// Word vectors handed to a thread at once, one by one or in groups.
const WORDS_PER_TASK: usize = 64;
const GROUPS_PER_TASK: usize = 16;

/// Bytes of a line of the cache, and how many lines of a row are asked for ahead of their time: the
/// processor foresees the others.
const LINE: usize = 64;
const LINES_AHEAD: usize = 4;

/// Memory for one table after the other: fresh one would take as long to map as to fill.
#[derive(Debug, Default)]
pub(crate) struct CostTable {
    width: usize,
    /// Costs by differences; none if they come from products.
    double: Vec<f64>,
    /// Costs from products.
    single: Vec<f32>,
    /// Those of near pairs, by rows, and where those of each row begin; nothing if there are none.
    near: Vec<NearCost>,
    starts: Vec<u32>,
}

impl CostTable {
    /// The costs of some words, by this thread, and room for the rows of `n_more`.
    pub(super) fn fill(&mut self, words: &Words, tile: &TileColumns, n_more: usize) {
        self.make_room(words, tile, n_more);
        match (words, &tile.columns) {
            (Words::Direct { .. }, Columns::Direct(columns)) => {
                let vectors = words.vectors();
                let n_costs = words.n_rows() * self.width;
                direct::costs(vectors, columns, &mut self.double[..n_costs]);
            }
            (Words::Packed { rows, .. }, Columns::Packed(columns)) => {
                let n_costs = words.n_rows() * self.width;
                let costs = &mut self.single[..n_costs];
                product::costs(rows.all(), columns, costs, &mut self.near);
            }
            _ => unreachable!("words and columns are made for the same way"),
        }
        self.settle_near(words, tile);
    }

    /// The costs of some words, by all threads.
    pub(super) fn fill_by_all_threads(&mut self, words: &Words, tile: &TileColumns) {
        self.make_room(words, tile, 0);
        let width = self.width;
        match (words, &tile.columns) {
            (Words::Direct { dim, .. }, Columns::Direct(columns)) => {
                let vectors = words.vectors().par_chunks(WORDS_PER_TASK * dim);
                self.double
                    .par_chunks_mut(WORDS_PER_TASK * width)
                    .zip(vectors)
                    .for_each(|(costs, vectors)| direct::costs(vectors, columns, costs));
            }
            (Words::Packed { rows, .. }, Columns::Packed(columns)) => {
                let rows_per_task = GROUPS_PER_TASK * product::ROWS;
                let parts = self.single.par_chunks_mut(rows_per_task * width);
                let parts = parts.zip(rows.parts(GROUPS_PER_TASK));
                let near: Vec<Vec<NearCost>> = parts
                    .map(|(costs, rows)| {
                        let mut near = Vec::new();
                        product::costs(rows, columns, costs, &mut near);
                        near
                    })
                    .collect();
                for (part, near) in near.into_iter().enumerate() {
                    let first = (part * rows_per_task) as u32;
                    let near = near.into_iter().map(|near| NearCost {
                        row: near.row + first,
                        ..near
                    });
                    self.near.extend(near);
                }
            }
            _ => unreachable!("words and columns are made for the same way"),
        }
        self.settle_near(words, tile);
    }

    fn make_room(&mut self, words: &Words, tile: &TileColumns, n_more: usize) {
        self.width = tile.width();
        self.near.clear();
        let n_costs = (words.n_rows() + n_more) * self.width;
        match words {
            Words::Direct { .. } => self.double.resize(n_costs, 0.0),
            Words::Packed { .. } => {
                self.double.clear();
                self.single.resize(n_costs, 0.0);
            }
        }
    }

    /// Near pairs by rows, but those of rows and columns that only fill up groups.
    fn settle_near(&mut self, words: &Words, tile: &TileColumns) {
        let (n_words, n_columns) = (words.n_words() as u32, tile.n_words() as u32);
        self.near
            .retain(|near| near.row < n_words && near.column < n_columns);
        self.near.sort_by_key(|near| near.row);
        self.number_near();
    }

    fn number_near(&mut self) {
        self.starts.clear();
        if self.near.is_empty() {
            return;
        }
        let n_rows = self.single.len() / self.width;
        let mut at = 0;
        for row in 0..=n_rows as u32 {
            while self.near.get(at).is_some_and(|near| near.row < row) {
                at += 1;
            }
            self.starts.push(at as u32);
        }
    }

    /// Copies the costs of words that are known before to the last rows: those of single precision, and
    /// those between near words, numbered among these rows.
    pub fn fill_last_rows<'c>(
        &mut self,
        rows: impl ExactSizeIterator<Item = (&'c [f32], &'c [(u32, f64)])>,
    ) {
        let first = self.single.len() / self.width.max(1) - rows.len();
        let places = self.single[first * self.width..].chunks_exact_mut(self.width);
        for (row, (place, (costs, near))) in (first as u32..).zip(places.zip(rows)) {
            place.copy_from_slice(costs);
            let near = near
                .iter()
                .map(|&(column, cost)| NearCost { row, column, cost });
            self.near.extend(near);
        }
        self.number_near();
    }

    /// Length of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All costs in single precision.
    pub fn single(&self) -> &[f32] {
        &self.single
    }

    /// The costs between near words of a row.
    pub fn near(&self, row: usize) -> &[NearCost] {
        match self.starts.get(row..row + 2) {
            Some(ends) => &self.near[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }

    /// Frees memory beyond so many costs.
    pub fn shrink(&mut self, most: usize) {
        if self.double.capacity() > most || self.single.capacity() > most {
            *self = CostTable::default();
        }
    }

    /// Turns the costs of one document's words: `turned` begins with them column after column, each
    /// as long as there are words. The transports of the document are then consecutive columns. Four
    /// whole rows are read side by side; to gather a few costs of every row for each transport reads
    /// the same lines time and again.
    pub fn turn(&self, words: &[u32], turned: &mut Vec<f64>) {
        let n_costs = words.len() * self.width;
        // Never shorter again, so that what is overwritten is not filled first.
        if turned.len() < n_costs {
            turned.resize(n_costs, 0.0);
        }
        let turned = &mut turned[..n_costs];
        let table = self;
        by_instruction_set!(
            (table: &CostTable, words: &[u32], turned: &mut [f64]) -> (),
            |simd| table.turn_with(simd, words, turned)
        )
    }

    #[inline(always)]
    fn turn_with<S: Simd>(&self, simd: S, words: &[u32], turned: &mut [f64]) {
        if !self.double.is_empty() {
            turn_rows(simd, &self.double, self.width, words, turned);
            return;
        }
        turn_rows(simd, &self.single, self.width, words, turned);
        if self.starts.is_empty() {
            return;
        }
        for (at, &word) in words.iter().enumerate() {
            for near in self.near(word as usize) {
                turned[near.column as usize * words.len() + at] = near.cost;
            }
        }
    }
}

/// A cost as a table keeps it.
trait Cost: Copy {
    fn four<S: Simd>(simd: S, costs: &[Self; 4]) -> S::Lanes;
    fn wide(self) -> f64;
}

impl Cost for f64 {
    #[inline(always)]
    fn four<S: Simd>(simd: S, costs: &[f64; 4]) -> S::Lanes {
        simd.load(costs)
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Cost for f32 {
    #[inline(always)]
    fn four<S: Simd>(simd: S, costs: &[f32; 4]) -> S::Lanes {
        simd.widen(costs)
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

#[inline(always)]
fn turn_rows<S: Simd, C: Cost>(
    simd: S,
    table: &[C],
    width: usize,
    words: &[u32],
    turned: &mut [f64],
) {
    let n = words.len();
    if n < 4 {
        for (at, &word) in words.iter().enumerate() {
            let row = &table[word as usize * width..][..width];
            for (column, &cost) in turned.chunks_exact_mut(n).zip(row) {
                column[at] = cost.wide();
            }
        }
        return;
    }
    let mut first = 0;
    loop {
        let mut rows = [&table[..0]; 4];
        for (row, &word) in rows.iter_mut().zip(&words[first..]) {
            *row = &table[word as usize * width..][..width];
        }
        // The next four words are anywhere in the table, which is larger than the cache.
        for &word in words[first + 4..].iter().take(4) {
            let row = &table[word as usize * width..][..width];
            for line in row.chunks(LINE / size_of::<C>()).take(LINES_AHEAD) {
                simd.prefetch(&line[0]);
            }
        }
        turn_four(simd, rows, first, n, turned);
        if first + 4 >= n {
            break;
        }
        // The last four may be some of those before again.
        first = (first + 4).min(n - 4);
    }
}

/// Writes the costs of four words, the first of which is number `first` of `n`.
#[inline(always)]
fn turn_four<S: Simd, C: Cost>(
    simd: S,
    rows: [&[C]; 4],
    first: usize,
    n: usize,
    turned: &mut [f64],
) {
    let (a, b) = (rows[0].as_chunks::<4>().0, rows[1].as_chunks::<4>().0);
    let (c, d) = (rows[2].as_chunks::<4>().0, rows[3].as_chunks::<4>().0);
    let mut columns = turned.chunks_exact_mut(n);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        let (a, b) = (C::four(simd, a), C::four(simd, b));
        let (c, d) = (C::four(simd, c), C::four(simd, d));
        let costs = simd.transpose(a, b, c, d);
        for k in 0..4 {
            if let Some(column) = columns.next() {
                let place = column[first..].first_chunk_mut();
                simd.store(costs[k], place.expect("four words"));
            }
        }
    }
    for (k, column) in (4 * a.len()..).zip(columns) {
        for (cost, row) in column[first..].iter_mut().zip(rows) {
            *cost = row[k].wide();
        }
    }
}
