//! Accuracy by the number of features: the paper's figures.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use wordmover::{
    EmbeddingParams, WordMoversEmbedding,
    embedding::{EmbeddingStatistics, Gamma},
};
use wordmover_learn::{FeatureBlocks, Features, SvmParams, Targets, metrics};

use crate::choice::WmeChoice;
use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};
use crate::label_weights::Divergences;
use crate::machine::Machine;
use crate::params::{Protocol, WmeParams};
use crate::progress::{Event, Observer};
use crate::training_documents::{self, TrainingDocuments};
use crate::view_choice;
use crate::views::Views;

/// A classifier with some number of features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurvePoint {
    /// Number of features (`R`).
    pub n_features: usize,
    /// Share of the training documents predicted right.
    pub train_accuracy: f64,
    /// Share of the test documents predicted right.
    pub accuracy: f64,
    /// Seconds to embed the training documents and to fit the machine.
    pub training_seconds: f64,
    /// Seconds to embed the test documents and to predict them.
    pub prediction_seconds: f64,
}

/// Trains with several numbers of features and parameters chosen before, and judges on
/// `test`. The random documents of few features are the first of those of many. C is the
/// chosen one; with the paper's protocol, whose features are smaller the more they are, times
/// the chosen number of features over the number at hand.
///
/// # Errors
///
/// As [`evaluate`](crate::evaluate), and if the numbers of features do not ascend.
pub fn feature_curve(
    params: &WmeParams,
    choice: &WmeChoice,
    train: &LabeledCorpus,
    test: &LabeledCorpus,
    n_features: &[usize],
    observer: &Observer,
) -> Result<Vec<CurvePoint>> {
    if choice.views != Views::Meanings {
        return Err(Error::InvalidParameter {
            name: "the choice of views",
            value: choice.views.to_string(),
            requirement: "meanings, where accuracy by the number of features is asked for",
        });
    }
    let embedding = embedding(params, choice, n_features)?;
    let candidate = &choice.candidate;
    let keeps = candidate.keep_stop_words;
    let documents = training_documents::fit(&embedding.documents, train, keeps)?;
    let factors = match candidate.label_exponent > 0.0 {
        true => Some(Divergences::new(train, keeps, params.embedding.seed)?),
        false => None,
    };
    let factors = factors.map(|found| found.factors(candidate.label_exponent));
    let weighting = candidate.weighting;
    let factors = factors.as_ref();
    let training = TrainingDocuments::weighted(&documents, weighting, factors, keeps, train)?;
    let test_documents = training.model.documents(&test.counts(keeps));
    let labels = training.labels(train);
    let targets = Targets::one_each(&labels)?;
    let model = WordMoversEmbedding::draw(embedding.clone(), training.model.clone())?;
    let n_most = embedding.n_features;
    let mut train_distances = vec![0.0; training.documents.len() * n_most];
    let mut test_distances = vec![0.0; test_documents.len() * n_most];
    let (mut train_seconds, mut test_seconds) = (0.0, 0.0);
    let mut first = 0;
    let mut points = Vec::with_capacity(n_features.len());
    for &n in n_features {
        let fill = |documents: &[_], distances: &mut [f32]| {
            let start = Instant::now();
            let columns = Columns { first, end: n };
            columns.fill(&model, documents, distances, observer)?;
            Ok::<f64, Error>(start.elapsed().as_secs_f64())
        };
        train_seconds += fill(&training.documents, &mut train_distances)?;
        test_seconds += fill(&test_documents, &mut test_distances)?;
        first = n;

        let start = Instant::now();
        let mut features = first_columns(&train_distances, n_most, n)?;
        let embedding = embedding.clone().n_features(n);
        let embedding = embedding.gamma(Gamma::Value(choice.gamma));
        let embedding = WordMoversEmbedding::draw(embedding, training.model.clone())?;
        let embedding = embedding.post_processed(choice.post_processing, &features);
        embedding.make_features(&mut features)?;
        let features = Features::new(&features, n)?;
        let machine = match params.protocol {
            Protocol::Paper => {
                let cost = choice.cost * choice.n_features as f64 / n as f64;
                Machine::fit_svm(SvmParams::default().cost(cost), features, &labels)?
            }
            Protocol::Fast => {
                let bias = choice.bias.unwrap_or(view_choice::BIAS);
                let linear = view_choice::linear(&params.class_weights, bias).cost(choice.cost);
                Machine::fit(linear, None, Some(features), &targets)?
            }
        };
        let fitting_seconds = start.elapsed().as_secs_f64();
        let predicted = machine.linear.predict(FeatureBlocks::dense(features))?;
        let train_accuracy = metrics::accuracy(&labels, &predicted)?;

        let start = Instant::now();
        let mut features = first_columns(&test_distances, n_most, n)?;
        embedding.make_features(&mut features)?;
        let features = FeatureBlocks::dense(Features::new(&features, n)?);
        let mut predicted = machine.linear.predict(features)?;
        for (class, bag) in predicted.iter_mut().zip(&test_documents) {
            if bag.is_empty() {
                *class = train.most_frequent_class();
            }
        }
        points.push(CurvePoint {
            n_features: n,
            train_accuracy,
            accuracy: metrics::accuracy(test.labels(), &predicted)?,
            training_seconds: train_seconds + fitting_seconds,
            prediction_seconds: test_seconds + start.elapsed().as_secs_f64(),
        });
    }
    Ok(points)
}

fn embedding(
    params: &WmeParams,
    choice: &WmeChoice,
    n_features: &[usize],
) -> Result<EmbeddingParams> {
    let ascends = n_features.windows(2).all(|pair| pair[0] < pair[1]);
    let (Some(&n_most), true) = (n_features.last(), ascends) else {
        return Err(Error::InvalidParameter {
            name: "the list of numbers of features",
            value: format!("{n_features:?}"),
            requirement: "ascending, with one at least",
        });
    };
    let embedding = params.embedding.clone().raw();
    let candidate = &choice.candidate;
    let embedding = embedding.random_words(candidate.random_words);
    let embedding = embedding.d_max(candidate.d_max).gamma(Gamma::None);
    Ok(embedding.n_features(n_most))
}

/// Some random documents: columns of a matrix of distances.
struct Columns {
    first: usize,
    end: usize,
}

impl Columns {
    fn fill(
        &self,
        model: &WordMoversEmbedding,
        documents: &[wordmover::Document],
        matrix: &mut [f32],
        observer: &Observer,
    ) -> Result<()> {
        let width = self.end - self.first;
        let n_most = model.n_features();
        let mut distances = vec![0.0; documents.len() * width];
        let mut progress = |done: &EmbeddingStatistics| observer(Event::Steps(done.distances));
        let columns = self.first..self.end;
        model.distances_into(documents, columns, &mut distances, &mut progress)?;
        let rows = matrix.chunks_exact_mut(n_most);
        for (row, values) in rows.zip(distances.chunks_exact(width)) {
            row[self.first..self.end].copy_from_slice(values);
        }
        Ok(())
    }
}

fn first_columns(distances: &[f32], n_most: usize, n: usize) -> Result<Vec<f32>> {
    let distances = Features::new(distances, n_most)?.first_columns(n)?;
    let rows: Vec<usize> = (0..distances.n_rows()).collect();
    Ok(distances.gather(&rows))
}
