//! Products of one row with the weights of several machines at once.
//!
//! The weights of a column lie together, one lane for each machine, so a column's number is
//! read once for all of them. Each machine has four sums, for every fourth column, added in
//! a fixed order: a machine's numbers do not depend on how many machines go together.

/// One number for each machine.
pub(crate) type Lanes<const L: usize> = [f64; L];

#[inline(always)]
pub(crate) fn total<const L: usize>(sums: &[Lanes<L>; 4]) -> Lanes<L> {
    std::array::from_fn(|l| (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]))
}

#[inline(always)]
fn add_product<const L: usize>(sum: &mut Lanes<L>, value: f64, weights: &Lanes<L>) {
    for l in 0..L {
        sum[l] += value * weights[l];
    }
}

/// The product of a sparse row.
#[inline(always)]
pub(crate) fn sparse_product<const L: usize>(
    (columns, values): (&[u32], &[f64]),
    weights: &[Lanes<L>],
) -> Lanes<L> {
    let mut sums = [[0.0; L]; 4];
    let (columns, last_columns) = columns.as_chunks::<4>();
    let (values, last_values) = values.as_chunks::<4>();
    for (columns, values) in columns.iter().zip(values) {
        for k in 0..4 {
            add_product(&mut sums[k], values[k], &weights[columns[k] as usize]);
        }
    }
    for (k, (&column, &value)) in last_columns.iter().zip(last_values).enumerate() {
        add_product(&mut sums[k], value, &weights[column as usize]);
    }
    total(&sums)
}

/// The product of a dense row.
#[inline(always)]
pub(crate) fn dense_product<const L: usize>(values: &[f64], weights: &[Lanes<L>]) -> Lanes<L> {
    let mut sums = [[0.0; L]; 4];
    let (values, last_values) = values.as_chunks::<4>();
    let (weights, last_weights) = weights.as_chunks::<4>();
    for (values, weights) in values.iter().zip(weights) {
        for k in 0..4 {
            add_product(&mut sums[k], values[k], &weights[k]);
        }
    }
    for (k, (&value, weights)) in last_values.iter().zip(last_weights).enumerate() {
        add_product(&mut sums[k], value, weights);
    }
    total(&sums)
}

/// Adds a multiple of a sparse row to the weights.
#[inline(always)]
pub(crate) fn add_sparse<const L: usize>(
    (columns, values): (&[u32], &[f64]),
    factors: &Lanes<L>,
    weights: &mut [Lanes<L>],
) {
    for (&column, &value) in columns.iter().zip(values) {
        add_product(&mut weights[column as usize], value, factors);
    }
}

/// Adds a multiple of a dense row to the weights.
#[inline(always)]
pub(crate) fn add_dense<const L: usize>(
    values: &[f64],
    factors: &Lanes<L>,
    weights: &mut [Lanes<L>],
) {
    for (&value, weights) in values.iter().zip(weights) {
        add_product(weights, value, factors);
    }
}
