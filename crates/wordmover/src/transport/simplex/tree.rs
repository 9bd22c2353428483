//! The spanning tree that is the plan, as slices of a [`NetworkSimplex`].

use super::sets::{set_mut, unite, words};
use super::{NONE, NetworkSimplex};
use crate::transport::lanes::Four;
use crate::transport::problem::Problem;

/// The slices are as long as the problem: those of sources `n_sources`, up to the next
/// multiple of four, those of sinks `n_sinks`.
pub(super) struct Tree<'a> {
    pub columns: &'a [Four],
    pub source_parent: &'a mut [f64],
    pub source_flow: &'a mut [f64],
    pub source_cost: &'a mut [f64],
    pub source_subtree: &'a mut [u64],
    pub sink_parent: &'a mut [u32],
    pub sink_flow: &'a mut [f64],
    pub sink_subtree: &'a mut [u64],
    pub duals: &'a mut [Four],
    pub moved: &'a mut [u64],
    pub inner: &'a mut [u64],
    /// While starting: all sinks but the root, in the order they were filled.
    pub filled: &'a [u32],
}

impl<'a> Tree<'a> {
    #[inline(always)]
    pub fn of(solver: &'a mut NetworkSimplex) -> Self {
        let m = solver.n_sinks;
        let n_blocks = solver.n_sources.div_ceil(4);
        let words = words(m);
        Tree {
            columns: &solver.columns[..n_blocks * m],
            source_parent: &mut solver.source_parent.as_flattened_mut()[..4 * n_blocks],
            source_flow: &mut solver.source_flow.as_flattened_mut()[..4 * n_blocks],
            source_cost: &mut solver.source_cost.as_flattened_mut()[..4 * n_blocks],
            source_subtree: &mut solver.source_subtree[..4 * n_blocks * words],
            sink_parent: &mut solver.sink_parent[..m],
            sink_flow: &mut solver.sink_flow[..m],
            sink_subtree: &mut solver.sink_subtree[..m * words],
            duals: &mut solver.duals[..m],
            moved: &mut solver.moved[..words],
            inner: &mut solver.inner[..words],
            filled: &solver.filled[..m - 1],
        }
    }

    /// Makes sets and dual values from the parents and flows of all sinks but the `root`.
    /// A sink was filled before the parent of the source that filled it, so children come
    /// first in that order.
    #[inline(always)]
    pub fn grow(&mut self, root: usize) {
        let words = words(self.n_sinks());
        self.source_subtree.fill(0);
        self.sink_subtree.fill(0);
        for sink in 0..self.n_sinks() {
            self.sink_subtree[sink * words + sink / 64] = 1 << (sink % 64);
        }
        for &sink in self.filled {
            let source = self.sink_parent[sink as usize] as usize;
            let grandparent = self.parent_of(source);
            self.moved
                .copy_from_slice(&self.sink_subtree[sink as usize * words..][..words]);
            unite(set_mut(self.source_subtree, words, source), self.moved);
            unite(set_mut(self.sink_subtree, words, grandparent), self.moved);
        }
        self.sink_parent[root] = NONE;
        self.sink_flow[root] = 0.0;
        self.duals[root] = [0.0; 4];
        for &sink in self.filled.iter().rev() {
            let source = self.sink_parent[sink as usize] as usize;
            let step = self.cost_of(source, sink as usize) - self.source_cost[source];
            self.duals[sink as usize] = [self.duals[self.parent_of(source)][0] + step; 4];
        }
    }

    #[inline(always)]
    pub fn n_sinks(&self) -> usize {
        self.duals.len()
    }

    /// The cost of an arc, on the grid.
    #[inline(always)]
    pub fn cost_of(&self, source: usize, sink: usize) -> f64 {
        self.columns[source / 4 * self.n_sinks() + sink][source % 4]
    }

    /// The parent of a source.
    #[inline(always)]
    pub fn parent_of(&self, source: usize) -> usize {
        self.source_parent[source].to_bits() as usize
    }

    /// What the plan costs.
    #[inline(always)]
    pub fn cost(&self, problem: Problem) -> f64 {
        let m = self.n_sinks();
        let mut of_sinks = 0.0;
        for sink in 0..m {
            let parent = self.sink_parent[sink];
            if parent != NONE {
                of_sinks += self.sink_flow[sink] * problem.cost(parent as usize, sink);
            }
        }
        let n = problem.supply.len();
        let mut of_sources = 0.0;
        let arcs = self.source_parent.iter().zip(&*self.source_flow);
        for (source, (parent, flow)) in arcs.take(n).enumerate() {
            let parent = parent.to_bits() as usize;
            let at = if problem.is_transposed {
                parent * n + source
            } else {
                source * m + parent
            };
            of_sources += problem.costs[at] * flow;
        }
        of_sources + of_sinks
    }
}
