//! One pivot: the entering arc joins the tree, the leaving arc is cut out of it.
//!
//! The arc from `source` to `sink` closes a cycle with the paths from its ends up to
//! their join, the nearest common ancestor, which is a sink or a source. Mass sent along the
//! arc is taken from the sources' arcs on the source's path and from the sinks' arcs on the
//! sink's path, and added to the others. The arc that is empty first leaves, which cuts off a
//! subtree with one end of the entering arc in it; it is hung up by that end, so the
//! *stem* from there to the cut turns upside down.
//!
//! Of arcs that become empty together, the last one on the cycle leaves, seen from the
//! join in the direction of the entering arc: on the source's path the one nearest to the
//! source, unless one is on the sink's path, and there the one nearest to the join. This
//! keeps the tree strongly feasible.
//!
//! The two searches for the join count their steps. Everything after them walks the paths
//! that they have found, once: flows, sets and parents change on the way.

use super::NONE;
use super::sets::{BITS, copy, holds, remove, turn, unite};
use super::tree::Tree;
use crate::lanes::Simd;

/// The nearest common ancestor: one of the two, the other is [`NONE`].
#[derive(Clone, Copy)]
struct Join {
    source: u32,
    sink: u32,
}

/// What becomes of the subtrees on a path.
#[derive(Clone, Copy)]
enum Change {
    /// What moved is now below.
    Enters,
    /// What moved is no longer below.
    Leaves,
}

impl Tree<'_> {
    /// Lets in the arc from `source` to `sink`, of negative reduced cost. Sets take `W` words,
    /// or any number if that is 0. False if a path has no end: what is given is no tree.
    #[inline(always)]
    #[must_use]
    pub fn pivot<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        source: usize,
        sink: usize,
        reduced: f64,
    ) -> bool {
        let words = self.words::<W>();
        // No path passes a sink twice.
        let most = self.n_sinks();

        // Up from the source, to the join.
        let (mut source_least, mut source_cut) = (f64::INFINITY, source);
        let mut at = source;
        let mut steps = 0;
        let join = loop {
            if holds(self.source_subtree, words, at, sink) {
                let source = at as u32;
                break Join { source, sink: NONE };
            }
            if self.source_flow[at] < source_least {
                (source_least, source_cut) = (self.source_flow[at], at);
            }
            let parent = self.parent_of(at);
            if holds(self.sink_subtree, words, parent, sink) {
                let sink = parent as u32;
                break Join { source: NONE, sink };
            }
            steps += 1;
            if steps > most {
                return false;
            }
            at = self.sink_parent[parent] as usize;
        };
        // Up from the sink.
        let (mut sink_least, mut sink_cut) = (f64::INFINITY, sink);
        let mut at = sink;
        let mut steps = 0;
        while at as u32 != join.sink {
            if self.sink_flow[at] <= sink_least {
                (sink_least, sink_cut) = (self.sink_flow[at], at);
            }
            let parent = self.sink_parent[at];
            if parent == join.source {
                break;
            }
            steps += 1;
            if steps > most {
                return false;
            }
            at = self.parent_of(parent as usize);
        }

        if sink_least <= source_least {
            let mass = sink_least;
            let subtree = &self.sink_subtree[sink_cut * words..][..words];
            copy(&mut self.moved[..words], subtree);
            self.climb_from_source::<W>(source, join, mass, Change::Enters);
            let above = self.rehang_by_sink::<W>(source, sink, sink_cut, mass);
            self.climb_from_source::<W>(above, join, -mass, Change::Leaves);
            self.shift::<S, W>(simd, reduced);
        } else {
            let mass = source_least;
            let subtree = &self.source_subtree[source_cut * words..][..words];
            copy(&mut self.moved[..words], subtree);
            self.climb_from_sink::<W>(sink, join, mass, Change::Enters);
            let above = self.rehang_by_source::<W>(source, sink, source_cut, mass);
            self.climb_from_sink::<W>(above, join, -mass, Change::Leaves);
            self.shift::<S, W>(simd, -reduced);
        }
        true
    }

    /// The subtree of `cut` moves to `source`, hung up by `sink`. Returns its old parent.
    #[inline(always)]
    fn rehang_by_sink<const W: usize>(
        &mut self,
        source: usize,
        sink: usize,
        cut: usize,
        mass: f64,
    ) -> usize {
        let words = self.words::<W>();
        self.inner[..words].fill(0);
        let (mut at, mut new_parent, mut flow) = (sink, source, mass);
        loop {
            let parent = std::mem::replace(&mut self.sink_parent[at], new_parent as u32) as usize;
            let old_flow = std::mem::replace(&mut self.sink_flow[at], flow) - mass;
            turn(self.sink_subtree, words, at, self.moved, self.inner);
            if at == cut {
                return parent;
            }
            let grandparent = self.parent_of(parent);
            self.source_parent[parent] = at as u32;
            flow = std::mem::replace(&mut self.source_flow[parent], old_flow) + mass;
            self.source_cost[parent] = self.cost_of(parent, at);
            turn(self.source_subtree, words, parent, self.moved, self.inner);
            new_parent = parent;
            at = grandparent;
        }
    }

    /// The subtree of `cut` moves to `sink`, hung up by `source`. Returns its old parent.
    #[inline(always)]
    fn rehang_by_source<const W: usize>(
        &mut self,
        source: usize,
        sink: usize,
        cut: usize,
        mass: f64,
    ) -> usize {
        let words = self.words::<W>();
        self.inner[..words].fill(0);
        let (mut at, mut new_parent, mut flow) = (source, sink, mass);
        loop {
            let parent = self.parent_of(at);
            self.source_parent[at] = new_parent as u32;
            let old_flow = std::mem::replace(&mut self.source_flow[at], flow) - mass;
            self.source_cost[at] = self.cost_of(at, new_parent);
            turn(self.source_subtree, words, at, self.moved, self.inner);
            if at == cut {
                return parent;
            }
            let grandparent = std::mem::replace(&mut self.sink_parent[parent], at as u32) as usize;
            flow = std::mem::replace(&mut self.sink_flow[parent], old_flow) + mass;
            turn(self.sink_subtree, words, parent, self.moved, self.inner);
            new_parent = parent;
            at = grandparent;
        }
    }

    /// Adds to the dual values of the sinks that moved.
    #[inline(always)]
    fn shift<S: Simd, const W: usize>(&mut self, simd: S, by: f64) {
        let words = self.words::<W>();
        if W == 0 && (S::IS_MAIN || words > 2) {
            for (word, &moved) in self.moved[..words].iter().enumerate() {
                let mut rest = moved;
                while rest != 0 {
                    self.duals[word * 64 + rest.trailing_zeros() as usize] += by;
                    rest &= rest - 1;
                }
            }
            return;
        }
        // All of few sinks, without a branch.
        let by = simd.splat(by);
        let duals = self.duals.as_chunks_mut::<4>().0;
        for (duals, &moved) in duals.chunks_mut(16).zip(&self.moved[..words]) {
            let moved = simd.splat(f64::from_bits(moved));
            for (dual, bits) in duals.iter_mut().zip(&BITS) {
                let is_moved = simd.holds(moved, simd.load(bits));
                simd.store(simd.add(simd.load(dual), simd.keep(is_moved, by)), dual);
            }
        }
    }

    /// Takes mass from the sources' arcs below the join on the path up from a source, and adds it
    /// to the sinks'.
    #[inline(always)]
    fn climb_from_source<const W: usize>(
        &mut self,
        source: usize,
        join: Join,
        mass: f64,
        change: Change,
    ) {
        let mut at = source;
        while at as u32 != join.source {
            self.source_flow[at] -= mass;
            self.change_source::<W>(at, change);
            let parent = self.parent_of(at);
            if parent as u32 == join.sink {
                break;
            }
            self.sink_flow[parent] += mass;
            self.change_sink::<W>(parent, change);
            at = self.sink_parent[parent] as usize;
        }
    }

    /// Takes mass from the sinks' arcs below the join on the path up from a sink, and adds it to
    /// the sources'.
    #[inline(always)]
    fn climb_from_sink<const W: usize>(
        &mut self,
        sink: usize,
        join: Join,
        mass: f64,
        change: Change,
    ) {
        let mut at = sink;
        while at as u32 != join.sink {
            self.sink_flow[at] -= mass;
            self.change_sink::<W>(at, change);
            let parent = self.sink_parent[at];
            if parent == join.source {
                break;
            }
            let parent = parent as usize;
            self.source_flow[parent] += mass;
            self.change_source::<W>(parent, change);
            at = self.parent_of(parent);
        }
    }

    #[inline(always)]
    fn change_source<const W: usize>(&mut self, source: usize, change: Change) {
        let words = self.words::<W>();
        let set = &mut self.source_subtree[source * words..][..words];
        match change {
            Change::Enters => unite(set, &self.moved[..words]),
            Change::Leaves => remove(set, &self.moved[..words]),
        }
    }

    #[inline(always)]
    fn change_sink<const W: usize>(&mut self, sink: usize, change: Change) {
        let words = self.words::<W>();
        let set = &mut self.sink_subtree[sink * words..][..words];
        match change {
            Change::Enters => unite(set, &self.moved[..words]),
            Change::Leaves => remove(set, &self.moved[..words]),
        }
    }

    /// Words of a set.
    #[inline(always)]
    fn words<const W: usize>(&self) -> usize {
        if W > 0 { W } else { self.moved.len() }
    }
}
