//! Products of a matrix of f32 with vectors of f64, several at once.
//!
//! The solver needs `X d` and `X^T v` and nothing else, for several classes at a
//! time. Both are this one product, of a matrix stored so that lanes run over its
//! rows: every number of the result is one sum over the terms in their order, in
//! double precision and without fused operations. So it does not depend on the number
//! of threads, on how many vectors are multiplied together, or on the instruction
//! set. The loops are plain; the compiler vectorises them, for the baseline and for
//! AVX2, chosen at run time.
//!
//! The crates `gemm` and `matrixmultiply` are slower at these shapes, and add in another
//! order: `docs/svm.md`.

use std::ops::Range;

use rayon::prelude::*;

use crate::features::Features;

/// Rows of a panel.
pub(crate) const LANES: usize = 8;

/// Vectors multiplied together: with two registers a panel, enough sums run side by
/// side to hide the latency of an addition.
const MOST_TOGETHER: usize = 4;

/// Panels a thread takes at once.
const PANELS_A_TASK: usize = 16;

/// Terms of all panels of a task that are added before the next ones.
const TERMS_A_TIME: usize = 1024;

/// Products smaller than this many multiplications are not shared among threads.
const WORTH_SHARING: usize = 1 << 21;

/// A matrix in panels of eight rows, each stored column by column.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    n_rows: usize,
    n_terms: usize,
    values: Vec<f32>,
}

impl Panels {
    /// A matrix of `n_rows` by `n_terms`; `fill` writes its rows `8 p .. 8 p + 8` (or
    /// fewer, in the last) as panel `p`, which is all zeros before.
    pub fn new(n_rows: usize, n_terms: usize, fill: impl Fn(usize, &mut [f32]) + Sync) -> Self {
        let mut values = vec![0.0; n_rows.div_ceil(LANES) * n_terms * LANES];
        if n_terms > 0 {
            let fill = |(p, panel): (usize, &mut [f32])| fill(p, panel);
            let panels = values.par_chunks_mut(n_terms * LANES).enumerate();
            panels
                .with_min_len(WORTH_SHARING / (n_terms * LANES) / 4 + 1)
                .for_each(fill);
        }
        Panels {
            n_rows,
            n_terms,
            values,
        }
    }

    /// Some rows of a matrix, in the order given.
    pub fn of_rows(matrix: Features, rows: &[usize]) -> Self {
        Panels::new(rows.len(), matrix.n_columns(), |p, panel| {
            for (l, &row) in rows.iter().skip(p * LANES).take(LANES).enumerate() {
                for (lanes, &x) in panel.chunks_exact_mut(LANES).zip(matrix.row(row)) {
                    lanes[l] = x;
                }
            }
        })
    }

    /// The transpose of that.
    pub fn of_columns(matrix: Features, rows: &[usize]) -> Self {
        let (n_columns, n_terms) = (matrix.n_columns(), rows.len());
        let mut values = vec![0.0; n_columns.div_ceil(LANES) * n_terms * LANES];
        // Several panels a time: a few numbers of each row would waste its cache lines.
        let tasks = values.par_chunks_mut(PANELS_A_TASK * n_terms.max(1) * LANES);
        tasks.enumerate().for_each(|(task, values)| {
            for (t, &row) in rows.iter().enumerate() {
                let row = &matrix.row(row)[task * PANELS_A_TASK * LANES..];
                let panels = values.chunks_exact_mut(n_terms * LANES);
                for (panel, x) in panels.zip(row.chunks(LANES)) {
                    panel[t * LANES..][..x.len()].copy_from_slice(x);
                }
            }
        });
        Panels {
            n_rows: n_columns,
            n_terms,
            values,
        }
    }

    fn panel(&self, p: usize) -> &[f32] {
        &self.values[p * self.n_terms * LANES..][..self.n_terms * LANES]
    }

    /// The eight numbers of a panel in one column.
    pub fn lanes(&self, panel: usize, column: usize) -> &[f32] {
        &self.panel(panel)[column * LANES..][..LANES]
    }

    /// Multiplies the matrix by the first of each pair and puts the product into the
    /// second.
    pub fn multiply(&self, pairs: &mut [(&[f64], &mut [f64])]) {
        self.multiply_as::<false>(pairs);
    }

    /// The same for the matrix of the squares, with 1 before the first term.
    pub fn multiply_squares_from_one(&self, pairs: &mut [(&[f64], &mut [f64])]) {
        self.multiply_as::<true>(pairs);
    }

    fn multiply_as<const SQUARES: bool>(&self, pairs: &mut [(&[f64], &mut [f64])]) {
        let n_vectors = pairs.len();
        for (right, out) in pairs.iter() {
            assert_eq!(
                (right.len(), out.len()),
                (self.n_terms, self.n_rows),
                "shape"
            );
        }
        if n_vectors == 0 || self.n_terms == 0 {
            return;
        }
        let rights: Vec<Interleaved> = pairs
            .chunks(MOST_TOGETHER)
            .map(|together| Interleaved::new(together.iter().map(|(right, _)| *right)))
            .collect();
        // Panel by panel, and in each vector by vector.
        let n_panels = self.n_rows.div_ceil(LANES);
        let first = if SQUARES { 1.0 } else { 0.0 };
        let mut sums = vec![[first; LANES]; n_panels * n_vectors];
        let tasks = sums.par_chunks_mut(PANELS_A_TASK * n_vectors);
        let values = self.values.par_chunks(PANELS_A_TASK * self.n_terms * LANES);
        let a_task = PANELS_A_TASK * LANES * self.n_terms * n_vectors;
        tasks
            .zip(values)
            .with_min_len(WORTH_SHARING / a_task + 1)
            .for_each(|(sums, panels)| add_products::<SQUARES>(panels, &rights, sums));
        for (v, (_, out)) in pairs.iter_mut().enumerate() {
            let sums = sums.iter().skip(v).step_by(n_vectors);
            for (out, sums) in out.chunks_mut(LANES).zip(sums) {
                out.copy_from_slice(&sums[..out.len()]);
            }
        }
    }

    /// Adds `A diag(signs) A^T` to the lower and upper half of `square`, where `A` is
    /// this matrix.
    pub fn add_outer_products(&self, signs: &[f64], square: &mut [f64]) {
        let n = self.n_rows;
        assert_eq!((signs.len(), square.len()), (self.n_terms, n * n), "shape");
        let n_panels = n.div_ceil(LANES);
        for p in 0..n_panels {
            for half in 0..LANES / MOST_TOGETHER {
                let first = p * LANES + half * MOST_TOGETHER;
                let lanes = self.panel(p).chunks_exact(LANES).zip(signs);
                let values = lanes.flat_map(|(lanes, sign)| {
                    let lanes = &lanes[half * MOST_TOGETHER..][..MOST_TOGETHER];
                    lanes.iter().map(move |&lane| sign * f64::from(lane))
                });
                let rows = [Interleaved {
                    n_vectors: MOST_TOGETHER,
                    values: values.collect(),
                }];
                let mut sums = vec![[0.0; LANES]; (n_panels - p) * MOST_TOGETHER];
                let from_here = &self.values[p * self.n_terms * LANES..];
                add_products::<false>(from_here, &rows, &mut sums);
                for (i, sums) in sums.chunks_exact(MOST_TOGETHER).enumerate() {
                    add_block(square, n, first, (p + i) * LANES, sums);
                }
            }
        }
    }
}

/// Adds to `square[i][j]` and `square[j][i]` for four `i` and eight `j >= i`.
fn add_block(square: &mut [f64], n: usize, i: usize, j: usize, sums: &[[f64; LANES]]) {
    for (i, sums) in (i..n).zip(sums) {
        for (j, sum) in (j..n).zip(sums) {
            if i <= j {
                square[i * n + j] += sum;
                square[j * n + i] = square[i * n + j];
            }
        }
    }
}

/// Up to four vectors, term by term.
struct Interleaved {
    n_vectors: usize,
    values: Vec<f64>,
}

impl Interleaved {
    fn new<'a>(vectors: impl ExactSizeIterator<Item = &'a [f64]>) -> Self {
        let n_vectors = vectors.len();
        let mut values = Vec::new();
        for (v, vector) in vectors.enumerate() {
            values.resize(vector.len() * n_vectors, 0.0);
            for (values, &x) in values.chunks_exact_mut(n_vectors).zip(vector) {
                values[v] = x;
            }
        }
        Interleaved { n_vectors, values }
    }
}

/// Adds the products of some panels with all vectors.
fn add_products<const SQUARES: bool>(
    panels: &[f32],
    rights: &[Interleaved],
    sums: &mut [[f64; LANES]],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all the function asks for.
        unsafe { add_products_avx2::<SQUARES>(panels, rights, sums) };
        return;
    }
    add_products_portable::<SQUARES>(panels, rights, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_products_avx2<const SQUARES: bool>(
    panels: &[f32],
    rights: &[Interleaved],
    sums: &mut [[f64; LANES]],
) {
    add_products_portable::<SQUARES>(panels, rights, sums);
}

/// Some terms at a time, so that those of all vectors stay in the cache while the
/// panels go by; a sum goes on where it stopped.
#[inline(always)]
fn add_products_portable<const SQUARES: bool>(
    panels: &[f32],
    rights: &[Interleaved],
    sums: &mut [[f64; LANES]],
) {
    let n_vectors: usize = rights.iter().map(|right| right.n_vectors).sum();
    let n_panels = sums.len() / n_vectors;
    let panels = panels.as_chunks().0;
    let n_terms = panels.len() / n_panels;
    for start in (0..n_terms).step_by(TERMS_A_TIME) {
        let terms = start..n_terms.min(start + TERMS_A_TIME);
        let mut vector = 0;
        for right in rights {
            let mut p = 0;
            while p < n_panels {
                let block = Block {
                    panels: &panels[p * n_terms..],
                    n_terms,
                    terms: terms.clone(),
                    right: &right.values,
                    sums: &mut sums[p * n_vectors + vector..],
                    n_vectors,
                };
                // Enough sums side by side to hide the latency of an addition.
                p += match (right.n_vectors, n_panels - p) {
                    (1, 4..) => block.add::<4, 1, SQUARES>(),
                    (1, _) => block.add::<1, 1, SQUARES>(),
                    (2, 2..) => block.add::<2, 2, SQUARES>(),
                    (2, _) => block.add::<1, 2, SQUARES>(),
                    (3, 2..) => block.add::<2, 3, SQUARES>(),
                    (3, _) => block.add::<1, 3, SQUARES>(),
                    _ => block.add::<1, 4, SQUARES>(),
                };
            }
            vector += right.n_vectors;
        }
    }
}

/// Some terms of some panels, and of the vectors they are multiplied with.
struct Block<'a> {
    /// One panel every `n_terms`.
    panels: &'a [[f32; LANES]],
    n_terms: usize,
    terms: Range<usize>,
    /// Interleaved vectors.
    right: &'a [f64],
    /// Those of a panel every `n_vectors`.
    sums: &'a mut [[f64; LANES]],
    n_vectors: usize,
}

impl Block<'_> {
    /// Adds the products of `P` panels with `V` vectors, and returns `P`.
    #[inline(always)]
    fn add<const P: usize, const V: usize, const SQUARES: bool>(self) -> usize {
        let panels: [&[[f32; LANES]]; P] =
            std::array::from_fn(|p| &self.panels[p * self.n_terms..][self.terms.clone()]);
        let right = &self.right.as_chunks::<V>().0[self.terms.clone()];
        let mut sums = [[[0.0; LANES]; V]; P];
        for p in 0..P {
            sums[p].copy_from_slice(&self.sums[p * self.n_vectors..][..V]);
        }
        let n = panels
            .iter()
            .fold(right.len(), |n, panel| n.min(panel.len()));
        for t in 0..n {
            for p in 0..P {
                let mut lanes = [0.0; LANES];
                for l in 0..LANES {
                    let x = f64::from(panels[p][t][l]);
                    lanes[l] = if SQUARES { x * x } else { x };
                }
                for v in 0..V {
                    let factor = right[t][v];
                    for l in 0..LANES {
                        sums[p][v][l] += lanes[l] * factor;
                    }
                }
            }
        }
        for p in 0..P {
            self.sums[p * self.n_vectors..][..V].copy_from_slice(&sums[p]);
        }
        P
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|x| x.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn every_product_is_one_sum_in_order_bit_for_bit(
            (n_rows, n_terms, n_vectors, values, right) in
                (1..40usize, 1..20usize, 1..11usize).prop_flat_map(|(n, t, v)| {
                    let values = prop::collection::vec(-1.0..1.0f32, n * t);
                    (Just(n), Just(t), Just(v), values, prop::collection::vec(-1.0..1.0f64, t * v))
                })
        ) {
            let rows = Features::new(&values, n_terms).unwrap();
            let matrix = Panels::of_rows(rows, &(0..n_rows).collect::<Vec<_>>());
            let mut products = vec![f64::NAN; n_rows * n_vectors];
            let mut squares = products.clone();
            let pairs = || right.chunks_exact(n_terms);
            matrix.multiply(&mut pairs().zip(products.chunks_exact_mut(n_rows)).collect::<Vec<_>>());
            matrix.multiply_squares_from_one(
                &mut pairs().zip(squares.chunks_exact_mut(n_rows)).collect::<Vec<_>>(),
            );
            for (v, right) in pairs().enumerate() {
                for row in 0..n_rows {
                    let (mut sum, mut square) = (0.0, 1.0);
                    for (t, factor) in right.iter().enumerate() {
                        let x = f64::from(values[row * n_terms + t]);
                        sum += x * factor;
                        square += x * x * factor;
                    }
                    prop_assert_eq!(products[v * n_rows + row].to_bits(), f64::to_bits(sum));
                    prop_assert_eq!(squares[v * n_rows + row].to_bits(), f64::to_bits(square));
                }
            }
        }

        #[test]
        fn the_portable_kernel_has_the_same_bits(
            values in prop::collection::vec(-1.0..1.0f32, 4 * LANES * 9),
            right in prop::collection::vec(-1.0..1.0f64, 9 * 7),
            n_vectors in 1..8usize,
        ) {
            let right = &right[..9 * n_vectors];
            let rights: Vec<_> = right
                .chunks(9 * MOST_TOGETHER)
                .map(|together| Interleaved::new(together.chunks_exact(9)))
                .collect();
            for n_panels in 1..=4 {
                let mut fast = vec![[0.5; LANES]; n_panels * n_vectors];
                let mut portable = fast.clone();
                let values = &values[..n_panels * 9 * LANES];
                add_products::<false>(values, &rights, &mut fast);
                add_products_portable::<false>(values, &rights, &mut portable);
                prop_assert_eq!(bits(fast.as_flattened()), bits(portable.as_flattened()));
            }
        }

        #[test]
        fn columns_are_the_rows_of_the_transpose(
            (n, m, values) in (1..20usize, 1..300usize).prop_flat_map(|(n, m)| {
                (Just(n), Just(m), prop::collection::vec(-1.0..1.0f32, n * m))
            })
        ) {
            let transpose: Vec<f32> = (0..n * m).map(|i| values[i % n * m + i / n]).collect();
            let all = |n: usize| (0..n).collect::<Vec<_>>();
            let columns = Panels::of_columns(Features::new(&values, m).unwrap(), &all(n));
            let rows = Panels::of_rows(Features::new(&transpose, n).unwrap(), &all(m));
            prop_assert_eq!(columns.values, rows.values);
        }

        #[test]
        fn outer_products_are_added_to_both_halves(
            (n_rows, n_terms, values, signs) in (1..30usize, 1..12usize).prop_flat_map(|(n, t)| {
                let sign = prop::bool::ANY.prop_map(|plus| if plus { 1.0 } else { -1.0 });
                let values = prop::collection::vec(-8..8i8, n * t);
                (Just(n), Just(t), values, prop::collection::vec(sign, t))
            })
        ) {
            // Whole numbers: exact in any order.
            let values: Vec<f32> = values.into_iter().map(f32::from).collect();
            let mut square = vec![1.0; n_rows * n_rows];
            let rows = Features::new(&values, n_terms).unwrap();
            Panels::of_rows(rows, &(0..n_rows).collect::<Vec<_>>()).add_outer_products(&signs, &mut square);
            for i in 0..n_rows {
                for j in 0..n_rows {
                    let at = |row: usize, t: usize| f64::from(values[row * n_terms + t]);
                    let sum: f64 = (0..n_terms).map(|t| signs[t] * at(i, t) * at(j, t)).sum();
                    prop_assert_eq!(square[i * n_rows + j], 1.0 + sum);
                }
            }
        }
    }
}
