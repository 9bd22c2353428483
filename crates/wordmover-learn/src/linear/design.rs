//! The rows that are learnt from, as the solver wants them.
//!
//! Sparse columns are numbered anew, the most frequent first, so that the weights which are
//! used often lie together. A column that only one row has needs no weight while solving: it
//! is that row's dual value times what the row has there, so all it does is to lengthen the
//! row's product with itself. Half of all words, and most pairs of words, are such columns.

use super::blocks::FeatureBlocks;
use super::params::LinearParams;
use crate::scaling::{ColumnScaling, column_scaling};

/// Where the weight of a sparse column is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// No training row has it: its weight is 0.
    Nowhere,
    /// Only the training row at this position has it.
    Alone(u32),
    /// At this position of the solver's weights.
    Shared(u32),
}

/// The weight of a sparse column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weight {
    /// At this position of the solver's weights.
    At(usize),
    /// This value times the row's signed dual value.
    OfRow { row: usize, value: f64 },
}

/// The training part, prepared once for every C, class and weight of the dense block.
#[derive(Debug)]
pub(crate) struct Design<'a> {
    blocks: FeatureBlocks<'a>,
    rows: Vec<usize>,
    places: Vec<Place>,
    /// Number of sparse columns that two rows or more have.
    pub n_shared: usize,
    shared: Compact,
    /// For each row, the sum of squares in columns that it has alone.
    pub alone_squares: Vec<f64>,
    /// Sum of squares of each row's sparse columns.
    pub sparse_squares: Vec<f64>,
    scaling: Vec<ColumnScaling>,
    /// Sum of squares of each row's dense columns, scaled.
    pub dense_squares: Vec<f64>,
}

/// Sparse rows with columns numbered anew.
#[derive(Debug, Default)]
struct Compact {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Compact {
    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

impl<'a> Design<'a> {
    pub fn new(blocks: FeatureBlocks<'a>, rows: Vec<usize>, params: &LinearParams) -> Self {
        let (places, n_shared) = places(&blocks, &rows);
        let mut shared = Compact {
            starts: vec![0],
            ..Compact::default()
        };
        let mut alone_squares = Vec::with_capacity(rows.len());
        let mut sparse_squares = Vec::with_capacity(rows.len());
        for &row in &rows {
            let (columns, values) = blocks.sparse_row(row);
            let (mut alone, mut all) = (0.0, 0.0);
            for (&column, &value) in columns.iter().zip(values) {
                all += value * value;
                match places[column as usize] {
                    Place::Shared(column) => {
                        shared.columns.push(column);
                        shared.values.push(value);
                    }
                    _ => alone += value * value,
                }
            }
            shared.starts.push(shared.values.len());
            alone_squares.push(alone);
            sparse_squares.push(all);
        }
        let scaling = match blocks.dense_block() {
            Some(dense) if params.standardize => column_scaling(dense, rows.iter().copied()),
            _ => vec![ColumnScaling::NONE; blocks.n_dense()],
        };
        let square = |&row: &usize| {
            let each = scaling.iter().zip(blocks.dense_row(row));
            let each = each.map(|(scaling, &x)| scaling.apply(x));
            each.map(|x| x * x).sum()
        };
        let dense_squares = rows.iter().map(square).collect();
        Design {
            blocks,
            rows,
            places,
            n_shared,
            shared,
            alone_squares,
            sparse_squares,
            scaling,
            dense_squares,
        }
    }

    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    pub fn n_dense(&self) -> usize {
        self.scaling.len()
    }

    pub fn blocks(&self) -> &FeatureBlocks<'a> {
        &self.blocks
    }

    /// The rows, as positions in the blocks.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    pub fn scaling(&self) -> &[ColumnScaling] {
        &self.scaling
    }

    /// A row's columns that others have, too.
    #[inline(always)]
    pub fn shared_row(&self, row: usize) -> (&[u32], &[f64]) {
        self.shared.row(row)
    }

    #[inline(always)]
    pub fn dense_row(&self, row: usize) -> &'a [f32] {
        self.blocks.dense_row(self.rows[row])
    }

    /// Every sparse column that some training row has, and where its weight is.
    pub fn sparse_columns(&self) -> impl Iterator<Item = (usize, Weight)> + '_ {
        let places = self.places.iter().enumerate();
        places.filter_map(|(column, &place)| match place {
            Place::Nowhere => None,
            Place::Shared(place) => Some((column, Weight::At(place as usize))),
            Place::Alone(row) => {
                let value = self.value(row, column);
                let row = row as usize;
                Some((column, Weight::OfRow { row, value }))
            }
        })
    }

    fn value(&self, row: u32, column: usize) -> f64 {
        let (columns, values) = self.blocks.sparse_row(self.rows[row as usize]);
        let found = columns.binary_search(&(column as u32));
        found.map_or(0.0, |at| values[at])
    }
}

/// Rows that are not learnt from, in the same numbering.
#[derive(Debug)]
pub(crate) struct HeldOut {
    pub rows: Vec<usize>,
    shared: Compact,
    /// What a row shares with single training rows: their positions, and products.
    alone: Compact,
}

impl HeldOut {
    pub fn new(design: &Design, rows: Vec<usize>) -> Self {
        let empty = || Compact {
            starts: vec![0],
            ..Compact::default()
        };
        let (mut shared, mut alone) = (empty(), empty());
        for &row in &rows {
            let (columns, values) = design.blocks.sparse_row(row);
            for (&column, &value) in columns.iter().zip(values) {
                match design.places[column as usize] {
                    Place::Nowhere => {}
                    Place::Shared(place) => {
                        shared.columns.push(place);
                        shared.values.push(value);
                    }
                    Place::Alone(row) => {
                        alone.columns.push(row);
                        let product = value * design.value(row, column as usize);
                        alone.values.push(product);
                    }
                }
            }
            shared.starts.push(shared.values.len());
            alone.starts.push(alone.values.len());
        }
        HeldOut {
            rows,
            shared,
            alone,
        }
    }

    #[inline(always)]
    pub fn shared_row(&self, row: usize) -> (&[u32], &[f64]) {
        self.shared.row(row)
    }

    #[inline(always)]
    pub fn alone_row(&self, row: usize) -> (&[u32], &[f64]) {
        self.alone.row(row)
    }
}

/// A place for every sparse column, and how many are shared.
fn places(blocks: &FeatureBlocks, rows: &[usize]) -> (Vec<Place>, usize) {
    let mut counts = vec![0u32; blocks.n_sparse()];
    let mut places = vec![Place::Nowhere; blocks.n_sparse()];
    for (position, &row) in rows.iter().enumerate() {
        for &column in blocks.sparse_row(row).0 {
            counts[column as usize] += 1;
            places[column as usize] = Place::Alone(position as u32);
        }
    }
    let mut shared: Vec<u32> = (0..blocks.n_sparse() as u32)
        .filter(|&column| counts[column as usize] > 1)
        .collect();
    shared.sort_by_key(|&column| std::cmp::Reverse(counts[column as usize]));
    for (place, &column) in shared.iter().enumerate() {
        places[column as usize] = Place::Shared(place as u32);
    }
    (places, shared.len())
}
