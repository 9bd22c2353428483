//! A table of plain columns: an id, texts and numbers.

use std::io::{self, Write};

use super::column::{Chunk, Column};
use super::{CREATED_BY, MAGIC, ROW_GROUP_BYTES, schema, thrift};

/// What a row has in a column after the id.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Text(String),
    /// Without one, NaN is written.
    Number(Option<f64>),
}

/// Writes a table.
pub struct TableWriter<W: Write> {
    writer: W,
    /// Bytes written so far.
    position: u64,
    /// Names and Parquet's types, the id's first.
    kinds: Vec<(String, i32)>,
    columns: Vec<Column>,
    n_group_rows: usize,
    groups: Vec<(usize, Vec<Chunk>)>,
}

impl<W: Write> TableWriter<W> {
    /// `columns` are names, and whether they hold numbers; the first is the id, a row's
    /// number or a text.
    pub fn new(
        mut writer: W,
        columns: Vec<(String, bool)>,
        ids_are_numbers: bool,
    ) -> io::Result<Self> {
        let kinds = columns
            .into_iter()
            .enumerate()
            .map(|(i, (name, is_number))| {
                let kind = match (i, is_number) {
                    (0, _) if ids_are_numbers => schema::INT64,
                    (_, true) => schema::DOUBLE,
                    _ => schema::BYTE_ARRAY,
                };
                (name, kind)
            });
        let kinds: Vec<(String, i32)> = kinds.collect();
        writer.write_all(MAGIC)?;
        let columns = kinds
            .iter()
            .map(|(name, kind)| Column::new(name.clone(), *kind));
        Ok(TableWriter {
            writer,
            position: MAGIC.len() as u64,
            columns: columns.collect(),
            kinds,
            n_group_rows: 0,
            groups: Vec::new(),
        })
    }

    /// Writes a row: its id, or its number where ids are numbers, and a cell for each other
    /// column.
    pub fn write_row(&mut self, id: Option<&str>, number: u64, cells: &[Cell]) -> io::Result<()> {
        let (ids, columns) = self.columns.split_at_mut(1);
        match id {
            Some(id) => ids[0].push_text(id)?,
            None => ids[0].push_number(number as i64)?,
        }
        for (column, cell) in columns.iter_mut().zip(cells) {
            match cell {
                Cell::Text(text) => column.push_text(text)?,
                Cell::Number(number) => column.push_double(number.unwrap_or(f64::NAN))?,
            }
        }
        self.n_group_rows += 1;
        let n_bytes: usize = self.columns.iter().map(|column| column.n_value_bytes).sum();
        if n_bytes >= ROW_GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let (bytes, chunk) = column.end_chunk(self.position)?;
            self.writer.write_all(&bytes)?;
            self.position += bytes.len() as u64;
            chunks.push(chunk);
        }
        let n_rows = std::mem::take(&mut self.n_group_rows);
        self.groups.push((n_rows, chunks));
        Ok(())
    }

    /// Writes what belongs at the end.
    pub fn finish(mut self) -> io::Result<W> {
        if self.n_group_rows > 0 {
            self.end_group()?;
        }
        let kinds = self.kinds.iter().map(|(name, kind)| (name.as_str(), *kind));
        let kinds: Vec<(&str, i32)> = kinds.collect();
        let n_rows: usize = self.groups.iter().map(|(n_rows, _)| n_rows).sum();
        let mut footer = Vec::new();
        thrift::structure(&mut footer, |file| {
            file.i32(1, 1);
            schema::write_table(file, &kinds);
            file.i64(3, n_rows as i64);
            file.structures(4, &self.groups, |group, (n_rows, chunks)| {
                group.structures(1, chunks, |chunk, written| written.write(chunk));
                let n_bytes: usize = chunks.iter().map(|chunk| chunk.n_bytes).sum();
                group.i64(2, n_bytes as i64);
                group.i64(3, *n_rows as i64);
                group.i64(5, chunks[0].position as i64);
                group.i64(6, n_bytes as i64);
            });
            file.bytes(6, CREATED_BY.as_bytes());
            file.structures(7, &kinds, |order, _| order.inner(1, |_| {}));
        });
        self.writer.write_all(&footer)?;
        let n_bytes = u32::try_from(footer.len()).map_err(io::Error::other)?;
        self.writer.write_all(&n_bytes.to_le_bytes())?;
        self.writer.write_all(MAGIC)?;
        Ok(self.writer)
    }
}

#[cfg(test)]
mod tests {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_schema::DataType;

    use super::*;

    #[test]
    fn a_table_is_read_back() {
        for ids_are_numbers in [true, false] {
            let columns = vec![
                ("id".to_owned(), false),
                ("label".to_owned(), false),
                ("value of <b>".to_owned(), true),
            ];
            let file = tempfile::tempfile().unwrap();
            let mut writer = TableWriter::new(file, columns, ids_are_numbers).unwrap();
            for (i, value) in [Some(0.5), None, Some(-2.0)].into_iter().enumerate() {
                let id = format!("row {i}");
                let id = (!ids_are_numbers).then_some(id.as_str());
                let cells = [Cell::Text(format!("é{i}")), Cell::Number(value)];
                writer.write_row(id, i as u64, &cells).unwrap();
            }
            let file = writer.finish().unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            let fields: Vec<(String, DataType)> = reader
                .schema()
                .fields()
                .iter()
                .map(|field| (field.name().clone(), field.data_type().clone()))
                .collect();
            assert_eq!(fields[2], ("value of <b>".to_owned(), DataType::Float64));
            let batch = reader.build().unwrap().next().unwrap().unwrap();
            match ids_are_numbers {
                true => {
                    let ids = batch.column(0).as_primitive::<Int64Type>();
                    assert_eq!(ids.values(), &[0, 1, 2]);
                }
                false => assert_eq!(batch.column(0).as_string::<i32>().value(1), "row 1"),
            }
            assert_eq!(batch.column(1).as_string::<i32>().value(2), "é2");
            let values = batch.column(2).as_primitive::<Float64Type>();
            assert_eq!((values.value(0), values.value(2)), (0.5, -2.0));
            assert!(values.value(1).is_nan());
        }
    }
}
