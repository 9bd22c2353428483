//! Rows written while the next are computed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::writer::EmbeddingWriter;

/// An [`EmbeddingWriter`] on a thread of its own.
///
/// At most one call's rows wait to be written. Dropped without
/// [`finish`](Self::finish), it leaves no file.
pub struct BackgroundWriter {
    /// `None` once nothing more is to come.
    rows: Option<SyncSender<Rows>>,
    thread: Option<JoinHandle<Written>>,
    has_failed: Arc<AtomicBool>,
}

struct Rows {
    ids: Option<Vec<String>>,
    values: Vec<f32>,
}

struct Written {
    writer: Result<EmbeddingWriter>,
    spent: Duration,
}

impl BackgroundWriter {
    pub fn new(writer: EmbeddingWriter) -> Self {
        // Without a place to wait in: while these are written, only the next are kept.
        let (rows, received) = sync_channel(0);
        let has_failed = Arc::new(AtomicBool::new(false));
        let failing = Arc::clone(&has_failed);
        BackgroundWriter {
            rows: Some(rows),
            thread: Some(thread::spawn(move || {
                write_all(writer, &received, &failing)
            })),
            has_failed,
        }
    }

    /// Whether rows could not be written: the work may as well stop.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Hands rows over, once those before are written. Fails if those could not be.
    pub fn write_rows(&mut self, ids: Option<Vec<String>>, values: Vec<f32>) -> Result<()> {
        let sender = self.rows.as_ref().expect("open until finished");
        match sender.send(Rows { ids, values }) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.failure()),
        }
    }

    /// What went wrong, once something has.
    pub fn failure(&mut self) -> anyhow::Error {
        match self.join() {
            Some(Written {
                writer: Err(error), ..
            }) => error,
            _ => anyhow!("the rows could not be written"),
        }
    }

    /// Ends the output. Returns the number of rows and the time that writing took.
    pub fn finish(mut self) -> Result<(u64, Duration)> {
        let start = Instant::now();
        let Written { writer, spent } = self.join().expect("not finished before");
        let waited = start.elapsed();
        let n_rows = writer?.finish()?;
        Ok((n_rows, spent + start.elapsed() - waited))
    }

    fn join(&mut self) -> Option<Written> {
        self.rows = None;
        let thread = self.thread.take()?;
        match thread.join() {
            Ok(written) => Some(written),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for BackgroundWriter {
    fn drop(&mut self) {
        // An unfinished file is removed by its writer, on that thread: wait for it.
        self.rows = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(
    mut writer: EmbeddingWriter,
    received: &Receiver<Rows>,
    has_failed: &AtomicBool,
) -> Written {
    let mut spent = Duration::ZERO;
    for Rows { ids, values } in received {
        let start = Instant::now();
        let written = writer.write_rows(ids.as_deref(), &values);
        spent += start.elapsed();
        if let Err(error) = written {
            has_failed.store(true, Ordering::Relaxed);
            return Written {
                writer: Err(error),
                spent,
            };
        }
    }
    Written {
        writer: Ok(writer),
        spent,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use super::super::{Destination, Ids};
    use super::*;

    #[test]
    fn rows_come_in_order_and_the_file_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.csv");
        let destination = Destination::new(Some(&path), false).unwrap();
        let mut writer = BackgroundWriter::new(destination.create(1, Ids::Given).unwrap());
        for i in 0..100 {
            let ids = Some(vec![format!("a{i}"), format!("b{i}")]);
            writer.write_rows(ids, vec![i as f32, -1.0]).unwrap();
        }
        assert!(!path.exists());
        assert_eq!(writer.finish().unwrap().0, 200);
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = (0..100).map(|i| format!("a{i},{i}.0\nb{i},-1.0\n"));
        assert_eq!(text, format!("id,f0\n{}", expected.collect::<String>()));
    }

    #[test]
    fn dropped_it_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let destination = Destination::new(Some(&directory.path().join("docs.npy")), false);
        let writer = destination.unwrap().create(1, Ids::RowNumbers).unwrap();
        let mut writer = BackgroundWriter::new(writer);
        writer.write_rows(None, vec![0.5; 100_000]).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_failure_is_told_with_later_rows_or_at_the_end() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let closed = || {
            let ids = Ids::RowNumbers;
            let writer = EmbeddingWriter::to_stream(Box::new(Closed), "standard output", 1, ids);
            BackgroundWriter::new(writer.unwrap())
        };
        let mut writer = closed();
        writer.write_rows(None, vec![0.5]).unwrap();
        let error = writer.write_rows(None, vec![0.5]).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot write standard output: broken pipe"
        );
        assert!(writer.has_failed());

        let mut writer = closed();
        writer.write_rows(None, vec![0.5]).unwrap();
        let error = writer.finish().unwrap_err();
        assert!(crate::output::is_closed_pipe(&error));
    }
}
