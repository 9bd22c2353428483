//! From a plan to a spanning tree.
//!
//! The arcs of a plan are taken one after the other. One that joins two trees is let in. One
//! that closes a cycle has mass moved round it, in the direction that saves, until an arc is
//! empty, and what is empty leaves. Trees that are left at the end are joined by arcs without
//! mass. These must have their source below, so a tree is hung up by the source that loses
//! least.
//!
//! Nodes are numbered: first the sources, then the sinks. The mass of a node's arc to its parent is
//! its flow.

use super::coarse::{two_best, width};
use super::{NONE, NetworkSimplex};
use crate::transport::lanes::Simd;

/// Trees of some nodes, the roots of which have no parent.
struct Forest<'a> {
    parent: &'a mut [u32],
    flow: &'a mut [f64],
    n_sources: usize,
}

impl NetworkSimplex {
    /// Makes one tree of the lots, rooted at a sink: `parent` and `flow` of all nodes, and their `order`, in which
    /// parents come first.
    #[inline(always)]
    pub(super) fn plant<S: Simd>(&mut self, simd: S, costs: &[f64]) {
        let (n, m) = (self.n_sources, self.n_sinks);
        let mut forest = Forest {
            parent: &mut self.parent[..n + m],
            flow: &mut self.flow[..n + m],
            n_sources: n,
        };
        forest.parent.fill(NONE);
        let is_alone = &mut self.is_alone[..n];
        is_alone.fill(true);
        for sink in 0..m {
            let mut at = self.first_lot[sink];
            let mut is_sink_alone = true;
            while at != NONE {
                let lot = self.lots[at as usize];
                let source = lot.source as usize;
                at = lot.next;
                // A node without arcs can be hung onto any other.
                if std::mem::take(&mut is_sink_alone) {
                    forest.hang(n + sink, source, lot.mass);
                } else if is_alone[source] {
                    forest.hang(source, n + sink, lot.mass);
                } else {
                    forest.add(costs, source, n + sink, lot.mass);
                }
                is_alone[source] = false;
            }
        }
        let n_trees = self.sort_nodes();
        if n_trees > 1 {
            self.join_trees(simd, n_trees);
            self.sort_nodes();
        }
        let root = self.order[0] as usize;
        if root < n {
            // A sink next to it becomes the root.
            let sink = self.order[1] as usize;
            self.parent[root] = sink as u32;
            self.flow[root] = self.flow[sink];
            self.parent[sink] = NONE;
            self.order.swap(0, 1);
        }
    }

    /// Puts the nodes into `order`: tree by tree, parents first. The number of trees.
    #[inline(always)]
    fn sort_nodes(&mut self) -> usize {
        let n_nodes = self.n_sources + self.n_sinks;
        let parent = &self.parent[..n_nodes];
        let (child, next) = (&mut self.child[..n_nodes], &mut self.next[..n_nodes]);
        let order = &mut self.order[..n_nodes];
        child.fill(NONE);
        for node in 0..n_nodes {
            if parent[node] != NONE {
                next[node] = std::mem::replace(&mut child[parent[node] as usize], node as u32);
            }
        }
        let (mut n_trees, mut end, mut at) = (0, 0, 0);
        for root in 0..n_nodes {
            if parent[root] != NONE {
                continue;
            }
            n_trees += 1;
            order[end] = root as u32;
            end += 1;
            while at < end {
                let mut node = child[order[at] as usize];
                while node != NONE {
                    order[end] = node;
                    end += 1;
                    node = next[node as usize];
                }
                at += 1;
            }
        }
        n_trees
    }

    /// Hangs all trees but the last onto others.
    #[cold]
    #[inline(never)]
    fn join_trees<S: Simd>(&mut self, simd: S, n_trees: usize) {
        let (n, m) = (self.n_sources, self.n_sinks);
        let w = width(m);
        let order = &self.order[..n + m];
        let mut forest = Forest {
            parent: &mut self.parent[..n + m],
            flow: &mut self.flow[..n + m],
            n_sources: n,
        };
        let duals = &mut self.coarse_duals[..w];
        // The tree of every node, and what every tree hangs on.
        let mut tree_of = vec![0; n + m];
        let mut starts = Vec::with_capacity(n_trees + 1);
        for (place, &node) in order.iter().enumerate() {
            if forest.parent[node as usize] == NONE {
                starts.push(place);
            }
            tree_of[node as usize] = starts.len() - 1;
        }
        starts.push(n + m);
        let mut hangs_on: Vec<usize> = (0..n_trees).collect();
        let last_of = |hangs_on: &[usize], mut tree: usize| {
            while hangs_on[tree] != tree {
                tree = hangs_on[tree];
            }
            tree
        };
        let mut open_duals = duals.to_vec();
        for tree in 0..n_trees - 1 {
            let nodes = &order[starts[tree]..starts[tree + 1]];
            for &node in nodes {
                if node as usize >= n {
                    open_duals.as_flattened_mut()[node as usize - n] = i16::MIN;
                }
            }
            let mut least = (i32::MAX, 0, 0);
            for &node in nodes {
                let source = node as usize;
                if source < n {
                    let row = &self.coarse[source * w..][..w];
                    let best = two_best(simd, row, &open_duals);
                    let here = two_best(simd, row, duals).least;
                    let lost = i32::from(best.least) - i32::from(here);
                    if lost < least.0 {
                        least = (lost, source, best.sink);
                    }
                }
            }
            let (_, source, sink) = least;
            let is_elsewhere =
                |&sink: &usize| sink < m && last_of(&hangs_on, tree_of[n + sink]) != tree;
            let sink = Some(sink).filter(is_elsewhere);
            // All others of the same tree: any sink elsewhere will do.
            let Some(sink) = sink.or_else(|| (0..m).find(is_elsewhere)) else {
                continue;
            };
            hangs_on[tree] = last_of(&hangs_on, tree_of[n + sink]);
            forest.hang(source, n + sink, 0.0);
            for &node in nodes {
                if node as usize >= n {
                    let sink = node as usize - n;
                    open_duals.as_flattened_mut()[sink] = duals.as_flattened()[sink];
                }
            }
        }
    }
}

impl Forest<'_> {
    /// Lets in mass from a source to a sink.
    #[inline(always)]
    fn add(&mut self, costs: &[f64], source: usize, sink: usize, mass: f64) {
        for (node, other) in [(source, sink), (sink, source)] {
            if self.parent[node] == other as u32 {
                self.flow[node] += mass;
                return;
            }
        }
        let (source_root, source_depth) = self.climb(source);
        let (sink_root, sink_depth) = self.climb(sink);
        if source_root != sink_root {
            if source_depth <= sink_depth {
                self.hang(source, sink, mass);
            } else {
                self.hang(sink, source, mass);
            }
            return;
        }
        // Where the paths join.
        let (mut a, mut b, mut depth) = (source, sink, source_depth.min(sink_depth));
        for _ in depth..source_depth {
            a = self.parent[a] as usize;
        }
        for _ in depth..sink_depth {
            b = self.parent[b] as usize;
        }
        while a != b {
            (a, b) = (self.parent[a] as usize, self.parent[b] as usize);
            depth -= 1;
        }
        let of_source = self.cycle(costs, source, source_depth - depth);
        let of_sink = self.cycle(costs, sink, sink_depth - depth);
        let cost = self.cost(costs, source, sink) + of_source.cost + of_sink.cost;
        // How much more goes by the new arc.
        let by = if cost < 0.0 {
            of_source.loses.min(of_sink.loses)
        } else {
            -mass.min(of_source.gains).min(of_sink.gains)
        };
        let is_cut = self.shift(source, source_depth - depth, by);
        self.shift(sink, sink_depth - depth, by);
        if mass + by > 0.0 {
            // The end that has been cut off.
            if is_cut {
                self.hang(source, sink, mass + by);
            } else {
                self.hang(sink, source, mass + by);
            }
        }
    }

    /// The root above a node, and how far.
    #[inline(always)]
    fn climb(&self, node: usize) -> (usize, usize) {
        let (mut at, mut depth) = (node, 0);
        while self.parent[at] != NONE {
            at = self.parent[at] as usize;
            depth += 1;
        }
        (at, depth)
    }

    /// Gives a node another parent: what was above it in its tree is below it now.
    #[inline(always)]
    fn hang(&mut self, node: usize, parent: usize, flow: f64) {
        let (mut at, mut above, mut flow) = (node, parent as u32, flow);
        loop {
            let old_above = std::mem::replace(&mut self.parent[at], above);
            let old_flow = std::mem::replace(&mut self.flow[at], flow);
            if old_above == NONE {
                break;
            }
            (above, flow) = (at as u32, old_flow);
            at = old_above as usize;
        }
    }

    /// The part of a cycle that goes up from one end of a new arc.
    #[inline(always)]
    fn cycle(&self, costs: &[f64], node: usize, n_steps: usize) -> Half {
        let mut half = Half {
            cost: 0.0,
            loses: f64::INFINITY,
            gains: f64::INFINITY,
        };
        let mut at = node;
        for step in 0..n_steps {
            let parent = self.parent[at] as usize;
            let cost = self.cost(costs, at, parent);
            if step % 2 == 0 {
                half.cost -= cost;
                half.loses = half.loses.min(self.flow[at]);
            } else {
                half.cost += cost;
                half.gains = half.gains.min(self.flow[at]);
            }
            at = parent;
        }
        half
    }

    /// Moves mass round that part of the cycle, and cuts off what is empty then. Whether that was any.
    #[inline(always)]
    fn shift(&mut self, node: usize, n_steps: usize, by: f64) -> bool {
        let (mut at, mut by) = (node, by);
        let mut is_cut = false;
        for _ in 0..n_steps {
            let parent = self.parent[at] as usize;
            self.flow[at] -= by;
            if self.flow[at] == 0.0 {
                self.parent[at] = NONE;
                is_cut = true;
            }
            by = -by;
            at = parent;
        }
        is_cut
    }

    /// The cost of the arc between two nodes.
    #[inline(always)]
    fn cost(&self, costs: &[f64], a: usize, b: usize) -> f64 {
        let n_sinks = self.parent.len() - self.n_sources;
        let (source, sink) = if a < b { (a, b) } else { (b, a) };
        costs[source * n_sinks + (sink - self.n_sources)]
    }
}

/// What goes up and down when a new arc gets mass: the cost of that, and the least flows of arcs
/// that lose then and of those that gain.
struct Half {
    cost: f64,
    loses: f64,
    gains: f64,
}
