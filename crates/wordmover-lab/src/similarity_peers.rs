//! Our similarity without options beside pre-trained sentence vectors, on the pairs of table 4.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use wordmover::WordVectors;
use wordmover::embedding::EmbeddingParams;
use wordmover::similarity::{Similarity, pearson};

use crate::corpora::Folders;
use crate::python::Python;
use crate::record::{Environment, Files};
use crate::say;
use crate::similarity::{self, Pairs};

/// What is to be run. See `experiments/definitions/similarity-peers.toml`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    pub about: String,
    encoder: Vec<Encoder>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoder {
    /// As `experiments/baselines/encoders.py` calls it.
    name: String,
    #[serde(default)]
    transformer: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    files: BTreeMap<String, String>,
    pub systems: Vec<OfSystem>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OfSystem {
    pub name: String,
    /// On one thread; ours fits, embeds and compares, the others encode.
    pub texts_per_second: f64,
    pub versions: BTreeMap<String, String>,
    /// Pearson's correlation times 100, by group and task.
    pub tasks: Vec<(String, String, f64)>,
}

/// What `experiments/baselines/similarity.py` writes.
#[derive(Deserialize)]
struct Encoded {
    cosines: BTreeMap<String, Vec<f64>>,
    texts_per_second: f64,
    versions: BTreeMap<String, String>,
}

/// Runs everything on the tasks of the similarity experiment.
pub fn run(
    definition: Definition,
    tasks: &similarity::Definition,
    environment: Environment,
    folders: &Folders,
    sources: &Path,
) -> Result<Record> {
    let sts = folders.data.join("sts");
    let mut files = Files::default();
    let mut pairs = BTreeMap::new();
    for task in &tasks.task {
        let of_task = Pairs::read(&mut files, &sts, task.file())?;
        pairs.insert(task.file().to_owned(), of_task);
    }
    let correlations = |scores: &BTreeMap<String, Vec<f64>>| {
        let tasks = tasks.task.iter().map(|task| {
            let (scores, pairs) = (&scores[task.file()], &pairs[task.file()]);
            let correlation = 100.0 * pearson(scores, pairs.gold()).unwrap_or(0.0);
            (task.group.clone(), task.name.clone(), correlation)
        });
        tasks.collect()
    };
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let vectors = Arc::new(WordVectors::builtin());
    let mut systems = Vec::new();
    for (name, method) in [
        ("wordmover similarity", Similarity::Blend),
        ("WME alone", Similarity::Wme),
        ("SIF, built-in vectors", Similarity::Sif),
    ] {
        let (mut scores, mut n_texts, mut seconds) = (BTreeMap::new(), 0, 0.0);
        for (file, pairs) in &pairs {
            let texts = pairs.texts();
            let distinct: HashSet<&String> = texts.iter().flat_map(|(a, b)| [a, b]).collect();
            n_texts += distinct.len();
            let start = Instant::now();
            let params = EmbeddingParams::for_similarity();
            let probabilities = wordmover::document::WordProbabilities::builtin(&vectors);
            let found = one_thread
                .install(|| method.of_pairs(texts, &params, &vectors, Some(&probabilities)))?;
            seconds += start.elapsed().as_secs_f64();
            scores.insert(file.clone(), found);
        }
        say(&format!("{name}: {:.0} texts/s", n_texts as f64 / seconds));
        systems.push(OfSystem {
            name: name.to_owned(),
            texts_per_second: n_texts as f64 / seconds,
            versions: BTreeMap::new(),
            tasks: correlations(&scores),
        });
    }
    for encoder in &definition.encoder {
        let python = Python::of(sources, encoder.transformer, &folders.cache)?;
        let paths = pairs.keys().map(|file| {
            let path = sts.join(format!("{file}.tsv"));
            (file.clone(), path.display().to_string())
        });
        let paths: BTreeMap<String, String> = paths.collect();
        let job = folders.cache.join("similarity-files.json");
        let output = folders
            .cache
            .join(format!("similarity-{}.json", encoder.name));
        std::fs::create_dir_all(&folders.cache)
            .with_context(|| format!("cannot make {}", folders.cache.display()))?;
        std::fs::write(&job, serde_json::to_string(&paths)?)
            .with_context(|| format!("cannot write {}", job.display()))?;
        let (job, shown) = (job.display().to_string(), output.display().to_string());
        say(&format!("{}: 18,000 texts", encoder.name));
        python.run("similarity.py", &[encoder.name.clone(), job, shown])?;
        let encoded: Encoded = serde_json::from_str(&crate::read(&output)?)?;
        systems.push(OfSystem {
            name: encoder.name.clone(),
            texts_per_second: encoded.texts_per_second,
            versions: encoded.versions,
            tasks: correlations(&encoded.cosines),
        });
    }
    Ok(Record {
        environment,
        definition,
        files: files.checksums,
        systems,
    })
}
