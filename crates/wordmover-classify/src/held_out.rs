//! What the parameters chosen make of each training document that is held out.

use wordmover_learn::metrics::ConfusionMatrix;
use wordmover_learn::split::Split;

use crate::error::Result;
use crate::machine::Fit;
use crate::progress::{Event, Reporter};

/// Learns without each fold in turn and predicts it: one machine a fold, with all
/// features, from 0 and to the end. Cross-validation may have made do with fewer
/// features, or stopped sooner, so a few documents may have fallen otherwise there.
pub(crate) fn confusion(
    fit: &Fit,
    labels: &[usize],
    folds: &[Split],
    reporter: &Reporter,
) -> Result<ConfusionMatrix> {
    reporter.stage("documents held out", folds.len() as u64, "machines")?;
    let mut predicted = vec![0; labels.len()];
    for fold in folds {
        for (&row, class) in fold.test.iter().zip(fit.held_out(labels, fold)?) {
            predicted[row] = class;
        }
        reporter.tell(Event::Steps(1))?;
    }
    Ok(ConfusionMatrix::new(labels, &predicted)?)
}
