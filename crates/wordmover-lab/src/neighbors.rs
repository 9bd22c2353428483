//! Nearest neighbours in spaces that are learnt from labels, beside S-WMD's published errors.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use wordmover_classify::{
    Cache, CrossValidation, KnnChoice, KnnParams, Learn, Method, Protocol, evaluate,
};

use crate::comparison::{one, silent};
use crate::corpora::{Corpora, Corpus, Folders};
use crate::record::{Environment, Files};
use crate::say;

/// What is to be run. See `experiments/definitions/learnt-neighbors.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    seed: u64,
    pub vectors: String,
    pub run: Vec<Run>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub corpus: String,
    /// Random splits where the corpus has none of its own.
    #[serde(default = "one")]
    splits: usize,
    /// What may be learnt; the best on training documents held out counts.
    learn: Vec<Learn>,
    /// S-WMD's error in per cent.
    pub published: f64,
}

/// What came out for one corpus.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    pub corpus: Corpus,
    files: BTreeMap<String, String>,
    pub splits: Vec<Vec<OfLearn>>,
    pub seconds: f64,
}

/// One split with one thing learnt.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfLearn {
    pub learn: Learn,
    pub choice: KnnChoice,
    pub accuracy: f64,
    /// All of it: choosing, learning, and the neighbours of the test documents.
    pub seconds: f64,
    pub learning_seconds: f64,
}

impl Record {
    /// The run of this corpus.
    pub fn run(&self) -> Option<&Run> {
        let mut runs = self.definition.run.iter();
        runs.find(|run| run.corpus == self.corpus.name)
    }

    /// Of every split, what was best on training documents held out.
    pub fn chosen(&self) -> impl Iterator<Item = &OfLearn> {
        self.splits.iter().filter_map(|split| {
            let held_out = |of: &&OfLearn| of.choice.accuracy;
            // Of equal ones the first.
            let best = split.iter().rev();
            best.max_by(|a, b| held_out(a).total_cmp(&held_out(b)))
        })
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
    let source = corpora.vectors(&definition.vectors)?;
    let table = source.open(folders, &mut files)?;
    let loaded = corpus.load(&source, &table, false, folders, &mut files)?;
    let mut splits = Vec::new();
    for split in loaded.splits(run.splits, definition.seed)? {
        let train = loaded.corpus.select(&split.train);
        let test = loaded.corpus.select(&split.test);
        let mut of_split = Vec::new();
        for &learn in &run.learn {
            let mut params = KnnParams::new(Protocol::Fast);
            params.embedding = corpus.embedding(definition.seed);
            params.embedding.documents.unknown = None;
            params.learn = learn;
            let start = Instant::now();
            // Without a cache: its time is part of the result.
            let method = Method::KnnWmd(params);
            let outcome = evaluate(&method, &train, &test, &Cache::none(), &silent)?;
            let CrossValidation::KnnWmd { choice, .. } = outcome.cross_validation else {
                bail!("neighbours were not judged as such");
            };
            let learning = outcome.times.iter();
            let learning = learning.filter(|time| time.stage.contains("learning"));
            say(&format!(
                "{}, {learn}: {:.2} % held out, {:.2} % of test documents",
                corpus.name,
                100.0 * choice.accuracy,
                100.0 * outcome.accuracy
            ));
            of_split.push(OfLearn {
                learn,
                choice,
                accuracy: outcome.accuracy,
                seconds: start.elapsed().as_secs_f64(),
                learning_seconds: learning.map(|time| time.seconds).sum(),
            });
        }
        splits.push(of_split);
    }
    Ok(Record {
        environment: environment.clone(),
        definition: definition.clone(),
        corpus: corpus.clone(),
        files: files.checksums,
        splits,
        seconds: start.elapsed().as_secs_f64(),
    })
}
