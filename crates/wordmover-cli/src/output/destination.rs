//! Where embeddings go, decided and checked before they are computed.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::formats::{Ids, OutputFormat, suffixes};
use super::target::OutputFile;
use super::writer::EmbeddingWriter;
use crate::usage::usage_error;

/// A file that can be written, or standard output.
#[derive(Debug)]
pub struct Destination {
    target: Target,
}

#[derive(Debug)]
enum Target {
    StandardOutput,
    File {
        path: PathBuf,
        format: &'static OutputFormat,
        force: bool,
    },
}

impl Destination {
    /// Checks the file's suffix; its place is for [`check_outputs`](super::check_outputs)
    /// to look at. No path, or `-`, is standard output.
    pub fn new(path: Option<&Path>, force: bool) -> Result<Destination> {
        let target = match path {
            Some(path) if path != Path::new("-") => {
                let format = OutputFormat::from_suffix(path)?;
                Target::File {
                    path: path.to_path_buf(),
                    format,
                    force,
                }
            }
            _ => Target::StandardOutput,
        };
        Ok(Destination { target })
    }

    /// Refuses ids where there is no place for them: dropping them would lose what the user asked for.
    pub fn check_ids(&self, ids: Ids) -> Result<()> {
        match &self.target {
            Target::File { path, format, .. } if ids == Ids::Given && !format.holds_ids => {
                let others = suffixes(|format| format.holds_ids);
                Err(usage_error(format!(
                    "{} cannot hold ids; write {others}, or leave out --id-column",
                    path.display()
                )))
            }
            _ => Ok(()),
        }
    }

    /// The file, unless it is standard output.
    pub fn path(&self) -> Option<&Path> {
        match &self.target {
            Target::StandardOutput => None,
            Target::File { path, .. } => Some(path),
        }
    }

    /// Starts writing rows of `n_features` numbers.
    pub fn create(self, n_features: usize, ids: Ids) -> Result<EmbeddingWriter> {
        self.check_ids(ids)?;
        match self.target {
            Target::StandardOutput => EmbeddingWriter::to_stream(
                Box::new(io::stdout()),
                "standard output",
                n_features,
                ids,
            ),
            Target::File {
                path,
                format,
                force,
            } => {
                let file = OutputFile::create(&path, force)?;
                EmbeddingWriter::to_file(file, format, n_features, ids)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::usage::is_usage_error;

    #[test]
    fn no_path_and_a_dash_are_standard_output() {
        for path in [None, Some(Path::new("-"))] {
            let destination = Destination::new(path, false).unwrap();
            assert!(matches!(destination.target, Target::StandardOutput));
        }
    }

    #[test]
    fn an_unknown_suffix_is_a_usage_error() {
        let error = Destination::new(Some(Path::new("missing/docs.bin")), false).unwrap_err();
        assert!(is_usage_error(&error));
    }

    #[test]
    fn npy_refuses_ids() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.npy");
        let error = Destination::new(Some(&path), false)
            .unwrap()
            .create(2, Ids::Given)
            .map(|_| ())
            .unwrap_err();
        assert!(is_usage_error(&error));
        assert_eq!(
            error.to_string(),
            format!(
                "{} cannot hold ids; write .parquet, .jsonl or .csv, or leave out --id-column",
                path.display()
            )
        );
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
