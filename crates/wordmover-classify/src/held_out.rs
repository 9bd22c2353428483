//! What the parameters chosen make of each training document that is held out.

use wordmover_learn::metrics::ConfusionMatrix;
use wordmover_learn::split::Split;
use wordmover_learn::{Features, LinearSvm, SvmParams};

use crate::error::Result;
use crate::progress::{Event, Reporter};

/// Learns without each fold in turn and predicts it: one machine a fold, with all
/// features, from 0 and to the end. Cross-validation may have made do with fewer
/// features, or stopped sooner, so a few documents may have fallen otherwise there.
pub(crate) fn confusion(
    svm: SvmParams,
    features: Features,
    labels: &[usize],
    folds: &[Split],
    reporter: &Reporter,
) -> Result<ConfusionMatrix> {
    reporter.stage("documents held out", folds.len() as u64, "machines")?;
    let mut predicted = vec![0; labels.len()];
    for fold in folds {
        let train = features.gather(&fold.train);
        let test = features.gather(&fold.test);
        let train = Features::new(&train, features.n_columns())?;
        let test = Features::new(&test, features.n_columns())?;
        let train_labels: Vec<usize> = fold.train.iter().map(|&row| labels[row]).collect();
        let machines = LinearSvm::fit(svm, train, &train_labels)?;
        for (&row, class) in fold.test.iter().zip(machines.predict(test)?) {
            predicted[row] = class;
        }
        reporter.tell(Event::Steps(1))?;
    }
    Ok(ConfusionMatrix::new(labels, &predicted)?)
}
