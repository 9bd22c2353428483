//! The work behind the answers: bounded, batched, and never on the threads of the network.
//!
//! Requests that embed texts wait in one queue. A dispatcher takes what has gathered there
//! while the batch before was worked on, whoever sent it, and embeds it in one go: nothing
//! is held back for a fuller batch, and under load batches grow by themselves. Of very many
//! requests a batch takes half, so that there is always work while the clients of the other half
//! read their answers and send their next requests.
//!
//! A second dispatcher reads the requests of the next batch meanwhile. It begins with it when that
//! cannot grow any more, or the first has only answers left to write: a thread that finds nothing
//! left to do in one batch goes on with the other. Batches that could have grown would share fewer
//! words, whose ground costs are computed once a batch. Beside a large batch the next begins at
//! once, so that a few texts need not wait for thousands. Everything else runs as a task of the
//! rayon pool. One number, the requests not yet answered, is bounded; there is no second limit that
//! could disagree with it.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use rayon::prelude::*;
use tokio::sync::oneshot;
use wordmover::Document;
use wordmover::document::WordCounts;

use crate::error::{ApiError, ApiResult};
use crate::limits::Limits;
use crate::memory::Held;
use crate::metrics::Metrics;
use crate::served::{Current, Served};

#[cfg(test)]
mod tests;

/// Two batches are worked on at once, and one gathers.
const DISPATCHERS: usize = 3;

/// Bytes of bodies beyond which a batch is large.
const SMALL_BATCH_BYTES: usize = 64 << 10;

/// Bytes of bodies in one batch, and one request more.
const BATCH_BYTES: usize = 512 << 10;

/// Bytes of a body that a dispatcher reads itself while it gathers; longer ones are left for all
/// threads.
const SHORT_BODY: usize = 4 << 10;

/// So many requests are always taken together.
const SMALL_CROWD: usize = 8;

/// The body of a request, and the memory it counts for.
pub(crate) struct Body {
    pub bytes: Bytes,
    pub _held: Held,
}

/// Texts to embed, and what to make of their rows.
pub(crate) struct EmbeddingRequest {
    pub texts: Vec<String>,
    /// What messages call the text of a number.
    pub name: fn(usize) -> String,
    pub finish: Finish,
}

/// The texts of a request, embedded.
pub(crate) struct Embedded<'a> {
    pub served: &'a Served,
    /// A row for each text.
    pub rows: &'a [f32],
    pub texts: &'a [EmbeddedText],
}

impl Embedded<'_> {
    pub fn n_words(&self) -> u64 {
        self.texts.iter().map(|text| text.n_words).sum()
    }
}

/// What there is to say of a text beside its embedding.
pub(crate) struct EmbeddedText {
    pub n_words: u64,
    pub is_empty: bool,
    /// Distinct words left out because there are too many.
    pub n_cut: usize,
}

/// Makes an answer of what was embedded.
pub(crate) type Finish = Box<dyn FnOnce(&Embedded) -> Vec<u8> + Send>;

/// Reads the request for some texts out of a body.
pub(crate) type ReadRequest = fn(&[u8], &Served, &Limits) -> ApiResult<EmbeddingRequest>;

struct Job {
    body: Body,
    read: ReadRequest,
    reply: oneshot::Sender<ApiResult<Vec<u8>>>,
    _permit: Permit,
}

/// The work of a service.
pub(crate) struct Work {
    queue: Mutex<Queue>,
    arrival: Condvar,
    /// Held by the dispatcher that gathers a batch, the only one that arrivals wake.
    gathering: Mutex<()>,
    unanswered: AtomicUsize,
    /// The most requests that were unanswered at once, lately.
    crowd: AtomicUsize,
    /// Microseconds a request takes, lately.
    pace: AtomicU64,
    limits: Limits,
    current: Arc<Current>,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Small batches that are being embedded: what comes meanwhile waits for them until it is
    /// enough for a batch.
    n_small_at_work: usize,
    is_closed: bool,
}

/// A place among the requests not yet answered.
struct Permit(Arc<Work>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.unanswered.fetch_sub(1, Relaxed);
    }
}

impl Work {
    pub fn start(
        limits: Limits,
        current: Arc<Current>,
        metrics: Arc<Metrics>,
    ) -> std::io::Result<Arc<Self>> {
        let work = Arc::new(Work {
            queue: Mutex::default(),
            arrival: Condvar::new(),
            gathering: Mutex::default(),
            unanswered: AtomicUsize::new(0),
            crowd: AtomicUsize::new(0),
            pace: AtomicU64::new(1000),
            limits,
            current,
            metrics,
        });
        for number in 0..DISPATCHERS {
            let work = work.clone();
            std::thread::Builder::new()
                .name(format!("dispatcher-{number}"))
                .spawn(move || work.dispatch())?;
        }
        Ok(work)
    }

    /// Requests waiting or being worked on.
    pub fn unanswered(&self) -> usize {
        self.unanswered.load(Relaxed)
    }

    /// The dispatchers end once the queue is empty.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.arrival.notify_one();
    }

    /// Embeds the texts that `read` finds in the body.
    pub async fn embed(self: &Arc<Self>, body: Body, read: ReadRequest) -> ApiResult<Vec<u8>> {
        let (reply, answer) = oneshot::channel();
        let job = Job {
            body,
            read,
            reply,
            _permit: self.permit()?,
        };
        self.lock().jobs.push_back(job);
        self.arrival.notify_one();
        answer.await.unwrap_or_else(|_| Err(self.failed()))
    }

    /// Runs a task with what is served now.
    pub async fn run(
        self: &Arc<Self>,
        body: Body,
        task: fn(&[u8], &Served, &Limits) -> ApiResult<Vec<u8>>,
    ) -> ApiResult<Vec<u8>> {
        let (reply, answer) = oneshot::channel();
        let (work, permit) = (self.clone(), self.permit()?);
        rayon::spawn_fifo(move || {
            // Nobody waits any more.
            if reply.is_closed() {
                return;
            }
            let start = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| {
                let served = work.current.get()?;
                task(&body.bytes, &served, &work.limits)
            }));
            work.keep_pace(start, 1);
            drop(body);
            // Before the answer is out: a client that has it may send the next request.
            drop(permit);
            if let Ok(result) = result {
                let _ = reply.send(result);
            }
        });
        answer.await.unwrap_or_else(|_| Err(self.failed()))
    }

    fn failed(&self) -> ApiError {
        self.metrics.panics.fetch_add(1, Relaxed);
        ApiError::internal("the request failed inside the service")
    }

    fn permit(self: &Arc<Self>) -> ApiResult<Permit> {
        let before = self.unanswered.fetch_add(1, Relaxed);
        let permit = Permit(self.clone());
        self.crowd.fetch_max(before + 1, Relaxed);
        if before < self.limits.queue {
            return Ok(permit);
        }
        self.metrics.refused.fetch_add(1, Relaxed);
        let message = format!(
            "{} requests wait already, the most there may be",
            self.limits.queue
        );
        let wait = before as u64 * self.pace.load(Relaxed) / 1_000_000;
        Err(ApiError::busy(message, (wait + 1).min(60)))
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dispatch(&self) {
        while let Some((batch, turn)) = self.next_batch() {
            let (start, n_jobs) = (Instant::now(), batch.n_jobs());
            // Replies that are dropped on the way tell their clients.
            let _ = catch_unwind(AssertUnwindSafe(|| self.embed_batch(batch, turn)));
            self.keep_pace(start, n_jobs);
        }
    }

    /// What has gathered when it may begin, and the turn of a small batch; waits for the first
    /// request.
    fn next_batch(&self) -> Option<(Batch, Option<Turn<'_>>)> {
        let gathering = self.gathering.lock();
        let _gathering = gathering.unwrap_or_else(PoisonError::into_inner);
        let mut queue = self.lock();
        while queue.jobs.is_empty() {
            if queue.is_closed {
                return None;
            }
            queue = self.wait(queue);
        }
        let crowd = self.crowd.load(Relaxed);
        self.crowd.store(crowd - crowd / 8, Relaxed);
        let most = crowd.div_ceil(2).max(SMALL_CROWD);
        let mut batch = Batch::default();
        loop {
            let mut short = Vec::new();
            while batch.n_bytes < BATCH_BYTES && batch.n_jobs() + short.len() < most {
                let Some(job) = queue.jobs.pop_front() else {
                    break;
                };
                batch.n_bytes += job.body.bytes.len();
                match job.body.bytes.len() <= SHORT_BODY {
                    true => short.push(job),
                    false => batch.jobs.push(job),
                }
            }
            let is_full = batch.n_bytes >= BATCH_BYTES || batch.n_jobs() + short.len() >= most;
            let is_alone = queue.n_small_at_work == 0;
            if is_full || is_alone {
                let is_small = batch.n_bytes <= SMALL_BATCH_BYTES;
                queue.n_small_at_work += usize::from(is_small);
                drop(queue);
                let turn = is_small.then(|| Turn(self));
                match is_alone {
                    true => batch.jobs.extend(short),
                    false => batch.prepare(short, self),
                }
                return Some((batch, turn));
            }
            if short.is_empty() {
                queue = self.wait(queue);
                continue;
            }
            drop(queue);
            batch.prepare(short, self);
            queue = self.lock();
        }
    }

    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        let woken = self.arrival.wait(queue);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_pace(&self, start: Instant, n_requests: usize) {
        let now = start.elapsed().as_micros() as u64 / n_requests.max(1) as u64;
        let before = self.pace.load(Relaxed);
        self.pace.store((7 * before + now) / 8, Relaxed);
    }

    fn embed_batch(&self, batch: Batch, turn: Option<Turn<'_>>) {
        let Batch {
            prepared,
            jobs: mut unread,
            ..
        } = batch;
        let current = self.current.get();
        let mut jobs = Vec::new();
        for (served, prepared) in prepared {
            // Read before the models were replaced: again with those of now.
            match &current {
                Ok(current) if Arc::ptr_eq(current, &served) => jobs.push(prepared),
                _ => unread.push(prepared.job),
            }
        }
        // Clients that have left need no answer.
        jobs.retain(|prepared: &Prepared| !prepared.job.reply.is_closed());
        unread.retain(|job| !job.reply.is_closed());
        let served = match current {
            Ok(served) => served,
            Err(error) => {
                unread
                    .into_iter()
                    .for_each(|job| job.answer(Err(error.clone())));
                return;
            }
        };
        jobs.par_extend(
            unread
                .into_par_iter()
                .filter_map(|job| Prepared::new(job, &served, &self.limits)),
        );
        let documents = jobs
            .iter_mut()
            .flat_map(|job| std::mem::take(&mut job.documents));
        let documents: Vec<Document> = documents.collect();
        self.metrics.batch(jobs.len(), documents.len());
        self.metrics
            .texts
            .fetch_add(documents.len() as u64, Relaxed);
        let n_words: u64 = jobs
            .iter()
            .flat_map(|job| &job.texts)
            .map(|text| text.n_words)
            .sum();
        self.metrics.words.fetch_add(n_words, Relaxed);

        let width = served.embedding.n_features();
        let mut rows = vec![0.0; documents.len() * width];
        let mut go_on = |_: &wordmover::embedding::EmbeddingStatistics| match jobs
            .iter()
            .all(|job| job.job.reply.is_closed())
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let embedded = served
            .embedding
            .embed_into(&documents, &mut rows, &mut go_on);
        if let Err(error) = embedded {
            let error = ApiError::from(error);
            jobs.into_iter()
                .for_each(|prepared| prepared.job.answer(Err(error.clone())));
            return;
        }
        // The next batch begins while the answers to this one are written. Few are written by this
        // thread: all others may be at work on that batch.
        let is_small = turn.is_some();
        drop(turn);
        let mut from = 0;
        let parts = jobs.into_iter().map(|job| {
            let to = from + job.texts.len() * width;
            let part = &rows[from..to];
            from = to;
            (job, part)
        });
        let answer = |(prepared, rows): (Prepared, &[f32])| {
            let Prepared {
                job, texts, finish, ..
            } = prepared;
            let embedded = Embedded {
                served: &served,
                rows,
                texts: &texts,
            };
            job.answer(Ok(finish(&embedded)));
        };
        match is_small {
            true => parts.for_each(answer),
            false => parts.collect::<Vec<_>>().into_par_iter().for_each(answer),
        }
    }
}

/// Requests that are embedded together.
#[derive(Default)]
struct Batch {
    /// Those that were read, and what was served then.
    prepared: Vec<(Arc<Served>, Prepared)>,
    /// Those that were not.
    jobs: Vec<Job>,
    n_bytes: usize,
}

impl Batch {
    fn n_jobs(&self) -> usize {
        self.prepared.len() + self.jobs.len()
    }

    /// Reads requests, by this thread.
    fn prepare(&mut self, jobs: Vec<Job>, work: &Work) {
        let Ok(served) = work.current.get() else {
            self.jobs.extend(jobs);
            return;
        };
        for job in jobs {
            if job.reply.is_closed() {
                continue;
            }
            // A panic drops the reply, which tells the client.
            let prepared = catch_unwind(AssertUnwindSafe(|| {
                Prepared::new(job, &served, &work.limits)
            }));
            if let Ok(Some(prepared)) = prepared {
                self.prepared.push((served.clone(), prepared));
            }
        }
    }
}

/// The turn of a small batch; the next has its turn when this is dropped.
struct Turn<'w>(&'w Work);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().n_small_at_work -= 1;
        self.0.arrival.notify_one();
    }
}

impl Job {
    fn answer(self, answer: ApiResult<Vec<u8>>) {
        // The place is free before the answer is out.
        drop(self._permit);
        let _ = self.reply.send(answer);
    }
}

/// A job whose texts were read and counted.
struct Prepared {
    job: Job,
    documents: Vec<Document>,
    texts: Vec<EmbeddedText>,
    finish: Finish,
}

impl Prepared {
    /// `None` if the job was answered: it cannot be done.
    fn new(job: Job, served: &Served, limits: &Limits) -> Option<Self> {
        let read = (job.read)(&job.body.bytes, served, limits);
        // A dispatcher that reads a short request must not wait for other threads.
        let is_short = job.body.bytes.len() <= SHORT_BODY;
        let counted = read.and_then(|request| {
            let count = |(index, text): (usize, &String)| {
                let counts = served.embedding.word_counts(text);
                check_words(&counts, limits, || (request.name)(index)).map(|()| counts)
            };
            let counts: ApiResult<Vec<WordCounts>> = match is_short {
                true => request.texts.iter().enumerate().map(count).collect(),
                false => request.texts.par_iter().enumerate().map(count).collect(),
            };
            Ok((counts?, request.finish))
        });
        let (counts, finish) = match counted {
            Ok(counted) => counted,
            Err(error) => {
                job.answer(Err(error));
                return None;
            }
        };
        let model = served.embedding.documents();
        let documents = match is_short {
            true => counts.iter().map(|counts| model.document(counts)).collect(),
            false => model.documents(&counts),
        };
        let pairs = documents.iter().zip(&counts);
        let texts = pairs.map(|(document, counts)| EmbeddedText {
            n_words: counts.n_known + counts.n_unknown,
            is_empty: document.is_empty(),
            n_cut: document.n_cut(),
        });
        Some(Prepared {
            texts: texts.collect(),
            documents,
            finish,
            job,
        })
    }
}

/// Refuses a text of too many words; `which` says which of them it is.
pub(crate) fn check_words(
    counts: &WordCounts,
    limits: &Limits,
    which: impl Fn() -> String,
) -> ApiResult<()> {
    let n_words = counts.n_known + counts.n_unknown;
    if n_words <= limits.words as u64 {
        return Ok(());
    }
    let (name, most) = (which(), limits.words);
    let message = format!("`{name}` has {n_words} words; a text may have {most}");
    Err(ApiError::field(name, message))
}
