//! Work off the interpreter: without its lock, on our threads, and interruptible.
//!
//! A thread pool does not survive `fork()`: the child has the pool's memory but none of
//! its threads, and the first call would wait for ever. The pool is therefore kept with
//! the id of the process that made it, and made anew in any other.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use wordmover::float_environment::IeeeArithmetic;

use crate::errors::to_python;

/// How long the interpreter may stay deaf to an interrupt.
const PATIENCE: Duration = Duration::from_millis(50);

/// Variables that limit threads, the first that is set counts. Spark and joblib set
/// only the last.
const VARIABLES: [&str; 3] = [
    "WORDMOVER_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "OMP_NUM_THREADS",
];

struct Pool {
    process: u32,
    threads: Arc<ThreadPool>,
}

/// Locked only while attached to the interpreter and never while detaching from it. So
/// no thread can hold it while another forks, and no child finds it locked for ever.
static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// What [`set_num_threads`] was last given; 0 for nothing.
static CHOSEN: AtomicU64 = AtomicU64::new(0);

/// The pool of this process.
pub fn pool(_py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut slot = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let process = std::process::id();
    let wanted = num_threads();
    if let Some(pool) = &*slot
        && pool.process == process
        && pool.threads.current_num_threads() == wanted
    {
        return Ok(pool.threads.clone());
    }
    let threads = ThreadPoolBuilder::new()
        .num_threads(wanted)
        .thread_name(|index| format!("wordmover-{index}"))
        // Threads inherit the flags of the one that starts them; ours keep none of them.
        .start_handler(|_| std::mem::forget(IeeeArithmetic::enter()))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?;
    let threads = Arc::new(threads);
    let old = slot.replace(Pool {
        process,
        threads: threads.clone(),
    });
    if let Some(old) = old
        && old.process != process
    {
        // Its threads are in the parent: there is nobody to tell that it is over.
        std::mem::forget(old);
    }
    Ok(threads)
}

/// Leaves the pool to the work that runs on it, after which its threads end. The next
/// call gets threads of its own instead of waiting for work that nobody wants.
fn abandon_pool(_py: Python<'_>) {
    let mut slot = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if slot
        .as_ref()
        .is_some_and(|pool| pool.process == std::process::id())
    {
        *slot = None;
    }
}

fn num_threads() -> usize {
    let chosen = CHOSEN.load(Ordering::Relaxed) as usize;
    if chosen > 0 {
        return chosen;
    }
    let given = VARIABLES.iter().find_map(|name| {
        let number = std::env::var(name).ok()?.trim().parse().ok()?;
        (1..=4096).contains(&number).then_some(number)
    });
    given.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The number of threads that work is spread over.
#[pyfunction]
pub fn get_num_threads() -> usize {
    num_threads()
}

/// Sets the number of threads of this process; None: as the environment says
/// (WORDMOVER_NUM_THREADS, RAYON_NUM_THREADS, OMP_NUM_THREADS), or else one a core.
///
/// Results do not depend on it.
///
/// Parameters
/// ----------
/// n_threads : int or None
///     Between 1 and 4096.
///
/// Examples
/// --------
/// >>> import wordmover
/// >>> wordmover.set_num_threads(1)
/// >>> wordmover.get_num_threads()
/// 1
/// >>> wordmover.set_num_threads(None)
#[pyfunction]
#[pyo3(signature = (n_threads))]
pub fn set_num_threads(n_threads: Option<usize>) -> PyResult<()> {
    match n_threads {
        Some(n) if !(1..=4096).contains(&n) => Err(to_python(wordmover::Error::InvalidParameter {
            name: "n_threads",
            value: n.to_string(),
            requirement: "between 1 and 4096, or None",
        })),
        given => {
            CHOSEN.store(given.unwrap_or(0) as u64, Ordering::Relaxed);
            Ok(())
        }
    }
}

/// What the worker and the waiting caller tell each other.
#[derive(Default)]
pub struct Monitor {
    done: AtomicU64,
    is_cancelled: Arc<AtomicBool>,
}

impl Monitor {
    /// Set when nobody waits for the result any more.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.is_cancelled.clone()
    }

    /// Takes note of work done; breaks when nobody waits for the rest.
    pub fn advance(&self, n: u64) -> ControlFlow<()> {
        self.done.fetch_add(n, Ordering::Relaxed);
        if self.is_cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Runs `work` on the pool without the interpreter's lock.
///
/// An interrupt is answered at once. The work, which owns what it uses, is told to stop
/// when it next asks [`Monitor::advance`], and drops it all; its result goes nowhere.
/// `progress` is called with the work done so far, now and then and at the end.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Monitor) -> wordmover::Result<T> + Send + 'static,
) -> PyResult<T> {
    let monitor = Arc::new(Monitor::default());
    let (sender, receiver) = sync_channel(1);
    let worker = monitor.clone();
    pool(py)?.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&worker)));
        // Nobody listens after an interrupt.
        let _ = sender.send(result);
    });
    let mut said = 0;
    let mut say = || -> PyResult<()> {
        let done = monitor.done.load(Ordering::Relaxed);
        if let Some(progress) = progress
            && done > said
        {
            said = done;
            progress.call1((done,))?;
        }
        Ok(())
    };
    // The receiver is not Sync; it moves into the closure and back.
    let mut waiting = Some(receiver);
    loop {
        let receiver = waiting.take().expect("put back below");
        let (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(PATIENCE);
            (receiver, received)
        });
        match received {
            Ok(Ok(result)) => {
                say()?;
                return result.map_err(to_python);
            }
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the worker always answers"),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals().and_then(|()| say()) {
                    monitor.is_cancelled.store(true, Ordering::Relaxed);
                    abandon_pool(py);
                    return Err(interrupt);
                }
                waiting = Some(receiver);
            }
        }
    }
}

/// [`run`] for work on what the caller lends: nothing has to be copied, but the caller waits
/// after an interrupt until the work has stopped, so it must look at the monitor's flag often.
pub fn run_borrowed<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Monitor) -> wordmover::Result<T> + Send,
) -> PyResult<T> {
    let threads = pool(py)?;
    let monitor = Monitor::default();
    let wait = || {
        let (sender, receiver) = sync_channel(1);
        threads.in_place_scope(|scope| {
            let monitor = &monitor;
            scope.spawn(move |_| {
                let _ = sender.send(work(monitor));
            });
            let mut interrupt = None;
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(result) => return interrupt.map_or(Ok(result), Err),
                    // It panicked, which the scope passes on.
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyRuntimeError::new_err("the work panicked"));
                    }
                    Err(RecvTimeoutError::Timeout) if interrupt.is_none() => {
                        interrupt = Python::attach(|py| py.check_signals()).err();
                        let is_cancelled = interrupt.is_some();
                        monitor.is_cancelled.store(is_cancelled, Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    };
    py.detach(wait)?.map_err(to_python)
}
