//! How good decision values of rows held out are.

use crate::error::Result;
use crate::metrics::mean_and_deviation;

use super::model::{best_position, positive_positions};
use super::targets::Targets;

/// Score over all splits, and its deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeldOutScore {
    /// The share of the rows predicted right, or where rows have any number of classes the
    /// micro-averaged F1.
    pub score: f64,
    pub deviation: f64,
}

/// For each split the rows it holds out, and their decision values, row by row.
pub(crate) fn score_held_out<'v>(
    targets: &Targets,
    splits: impl Iterator<Item = (&'v [usize], &'v [f64])>,
) -> Result<HeldOutScore> {
    let n_classes = targets.classes().len();
    // Right, predicted and true ones; of a row with one class 1 of 1 and 1.
    let mut all = [0u64; 3];
    let mut scores = Vec::new();
    for (rows, values) in splits {
        let mut counts = [0u64; 3];
        for (&row, values) in rows.iter().zip(values.chunks_exact(targets.n_machines())) {
            let found = if targets.is_one_each() {
                vec![best_position(values, n_classes)]
            } else {
                positive_positions(values, n_classes)
            };
            let truth = targets.positions(row);
            let is_right = |&&position: &&usize| truth.contains(&(position as u32));
            counts[0] += found.iter().filter(is_right).count() as u64;
            counts[1] += found.len() as u64;
            counts[2] += truth.len() as u64;
        }
        (0..3).for_each(|i| all[i] += counts[i]);
        scores.push(f1(counts));
    }
    Ok(HeldOutScore {
        score: f1(all),
        deviation: mean_and_deviation(&scores)?.1,
    })
}

/// Twice what is right over what was predicted and what is true; 1 if there is neither.
fn f1([right, predicted, truth]: [u64; 3]) -> f64 {
    match predicted + truth {
        0 => 1.0,
        both => 2.0 * right as f64 / both as f64,
    }
}
