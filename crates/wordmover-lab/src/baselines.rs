//! The other systems: the baselines of the paper, and what one would take today.
//!
//! They are written in Python (`experiments/baselines`), each behind one function from a split to
//! an outcome. The lab makes their environment, gives them the same documents, tokens and splits
//! as our own experiments, and keeps every outcome, so that an interrupted run goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::corpora::{Corpora, Corpus, Folders};
use crate::python::Python;
use crate::record::{Environment, Files, checksum};
use crate::say;

/// What is to be run. See `experiments/definitions/baselines.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
    pub seed: u64,
    /// Folds of cross-validation.
    folds: usize,
    pub system: Vec<System>,
    pub run: Vec<Run>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// As the report calls it.
    pub name: String,
    /// As `experiments/baselines/systems` call it.
    pub key: String,
    /// Raised when the code changes its results, so that kept outcomes are not taken for new.
    #[serde(default)]
    revision: u32,
    /// Whether it needs the packages of `requirements-transformer.txt`.
    #[serde(default)]
    transformer: bool,
    /// How long a split takes on one quiet core, where that is long.
    #[serde(default)]
    minutes: BTreeMap<String, u32>,
    /// How many of a corpus' splits are run, where all would take too long.
    #[serde(default)]
    splits: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub corpus: String,
    /// Random splits where the corpus has none of its own.
    #[serde(default = "crate::comparison::one")]
    splits: usize,
}

/// What came out for one system and corpus.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub corpus: String,
    pub system: String,
    pub key: String,
    seed: u64,
    folds: usize,
    files: BTreeMap<String, String>,
    pub outcomes: Vec<Outcome>,
}

/// One split.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// Share of the test documents.
    pub accuracy: f64,
    /// That of the chosen parameters on training documents held out.
    pub held_out_accuracy: f64,
    pub parameters: serde_json::Value,
    /// By stage, on one thread.
    pub seconds: BTreeMap<String, f64>,
    pub n_train: usize,
    pub n_test: usize,
    pub versions: BTreeMap<String, String>,
    /// Where it was computed; not said by outcomes of before 2026-11-18.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    computed_on: Option<Machine>,
}

/// A processor, and how many cores there are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Machine {
    name: String,
    cores: usize,
}

/// Runs one corpus; `keep` gets each system's record.
pub fn run(
    definition: &Definition,
    run: &Run,
    systems: &[String],
    environment: &Environment,
    (corpora, folders): (&Corpora, &Folders),
    sources: &Path,
    mut keep: impl FnMut(&str, &Record) -> Result<()>,
) -> Result<()> {
    let corpus = corpora.corpus(&run.corpus)?;
    let folder = folders.cache.join("baselines");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut files = Files::default();
    let documents = corpus.write_documents(&folder, folders, &mut files)?;
    let splits = corpus.splits(run.splits, definition.seed, folders, &mut files)?;
    let vectors: BTreeMap<&str, PathBuf> = corpora
        .vectors
        .iter()
        .map(|vectors| (vectors.name.as_str(), vectors.path(folders)))
        .collect();
    let is_wanted = |system: &&System| systems.is_empty() || systems.contains(&system.key);
    let wanted: Vec<&System> = definition.system.iter().filter(is_wanted).collect();
    ensure!(!wanted.is_empty(), "the definition has no such system");
    for system in wanted {
        let mut outcomes = Vec::new();
        let n_splits = system.splits.get(&run.corpus).unwrap_or(&run.splits);
        let splits = &splits[..splits.len().min(*n_splits)];
        for (i, split) in splits.iter().enumerate() {
            let job = json!({
                "documents": documents,
                "train": split.train,
                "test": split.test,
                "min_count": corpus.min_count(),
                "seed": definition.seed,
                "folds": definition.folds,
                "vectors": vectors,
            });
            let asked = Asked {
                system,
                corpus,
                number: (i + 1, splits.len()),
                job: serde_json::to_string(&job)?,
            };
            outcomes.push(asked.outcome(&folder, sources, folders)?);
        }
        let record = Record {
            environment: environment_of(&outcomes, environment),
            corpus: corpus.name.clone(),
            system: system.name.clone(),
            key: system.key.clone(),
            seed: definition.seed,
            folds: definition.folds,
            files: files.checksums.clone(),
            outcomes,
        };
        let name = format!("{}-{}-{}", definition.name, corpus.name, system.key);
        keep(&name, &record)?;
    }
    Ok(())
}

/// That of the machines that computed the outcomes, which are not always the one that puts the
/// record together.
fn environment_of(outcomes: &[Outcome], here: &Environment) -> Environment {
    let mut environment = here.clone();
    let machines = outcomes.iter().map(|outcome| outcome.computed_on.as_ref());
    if let Some(machines) = machines.collect::<Option<Vec<&Machine>>>() {
        let mut names: Vec<&str> = machines.iter().map(|machine| &*machine.name).collect();
        names.sort_unstable();
        names.dedup();
        environment.machine = names.join(" and ");
        let cores = machines.iter().map(|machine| machine.cores).max();
        environment.threads = cores.unwrap_or(here.threads);
    }
    environment
}

/// One system and split.
struct Asked<'a> {
    system: &'a System,
    corpus: &'a Corpus,
    /// Which split, and of how many.
    number: (usize, usize),
    job: String,
}

impl Asked<'_> {
    /// What came out before, or else comes out now.
    fn outcome(&self, folder: &Path, sources: &Path, folders: &Folders) -> Result<Outcome> {
        let System { name, key, .. } = self.system;
        let identity = checksum(format!("{} {}", self.system.revision, self.job).as_bytes());
        let path = folder.join(format!(
            "{key}-{}-{}.json",
            self.corpus.name,
            &identity[..16]
        ));
        let (split, n_splits) = self.number;
        let what = format!("{}, {name}, split {split} of {n_splits}", self.corpus.name);
        if !path.exists() {
            let minutes = self.system.minutes.get(&self.corpus.name);
            let warning = minutes.map_or(String::new(), |minutes| {
                format!(": takes about {minutes} minutes on a quiet core")
            });
            say(&format!("{what}{warning}"));
            let job = path.with_extension("job");
            fs::write(&job, &self.job)
                .with_context(|| format!("cannot write {}", job.display()))?;
            let python = Python::of(sources, self.system.transformer, &folders.cache)?;
            let (job_path, output) = (job.display(), path.display());
            let arguments = [key.clone(), job_path.to_string(), output.to_string()];
            python.run("run.py", &arguments)?;
            let _ = fs::remove_file(&job);
        }
        let outcome: Outcome = serde_json::from_str(&crate::read(&path)?)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let seconds: f64 = outcome.seconds.values().sum();
        let accuracy = 100.0 * outcome.accuracy;
        say(&format!("{what}: {accuracy:.2} %, {seconds:.1} s"));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_machines_that_computed_its_outcomes() {
        let here = Environment {
            date: "2026-11-18".to_owned(),
            revision: "abc".to_owned(),
            definition: "def".to_owned(),
            machine: "here".to_owned(),
            threads: 2,
            device: None,
        };
        let on = |machine: Option<(&str, usize)>| Outcome {
            accuracy: 0.5,
            held_out_accuracy: 0.5,
            parameters: json!({}),
            seconds: BTreeMap::new(),
            n_train: 1,
            n_test: 1,
            versions: BTreeMap::new(),
            computed_on: machine.map(|(name, cores)| Machine {
                name: name.to_owned(),
                cores,
            }),
        };
        let found = |outcomes: &[Outcome]| {
            let Environment {
                machine, threads, ..
            } = environment_of(outcomes, &here);
            (machine, threads)
        };
        let there = [on(Some(("there", 16))), on(Some(("elsewhere", 4)))];
        assert_eq!(found(&there), ("elsewhere and there".to_owned(), 16));
        assert_eq!(found(&there[..1]), ("there".to_owned(), 16));
        let unsaid = [on(Some(("there", 16))), on(None)];
        assert_eq!(found(&unsaid), ("here".to_owned(), 2));
    }
}
