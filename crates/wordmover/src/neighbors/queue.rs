//! The order in which documents are looked at, and the nearest found so far.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Neighbor;

/// Documents that are put in order first: so many at least ...
const LEAST_IN_ORDER: usize = 512;

/// ... and one of so many.
const SHARES_IN_ORDER: usize = 32;

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
    Loose,
    First,
    Second,
}

/// Documents still to be looked at; the least bound comes out first.
///
/// Most are never looked at: those with the least bounds are kept in order, the others wait
/// beside until these are used up.
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<(Ranked, Stage)>>,
    /// With loose bounds, all of them above `first_beside`, which is one of them.
    beside: Vec<Ranked>,
    first_beside: Option<Ranked>,
    /// How many come in order next.
    n_next: usize,
}

impl Queue {
    /// Documents with their loose bounds.
    pub fn new(bounded: Vec<Ranked>) -> Self {
        let first_beside = bounded.iter().min().copied();
        let n_next = LEAST_IN_ORDER.max(bounded.len() / SHARES_IN_ORDER);
        Queue {
            heap: BinaryHeap::new(),
            beside: bounded,
            first_beside,
            n_next,
        }
    }

    /// Documents in it.
    pub fn len(&self) -> usize {
        self.heap.len() + self.beside.len()
    }

    pub fn push(&mut self, ranked: Ranked, stage: Stage) {
        self.heap.push(Reverse((ranked, stage)));
    }

    pub fn pop(&mut self) -> Option<(Ranked, Stage)> {
        if let Some(beside) = self.first_beside
            && (self.heap.peek()).is_none_or(|Reverse((first, _))| *first >= beside)
        {
            self.put_in_order();
        }
        self.heap.pop().map(|Reverse(first)| first)
    }

    /// The bound of the document that comes out next; infinite if there is none.
    pub fn next_bound(&self) -> f64 {
        let first = self.heap.peek().map(|Reverse((first, _))| *first);
        let next = first.into_iter().chain(self.first_beside).min();
        next.map_or(f64::INFINITY, |next| next.distance)
    }

    fn put_in_order(&mut self) {
        let next = match self.n_next < self.beside.len() {
            true => {
                let (_, &mut first_beside, _) = self.beside.select_nth_unstable(self.n_next);
                self.first_beside = Some(first_beside);
                self.beside.drain(..self.n_next)
            }
            false => {
                self.first_beside = None;
                self.beside.drain(..)
            }
        };
        let next = next.map(|ranked| Reverse((ranked, Stage::Loose)));
        self.heap.extend(next);
        self.n_next *= 2;
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_out_in_order_whatever_is_put_back() {
        let bound = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 20);
        let ranked = |index: u32, distance: f64| Ranked { distance, index };
        let bounded = (0..5000).map(|i| ranked(i, bound(i))).collect();
        let mut queue = Queue::new(bounded);
        let mut out = Vec::new();
        while let Some((first, stage)) = queue.pop() {
            // Every third comes back once with a better bound.
            if stage == Stage::Loose && first.index % 3 == 0 {
                queue.push(ranked(first.index, first.distance + 100.0), Stage::First);
                continue;
            }
            assert!(first.distance <= queue.next_bound());
            out.push(first);
        }
        assert_eq!((out.len(), queue.len()), (5000, 0));
        assert!(out.is_sorted());
    }
}
