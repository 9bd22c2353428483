//! Parquet: a column `id` and a column `embedding`, a list of `n_features` floats.
//!
//! Written here and not by the `parquet` crate, which with Arrow was 25 of the program's 109
//! crates and a quarter of the work of a first build: a file of two plain columns needs
//! neither. In the tests, the crate reads back what is written.
//!
//! The Arrow schema stored with the file makes the lists fixed-size ones for readers
//! that know those. Nothing is compressed and no dictionary is made: the floats of an
//! embedding hardly repeat, so both would cost time and save next to nothing.
//!
//! A row group is held in memory until it is full. It is ended by its size and not by
//! a number of rows, which may have four thousand numbers or four.

mod column;
mod schema;
mod table;
mod thrift;

use std::io::{self, Write};

use super::ids::{Ids, RowIds};
use super::{OutputFormat, RowWriter};
use column::{Chunk, Column};

pub use table::{Cell, TableWriter};

pub const FORMAT: OutputFormat = OutputFormat {
    suffixes: &["parquet"],
    holds_ids: true,
    start: |file, n_features, ids| Ok(Box::new(ParquetWriter::new(file, n_features, ids)?)),
};

const ROW_GROUP_BYTES: usize = 64 << 20;
const MAGIC: &[u8] = b"PAR1";
const CREATED_BY: &str = concat!("wordmover version ", env!("CARGO_PKG_VERSION"));

/// Writes a table of ids and embeddings.
pub struct ParquetWriter<W: Write> {
    writer: W,
    /// Bytes written so far.
    position: u64,
    ids: Ids,
    n_features: usize,
    row_group_bytes: usize,
    id_column: Column,
    embedding_column: Column,
    n_group_rows: usize,
    groups: Vec<Group>,
}

/// A row group that was written.
struct Group {
    n_rows: usize,
    chunks: [Chunk; 2],
}

impl<W: Write> ParquetWriter<W> {
    pub fn new(writer: W, n_features: usize, ids: Ids) -> io::Result<ParquetWriter<W>> {
        ParquetWriter::with_row_groups_of(ROW_GROUP_BYTES, writer, n_features, ids)
    }

    fn with_row_groups_of(
        row_group_bytes: usize,
        mut writer: W,
        n_features: usize,
        ids: Ids,
    ) -> io::Result<ParquetWriter<W>> {
        // Refused now rather than at the end.
        schema::arrow(ids, n_features)?;
        writer.write_all(MAGIC)?;
        Ok(ParquetWriter {
            writer,
            position: MAGIC.len() as u64,
            ids,
            n_features,
            row_group_bytes,
            id_column: match ids {
                Ids::RowNumbers => Column::new("id", schema::INT64),
                Ids::Given => Column::new("id", schema::BYTE_ARRAY),
            },
            embedding_column: Column::list("embedding", schema::FLOAT, n_features),
            n_group_rows: 0,
            groups: Vec::new(),
        })
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut write = |column: &mut Column| -> io::Result<Chunk> {
            let (bytes, chunk) = column.end_chunk(self.position)?;
            self.writer.write_all(&bytes)?;
            self.position += bytes.len() as u64;
            Ok(chunk)
        };
        let chunks = [
            write(&mut self.id_column)?,
            write(&mut self.embedding_column)?,
        ];
        self.groups.push(Group {
            n_rows: std::mem::take(&mut self.n_group_rows),
            chunks,
        });
        Ok(())
    }

    /// The metadata at the end of the file.
    fn footer(&self) -> io::Result<Vec<u8>> {
        let arrow = schema::arrow(self.ids, self.n_features)?;
        let n_rows: usize = self.groups.iter().map(|group| group.n_rows).sum();
        let mut footer = Vec::new();
        thrift::structure(&mut footer, |file| {
            file.i32(1, 1);
            schema::write(file, self.ids);
            file.i64(3, n_rows as i64);
            file.structures(4, &self.groups, |row_group, group| {
                row_group.structures(1, &group.chunks, |chunk, written| written.write(chunk));
                let n_bytes: usize = group.chunks.iter().map(|chunk| chunk.n_bytes).sum();
                row_group.i64(2, n_bytes as i64);
                row_group.i64(3, group.n_rows as i64);
                row_group.i64(5, group.chunks[0].position as i64);
                row_group.i64(6, n_bytes as i64);
            });
            file.structures(5, &[("ARROW:schema", &arrow)], |entry, (key, value)| {
                entry.bytes(1, key.as_bytes());
                entry.bytes(2, value.as_bytes());
            });
            file.bytes(6, CREATED_BY.as_bytes());
            // Values are in the order of their types, for both columns.
            file.structures(7, &[(), ()], |order, ()| order.inner(1, |_| {}));
        });
        Ok(footer)
    }
}

impl<W: Write + Send> RowWriter<W> for ParquetWriter<W> {
    fn write_rows(&mut self, ids: RowIds<'_>, rows: &[f32]) -> io::Result<()> {
        for (i, row) in rows.chunks_exact(self.n_features).enumerate() {
            match ids {
                RowIds::Numbers(first) => self.id_column.push_number((first + i as u64) as i64)?,
                RowIds::Given(ids) => self.id_column.push_text(&ids[i])?,
            }
            self.embedding_column.push_floats(row)?;
            self.n_group_rows += 1;
            let n_bytes = self.id_column.n_value_bytes + self.embedding_column.n_value_bytes;
            if n_bytes >= self.row_group_bytes {
                self.end_group()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<W> {
        if self.n_group_rows > 0 {
            self.end_group()?;
        }
        let footer = self.footer()?;
        self.writer.write_all(&footer)?;
        let n_bytes = u32::try_from(footer.len()).map_err(io::Error::other)?;
        self.writer.write_all(&n_bytes.to_le_bytes())?;
        self.writer.write_all(MAGIC)?;
        Ok(self.writer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float32Type, Int64Type};
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::{DataType, Field, SchemaRef};

    use super::*;

    /// Reads a file back; also says how many rows each row group has.
    fn read(bytes: Vec<u8>) -> (SchemaRef, Vec<RecordBatch>, Vec<i64>) {
        // The reader wants bytes it can share, which a file is: no crate for that is needed.
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let schema = builder.schema().clone();
        let groups = builder
            .metadata()
            .row_groups()
            .iter()
            .map(|group| group.num_rows())
            .collect();
        (
            schema,
            builder.build().unwrap().map(Result::unwrap).collect(),
            groups,
        )
    }

    fn values(batches: &[RecordBatch]) -> Vec<f32> {
        batches
            .iter()
            .flat_map(|batch| {
                let lists = batch.column(1).as_fixed_size_list();
                lists
                    .values()
                    .as_primitive::<Float32Type>()
                    .values()
                    .to_vec()
            })
            .collect()
    }

    #[test]
    fn numbered_rows_are_read_back() {
        let rows: Vec<f32> = (0..12).map(|value| value as f32 * 0.1).collect();
        let mut writer = Box::new(ParquetWriter::new(Vec::new(), 3, Ids::RowNumbers).unwrap());
        writer.write_rows(RowIds::Numbers(0), &rows[..3]).unwrap();
        writer.write_rows(RowIds::Numbers(1), &[]).unwrap();
        writer.write_rows(RowIds::Numbers(1), &rows[3..]).unwrap();
        let (schema, batches, _) = read(writer.finish().unwrap());

        let item = Arc::new(Field::new("element", DataType::Float32, false));
        assert_eq!(schema.field(0), &Field::new("id", DataType::Int64, false));
        assert_eq!(
            schema.field(1),
            &Field::new("embedding", DataType::FixedSizeList(item, 3), false)
        );
        assert_eq!(batches.len(), 1);
        assert_eq!(
            batches[0].column(0).as_primitive::<Int64Type>().values(),
            &[0, 1, 2, 3]
        );
        assert_eq!(values(&batches), rows);
    }

    #[test]
    fn given_ids_are_text() {
        let ids = ["a".to_string(), String::new(), "é".to_string()];
        let mut writer = Box::new(ParquetWriter::new(Vec::new(), 1, Ids::Given).unwrap());
        writer
            .write_rows(RowIds::Given(&ids), &[0.5, f32::NAN, f32::INFINITY])
            .unwrap();
        let (schema, batches, _) = read(writer.finish().unwrap());
        assert_eq!(schema.field(0), &Field::new("id", DataType::Utf8, false));
        let read_ids: Vec<_> = batches[0]
            .column(0)
            .as_string::<i32>()
            .iter()
            .flatten()
            .collect();
        assert_eq!(read_ids, ["a", "", "é"]);
        let read_values = values(&batches);
        assert_eq!(read_values[0], 0.5);
        assert!(read_values[1].is_nan());
        assert_eq!(read_values[2], f32::INFINITY);
        assert_eq!(batches[0].column(1).null_count(), 0);
    }

    #[test]
    fn no_rows_are_an_empty_table() {
        let (schema, batches, groups) = read(
            Box::new(ParquetWriter::new(Vec::new(), 5, Ids::RowNumbers).unwrap())
                .finish()
                .unwrap(),
        );
        assert_eq!(schema.fields().len(), 2);
        assert!(batches.is_empty());
        assert!(groups.is_empty());
    }

    #[test]
    fn row_groups_end_by_size_and_lose_no_row() {
        let n_features = 4096;
        let rows: Vec<f32> = (0..600 * n_features).map(|value| value as f32).collect();
        let writer =
            ParquetWriter::with_row_groups_of(4 << 20, Vec::new(), n_features, Ids::RowNumbers);
        let mut writer = Box::new(writer.unwrap());
        writer.write_rows(RowIds::Numbers(0), &rows).unwrap();
        let (_, batches, groups) = read(writer.finish().unwrap());
        // A row is 16 KiB: 256 make up 4 MiB, and the size is looked at every 128.
        assert_eq!(groups, [256, 256, 88]);
        let ids: Vec<i64> = batches
            .iter()
            .flat_map(|batch| {
                batch
                    .column(0)
                    .as_primitive::<Int64Type>()
                    .values()
                    .to_vec()
            })
            .collect();
        assert_eq!(ids, (0..600).collect::<Vec<_>>());
        assert_eq!(values(&batches), rows);
    }

    #[test]
    fn the_kind_of_a_failure_to_write_is_kept() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = ParquetWriter::new(Full, 1, Ids::RowNumbers)
            .and_then(|writer| Box::new(writer).finish());
        let error = error.map(|_| ()).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::StorageFull, "no space left")
        );
    }
}
