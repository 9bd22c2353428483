//! The machines of a classifier, over the features of its views.

use wordmover_learn::linear::Calibration;
use wordmover_learn::{
    FeatureBlocks, Features, LinearClassifier, LinearParams, LinearSvm, SparseRows, SvmParams,
    Targets,
};

use crate::error::Result;
use crate::terms::Terms;

/// What turns features into decision values, and these into probabilities.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// The columns of words; none for meanings alone.
    pub terms: Option<Terms>,
    /// Its dense columns are the meanings, if it looks at them.
    pub linear: LinearClassifier,
    /// The intercepts for a document that has no meanings: as if its features were the
    /// means of those of the training documents.
    pub intercepts_without_meanings: Vec<f64>,
    /// Not in files of the first releases, nor where nothing could be held out.
    pub calibration: Option<Calibration>,
}

impl Machine {
    pub fn has_meanings(&self) -> bool {
        self.linear.n_dense() > 0
    }

    fn new(terms: Option<Terms>, linear: LinearClassifier, meanings: Option<Features>) -> Self {
        let mut intercepts = linear.intercepts().to_vec();
        if let Some(meanings) = meanings {
            let first = linear.n_sparse();
            for (column, mean) in column_means(meanings).into_iter().enumerate() {
                let weights = linear.column_weights(first + column);
                for (intercept, weight) in intercepts.iter_mut().zip(weights) {
                    *intercept += weight * mean;
                }
            }
        }
        Machine {
            terms,
            linear,
            intercepts_without_meanings: intercepts,
            calibration: None,
        }
    }

    /// Learns from all rows with the paper's machine.
    pub fn fit_svm(params: SvmParams, meanings: Features, labels: &[usize]) -> Result<Self> {
        let svm = LinearSvm::fit(params, meanings, labels)?;
        Ok(Machine::new(None, as_classifier(&svm)?, Some(meanings)))
    }

    /// Learns from all rows.
    pub fn fit(
        params: LinearParams,
        words: Option<(Terms, &SparseRows)>,
        meanings: Option<Features>,
        targets: &Targets,
    ) -> Result<Self> {
        let rows = words.as_ref().map(|(_, rows)| *rows);
        let linear = LinearClassifier::fit(params, blocks(rows, meanings)?, targets)?;
        let terms = words.map(|(terms, _)| terms);
        Ok(Machine::new(terms, linear, meanings))
    }
}

/// The paper's machine with its weights in the other order.
fn as_classifier(svm: &LinearSvm) -> Result<LinearClassifier> {
    let (n_machines, n_features) = (svm.n_machines(), svm.n_features());
    let weights = (0..n_features).flat_map(|column| {
        let of_column = svm.weights().iter().skip(column).step_by(n_features);
        of_column.copied().take(n_machines)
    });
    let (classes, weights, intercepts) = ascending(
        svm.classes().to_vec(),
        weights.collect(),
        svm.intercepts().to_vec(),
    );
    let columns = (0, n_features);
    Ok(LinearClassifier::from_parts(
        classes, true, columns, weights, intercepts,
    )?)
}

/// Machines in the order of their classes: LIBLINEAR's are in the order in which classes were
/// first seen. Weights are column by column, and in each machine by machine.
pub(crate) fn ascending(
    classes: Vec<usize>,
    weights: Vec<f64>,
    intercepts: Vec<f64>,
) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
    if let (&[first, second], 1) = (&classes[..], intercepts.len()) {
        if first < second {
            return (classes, weights, intercepts);
        }
        // The one machine speaks for the first.
        let negative = |values: Vec<f64>| values.iter().map(|x| 0.0 - x).collect();
        return (vec![second, first], negative(weights), negative(intercepts));
    }
    if classes.is_sorted() || classes.len() != intercepts.len() {
        return (classes, weights, intercepts);
    }
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&machine| classes[machine]);
    let ordered = |values: &[f64]| order.iter().map(|&m| values[m]).collect::<Vec<f64>>();
    let rows = weights.chunks_exact(classes.len());
    (
        order.iter().map(|&machine| classes[machine]).collect(),
        rows.flat_map(ordered).collect(),
        ordered(&intercepts),
    )
}

fn column_means(features: Features) -> Vec<f64> {
    let mut means = vec![0.0; features.n_columns()];
    for row in 0..features.n_rows() {
        for (sum, &x) in means.iter_mut().zip(features.row(row)) {
            *sum += f64::from(x);
        }
    }
    let n = features.n_rows() as f64;
    means.iter_mut().for_each(|sum| *sum /= n);
    means
}

/// Words and meanings, or either.
pub(crate) fn blocks<'a>(
    words: Option<&'a SparseRows>,
    meanings: Option<Features<'a>>,
) -> Result<FeatureBlocks<'a>> {
    Ok(match (words, meanings) {
        (Some(words), Some(meanings)) => FeatureBlocks::both(words, meanings)?,
        (Some(words), None) => FeatureBlocks::sparse(words),
        (None, Some(meanings)) => FeatureBlocks::dense(meanings),
        (None, None) => {
            let what = "features";
            return Err(crate::error::Error::NoDocuments { what });
        }
    })
}
