//! Costs from a matrix product, in single precision.
//!
//! The product is computed in tiles of [`ROWS`] by [`LANES`], which fit the registers
//! of AVX2; rows and columns are both packed coordinate by coordinate, so that a tile
//! reads two streams. Norms and square roots follow while the tile is in registers.
//! Multiplications and additions are not fused: processors that have units for both lose nothing
//! (`bench/run ground` compares with OpenBLAS), and a cost has the same bits on every machine.
//!
//! # Accuracy
//!
//! With unit vectors of 100 to 300 dimensions a cost is off by some 3e-8 of its value,
//! rarely by 2e-7. The error is relative to the norms, so it grows as vectors get
//! closer: from [`NEAR`] on, and for vectors whose squares single precision could not
//! hold, the direct distance is taken, in double precision.

use crate::float_environment::IeeeArithmetic;
use wordmover_transport::instruction_sets::by_instruction_set;

/// Rows of a tile.
pub(crate) const ROWS: usize = 6;

/// Columns of a tile.
const LANES: usize = 16;

/// Rows that meet one panel of columns before the next panel takes its place in the
/// cache: 16 groups of 300 coordinates are 115 KB, which the second level holds.
const GROUPS: usize = 16;

/// Vectors are near when their squared distance is at most this share of the sum of
/// their squared lengths.
const NEAR: f32 = 0.5;

/// Squared lengths that single precision deals with: beyond, sums could overflow, or
/// lose what they are made of.
const LENGTHS: std::ops::Range<f64> = 1e-24..1e24;

/// Vectors in groups of [`ROWS`]; the last is filled up with zeros.
#[derive(Debug)]
pub(crate) struct PackedRows {
    dim: usize,
    groups: Vec<[f32; ROWS]>,
    squares: Vec<f32>,
}

impl PackedRows {
    /// Of vectors stored one after the other.
    pub fn new(vectors: &[f32], dim: usize) -> Self {
        let groups = packed(vectors, dim);
        let squares = squared_lengths(&groups, dim);
        PackedRows {
            dim,
            groups,
            squares,
        }
    }

    /// Number of rows of costs: that of the vectors, filled up.
    pub fn n_padded(&self) -> usize {
        self.squares.len()
    }
}

/// Vectors in panels of [`LANES`]; the last is filled up with zeros.
#[derive(Debug)]
pub(crate) struct PackedColumns {
    dim: usize,
    panels: Vec<[f32; LANES]>,
    squares: Vec<f32>,
}

impl PackedColumns {
    /// Of vectors stored one after the other.
    pub fn new(vectors: &[f32], dim: usize) -> Self {
        let panels = packed(vectors, dim);
        let squares = squared_lengths(&panels, dim);
        PackedColumns {
            dim,
            panels,
            squares,
        }
    }

    /// Length of a row of costs: the number of vectors, filled up.
    pub fn width(&self) -> usize {
        self.squares.len()
    }
}

/// Coordinate by coordinate, `N` vectors beside each other.
fn packed<const N: usize>(vectors: &[f32], dim: usize) -> Vec<[f32; N]> {
    let mut packed = vec![[0.0; N]; (vectors.len() / dim).div_ceil(N) * dim];
    let groups = packed.chunks_exact_mut(dim).zip(vectors.chunks(N * dim));
    for (group, vectors) in groups {
        for (i, vector) in vectors.chunks_exact(dim).enumerate() {
            for (all, &x) in group.iter_mut().zip(vector) {
                all[i] = x;
            }
        }
    }
    packed
}

/// Squared lengths of packed vectors, each the sum over its coordinates in their order, `N` side
/// by side; NaN for vectors that must take the direct way: nothing compares with it.
fn squared_lengths<const N: usize>(packed: &[[f32; N]], dim: usize) -> Vec<f32> {
    let rounded = |square: f64| {
        if square == 0.0 || LENGTHS.contains(&square) {
            square as f32
        } else {
            f32::NAN
        }
    };
    let each = packed.chunks_exact(dim).flat_map(|group| {
        let mut sums = [0.0; N];
        for coordinates in group {
            for (sum, &x) in sums.iter_mut().zip(coordinates) {
                *sum += f64::from(x) * f64::from(x);
            }
        }
        sums.map(rounded)
    });
    each.collect()
}

/// A few groups of rows, for one thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowGroups<'r> {
    groups: &'r [[f32; ROWS]],
    squares: &'r [f32],
}

impl PackedRows {
    /// All of them in one part.
    pub fn all(&self) -> RowGroups<'_> {
        RowGroups {
            groups: &self.groups,
            squares: &self.squares,
        }
    }

    /// Parts of `n_groups` groups each; their costs are
    /// `n_groups * ROWS * columns.width()` long.
    pub fn parts(&self, n_groups: usize) -> Vec<RowGroups<'_>> {
        let groups = self.groups.chunks(n_groups * self.dim);
        let squares = self.squares.chunks(n_groups * ROWS);
        let parts = groups.zip(squares);
        parts
            .map(|(groups, squares)| RowGroups { groups, squares })
            .collect()
    }
}

/// A cost that single precision does not do for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NearCost {
    pub row: u32,
    pub column: u32,
    pub cost: f64,
}

/// Distances from every row to every column, a row of `columns.width()` for each. Those of near
/// pairs are given beside it, with rows numbered from 0, and stand there instead.
///
/// # Panics
///
/// If the lengths do not fit.
pub(crate) fn costs(
    rows: RowGroups,
    columns: &PackedColumns,
    costs: &mut [f32],
    near: &mut Vec<NearCost>,
) {
    let n = rows.squares.len();
    assert_eq!(rows.groups.len() * ROWS, n * columns.dim, "whole groups");
    assert_eq!(costs.len(), n * columns.width(), "cost matrix shape");
    let _ieee = IeeeArithmetic::enter();
    let wide = WideRegisters::detect();
    by_instruction_set!(
        (
            rows: RowGroups,
            columns: &PackedColumns,
            wide: Option<WideRegisters>,
            costs: &mut [f32],
            near: &mut Vec<NearCost>
        ) -> (),
        |_set| costs_portable(rows, columns, wide, costs, near)
    )
}

#[inline(always)]
fn costs_portable(
    rows: RowGroups,
    columns: &PackedColumns,
    wide: Option<WideRegisters>,
    costs: &mut [f32],
    near: &mut Vec<NearCost>,
) {
    let (dim, width) = (columns.dim, columns.width());
    if width == 0 {
        return;
    }
    let blocks = rows.groups.chunks(GROUPS * dim);
    let blocks = blocks.zip(rows.squares.chunks(GROUPS * ROWS));
    let blocks = blocks.zip(costs.chunks_mut(GROUPS * ROWS * width));
    for (block, ((groups, squares), costs)) in blocks.enumerate() {
        for (j, panel) in columns.panels.chunks_exact(dim).enumerate() {
            let column = j * LANES;
            let column_squares = columns.squares[column..]
                .first_chunk()
                .expect("whole panels");
            let groups = groups.chunks_exact(dim);
            let groups = groups.zip(squares.as_chunks().0);
            let groups = groups.zip(costs.chunks_exact_mut(ROWS * width));
            for (i, ((group, squares), costs)) in groups.enumerate() {
                let tile = Tile {
                    row: (block * GROUPS + i) * ROWS,
                    column,
                    group,
                    panel,
                    products: match wide {
                        Some(wide) => wide.products(group, panel),
                        None => products(group, panel),
                    },
                };
                tile.store(squares, column_squares, costs, width, near);
            }
        }
    }
}

/// Sums of products, each over the coordinates in their order.
#[inline(always)]
fn products(group: &[[f32; ROWS]], panel: &[[f32; LANES]]) -> [[f32; LANES]; ROWS] {
    let mut sums = [[0.0; LANES]; ROWS];
    for (row, column) in group.iter().zip(panel) {
        for r in 0..ROWS {
            for l in 0..LANES {
                sums[r][l] += row[r] * column[l];
            }
        }
    }
    sums
}

/// Proof that the processor has registers of [`LANES`] numbers (AVX-512).
#[derive(Debug, Clone, Copy)]
struct WideRegisters(());

impl WideRegisters {
    /// The proof, if it holds.
    fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            return Some(WideRegisters(()));
        }
        None
    }

    /// [`products`] in half the instructions: the same operations in the same order, and so
    /// the same bits.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn products(self, group: &[[f32; ROWS]], panel: &[[f32; LANES]]) -> [[f32; LANES]; ROWS] {
        use std::arch::x86_64::{
            _mm512_add_ps, _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_ps, _mm512_setzero_ps,
            _mm512_storeu_ps,
        };
        #[target_feature(enable = "avx512f")]
        fn compiled(group: &[[f32; ROWS]], panel: &[[f32; LANES]]) -> [[f32; LANES]; ROWS] {
            let mut sums = [_mm512_setzero_ps(); ROWS];
            for (row, column) in group.iter().zip(panel) {
                // SAFETY: a column has 16 numbers.
                let column = unsafe { _mm512_loadu_ps(column.as_ptr()) };
                for r in 0..ROWS {
                    sums[r] = _mm512_add_ps(sums[r], _mm512_mul_ps(_mm512_set1_ps(row[r]), column));
                }
            }
            let mut out = [[0.0; LANES]; ROWS];
            for (out, sum) in out.iter_mut().zip(sums) {
                // SAFETY: a row has room for 16 numbers.
                unsafe { _mm512_storeu_ps(out.as_mut_ptr(), sum) };
            }
            out
        }
        // SAFETY: the value proves that the processor has the feature.
        unsafe { compiled(group, panel) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn products(self, group: &[[f32; ROWS]], panel: &[[f32; LANES]]) -> [[f32; LANES]; ROWS] {
        products(group, panel)
    }
}

/// The squared distance, and whether it may be taken as it is; never so where a square is NaN.
#[inline(always)]
fn squared_distance(squares: f32, product: f32) -> (f32, bool) {
    let squared = squares - 2.0 * product;
    (squared, squared > NEAR * squares)
}

/// Products on their way to distances.
struct Tile<'p> {
    /// The first row, and the first column.
    row: usize,
    column: usize,
    group: &'p [[f32; ROWS]],
    panel: &'p [[f32; LANES]],
    products: [[f32; LANES]; ROWS],
}

impl Tile<'_> {
    /// Turns products into distances.
    #[inline(always)]
    fn store(
        &self,
        row_squares: &[f32; ROWS],
        column_squares: &[f32; LANES],
        costs: &mut [f32],
        width: usize,
        near: &mut Vec<NearCost>,
    ) {
        let mut is_near = [0; LANES];
        for r in 0..ROWS {
            let costs = costs[r * width + self.column..].first_chunk_mut();
            let costs: &mut [f32; LANES] = costs.expect("a row");
            for l in 0..LANES {
                let squares = row_squares[r] + column_squares[l];
                let (squared, is_far) = squared_distance(squares, self.products[r][l]);
                is_near[l] |= u32::from(!is_far);
                costs[l] = squared.sqrt();
            }
        }
        if is_near.iter().fold(0, |any, near| any | near) != 0 {
            self.find_near(row_squares, column_squares, near);
        }
    }

    /// Takes direct distances between near pairs.
    #[cold]
    #[inline(never)]
    fn find_near(
        &self,
        row_squares: &[f32; ROWS],
        column_squares: &[f32; LANES],
        near: &mut Vec<NearCost>,
    ) {
        for r in 0..ROWS {
            for l in 0..LANES {
                let squares = row_squares[r] + column_squares[l];
                let (_, is_far) = squared_distance(squares, self.products[r][l]);
                if !is_far {
                    near.push(NearCost {
                        row: (self.row + r) as u32,
                        column: (self.column + l) as u32,
                        cost: self.direct_distance(r, l),
                    });
                }
            }
        }
    }

    fn direct_distance(&self, r: usize, l: usize) -> f64 {
        let coordinates = self.group.iter().zip(self.panel);
        let differences = coordinates.map(|(row, column)| f64::from(row[r]) - f64::from(column[l]));
        differences.map(|x| x * x).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What `direct` computes.
    fn distance(a: &[f32], b: &[f32]) -> f64 {
        let differences = a.iter().zip(b).map(|(x, y)| f64::from(*x) - f64::from(*y));
        differences.map(|x| x * x).sum::<f64>().sqrt()
    }

    /// One cost by the definition: single precision, one operation after the other.
    fn by_definition(a: &[f32], b: &[f32]) -> f64 {
        let square = |v: &[f32]| squared_lengths(v.as_chunks::<1>().0, v.len())[0];
        let mut product = 0f32;
        for (x, y) in a.iter().zip(b) {
            product += x * y;
        }
        let squares = square(a) + square(b);
        let squared = squares - 2.0 * product;
        if squared > NEAR * squares {
            f64::from(squared.sqrt())
        } else {
            distance(a, b)
        }
    }

    fn all_costs(
        rows: &[f32],
        columns: &[f32],
        dim: usize,
        costs: impl Fn(RowGroups, &PackedColumns, &mut [f32], &mut Vec<NearCost>),
    ) -> (Vec<f64>, usize) {
        let (rows, columns) = (PackedRows::new(rows, dim), PackedColumns::new(columns, dim));
        let width = columns.width();
        let mut all = Vec::new();
        for part in rows.parts(19) {
            let mut out = vec![f32::NAN; part.squares.len() * width];
            let mut near = Vec::new();
            costs(part, &columns, &mut out, &mut near);
            let first = all.len();
            all.extend(out.into_iter().map(f64::from));
            for NearCost { row, column, cost } in near {
                all[first + row as usize * width + column as usize] = cost;
            }
        }
        (all, width)
    }

    fn vectors(n: usize, dim: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0..1.0f32, n * dim)
    }

    proptest! {
        #[test]
        fn every_cost_is_that_of_its_two_vectors_bit_for_bit(
            (dim, rows, columns) in (1..40usize, 0..140usize, 1..40usize)
                .prop_flat_map(|(d, n, m)| (Just(d), vectors(n, d), vectors(m, d)))
        ) {
            // Some vectors meet themselves, or nearly so.
            let mut columns = columns;
            for (column, row) in columns.chunks_exact_mut(dim).zip(rows.chunks_exact(dim)).skip(2) {
                column.copy_from_slice(row);
                column[0] += 1e-3 * column[dim - 1].trunc();
            }
            let (fast, width) = all_costs(&rows, &columns, dim, costs);
            let (portable, _) = all_costs(&rows, &columns, dim, |rows, columns, out, near| {
                costs_portable(rows, columns, None, out, near);
            });
            for (i, row) in rows.chunks_exact(dim).enumerate() {
                for (j, column) in columns.chunks_exact(dim).enumerate() {
                    let (found, exact) = (fast[i * width + j], distance(row, column));
                    prop_assert_eq!(found.to_bits(), by_definition(row, column).to_bits());
                    prop_assert_eq!(found.to_bits(), portable[i * width + j].to_bits());
                    prop_assert!((found - exact).abs() <= 1e-6 * exact, "{} and {}", found, exact);
                }
            }
        }
    }

    #[test]
    fn a_vector_is_nowhere_but_at_itself() {
        let vectors: Vec<f32> = (0..300).map(|i| (i as f32 * 0.7).sin()).collect();
        let (costs, width) = all_costs(&vectors, &vectors, 20, costs);
        for i in 0..15 {
            assert_eq!(costs[i * width + i], 0.0);
        }
    }

    #[test]
    fn lengths_that_single_precision_cannot_square_take_the_direct_way() {
        for scale in [f32::MAX, 1e30, 1e-30, f32::MIN_POSITIVE] {
            let a = [0.9 * scale, -0.5 * scale, 0.1 * scale];
            let b = [-0.9 * scale, 0.25, 0.75 * scale];
            let (found, _) = all_costs(&a, &b, 3, costs);
            assert_eq!(found[0], distance(&a, &b), "{scale}");
            assert!(found[0].is_finite() && found[0] > 0.0);
        }
    }
}
