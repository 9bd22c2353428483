//! CSV: a header `id,f0,f1,...`, then one row a document.
//!
//! Numbers have the fewest digits that read back as the same 32-bit float. What is not
//! a number is `NaN`, `inf` or `-inf`, which the usual readers understand.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` for a formula, and may
//! run it. Such an id gets an apostrophe in front (see [`as_cell`]).

use std::borrow::Cow;
use std::io::{self, Write};

use super::ids::{RowId, RowIds};
use super::{OutputFormat, RowWriter};

pub const FORMAT: OutputFormat = OutputFormat {
    suffixes: &["csv"],
    holds_ids: true,
    start: |file, n_features, _| Ok(Box::new(CsvWriter::new(file, n_features)?)),
};

/// A text as a cell that no spreadsheet runs: with an apostrophe in front, which a
/// spreadsheet does not show, where it would be a formula. A number stays as it is. Of
/// two texts that differ, the cells differ too.
pub fn as_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text
        .trim_start_matches('\'')
        .starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula && text.parse::<f64>().is_err() {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Writes one column a feature.
pub struct CsvWriter<W: Write> {
    writer: ::csv::Writer<W>,
    n_features: usize,
    field: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    pub fn new(writer: W, n_features: usize) -> io::Result<CsvWriter<W>> {
        let mut writer = CsvWriter {
            writer: ::csv::Writer::from_writer(writer),
            n_features,
            field: Vec::new(),
        };
        writer.field.extend(b"id");
        writer.end_field()?;
        for feature in 0..n_features {
            write!(writer.field, "f{feature}")?;
            writer.end_field()?;
        }
        writer.end_row()?;
        Ok(writer)
    }

    fn end_field(&mut self) -> io::Result<()> {
        self.writer.write_field(&self.field).map_err(io_error)?;
        self.field.clear();
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.writer.write_record(None::<&[u8]>).map_err(io_error)
    }
}

impl<W: Write + Send> RowWriter<W> for CsvWriter<W> {
    fn write_rows(&mut self, ids: RowIds<'_>, rows: &[f32]) -> io::Result<()> {
        for (index, row) in rows.chunks_exact(self.n_features).enumerate() {
            match ids.get(index) {
                RowId::Number(number) => write!(self.field, "{number}")?,
                RowId::Given(id) => self.field.extend(as_cell(id).as_bytes()),
            }
            self.end_field()?;
            for &value in row {
                if value.is_finite() {
                    serde_json::to_writer(&mut self.field, &value)?;
                } else {
                    write!(self.field, "{value}")?;
                }
                self.end_field()?;
            }
            self.end_row()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<W> {
        self.writer.flush()?;
        self.writer.into_inner().map_err(|error| error.into_error())
    }
}

/// The system's error itself where there is one, so that its kind is not lost.
fn io_error(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(n_features: usize, ids: RowIds<'_>, rows: &[f32]) -> String {
        let mut writer = Box::new(CsvWriter::new(Vec::new(), n_features).unwrap());
        writer.write_rows(ids, rows).unwrap();
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }

    #[test]
    fn the_header_names_the_features() {
        assert_eq!(written(3, RowIds::Numbers(0), &[]), "id,f0,f1,f2\n");
    }

    #[test]
    fn rows_are_numbered_and_numbers_short() {
        assert_eq!(
            written(2, RowIds::Numbers(4), &[0.1, 1.0, 1e-30, -2.5]),
            "id,f0,f1\n4,0.1,1.0\n5,1e-30,-2.5\n"
        );
    }

    #[test]
    fn given_ids_are_quoted_where_they_must_be() {
        let ids = ["a,b".to_string(), "say \"hi\"".to_string(), String::new()];
        assert_eq!(
            written(1, RowIds::Given(&ids), &[0.5, 0.5, 0.5]),
            "id,f0\n\"a,b\",0.5\n\"say \"\"hi\"\"\",0.5\n,0.5\n"
        );
    }

    #[test]
    fn an_id_is_never_a_formula() {
        for (id, cell) in [
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-a", "'-a"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("'=1", "''=1"),
            ("-1.5", "-1.5"),
            ("+3", "+3"),
            ("a=b", "a=b"),
            ("'quoted'", "'quoted'"),
            ("", ""),
        ] {
            assert_eq!(as_cell(id), cell);
        }
        let ids = ["=1+1".to_owned(), "=A,B".to_owned()];
        assert_eq!(
            written(1, RowIds::Given(&ids), &[0.5, 0.5]),
            "id,f0\n'=1+1,0.5\n\"'=A,B\",0.5\n"
        );
    }

    #[test]
    fn what_is_not_a_number_is_spelled_out() {
        assert_eq!(
            written(
                3,
                RowIds::Numbers(0),
                &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]
            ),
            "id,f0,f1,f2\n0,NaN,inf,-inf\n"
        );
    }
}
