//! Costs from differences, in double precision.
//!
//! The lanes run over the columns, which are stored coordinate by coordinate.

use super::Metric;
use crate::float_environment::IeeeArithmetic;
use wordmover_transport::instruction_sets::by_instruction_set;

/// Columns handled together; the width of [`Columns`] is a multiple of it.
const LANES: usize = 8;

/// Rows that share one pass over the columns' coordinates.
const ROWS: usize = 4;

/// A set of vectors stored coordinate by coordinate, padded to whole lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    dim: usize,
    width: usize,
    metric: Metric,
    /// `coordinates[k * width + j]`: coordinate `k` of vector `j`.
    coordinates: Vec<f64>,
    /// For cosines: 1 for vectors of zeros.
    is_zero: Vec<f64>,
}

impl Columns {
    /// From vectors stored one after the other, for Euclidean distances.
    pub fn new(vectors: &[f32], dim: usize) -> Self {
        Self::with_metric(vectors, dim, Metric::Euclidean)
    }

    /// From vectors stored one after the other.
    pub fn with_metric(vectors: &[f32], dim: usize, metric: Metric) -> Self {
        let n = vectors.len() / dim;
        let width = n.next_multiple_of(LANES);
        let mut coordinates = vec![0.0; dim * width];
        let mut is_zero = Vec::new();
        for (j, vector) in vectors.chunks_exact(dim).enumerate() {
            for (k, &x) in vector.iter().enumerate() {
                coordinates[k * width + j] = f64::from(x);
            }
        }
        if metric == Metric::Cosine {
            is_zero.resize(width, 0.0);
            for (j, vector) in vectors.chunks_exact(dim).enumerate() {
                let direction = Direction::of(vector);
                is_zero[j] = direction.is_zero;
                for k in 0..dim {
                    coordinates[k * width + j] *= direction.scale;
                }
            }
        }
        Columns {
            dim,
            width,
            metric,
            coordinates,
            is_zero,
        }
    }

    /// Length of a row of costs: the number of vectors, padded.
    pub fn width(&self) -> usize {
        self.width
    }
}

/// What makes a vector one of length 1.
#[derive(Clone, Copy)]
struct Direction {
    scale: f64,
    /// 1 for a vector of zeros, which has none: as if it had one more coordinate of its own,
    /// so that it is orthogonal to all others and at 0 from its like.
    is_zero: f64,
}

impl Direction {
    fn of(vector: &[f32]) -> Self {
        let squared: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        match squared > 0.0 {
            true => Direction {
                scale: 1.0 / squared.sqrt(),
                is_zero: 0.0,
            },
            false => Direction {
                scale: 1.0,
                is_zero: 1.0,
            },
        }
    }
}

/// How the coordinates of two vectors become a cost: a sum over them, and its last step.
trait Sum {
    /// Whether rows are scaled to length 1; columns were.
    const SCALES: bool = false;
    fn term(difference: f64) -> f64;
    fn finish(sum: f64) -> f64;
}

struct Euclidean;
impl Sum for Euclidean {
    #[inline(always)]
    fn term(difference: f64) -> f64 {
        difference * difference
    }
    #[inline(always)]
    fn finish(sum: f64) -> f64 {
        sum.sqrt()
    }
}

struct SqEuclidean;
impl Sum for SqEuclidean {
    #[inline(always)]
    fn term(difference: f64) -> f64 {
        difference * difference
    }
    #[inline(always)]
    fn finish(sum: f64) -> f64 {
        sum
    }
}

/// Half the squared distance of vectors of length 1 is one minus their cosine, and loses no
/// digits where the two are near.
struct Cosine;
impl Sum for Cosine {
    const SCALES: bool = true;
    #[inline(always)]
    fn term(difference: f64) -> f64 {
        difference * difference
    }
    #[inline(always)]
    fn finish(sum: f64) -> f64 {
        0.5 * sum
    }
}

struct Cityblock;
impl Sum for Cityblock {
    #[inline(always)]
    fn term(difference: f64) -> f64 {
        difference.abs()
    }
    #[inline(always)]
    fn finish(sum: f64) -> f64 {
        sum
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
    match columns.metric {
        Metric::Euclidean => by_instruction_set!(
            (rows: &[f32], columns: &Columns, costs: &mut [f64]) -> (),
            |_set| costs_portable::<Euclidean>(rows, columns, costs)
        ),
        Metric::SqEuclidean => by_instruction_set!(
            (rows: &[f32], columns: &Columns, costs: &mut [f64]) -> (),
            |_set| costs_portable::<SqEuclidean>(rows, columns, costs)
        ),
        Metric::Cosine => by_instruction_set!(
            (rows: &[f32], columns: &Columns, costs: &mut [f64]) -> (),
            |_set| costs_portable::<Cosine>(rows, columns, costs)
        ),
        Metric::Cityblock => by_instruction_set!(
            (rows: &[f32], columns: &Columns, costs: &mut [f64]) -> (),
            |_set| costs_portable::<Cityblock>(rows, columns, costs)
        ),
    }
}

#[inline(always)]
fn costs_portable<S: Sum>(rows: &[f32], columns: &Columns, costs: &mut [f64]) {
    if columns.width == 0 {
        return;
    }
    let (dim, width) = (columns.dim, columns.width);
    let row_blocks = rows.chunks(ROWS * dim).zip(costs.chunks_mut(ROWS * width));
    for (rows, costs) in row_blocks {
        if rows.len() == ROWS * dim {
            let directions = directions::<S, ROWS>(rows, dim);
            for j in (0..width).step_by(LANES) {
                let sums = sums::<S, ROWS>(rows, &directions, columns, j);
                for (costs, sums) in costs.chunks_exact_mut(width).zip(sums) {
                    store::<S>(&mut costs[j..j + LANES], sums);
                }
            }
        } else {
            for (row, costs) in rows.chunks_exact(dim).zip(costs.chunks_exact_mut(width)) {
                let directions = directions::<S, 1>(row, dim);
                for j in (0..width).step_by(LANES) {
                    let [sums] = sums::<S, 1>(row, &directions, columns, j);
                    store::<S>(&mut costs[j..j + LANES], sums);
                }
            }
        }
    }
}

#[inline(always)]
fn directions<S: Sum, const N: usize>(rows: &[f32], dim: usize) -> [Direction; N] {
    std::array::from_fn(|r| match S::SCALES {
        true => Direction::of(&rows[r * dim..(r + 1) * dim]),
        false => Direction {
            scale: 1.0,
            is_zero: 0.0,
        },
    })
}

#[inline(always)]
fn sums<S: Sum, const N: usize>(
    rows: &[f32],
    directions: &[Direction; N],
    columns: &Columns,
    j: usize,
) -> [[f64; LANES]; N] {
    let mut sums = [[0.0; LANES]; N];
    let dim = columns.dim;
    let rows: [&[f32]; N] = std::array::from_fn(|r| &rows[r * dim..(r + 1) * dim]);
    for (k, lane) in columns.coordinates.chunks_exact(columns.width).enumerate() {
        let lane: &[f64; LANES] = lane[j..j + LANES].try_into().expect("whole lanes");
        for r in 0..N {
            let mut x = f64::from(rows[r][k]);
            if S::SCALES {
                x *= directions[r].scale;
            }
            for l in 0..LANES {
                sums[r][l] += S::term(x - lane[l]);
            }
        }
    }
    if S::SCALES {
        for r in 0..N {
            for l in 0..LANES {
                sums[r][l] += S::term(directions[r].is_zero - columns.is_zero[j + l]);
            }
        }
    }
    sums
}

#[inline(always)]
fn store<S: Sum>(costs: &mut [f64], sums: [f64; LANES]) {
    for (cost, sum) in costs.iter_mut().zip(sums) {
        *cost = S::finish(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Named;
    use proptest::prelude::*;

    fn naive(a: &[f32], b: &[f32], metric: Metric) -> f64 {
        let doubles = |v: &[f32]| -> Vec<f64> { v.iter().map(|&x| f64::from(x)).collect() };
        let (mut a, mut b) = (doubles(a), doubles(b));
        if metric == Metric::Cosine {
            for v in [&mut a, &mut b] {
                let square: f64 = v.iter().map(|x| x * x).sum();
                match square > 0.0 {
                    true => {
                        let scale = 1.0 / square.sqrt();
                        v.iter_mut().for_each(|x| *x *= scale);
                        v.push(0.0);
                    }
                    false => v.push(1.0),
                }
            }
        }
        let mut sum = 0.0;
        for (x, y) in a.iter().zip(&b) {
            let difference = x - y;
            sum += match metric {
                Metric::Cityblock => difference.abs(),
                _ => difference * difference,
            };
        }
        match metric {
            Metric::Euclidean => sum.sqrt(),
            Metric::Cosine => 0.5 * sum,
            Metric::SqEuclidean | Metric::Cityblock => sum,
        }
    }

    proptest! {
        #[test]
        fn every_cost_is_the_naive_one_bit_for_bit(
            (dim, rows, columns) in (1..40usize, 0..10usize, 0..20usize).prop_flat_map(|(d, n, m)| {
                let vectors = |n| prop::collection::vec(-2.0..2.0f32, n * d);
                (Just(d), vectors(n), vectors(m))
            })
        ) {
            // One vector of zeros, and one that meets itself.
            let (mut rows, columns) = (rows, columns);
            rows.iter_mut().take(dim).for_each(|x| *x = 0.0);
            if let (Some(row), Some(column)) = (rows.get_mut(dim..2 * dim), columns.get(..dim)) {
                row.copy_from_slice(column);
            }
            for &metric in Metric::ALL {
                let table = Columns::with_metric(&columns, dim, metric);
                let n = rows.len() / dim;
                let mut fast = vec![f64::NAN; n * table.width()];
                let mut portable = fast.clone();
                costs(&rows, &table, &mut fast);
                match metric {
                    Metric::Euclidean => costs_portable::<Euclidean>(&rows, &table, &mut portable),
                    Metric::SqEuclidean => costs_portable::<SqEuclidean>(&rows, &table, &mut portable),
                    Metric::Cosine => costs_portable::<Cosine>(&rows, &table, &mut portable),
                    Metric::Cityblock => costs_portable::<Cityblock>(&rows, &table, &mut portable),
                }
                for (i, row) in rows.chunks_exact(dim).enumerate() {
                    for (j, column) in columns.chunks_exact(dim).enumerate() {
                        let at = i * table.width() + j;
                        let expected = naive(row, column, metric);
                        prop_assert_eq!(fast[at].to_bits(), expected.to_bits(), "{}", metric);
                        prop_assert_eq!(portable[at].to_bits(), fast[at].to_bits());
                        if row == column {
                            prop_assert_eq!(fast[at], 0.0);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_vector_of_zeros_is_orthogonal_to_all_but_itself() {
        let table = Columns::with_metric(&[0.0, 0.0, 3.0, 4.0], 2, Metric::Cosine);
        let mut found = vec![f64::NAN; 2 * table.width()];
        costs(&[0.0, 0.0, -6.0, -8.0], &table, &mut found);
        let at = |i: usize, j: usize| found[i * table.width() + j];
        assert_eq!([at(0, 0), at(0, 1), at(1, 0)], [0.0, 1.0, 1.0]);
        assert!((at(1, 1) - 2.0).abs() < 1e-15);
    }
}
