//! `wordmover completions`: the command line, for shells to complete.

use anyhow::Result;

use crate::args::{self, CompletionsArguments};
use crate::output::print;

pub fn run(arguments: &CompletionsArguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut args::command(),
        "wordmover",
        &mut script,
    );
    print(&String::from_utf8(script)?)
}
