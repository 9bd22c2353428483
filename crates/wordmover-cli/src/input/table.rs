//! Documents from the rows of a table, TSV or CSV.

use anyhow::{Result, bail};

use super::columns::Columns;
use super::documents::DocumentText;
use super::lines::Lines;
use super::options::InputOptions;
use super::row::Row;
use super::{csv, tsv};

/// How rows are split into fields.
#[derive(Clone, Copy)]
pub enum Dialect {
    Tsv,
    Csv,
}

impl Dialect {
    pub fn read_row(self, lines: &mut Lines, row: &mut Row) -> Result<bool> {
        match self {
            Dialect::Tsv => tsv::read_row(lines, row),
            Dialect::Csv => csv::read_row(lines, row),
        }
    }
}

/// Reads the chosen columns of a table.
pub struct Table {
    lines: Lines,
    dialect: Dialect,
    /// Unknown only where there is no first row to take them from.
    columns: Option<Columns>,
    row: Row,
    /// The row holds the first document, which was read to count the columns.
    row_is_waiting: bool,
}

impl Table {
    /// Reads the first row and finds the columns in it.
    pub fn new(mut lines: Lines, dialect: Dialect, options: &InputOptions) -> Result<Table> {
        let mut row = Row::default();
        let has_row = dialect.read_row(&mut lines, &mut row)?;
        if !has_row && options.header {
            bail!("{} is empty; expected a header line", lines.name());
        }
        if has_row && row.is_blank && options.header {
            return Err(lines.error_at(row.line, "expected a header, found a blank line"));
        }
        let columns = has_row
            .then(|| Columns::choose(lines.name(), &row, options))
            .transpose()?;
        Ok(Table {
            lines,
            dialect,
            columns,
            row,
            row_is_waiting: has_row && !options.header,
        })
    }

    pub fn name(&self) -> &str {
        self.lines.name()
    }

    /// The next document, or nothing at the end of the table.
    pub fn next_document(&mut self) -> Result<Option<DocumentText>> {
        let Some(columns) = &self.columns else {
            return Ok(None);
        };
        let mut blank_line = None;
        loop {
            let has_row = std::mem::take(&mut self.row_is_waiting)
                || self.dialect.read_row(&mut self.lines, &mut self.row)?;
            if !has_row {
                return Ok(None);
            }
            // Wrong unless nothing but blank lines follows.
            if self.row.is_blank && columns.n_columns > 1 {
                blank_line.get_or_insert(self.row.line);
                continue;
            }
            if let Some(line) = blank_line {
                return Err(self.lines.error_at(
                    line,
                    format!("expected {} columns, found a blank line", columns.n_columns),
                ));
            }
            if self.row.n_fields() != columns.n_columns {
                return Err(self.lines.error_at(
                    self.row.line,
                    format!(
                        "expected {} columns, found {}",
                        columns.n_columns,
                        self.row.n_fields()
                    ),
                ));
            }
            let field = |index: usize| self.row.field(index).to_string();
            let label = columns.label.map(field);
            if label.as_ref().is_some_and(|label| label.trim().is_empty()) {
                return Err(self.lines.error_at(self.row.line, "the label is empty"));
            }
            return Ok(Some(DocumentText {
                id: columns.id.map(field),
                label,
                split: columns.split.map(field),
                text: field(columns.text),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(column: &str, header: bool) -> InputOptions {
        InputOptions {
            column: Some(column.to_string()),
            header,
            ..Default::default()
        }
    }

    fn read(
        dialect: Dialect,
        bytes: &str,
        options: &InputOptions,
    ) -> Result<Vec<(Option<String>, String)>> {
        let mut table = Table::new(Lines::of("docs", bytes.as_bytes()), dialect, options)?;
        let mut documents = Vec::new();
        while let Some(document) = table.next_document()? {
            documents.push((document.id, document.text));
        }
        Ok(documents)
    }

    fn texts(dialect: Dialect, bytes: &str, options: &InputOptions) -> Vec<String> {
        read(dialect, bytes, options)
            .unwrap()
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    fn error(dialect: Dialect, bytes: &str, options: &InputOptions) -> String {
        read(dialect, bytes, options).unwrap_err().to_string()
    }

    #[test]
    fn a_named_column_of_a_tsv_file_is_read() {
        let tsv = "split\tlabel\ttext\r\ntrain\t1\t\"one\r\ntest\t2\t\r\n";
        assert_eq!(
            texts(Dialect::Tsv, tsv, &options("text", true)),
            ["\"one", ""]
        );
    }

    #[test]
    fn a_numbered_column_is_read_from_the_first_line_on() {
        let tsv = "train\t1\tone\ntest\t2\ttwo";
        assert_eq!(
            texts(Dialect::Tsv, tsv, &options("3", false)),
            ["one", "two"]
        );
    }

    #[test]
    fn a_csv_field_may_span_lines() {
        let csv = "id,text\n1,\"one\nand \"\"more\"\"\"\n2,two\n";
        assert_eq!(
            texts(Dialect::Csv, csv, &options("text", true)),
            ["one\nand \"more\"", "two"]
        );
    }

    #[test]
    fn ids_come_from_their_column() {
        let options = InputOptions {
            id_column: Some("id".to_string()),
            ..options("text", true)
        };
        assert_eq!(
            read(Dialect::Csv, "text,id\none,a-1\ntwo,\n", &options).unwrap(),
            [
                (Some("a-1".to_string()), "one".to_string()),
                (Some(String::new()), "two".to_string())
            ]
        );
    }

    #[test]
    fn a_row_with_another_number_of_fields_is_named_with_both_counts() {
        let message = "docs: line 3: expected 2 columns, found 3";
        assert_eq!(
            error(
                Dialect::Tsv,
                "a\ttext\n1\tx\n1\tx\ty\n",
                &options("text", true)
            ),
            message
        );
        assert_eq!(
            error(Dialect::Csv, "a,text\n1,x\n1,x,y\n", &options("text", true)),
            message
        );
        // The lines of multi-line fields are counted.
        assert_eq!(
            error(
                Dialect::Csv,
                "a,text\r\n1,\"x\r\ny\"\r\n1\r\n",
                &options("text", true)
            ),
            "docs: line 4: expected 2 columns, found 1"
        );
    }

    #[test]
    fn blank_lines_are_ignored_only_at_the_end_of_several_columns() {
        for (dialect, separator) in [(Dialect::Tsv, '\t'), (Dialect::Csv, ',')] {
            let start = format!("a{separator}text\n1{separator}x\n\r\n\n");
            assert_eq!(texts(dialect, &start, &options("text", true)), ["x"]);
            assert_eq!(
                error(
                    dialect,
                    &format!("{start}2{separator}y\n"),
                    &options("text", true)
                ),
                "docs: line 3: expected 2 columns, found a blank line"
            );
        }
    }

    #[test]
    fn blank_lines_of_a_single_column_are_empty_documents() {
        for dialect in [Dialect::Tsv, Dialect::Csv] {
            assert_eq!(
                texts(dialect, "text\n\nx\n\n", &InputOptions::default()),
                ["", "x", ""]
            );
        }
    }

    #[test]
    fn an_empty_file_lacks_its_header_but_without_one_is_an_empty_table() {
        for dialect in [Dialect::Tsv, Dialect::Csv] {
            assert_eq!(
                error(dialect, "", &options("text", true)),
                "docs is empty; expected a header line"
            );
            for blank in ["\n", "\n\n", "\r\na\tb\n"] {
                assert_eq!(
                    error(dialect, blank, &options("text", true)),
                    "docs: line 1: expected a header, found a blank line"
                );
            }
            assert!(texts(dialect, "", &options("3", false)).is_empty());
            assert!(texts(dialect, "text\n", &InputOptions::default()).is_empty());
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        assert_eq!(
            texts(
                Dialect::Csv,
                "\u{feff}text,b\nx,y\n",
                &options("text", true)
            ),
            ["x"]
        );
    }
}
