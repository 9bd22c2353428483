//! Lower bounds of the distances between words of a corpus and words of a query.
//!
//! They are taken of `|a|^2 + (|b|^2 - 2 a b)`, computed by a matrix product in single precision,
//! less what rounding can have added. With `u = 2^-24` and `n`
//! coordinates, a product is off by at most `n u |a||b| / (1 - n u)`, its subtraction from
//! the rounded `|b|^2` by another `u (3 |b|^2 + |a|^2)`, and the rounded `|a|^2` by
//! `u |a|^2`; together less than `(n + 4) u (|a|^2 + |b|^2)` as long as `n u` is below 1 %.
//! Twice that is subtracted. Distances between unit vectors of 160 dimensions lose some
//! 1e-5, which lets next to no document more through to the second bound.

use super::bounds::{least_of, lesser};
use crate::float_environment::IeeeArithmetic;
use wordmover_transport::instruction_sets::{MultiplyAdd, by_instruction_set};

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

    /// By vector: the greatest dual that it can have as a source where those of the query's
    /// words are given, as [`DualBound`](super::bounds::DualBound) finds them: the least of its
    /// distances less these, or somewhat less than that.
    ///
    /// # Panics
    ///
    /// If the lengths do not fit.
    pub fn source_duals(
        &self,
        sink_duals: &[f32],
        vectors: &[f32],
        squared_lengths: &[f32],
        out: &mut [f32],
    ) {
        let n = squared_lengths.len();
        assert_eq!(vectors.len(), n * self.dim, "whole vectors");
        assert_eq!(out.len(), n, "a dual a vector");
        assert_eq!(sink_duals.len(), self.width(), "a dual a word");
        let _ieee = IeeeArithmetic::enter();
        let panels = self;
        by_instruction_set!(
            (panels: &QueryPanels, sink_duals: &[f32], vectors: &[f32], squared_lengths: &[f32], out: &mut [f32]) -> (),
            |set| source_duals_with(set, panels, sink_duals, vectors, squared_lengths, out)
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
            |set| costs_with(set, panels, vectors, squared_lengths, out)
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

    /// The squared length of a vector, less the margin. That is twice what is needed, so that
    /// this may be rounded, too.
    #[inline(always)]
    fn base(&self, square: f32) -> f32 {
        (f64::from(square) - self.margin(square)) as f32
    }
}

#[inline(always)]
fn source_duals_with(
    set: impl MultiplyAdd,
    query: &QueryPanels,
    sink_duals: &[f32],
    vectors: &[f32],
    squared_lengths: &[f32],
    out: &mut [f32],
) {
    let dim = query.dim;
    let blocks = vectors.chunks(ROWS * dim).zip(squared_lengths.chunks(ROWS));
    for ((rows, squares), out) in blocks.zip(out.chunks_mut(ROWS)) {
        // What is left over is done at once, too: a row alone would wait for its own sums.
        match squares.len() {
            1 => source_duals_of_rows::<1>(set, query, sink_duals, rows, squares, out),
            2 => source_duals_of_rows::<2>(set, query, sink_duals, rows, squares, out),
            3 => source_duals_of_rows::<3>(set, query, sink_duals, rows, squares, out),
            4 => source_duals_of_rows::<4>(set, query, sink_duals, rows, squares, out),
            5 => source_duals_of_rows::<5>(set, query, sink_duals, rows, squares, out),
            _ => source_duals_of_rows::<ROWS>(set, query, sink_duals, rows, squares, out),
        }
    }
}

#[inline(always)]
fn source_duals_of_rows<const N: usize>(
    set: impl MultiplyAdd,
    query: &QueryPanels,
    sink_duals: &[f32],
    rows: &[f32],
    row_squares: &[f32],
    out: &mut [f32],
) {
    let mut least = [[f32::INFINITY; LANES]; N];
    let panels = query.panels.chunks_exact(query.dim).zip(&query.squares);
    let sink_duals = sink_duals.as_chunks::<LANES>().0;
    let rows: [&[f32]; N] = std::array::from_fn(|r| &rows[r * query.dim..(r + 1) * query.dim]);
    let bases: [f32; N] = std::array::from_fn(|r| query.base(row_squares[r]));
    for ((panel, squares), sink_duals) in panels.zip(sink_duals) {
        let sums = products(set, rows, panel);
        for r in 0..N {
            for l in 0..LANES {
                let value = cost(bases[r], squares[l], sums[r][l]) - sink_duals[l];
                least[r][l] = lesser(value, least[r][l]);
            }
        }
    }
    for r in 0..N {
        let value = least_of(least[r]);
        // The difference was rounded, and this is.
        out[r] = value - 2.0 * f32::EPSILON * value.abs();
    }
}

#[inline(always)]
fn costs_with(
    set: impl MultiplyAdd,
    query: &QueryPanels,
    vectors: &[f32],
    squared_lengths: &[f32],
    out: &mut [f32],
) {
    let (dim, width) = (query.dim, query.width());
    let blocks = vectors.chunks(ROWS * dim).zip(squared_lengths.chunks(ROWS));
    for ((rows, squares), out) in blocks.zip(out.chunks_mut(ROWS * width)) {
        match squares.len() {
            1 => costs_of_rows::<1>(set, query, rows, squares, out),
            2 => costs_of_rows::<2>(set, query, rows, squares, out),
            3 => costs_of_rows::<3>(set, query, rows, squares, out),
            4 => costs_of_rows::<4>(set, query, rows, squares, out),
            5 => costs_of_rows::<5>(set, query, rows, squares, out),
            _ => costs_of_rows::<ROWS>(set, query, rows, squares, out),
        }
    }
}

#[inline(always)]
fn costs_of_rows<const N: usize>(
    set: impl MultiplyAdd,
    query: &QueryPanels,
    rows: &[f32],
    row_squares: &[f32],
    out: &mut [f32],
) {
    let (dim, width) = (query.dim, query.width());
    let rows: [&[f32]; N] = std::array::from_fn(|r| &rows[r * dim..(r + 1) * dim]);
    let panels = query.panels.chunks_exact(dim).zip(&query.squares);
    for (j, (panel, squares)) in panels.enumerate() {
        let sums = products(set, rows, panel);
        for r in 0..N {
            let base = query.base(row_squares[r]);
            let out = &mut out[r * width + j * LANES..][..LANES];
            for l in 0..LANES {
                out[l] = cost(base, squares[l], sums[r][l]);
            }
        }
    }
}

/// The lower bound of a distance.
#[inline(always)]
fn cost(base: f32, square: f32, product: f32) -> f32 {
    let squared = base + (square - 2.0 * product);
    // NaN is not above 0 either. The root and its last place are taken care of by the factor.
    let squared = if squared > 0.0 { squared } else { 0.0 };
    squared.sqrt() * (1.0 - 2.0 * f32::EPSILON)
}

/// Sums of products, each over the coordinates in their order.
#[inline(always)]
fn products<const N: usize>(
    set: impl MultiplyAdd,
    rows: [&[f32]; N],
    panel: &[[f32; LANES]],
) -> [[f32; LANES]; N] {
    let mut sums = [[0.0f32; LANES]; N];
    // Said once, so that it is not asked for every coordinate.
    let rows = rows.map(|row| &row[..panel.len()]);
    for (k, column) in panel.iter().enumerate() {
        for r in 0..N {
            let x = rows[r][k];
            for l in 0..LANES {
                sums[r][l] = set.multiply_add(x, column[l], sums[r][l]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wordmover_transport::instruction_sets::Portable;

    fn distance(a: &[f32], b: &[f32]) -> f64 {
        let differences = a.iter().zip(b).map(|(x, y)| f64::from(*x) - f64::from(*y));
        differences.map(|x| x * x).sum::<f64>().sqrt()
    }

    proptest! {
        /// Vectors of any scale, some of which meet themselves or nearly so.
        #[test]
        fn costs_and_duals_are_below_the_true_ones_and_close_to_them(
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
            let sinks = panels.width();
            let sink_duals: Vec<f32> = (0..sinks).map(|j| match j < query.len() / dim {
                true => scale * (j % 5) as f32 / 7.0,
                false => f32::NEG_INFINITY,
            }).collect();
            let mut fast = vec![f32::NAN; squares.len()];
            let mut portable = fast.clone();
            panels.source_duals(&sink_duals, &rows, &squares, &mut fast);
            source_duals_with(Portable, &panels, &sink_duals, &rows, &squares, &mut portable);
            let width = panels.width();
            let mut costs = vec![f32::NAN; squares.len() * width];
            panels.costs(&rows, &mut costs);
            for (i, row) in rows.chunks_exact(dim).enumerate() {
                let others = query.chunks_exact(dim).zip(&sink_duals);
                let least = others.map(|(b, &dual)| distance(row, b) - f64::from(dual)).fold(f64::INFINITY, f64::min);
                for found in [fast[i], portable[i]] {
                    prop_assert!(f64::from(found) <= least, "{} {}", found, least);
                }
                for (j, b) in query.chunks_exact(dim).enumerate() {
                    let (cost, exact) = (f64::from(costs[i * width + j]), distance(row, b));
                    prop_assert!(cost <= exact, "{} {}", cost, exact);
                }
                if (1e-6..1e7).contains(&scale) {
                    // Near 0, a root takes what rounding did to a square.
                    let length = f64::from(scale) * (2.0 * dim as f64).sqrt();
                    prop_assert!(least - f64::from(fast[i]) <= 3e-3 * (dim as f64).sqrt() * length);
                }
            }
        }
    }
}
