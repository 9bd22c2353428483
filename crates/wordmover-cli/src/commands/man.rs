//! `wordmover man`: a manual page for the program and for every command.

use anyhow::{Context, Result, ensure};
use clap::Command;
use clap_mangen::Man;

use crate::args::{self, ManArguments};
use crate::output::{OutputFile, check_outputs};
use crate::progress::{count, say};
use crate::version::PROGRAM;

pub fn run(arguments: &ManArguments, quiet: bool) -> Result<()> {
    let folder = &arguments.folder;
    ensure!(
        folder.is_dir(),
        "there is no directory {}",
        folder.display()
    );
    let mut pages = Vec::new();
    let mut command = args::command().disable_help_subcommand(true);
    // Gives every command its whole name.
    command.build();
    add_pages(command, &mut pages).context("cannot make the manual pages")?;
    let paths: Vec<_> = pages.iter().map(|(name, _)| folder.join(name)).collect();
    let force = arguments.writing.force;
    let outputs: Vec<_> = paths
        .iter()
        .map(|path| ("DIR", Some(path.as_path())))
        .collect();
    check_outputs(&outputs, &[], force)?;
    for (path, (_, page)) in paths.iter().zip(&pages) {
        OutputFile::holding(page, path, force)?.commit()?;
    }
    if !quiet {
        let n_pages = count(pages.len() as u64, "manual page");
        say(&format!("wrote {n_pages} to {}", folder.display()));
    }
    Ok(())
}

/// The page of a command, then those of its subcommands.
fn add_pages(command: Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let subcommands: Vec<Command> = command.get_subcommands().cloned().collect();
    let name = command.get_display_name().unwrap_or(command.get_name());
    let file_name = format!("{name}.1");
    let mut page = Vec::new();
    Man::new(command).source(PROGRAM).render(&mut page)?;
    pages.push((file_name, page));
    for subcommand in subcommands {
        add_pages(subcommand, pages)?;
    }
    Ok(())
}
