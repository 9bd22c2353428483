//! The `wordmover` program: Word Mover's Embeddings, distances and text classification
//! from the command line.
//!
//! Results go to standard output or the file named with `-o`, everything else to
//! standard error. Exit codes: 0 done (a closed pipe included), 1 failed, 2 called
//! wrongly, 130 interrupted, 143 terminated.

mod args;
mod commands;
mod input;
mod interrupt;
mod markup;
mod natural_order;
mod output;
mod progress;
mod report;
mod spool;
mod usage;
mod version;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::FromArgMatches;
use clap::error::ErrorKind;
use wordmover::error_message;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let parsed = args::command()
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let ended = match parsed {
        Ok(arguments) => run(arguments),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => {
            output::print(&version::in_full())
        }
        Err(error) if usage::is_request_for_help(&error) => error.exit(),
        Err(error) => Err(usage::from_parser(&error)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            interrupt::give_way();
            progress::say(&format!("error: {}", error_message::of(error.as_ref())));
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
    let quiet = arguments.quiet;
    match arguments.command {
        Command::Embed(arguments) => commands::embed::run(&arguments, quiet),
        Command::Fit(arguments) => commands::fit::run(&arguments, quiet),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Distance(arguments) => commands::distance::run(&arguments, quiet),
        Command::Search(arguments) => commands::search::run(&arguments, quiet),
        Command::Similarity(arguments) => commands::similarity::run(&arguments, quiet),
        Command::Train(arguments) => commands::train::run(&arguments, quiet),
        Command::Predict(arguments) => commands::predict::run(&arguments, quiet),
        Command::Test(arguments) => commands::test::run(&arguments, quiet),
        Command::Evaluate(arguments) => commands::evaluate::run(&arguments, quiet),
        Command::Vectors(command) => commands::vectors::run(&command, quiet),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments, quiet),
    }
}
