//! Accuracy by the greatest length of random documents (figure 3).

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use wordmover_classify::{
    Cache, CurvePoint, Protocol, TextClassifier, WmeChoice, WmeParams, feature_curve,
};

use crate::comparison::silent;
use crate::corpora::{Corpora, Corpus, Folders};
use crate::record::{Environment, Files};
use crate::say;

/// What is to be run. See `experiments/definitions/lengths.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    seed: u64,
    pub n_features: usize,
    d_maxes: Vec<usize>,
    pub run: Vec<Run>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub corpus: String,
    vectors: String,
}

/// What came out for one corpus, on its own split or the first at random.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    pub corpus: Corpus,
    files: BTreeMap<String, String>,
    pub vectors: String,
    /// The weighting, gamma and C chosen, with which all lengths are tried.
    pub choice: WmeChoice,
    pub points: Vec<Point>,
    pub seconds: f64,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Point {
    pub d_max: usize,
    pub point: CurvePoint,
}

/// Runs one corpus.
pub fn run(
    definition: &Definition,
    run: &Run,
    environment: &Environment,
    corpora: &Corpora,
    folders: &Folders,
) -> Result<Record> {
    let start = Instant::now();
    let mut files = Files::default();
    let corpus = corpora.corpus(&run.corpus)?;
    let source = corpora.vectors(&run.vectors)?;
    let table = source.open(folders, &mut files)?;
    let loaded = corpus.load(&source, &table, false, folders, &mut files)?;
    let split = &loaded.splits(1, definition.seed)?[0];
    let train = loaded.corpus.select(&split.train);
    let test = loaded.corpus.select(&split.test);
    let mut params = WmeParams::new(Protocol::Fast).embedding_alone();
    let embedding = corpus.embedding(definition.seed);
    params.embedding = embedding.n_features(definition.n_features);
    let cache = Cache::open(&folders.cache)?;
    let (_, training) = TextClassifier::train(&params, &train, &cache, &silent)?;
    let choice = training.choice;
    let mut points = Vec::new();
    for &d_max in &definition.d_maxes {
        let mut choice = choice.clone();
        choice.candidate.d_max = d_max;
        let features = [definition.n_features];
        let curve = feature_curve(&params, &choice, &train, &test, &features, &silent)?;
        points.extend(curve.into_iter().map(|point| Point { d_max, point }));
    }
    let accuracies = points.iter().map(|point| 100.0 * point.point.accuracy);
    let accuracies: Vec<f64> = accuracies.collect();
    say(&format!("{}: {accuracies:.2?}", corpus.name));
    Ok(Record {
        environment: environment.clone(),
        definition: definition.clone(),
        corpus: corpus.clone(),
        files: files.checksums,
        vectors: run.vectors.clone(),
        choice,
        points,
        seconds: start.elapsed().as_secs_f64(),
    })
}
