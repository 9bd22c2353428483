//! Sums over vectors, in the order in which LIBLINEAR and the reference BLAS add.
//!
//! The order matters: a Newton step solved loosely by conjugate gradients amplifies a
//! rounding error until, for a large C, the iterates are others altogether.

/// Inner product: products are added in groups of five, and the groups in their order.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let (a_groups, a_rest) = a.as_chunks::<5>();
    let (b_groups, b_rest) = b.as_chunks::<5>();
    let mut sum = 0.0;
    for (a, b) in a_groups.iter().zip(b_groups) {
        sum += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4];
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum += a * b;
    }
    sum
}

/// Inner product, one product after the other.
pub(crate) fn plain_dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

/// `sum of C * max(0, 1 - margin)^2`, with margins `sign * (a + step * b)`.
pub(crate) fn squared_hinge(cost: f64, signs: &[f64], a: &[f64], step: f64, b: &[f64]) -> f64 {
    debug_assert!(signs.len() == a.len() && a.len() == b.len());
    let mut sum = 0.0;
    for ((sign, a), b) in signs.iter().zip(a).zip(b) {
        // A loss of 0 adds nothing, and no branch is needed.
        let slack = (1.0 - sign * (b * step + a)).max(0.0);
        sum += cost * slack * slack;
    }
    sum
}

/// `a += factor * b`.
pub(crate) fn add_scaled(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}
