//! The folds of cross-validation.

use wordmover_learn::split::{self, Split};

use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};
use crate::params::Protocol;
use crate::progress::Reporter;

/// Divides the documents with words, whose classes are `labels`. The paper's folds are
/// drawn at random; those of the fast protocol are stratified where every class has a
/// member for each.
pub(crate) fn folds(
    protocol: Protocol,
    labels: &[usize],
    corpus: &LabeledCorpus,
    seed: u64,
    reporter: &mut Reporter,
) -> Result<Vec<Split>> {
    let n_folds = protocol.n_folds();
    if labels.len() < n_folds {
        return Err(Error::TooFewDocuments {
            n_documents: labels.len(),
            n_folds,
        });
    }
    let classes = corpus.classes();
    let n_members = |class: usize| labels.iter().filter(|&&label| label == class).count();
    let sizes = (0..classes.len()).map(|class| (n_members(class), class));
    let smallest = sizes.filter(|&(n, _)| n > 0).min();
    let (n_smallest, class) = smallest.unwrap_or_default();
    if n_smallest < n_folds {
        reporter.note(format!(
            "class `{}` has {n_smallest} training document{}, fewer than the {n_folds} folds: \
             some folds hold none of it",
            classes[class],
            if n_smallest == 1 { "" } else { "s" }
        ))?;
    }
    let folds = match protocol {
        Protocol::Fast if n_smallest >= n_folds => {
            split::stratified_k_folds(labels, n_folds, seed)?
        }
        _ => split::k_folds(labels.len(), n_folds, seed)?,
    };
    let is_one_class = |fold: &Split| {
        let mut rest = fold.train.iter().map(|&row| labels[row]);
        let first = rest.next();
        rest.all(|label| Some(label) == first)
    };
    if folds.iter().any(is_one_class) {
        return Err(Error::ClassTooSmall {
            class: classes[class].clone(),
            n_documents: n_smallest,
        });
    }
    Ok(folds)
}
