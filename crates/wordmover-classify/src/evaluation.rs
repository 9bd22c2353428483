//! How good a method is on documents it has not seen.

use serde::Serialize;
use wordmover_learn::metrics;
use wordmover_learn::split::{self, Split};

use crate::cache::Cache;
use crate::choice::{SurfaceRound, WmeChoice};
use crate::classifier::TextClassifier;
use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};
use crate::figures::Figures;
use crate::knn::{self, KnnChoice, KnnCurve};
use crate::params::{KnnParams, Protocol, WmeParams};
use crate::progress::{Event, Observer, Reporter, StageTime};
use crate::views::ViewPoint;

/// What is evaluated.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// A linear SVM on Word Mover's Embeddings.
    Wme(WmeParams),
    /// Votes of the nearest neighbours under the Word Mover's Distance.
    KnnWmd(KnnParams),
}

/// What cross-validation on the training documents found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CrossValidation {
    /// Of [`Method::Wme`].
    Wme {
        /// The parameters chosen.
        choice: WmeChoice,
        /// Everything that was tried.
        rounds: Vec<SurfaceRound>,
        /// What was tried of words, and of words and meanings together.
        views: Vec<ViewPoint>,
    },
    /// Of [`Method::KnnWmd`].
    KnnWmd {
        /// K and weighting.
        choice: KnnChoice,
        /// Everything that was tried.
        curves: Vec<KnnCurve>,
    },
}

impl CrossValidation {
    /// Share of the training documents held out that were predicted right.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        match self {
            CrossValidation::Wme { choice, .. } => choice.accuracy,
            CrossValidation::KnnWmd { choice, .. } => choice.accuracy,
        }
    }
}

/// A method trained on some documents and judged on others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// Documents learnt from.
    pub n_train: usize,
    /// Documents judged on.
    pub n_test: usize,
    /// Training documents without a known word: left out.
    pub n_train_without_words: usize,
    /// Test documents without a known word: given the most frequent class.
    pub n_test_without_words: usize,
    /// What was chosen on the training documents.
    pub cross_validation: CrossValidation,
    /// Share of the training documents predicted right by what was learnt from them;
    /// none for neighbours, where a document is its own.
    pub train_accuracy: Option<f64>,
    /// Share of the test documents predicted right; where a document may have several
    /// classes, the micro-averaged F1.
    pub accuracy: f64,
    /// Classes of the test documents.
    #[serde(skip)]
    pub truth: Vec<Vec<usize>>,
    /// Classes predicted.
    #[serde(skip)]
    pub predicted: Vec<Vec<usize>>,
    /// What was chosen and why, and what to know of the data.
    pub notes: Vec<String>,
    /// Where the time went. What came from the cache took none.
    pub times: Vec<StageTime>,
}

/// Trains on `train` and judges on `test`.
///
/// # Errors
///
/// A parameter is out of range, the documents cannot be learnt from, the cache cannot be
/// used, or the observer broke off.
pub fn evaluate(
    method: &Method,
    train: &LabeledCorpus,
    test: &LabeledCorpus,
    cache: &Cache,
    observer: &Observer,
) -> Result<Outcome> {
    if test.is_empty() {
        let what = "test documents";
        return Err(Error::NoDocuments { what });
    }
    match method {
        Method::Wme(params) => evaluate_wme(params, train, test, cache, observer),
        Method::KnnWmd(params) => evaluate_knn(params, train, test, cache, observer),
    }
}

fn evaluate_wme(
    params: &WmeParams,
    train: &LabeledCorpus,
    test: &LabeledCorpus,
    cache: &Cache,
    observer: &Observer,
) -> Result<Outcome> {
    let (classifier, training) = TextClassifier::train(params, train, cache, observer)?;
    let mut reporter = Reporter::new(observer);
    let texts = test.texts();
    let n_distances = match classifier.choice().views.have_meanings() {
        true => texts.len() * classifier.choice().n_features,
        false => 0,
    };
    reporter.stage("prediction", n_distances as u64, "distances")?;
    let predictions = reporter.time("prediction", |_| {
        classifier.predict_counted(texts, observer)
    })?;
    let without_words = predictions.iter().filter(|p| p.decision_values.is_none());
    let n_test_without_words = without_words.count();
    let predicted = predictions.into_iter().map(|p| p.classes).collect();
    let (truth, predicted, figures) = judged(test, predicted)?;
    let mut times = training.times;
    times.extend(reporter.times);
    Ok(Outcome {
        n_train: train.len(),
        n_test: texts.len(),
        n_train_without_words: training.n_without_words,
        n_test_without_words,
        cross_validation: CrossValidation::Wme {
            choice: training.choice,
            rounds: training.rounds,
            views: training.views,
        },
        train_accuracy: Some(training.train_accuracy),
        accuracy: figures.score(),
        truth,
        predicted,
        notes: training.notes,
        times,
    })
}

fn evaluate_knn(
    params: &KnnParams,
    train: &LabeledCorpus,
    test: &LabeledCorpus,
    cache: &Cache,
    observer: &Observer,
) -> Result<Outcome> {
    let mut reporter = Reporter::new(observer);
    let found = knn::run(params, train, test, cache, &mut reporter)?;
    let predicted = found.predicted.iter().map(|&class| vec![class]).collect();
    let (truth, predicted, figures) = judged(test, predicted)?;
    Ok(Outcome {
        n_train: train.len(),
        n_test: test.len(),
        n_train_without_words: found.n_train_without_words,
        n_test_without_words: found.n_test_without_words,
        cross_validation: CrossValidation::KnnWmd {
            choice: found.choice,
            curves: found.curves,
        },
        train_accuracy: None,
        accuracy: figures.score(),
        truth,
        predicted,
        notes: reporter.notes,
        times: reporter.times,
    })
}

/// Classes of each document.
type Classes = Vec<Vec<usize>>;

/// The classes of the test documents, those predicted, and how good these are.
fn judged(test: &LabeledCorpus, predicted: Classes) -> Result<(Classes, Classes, Figures)> {
    let truth: Classes = (0..test.len())
        .map(|row| test.classes_of(row).to_vec())
        .collect();
    let one_each = test.label_sets().is_none();
    let figures = Figures::new(truth.clone(), predicted.clone(), one_each)?;
    Ok((truth, predicted, figures))
}

/// A method judged on one or several splits of a corpus.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// One for each split.
    pub outcomes: Vec<Outcome>,
    /// Mean accuracy over the splits; where a document may have several classes, the
    /// micro-averaged F1.
    pub accuracy: f64,
    /// Its sample standard deviation; 0 for one split.
    pub deviation: f64,
    /// How good the predictions are for the test documents of all splits.
    pub figures: Figures,
}

/// Evaluates on every split.
///
/// # Errors
///
/// As [`evaluate`], and if there are no splits.
pub fn evaluate_splits(
    method: &Method,
    corpus: &LabeledCorpus,
    splits: &[Split],
    cache: &Cache,
    observer: &Observer,
) -> Result<Evaluation> {
    let mut outcomes = Vec::with_capacity(splits.len());
    for (i, split) in splits.iter().enumerate() {
        if splits.len() > 1 {
            let note = format!("split {} of {}", i + 1, splits.len());
            if observer(Event::Note(&note)).is_break() {
                return Err(Error::Interrupted);
            }
        }
        let (train, test) = (corpus.select(&split.train), corpus.select(&split.test));
        outcomes.push(evaluate(method, &train, &test, cache, observer)?);
    }
    let accuracies: Vec<f64> = outcomes.iter().map(|outcome| outcome.accuracy).collect();
    let (accuracy, deviation) = metrics::mean_and_deviation(&accuracies)?;
    let all = |classes: fn(&Outcome) -> &Classes| -> Classes {
        outcomes.iter().flat_map(classes).cloned().collect()
    };
    let one_each = corpus.label_sets().is_none();
    let figures = Figures::new(all(|o| &o.truth), all(|o| &o.predicted), one_each)?;
    Ok(Evaluation {
        outcomes,
        accuracy,
        deviation,
        figures,
    })
}

/// The splits of a corpus that has none of its own: 70 % of the documents, drawn at
/// random, to learn from and the rest to judge on. The same for every method and
/// protocol, so that they can be compared.
///
/// # Errors
///
/// If there are too few documents to split.
pub fn random_splits(corpus: &LabeledCorpus, n_splits: usize, seed: u64) -> Result<Vec<Split>> {
    let n_documents = corpus.len();
    Ok(split::random_splits(n_documents, 0.7, n_splits, seed)?)
}

impl Method {
    /// How it chooses its parameters.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        match self {
            Method::Wme(params) => params.protocol,
            Method::KnnWmd(params) => params.protocol,
        }
    }
}
