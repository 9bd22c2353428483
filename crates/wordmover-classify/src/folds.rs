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
    n_folds: usize,
    labels: &[usize],
    corpus: &LabeledCorpus,
    seed: u64,
    reporter: &mut Reporter,
) -> Result<Vec<Split>> {
    if labels.len() < n_folds {
        return Err(Error::TooFewDocuments {
            n_documents: labels.len(),
            n_folds,
        });
    }
    let (class, n_smallest) = smallest_class(labels, corpus);
    note_small_class(class, n_smallest, n_folds, reporter)?;
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
            class: class.to_owned(),
            n_documents: n_smallest,
        });
    }
    Ok(folds)
}

/// Folds of any documents: every class is learnt from whichever fold is held out. None if
/// no class has two documents.
pub(crate) fn spread_folds(
    n_folds: usize,
    labels: &[usize],
    corpus: &LabeledCorpus,
    seed: u64,
    reporter: &mut Reporter,
) -> Result<Option<Vec<Split>>> {
    let folds = split::spread_folds(labels, n_folds, seed)?;
    if folds.is_empty() {
        return Ok(None);
    }
    let (class, n_smallest) = smallest_class(labels, corpus);
    note_small_class(class, n_smallest, folds.len(), reporter)?;
    Ok(Some(folds))
}

fn smallest_class<'c>(labels: &[usize], corpus: &'c LabeledCorpus) -> (&'c str, usize) {
    let classes = corpus.classes();
    let mut sizes = vec![0; classes.len()];
    labels.iter().for_each(|&label| sizes[label] += 1);
    let sizes = sizes.into_iter().zip(classes);
    let smallest = sizes.filter(|(n, _)| *n > 0).min_by_key(|(n, _)| *n);
    smallest.map_or(("", 0), |(n, class)| (class, n))
}

fn note_small_class(
    class: &str,
    n_documents: usize,
    n_folds: usize,
    reporter: &mut Reporter,
) -> Result<()> {
    if n_documents >= n_folds {
        return Ok(());
    }
    let s = if n_documents == 1 { "" } else { "s" };
    reporter.note(format!(
        "class `{class}` has {n_documents} training document{s}, fewer than the {n_folds} \
         folds: some folds hold none of it"
    ))
}
