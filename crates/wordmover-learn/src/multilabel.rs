//! How good predictions are where a row may have any number of classes.

use std::collections::BTreeMap;

use crate::error::{Error, Result, same_length};
use crate::metrics::ClassFigures;

/// Figures over rows with sets of classes. A ratio whose denominator is 0 is 0, as in
/// scikit-learn.
///
/// ```
/// use wordmover_learn::multilabel::SetFigures;
///
/// let truth = [vec![1, 2], vec![], vec![2]];
/// let predicted = [vec![1], vec![], vec![2]];
/// let figures = SetFigures::new(&truth, &predicted)?;
/// assert_eq!(figures.subset_accuracy, 2.0 / 3.0);
/// assert_eq!(figures.micro_f1, 0.8);
/// # Ok::<(), wordmover_learn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SetFigures {
    /// Share of the classes predicted, over all rows, that are right.
    pub micro_precision: f64,
    /// Share of the true classes, over all rows, that were predicted.
    pub micro_recall: f64,
    /// Harmonic mean of the two.
    pub micro_f1: f64,
    /// Mean of the F1 of all classes that occur in either list.
    pub macro_f1: f64,
    /// Share of the rows whose classes were all predicted and no others.
    pub subset_accuracy: f64,
    /// Precision, recall and F1 of every class that occurs in either list, ascending.
    pub classes: Vec<ClassFigures>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    right: u64,
    predicted: u64,
    truth: u64,
}

impl Counts {
    fn f1(self) -> f64 {
        ratio(2 * self.right, self.predicted + self.truth)
    }
}

impl SetFigures {
    /// Compares two lists of sets; a class that is named twice in a set counts once.
    ///
    /// # Errors
    ///
    /// If the lists are empty or of different lengths.
    pub fn new(truth: &[Vec<usize>], predicted: &[Vec<usize>]) -> Result<Self> {
        let what = "predictions, one for each row";
        same_length(what, truth.len(), predicted.len())?;
        if truth.is_empty() {
            return Err(Error::Empty { what: "rows" });
        }
        let mut by_class = BTreeMap::<usize, Counts>::new();
        let mut n_equal = 0;
        for (truth, predicted) in truth.iter().zip(predicted) {
            let (truth, predicted) = (set(truth), set(predicted));
            n_equal += u64::from(truth == predicted);
            for &class in &predicted {
                let counts = by_class.entry(class).or_default();
                counts.predicted += 1;
                counts.right += u64::from(truth.binary_search(&class).is_ok());
            }
            for &class in &truth {
                by_class.entry(class).or_default().truth += 1;
            }
        }
        let mut all = Counts::default();
        for counts in by_class.values() {
            all.right += counts.right;
            all.predicted += counts.predicted;
            all.truth += counts.truth;
        }
        let f1s = by_class.values().map(|counts| counts.f1());
        let macro_f1 = f1s.sum::<f64>() / by_class.len().max(1) as f64;
        let classes = by_class.into_iter().map(|(class, counts)| ClassFigures {
            class,
            n_rows: counts.truth,
            n_predicted: counts.predicted,
            precision: ratio(counts.right, counts.predicted),
            recall: ratio(counts.right, counts.truth),
            f1: counts.f1(),
        });
        Ok(SetFigures {
            micro_precision: ratio(all.right, all.predicted),
            micro_recall: ratio(all.right, all.truth),
            micro_f1: all.f1(),
            macro_f1,
            subset_accuracy: ratio(n_equal, truth.len() as u64),
            classes: classes.collect(),
        })
    }
}

fn set(classes: &[usize]) -> Vec<usize> {
    let mut set = classes.to_vec();
    set.sort_unstable();
    set.dedup();
    set
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Compared with scikit-learn 1.9.1: f1_score, precision_score, recall_score and
    // accuracy_score of the indicator matrices, zero_division=0.
    #[test]
    fn figures_are_those_of_scikit_learn() {
        let truth = [vec![0, 1], vec![2], vec![], vec![1, 3], vec![0]];
        let predicted = [vec![1, 0, 0], vec![2, 1], vec![], vec![3], vec![4]];
        let figures = SetFigures::new(&truth, &predicted).unwrap();
        assert!((figures.micro_precision - 0.6666666666666666).abs() < 1e-15);
        assert!((figures.micro_recall - 0.6666666666666666).abs() < 1e-15);
        assert!((figures.micro_f1 - 0.6666666666666666).abs() < 1e-15);
        assert!((figures.macro_f1 - 0.6333333333333333).abs() < 1e-15);
        assert!((figures.subset_accuracy - 0.4).abs() < 1e-15);
        let first = figures.classes[0];
        assert_eq!((first.class, first.n_rows, first.n_predicted), (0, 2, 1));
        assert_eq!((first.precision, first.recall), (1.0, 0.5));
    }

    #[test]
    fn nothing_to_compare_is_an_error_and_no_class_at_all_is_none() {
        assert!(SetFigures::new(&[], &[]).is_err());
        assert!(SetFigures::new(&[vec![1]], &[]).is_err());
        let nothing = SetFigures::new(&[vec![]], &[vec![]]).unwrap();
        assert_eq!((nothing.micro_f1, nothing.macro_f1), (0.0, 0.0));
        assert_eq!(nothing.subset_accuracy, 1.0);
    }
}
