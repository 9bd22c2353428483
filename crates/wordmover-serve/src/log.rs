//! Lines about requests, written by a thread of their own.
//!
//! A reader that does not read must not stop the service: what does not fit in the channel
//! is dropped and counted.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::metrics::Metrics;

/// Lines that may wait.
const WAITING: usize = 4096;

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LogFormat {
    /// Start, end, reloads and failures, as text.
    #[default]
    Events,
    /// These and every request, a JSON object a line.
    Json,
}

/// Takes the lines of the log.
pub type LogSink = Box<dyn Fn(&str) + Send>;

#[derive(Clone)]
pub(crate) struct Log {
    format: LogFormat,
    lines: SyncSender<Line>,
    metrics: Arc<Metrics>,
}

enum Line {
    Written(String),
    /// Everything before has been written.
    Flush(SyncSender<()>),
}

/// A request that was answered.
pub(crate) struct Answered<'a> {
    pub id: &'a str,
    pub method: &'a str,
    pub route: &'static str,
    pub status: u16,
    pub took: Duration,
    pub n_bytes: usize,
    pub error: Option<&'a str>,
}

impl Log {
    pub fn start(format: LogFormat, sink: LogSink, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let (lines, incoming) = sync_channel(WAITING);
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || {
                for line in incoming {
                    match line {
                        Line::Written(line) => sink(&line),
                        Line::Flush(done) => drop(done.send(())),
                    }
                }
            })?;
        Ok(Log {
            format,
            lines,
            metrics,
        })
    }

    pub fn event(&self, message: &str) {
        let line = match self.format {
            LogFormat::Events => message.to_owned(),
            LogFormat::Json => json!({ "time": now(), "event": message }).to_string(),
        };
        // Few and important: these wait.
        let _ = self.lines.send(Line::Written(line));
    }

    /// Waits until all lines are written.
    pub fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        let _ = self.lines.send(Line::Flush(done));
        let _ = is_done.recv();
    }

    pub fn request(&self, answered: &Answered) {
        if self.format != LogFormat::Json {
            return;
        }
        let line = json!({
            "time": now(),
            "request_id": answered.id,
            "method": answered.method,
            "route": answered.route,
            "status": answered.status,
            "milliseconds": answered.took.as_secs_f64() * 1e3,
            "bytes": answered.n_bytes,
            "error": answered.error,
        });
        if self
            .lines
            .try_send(Line::Written(line.to_string()))
            .is_err()
        {
            self.metrics.log_lines_lost.fetch_add(1, Relaxed);
        }
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_millis() as f64 / 1e3
}
