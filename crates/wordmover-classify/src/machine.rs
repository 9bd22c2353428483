//! The machines of a classifier, over the features of its views.

use wordmover_learn::split::Split;
use wordmover_learn::{
    FeatureBlocks, Features, LinearClassifier, LinearParams, LinearSvm, SparseRows, SvmParams,
    Targets,
};

use crate::error::Result;
use crate::terms::Terms;

/// What turns features into decision values.
#[derive(Debug, Clone)]
pub(crate) enum Machine {
    /// On meanings alone: the paper's.
    Meanings(LinearSvm),
    /// On words, perhaps beside meanings.
    Words(WordsMachine),
}

#[derive(Debug, Clone)]
pub(crate) struct WordsMachine {
    pub terms: Terms,
    /// Its dense columns are the meanings, if it has them.
    pub linear: LinearClassifier,
    /// The intercepts for a document that has no meanings: as if its features were the
    /// means of those of the training documents.
    pub intercepts_without_meanings: Vec<f64>,
}

impl Machine {
    /// The classes of the machines (of two classes: those of the one machine).
    pub fn classes(&self) -> &[usize] {
        match self {
            Machine::Meanings(svm) => svm.classes(),
            Machine::Words(words) => words.linear.classes(),
        }
    }
}

impl WordsMachine {
    pub fn has_meanings(&self) -> bool {
        self.linear.n_dense() > 0
    }

    pub fn new(terms: Terms, linear: LinearClassifier, meanings: Option<Features>) -> Self {
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
        WordsMachine {
            terms,
            linear,
            intercepts_without_meanings: intercepts,
        }
    }
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

/// How machines are fitted, on which features of the training documents.
pub(crate) enum Fit<'a> {
    Meanings {
        params: SvmParams,
        features: Features<'a>,
    },
    Words {
        params: LinearParams,
        terms: Box<Terms>,
        words: Box<SparseRows>,
        meanings: Option<Features<'a>>,
    },
}

impl Fit<'_> {
    /// The machines learnt from all rows, and the classes they predict for these.
    pub fn finish(self, labels: &[usize]) -> Result<(Machine, Vec<usize>)> {
        match self {
            Fit::Meanings { params, features } => {
                let svm = LinearSvm::fit(params, features, labels)?;
                let predicted = svm.predict(features)?;
                Ok((Machine::Meanings(svm), predicted))
            }
            Fit::Words {
                params,
                terms,
                words,
                meanings,
            } => {
                let blocks = blocks(&words, meanings)?;
                let linear = LinearClassifier::fit(params, blocks, &Targets::one_each(labels)?)?;
                let predicted = linear.predict(blocks)?;
                let machine = WordsMachine::new(*terms, linear, meanings);
                Ok((Machine::Words(machine), predicted))
            }
        }
    }

    /// The classes predicted for the rows held out, after learning from the others.
    pub fn held_out(&self, labels: &[usize], fold: &Split) -> Result<Vec<usize>> {
        let train_labels: Vec<usize> = fold.train.iter().map(|&row| labels[row]).collect();
        match self {
            Fit::Meanings { params, features } => {
                let n = features.n_columns();
                let (train, test) = (features.gather(&fold.train), features.gather(&fold.test));
                let svm = LinearSvm::fit(*params, Features::new(&train, n)?, &train_labels)?;
                Ok(svm.predict(Features::new(&test, n)?)?)
            }
            Fit::Words {
                params,
                words,
                meanings,
                ..
            } => {
                let part = |rows: &[usize]| {
                    let dense = meanings.map(|all| all.gather(rows));
                    (words.gather(rows), dense.unwrap_or_default())
                };
                let (train, test) = (part(&fold.train), part(&fold.test));
                let n = meanings.map(|all| all.n_columns());
                let targets = Targets::one_each(&train_labels)?;
                let learnt = blocks(&train.0, dense(&train.1, n)?)?;
                let linear = LinearClassifier::fit(params.clone(), learnt, &targets)?;
                Ok(linear.predict(blocks(&test.0, dense(&test.1, n)?)?)?)
            }
        }
    }
}

/// Rows of so many columns, if there are dense columns.
fn dense(values: &[f32], n_columns: Option<usize>) -> Result<Option<Features<'_>>> {
    Ok(n_columns.map(|n| Features::new(values, n)).transpose()?)
}

/// Words, perhaps with meanings beside them.
fn blocks<'a>(words: &'a SparseRows, meanings: Option<Features<'a>>) -> Result<FeatureBlocks<'a>> {
    Ok(match meanings {
        Some(meanings) => FeatureBlocks::both(words, meanings)?,
        None => FeatureBlocks::sparse(words),
    })
}
