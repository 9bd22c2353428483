//! The Cholesky factor of a symmetric matrix with a ridge.

/// Rows that are worked on together, so that the others are read once for all of them.
const BLOCK: usize = 32;

/// Sums that run side by side, added in a fixed order.
const LANES: usize = 16;

/// `L` with `L L^T = A + ridge I`; row by row, its upper half is not used.
pub(super) struct Factor {
    rows: Vec<f64>,
    n: usize,
}

impl Factor {
    /// `square` is symmetric, of `n` rows, without negative eigenvalues but for rounding.
    pub fn new(mut square: Vec<f64>, n: usize, ridge: f64) -> Self {
        for i in 0..n {
            square[i * n + i] += ridge;
        }
        factorise(&mut square, n);
        Factor { rows: square, n }
    }

    /// Solves for several right-hand sides, the columns of `right`.
    pub fn solve(&self, right: &mut [f64], n_columns: usize) {
        let n = self.n;
        for i in 0..n {
            let (known, rest) = right.split_at_mut(i * n_columns);
            let row = &mut rest[..n_columns];
            for (k, known) in known.chunks_exact(n_columns).enumerate() {
                let factor = self.rows[i * n + k];
                row.iter_mut()
                    .zip(known)
                    .for_each(|(x, y)| *x -= factor * y);
            }
            let diagonal = self.rows[i * n + i];
            row.iter_mut().for_each(|x| *x /= diagonal);
        }
        for i in (0..n).rev() {
            let (rest, known) = right.split_at_mut((i + 1) * n_columns);
            let row = &mut rest[i * n_columns..];
            for (k, known) in (i + 1..).zip(known.chunks_exact(n_columns)) {
                let factor = self.rows[k * n + i];
                row.iter_mut()
                    .zip(known)
                    .for_each(|(x, y)| *x -= factor * y);
            }
            let diagonal = self.rows[i * n + i];
            row.iter_mut().for_each(|x| *x /= diagonal);
        }
    }
}

fn factorise(square: &mut [f64], n: usize) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all the function asks for.
        unsafe { factorise_avx2(square, n) };
        return;
    }
    factorise_portable(square, n);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn factorise_avx2(square: &mut [f64], n: usize) {
    factorise_portable(square, n);
}

/// Row `i`, column `j`: what is left of `A` after the products of earlier columns, over the
/// diagonal.
#[inline(always)]
fn factorise_portable(square: &mut [f64], n: usize) {
    for first in (0..n).step_by(BLOCK) {
        let end = (first + BLOCK).min(n);
        let (above, block) = square.split_at_mut(first * n);
        for j in 0..first {
            let column = &above[j * n..][..j];
            let diagonal = above[j * n + j];
            for row in block[..(end - first) * n].chunks_exact_mut(n) {
                row[j] = (row[j] - dot(&row[..j], column)) / diagonal;
            }
        }
        for i in first..end {
            let (above, row) = square[..(i + 1) * n].split_at_mut(i * n);
            for j in first..i {
                let column = &above[j * n..][..j];
                row[j] = (row[j] - dot(&row[..j], column)) / above[j * n + j];
            }
            let rest = row[i] - dot(&row[..i], &row[..i]);
            // Rounding may take all of a pivot that the ridge alone holds up.
            row[i] = rest.max(f64::MIN_POSITIVE).sqrt();
        }
    }
}

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, last_a) = a.as_chunks::<LANES>();
    let (b, last_b) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    for (l, (a, b)) in last_a.iter().zip(last_b).enumerate() {
        sums[l] += a * b;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            sums[l] += sums[l + width];
        }
        width /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        for n in [1, 2, 17, 33, 70] {
            let x = |i: usize, j: usize| ((i * 31 + j * 17) % 13) as f64 - 6.0;
            let mut square = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    square[i * n + j] = (0..n).map(|k| x(i, k) * x(j, k)).sum();
                }
            }
            let ridge = 0.5;
            let expected: Vec<f64> = (0..2 * n).map(|i| (i % 5) as f64 - 2.0).collect();
            let mut right = vec![0.0; 2 * n];
            for i in 0..n {
                for c in 0..2 {
                    let product = (0..n).map(|j| square[i * n + j] * expected[2 * j + c]);
                    right[2 * i + c] = product.sum::<f64>() + ridge * expected[2 * i + c];
                }
            }
            let mut portable = square.clone();
            (0..n).for_each(|i| portable[i * n + i] += ridge);
            factorise_portable(&mut portable, n);
            let factor = Factor::new(square, n, ridge);
            assert_eq!(factor.rows, portable, "the same bits with any instructions");
            factor.solve(&mut right, 2);
            for (found, expected) in right.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-8, "{n}: {found} {expected}");
            }
        }
    }
}
