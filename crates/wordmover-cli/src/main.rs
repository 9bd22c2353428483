//! The `wordmover` program: Word Mover's Embeddings and distances from the command line.
//!
//! Results go to standard output or the file named with `-o`, everything else to
//! standard error. Exit codes: 0 done (a closed pipe included), 1 failed, 2 called
//! wrongly, 130 interrupted.

mod args;
mod commands;
mod input;
mod output;
mod progress;
mod spool;
mod usage;

use std::io;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            progress::say(&format!("error: {error:#}"));
            ExitCode::from(if usage::is_usage_error(&error) { 2 } else { 1 })
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    // On a thread of its own, not in a signal's context: it may lock and print.
    ctrlc::set_handler(|| {
        output::remove_unfinished();
        progress::say("interrupted: nothing was written");
        std::process::exit(130);
    })
    .context("cannot install the interrupt handler")?;
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .context("cannot start the threads")?;
    }
    match arguments.command {
        Command::Embed(arguments) => commands::embed::run(&arguments),
        Command::Fit(arguments) => commands::fit::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Distance(arguments) => commands::distance::run(&arguments),
        Command::Vectors(command) => commands::vectors::run(&command),
    }
}

/// Whoever read our output has seen enough: `wordmover ... | head` is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
