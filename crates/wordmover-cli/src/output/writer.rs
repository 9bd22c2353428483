//! Rows of embeddings into any of the formats.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, ensure};

use super::formats::{Ids, JsonLinesWriter, OutputFormat, RowIds, RowWriter};
use super::target::OutputFile;

/// Writes embeddings as they are computed.
///
/// [`EmbeddingWriter::finish`] makes the file appear; dropping the writer without it
/// leaves no file.
pub struct EmbeddingWriter {
    sink: Sink,
    /// What the output is called in messages.
    name: String,
    n_features: usize,
    ids: Ids,
    n_rows: u64,
}

enum Sink {
    File(Box<dyn RowWriter<OutputFile>>),
    Stream(Box<dyn RowWriter<Stream>>),
}

type Stream = BufWriter<Box<dyn Write + Send>>;

impl EmbeddingWriter {
    pub(super) fn to_file(
        file: OutputFile,
        format: &OutputFormat,
        n_features: usize,
        ids: Ids,
    ) -> Result<EmbeddingWriter> {
        let name = file.path().display().to_string();
        EmbeddingWriter::new(name, n_features, ids, || {
            Ok(Sink::File((format.start)(file, n_features, ids)?))
        })
    }

    /// Writes JSON lines to a stream, which sees the rows of every call at its end.
    pub(super) fn to_stream(
        stream: Box<dyn Write + Send>,
        name: &str,
        n_features: usize,
        ids: Ids,
    ) -> Result<EmbeddingWriter> {
        EmbeddingWriter::new(name.to_string(), n_features, ids, || {
            let stream = BufWriter::with_capacity(1 << 16, stream);
            Ok(Sink::Stream(Box::new(JsonLinesWriter::new(
                stream, n_features,
            ))))
        })
    }

    fn new(
        name: String,
        n_features: usize,
        ids: Ids,
        start: impl FnOnce() -> io::Result<Sink>,
    ) -> Result<EmbeddingWriter> {
        ensure!(
            n_features > 0,
            "cannot write {name}: embeddings of no features"
        );
        let sink = start().with_context(|| cannot_write(&name))?;
        Ok(EmbeddingWriter {
            sink,
            name,
            n_features,
            ids,
            n_rows: 0,
        })
    }

    /// Writes any number of whole rows, laid end to end.
    ///
    /// `ids` has one id for each row when the writer was made with [`Ids::Given`], and
    /// is absent otherwise. Fails, without writing, where that does not hold. A closed
    /// pipe is an [`io::Error`] of kind `BrokenPipe` in the error's chain.
    pub fn write_rows(&mut self, ids: Option<&[String]>, rows: &[f32]) -> Result<()> {
        ensure!(
            rows.len().is_multiple_of(self.n_features),
            "cannot write {}: {} numbers are no whole rows of {}",
            self.name,
            rows.len(),
            self.n_features
        );
        let n_rows = rows.len() / self.n_features;
        let ids = match (self.ids, ids) {
            (Ids::RowNumbers, None) => RowIds::Numbers(self.n_rows),
            (Ids::Given, Some(ids)) if ids.len() == n_rows => RowIds::Given(ids),
            (_, ids) => {
                let n_ids = ids.map_or(0, <[String]>::len);
                anyhow::bail!(
                    "cannot write {}: {n_ids} ids came with {n_rows} rows",
                    self.name
                )
            }
        };
        match &mut self.sink {
            Sink::File(writer) => writer.write_rows(ids, rows),
            Sink::Stream(writer) => writer.write_rows(ids, rows).and_then(|()| writer.flush()),
        }
        .with_context(|| cannot_write(&self.name))?;
        self.n_rows += n_rows as u64;
        Ok(())
    }

    /// Ends the output and gives a file its name. Returns the number of rows written.
    pub fn finish(self) -> Result<u64> {
        let finished = match self.sink {
            Sink::File(writer) => writer.finish().map(Some),
            Sink::Stream(writer) => writer.finish().map(|_| None),
        };
        if let Some(file) = finished.with_context(|| cannot_write(&self.name))? {
            file.commit()?;
        }
        Ok(self.n_rows)
    }
}

fn cannot_write(name: &str) -> String {
    format!("cannot write {name}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use tempfile::TempDir;

    use super::*;
    use crate::output::Destination;

    const SUFFIXES: [&str; 4] = ["npy", "parquet", "jsonl", "csv"];

    fn create(path: &Path, ids: Ids) -> EmbeddingWriter {
        Destination::new(Some(path), false)
            .unwrap()
            .create(2, ids)
            .unwrap()
    }

    fn names_in(directory: &TempDir) -> Vec<String> {
        let names = fs::read_dir(directory.path()).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_of_every_format_appears_at_the_end_with_all_rows() {
        for suffix in SUFFIXES {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(format!("docs.{suffix}"));
            let mut writer = create(&path, Ids::RowNumbers);
            writer
                .write_rows(None, &[0.5, 0.25, f32::NAN, f32::NAN])
                .unwrap();
            writer.write_rows(None, &[]).unwrap();
            writer.write_rows(None, &[1.0, 2.0]).unwrap();
            assert!(!path.exists());
            assert_eq!(writer.finish().unwrap(), 3);
            assert_eq!(names_in(&directory), [format!("docs.{suffix}")]);
            let bytes = fs::read(&path).unwrap();
            match suffix {
                "npy" => assert_eq!(bytes.len(), 128 + 3 * 2 * 4),
                "parquet" => assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")),
                "jsonl" => assert_eq!(
                    String::from_utf8(bytes).unwrap(),
                    "{\"id\":0,\"embedding\":[0.5,0.25]}\n{\"id\":1,\"embedding\":[null,null]}\n\
                     {\"id\":2,\"embedding\":[1.0,2.0]}\n"
                ),
                _ => assert_eq!(
                    String::from_utf8(bytes).unwrap(),
                    "id,f0,f1\n0,0.5,0.25\n1,NaN,NaN\n2,1.0,2.0\n"
                ),
            }
        }
    }

    #[test]
    fn no_rows_are_a_file_all_the_same() {
        for suffix in SUFFIXES {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(format!("docs.{suffix}"));
            assert_eq!(create(&path, Ids::RowNumbers).finish().unwrap(), 0);
            assert!(path.exists());
        }
    }

    #[test]
    fn a_dropped_writer_leaves_nothing() {
        for suffix in SUFFIXES {
            let directory = tempfile::tempdir().unwrap();
            let mut writer = create(
                &directory.path().join(format!("docs.{suffix}")),
                Ids::RowNumbers,
            );
            writer.write_rows(None, &[0.5; 20_000]).unwrap();
            drop(writer);
            assert!(names_in(&directory).is_empty(), "{suffix}");
        }
    }

    #[test]
    fn ids_must_be_as_announced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.csv");
        let ids = ["a".to_string(), "b".to_string()];
        let mut given = create(&path, Ids::Given);
        for (ids, rows, problem) in [
            (None, &[0.5, 0.5][..], "0 ids came with 1 rows"),
            (Some(&ids[..]), &[0.5, 0.5], "2 ids came with 1 rows"),
            (Some(&ids[..1]), &[0.5], "1 numbers are no whole rows of 2"),
        ] {
            assert_eq!(
                given.write_rows(ids, rows).unwrap_err().to_string(),
                format!("cannot write {}: {problem}", path.display())
            );
        }
        given.write_rows(Some(&ids), &[0.5, 0.5, 1.0, 1.0]).unwrap();
        assert_eq!(given.finish().unwrap(), 2);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "id,f0,f1\na,0.5,0.5\nb,1.0,1.0\n"
        );

        let mut numbered = create(&directory.path().join("other.csv"), Ids::RowNumbers);
        assert!(numbered.write_rows(Some(&ids[..1]), &[0.5, 0.5]).is_err());
    }

    #[test]
    fn embeddings_of_no_features_are_refused() {
        let error =
            EmbeddingWriter::to_stream(Box::new(io::sink()), "standard output", 0, Ids::RowNumbers);
        assert_eq!(
            error.map(|_| ()).unwrap_err().to_string(),
            "cannot write standard output: embeddings of no features"
        );
    }

    #[test]
    fn a_stream_sees_the_rows_of_every_call() {
        #[derive(Clone, Default)]
        struct Shared(Arc<Mutex<Vec<u8>>>);
        impl Write for Shared {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let shared = Shared::default();
        let mut writer = EmbeddingWriter::to_stream(
            Box::new(shared.clone()),
            "standard output",
            1,
            Ids::RowNumbers,
        )
        .unwrap();
        writer.write_rows(None, &[0.5]).unwrap();
        let seen = shared.0.lock().unwrap().clone();
        assert_eq!(seen, b"{\"id\":0,\"embedding\":[0.5]}\n");
        assert_eq!(writer.finish().unwrap(), 1);
    }

    #[test]
    fn a_closed_pipe_can_be_told_from_other_failures() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer =
            EmbeddingWriter::to_stream(Box::new(Closed), "standard output", 1, Ids::RowNumbers)
                .unwrap();
        let error = writer.write_rows(None, &[0.5]).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot write standard output: broken pipe"
        );
        let kinds = error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<io::Error>())
            .map(io::Error::kind);
        assert_eq!(kinds.collect::<Vec<_>>(), [io::ErrorKind::BrokenPipe]);
    }
}
