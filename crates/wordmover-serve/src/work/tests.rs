//! When a dispatcher reads and when it begins.

use std::time::Duration;

use super::*;
use crate::memory::Memory;
use crate::served::Sources;

/// Texts that were read, of the two tests.
static READ: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

fn read<const TEST: usize>(
    body: &[u8],
    served: &Served,
    limits: &Limits,
) -> ApiResult<EmbeddingRequest> {
    READ[TEST].fetch_add(1, Relaxed);
    crate::routes::embeddings::read(body, served, limits)
}

/// Work beside a small batch that never ends.
fn busy_work() -> Arc<Work> {
    let current = Arc::new(Current::default());
    current.set(Sources::default().load().unwrap());
    let work = Work::start(Limits::default(), current, Arc::default()).unwrap();
    work.lock().n_small_at_work = 1;
    work
}

/// The answers to so many requests.
fn ask(work: &Arc<Work>, n: usize, read: ReadRequest) -> std::thread::JoinHandle<Vec<bool>> {
    let work = work.clone();
    std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.build().unwrap();
        let memory = Memory::new(1 << 20);
        runtime.block_on(async {
            let mut asked: Vec<_> = (0..n)
                .map(|_| {
                    let bytes = Bytes::from_static(br#"{"input": "a president speaks"}"#);
                    let _held = memory.nothing();
                    let body = Body { bytes, _held };
                    Box::pin(work.embed(body, read))
                })
                .collect();
            // All are in the queue before the first is waited for.
            for request in &mut asked {
                let nothing = std::future::poll_fn(|context| {
                    let _ = request.as_mut().poll(context);
                    std::task::Poll::Ready(())
                });
                nothing.await;
            }
            let mut answers = Vec::new();
            for request in asked {
                answers.push(request.await.is_ok());
            }
            answers
        })
    })
}

fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "in half a minute"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn few_requests_are_read_while_they_wait_for_a_small_batch() {
    let work = busy_work();
    let answers = ask(&work, 3, read::<0>);
    wait_until(|| READ[0].load(Relaxed) == 3);
    assert!(!answers.is_finished(), "they wait for their turn");
    drop(Turn(&work));
    assert_eq!(answers.join().unwrap(), [true; 3]);
    work.close();
}

#[test]
fn a_batch_that_cannot_grow_begins_beside_another() {
    let work = busy_work();
    let answers = ask(&work, SMALL_CROWD, read::<1>);
    wait_until(|| answers.is_finished());
    assert_eq!(answers.join().unwrap(), [true; SMALL_CROWD]);
    assert_eq!(work.lock().n_small_at_work, 1);
    work.close();
}
