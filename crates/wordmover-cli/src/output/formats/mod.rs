//! The formats embeddings are written in. A new one is a file in this folder, a line
//! in [`FORMATS`] and its `mod`; everything else, help texts included, follows from them.

mod csv;
mod ids;
mod json_lines;
mod npy;
mod parquet;

use std::io;
use std::path::Path;

use anyhow::Result;

use super::target::OutputFile;
use crate::usage::usage_error;

pub use csv::as_cell;
pub use ids::{Ids, RowIds};
pub use json_lines::JsonLinesWriter;
pub use parquet::{Cell, TableWriter};

/// A format of files.
#[derive(Debug)]
pub struct OutputFormat {
    /// What its files end in; the first is the usual one.
    suffixes: &'static [&'static str],
    /// Whether there is a place for the ids of documents.
    pub holds_ids: bool,
    /// Starts a file of rows with so many features.
    pub start: fn(OutputFile, usize, Ids) -> io::Result<FileWriter>,
}

/// All of them, the usual ones first.
pub static FORMATS: [OutputFormat; 4] = [
    npy::FORMAT,
    parquet::FORMAT,
    json_lines::FORMAT,
    csv::FORMAT,
];

/// A format being written to a file.
pub type FileWriter = Box<dyn RowWriter<OutputFile>>;

/// A format being written to a `W`, row by row.
pub trait RowWriter<W>: Send {
    /// Writes whole rows, laid end to end, with an id for each.
    fn write_rows(&mut self, ids: RowIds<'_>, rows: &[f32]) -> io::Result<()>;

    /// Hands on what is buffered, so that a reader at the other end of a pipe sees it now.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Writes what belongs at the end.
    fn finish(self: Box<Self>) -> io::Result<W>;
}

impl OutputFormat {
    /// The format the file's suffix stands for.
    pub fn from_suffix(path: &Path) -> Result<&'static OutputFormat> {
        let suffix = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let format = FORMATS
            .iter()
            .find(|format| format.suffixes.contains(&suffix.as_str()));
        format.ok_or_else(|| {
            usage_error(format!(
                "cannot tell the format of {} from its suffix; end it in {}",
                path.display(),
                suffixes(|_| true)
            ))
        })
    }
}

/// `.npy, .parquet, .jsonl or .csv`: the usual suffixes of some formats.
pub fn suffixes(is_meant: impl Fn(&OutputFormat) -> bool) -> String {
    let meant = FORMATS.iter().filter(|format| is_meant(format));
    let names: Vec<String> = meant
        .map(|format| format!(".{}", format.suffixes[0]))
        .collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::is_usage_error;

    #[test]
    fn the_suffix_decides() {
        for (name, usual) in [
            ("a.npy", "npy"),
            ("b/a.x.Parquet", "parquet"),
            ("a.jsonl", "jsonl"),
            ("a.ndjson", "jsonl"),
            ("a.csv", "csv"),
        ] {
            let format = OutputFormat::from_suffix(Path::new(name)).unwrap();
            assert_eq!(format.suffixes[0], usual);
        }
        assert_eq!(suffixes(|_| true), ".npy, .parquet, .jsonl or .csv");
    }

    #[test]
    fn an_unknown_suffix_is_a_usage_error_that_names_the_known_ones() {
        for name in ["docs.txt", "docs", ".npy", "docs.npy.gz"] {
            let error = OutputFormat::from_suffix(Path::new(name)).unwrap_err();
            assert!(is_usage_error(&error));
            assert_eq!(
                error.to_string(),
                format!(
                    "cannot tell the format of {name} from its suffix; end it in .npy, .parquet, .jsonl or .csv"
                )
            );
        }
    }
}
