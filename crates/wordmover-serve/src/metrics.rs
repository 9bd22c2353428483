//! What `/metrics` tells, in Prometheus' text format.
//!
//! Everything is counted in arrays of fixed size: no path, key or text that a client sends
//! becomes a label, so nothing here grows.

use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::router::Route;

const STATUSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
const SECONDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0,
];
const TEXTS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0, 2048.0];

/// Counters of the service.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: [[AtomicU64; STATUSES.len()]; Route::ALL.len()],
    latencies: [Histogram<{ SECONDS.len() }>; Route::ALL.len()],
    batch_texts: Histogram<{ TEXTS.len() }>,
    batch_requests: Histogram<{ TEXTS.len() }>,
    pub refused: AtomicU64,
    pub texts: AtomicU64,
    pub words: AtomicU64,
    pub panics: AtomicU64,
    pub reloads: AtomicU64,
    pub failed_reloads: AtomicU64,
    pub log_lines_lost: AtomicU64,
    pub connections: AtomicI64,
    pub connections_total: AtomicU64,
}

impl Metrics {
    pub fn request(&self, route: Route, status: u16, took: Duration) {
        let class = usize::from((status / 100).clamp(2, 5)) - 2;
        self.requests[route as usize][class].fetch_add(1, Relaxed);
        self.latencies[route as usize].observe(&SECONDS, took.as_secs_f64());
    }

    pub fn batch(&self, n_requests: usize, n_texts: usize) {
        self.batch_requests.observe(&TEXTS, n_requests as f64);
        self.batch_texts.observe(&TEXTS, n_texts as f64);
    }

    /// The page; `queue` and `memory` are how full these are.
    pub fn render(&self, queue: usize, memory: usize, uptime: Duration) -> String {
        let mut out = String::with_capacity(16 << 10);
        let mut plain = |name: &str, kind: &str, help: &str, value: String| {
            let _ = write!(
                out,
                "# HELP wordmover_{name} {help}\n# TYPE wordmover_{name} {kind}\nwordmover_{name} {value}\n"
            );
        };
        let of = |counter: &AtomicU64| counter.load(Relaxed).to_string();
        plain(
            "uptime_seconds",
            "gauge",
            "Seconds since the start.",
            uptime.as_secs_f64().to_string(),
        );
        plain(
            "queue_requests",
            "gauge",
            "Requests waiting or being worked on.",
            queue.to_string(),
        );
        plain(
            "memory_bytes",
            "gauge",
            "Bytes of bodies and answers held.",
            memory.to_string(),
        );
        plain(
            "connections",
            "gauge",
            "Open connections.",
            self.connections.load(Relaxed).to_string(),
        );
        plain(
            "connections_total",
            "counter",
            "Connections accepted.",
            of(&self.connections_total),
        );
        plain(
            "refused_total",
            "counter",
            "Requests refused because too many waited.",
            of(&self.refused),
        );
        plain(
            "texts_total",
            "counter",
            "Texts worked on.",
            of(&self.texts),
        );
        plain(
            "words_total",
            "counter",
            "Words of these texts.",
            of(&self.words),
        );
        plain(
            "panics_total",
            "counter",
            "Requests that failed inside the service.",
            of(&self.panics),
        );
        plain(
            "reloads_total",
            "counter",
            "Times the files were taken up anew.",
            of(&self.reloads),
        );
        plain(
            "failed_reloads_total",
            "counter",
            "Times that failed.",
            of(&self.failed_reloads),
        );
        plain(
            "log_lines_lost_total",
            "counter",
            "Log lines dropped because the reader was slow.",
            of(&self.log_lines_lost),
        );

        out += "# HELP wordmover_requests_total Requests by route and status.\n# TYPE wordmover_requests_total counter\n";
        for (route, counts) in Route::ALL.iter().zip(&self.requests) {
            for (status, count) in STATUSES.iter().zip(counts) {
                let count = count.load(Relaxed);
                if count > 0 {
                    let route = route.name();
                    let _ = writeln!(
                        out,
                        "wordmover_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
                    );
                }
            }
        }
        let name = "request_seconds";
        head(
            &mut out,
            name,
            "Seconds from the head of a request to its answer.",
        );
        for (route, histogram) in Route::ALL.iter().zip(&self.latencies) {
            if histogram.count.load(Relaxed) > 0 {
                histogram.render(
                    &mut out,
                    name,
                    &format!("route=\"{}\"", route.name()),
                    &SECONDS,
                );
            }
        }
        head(&mut out, "batch_texts", "Texts embedded together.");
        self.batch_texts.render(&mut out, "batch_texts", "", &TEXTS);
        head(&mut out, "batch_requests", "Requests embedded together.");
        self.batch_requests
            .render(&mut out, "batch_requests", "", &TEXTS);
        out
    }
}

fn head(out: &mut String, name: &str, help: &str) {
    let _ = write!(
        out,
        "# HELP wordmover_{name} {help}\n# TYPE wordmover_{name} histogram\n"
    );
}

struct Histogram<const N: usize> {
    buckets: [AtomicU64; N],
    count: AtomicU64,
    /// In millionths.
    sum: AtomicU64,
}

impl<const N: usize> Default for Histogram<N> {
    fn default() -> Self {
        Histogram {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            count: AtomicU64::new(0),
            sum: AtomicU64::new(0),
        }
    }
}

impl<const N: usize> Histogram<N> {
    fn observe(&self, bounds: &[f64; N], value: f64) {
        if let Some(at) = bounds.iter().position(|&bound| value <= bound) {
            self.buckets[at].fetch_add(1, Relaxed);
        }
        self.count.fetch_add(1, Relaxed);
        self.sum.fetch_add((value * 1e6) as u64, Relaxed);
    }

    fn render(&self, out: &mut String, name: &str, label: &str, bounds: &[f64; N]) {
        let comma = if label.is_empty() { "" } else { "," };
        let mut total = 0;
        for (bucket, bound) in self.buckets.iter().zip(bounds) {
            total += bucket.load(Relaxed);
            let _ = writeln!(
                out,
                "wordmover_{name}_bucket{{{label}{comma}le=\"{bound}\"}} {total}"
            );
        }
        // Counted after the buckets, so never less than these.
        let count = self.count.load(Relaxed).max(total);
        let sum = self.sum.load(Relaxed) as f64 / 1e6;
        let braces = if label.is_empty() {
            String::new()
        } else {
            format!("{{{label}}}")
        };
        let _ = writeln!(
            out,
            "wordmover_{name}_bucket{{{label}{comma}le=\"+Inf\"}} {count}"
        );
        let _ = writeln!(out, "wordmover_{name}_sum{braces} {sum}");
        let _ = writeln!(out, "wordmover_{name}_count{braces} {count}");
    }
}
