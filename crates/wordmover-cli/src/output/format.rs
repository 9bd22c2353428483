//! The formats embeddings are written in, and their file suffixes.

use std::path::Path;

use anyhow::Result;

use crate::usage::usage_error;

/// How embeddings are laid out in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// A NumPy array of 32-bit floats, one row a document; no ids.
    Npy,
    /// A Parquet table of ids and lists of floats.
    Parquet,
    /// One JSON object a line.
    JsonLines,
    /// A table with one column a feature.
    Csv,
}

impl OutputFormat {
    /// The format the file's suffix stands for.
    pub fn from_suffix(path: &Path) -> Result<OutputFormat> {
        let suffix = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        match suffix.as_str() {
            "npy" => Ok(OutputFormat::Npy),
            "parquet" => Ok(OutputFormat::Parquet),
            "jsonl" | "ndjson" => Ok(OutputFormat::JsonLines),
            "csv" => Ok(OutputFormat::Csv),
            _ => Err(usage_error(format!(
                "cannot tell the format of {} from its suffix; end it in .npy, .parquet, .jsonl or .csv",
                path.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::is_usage_error;

    #[test]
    fn the_suffix_decides() {
        for (name, format) in [
            ("a.npy", OutputFormat::Npy),
            ("b/a.x.Parquet", OutputFormat::Parquet),
            ("a.jsonl", OutputFormat::JsonLines),
            ("a.ndjson", OutputFormat::JsonLines),
            ("a.csv", OutputFormat::Csv),
        ] {
            assert_eq!(OutputFormat::from_suffix(Path::new(name)).unwrap(), format);
        }
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
