//! JSON lines: `{"id":0,"embedding":[0.25,0.5]}`.
//!
//! Numbers have the fewest digits that read back as the same 32-bit float. JSON has no
//! NaN and no infinity; they become `null`.

use std::io::{self, Write};

use super::ids::{RowId, RowIds};
use super::{OutputFormat, RowWriter};

pub const FORMAT: OutputFormat = OutputFormat {
    suffixes: &["jsonl", "ndjson"],
    holds_ids: true,
    start: |file, n_features, _| Ok(Box::new(JsonLinesWriter::new(file, n_features))),
};

/// Writes one object a row.
pub struct JsonLinesWriter<W> {
    writer: W,
    n_features: usize,
}

impl<W: Write> JsonLinesWriter<W> {
    pub fn new(writer: W, n_features: usize) -> JsonLinesWriter<W> {
        JsonLinesWriter { writer, n_features }
    }
}

impl<W: Write + Send> RowWriter<W> for JsonLinesWriter<W> {
    fn write_rows(&mut self, ids: RowIds<'_>, rows: &[f32]) -> io::Result<()> {
        for (index, row) in rows.chunks_exact(self.n_features).enumerate() {
            self.writer.write_all(b"{\"id\":")?;
            match ids.get(index) {
                RowId::Number(number) => write!(self.writer, "{number}")?,
                RowId::Given(id) => serde_json::to_writer(&mut self.writer, id)?,
            }
            self.writer.write_all(b",\"embedding\":")?;
            serde_json::to_writer(&mut self.writer, row)?;
            self.writer.write_all(b"}\n")?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(n_features: usize, ids: RowIds<'_>, rows: &[f32]) -> String {
        let mut writer = Box::new(JsonLinesWriter::new(Vec::new(), n_features));
        writer.write_rows(ids, rows).unwrap();
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }

    #[test]
    fn a_row_is_an_object_on_a_line() {
        assert_eq!(
            written(2, RowIds::Numbers(7), &[0.1, 1.0, 1e-30, -2.5]),
            "{\"id\":7,\"embedding\":[0.1,1.0]}\n{\"id\":8,\"embedding\":[1e-30,-2.5]}\n"
        );
        assert_eq!(written(2, RowIds::Numbers(0), &[]), "");
    }

    #[test]
    fn given_ids_are_escaped() {
        let ids = ["say \"hi\"\n".to_string(), "é".to_string()];
        assert_eq!(
            written(1, RowIds::Given(&ids), &[0.5, 0.25]),
            "{\"id\":\"say \\\"hi\\\"\\n\",\"embedding\":[0.5]}\n{\"id\":\"é\",\"embedding\":[0.25]}\n"
        );
    }

    #[test]
    fn what_json_cannot_say_is_null() {
        assert_eq!(
            written(
                3,
                RowIds::Numbers(0),
                &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]
            ),
            "{\"id\":0,\"embedding\":[null,null,null]}\n"
        );
    }

    #[test]
    fn numbers_read_back_as_the_same_float() {
        let values: Vec<f32> = (0..2000u32)
            .map(|index| f32::from_bits(index.wrapping_mul(0x9e37_79b9)))
            .filter(|x| x.is_finite())
            .collect();
        let text = written(values.len(), RowIds::Numbers(0), &values);
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let read: Vec<f32> = read["embedding"]
            .as_array()
            .unwrap()
            .iter()
            .map(|number| number.to_string().parse().unwrap())
            .collect();
        assert_eq!(read.len(), values.len());
        assert!(
            read.iter()
                .zip(&values)
                .all(|(read, value)| read.to_bits() == value.to_bits())
        );
    }
}
