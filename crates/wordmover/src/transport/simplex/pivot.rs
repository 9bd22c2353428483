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
//! that they have found.

use super::NONE;
use super::sets::{each, holds, remove, set_mut, unite};
use super::tree::Tree;
use crate::transport::lanes::number;

/// The nearest common ancestor: one of the two, the other is [`NONE`].
#[derive(Clone, Copy)]
struct Join {
    source: u32,
    sink: u32,
}

enum Node {
    Source(usize),
    Sink(usize),
}

impl Tree<'_> {
    /// Lets in the arc from `source` to `sink`, of negative reduced cost. False if a path has no
    /// end: what is given is no tree.
    #[inline(always)]
    #[must_use]
    pub fn pivot(&mut self, source: usize, sink: usize, reduced: f64) -> bool {
        let words = self.moved.len();
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

        let leaves_sinks_path = sink_least <= source_least;
        let mass = if leaves_sinks_path {
            sink_least
        } else {
            source_least
        };
        if mass > 0.0 {
            self.climb_from_source(source, join, |tree, node| match node {
                Node::Source(at) => tree.source_flow[at] -= mass,
                Node::Sink(at) => tree.sink_flow[at] += mass,
            });
            self.climb_from_sink(sink, join, |tree, node| match node {
                Node::Source(at) => tree.source_flow[at] += mass,
                Node::Sink(at) => tree.sink_flow[at] -= mass,
            });
        }
        if leaves_sinks_path {
            self.rehang_by_sink(source, sink, sink_cut, mass, join, words);
            self.shift(reduced);
        } else {
            self.rehang_by_source(source, sink, source_cut, mass, join, words);
            self.shift(-reduced);
        }
        true
    }

    /// The subtree of `cut` moves to `source`, hung up by `sink`.
    #[inline(always)]
    fn rehang_by_sink(
        &mut self,
        source: usize,
        sink: usize,
        cut: usize,
        mass: f64,
        join: Join,
        words: usize,
    ) {
        self.moved
            .copy_from_slice(&self.sink_subtree[cut * words..][..words]);
        let old_parent = self.sink_parent[cut] as usize;
        self.climb_from_source(old_parent, join, |tree, node| tree.leave(node, words));
        self.climb_from_source(source, join, |tree, node| tree.enter(node, words));
        self.inner.fill(0);
        let (mut at, mut new_parent, mut flow) = (sink, source, mass);
        loop {
            let parent = std::mem::replace(&mut self.sink_parent[at], new_parent as u32) as usize;
            let old_flow = std::mem::replace(&mut self.sink_flow[at], flow);
            self.turn(Node::Sink(at), words);
            if at == cut {
                break;
            }
            let grandparent = self.parent_of(parent);
            self.source_parent[parent] = number(at);
            flow = std::mem::replace(&mut self.source_flow[parent], old_flow);
            self.source_cost[parent] = self.cost_of(parent, at);
            self.turn(Node::Source(parent), words);
            new_parent = parent;
            at = grandparent;
        }
    }

    /// The subtree of `cut` moves to `sink`, hung up by `source`.
    #[inline(always)]
    fn rehang_by_source(
        &mut self,
        source: usize,
        sink: usize,
        cut: usize,
        mass: f64,
        join: Join,
        words: usize,
    ) {
        self.moved
            .copy_from_slice(&self.source_subtree[cut * words..][..words]);
        let old_parent = self.parent_of(cut);
        self.climb_from_sink(old_parent, join, |tree, node| tree.leave(node, words));
        self.climb_from_sink(sink, join, |tree, node| tree.enter(node, words));
        self.inner.fill(0);
        let (mut at, mut new_parent, mut flow) = (source, sink, mass);
        loop {
            let parent = self.parent_of(at);
            self.source_parent[at] = number(new_parent);
            let old_flow = std::mem::replace(&mut self.source_flow[at], flow);
            self.source_cost[at] = self.cost_of(at, new_parent);
            self.turn(Node::Source(at), words);
            if at == cut {
                break;
            }
            let grandparent = std::mem::replace(&mut self.sink_parent[parent], at as u32) as usize;
            flow = std::mem::replace(&mut self.sink_flow[parent], old_flow);
            self.turn(Node::Sink(parent), words);
            new_parent = parent;
            at = grandparent;
        }
    }

    /// Adds to the dual values of the sinks that moved.
    #[inline(always)]
    fn shift(&mut self, by: f64) {
        each(self.moved, |sink| {
            self.duals[sink] = [self.duals[sink][0] + by; 4];
        });
    }

    /// The subtree of a node, and the two sets at hand.
    #[inline(always)]
    fn subtree(&mut self, node: Node, words: usize) -> (&mut [u64], &mut [u64], &mut [u64]) {
        let set = match node {
            Node::Source(at) => set_mut(self.source_subtree, words, at),
            Node::Sink(at) => set_mut(self.sink_subtree, words, at),
        };
        (set, self.moved, self.inner)
    }

    /// What moved is no longer below a node.
    #[inline(always)]
    fn leave(&mut self, node: Node, words: usize) {
        let (set, moved, _) = self.subtree(node, words);
        remove(set, moved);
    }

    /// What moved is now below a node.
    #[inline(always)]
    fn enter(&mut self, node: Node, words: usize) {
        let (set, moved, _) = self.subtree(node, words);
        unite(set, moved);
    }

    /// What was above on the stem is now below: all that moved but what was below the one
    /// before, whose old set is in `inner`.
    #[inline(always)]
    fn turn(&mut self, node: Node, words: usize) {
        let (set, moved, inner) = self.subtree(node, words);
        for ((word, moved), inner) in set.iter_mut().zip(moved).zip(inner) {
            (*word, *inner) = (*moved & !*inner, *word);
        }
    }

    /// Visits what is below the join on the path up from a source.
    #[inline(always)]
    fn climb_from_source(
        &mut self,
        source: usize,
        join: Join,
        mut visit: impl FnMut(&mut Self, Node),
    ) {
        let mut at = source;
        while at as u32 != join.source {
            visit(self, Node::Source(at));
            let parent = self.parent_of(at);
            if parent as u32 == join.sink {
                break;
            }
            visit(self, Node::Sink(parent));
            at = self.sink_parent[parent] as usize;
        }
    }

    /// Visits what is below the join on the path up from a sink.
    #[inline(always)]
    fn climb_from_sink(&mut self, sink: usize, join: Join, mut visit: impl FnMut(&mut Self, Node)) {
        let mut at = sink;
        while at as u32 != join.sink {
            visit(self, Node::Sink(at));
            let parent = self.sink_parent[at];
            if parent == join.source {
                break;
            }
            visit(self, Node::Source(parent as usize));
            at = self.parent_of(parent as usize);
        }
    }
}
