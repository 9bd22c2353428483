//! The options of the input, and which of them fit the format.

use anyhow::Result;

use super::format::Format;
use crate::usage::usage_error;

/// The options that say how to read documents.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// The format; from the file's suffix when absent.
    pub format: Option<Format>,
    /// The column of a table that holds the text: its name, or without a header its number
    /// from 1. The field of a JSON object that holds the text.
    pub column: Option<String>,
    /// The column or field that holds the document's id.
    pub id_column: Option<String>,
    /// The column or field that holds the document's class.
    pub label_column: Option<String>,
    /// The column or field that says whether the document is to learn from or to judge on.
    pub split_column: Option<String>,
    /// Whether the first row of a table names its columns.
    pub header: bool,
}

impl Default for InputOptions {
    fn default() -> Self {
        InputOptions {
            format: None,
            column: None,
            id_column: None,
            label_column: None,
            split_column: None,
            header: true,
        }
    }
}

impl InputOptions {
    /// Refuses an option that means nothing for `format`: ignoring it would hide a mistake.
    pub fn check(&self, format: Format) -> Result<()> {
        let is_table = matches!(format, Format::Tsv | Format::Csv);
        let problem = if self.column.is_some() && format == Format::Text {
            "--column is for TSV, CSV and JSON lines; in a text file every line is a document"
        } else if self.column.is_none() && format == Format::JsonLines {
            "JSON lines need --field, the name of the field that holds the text"
        } else if self.id_column.is_some() && format == Format::Text {
            "--id-column is for TSV, CSV and JSON lines; the lines of a text file have no ids"
        } else if self.label_column.is_some() && format == Format::Text {
            "documents with labels are TSV, CSV or JSON lines; the lines of a text file have none"
        } else if !self.header && !is_table {
            "--no-header is for TSV and CSV"
        } else {
            return Ok(());
        };
        Err(usage_error(problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::is_usage_error;

    fn some(name: &str) -> Option<String> {
        Some(name.to_string())
    }

    fn problem(format: Format, options: InputOptions) -> String {
        let error = options.check(format).unwrap_err();
        assert!(is_usage_error(&error));
        error.to_string()
    }

    #[test]
    fn an_option_the_format_has_no_use_for_is_a_usage_error() {
        let column = || InputOptions {
            column: some("text"),
            ..Default::default()
        };
        let id = || InputOptions {
            id_column: some("id"),
            ..Default::default()
        };
        let no_header = || InputOptions {
            header: false,
            ..Default::default()
        };

        assert_eq!(
            problem(Format::Text, column()),
            "--column is for TSV, CSV and JSON lines; in a text file every line is a document"
        );
        assert_eq!(
            problem(Format::Text, id()),
            "--id-column is for TSV, CSV and JSON lines; the lines of a text file have no ids"
        );
        assert_eq!(
            problem(Format::Text, no_header()),
            "--no-header is for TSV and CSV"
        );
        assert_eq!(
            problem(
                Format::JsonLines,
                InputOptions {
                    header: false,
                    ..column()
                }
            ),
            "--no-header is for TSV and CSV"
        );
    }

    #[test]
    fn json_lines_without_a_field_is_a_usage_error() {
        assert_eq!(
            problem(Format::JsonLines, InputOptions::default()),
            "JSON lines need --field, the name of the field that holds the text"
        );
    }

    #[test]
    fn options_that_fit_are_accepted() {
        let table = InputOptions {
            column: some("2"),
            id_column: some("1"),
            header: false,
            ..Default::default()
        };
        table.check(Format::Tsv).unwrap();
        table.check(Format::Csv).unwrap();
        let json = InputOptions {
            column: some("body"),
            id_column: some("id"),
            ..Default::default()
        };
        json.check(Format::JsonLines).unwrap();
        InputOptions::default().check(Format::Text).unwrap();
    }
}
