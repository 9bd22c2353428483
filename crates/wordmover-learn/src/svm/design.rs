//! What a machine is trained on: the features in both layouts, the labels as
//! positions, and how a column was standardised.

use crate::error::{Error, Result, same_length};
use crate::features::Features;
use crate::scaling::{ColumnScaling, column_scaling};

use super::panels::Panels;

/// The training part, prepared once for every C.
#[derive(Debug)]
pub(crate) struct Design {
    /// `X`: lanes over documents.
    pub rows: Panels,
    /// `X^T`: lanes over columns.
    pub columns: Panels,
    pub n_rows: usize,
    /// Columns of `X`, the one for the bias among them.
    pub n_columns: usize,
    /// Class ids in the order in which they first appear, as in LIBLINEAR.
    pub classes: Vec<usize>,
    /// Position of each row's class in `classes`; rows are in the order of classes,
    /// as in LIBLINEAR.
    class_of: Vec<usize>,
    /// The columns' scaling, if they were standardised.
    scaling: Option<Vec<ColumnScaling>>,
    bias: Option<f64>,
}

impl Design {
    pub fn new(
        features: Features,
        labels: &[usize],
        standardize: bool,
        bias: Option<f64>,
    ) -> Result<Self> {
        let n_rows = features.n_rows();
        same_length("labels, one for each row", n_rows, labels.len())?;
        let Some(&first) = labels.first() else {
            return Err(Error::Empty { what: "rows" });
        };
        features.check_finite()?;
        let (classes, positions) = in_order_of_appearance(labels);
        let mut order: Vec<usize> = (0..n_rows).collect();
        order.sort_by_key(|&row| positions[row]);
        let class_of = order.iter().map(|&row| positions[row]).collect();
        if classes.len() < 2 {
            return Err(Error::OneClass {
                class: first,
                n_rows,
            });
        }
        let scaling = standardize.then(|| column_scaling(features, 0..n_rows));
        let n_features = features.n_columns();
        let n_columns = n_features + usize::from(bias.is_some());
        let (rows, columns) = if scaling.is_none() && bias.is_none() {
            pack(features, &order)
        } else {
            let mut values = Vec::with_capacity(n_rows * n_columns);
            for row in 0..n_rows {
                match &scaling {
                    None => values.extend_from_slice(features.row(row)),
                    Some(scaling) => {
                        let each = scaling.iter().zip(features.row(row));
                        values.extend(each.map(|(scaling, &x)| scaling.apply(x) as f32));
                    }
                }
                values.extend(bias.map(|bias| bias as f32));
            }
            pack(Features::new(&values, n_columns)?, &order)
        };
        Ok(Design {
            rows,
            columns,
            n_rows,
            n_columns,
            classes,
            class_of,
            scaling,
            bias,
        })
    }

    /// One machine a class; a single one, for the class that appears first, if there
    /// are two.
    pub fn n_machines(&self) -> usize {
        if self.classes.len() == 2 {
            1
        } else {
            self.classes.len()
        }
    }

    /// Weights and intercept for features as they came, from weights for the columns
    /// of `X`.
    pub fn fold_back(&self, weights: &[f64]) -> (Vec<f64>, f64) {
        let n_features = self.n_columns - usize::from(self.bias.is_some());
        let (weights, rest) = weights.split_at(n_features);
        let mut weights = weights.to_vec();
        let mut intercept = match (self.bias, rest) {
            (Some(bias), [weight]) => f64::from(bias as f32) * weight,
            _ => 0.0,
        };
        for (weight, scaling) in weights.iter_mut().zip(self.scaling.iter().flatten()) {
            *weight *= scaling.factor;
            intercept -= *weight * scaling.mean;
        }
        (weights, intercept)
    }

    /// +1 for the rows of the machine's class, -1 for the others.
    pub fn label_sign(&self, machine: usize, row: usize) -> f64 {
        if self.class_of[row] == machine {
            1.0
        } else {
            -1.0
        }
    }
}

/// Both layouts of the rows in this order.
fn pack(matrix: Features, order: &[usize]) -> (Panels, Panels) {
    let rows = Panels::of_rows(matrix, order);
    (rows, Panels::of_columns(matrix, order))
}

fn in_order_of_appearance(labels: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut positions = std::collections::HashMap::new();
    let mut classes = Vec::new();
    let class_of = labels
        .iter()
        .map(|&label| {
            *positions.entry(label).or_insert_with(|| {
                classes.push(label);
                classes.len() - 1
            })
        })
        .collect();
    (classes, class_of)
}
