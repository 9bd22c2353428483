//! How good predictions are.

use crate::error::{Error, Result, same_length};

/// How often rows of each class were predicted to be of each class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfusionMatrix {
    classes: Vec<usize>,
    /// `counts[t * n + p]`: rows of the class at position `t` predicted to be of that
    /// at position `p`.
    counts: Vec<u64>,
}

/// The figures of one class. A ratio whose denominator is 0 is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ClassFigures {
    /// The class id.
    pub class: usize,
    /// Rows that are of the class.
    pub n_rows: u64,
    /// Rows that were predicted to be.
    pub n_predicted: u64,
    /// Share of the predicted that are.
    pub precision: f64,
    /// Share of those that are which were predicted.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
}

impl ConfusionMatrix {
    /// Counts. The classes are those that occur in either list, ascending.
    ///
    /// # Errors
    ///
    /// If the lists are empty or of different lengths.
    pub fn new(truth: &[usize], predicted: &[usize]) -> Result<Self> {
        same_length(
            "predictions, one for each row",
            truth.len(),
            predicted.len(),
        )?;
        if truth.is_empty() {
            return Err(Error::Empty { what: "rows" });
        }
        let mut classes = [truth, predicted].concat();
        classes.sort_unstable();
        classes.dedup();
        let mut counts = vec![0; classes.len() * classes.len()];
        let position = |class| classes.partition_point(|&other| other < class);
        for (&t, &p) in truth.iter().zip(predicted) {
            counts[position(t) * classes.len() + position(p)] += 1;
        }
        Ok(ConfusionMatrix { classes, counts })
    }

    /// The classes, ascending.
    #[must_use]
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// One row of counts for each true class, one column for each predicted class.
    pub fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.classes.len())
    }

    /// Share of the rows that were predicted right.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        let right: u64 = self.counts.iter().step_by(self.classes.len() + 1).sum();
        right as f64 / self.counts.iter().sum::<u64>() as f64
    }

    /// Mean of the classes' F1.
    #[must_use]
    pub fn macro_f1(&self) -> f64 {
        let figures = self.class_figures();
        figures.iter().map(|figures| figures.f1).sum::<f64>() / figures.len() as f64
    }

    /// Precision, recall and F1 of every class.
    #[must_use]
    pub fn class_figures(&self) -> Vec<ClassFigures> {
        let n = self.classes.len();
        let figures = self.classes.iter().enumerate().map(|(c, &class)| {
            let right = self.counts[c * n + c];
            let n_rows = self.counts[c * n..][..n].iter().sum();
            let n_predicted = self.counts[c..].iter().step_by(n).sum();
            ClassFigures {
                class,
                n_rows,
                n_predicted,
                precision: ratio(right, n_predicted),
                recall: ratio(right, n_rows),
                f1: ratio(2 * right, n_rows + n_predicted),
            }
        });
        figures.collect()
    }
}

/// Share of the rows that were predicted right.
///
/// # Errors
///
/// If the lists are empty or of different lengths.
pub fn accuracy(truth: &[usize], predicted: &[usize]) -> Result<f64> {
    Ok(ConfusionMatrix::new(truth, predicted)?.accuracy())
}

/// Mean and sample standard deviation (divided by one less than their number) over
/// several runs; the deviation of a single run is 0.
///
/// # Errors
///
/// If there are no runs.
pub fn mean_and_deviation(runs: &[f64]) -> Result<(f64, f64)> {
    if runs.is_empty() {
        return Err(Error::Empty { what: "runs" });
    }
    let n = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / n;
    let squares: f64 = runs.iter().map(|run| (run - mean) * (run - mean)).sum();
    Ok((mean, (squares / (n - 1.0).max(1.0)).sqrt()))
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

    // Compared with scikit-learn 1.9.1: classification_report(zero_division=0).
    #[test]
    fn figures_are_those_of_scikit_learn() {
        let truth = [0, 1, 2, 2, 2, 5, 0, 1, 7];
        let predicted = [0, 2, 2, 2, 1, 5, 2, 1, 9];
        let matrix = ConfusionMatrix::new(&truth, &predicted).unwrap();
        assert_eq!(matrix.classes(), [0, 1, 2, 5, 7, 9]);
        assert_eq!(matrix.rows().nth(2).unwrap(), [0, 1, 2, 0, 0, 0]);
        assert!((matrix.accuracy() - 0.5555555555555556).abs() < 1e-15);
        assert!((matrix.macro_f1() - 0.45634920634920634).abs() < 1e-15);
        let second = matrix.class_figures()[1];
        assert_eq!((second.class, second.n_rows, second.n_predicted), (1, 2, 2));
        assert_eq!(
            (second.precision, second.recall, second.f1),
            (0.5, 0.5, 0.5)
        );
        let never_predicted = matrix.class_figures()[4];
        assert_eq!((never_predicted.precision, never_predicted.f1), (0.0, 0.0));
    }

    #[test]
    fn means_and_deviations() {
        let (mean, deviation) = mean_and_deviation(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(mean, 2.5);
        assert!((deviation - 1.2909944487358056).abs() < 1e-15);
        assert_eq!(mean_and_deviation(&[0.7]).unwrap(), (0.7, 0.0));
        assert!(mean_and_deviation(&[]).is_err());
    }

    #[test]
    fn nothing_to_compare_is_an_error() {
        assert!(ConfusionMatrix::new(&[], &[]).is_err());
        assert!(accuracy(&[1], &[1, 2]).is_err());
    }
}
