//! How similar two texts are, and how well such scores agree with people's.

mod pairs;

pub use pairs::{FARTHEST, Similarity};

/// The cosine of two embeddings, between -1 and 1; 0 if one of them is all zeros, as
/// that of a text without a known word is: it is like nothing.
///
/// # Panics
///
/// If they differ in length.
#[must_use]
pub fn cosine(x: &[f32], y: &[f32]) -> f64 {
    assert_eq!(x.len(), y.len(), "embeddings of one model");
    let (mut product, mut x_square, mut y_square) = (0.0, 0.0, 0.0);
    for (&x, &y) in x.iter().zip(y) {
        let (x, y) = (f64::from(x), f64::from(y));
        product += x * y;
        x_square += x * x;
        y_square += y * y;
    }
    if x_square == 0.0 || y_square == 0.0 {
        return 0.0;
    }
    // One square root, so that equal embeddings give exactly 1.
    (product / (x_square * y_square).sqrt()).clamp(-1.0, 1.0)
}

/// Pearson's correlation; `None` if there are fewer than two pairs, or one side never
/// varies.
///
/// # Panics
///
/// If the two differ in length.
#[must_use]
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "pairs of values");
    let n = x.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (x_mean, y_mean) = (mean(x), mean(y));
    let (mut product, mut x_square, mut y_square) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (dx, dy) = (x - x_mean, y - y_mean);
        product += dx * dy;
        x_square += dx * dx;
        y_square += dy * dy;
    }
    let scale = x_square.sqrt() * y_square.sqrt();
    (scale > 0.0 && x.len() > 1).then(|| (product / scale).clamp(-1.0, 1.0))
}

/// Spearman's correlation: Pearson's of the ranks, where equal values share the mean
/// of their ranks. `None` as for [`pearson`].
///
/// # Panics
///
/// If the two differ in length.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    pearson(&ranks(x), &ranks(y))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (equal.len() - 1) as f64 / 2.0;
        for &i in equal {
            ranks[i] = rank;
        }
        first += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_are_defined_for_every_pair() {
        assert_eq!(cosine(&[0.1, 0.2], &[0.1, 0.2]), 1.0);
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
        assert_eq!(cosine(&[1.0, 0.3], &[-1.0, -0.3]), -1.0);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 2.0]), 0.0);
        assert_eq!(cosine(&[0.0, 0.0], &[0.0, 0.0]), 0.0);
        assert_eq!(cosine(&[], &[]), 0.0);
        assert_eq!(cosine(&[1e30, 0.0], &[1e30, 0.0]), 1.0);
        assert_eq!(cosine(&[1e-30], &[1e-30]), 1.0);
    }

    #[test]
    fn correlations_are_those_of_scipy() {
        // scipy 1.17.1: pearsonr and spearmanr of these.
        let x = [1.0, 2.5, 2.5, 4.0, 0.5, 3.0];
        let y = [0.2, 0.1, 0.4, 0.9, 0.1, 0.35];
        assert!((pearson(&x, &y).unwrap() - 0.7901571391566039).abs() < 1e-14);
        assert!((spearman(&x, &y).unwrap() - 0.7500000000000001).abs() < 1e-14);
    }

    #[test]
    fn what_never_varies_correlates_with_nothing() {
        assert_eq!(pearson(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(pearson(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[3.0, 3.0]), None);
        let reversed = spearman(&[1.0, 2.0, 9.0], &[-1.0, -5.0, -6.0]).unwrap();
        assert!((reversed + 1.0).abs() < 1e-15);
    }
}
