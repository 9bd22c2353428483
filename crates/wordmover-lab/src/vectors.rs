//! What the word vectors do to accuracy: each set as it is, and with its words or its
//! dimension made equal to another's.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use wordmover::{Weighting, WordVectors};
use wordmover_classify::{Cache, Protocol, TextClassifier, WmeChoice, WmeParams, feature_curve};

use crate::changed_vectors::{common, filled, projected};
use crate::comparison::{one, silent};
use crate::corpora::{Corpora, Corpus, Folders, Vectors, known};
use crate::record::{Environment, Files};
use crate::say;

/// What is to be run. See `experiments/definitions/vectors.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    seed: u64,
    pub n_features: usize,
    /// Features with which C is chosen.
    pub chosen_features: usize,
    pub vectors: Vec<String>,
    /// Dimensions to which the best set of more is reduced.
    pub n_dimensions: usize,
    pub run: Vec<Run>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub corpus: String,
    /// Random splits where the corpus has none of its own.
    #[serde(default = "one")]
    splits: usize,
    /// Weightings to choose from.
    weights: Vec<Weighting>,
    /// Greatest lengths of random documents to choose from.
    d_maxes: Vec<usize>,
}

/// What came out for one corpus.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    pub corpus: Corpus,
    files: BTreeMap<String, String>,
    /// The set that, as it is, predicts most training documents that are held out.
    pub best: String,
    pub variants: Vec<Variant>,
    pub seconds: f64,
}

/// One set of vectors, as it is or changed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Variant {
    pub vectors: String,
    pub change: Change,
    pub dimension: usize,
    /// Share of the corpus' running words that it knows.
    pub known: f64,
    /// Share of the corpus' distinct words (those frequent enough) that it knows.
    pub known_distinct: f64,
    pub splits: Vec<OfSplit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    None,
    /// The words that all sets know.
    CommonWords,
    /// Random vectors for the words of the corpus that it does not know.
    RandomVectors,
    /// Projected on principal components.
    FewerDimensions,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OfSplit {
    pub choice: WmeChoice,
    /// Share of the test documents predicted right.
    pub accuracy: f64,
    pub n_test_without_words: usize,
}

impl Variant {
    /// Mean share of training documents that were predicted right while held out.
    fn held_out(&self) -> f64 {
        let accuracies = self.splits.iter().map(|split| split.choice.accuracy);
        accuracies.sum::<f64>() / self.splits.len().max(1) as f64
    }
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
    let mut sources = Vec::new();
    let mut tables = Vec::new();
    for name in &definition.vectors {
        let source = corpora.vectors(name)?;
        tables.push(source.open(folders, &mut files)?);
        sources.push(source);
    }
    let mut experiment = Experiment {
        definition,
        run,
        corpus,
        words: corpus.words(folders, &mut files)?,
        folders,
        files,
        cache: Cache::open(&folders.cache)?,
    };
    let mut variants = Vec::new();
    for (source, table) in sources.iter().zip(&tables) {
        variants.push(experiment.variant(source, Change::None, table)?);
    }
    let best = best(variants.iter()).context("no vectors")?;
    let is_wide = |variant: &&Variant| variant.dimension > definition.n_dimensions;
    let best_wide = self::best(variants.iter().filter(is_wide));
    for (source, table) in sources.iter().zip(&tables) {
        let table = Arc::new(common(table, &tables)?);
        variants.push(experiment.variant(source, Change::CommonWords, &table)?);
    }
    for (source, table) in sources.iter().zip(&tables) {
        let table = Arc::new(filled(table, experiment.words.keys(), definition.seed)?);
        variants.push(experiment.variant(source, Change::RandomVectors, &table)?);
    }
    for (source, table) in sources.iter().zip(&tables) {
        if Some(&source.name) == best_wide.as_ref() {
            let table = Arc::new(projected(table, definition.n_dimensions)?);
            variants.push(experiment.variant(source, Change::FewerDimensions, &table)?);
        }
    }
    Ok(Record {
        environment: environment.clone(),
        definition: definition.clone(),
        corpus: corpus.clone(),
        files: experiment.files.checksums,
        best,
        variants,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// The vectors of the variant with the most training documents right while held out; of
/// equal ones the first.
fn best<'v>(variants: impl Iterator<Item = &'v Variant>) -> Option<String> {
    let best = variants.reduce(|best, variant| {
        if variant.held_out() > best.held_out() {
            variant
        } else {
            best
        }
    });
    best.map(|variant| variant.vectors.clone())
}

struct Experiment<'a> {
    definition: &'a Definition,
    run: &'a Run,
    corpus: &'a Corpus,
    words: BTreeMap<String, u64>,
    folders: &'a Folders,
    files: Files,
    cache: Cache,
}

impl Experiment<'_> {
    /// Chooses parameters on the training documents of every split and judges on its test
    /// documents.
    fn variant(
        &mut self,
        source: &Vectors,
        change: Change,
        table: &Arc<WordVectors>,
    ) -> Result<Variant> {
        let (definition, corpus) = (self.definition, self.corpus);
        let loaded = corpus.load(source, table, false, self.folders, &mut self.files)?;
        let mut params = WmeParams::new(Protocol::Fast).embedding_alone();
        params.embedding = corpus
            .embedding(definition.seed)
            .n_features(definition.chosen_features);
        params.weightings = self.run.weights.clone();
        params.d_maxes = self.run.d_maxes.clone();
        let mut splits = Vec::new();
        for split in loaded.splits(self.run.splits, definition.seed)? {
            let train = loaded.corpus.select(&split.train);
            let test = loaded.corpus.select(&split.test);
            let (_, training) = TextClassifier::train(&params, &train, &self.cache, &silent)?;
            let choice = training.choice;
            let features = [definition.n_features];
            let curve = feature_curve(&params, &choice, &train, &test, &features, &silent)?;
            let without_words = test.texts().iter().filter(|t| t.counts.words.is_empty());
            splits.push(OfSplit {
                choice,
                accuracy: curve[0].accuracy,
                n_test_without_words: without_words.count(),
            });
        }
        let mut frequent = self.words.clone();
        frequent.retain(|_, n| *n >= corpus.min_count());
        frequent.values_mut().for_each(|n| *n = 1);
        let variant = Variant {
            vectors: source.name.clone(),
            change,
            dimension: table.dim(),
            known: known(&self.words, table),
            known_distinct: known(&frequent, table),
            splits,
        };
        let accuracies = variant.splits.iter().map(|split| 100.0 * split.accuracy);
        say(&format!(
            "{} with {}, {change:?} ({:.1} % of words known): {:.2?}",
            corpus.name,
            source.name,
            100.0 * variant.known,
            accuracies.collect::<Vec<_>>()
        ));
        Ok(variant)
    }
}
