//! The `wordmover` program: Word Mover's Embeddings, distances and text classification
//! from the command line.
//!
//! Results go to standard output or the file named with `-o`, everything else to
//! standard error. Exit codes: 0 done (a closed pipe included), 1 failed, 2 called
//! wrongly, 130 interrupted.

mod args;
mod commands;
mod input;
mod interrupt;
mod output;
mod progress;
mod report;
mod sentence;
mod spool;
mod usage;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let ended = match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(error) if usage::is_request_for_help(&error) => error.exit(),
        Err(error) => Err(usage::from_parser(&error)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            interrupt::give_way();
            progress::say(&format!("error: {}", sentence::of(&error)));
            ExitCode::from(if usage::is_usage_error(&error) { 2 } else { 1 })
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    interrupt::install()?;
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .context("cannot start the threads")?;
    }
    match arguments.command {
        Command::Embed(arguments) => commands::embed::run(&arguments),
        Command::Fit(arguments) => commands::fit::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Distance(arguments) => commands::distance::run(&arguments),
        Command::Search(arguments) => commands::search::run(&arguments),
        Command::Similarity(arguments) => commands::similarity::run(&arguments),
        Command::Train(arguments) => commands::train::run(&arguments),
        Command::Predict(arguments) => commands::predict::run(&arguments),
        Command::Evaluate(arguments) => commands::evaluate::run(&arguments),
        Command::Vectors(command) => commands::vectors::run(&command),
    }
}
