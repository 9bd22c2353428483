//! Mean and deviation of dense columns.

use crate::features::Features;

/// A column `x` is used as `(x - mean) * factor`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColumnScaling {
    pub mean: f64,
    /// One over the standard deviation; 0 for a column that is constant.
    pub factor: f64,
}

impl ColumnScaling {
    /// Leaves a column as it is.
    pub const NONE: Self = ColumnScaling {
        mean: 0.0,
        factor: 1.0,
    };

    pub fn apply(self, value: f32) -> f64 {
        (f64::from(value) - self.mean) * self.factor
    }
}

/// Mean and standard deviation of each column, in two passes over the rows in their
/// order. The variance is that of the rows themselves (divided by their number).
pub(crate) fn column_scaling(
    features: Features,
    rows: impl ExactSizeIterator<Item = usize> + Clone,
) -> Vec<ColumnScaling> {
    let n = rows.len() as f64;
    let mut means = vec![0.0; features.n_columns()];
    for row in rows.clone() {
        for (sum, &x) in means.iter_mut().zip(features.row(row)) {
            *sum += f64::from(x);
        }
    }
    means.iter_mut().for_each(|mean| *mean /= n);
    let mut squares = vec![0.0; features.n_columns()];
    // A mean is rounded, so the deviations of a constant column need not sum to 0.
    let mut constant = vec![true; features.n_columns()];
    let mut first: Option<&[f32]> = None;
    for row in rows {
        let row = features.row(row);
        let first = *first.get_or_insert(row);
        for (column, &x) in row.iter().enumerate() {
            let deviation = f64::from(x) - means[column];
            squares[column] += deviation * deviation;
            constant[column] &= x == first[column];
        }
    }
    let each = means.into_iter().zip(squares).zip(constant);
    each.map(|((mean, squares), constant)| ColumnScaling {
        mean,
        factor: if constant {
            0.0
        } else {
            1.0 / (squares / n).sqrt()
        },
    })
    .collect()
}
