//! The order in which documents are looked at, and the nearest found so far.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Neighbor;

/// A document with its distance, or a bound of it: ordered by distance, then index.
#[derive(Clone, Copy)]
pub(super) struct Ranked {
    pub distance: f64,
    pub index: u32,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let distances = self.distance.total_cmp(&other.distance);
        distances.then_with(|| self.index.cmp(&other.index))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// Which bound a document waits with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    First,
    Second,
}

/// Documents still to be looked at; the least bound comes out first.
pub(super) type Queue = BinaryHeap<Reverse<(Ranked, Stage)>>;

/// The nearest documents found so far, the farthest of them on top.
pub(super) struct Best {
    k: usize,
    heap: BinaryHeap<Ranked>,
}

impl Best {
    pub fn new(k: usize) -> Self {
        Best {
            k,
            heap: BinaryHeap::with_capacity(k + 1),
        }
    }

    /// What a document has to reach to be among them.
    pub fn distance(&self) -> f64 {
        match self.heap.peek() {
            Some(farthest) if self.heap.len() == self.k => farthest.distance,
            _ => f64::INFINITY,
        }
    }

    pub fn offer(&mut self, index: u32, distance: f64) {
        self.heap.push(Ranked { distance, index });
        if self.heap.len() > self.k {
            self.heap.pop();
        }
    }

    pub fn into_neighbors(self) -> Vec<Neighbor> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        let neighbors = sorted.map(|Ranked { distance, index }| Neighbor {
            index: index as usize,
            distance,
        });
        neighbors.collect()
    }
}
