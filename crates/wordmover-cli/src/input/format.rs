//! The formats documents come in, and their file suffixes.

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

use crate::usage::usage_error;

/// How documents are laid out in a file.
///
/// The names of the values are those of the `--format` option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One document a line
    Text,
    /// Columns separated by tabs, without quoting
    Tsv,
    /// Columns separated by commas, quoted as in RFC 4180
    Csv,
    /// One JSON object a line
    #[value(name = "jsonl", alias = "ndjson")]
    JsonLines,
}

impl Format {
    /// The format the file's suffix stands for; a last `.gz` is looked through.
    pub fn from_suffix(path: &Path) -> Result<Format> {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let format = match name.rsplit_once('.').map(|(_, suffix)| suffix) {
            Some("txt") => Format::Text,
            Some("tsv") => Format::Tsv,
            Some("csv") => Format::Csv,
            Some("jsonl" | "ndjson") => Format::JsonLines,
            _ => {
                return Err(usage_error(format!(
                    "cannot tell the format of {} from its suffix; pass --format text, tsv, csv or jsonl",
                    path.display()
                )));
            }
        };
        Ok(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::is_usage_error;

    #[test]
    fn the_suffix_decides_with_and_without_gz_in_any_case() {
        for (suffix, format) in [
            ("txt", Format::Text),
            ("tsv", Format::Tsv),
            ("csv", Format::Csv),
            ("jsonl", Format::JsonLines),
            ("ndjson", Format::JsonLines),
        ] {
            for name in [
                format!("docs.{suffix}"),
                format!("a.b/docs.old.{suffix}.gz"),
                format!("DOCS.{}", suffix.to_uppercase()),
            ] {
                assert_eq!(
                    Format::from_suffix(Path::new(&name)).unwrap(),
                    format,
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn an_unknown_suffix_is_a_usage_error_that_names_the_option() {
        for name in ["docs.dat", "docs", "docs.gz", "txt", ".."] {
            let error = Format::from_suffix(Path::new(name)).unwrap_err();
            assert!(is_usage_error(&error));
            assert_eq!(
                error.to_string(),
                format!(
                    "cannot tell the format of {name} from its suffix; pass --format text, tsv, csv or jsonl"
                )
            );
        }
    }
}
