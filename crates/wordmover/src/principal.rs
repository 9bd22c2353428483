//! The directions in which rows vary most.
//!
//! Only the first few are ever wanted, so nothing is decomposed whole: the matrix of
//! inner products of the rows, or of the columns if those are fewer, is multiplied
//! with a block of vectors, turned within the space of that block to its eigenvectors
//! there, and again, until the vectors stay (orthogonal iteration with Rayleigh and
//! Ritz's projection). The block holds [`GUARD`] vectors more than asked for, and so
//! converges as fast as the eigenvalues fall over all of them. Every number is
//! one sum in one order: the same bits on any number of threads.

use rayon::prelude::*;

use crate::random_documents::Stream;

/// Vectors iterated beyond those asked for.
const GUARD: usize = 8;

/// A round that moves no coordinate by more is the last.
const SETTLED: f64 = 1e-12;

/// An end for matrices whose eigenvalues hardly fall; any direction found by then is
/// as good as the exact one.
const MAX_ROUNDS: usize = 200;

/// Principal components, the strongest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PrincipalComponents {
    /// Orthonormal directions, one after the other, each with its largest coordinate
    /// positive.
    pub directions: Vec<f64>,
    /// The sum of the squares of all rows along each direction.
    pub strengths: Vec<f64>,
}

/// The first `k` principal components of the rows of a matrix with `n_columns`
/// columns, as they are: nothing is centred. Fewer if the rank of the matrix is lower.
pub(crate) fn components(matrix: &[f64], n_columns: usize, k: usize) -> PrincipalComponents {
    let n_rows = matrix.len() / n_columns.max(1);
    if n_rows == 0 || k == 0 {
        return PrincipalComponents::default();
    }
    let of_rows = n_rows < n_columns;
    let (products, side) = match of_rows {
        true => (inner_products(matrix, n_columns), n_rows),
        false => (
            inner_products(&transposed(matrix, n_columns), n_rows),
            n_columns,
        ),
    };
    let (mut directions, mut strengths) = eigenvectors(&products, side, k);
    if of_rows {
        // From weights of the rows to what they add up to.
        let mut sums = vec![0.0; strengths.len() * n_columns];
        for (sum, weights) in sums
            .chunks_exact_mut(n_columns)
            .zip(directions.chunks_exact(side))
        {
            for (row, weight) in matrix.chunks_exact(n_columns).zip(weights) {
                sum.iter_mut().zip(row).for_each(|(s, x)| *s += weight * x);
            }
        }
        orthonormalize(&mut sums, n_columns);
        directions = sums;
    }
    let largest = strengths.first().copied().unwrap_or(0.0);
    let rank = strengths
        .iter()
        .take_while(|&&strength| strength > 1e-12 * largest && strength > 0.0)
        .count();
    strengths.truncate(rank);
    directions.truncate(rank * n_columns);
    for direction in directions.chunks_exact_mut(n_columns.max(1)) {
        let largest = direction.iter().fold(
            0.0f64,
            |most, &x| if x.abs() > most.abs() { x } else { most },
        );
        direction.iter_mut().for_each(|x| *x *= largest.signum());
    }
    PrincipalComponents {
        directions,
        strengths,
    }
}

/// The first `k` eigenvectors of a symmetric matrix without negative eigenvalues, and
/// these.
fn eigenvectors(matrix: &[f64], side: usize, k: usize) -> (Vec<f64>, Vec<f64>) {
    let width = (k + GUARD).min(side);
    let k = k.min(side);
    if k == 0 {
        return (Vec::new(), Vec::new());
    }
    let mut stream = Stream::new(0, 0);
    let mut block: Vec<f64> = (0..width * side)
        .map(|_| 2.0 * stream.uniform() - 1.0)
        .collect();
    orthonormalize(&mut block, side);
    let mut values = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let mut next = vec![0.0; block.len()];
        next.par_chunks_exact_mut(side)
            .zip(block.par_chunks_exact(side))
            .for_each(|(next, vector)| {
                for (x, row) in next.iter_mut().zip(matrix.chunks_exact(side)) {
                    *x = dot(row, vector);
                }
            });
        let projected = block.chunks_exact(side).flat_map(|vector| {
            let images = next.chunks_exact(side);
            images.map(|image| dot(vector, image)).collect::<Vec<_>>()
        });
        let turn;
        (values, turn) = jacobi(projected.collect(), width);
        let mut turned = vec![0.0; next.len()];
        for (out, weights) in turned.chunks_exact_mut(side).zip(turn.chunks_exact(width)) {
            for (image, weight) in next.chunks_exact(side).zip(weights) {
                out.iter_mut()
                    .zip(image)
                    .for_each(|(x, y)| *x += weight * y);
            }
        }
        next = turned;
        orthonormalize(&mut next, side);
        let moved = next[..k * side]
            .chunks_exact(side)
            .zip(block.chunks_exact(side))
            .map(|(now, before)| {
                let sign = dot(now, before).signum();
                let moves = now.iter().zip(before).map(|(x, y)| (x - sign * y).abs());
                moves.fold(0.0, f64::max)
            })
            .fold(0.0, f64::max);
        block = next;
        if moved <= SETTLED {
            break;
        }
    }
    block.truncate(k * side);
    values.truncate(k);
    (block, values)
}

/// Eigenvalues of a small symmetric matrix, the greatest first, and the eigenvectors
/// one after the other, by Jacobi's rotations.
fn jacobi(mut matrix: Vec<f64>, side: usize) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; side * side];
    vectors.iter_mut().step_by(side + 1).for_each(|x| *x = 1.0);
    let scale = matrix.iter().map(|x| x * x).sum::<f64>();
    for _ in 0..50 {
        let mut off_diagonal = 0.0;
        for p in 0..side {
            for q in p + 1..side {
                let (app, aqq, apq) = (
                    matrix[p * side + p],
                    matrix[q * side + q],
                    matrix[p * side + q],
                );
                off_diagonal += apq * apq;
                if apq == 0.0 {
                    continue;
                }
                let theta = (aqq - app) / (2.0 * apq);
                let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = tangent * cosine;
                for k in 0..side {
                    let (x, y) = (matrix[k * side + p], matrix[k * side + q]);
                    matrix[k * side + p] = cosine * x - sine * y;
                    matrix[k * side + q] = sine * x + cosine * y;
                }
                for k in 0..side {
                    let (x, y) = (matrix[p * side + k], matrix[q * side + k]);
                    matrix[p * side + k] = cosine * x - sine * y;
                    matrix[q * side + k] = sine * x + cosine * y;
                    let (x, y) = (vectors[p * side + k], vectors[q * side + k]);
                    vectors[p * side + k] = cosine * x - sine * y;
                    vectors[q * side + k] = sine * x + cosine * y;
                }
            }
        }
        if off_diagonal <= 1e-30 * scale {
            break;
        }
    }
    let mut order: Vec<usize> = (0..side).collect();
    order.sort_by(|&a, &b| matrix[b * side + b].total_cmp(&matrix[a * side + a]));
    let values = order.iter().map(|&i| matrix[i * side + i].max(0.0));
    let sorted = order
        .iter()
        .flat_map(|&i| vectors[i * side..][..side].to_vec());
    (values.collect(), sorted.collect())
}

/// Inner products of all rows with each other. Each is computed once, and four of a row
/// together: alone, one would wait for its own sums.
fn inner_products(matrix: &[f64], n_columns: usize) -> Vec<f64> {
    let n_rows = matrix.len() / n_columns.max(1);
    let mut products = vec![0.0; n_rows * n_rows];
    products
        .par_chunks_exact_mut(n_rows.max(1))
        .zip(matrix.par_chunks_exact(n_columns.max(1)))
        .enumerate()
        .for_each(|(i, (products, row))| {
            let others = &matrix[..(i + 1) * n_columns];
            let mut fours = others.chunks_exact(4 * n_columns);
            let mut done = 0;
            for four in &mut fours {
                let (first, second) = four.split_at(2 * n_columns);
                let (a, b) = first.split_at(n_columns);
                let (c, d) = second.split_at(n_columns);
                products[done..done + 4].copy_from_slice(&dots(row, [a, b, c, d]));
                done += 4;
            }
            let rest = fours.remainder().chunks_exact(n_columns);
            for (product, other) in products[done..].iter_mut().zip(rest) {
                *product = dot(row, other);
            }
        });
    for i in 0..n_rows {
        for j in 0..i {
            products[j * n_rows + i] = products[i * n_rows + j];
        }
    }
    products
}

fn transposed(matrix: &[f64], n_columns: usize) -> Vec<f64> {
    let mut columns = Vec::with_capacity(matrix.len());
    for j in 0..n_columns {
        columns.extend(matrix.iter().skip(j).step_by(n_columns));
    }
    columns
}

/// Takes orthonormal directions out of a row.
pub(crate) fn remove(directions: &[f64], row: &mut [f64]) {
    for direction in directions.chunks_exact(row.len().max(1)) {
        shrink(direction, 0.0, row);
    }
}

/// Multiplies what a row has along a direction of length 1.
pub(crate) fn shrink(direction: &[f64], factor: f64, row: &mut [f64]) {
    let excess = (1.0 - factor) * dot(row, direction);
    row.iter_mut()
        .zip(direction)
        .for_each(|(x, u)| *x -= excess * u);
}

/// Four sums side by side, which the compiler can keep in one register.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let [product] = dots(a, [b]);
    product
}

/// Inner products of one vector with several; each is summed as if it were alone.
fn dots<const N: usize>(a: &[f64], others: [&[f64]; N]) -> [f64; N] {
    let (a4, a_rest) = a.as_chunks::<4>();
    let others = others.map(|b| b.as_chunks::<4>());
    let mut sums = [[0.0; 4]; N];
    for (i, a) in a4.iter().enumerate() {
        for (sums, (b4, _)) in sums.iter_mut().zip(&others) {
            for lane in 0..4 {
                sums[lane] += a[lane] * b4[i][lane];
            }
        }
    }
    let mut products = [0.0; N];
    for ((product, sums), (_, b_rest)) in products.iter_mut().zip(sums).zip(others) {
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
        *product = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
    }
    products
}

/// Gram and Schmidt, twice for vectors that were nearly parallel. Returns the length
/// each vector had beside those before it; one that had none becomes zero.
fn orthonormalize(block: &mut [f64], n_columns: usize) -> Vec<f64> {
    let mut lengths = Vec::with_capacity(block.len() / n_columns);
    for i in 0..block.len() / n_columns {
        let (before, rest) = block.split_at_mut(i * n_columns);
        let vector = &mut rest[..n_columns];
        let whole = dot(vector, vector).sqrt();
        for _ in 0..2 {
            remove(before, vector);
        }
        let length = dot(vector, vector).sqrt();
        let scale = if length > 1e-14 * whole {
            1.0 / length
        } else {
            0.0
        };
        vector.iter_mut().for_each(|x| *x *= scale);
        lengths.push(length);
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows spread along known axes, turned by 3-4-5 in the first two coordinates.
    fn matrix() -> Vec<f64> {
        let mut rows = Vec::new();
        for i in 0..400 {
            let phase = f64::from(i);
            let (a, b, c) = (
                9.0 * phase.sin(),
                4.0 * (phase * 1.7).sin(),
                (phase * 2.3).sin(),
            );
            rows.extend([0.6 * a - 0.8 * b, 0.8 * a + 0.6 * b, c, 0.0]);
        }
        rows
    }

    #[test]
    fn components_are_eigenvectors_of_the_gram_matrix_in_order() {
        let matrix = matrix();
        let PrincipalComponents {
            directions: found,
            strengths,
        } = components(&matrix, 4, 3);
        let products = inner_products(&transposed(&matrix, 4), 400);
        let times = |vector: &[f64]| products.chunks(4).map(|row| dot(row, vector)).collect();
        let image: Vec<f64> = found.chunks(4).flat_map::<Vec<f64>, _>(times).collect();
        let mut last = f64::INFINITY;
        for ((vector, image), strength) in found.chunks(4).zip(image.chunks(4)).zip(strengths) {
            let value = dot(vector, image);
            assert!((value - strength).abs() < 1e-9 * value);
            assert!(value < last);
            last = value;
            for (x, y) in vector.iter().zip(image) {
                assert!((value * x - y).abs() < 1e-9 * value.max(1.0), "{found:?}");
            }
        }
        assert!((found[0] - 0.6).abs() < 0.02 && (found[1] - 0.8).abs() < 0.02);
    }

    #[test]
    fn inner_products_are_those_of_each_pair_of_rows() {
        // 1 to 9 rows: none, one and two groups of four, and what is left of them.
        for n_rows in 1..10 {
            let matrix: Vec<f64> = (0..n_rows * 7).map(|i| f64::from(i * i % 13)).collect();
            let found = inner_products(&matrix, 7);
            for (i, row) in matrix.chunks(7).enumerate() {
                for (j, other) in matrix.chunks(7).enumerate() {
                    let due: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                    assert_eq!(found[i * n_rows as usize + j], due, "{n_rows}: {i} {j}");
                }
            }
        }
    }

    #[test]
    fn few_rows_have_the_components_of_many_columns() {
        // The same three rows, and four times over: then there are more rows than columns.
        let three: Vec<f64> = (0..15).map(|i| f64::from(i * i % 11) - 2.5).collect();
        let twelve = three.repeat(4);
        let (few, many) = (components(&three, 5, 3), components(&twelve, 5, 3));
        assert_eq!(few.strengths.len(), 3);
        for (a, b) in few.strengths.iter().zip(&many.strengths) {
            assert!((4.0 * a - b).abs() < 1e-9 * b);
        }
        for (a, b) in few.directions.iter().zip(&many.directions) {
            assert!((a - b).abs() < 1e-9, "{few:?} {many:?}");
        }
    }

    #[test]
    fn there_are_no_more_components_than_dimensions_that_are_used() {
        let all = components(&matrix(), 4, 4);
        assert_eq!((all.directions.len(), all.strengths.len()), (3 * 4, 3));
        assert_eq!(components(&[0.0; 12], 4, 2), PrincipalComponents::default());
        assert_eq!(components(&[], 4, 2), PrincipalComponents::default());
        let one = components(&[3.0, 4.0], 2, 2);
        assert_eq!(one.strengths.len(), 1);
        let one = one.directions;
        assert!((one[0] - 0.6).abs() < 1e-15 && (one[1] - 0.8).abs() < 1e-15);
    }

    #[test]
    fn what_is_removed_is_gone() {
        let found = components(&matrix(), 4, 2).directions;
        let mut row = [1.0, 2.0, 3.0, 4.0];
        remove(&found, &mut row);
        for component in found.chunks(4) {
            assert!(dot(component, &row).abs() < 1e-14);
        }
        assert!((row[2] - 3.0).abs() < 0.1 && row[3] == 4.0);
    }
}
