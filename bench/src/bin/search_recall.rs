//! How many of the exact nearest neighbours search by embedding finds, and how long
//! both take, as JSON: `search_recall CORPUS.tsv.gz EVERY FEATURES,...`.
//!
//! The corpus has a document a line, `split<TAB>label<TAB>text`: documents of the split
//! `train` are searched, every so many of `test` are the queries. Times are
//! those of the processor where the system tells (Linux), so that a busy machine does
//! less harm.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use serde_json::json;
use wordmover::{
    Document, EmbeddingIndex, EmbeddingParams, Neighbor, WmdIndex, WordMoversEmbedding,
    WordVectors, neighbors::SearchStatistics,
};

const K: usize = 10;

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, every, features] = &arguments[..] else {
        return Err("expected CORPUS.tsv.gz EVERY FEATURES,...".into());
    };
    let features = features.split(',').map(str::parse::<usize>);
    let features = features.collect::<Result<Vec<_>, _>>()?;
    let mut corpus = String::new();
    MultiGzDecoder::new(File::open(path)?).read_to_string(&mut corpus)?;
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for line in corpus.lines() {
        let mut fields = line.splitn(3, '\t');
        match (fields.next(), fields.nth(1)) {
            (Some("train"), Some(text)) => train.push(text),
            (Some("test"), Some(text)) => test.push(text),
            _ => {}
        }
    }
    let test: Vec<&str> = test.into_iter().step_by(every.parse()?).collect();
    let vectors = Arc::new(WordVectors::builtin());

    let mut exact: Option<Vec<Vec<Neighbor>>> = None;
    let mut rows = Vec::new();
    for n_features in features {
        let params = EmbeddingParams::default().n_features(n_features);
        let model = WordMoversEmbedding::fit(params, vectors.clone(), &train)?;
        let bag = |text: &&str| model.document(&model.word_counts(text));
        let documents: Vec<Document> = train.iter().map(bag).collect();
        let queries: Vec<Document> = test.iter().map(bag).filter(|q| !q.is_empty()).collect();
        let per_query = |start: Clock| start.elapsed().as_secs_f64() * 1e3 / queries.len() as f64;
        let exact = match &exact {
            Some(exact) => exact,
            None => {
                let index = WmdIndex::new(model.space().clone(), documents.clone())?;
                let mut work = SearchStatistics::default();
                let start = Clock::now();
                let found = index.search_batch(&queries, K, &mut |done| {
                    work += *done;
                    ControlFlow::Continue(())
                })?;
                let (time, solved) = (per_query(start), work.solved as f64 / queries.len() as f64);
                rows.push(json!(["exact", "all", 1.0, solved, time]));
                exact.insert(found)
            }
        };
        let index = EmbeddingIndex::new(model.clone(), documents.clone())?;
        for n_candidates in [10, 30, 100, 300, 1000] {
            let mut work = SearchStatistics::default();
            let start = Clock::now();
            let found = index.search_batch(&queries, K, n_candidates, &mut |done| {
                work += *done;
                ControlFlow::Continue(())
            })?;
            let time = per_query(start);
            let mut n_found = 0;
            for (found, exact) in found.iter().zip(exact) {
                // A document as near as the farthest of the exact ones is as good.
                let farthest = exact.last().map_or(0.0, |neighbor| neighbor.distance);
                n_found += found.iter().filter(|n| n.distance <= farthest).count();
            }
            let recall = n_found as f64 / exact.iter().map(Vec::len).sum::<usize>() as f64;
            let solved = work.solved as f64 / queries.len() as f64;
            rows.push(json!([n_features, n_candidates, recall, solved, time]));
        }
    }
    let (documents, queries) = (train.len(), test.len());
    let found = json!({"documents": documents, "queries": queries, "k": K, "rows": rows});
    println!("{found}");
    Ok(())
}

/// Time of the processor spent by all threads since the start, or else time on the wall.
struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    fn now() -> Self {
        Clock {
            wall: Instant::now(),
            processor: processor_time(),
        }
    }

    fn elapsed(&self) -> Duration {
        match (self.processor, processor_time()) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => self.wall.elapsed(),
        }
    }
}

/// The first number of a thread's `schedstat` are the nanoseconds it ran.
fn processor_time() -> Option<Duration> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = threads.map(|thread| {
        let told = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse::<u64>().ok()
    });
    Some(Duration::from_nanos(nanoseconds.sum::<Option<u64>>()?))
}
