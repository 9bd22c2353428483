//! The spanning tree that is the plan, as the parts of a [`Workspace`] at hand.

use super::NONE;
use super::sets::{set_mut, unite, words};
use crate::transport::given::Given;
use crate::transport::lanes::Four;
use crate::transport::workspace::Workspace;

/// The slices are as long as the problem: those of sources `n_sources`, up to the next
/// multiple of four, those of sinks `n_sinks`.
pub(super) struct Tree<'a> {
    pub columns: &'a [Four],
    pub home: &'a mut [f64],
    pub home_flow: &'a mut [f64],
    pub home_cost: &'a mut [f64],
    pub below_source: &'a mut [u64],
    pub up: &'a mut [u32],
    pub up_flow: &'a mut [f64],
    pub below_sink: &'a mut [u64],
    pub duals: &'a mut [Four],
    pub moved: &'a mut [u64],
    pub inner: &'a mut [u64],
    /// While starting: all sinks but the root, in the order they were filled.
    pub full: &'a [u32],
}

impl<'a> Tree<'a> {
    #[inline(always)]
    pub fn of(workspace: &'a mut Workspace) -> Self {
        let m = workspace.n_sinks;
        let n_blocks = workspace.n_sources.div_ceil(4);
        let words = words(m);
        Tree {
            columns: &workspace.columns[..n_blocks * m],
            home: &mut workspace.home.as_flattened_mut()[..4 * n_blocks],
            home_flow: &mut workspace.home_flow.as_flattened_mut()[..4 * n_blocks],
            home_cost: &mut workspace.home_cost.as_flattened_mut()[..4 * n_blocks],
            below_source: &mut workspace.below_source[..4 * n_blocks * words],
            up: &mut workspace.up[..m],
            up_flow: &mut workspace.up_flow[..m],
            below_sink: &mut workspace.below_sink[..m * words],
            duals: &mut workspace.duals[..m],
            moved: &mut workspace.moved[..words],
            inner: &mut workspace.inner[..words],
            full: &workspace.full[..m - 1],
        }
    }

    /// Makes sets and dual values from the sources and flows above all sinks but the `root`.
    /// A sink was full before the home of the source that filled it: so much for the order.
    #[inline(always)]
    pub fn grow(&mut self, root: usize) {
        let words = words(self.n_sinks());
        self.below_source.fill(0);
        self.below_sink.fill(0);
        for sink in 0..self.n_sinks() {
            self.below_sink[sink * words + sink / 64] = 1 << (sink % 64);
        }
        for &sink in self.full {
            let up = self.up[sink as usize] as usize;
            let home = self.home_of(up);
            self.moved
                .copy_from_slice(&self.below_sink[sink as usize * words..][..words]);
            unite(set_mut(self.below_source, words, up), self.moved);
            unite(set_mut(self.below_sink, words, home), self.moved);
        }
        self.up[root] = NONE;
        self.up_flow[root] = 0.0;
        self.duals[root] = [0.0; 4];
        for &sink in self.full.iter().rev() {
            let up = self.up[sink as usize] as usize;
            let way = self.cost_of(up, sink as usize) - self.home_cost[up];
            self.duals[sink as usize] = [self.duals[self.home_of(up)][0] + way; 4];
        }
    }

    #[inline(always)]
    pub fn n_sinks(&self) -> usize {
        self.duals.len()
    }

    /// The cost of an entry, on the grid.
    #[inline(always)]
    pub fn cost_of(&self, source: usize, sink: usize) -> f64 {
        self.columns[source / 4 * self.n_sinks() + sink][source % 4]
    }

    #[inline(always)]
    pub fn home_of(&self, source: usize) -> usize {
        self.home[source].to_bits() as usize
    }

    /// What the plan costs.
    #[inline(always)]
    pub fn cost(&self, given: Given) -> f64 {
        let m = self.n_sinks();
        let mut from_up = 0.0;
        for sink in 0..m {
            let up = self.up[sink];
            if up != NONE {
                from_up += self.up_flow[sink] * given.cost(up as usize, sink);
            }
        }
        let n = given.supply.len();
        let mut to_home = 0.0;
        for (source, (home, flow)) in self.home.iter().zip(&*self.home_flow).take(n).enumerate() {
            let home = home.to_bits() as usize;
            let at = if given.is_turned {
                home * n + source
            } else {
                source * m + home
            };
            to_home += given.costs[at] * flow;
        }
        to_home + from_up
    }
}
