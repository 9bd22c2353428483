//! The bytes of bodies and answers that are held, counted and bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How many bytes all requests together hold.
#[derive(Clone)]
pub(crate) struct Memory {
    held: Arc<AtomicUsize>,
    limit: usize,
}

/// Bytes held by one request, given back when dropped.
pub(crate) struct Held {
    memory: Memory,
    n_bytes: usize,
}

impl Memory {
    pub fn new(limit: usize) -> Self {
        Memory {
            held: Arc::default(),
            limit,
        }
    }

    pub fn in_use(&self) -> usize {
        self.held.load(Relaxed)
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn nothing(&self) -> Held {
        Held {
            memory: self.clone(),
            n_bytes: 0,
        }
    }

    /// Holds bytes that are there already: an answer is not thrown away.
    pub fn holding(&self, n_bytes: usize) -> Held {
        self.held.fetch_add(n_bytes, Relaxed);
        Held {
            memory: self.clone(),
            n_bytes,
        }
    }
}

impl Held {
    /// Holds more; false if that is more than there may be.
    #[must_use]
    pub fn grow(&mut self, n_bytes: usize) -> bool {
        let before = self.memory.held.fetch_add(n_bytes, Relaxed);
        self.n_bytes += n_bytes;
        before + n_bytes <= self.memory.limit
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.held.fetch_sub(self.n_bytes, Relaxed);
    }
}
