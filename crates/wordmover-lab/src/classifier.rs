//! The classifier as it comes: everything chosen by cross-validation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use wordmover::WordVectors;
use wordmover_classify::{Cache, Protocol, TextClassifier, ViewPoint, Views, WmeChoice, WmeParams};

use crate::comparison::silent;
use crate::corpora::{Corpora, Corpus, Folders, Vectors};
use crate::record::{Environment, Files};
use crate::say;

/// What is to be run. See `experiments/definitions/classifier.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    seed: u64,
    pub n_features: usize,
    /// The built-in ones if not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<String>,
    /// Chosen on training documents if not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    views: Option<Views>,
    pub run: Vec<Run>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub corpus: String,
    /// Random splits, where the corpus has none of its own.
    #[serde(default = "one")]
    splits: usize,
}

fn one() -> usize {
    1
}

/// What came out for one corpus.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    pub corpus: Corpus,
    files: BTreeMap<String, String>,
    pub splits: Vec<OfSplit>,
}

impl Record {
    /// The mean over the splits.
    pub fn accuracy(&self) -> f64 {
        let sum: f64 = self.splits.iter().map(|split| split.accuracy).sum();
        sum / self.splits.len().max(1) as f64
    }

    /// The mean over the splits, on training documents held out.
    pub fn held_out(&self) -> f64 {
        let sum: f64 = self.splits.iter().map(|split| split.choice.accuracy).sum();
        sum / self.splits.len().max(1) as f64
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OfSplit {
    pub choice: WmeChoice,
    /// Everything that was tried of the views.
    pub views: Vec<ViewPoint>,
    pub accuracy: f64,
    pub macro_f1: f64,
    pub training_seconds: f64,
    pub prediction_seconds: f64,
}

/// Runs one corpus.
pub fn run(
    definition: &Definition,
    run: &Run,
    environment: &Environment,
    corpora: &Corpora,
    folders: &Folders,
) -> Result<Record> {
    let mut files = Files::default();
    // Whether stop words stay is for the classifier to choose.
    let corpus = corpora.corpus(&run.corpus)?.as_it_comes();
    let (vectors, table) = match &definition.vectors {
        Some(name) => {
            let vectors = corpora.vectors(name)?;
            let table = vectors.open(folders, &mut files)?;
            (vectors, table)
        }
        None => (Vectors::builtin(), Arc::new(WordVectors::builtin())),
    };
    let loaded = corpus.load(&vectors, &table, false, folders, &mut files)?;
    let mut params = WmeParams::new(Protocol::Fast);
    params.embedding = params.embedding.seed(definition.seed);
    params.embedding = params.embedding.n_features(definition.n_features);
    if let Some(views) = definition.views {
        params.views = vec![views];
    }
    let mut splits = Vec::new();
    for split in loaded.splits(run.splits, definition.seed)? {
        let train = loaded.corpus.select(&split.train);
        let test = loaded.corpus.select(&split.test);
        let start = Instant::now();
        // Without a cache: its time is part of the result.
        let (classifier, training) =
            TextClassifier::train(&params, &train, &Cache::none(), &silent)?;
        let training_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let predictions = classifier.predict_counted(test.texts(), &silent)?;
        let prediction_seconds = start.elapsed().as_secs_f64();
        let predicted: Vec<usize> = predictions.iter().map(|p| p.class).collect();
        let confusion = wordmover_learn::metrics::ConfusionMatrix::new(test.labels(), &predicted)?;
        say(&format!(
            "{}: {:.2} % ({:.2} held out), {}, {training_seconds:.0} s",
            corpus.name,
            100.0 * confusion.accuracy(),
            100.0 * training.choice.accuracy,
            training.choice.views,
        ));
        splits.push(OfSplit {
            choice: training.choice,
            views: training.views,
            accuracy: confusion.accuracy(),
            macro_f1: confusion.macro_f1(),
            training_seconds,
            prediction_seconds,
        });
    }
    Ok(Record {
        environment: environment.clone(),
        definition: definition.clone(),
        corpus,
        files: files.checksums,
        splits,
    })
}
