//! Training rows as machines see them: products with vectors of weights.

use super::design::Design;
use super::lanes::{Lanes, add_dense, add_sparse, dense_product, sparse_product};
use super::params::LinearParams;

/// Rows of `[sparse columns that rows share | weight * dense columns | bias]`.
#[derive(Debug)]
pub(crate) struct RowAccess<'a> {
    pub design: &'a Design<'a>,
    /// What dense columns are shifted by and multiplied with.
    pub means: Vec<f64>,
    pub factors: Vec<f64>,
    pub bias: f64,
    /// The dense columns of the row that was used last.
    dense_row: Vec<f64>,
}

impl<'a> RowAccess<'a> {
    pub fn new(design: &'a Design<'a>, params: &LinearParams) -> Self {
        let scaling = design.scaling();
        let factors = scaling.iter().map(|s| params.dense_weight * s.factor);
        RowAccess {
            design,
            means: scaling.iter().map(|scaling| scaling.mean).collect(),
            factors: factors.collect(),
            bias: params.bias.unwrap_or(0.0),
            dense_row: vec![0.0; design.n_dense()],
        }
    }

    /// Columns of a row.
    pub fn n_columns(&self) -> usize {
        self.design.n_shared + self.design.n_dense() + 1
    }

    /// The product of a training row with a vector for each machine; prepares the row for
    /// [`add`](Self::add).
    #[inline(always)]
    pub fn product<const L: usize>(&mut self, row: usize, vector: &[Lanes<L>]) -> Lanes<L> {
        let design = self.design;
        self.product_of(design.shared_row(row), design.dense_row(row), vector)
    }

    /// The same for any row.
    #[inline(always)]
    pub fn product_of<const L: usize>(
        &mut self,
        shared_row: (&[u32], &[f64]),
        dense_row: &[f32],
        vector: &[Lanes<L>],
    ) -> Lanes<L> {
        let (shared, rest) = vector.split_at(self.design.n_shared);
        let mut product = sparse_product(shared_row, shared);
        let (dense, bias) = rest.split_at(self.dense_row.len());
        if !dense.is_empty() {
            self.scale(dense_row);
            let of_dense = dense_product(&self.dense_row, dense);
            (0..L).for_each(|l| product[l] += of_dense[l]);
        }
        for l in 0..L {
            product[l] += self.bias * bias[0][l];
        }
        product
    }

    /// Prepares a training row for [`add`](Self::add).
    #[inline(always)]
    pub fn prepare(&mut self, row: usize) {
        self.scale(self.design.dense_row(row));
    }

    #[inline(always)]
    fn scale(&mut self, dense_row: &[f32]) {
        let each = dense_row.iter().zip(&self.means).zip(&self.factors);
        for (out, ((&x, mean), factor)) in self.dense_row.iter_mut().zip(each) {
            *out = (f64::from(x) - mean) * factor;
        }
    }

    /// Adds multiples of the training row that was used last to a vector for each machine.
    #[inline(always)]
    pub fn add<const L: usize>(&self, row: usize, factors: &Lanes<L>, vector: &mut [Lanes<L>]) {
        let (shared, rest) = vector.split_at_mut(self.design.n_shared);
        add_sparse(self.design.shared_row(row), factors, shared);
        let (dense, bias) = rest.split_at_mut(self.dense_row.len());
        add_dense(&self.dense_row, factors, dense);
        for l in 0..L {
            bias[0][l] += self.bias * factors[l];
        }
    }

    /// Adds multiples of the squares of that row.
    #[inline(always)]
    pub fn add_squares<const L: usize>(
        &self,
        row: usize,
        factors: &Lanes<L>,
        vector: &mut [Lanes<L>],
    ) {
        let (shared, rest) = vector.split_at_mut(self.design.n_shared);
        let (columns, values) = self.design.shared_row(row);
        for (&column, value) in columns.iter().zip(values) {
            let sum = &mut shared[column as usize];
            (0..L).for_each(|l| sum[l] += value * value * factors[l]);
        }
        let (dense, bias) = rest.split_at_mut(self.dense_row.len());
        for (sum, value) in dense.iter_mut().zip(&self.dense_row) {
            (0..L).for_each(|l| sum[l] += value * value * factors[l]);
        }
        for l in 0..L {
            bias[0][l] += self.bias * self.bias * factors[l];
        }
    }
}
