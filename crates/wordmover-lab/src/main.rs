//! The experiments: a definition is run, its record is kept, and the report is made
//! from the records.
//!
//! `wordmover-lab run experiments/definitions/similarity.toml` needs the corpora and
//! word vectors, which are not part of the repository; `wordmover-lab report` needs
//! only the records.

mod baselines;
mod changed_vectors;
mod classifier;
mod comparison;
mod corpora;
mod lengths;
mod neighbors;
mod python;
mod record;
mod report;
mod similarity;
mod similarity_peers;
mod vectors;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use clap::{Parser, Subcommand};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wordmover::{accelerator::Accelerator, atomic_file, error_message};

use corpora::{Corpora, Folders};
use record::Environment;

#[derive(Debug, Parser)]
#[command(about = "Runs experiments and reports what came out")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a definition and write its record
    Run {
        /// The definition, a TOML file
        definition: PathBuf,
        /// Where the corpora are
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Where the word vectors are
        #[arg(long, default_value = "../shared/vectors")]
        vectors: PathBuf,
        /// Where the record goes, in a folder named by the date
        #[arg(long, default_value = "experiments/records")]
        records: PathBuf,
        /// Run this corpus alone
        #[arg(long)]
        only: Option<String>,
        /// Run these baselines alone, by their keys
        #[arg(long, value_delimiter = ',')]
        systems: Vec<String>,
        /// Where what was computed is kept, so that an interrupted run goes on
        #[arg(long, default_value = "target/lab-cache")]
        cache: PathBuf,
        /// Compute distances to random documents on the first CUDA GPU
        #[arg(long)]
        cuda: bool,
        /// The revision this program was built from, where there is no repository
        #[arg(long)]
        revision: Option<String>,
    },
    /// Make the report from the latest record of every experiment
    Report {
        /// Where the records are
        #[arg(long, default_value = "experiments/records")]
        records: PathBuf,
        /// The report
        #[arg(long, short, default_value = "experiments/REPORT.md")]
        output: PathBuf,
        /// The same as a page to look at, one file
        #[arg(long, default_value = "docs/report.html")]
        page: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = error_message::of(error.as_ref());
            say(&format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// What can be run.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Definition {
    Similarity(similarity::Definition),
    SimilarityPeers(similarity_peers::Definition),
    Corpora(corpora::Definition),
    Classifier(classifier::Definition),
    Comparison(comparison::Definition),
    Lengths(lengths::Definition),
    Neighbors(neighbors::Definition),
    Vectors(vectors::Definition),
    Baselines(baselines::Definition),
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Run {
            definition,
            data,
            vectors,
            records,
            only,
            systems,
            cache,
            cuda,
            revision,
        } => {
            let text = read(&definition)?;
            let parsed: Definition = parse(&definition, &text)?;
            let mut environment = Environment::here(&text, revision)?;
            let mut accelerator: Option<Arc<dyn Accelerator>> = None;
            if cuda {
                let device = wordmover_cuda::Device::open(0)?;
                environment.device = Some(device.name()?);
                accelerator = Some(Arc::new(device));
            }
            let laboratory = Laboratory {
                records: records.join(&environment.date),
                environment,
                folders: Folders {
                    data,
                    vectors,
                    cache,
                    accelerator,
                },
                only,
                systems,
                sources: definition.with_file_name("../baselines"),
            };
            laboratory.run(parsed, &definition.with_file_name("../corpora.toml"))
        }
        Command::Report {
            records,
            output,
            page,
        } => report::write(&records, &output, &page),
    }
}

/// Where and with what definitions are run.
struct Laboratory {
    environment: Environment,
    folders: Folders,
    /// The folder of today's records.
    records: PathBuf,
    only: Option<String>,
    /// Keys of the baselines to run; none: all.
    systems: Vec<String>,
    /// Where the programs in Python are.
    sources: PathBuf,
}

impl Laboratory {
    fn run(&self, definition: Definition, corpora: &Path) -> Result<()> {
        let corpora = || -> Result<Corpora> { parse(corpora, &read(corpora)?) };
        let environment = self.environment.clone();
        match definition {
            Definition::Similarity(definition) => {
                let (data, vectors) = (&self.folders.data, &self.folders.vectors);
                let record = similarity::run(definition, environment, data, vectors)?;
                self.keep(&record.definition.name, &record)
            }
            Definition::SimilarityPeers(definition) => {
                let path = self.sources.join("../definitions/similarity.toml");
                let Definition::Similarity(tasks) = parse(&path, &read(&path)?)? else {
                    anyhow::bail!("{} is no experiment on similarity", path.display());
                };
                let (folders, sources) = (&self.folders, &self.sources);
                let record =
                    similarity_peers::run(definition, &tasks, environment, folders, sources)?;
                self.keep(&record.definition.name, &record)
            }
            Definition::Corpora(definition) => {
                let record = corpora::run(definition, environment, &corpora()?, &self.folders)?;
                self.keep(&record.definition.name, &record)
            }
            Definition::Classifier(definition) => {
                let corpora = corpora()?;
                for run in self.runs(&definition.run, |run| &run.corpus)? {
                    let (environment, folders) = (&self.environment, &self.folders);
                    let record = classifier::run(&definition, run, environment, &corpora, folders)?;
                    self.keep(&format!("{}-{}", definition.name, run.corpus), &record)?;
                }
                Ok(())
            }
            Definition::Comparison(definition) => {
                let corpora = corpora()?;
                for run in self.runs(&definition.run, |run| &run.corpus)? {
                    let (environment, folders) = (&self.environment, &self.folders);
                    let record = comparison::run(&definition, run, environment, &corpora, folders)?;
                    self.keep(&format!("{}-{}", definition.name, run.corpus), &record)?;
                }
                Ok(())
            }
            Definition::Lengths(definition) => {
                let corpora = corpora()?;
                for run in self.runs(&definition.run, |run| &run.corpus)? {
                    let (environment, folders) = (&self.environment, &self.folders);
                    let record = lengths::run(&definition, run, environment, &corpora, folders)?;
                    self.keep(&format!("{}-{}", definition.name, run.corpus), &record)?;
                }
                Ok(())
            }
            Definition::Neighbors(definition) => {
                let corpora = corpora()?;
                for run in self.runs(&definition.run, |run| &run.corpus)? {
                    let (environment, folders) = (&self.environment, &self.folders);
                    let record = neighbors::run(&definition, run, environment, &corpora, folders)?;
                    self.keep(&format!("{}-{}", definition.name, run.corpus), &record)?;
                }
                Ok(())
            }
            Definition::Baselines(definition) => {
                let corpora = corpora()?;
                for run in self.runs(&definition.run, |run| &run.corpus)? {
                    let data = (&corpora, &self.folders);
                    let (systems, sources) = (&self.systems, &self.sources);
                    let keep = |name: &str, record: &_| self.keep(name, record);
                    baselines::run(&definition, run, systems, &environment, data, sources, keep)?;
                }
                Ok(())
            }
            Definition::Vectors(definition) => {
                let corpora = corpora()?;
                for run in self.runs(&definition.run, |run| &run.corpus)? {
                    let (environment, folders) = (&self.environment, &self.folders);
                    let record = vectors::run(&definition, run, environment, &corpora, folders)?;
                    self.keep(&format!("{}-{}", definition.name, run.corpus), &record)?;
                }
                Ok(())
            }
        }
    }

    /// All runs of a definition, or those of one corpus.
    fn runs<'r, R>(&self, runs: &'r [R], corpus: impl Fn(&R) -> &String) -> Result<Vec<&'r R>> {
        let is_wanted = |run: &&R| self.only.as_ref().is_none_or(|only| corpus(run) == only);
        let runs: Vec<&R> = runs.iter().filter(is_wanted).collect();
        ensure!(!runs.is_empty(), "the definition runs no such corpus");
        Ok(runs)
    }

    fn keep(&self, name: &str, record: &impl Serialize) -> Result<()> {
        std::fs::create_dir_all(&self.records)
            .with_context(|| format!("cannot make {}", self.records.display()))?;
        let path = self.records.join(format!("{name}.json"));
        write(&path, &(serde_json::to_string_pretty(record)? + "\n"))
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// What a definition says, or in one line where it is wrong.
fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = 1 + text
            .bytes()
            .take(start)
            .filter(|&byte| byte == b'\n')
            .count();
        let message = error.message().split_whitespace().collect::<Vec<_>>();
        anyhow!("{}: line {line}: {}", path.display(), message.join(" "))
    })
}

/// Writes a record or a report whole, or leaves what was there before.
fn write(path: &Path, text: &str) -> Result<()> {
    ensure!(path.file_name().is_some(), "{} is no file", path.display());
    atomic_file::write(path, |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    say(&format!("wrote {}", path.display()));
    Ok(())
}

#[expect(clippy::print_stderr, reason = "this is a program")]
fn say(line: &str) {
    eprintln!("{line}");
}
