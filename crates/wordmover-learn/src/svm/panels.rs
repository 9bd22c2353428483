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
//! Measured against the crates `gemm` and `matrixmultiply`: see `docs/svm.md`.

use rayon::prelude::*;

/// Rows of a panel.
pub(crate) const LANES: usize = 8;

/// Vectors multiplied together: with two registers a panel, enough sums run side by
/// side to hide the latency of an addition.
const MOST_TOGETHER: usize = 4;

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
        let n_panels = self.n_rows.div_ceil(LANES);
        let n_vectors = pairs.len();
        if n_vectors == 0 || n_panels == 0 {
            return;
        }
        for (right, out) in pairs.iter() {
            assert_eq!(
                (right.len(), out.len()),
                (self.n_terms, self.n_rows),
                "shape"
            );
        }
        let rights: Vec<Interleaved> = pairs
            .chunks(MOST_TOGETHER)
            .map(|together| Interleaved::new(together.iter().map(|(right, _)| *right)))
            .collect();
        // Panel by panel, and in each vector by vector.
        let mut sums = vec![0.0; n_panels * n_vectors * LANES];
        // Several panels a time when there are few vectors.
        let group = MOST_TOGETHER / n_vectors.min(MOST_TOGETHER);
        let work = |(g, sums): (usize, &mut [f64])| {
            let n_panels = sums.len() / (n_vectors * LANES);
            let panels = &self.values[g * group * self.n_terms * LANES..];
            multiply_group::<SQUARES>(panels, n_panels, &rights, sums);
        };
        let groups = sums.par_chunks_mut(group * n_vectors * LANES).enumerate();
        let a_group = group * LANES * self.n_terms * n_vectors;
        groups
            .with_min_len(WORTH_SHARING / (a_group + 1) / 2 + 1)
            .for_each(work);
        for (v, (_, out)) in pairs.iter_mut().enumerate() {
            for (p, out) in out.chunks_mut(LANES).enumerate() {
                let from = (p * n_vectors + v) * LANES;
                out.copy_from_slice(&sums[from..from + out.len()]);
            }
        }
    }

    /// Adds `A diag(signs) A^T` to the lower and upper half of `square`, where `A` is
    /// this matrix.
    pub fn add_outer_products(&self, signs: &[f64], square: &mut [f64]) {
        let n = self.n_rows;
        assert_eq!((signs.len(), square.len()), (self.n_terms, n * n), "shape");
        let mut right = vec![0.0; self.n_terms * MOST_TOGETHER];
        let mut sums = [0.0; MOST_TOGETHER * LANES];
        for p in 0..n.div_ceil(LANES) {
            let panel = self.panel(p);
            for half in 0..LANES / MOST_TOGETHER {
                let first = p * LANES + half * MOST_TOGETHER;
                let lanes = panel.chunks_exact(LANES).zip(signs);
                for (right, (lanes, sign)) in right.chunks_exact_mut(MOST_TOGETHER).zip(lanes) {
                    let lanes = &lanes[half * MOST_TOGETHER..][..MOST_TOGETHER];
                    for (right, &lane) in right.iter_mut().zip(lanes) {
                        *right = sign * f64::from(lane);
                    }
                }
                for q in p..n.div_ceil(LANES) {
                    multiply_four(self.panel(q), &right, &mut sums);
                    for (v, sums) in sums.chunks_exact(LANES).enumerate() {
                        for (l, &sum) in sums.iter().enumerate() {
                            let (i, j) = (first + v, q * LANES + l);
                            if i < n && j < n && i <= j {
                                square[i * n + j] += sum;
                                square[j * n + i] = square[i * n + j];
                            }
                        }
                    }
                }
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

/// Products of `n_panels` panels with all vectors.
fn multiply_group<const SQUARES: bool>(
    panels: &[f32],
    n_panels: usize,
    rights: &[Interleaved],
    sums: &mut [f64],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all the function asks for.
        unsafe { multiply_group_avx2::<SQUARES>(panels, n_panels, rights, sums) };
        return;
    }
    multiply_group_portable::<SQUARES>(panels, n_panels, rights, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_group_avx2<const SQUARES: bool>(
    panels: &[f32],
    n_panels: usize,
    rights: &[Interleaved],
    sums: &mut [f64],
) {
    multiply_group_portable::<SQUARES>(panels, n_panels, rights, sums);
}

#[inline(always)]
fn multiply_group_portable<const SQUARES: bool>(
    panels: &[f32],
    n_panels: usize,
    rights: &[Interleaved],
    sums: &mut [f64],
) {
    let Some(first) = rights.first() else { return };
    let n_terms = first.values.len() / first.n_vectors;
    let length = n_terms * LANES;
    let a_panel = sums.len() / n_panels;
    if n_panels == 4 && rights.len() == 1 && first.n_vectors == 1 {
        let sums = sums.as_chunks_mut::<LANES>().0;
        products::<4, 1, SQUARES>(panels, length, &first.values, sums);
        return;
    }
    if n_panels == 2 && rights.len() == 1 && first.n_vectors == 2 {
        let sums = sums.as_chunks_mut::<LANES>().0;
        products::<2, 2, SQUARES>(panels, length, &first.values, sums);
        return;
    }
    for (p, sums) in sums.chunks_exact_mut(a_panel).enumerate() {
        let panel = &panels[p * length..];
        let mut sums = sums.as_chunks_mut::<LANES>().0;
        for right in rights {
            let (these, rest) = sums.split_at_mut(right.n_vectors);
            let values = &right.values;
            match right.n_vectors {
                1 => products::<1, 1, SQUARES>(panel, length, values, these),
                2 => products::<1, 2, SQUARES>(panel, length, values, these),
                3 => products::<1, 3, SQUARES>(panel, length, values, these),
                _ => products::<1, 4, SQUARES>(panel, length, values, these),
            }
            sums = rest;
        }
    }
}

/// Products of `P` panels, one every `length` values, with `V` interleaved vectors.
#[inline(always)]
fn products<const P: usize, const V: usize, const SQUARES: bool>(
    panels: &[f32],
    length: usize,
    right: &[f64],
    out: &mut [[f64; LANES]],
) {
    let panels: [&[[f32; LANES]]; P] =
        std::array::from_fn(|p| panels[p * length..][..length].as_chunks().0);
    let right = right.as_chunks::<V>().0;
    let n = panels
        .iter()
        .fold(right.len(), |n, panel| n.min(panel.len()));
    let mut sums = [[[if SQUARES { 1.0 } else { 0.0 }; LANES]; V]; P];
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
        out[p * V..(p + 1) * V].copy_from_slice(&sums[p]);
    }
}

fn multiply_four(panel: &[f32], right: &[f64], sums: &mut [f64; MOST_TOGETHER * LANES]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all the function asks for.
        unsafe { multiply_four_avx2(panel, right, sums) };
        return;
    }
    multiply_four_portable(panel, right, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_four_avx2(panel: &[f32], right: &[f64], sums: &mut [f64; MOST_TOGETHER * LANES]) {
    multiply_four_portable(panel, right, sums);
}

#[inline(always)]
fn multiply_four_portable(panel: &[f32], right: &[f64], sums: &mut [f64; MOST_TOGETHER * LANES]) {
    let sums = sums.as_chunks_mut::<LANES>().0;
    products::<1, MOST_TOGETHER, false>(panel, panel.len(), right, sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn panels(values: &[f32], n_rows: usize, n_terms: usize) -> Panels {
        Panels::new(n_rows, n_terms, |p, panel| {
            for (t, lanes) in panel.chunks_exact_mut(LANES).enumerate() {
                for (row, lane) in (p * LANES..n_rows).zip(lanes) {
                    *lane = values[row * n_terms + t];
                }
            }
        })
    }

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
            let matrix = panels(&values, n_rows, n_terms);
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
                let mut fast = vec![f64::NAN; n_panels * n_vectors * LANES];
                let mut portable = fast.clone();
                multiply_group::<false>(&values, n_panels, &rights, &mut fast);
                multiply_group_portable::<false>(&values, n_panels, &rights, &mut portable);
                prop_assert_eq!(bits(&fast), bits(&portable));
            }
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
            panels(&values, n_rows, n_terms).add_outer_products(&signs, &mut square);
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
