//! The virtual environments that systems written in Python run in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::record::checksum;
use crate::{read, say};

/// An environment with the packages of a file of requirements.
pub struct Python {
    program: PathBuf,
    sources: PathBuf,
}

impl Python {
    /// The environment for the programs in `sources`; made if it is not there or its requirements
    /// have changed. Transformers are apart, because they bring gigabytes along.
    pub fn of(sources: &Path, transformer: bool, cache: &Path) -> Result<Self> {
        let mut requirements = vec![sources.join("requirements.txt")];
        if transformer {
            requirements.push(sources.join("requirements-transformer.txt"));
        }
        let texts = requirements.iter().map(|path| read(path));
        let texts = texts.collect::<Result<Vec<String>>>()?.concat();
        let name = format!("python-{}", &checksum(texts.as_bytes())[..12]);
        let folder = cache.join(name);
        let program = folder.join("bin/python");
        let complete = folder.join("complete");
        if !complete.exists() {
            say(&format!("making {}, once", folder.display()));
            let _ = fs::remove_dir_all(&folder);
            finish(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
            let files = requirements.iter().flat_map(|path| [Path::new("-r"), path]);
            let mut pip = Command::new(&program);
            finish(pip.args(["-m", "pip", "install", "--quiet"]).args(files))?;
            fs::write(&complete, texts)
                .with_context(|| format!("cannot write {}", complete.display()))?;
        }
        Ok(Python {
            program,
            sources: sources.to_owned(),
        })
    }

    /// Runs one of the programs; what it prints is progress.
    pub fn run(&self, file: &str, arguments: &[String]) -> Result<()> {
        let mut command = Command::new(&self.program);
        finish(command.arg(self.sources.join(file)).args(arguments))
    }
}

fn finish(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status();
    let status = status.with_context(|| format!("cannot run {program}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
