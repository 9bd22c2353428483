//! Lower bounds of the distances between words of a corpus and words of a query.
//!
//! The bound of the distance to the nearest word is taken of `|a|^2 + min_j (|b_j|^2 - 2 a b_j)`, computed by a matrix product
//! in single precision, less what rounding can have added. With `u = 2^-24` and `n`
//! coordinates, a product is off by at most `n u |a||b| / (1 - n u)`, its subtraction from
//! the rounded `|b|^2` by another `u (3 |b|^2 + |a|^2)`, and the rounded `|a|^2` by
//! `u |a|^2`; together less than `(n + 4) u (|a|^2 + |b|^2)` as long as `n u` is below 1 %.
//! Twice that is subtracted. Distances between unit vectors of 160 dimensions lose some
//! 1e-5, which lets next to no document more through to the second bound.

use crate::float_environment::IeeeArithmetic;
use crate::instruction_sets::by_instruction_set;

/// Columns of a panel.
const LANES: usize = super::bounds::LANES;

/// Rows that share one pass over a panel.
const ROWS: usize = 6;

/// Half the distance between 1 and the next number of single precision.
const UNIT_ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;

/// Vectors with longer squares get the bound 0: sums of products could overflow.
const GREATEST_SQUARE: f64 = 1e30;

/// Squared lengths of vectors, rounded to single precision.
pub(crate) fn squared_lengths(vectors: &[f32], dim: usize) -> Vec<f32> {
    let squared = |vector: &[f32]| -> f64 {
        let squares = vector.iter().map(|&x| f64::from(x) * f64::from(x));
        squares.sum()
    };
    vectors
        .chunks_exact(dim)
        .map(|v| squared(v) as f32)
        .collect()
}

/// The words of a query, packed coordinate by coordinate in panels of [`LANES`].
#[derive(Default)]
pub(super) struct QueryPanels {
    dim: usize,
    panels: Vec<[f32; LANES]>,
    /// Squared lengths; infinite where a panel is filled up.
    squares: Vec<[f32; LANES]>,
    greatest_square: f64,
}

impl QueryPanels {
    pub fn new(vectors: &[f32], dim: usize) -> Self {
        let n_panels = (vectors.len() / dim).div_ceil(LANES);
        let mut panels = vec![[0.0; LANES]; n_panels * dim];
        let mut squares = vec![[f32::INFINITY; LANES]; n_panels];
        let lengths = squared_lengths(vectors, dim);
        for (j, (vector, &square)) in vectors.chunks_exact(dim).zip(&lengths).enumerate() {
            let (panel, lane) = (j / LANES, j % LANES);
            squares[panel][lane] = square;
            for (row, &x) in panels[panel * dim..].iter_mut().zip(vector) {
                row[lane] = x;
            }
        }
        QueryPanels {
            dim,
            panels,
            squares,
            greatest_square: lengths.iter().copied().fold(0.0, f32::max).into(),
        }
    }

    /// Lower bounds of the distances from these vectors to the nearest of the query.
    ///
    /// # Panics
    ///
    /// If the lengths do not fit.
    pub fn bounds(&self, vectors: &[f32], squared_lengths: &[f32], out: &mut [f64]) {
        assert_eq!(
            vectors.len(),
            squared_lengths.len() * self.dim,
            "whole vectors"
        );
        assert_eq!(out.len(), squared_lengths.len(), "a bound a vector");
        let _ieee = IeeeArithmetic::enter();
        let panels = self;
        by_instruction_set!(
            (panels: &QueryPanels, vectors: &[f32], squared_lengths: &[f32], out: &mut [f64]) -> (),
            |_set| bounds_portable(panels, vectors, squared_lengths, out)
        )
    }

    /// Length of a row of [`costs`](Self::costs): the number of words, filled up.
    pub fn width(&self) -> usize {
        self.squares.len() * LANES
    }

    /// Lower bounds of the distances from these vectors to each word of the query, a row of
    /// [`width`](Self::width) for each.
    ///
    /// # Panics
    ///
    /// If the lengths do not fit.
    pub fn costs(&self, vectors: &[f32], out: &mut [f32]) {
        let squared_lengths = squared_lengths(vectors, self.dim);
        let squared_lengths = &squared_lengths[..];
        assert_eq!(
            out.len(),
            squared_lengths.len() * self.width(),
            "a row a vector"
        );
        let _ieee = IeeeArithmetic::enter();
        let panels = self;
        by_instruction_set!(
            (panels: &QueryPanels, vectors: &[f32], squared_lengths: &[f32], out: &mut [f32]) -> (),
            |_set| costs_portable(panels, vectors, squared_lengths, out)
        )
    }

    /// What rounding can add to a squared distance, twice over; infinite for vectors that
    /// single precision cannot square.
    #[inline(always)]
    fn margin(&self, square: f32) -> f64 {
        let (square, most) = (f64::from(square), self.greatest_square);
        // Also refuses NaN.
        if !(square <= GREATEST_SQUARE && most <= GREATEST_SQUARE) {
            return f64::INFINITY;
        }
        // Subnormal products lose more than their share.
        2.0 * (self.dim as f64 + 4.0) * UNIT_ROUNDOFF * (square + most) + 1e-40
    }

    /// The bound from the least `|b|^2 - 2 a b`.
    #[inline(always)]
    fn bound(&self, least: f32, square: f32) -> f64 {
        match self.margin(square) {
            f64::INFINITY => 0.0,
            margin => (f64::from(square) + f64::from(least) - margin)
                .max(0.0)
                .sqrt(),
        }
    }
}

#[inline(always)]
fn bounds_portable(query: &QueryPanels, vectors: &[f32], squared_lengths: &[f32], out: &mut [f64]) {
    let dim = query.dim;
    let blocks = vectors.chunks(ROWS * dim).zip(squared_lengths.chunks(ROWS));
    for ((rows, squares), out) in blocks.zip(out.chunks_mut(ROWS)) {
        if squares.len() == ROWS {
            let least = least::<ROWS>(query, rows);
            for r in 0..ROWS {
                out[r] = query.bound(least[r], squares[r]);
            }
        } else {
            let rows = rows.chunks_exact(dim);
            for ((row, &square), out) in rows.zip(squares).zip(out) {
                let [least] = least::<1>(query, row);
                *out = query.bound(least, square);
            }
        }
    }
}

#[inline(always)]
fn costs_portable(query: &QueryPanels, vectors: &[f32], squared_lengths: &[f32], out: &mut [f32]) {
    let (dim, width) = (query.dim, query.width());
    let blocks = vectors.chunks(ROWS * dim).zip(squared_lengths.chunks(ROWS));
    for ((rows, squares), out) in blocks.zip(out.chunks_mut(ROWS * width)) {
        if squares.len() == ROWS {
            costs_of_rows::<ROWS>(query, rows, squares, out);
        } else {
            let rows = rows.chunks_exact(dim).zip(squares.chunks_exact(1));
            for ((row, square), out) in rows.zip(out.chunks_exact_mut(width)) {
                costs_of_rows::<1>(query, row, square, out);
            }
        }
    }
}

#[inline(always)]
fn costs_of_rows<const N: usize>(
    query: &QueryPanels,
    rows: &[f32],
    row_squares: &[f32],
    out: &mut [f32],
) {
    let (dim, width) = (query.dim, query.width());
    let rows: [&[f32]; N] = std::array::from_fn(|r| &rows[r * dim..(r + 1) * dim]);
    let panels = query.panels.chunks_exact(dim).zip(&query.squares);
    for (j, (panel, squares)) in panels.enumerate() {
        let sums = products(rows, panel);
        for r in 0..N {
            // The margin is twice what is needed, so that this may be rounded, too; the root
            // and its last place are taken care of by the factor.
            let base = (f64::from(row_squares[r]) - query.margin(row_squares[r])) as f32;
            let out = &mut out[r * width + j * LANES..][..LANES];
            for l in 0..LANES {
                let squared = base + (squares[l] - 2.0 * sums[r][l]);
                // NaN is not above 0 either.
                let squared = if squared > 0.0 { squared } else { 0.0 };
                out[l] = squared.sqrt() * (1.0 - 2.0 * f32::EPSILON);
            }
        }
    }
}

/// Sums of products, each over the coordinates in their order.
#[inline(always)]
fn products<const N: usize>(rows: [&[f32]; N], panel: &[[f32; LANES]]) -> [[f32; LANES]; N] {
    let mut sums = [[0.0f32; LANES]; N];
    for (k, column) in panel.iter().enumerate() {
        for r in 0..N {
            let x = rows[r][k];
            for l in 0..LANES {
                sums[r][l] += x * column[l];
            }
        }
    }
    sums
}

/// The least `|b|^2 - 2 a b` of each of `N` rows.
#[inline(always)]
fn least<const N: usize>(query: &QueryPanels, rows: &[f32]) -> [f32; N] {
    let dim = query.dim;
    let rows: [&[f32]; N] = std::array::from_fn(|r| &rows[r * dim..(r + 1) * dim]);
    let mut least = [[f32::INFINITY; LANES]; N];
    for (panel, squares) in query.panels.chunks_exact(dim).zip(&query.squares) {
        let sums = products(rows, panel);
        for r in 0..N {
            for l in 0..LANES {
                let value = squares[l] - 2.0 * sums[r][l];
                least[r][l] = if value < least[r][l] {
                    value
                } else {
                    least[r][l]
                };
            }
        }
    }
    least.map(|lanes| lanes.into_iter().fold(f32::INFINITY, f32::min))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distance(a: &[f32], b: &[f32]) -> f64 {
        let differences = a.iter().zip(b).map(|(x, y)| f64::from(*x) - f64::from(*y));
        differences.map(|x| x * x).sum::<f64>().sqrt()
    }

    proptest! {
        /// Vectors of any scale, some of which meet themselves or nearly so.
        #[test]
        fn bounds_are_below_the_nearest_distance_and_close_to_it(
            (dim, rows, query) in (1..40usize, 1..20usize, 1..40usize).prop_flat_map(|(d, n, m)| {
                let vectors = |n| prop::collection::vec(-1.0..1.0f32, n * d);
                (Just(d), vectors(n), vectors(m))
            }),
            scale in prop::sample::select(vec![1.0f32, 1e-30, 1e-22, 1e6, 1e14, 1e20]),
        ) {
            let scaled = |v: &[f32]| -> Vec<f32> { v.iter().map(|x| x * scale).collect() };
            let (rows, mut query) = (scaled(&rows), scaled(&query));
            for (own, row) in query.chunks_exact_mut(dim).zip(rows.chunks_exact(dim)).skip(1).step_by(3) {
                own.copy_from_slice(row);
            }
            let panels = QueryPanels::new(&query, dim);
            let squares = squared_lengths(&rows, dim);
            let mut fast = vec![f64::NAN; squares.len()];
            let mut portable = fast.clone();
            panels.bounds(&rows, &squares, &mut fast);
            bounds_portable(&panels, &rows, &squares, &mut portable);
            let width = panels.width();
            let mut costs = vec![f32::NAN; squares.len() * width];
            panels.costs(&rows, &mut costs);
            for (i, row) in rows.chunks_exact(dim).enumerate() {
                prop_assert_eq!(fast[i].to_bits(), portable[i].to_bits());
                let nearest = query.chunks_exact(dim).map(|b| distance(row, b)).fold(f64::INFINITY, f64::min);
                prop_assert!(fast[i] <= nearest, "{} {}", fast[i], nearest);
                for (j, b) in query.chunks_exact(dim).enumerate() {
                    let (cost, exact) = (f64::from(costs[i * width + j]), distance(row, b));
                    prop_assert!(cost <= exact, "{} {}", cost, exact);
                }
                if (1e-6..1e7).contains(&scale) {
                    let length = f64::from(scale) * (2.0 * dim as f64).sqrt();
                    prop_assert!(nearest * nearest - fast[i] * fast[i] <= 1e-5 * dim as f64 * length * length);
                }
            }
        }
    }
}
