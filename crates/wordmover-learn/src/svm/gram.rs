//! The matrix `X_A^T X_A` over the rows `A` on the wrong side of the margin, kept
//! rather than multiplied out of `X` in every step.
//!
//! With fewer columns than rows a product with it costs `R^2` multiplications instead
//! of `2 N R`. From one Newton step to the next, and from one C to the next, few rows
//! enter or leave `A`, so it is brought up to date by a few outer products.
//!
//! Whether that pays is decided as by somebody who rents skis until the rent has cost
//! as much as the skis: once products through `X` have cost what bringing the matrix
//! up to date would cost, it is brought up to date. Costs are counted in
//! multiplications, so the decision is the same on every machine.

use super::design::Design;
use super::panels::{LANES, Panels};

/// With more columns the matrix leaves the caches, and reading it takes about as long as
/// going through `X` for several classes at once.
const MOST_COLUMNS: usize = 1024;

/// `X_B^T X_B` for some set of rows `B`.
#[derive(Debug, Clone)]
pub(crate) struct Gram {
    /// Symmetric; both halves are stored.
    matrix: Vec<f64>,
    is_member: Vec<bool>,
}

impl Gram {
    pub fn of_no_rows(design: &Design) -> Self {
        Gram {
            matrix: vec![0.0; design.n_columns * design.n_columns],
            is_member: vec![false; design.n_rows],
        }
    }

    pub fn of_all_rows(design: &Design) -> Self {
        let mut gram = Gram::of_no_rows(design);
        gram.change_to(design, &vec![true; design.n_rows]);
        gram
    }

    /// Whether a product with the matrix can be cheaper than one through `X`.
    pub fn may_pay(design: &Design) -> bool {
        design.n_columns < design.n_rows && design.n_columns <= MOST_COLUMNS
    }

    /// Multiplications for a row that enters or leaves.
    pub fn cost_of_a_change(design: &Design) -> usize {
        design.n_columns * (design.n_columns + 1) / 2
    }

    /// How many rows enter or leave if the set becomes `active`.
    pub fn n_changes(&self, active: &[bool]) -> usize {
        let pairs = self.is_member.iter().zip(active);
        pairs.filter(|(is, will_be)| is != will_be).count()
    }

    /// Lets rows enter and leave until the set is `active`.
    pub fn change_to(&mut self, design: &Design, active: &[bool]) {
        let pairs = self.is_member.iter().zip(active).enumerate();
        let (rows, signs): (Vec<usize>, Vec<f64>) = pairs
            .filter(|(_, (is, will_be))| is != will_be)
            .map(|(row, (_, &enters))| (row, if enters { 1.0 } else { -1.0 }))
            .unzip();
        if rows.is_empty() {
            return;
        }
        let changed = Panels::new(design.n_columns, rows.len(), |p, panel| {
            for (lanes, &row) in panel.chunks_exact_mut(LANES).zip(&rows) {
                lanes.copy_from_slice(design.columns.lanes(p, row));
            }
        });
        changed.add_outer_products(&signs, &mut self.matrix);
        self.is_member.copy_from_slice(active);
    }

    pub fn diagonal(&self, n: usize) -> impl Iterator<Item = f64> + '_ {
        self.matrix.iter().step_by(n + 1).copied()
    }

    /// The product with a vector.
    pub fn multiply(&self, right: &[f64], out: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, which is all the function asks for.
            unsafe { multiply_avx2(&self.matrix, right, out) };
            return;
        }
        multiply_portable(&self.matrix, right, out);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_avx2(matrix: &[f64], right: &[f64], out: &mut [f64]) {
    multiply_portable(matrix, right, out);
}

/// Lanes over the numbers of the result, each one sum in order; `matrix` is symmetric.
#[inline(always)]
fn multiply_portable(matrix: &[f64], right: &[f64], out: &mut [f64]) {
    const WIDE: usize = 32;
    let n = right.len();
    let (wide, rest) = out.as_chunks_mut::<WIDE>();
    for (block, out) in wide.iter_mut().enumerate() {
        *out = columns_product::<WIDE>(matrix, n, block * WIDE, right);
    }
    for (column, out) in (n - rest.len()..).zip(rest) {
        [*out] = columns_product::<1>(matrix, n, column, right);
    }
}

#[inline(always)]
fn columns_product<const W: usize>(
    matrix: &[f64],
    n: usize,
    column: usize,
    right: &[f64],
) -> [f64; W] {
    let mut sums = [0.0; W];
    for (row, &factor) in matrix.chunks_exact(n).zip(right) {
        let row: &[f64; W] = row[column..]
            .first_chunk()
            .expect("the block is within the row");
        for l in 0..W {
            sums[l] += row[l] * factor;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;

    #[test]
    fn rows_enter_and_leave() {
        // Whole numbers: exact in any order. Sizes around the width of the product.
        for n_columns in [1, 7, 31, 32, 33, 70] {
            let n_rows = 19;
            let values: Vec<f32> = (0..n_rows * n_columns)
                .map(|i| (i * i % 11) as f32 - 5.0)
                .collect();
            let labels: Vec<usize> = (0..n_rows).map(|row| row / 10).collect();
            let features = Features::new(&values, n_columns).unwrap();
            let design = Design::new(features, &labels, false, None).unwrap();
            let mut gram = Gram::of_all_rows(&design);
            for modulus in [2, 3, 5, 1] {
                let active: Vec<bool> = (0..n_rows).map(|row| row % modulus == 0).collect();
                gram.change_to(&design, &active);
                assert_eq!(gram.n_changes(&active), 0);
                let right: Vec<f64> = (0..n_columns).map(|j| j as f64 - 3.0).collect();
                let mut product = vec![f64::NAN; n_columns];
                gram.multiply(&right, &mut product);
                let mut portable = product.clone();
                multiply_portable(&gram.matrix, &right, &mut portable);
                assert_eq!(product, portable);
                let mut expected = vec![0.0; n_columns];
                let mut diagonal = vec![0.0; n_columns];
                for row in (0..n_rows).filter(|&row| active[row]) {
                    let x = features.row(row);
                    let inner: f64 = x.iter().zip(&right).map(|(&x, r)| f64::from(x) * r).sum();
                    for (j, &x) in x.iter().enumerate() {
                        expected[j] += f64::from(x) * inner;
                        diagonal[j] += f64::from(x) * f64::from(x);
                    }
                }
                assert_eq!(product, expected, "{n_columns} columns");
                assert_eq!(gram.diagonal(n_columns).collect::<Vec<_>>(), diagonal);
            }
        }
    }
}
