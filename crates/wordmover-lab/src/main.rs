//! The experiments: a definition is run, its record is kept, and the report is made
//! from the records.
//!
//! `wordmover-lab run experiments/definitions/similarity.toml` needs the corpora and
//! word vectors, which are not part of the repository; `wordmover-lab report` needs
//! only the records.

mod record;
mod report;
mod similarity;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};

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
    },
    /// Make the report from the latest record of every experiment
    Report {
        /// Where the records are
        #[arg(long, default_value = "experiments/records")]
        records: PathBuf,
        /// The report
        #[arg(long, short, default_value = "experiments/REPORT.md")]
        output: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Run {
            definition,
            data,
            vectors,
            records,
        } => {
            let text = read(&definition)?;
            let parsed: similarity::Definition = toml::from_str(&text)
                .with_context(|| format!("{} cannot be read", definition.display()))?;
            let environment = Environment::here(&text)?;
            let folder = records.join(&environment.date);
            let record = similarity::run(parsed, environment, &data, &vectors)?;
            std::fs::create_dir_all(&folder)?;
            let path = folder.join(format!("{}.json", record.definition.name));
            write(&path, &(serde_json::to_string_pretty(&record)? + "\n"))
        }
        Command::Report { records, output } => write(&output, &report::of(&records)?),
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    ensure!(path.file_name().is_some(), "{} is no file", path.display());
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    say(&format!("wrote {}", path.display()));
    Ok(())
}

#[expect(clippy::print_stderr, reason = "this is a program")]
fn say(line: &str) {
    eprintln!("{line}");
}
