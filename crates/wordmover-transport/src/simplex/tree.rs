//! The spanning tree that is the plan, as slices of a [`NetworkSimplex`].

use super::coarse::{round_duals, round_row, units, width};
use super::sets::words;
use super::{NONE, NetworkSimplex};
use crate::grid::Grid;
use crate::lanes::{Simd, Sixteen};

/// Arcs that tell how large reduced costs are.
const SAMPLE: usize = 512;

/// The slices are as long as the problem: those of sources `n_sources`, those of sinks
/// `n_sinks`.
pub(super) struct Tree<'a> {
    /// Costs by sources, as they were given.
    pub costs: &'a [f64],
    pub grid: Grid,
    pub coarse: &'a mut [Sixteen],
    pub coarse_duals: &'a mut [Sixteen],
    base: &'a mut [f64],
    units: f64,
    pub source_parent: &'a mut [u32],
    pub source_flow: &'a mut [f64],
    pub source_cost: &'a mut [f64],
    pub source_subtree: &'a mut [u64],
    pub sink_parent: &'a mut [u32],
    pub sink_flow: &'a mut [f64],
    pub sink_subtree: &'a mut [u64],
    /// As many as fill the registers of the coarse ones: zero beyond the sinks.
    pub duals: &'a mut [f64],
    pub moved: &'a mut [u64],
    pub inner: &'a mut [u64],
}

impl<'a> Tree<'a> {
    /// The tree of the `parent`s and flows of all nodes.
    #[inline(always)]
    pub fn grow(solver: &'a mut NetworkSimplex, costs: &'a [f64]) -> Self {
        let (n, m) = (solver.n_sources, solver.n_sinks);
        let (w, words) = (width(m), words(m));
        let order = &solver.order[..n + m];
        let root = order[0] as usize - n;
        let aim = match solver.units {
            0.0 => 0.0,
            units => f64::from(solver.coarse_duals.as_flattened()[root]) / units,
        };
        // A constant added to all dual values changes nothing. These are near their base.
        let root_dual = solver.grid.round(solver.base[root]) + solver.grid.round(aim);
        let mut tree = Tree {
            costs,
            grid: solver.grid,
            coarse: &mut solver.coarse[..n * w],
            coarse_duals: &mut solver.coarse_duals[..w],
            base: &mut solver.base[..16 * w],
            units: solver.units,
            source_parent: &mut solver.source_parent[..n],
            source_flow: &mut solver.source_flow[..n],
            source_cost: &mut solver.source_cost[..n],
            source_subtree: &mut solver.source_subtree[..n * words],
            sink_parent: &mut solver.sink_parent[..m],
            sink_flow: &mut solver.sink_flow[..m],
            sink_subtree: &mut solver.sink_subtree[..m * words],
            duals: &mut solver.duals[..16 * w],
            moved: &mut solver.moved[..words],
            inner: &mut solver.inner[..words],
        };
        let (parent, flow) = (&solver.parent[..n + m], &solver.flow[..n + m]);
        tree.source_flow.copy_from_slice(&flow[..n]);
        tree.sink_flow.copy_from_slice(&flow[n..]);
        tree.sink_parent.copy_from_slice(&parent[n..]);
        for source in 0..n {
            let sink = parent[source] as usize - n;
            tree.source_parent[source] = sink as u32;
            tree.source_cost[source] = tree.cost_of(source, sink);
        }
        // The sinks alone, in their order; without a branch that nobody would foresee.
        let sinks = &mut solver.child[..m + 1];
        let mut n_found = 0;
        for &node in order {
            sinks[n_found.min(m)] = node.wrapping_sub(n as u32);
            n_found += usize::from(node >= n as u32);
        }
        let sinks = &sinks[1..m];
        tree.duals[m..].fill(0.0);
        tree.duals[root] = root_dual;
        for &sink in sinks {
            let sink = sink as usize;
            let parent = tree.sink_parent[sink] as usize;
            tree.duals[sink] = tree.cost_of(parent, sink) - tree.source_dual(parent);
        }
        match words {
            1 => tree.find_subtrees::<1>(sinks),
            2 => tree.find_subtrees::<2>(sinks),
            _ => tree.find_subtrees::<0>(sinks),
        }
        tree
    }

    /// The sinks below every node, from the order of all sinks but the root: those above come
    /// first.
    #[inline(always)]
    fn find_subtrees<const W: usize>(&mut self, sinks: &[u32]) {
        let words = if W > 0 { W } else { self.moved.len() };
        self.source_subtree.fill(0);
        self.sink_subtree.fill(0);
        for sink in 0..self.n_sinks() {
            self.sink_subtree[sink * words + sink / 64] = 1 << (sink % 64);
        }
        for &sink in sinks.iter().rev() {
            let sink = sink as usize;
            let parent = self.sink_parent[sink] as usize;
            let above = self.parent_of(parent);
            for word in 0..words {
                let below = self.sink_subtree[sink * words + word];
                self.source_subtree[parent * words + word] |= below;
                self.sink_subtree[above * words + word] |= below;
            }
        }
    }

    #[inline(always)]
    pub fn n_sources(&self) -> usize {
        self.source_flow.len()
    }

    #[inline(always)]
    pub fn n_sinks(&self) -> usize {
        self.sink_flow.len()
    }

    /// The cost of an arc, on the grid.
    #[inline(always)]
    pub fn cost_of(&self, source: usize, sink: usize) -> f64 {
        self.grid.round(self.costs[source * self.n_sinks() + sink])
    }

    /// The parent of a source.
    #[inline(always)]
    pub fn parent_of(&self, source: usize) -> usize {
        self.source_parent[source] as usize
    }

    /// The dual value of a source.
    #[inline(always)]
    pub fn source_dual(&self, source: usize) -> f64 {
        self.source_cost[source] - self.duals[self.parent_of(source)]
    }

    /// What a unit of mass would cost more by an arc.
    #[inline(always)]
    pub fn reduced_cost(&self, source: usize, sink: usize) -> f64 {
        self.cost_of(source, sink) - self.duals[sink] - self.source_dual(source)
    }

    /// Rounds the dual values anew, after some have changed.
    #[inline(always)]
    pub fn round_duals<S: Simd>(&mut self, simd: S) {
        let duals = self.duals.as_chunks::<16>().0;
        let bases = self.base.as_chunks::<16>().0;
        for ((duals, base), coarse) in duals.iter().zip(bases).zip(&mut *self.coarse_duals) {
            round_duals(simd, duals, base, self.units, coarse);
        }
    }

    /// Makes coarse costs anew, from the dual values that there are now, in units of what
    /// most reduced costs are below. Outliers, or great differences that all plans pay alike, no longer count
    /// then. False if there are no differences left.
    #[inline(always)]
    pub fn choose_units<S: Simd>(&mut self, simd: S, finer: f64) -> bool {
        let (n, m) = (self.n_sources(), self.n_sinks());
        let step = (n * m).div_ceil(SAMPLE);
        let mut sample: Vec<f64> = (0..n * m)
            .step_by(step)
            .map(|at| self.reduced_cost(at / m, at % m).abs())
            .collect();
        sample.sort_unstable_by(f64::total_cmp);
        let great = sample[sample.len() * 7 / 8];
        let greatest = sample[sample.len() - 1];

        let spread = if great > 0.0 { great } else { greatest };
        self.units = units(spread * finer);
        self.base[..m].copy_from_slice(&self.duals[..m]);
        let rows = self.coarse.chunks_exact_mut(width(m));
        for (row, coarse) in self.costs.chunks_exact(m).zip(rows) {
            round_row::<S, true, true>(simd, row, self.grid, self.base, self.units, coarse);
        }
        self.units > 0.0
    }

    /// Whether a dual value may be too large for 16 bits.
    pub fn has_saturated(&self) -> bool {
        let duals = &self.coarse_duals.as_flattened()[..self.n_sinks()];
        duals
            .iter()
            .any(|&dual| dual == i16::MIN || dual == i16::MAX)
    }

    /// What the plan costs.
    #[inline(always)]
    pub fn cost(&self) -> f64 {
        let m = self.n_sinks();
        let mut of_sinks = 0.0;
        for sink in 0..m {
            let parent = self.sink_parent[sink];
            if parent != NONE {
                of_sinks += self.sink_flow[sink] * self.costs[parent as usize * m + sink];
            }
        }
        let mut of_sources = 0.0;
        for source in 0..self.n_sources() {
            let cost = self.costs[source * m + self.parent_of(source)];
            of_sources += cost * self.source_flow[source];
        }
        of_sources + of_sinks
    }
}
