//! Costs from differences, in double precision.
//!
//! The lanes run over the columns, which are stored coordinate by coordinate.

use crate::float_environment::IeeeArithmetic;
use crate::instruction_sets::by_instruction_set;

/// Columns handled together; the width of [`Columns`] is a multiple of it.
const LANES: usize = 8;

/// Rows that share one pass over the columns' coordinates.
const ROWS: usize = 4;

/// A set of vectors stored coordinate by coordinate, padded to whole lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    dim: usize,
    width: usize,
    /// `coordinates[k * width + j]`: coordinate `k` of vector `j`.
    coordinates: Vec<f64>,
}

impl Columns {
    /// From vectors stored one after the other.
    pub fn new(vectors: &[f32], dim: usize) -> Self {
        let n = vectors.len() / dim;
        let width = n.next_multiple_of(LANES);
        let mut coordinates = vec![0.0; dim * width];
        for (j, vector) in vectors.chunks_exact(dim).enumerate() {
            for (k, &x) in vector.iter().enumerate() {
                coordinates[k * width + j] = f64::from(x);
            }
        }
        Columns {
            dim,
            width,
            coordinates,
        }
    }

    /// Length of a row of costs: the number of vectors, padded.
    pub fn width(&self) -> usize {
        self.width
    }
}

/// Distances from every row vector to every column: `costs` holds a row of
/// `columns.width()` for each of `rows` (vectors one after the other).
///
/// # Panics
///
/// If the lengths do not fit.
pub(crate) fn costs(rows: &[f32], columns: &Columns, costs: &mut [f64]) {
    let n = rows.len() / columns.dim;
    assert_eq!(rows.len(), n * columns.dim, "whole rows");
    assert_eq!(costs.len(), n * columns.width, "cost matrix shape");
    let _ieee = IeeeArithmetic::enter();
    by_instruction_set!(
        (rows: &[f32], columns: &Columns, costs: &mut [f64]) -> (),
        |_set| costs_portable(rows, columns, costs)
    )
}

#[inline(always)]
fn costs_portable(rows: &[f32], columns: &Columns, costs: &mut [f64]) {
    if columns.width == 0 {
        return;
    }
    let (dim, width) = (columns.dim, columns.width);
    let row_blocks = rows.chunks(ROWS * dim).zip(costs.chunks_mut(ROWS * width));
    for (rows, costs) in row_blocks {
        if rows.len() == ROWS * dim {
            for j in (0..width).step_by(LANES) {
                let sums = squared_distances::<ROWS>(rows, columns, j);
                for (costs, sums) in costs.chunks_exact_mut(width).zip(sums) {
                    store_roots(&mut costs[j..j + LANES], sums);
                }
            }
        } else {
            for (row, costs) in rows.chunks_exact(dim).zip(costs.chunks_exact_mut(width)) {
                for j in (0..width).step_by(LANES) {
                    let [sums] = squared_distances::<1>(row, columns, j);
                    store_roots(&mut costs[j..j + LANES], sums);
                }
            }
        }
    }
}

#[inline(always)]
fn squared_distances<const N: usize>(
    rows: &[f32],
    columns: &Columns,
    j: usize,
) -> [[f64; LANES]; N] {
    let mut sums = [[0.0; LANES]; N];
    let dim = columns.dim;
    let rows: [&[f32]; N] = std::array::from_fn(|r| &rows[r * dim..(r + 1) * dim]);
    for (k, lane) in columns.coordinates.chunks_exact(columns.width).enumerate() {
        let lane: &[f64; LANES] = lane[j..j + LANES].try_into().expect("whole lanes");
        for r in 0..N {
            let x = f64::from(rows[r][k]);
            for l in 0..LANES {
                let difference = x - lane[l];
                sums[r][l] += difference * difference;
            }
        }
    }
    sums
}

#[inline(always)]
fn store_roots(costs: &mut [f64], sums: [f64; LANES]) {
    for (cost, sum) in costs.iter_mut().zip(sums) {
        *cost = sum.sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(a: &[f32], b: &[f32]) -> f64 {
        let mut sum = 0.0;
        for (x, y) in a.iter().zip(b) {
            let difference = f64::from(*x) - f64::from(*y);
            sum += difference * difference;
        }
        sum.sqrt()
    }

    proptest! {
        #[test]
        fn every_cost_is_the_naive_distance_bit_for_bit(
            (dim, rows, columns) in (1..40usize, 0..10usize, 0..20usize).prop_flat_map(|(d, n, m)| {
                let vectors = |n| prop::collection::vec(-2.0..2.0f32, n * d);
                (Just(d), vectors(n), vectors(m))
            })
        ) {
            let table = Columns::new(&columns, dim);
            let n = rows.len() / dim;
            let mut fast = vec![f64::NAN; n * table.width()];
            let mut portable = fast.clone();
            costs(&rows, &table, &mut fast);
            costs_portable(&rows, &table, &mut portable);
            for (i, row) in rows.chunks_exact(dim).enumerate() {
                for (j, column) in columns.chunks_exact(dim).enumerate() {
                    let at = i * table.width() + j;
                    prop_assert_eq!(fast[at].to_bits(), naive(row, column).to_bits());
                    prop_assert_eq!(portable[at].to_bits(), fast[at].to_bits());
                }
            }
        }
    }
}
