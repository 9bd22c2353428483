//! From a plan to a spanning tree.
//!
//! The arcs of a plan are taken one after the other, sink by sink, those of sources that have none
//! yet first. One that joins two trees is let in. One
//! that closes a cycle has mass moved round it, in the direction that saves, until an arc is
//! empty, and what is empty leaves. Trees that are left at the end are joined by arcs without
//! mass. These must have their source below, so a tree is hung up by the source that loses
//! least.
//!
//! Nodes are numbered: first the sources, then the sinks. The mass of a node's arc to its parent is
//! its flow.

use super::coarse::{two_best, width};
use super::{NONE, NetworkSimplex};
use crate::lanes::Simd;

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
        // Where lots of a sink are put that join it to what has arcs already.
        let joining = &mut self.order[..n + m];
        for sink in 0..m {
            let mut at = self.first_lot[sink];
            // Whether nothing hangs on the sink but sources that had no arcs.
            let mut is_star = true;
            while at != NONE {
                let mut n_joining = 0;
                while at != NONE && n_joining < joining.len() {
                    let lot = self.lots[at as usize];
                    let source = lot.source as usize;
                    // A source without arcs can be hung onto any sink. Whether it is one nobody
                    // foresees: no branch.
                    let is_alone = std::mem::take(&mut is_alone[source]);
                    let (parent, flow) = (&mut forest.parent[source], &mut forest.flow[source]);
                    *parent = choose_bits(is_alone, (n + sink) as u64, u64::from(*parent)) as u32;
                    let flow_bits = choose_bits(is_alone, lot.mass.to_bits(), flow.to_bits());
                    *flow = f64::from_bits(flow_bits);
                    joining[n_joining] = at;
                    n_joining += usize::from(!is_alone);
                    at = lot.next;
                }
                for &at in &joining[..n_joining] {
                    let lot = self.lots[at as usize];
                    let source = lot.source as usize;
                    if is_star && forest.parent[source] != (n + sink) as u32 {
                        is_star = false;
                        forest.parent[n + sink] = source as u32;
                        forest.flow[n + sink] = lot.mass;
                    } else {
                        forest.add(costs, source, n + sink, lot.mass);
                    }
                }
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

    /// Puts the nodes into `order`, parents first: all roots, those below them, and so on. The
    /// number of trees.
    // Children lie side by side and are copied four at a time: to go through lists would be a
    // branch for every node that nobody foresees.
    #[inline(always)]
    fn sort_nodes(&mut self) -> usize {
        let n_nodes = self.n_sources + self.n_sinks;
        let parent = &self.parent[..n_nodes];
        // Roots are the children of one node more.
        let place_of = |parent: u32| (parent as usize).min(n_nodes);
        let ends = &mut self.child[..n_nodes + 1];
        let children = &mut self.next[..n_nodes + 4];
        let order = &mut self.order[..n_nodes + 4];
        ends.fill(0);
        for &parent in parent {
            ends[place_of(parent)] += 1;
        }
        let n_trees = ends[n_nodes] as usize;
        let mut end = 0;
        for start in &mut *ends {
            end += std::mem::replace(start, end);
        }
        for (node, &parent) in parent.iter().enumerate() {
            let end = &mut ends[place_of(parent)];
            children[*end as usize] = node as u32;
            *end += 1;
        }
        // Of each node the end of its children is known, which is where those of the next begin.
        order[..n_trees].copy_from_slice(&children[n_nodes - n_trees..n_nodes]);
        let mut end = n_trees;
        for at in 0..n_nodes {
            let node = order[at] as usize;
            let to = ends[node] as usize;
            let from = if node > 0 { ends[node - 1] as usize } else { 0 };
            if at >= end || end + (to - from) > n_nodes {
                // What is given has a cycle.
                return n_trees;
            }
            let mut copied = 0;
            loop {
                let four: [u32; 4] = *children[from + copied..].first_chunk().expect("four more");
                *order[end + copied..].first_chunk_mut().expect("four more") = four;
                copied += 4;
                if copied >= to - from {
                    break;
                }
            }
            end += to - from;
        }
        n_trees
    }

    /// Hangs all trees but the largest onto others.
    #[cold]
    #[inline(never)]
    fn join_trees<S: Simd>(&mut self, simd: S, n_trees: usize) {
        let (n, m) = (self.n_sources, self.n_sinks);
        let w = width(m);
        let mut forest = Forest {
            parent: &mut self.parent[..n + m],
            flow: &mut self.flow[..n + m],
            n_sources: n,
        };
        let duals = &mut self.coarse_duals[..w];
        // The tree of every node, the nodes of every tree, and what every tree hangs on.
        let mut tree_of = vec![0; n + m];
        let mut starts = vec![0; n_trees + 1];
        for (place, &node) in self.order[..n + m].iter().enumerate() {
            let parent = forest.parent[node as usize];
            let tree = if parent == NONE {
                place
            } else {
                tree_of[parent as usize]
            };
            tree_of[node as usize] = tree;
            starts[tree + 1] += 1;
        }
        for tree in 0..n_trees {
            starts[tree + 1] += starts[tree];
        }
        let mut by_tree = vec![0; n + m];
        let mut ends = starts.clone();
        for &node in &self.order[..n + m] {
            let end = &mut ends[tree_of[node as usize]];
            by_tree[*end] = node;
            *end += 1;
        }
        let order = by_tree;
        let mut hangs_on: Vec<usize> = (0..n_trees).collect();
        let last_of = |hangs_on: &[usize], mut tree: usize| {
            while hangs_on[tree] != tree {
                tree = hangs_on[tree];
            }
            tree
        };
        let mut open_duals = duals.to_vec();
        // The largest stays where it is: to hang one up, all its sources are asked.
        let largest = (0..n_trees).max_by_key(|&tree| starts[tree + 1] - starts[tree]);
        for tree in (0..n_trees).filter(|&tree| Some(tree) != largest) {
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
                    let best = two_best::<S, 0>(simd, row, &open_duals);
                    let here = two_best::<S, 0>(simd, row, duals).least;
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
        // Up to where the paths join.
        let (mut of_source, mut of_sink) = (Half::from(source), Half::from(sink));
        let depth = source_depth.min(sink_depth);
        for _ in depth..source_depth {
            self.step(costs, &mut of_source);
        }
        for _ in depth..sink_depth {
            self.step(costs, &mut of_sink);
        }
        while of_source.at != of_sink.at {
            self.step(costs, &mut of_source);
            self.step(costs, &mut of_sink);
        }
        let cost = self.cost(costs, source, sink) + of_source.cost + of_sink.cost;
        // How much more goes by the new arc.
        let by = if cost < 0.0 {
            of_source.loses.min(of_sink.loses)
        } else {
            -mass.min(of_source.gains).min(of_sink.gains)
        };
        let is_cut = self.shift(source, of_source.n_steps, by);
        self.shift(sink, of_sink.n_steps, by);
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

    /// Goes up one arc of a cycle.
    #[inline(always)]
    fn step(&self, costs: &[f64], half: &mut Half) {
        let parent = self.parent[half.at] as usize;
        let (cost, flow) = (self.cost(costs, half.at, parent), self.flow[half.at]);
        if half.n_steps.is_multiple_of(2) {
            half.cost -= cost;
            half.loses = half.loses.min(flow);
        } else {
            half.cost += cost;
            half.gains = half.gains.min(flow);
        }
        half.at = parent;
        half.n_steps += 1;
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

/// The part of a cycle that goes up from one end of a new arc: how far it has come, what it
/// costs that the new arc gets mass, and the least flows of arcs that lose then and of those that
/// gain.
struct Half {
    at: usize,
    n_steps: usize,
    cost: f64,
    loses: f64,
    gains: f64,
}

impl Half {
    #[inline(always)]
    fn from(node: usize) -> Self {
        Half {
            at: node,
            n_steps: 0,
            cost: 0.0,
            loses: f64::INFINITY,
            gains: f64::INFINITY,
        }
    }
}

/// One of two without a branch.
#[inline(always)]
fn choose_bits(is_first: bool, first: u64, second: u64) -> u64 {
    let all = u64::from(is_first).wrapping_neg();
    all & first | !all & second
}
