//! Parquet: a column `id` and a column `embedding`, a list of `n_features` floats.
//!
//! The Arrow schema stored with the file makes the lists fixed-size ones for readers
//! that know those. Nothing is compressed and no dictionary is made: the floats of an
//! embedding hardly repeat, so both would cost time and save next to nothing.
//!
//! A row group is held in memory until it is full. It is ended by its size and not by
//! a number of rows, which may have four thousand numbers or four.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::ids::{Ids, RowIds};

const ROW_GROUP_BYTES: usize = 64 << 20;

/// Rows are handed to the Parquet writer in parts of about this many numbers, because
/// it keeps several bytes for each besides the number itself.
const BATCH_VALUES: usize = 1 << 19;

/// Writes a table of ids and embeddings.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    item: FieldRef,
    n_features: usize,
    row_group_bytes: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub fn new(writer: W, n_features: usize, ids: Ids) -> io::Result<ParquetWriter<W>> {
        ParquetWriter::with_row_groups_of(ROW_GROUP_BYTES, writer, n_features, ids)
    }

    fn with_row_groups_of(
        row_group_bytes: usize,
        writer: W,
        n_features: usize,
        ids: Ids,
    ) -> io::Result<ParquetWriter<W>> {
        let id_type = match ids {
            Ids::RowNumbers => DataType::Int64,
            Ids::Given => DataType::Utf8,
        };
        // The name that the Parquet specification gives to what is in a list.
        let item: FieldRef = Arc::new(Field::new("element", DataType::Float32, false));
        let list = DataType::FixedSizeList(item.clone(), list_size(n_features)?);
        let schema = Arc::new(Schema::new(vec![
            Field::new("id", id_type, false),
            Field::new("embedding", list, false),
        ]));
        let properties = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_column_statistics_enabled("id".into(), EnabledStatistics::Chunk)
            .build();
        let writer =
            ArrowWriter::try_new(writer, schema.clone(), Some(properties)).map_err(io_error)?;
        Ok(ParquetWriter {
            writer,
            schema,
            item,
            n_features,
            row_group_bytes,
        })
    }

    pub fn write_rows(&mut self, ids: RowIds<'_>, rows: &[f32]) -> io::Result<()> {
        let batch_rows = (BATCH_VALUES / self.n_features).max(1);
        let mut first = 0;
        for values in rows.chunks(batch_rows * self.n_features) {
            let n_rows = values.len() / self.n_features;
            let ids: ArrayRef = match ids {
                RowIds::Numbers(number) => {
                    let number = number as i64 + first as i64;
                    Arc::new(Int64Array::from_iter_values(number..number + n_rows as i64))
                }
                RowIds::Given(ids) => {
                    Arc::new(StringArray::from_iter_values(&ids[first..first + n_rows]))
                }
            };
            self.write_batch(ids, values)?;
            first += n_rows;
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<W> {
        // The last step turns errors into prose; writing all but the footer first keeps their kind.
        self.writer.flush().map_err(io_error)?;
        self.writer.sync()?;
        self.writer.into_inner().map_err(io_error)
    }

    fn write_batch(&mut self, ids: ArrayRef, values: &[f32]) -> io::Result<()> {
        let values = Arc::new(Float32Array::from(values.to_vec()));
        let size = list_size(self.n_features)?;
        let embeddings = FixedSizeListArray::try_new(self.item.clone(), size, values, None)
            .map_err(io::Error::other)?;
        let batch = RecordBatch::try_new(self.schema.clone(), vec![ids, Arc::new(embeddings)])
            .map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(io_error)?;
        if self.writer.in_progress_size() >= self.row_group_bytes {
            self.writer.flush().map_err(io_error)?;
        }
        Ok(())
    }
}

fn list_size(n_features: usize) -> io::Result<i32> {
    i32::try_from(n_features)
        .map_err(|_| io::Error::other(format!("a Parquet list cannot hold {n_features} numbers")))
}

/// The system's error itself where there is one, so that its kind is not lost.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float32Type, Int64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

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
        let mut writer = ParquetWriter::new(Vec::new(), 3, Ids::RowNumbers).unwrap();
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
        let mut writer = ParquetWriter::new(Vec::new(), 1, Ids::Given).unwrap();
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
            ParquetWriter::new(Vec::new(), 5, Ids::RowNumbers)
                .unwrap()
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
        let mut writer =
            ParquetWriter::with_row_groups_of(4 << 20, Vec::new(), n_features, Ids::RowNumbers)
                .unwrap();
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
        let error = ParquetWriter::new(Full, 1, Ids::RowNumbers).and_then(|writer| writer.finish());
        let error = error.map(|_| ()).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::StorageFull, "no space left")
        );
    }
}
