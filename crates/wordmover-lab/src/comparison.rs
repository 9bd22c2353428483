//! WME with many numbers of features beside KNN-WMD (table 2, figure 2).

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;
use wordmover::{EmbeddingParams, Weighting};
use wordmover_classify::{
    Cache, CrossValidation, CurvePoint, Event, KnnChoice, KnnParams, LabeledCorpus, Method,
    Protocol, StageTime, TextClassifier, WmeChoice, WmeParams, evaluate, feature_curve,
};
use wordmover_learn::split::Split;

use crate::corpora::{Corpora, Corpus, Folders, Loaded};
use crate::record::{Environment, Files, checksum};
use crate::say;

/// Parameters are chosen with so many features at most, unless more are asked for.
const FEW: usize = 1024;

/// What is to be run. See `experiments/definitions/comparison.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    pub seed: u64,
    /// Vectors to choose from.
    vectors: Vec<String>,
    /// Features with which they are chosen.
    pub vectors_features: usize,
    /// Numbers of features.
    pub features: Vec<usize>,
    /// Whether words that the vectors do not know are kept, as the program keeps them.
    #[serde(default)]
    pub keep_unknown: bool,
    /// Whether documents whose known words were there before are left out.
    #[serde(default)]
    pub distinct: bool,
    pub run: Vec<Run>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub corpus: String,
    /// Random splits where the corpus has none of its own.
    #[serde(default = "one")]
    splits: usize,
    /// Vectors, where they are not to be chosen.
    vectors: Option<String>,
    /// Weightings of KNN-WMD; none: it is not run.
    knn: Vec<Weighting>,
}

pub fn one() -> usize {
    1
}

/// What came out for one corpus.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    pub corpus: Corpus,
    files: BTreeMap<String, String>,
    /// How each set of vectors did.
    pub vectors: Vec<OfVectors>,
    /// The one with the best accuracy on training documents held out.
    pub best: String,
    /// Share of the words that it knows.
    pub known: f64,
    /// Documents left out as repeated.
    pub n_repeated: usize,
    pub splits: Vec<OfSplit>,
    pub seconds: f64,
    /// The record of KNN-WMD alone, where it was not run with the rest.
    #[serde(skip)]
    pub knn_alone: Option<Box<Record>>,
}

/// One set of vectors on the first split.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfVectors {
    pub name: String,
    pub known: f64,
    pub choice: WmeChoice,
    pub accuracy: f64,
}

/// One split.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfSplit {
    pub n_train: usize,
    pub n_test: usize,
    pub n_test_without_words: usize,
    pub choice: WmeChoice,
    /// Seconds to choose the parameters.
    pub choosing_seconds: f64,
    /// Beyond [`FEW`] features, where C is judged anew with most of them.
    #[serde(default)]
    pub choice_of_many: Option<WmeChoice>,
    pub curve: Vec<CurvePoint>,
    pub knn: Option<OfKnn>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OfKnn {
    pub choice: KnnChoice,
    pub accuracy: f64,
    /// Seconds to find the neighbours of the training documents, for K.
    pub choosing_seconds: f64,
    /// Seconds to find those of the test documents.
    pub prediction_seconds: f64,
}

/// Hears nothing and lets work go on.
pub fn silent(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
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
    let corpus = corpora.corpus(&run.corpus)?;
    let experiment = Experiment {
        definition,
        corpus,
        cache: Cache::open(&folders.cache)?,
    };
    let mut files = Files::default();
    let names = match &run.vectors {
        Some(name) => std::slice::from_ref(name),
        None => &definition.vectors,
    };
    let mut vectors = Vec::new();
    let mut best: Option<(f64, Loaded)> = None;
    for name in names {
        let source = corpora.vectors(name)?;
        let table = source.open(folders, &mut files)?;
        let loaded = corpus.load(&source, &table, definition.distinct, folders, &mut files)?;
        let of_vectors = experiment.with_vectors(name, &loaded)?;
        let accuracy = of_vectors.choice.accuracy;
        if best.as_ref().is_none_or(|(most, _)| accuracy > *most) {
            best = Some((accuracy, loaded));
        }
        vectors.push(of_vectors);
    }
    let (accuracy, loaded) = best.context("no vectors")?;
    let best = vectors.iter().find(|v| v.choice.accuracy == accuracy);
    let best = best.context("no vectors")?.name.clone();
    let mut seconds = start.elapsed().as_secs_f64();
    let mut splits = Vec::new();
    for split in loaded.splits(run.splits, definition.seed)? {
        // Times are part of it: kept for the same program on the same machine alone.
        let identity = json!({
            "of": (&environment.revision, &environment.machine, environment.threads, &environment.device),
            "embedding": (definition.seed, definition.keep_unknown, definition.distinct, &definition.features),
            "run": (&files.checksums, &best, &run.knn),
            "split": (&split.train, &split.test),
        });
        let done = kept(&folders.cache, &identity, || {
            experiment.split(&loaded.corpus, &split, &run.knn)
        })?;
        seconds += done.seconds;
        splits.push(done.split);
    }
    Ok(Record {
        environment: environment.clone(),
        definition: definition.clone(),
        corpus: corpus.clone(),
        files: files.checksums,
        vectors,
        best,
        known: loaded.known,
        n_repeated: loaded.n_repeated,
        splits,
        seconds,
        knn_alone: None,
    })
}

/// A split that is done, and how long it took.
#[derive(Serialize, Deserialize)]
struct Done {
    seconds: f64,
    split: OfSplit,
}

/// The split that was done before, so that an interrupted run goes on, or else is done now.
fn kept(
    cache: &Path,
    identity: &serde_json::Value,
    run: impl FnOnce() -> Result<OfSplit>,
) -> Result<Done> {
    let folder = cache.join("comparison");
    let identity = checksum(identity.to_string().as_bytes());
    let path = folder.join(format!("{}.json", &identity[..16]));
    if path.exists() {
        return serde_json::from_str(&crate::read(&path)?)
            .with_context(|| format!("{} cannot be read", path.display()));
    }
    let start = Instant::now();
    let split = run()?;
    let done = Done {
        seconds: start.elapsed().as_secs_f64(),
        split,
    };
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let part = path.with_extension("part");
    fs::write(&part, serde_json::to_string(&done)?)
        .and_then(|()| fs::rename(&part, &path))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(done)
}

struct Experiment<'a> {
    definition: &'a Definition,
    corpus: &'a Corpus,
    cache: Cache,
}

impl Experiment<'_> {
    fn params(&self, n_features: usize) -> WmeParams {
        let mut params = WmeParams::new(Protocol::Fast).embedding_alone();
        params.embedding = self.embedding().n_features(n_features);
        params
    }

    fn embedding(&self) -> EmbeddingParams {
        let mut params = self.corpus.embedding(self.definition.seed);
        if self.definition.keep_unknown {
            params.documents.unknown = None;
        }
        params
    }

    fn with_vectors(&self, name: &str, loaded: &Loaded) -> Result<OfVectors> {
        let split = &loaded.splits(1, self.definition.seed)?[0];
        let train = loaded.corpus.select(&split.train);
        let test = loaded.corpus.select(&split.test);
        let n_features = self.definition.vectors_features;
        let params = self.params(n_features);
        let (_, training) = TextClassifier::train(&params, &train, &self.cache, &silent)?;
        let choice = training.choice;
        let curve = feature_curve(&params, &choice, &train, &test, &[n_features], &silent)?;
        let accuracy = curve[0].accuracy;
        say(&format!(
            "{} with {name} ({:.1} % of words known): {:.2} % held out, {:.2} % of test documents",
            self.corpus.name,
            100.0 * loaded.known,
            100.0 * choice.accuracy,
            100.0 * accuracy
        ));
        Ok(OfVectors {
            name: name.to_owned(),
            known: loaded.known,
            choice,
            accuracy,
        })
    }

    fn split(&self, corpus: &LabeledCorpus, split: &Split, knn: &[Weighting]) -> Result<OfSplit> {
        let (train, test) = (corpus.select(&split.train), corpus.select(&split.test));
        let features = &self.definition.features;
        let n_most = features.last().copied().context("no features")?;
        // Without a cache: its time is part of the result.
        let params = self.params(n_most.min(FEW));
        let start = Instant::now();
        let (_, training) = TextClassifier::train(&params, &train, &Cache::none(), &silent)?;
        let choosing_seconds = start.elapsed().as_secs_f64();
        let choice = training.choice;
        let n_few = features.partition_point(|&n| n <= FEW);
        let (few, many) = features.split_at(n_few);
        let mut curve = match few {
            [] => Vec::new(),
            few => feature_curve(&params, &choice, &train, &test, few, &silent)?,
        };
        let mut choice_of_many = None;
        if !many.is_empty() {
            let params = self.params(n_most);
            let (_, training) = TextClassifier::train(&params, &train, &self.cache, &silent)?;
            let choice = choice_of_many.insert(training.choice);
            curve.extend(feature_curve(
                &params, choice, &train, &test, many, &silent,
            )?);
        }
        let knn = match knn {
            [] => None,
            weightings => Some(self.knn(&train, &test, weightings)?),
        };
        let accuracies = curve.iter().map(|point| 100.0 * point.accuracy);
        say(&format!(
            "{}: {:.2?}; KNN-WMD {:.2?}",
            self.corpus.name,
            accuracies.collect::<Vec<_>>(),
            knn.as_ref().map(|knn| 100.0 * knn.accuracy)
        ));
        let without_words = test.texts().iter().filter(|t| t.counts.words.is_empty());
        Ok(OfSplit {
            n_train: split.train.len(),
            n_test: split.test.len(),
            n_test_without_words: without_words.count(),
            choice,
            choosing_seconds,
            choice_of_many,
            curve,
            knn,
        })
    }

    fn knn(
        &self,
        train: &LabeledCorpus,
        test: &LabeledCorpus,
        weightings: &[Weighting],
    ) -> Result<OfKnn> {
        let mut params = KnnParams::new(Protocol::Fast);
        params.embedding = self.embedding();
        params.weightings = weightings.to_vec();
        let method = Method::KnnWmd(params);
        // Without a cache: its time is part of the result.
        let outcome = evaluate(&method, train, test, &Cache::none(), &silent)?;
        let CrossValidation::KnnWmd { choice, .. } = outcome.cross_validation else {
            anyhow::bail!("KNN-WMD was not judged as such");
        };
        let is_choosing = |time: &&StageTime| time.stage.contains("training");
        let seconds = |times: Vec<&StageTime>| times.iter().map(|time| time.seconds).sum();
        let (choosing, prediction) = outcome.times.iter().partition(is_choosing);
        Ok(OfKnn {
            choice,
            accuracy: outcome.accuracy,
            choosing_seconds: seconds(choosing),
            prediction_seconds: seconds(prediction),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(n_train: usize) -> OfSplit {
        serde_json::from_value(json!({
            "n_train": n_train, "n_test": 1, "n_test_without_words": 0,
            "choice": {"views": "meanings", "weighting": "nbow", "keep_stop_words": false, "label_exponent": 0.0, "random_words": "uniform", "d_max": 3, "n_features": 1024, "gamma": 2.867448731575764, "cost": 0.0029296875, "accuracy": 0.8287671232876712, "deviation": 0.012186108911301494},
            "choosing_seconds": 1.0, "curve": [], "knn": null,
        }))
        .unwrap()
    }

    #[test]
    fn a_split_that_was_done_is_not_done_again() {
        let folder = tempfile::tempdir().unwrap();
        let first = kept(folder.path(), &json!({"a": 1}), || Ok(split(7))).unwrap();
        let again = kept(folder.path(), &json!({"a": 1}), || anyhow::bail!("again")).unwrap();
        assert_eq!((first.split.n_train, again.split.n_train), (7, 7));
        assert_eq!(first.seconds, again.seconds);
        let other = kept(folder.path(), &json!({"a": 2}), || Ok(split(8))).unwrap();
        assert_eq!(other.split.n_train, 8);
        // What fails is not kept.
        assert!(kept(folder.path(), &json!({"a": 3}), || anyhow::bail!("broken")).is_err());
        assert!(kept(folder.path(), &json!({"a": 3}), || Ok(split(9))).is_ok());
    }
}
