//! The tree of few nodes, as sets of arcs.
//!
//! What takes time with few nodes is not the arithmetic but walking the tree: branches that no
//! processor foresees. So, as in [`super::super::bitset_simplex`], the arcs have numbers, and every
//! sink keeps the set of arcs on its path to the root; a source has its arc to its parent, and the
//! path of that. The path of the entering arc's source and that of its sink differ in the arcs of
//! the cycle, and all changes are exclusive ors of such sets (see `pivot`).
//!
//! The tree begins as stars: every sink with some of its sources, hung up by an *artificial* arc
//! of its own. The other lots of the auction enter one after the other (see `start`). Then the arc
//! that saves most by coarse costs enters, as long as it saves something by exact ones, too, and in
//! the end the one that saves most by exact costs (see `pricing`).
//!
//! Arcs are numbered: the artificial ones by their sinks, from 64 on those of the stars by their
//! sources. One that enters takes the number of the one that leaves.

mod pivot;
mod pricing;
mod start;

use super::coarse::width;
use super::{NetworkSimplex, PIVOTS_PER_NODE};
use crate::error::TransportError;
use crate::grid::Grid;
use crate::lanes::{Four, Simd, Sixteen};
use crate::problem::Problem;

/// Sources, and sinks, that there is room for.
const MOST: usize = 64;
const GROUPS: usize = MOST / 4;
const ARCS: usize = 2 * MOST;

/// Registers of sixteen that the sinks take at most.
const MOST_WIDTH: usize = MOST / 16;

/// A set of arcs.
type Arcs = u128;

/// The tree.
#[derive(Debug)]
pub(super) struct FewNodes {
    /// Of every sink the arcs between it and the root, as bits: the first 64, and the others.
    low: [Four; GROUPS],
    high: [Four; GROUPS],
    /// Dual value of every sink, and the same by coarse costs.
    duals: [Four; GROUPS],
    coarse_duals: [Sixteen; MOST_WIDTH],
    /// Of every source its parent, the number of the arc to it, and its coarse cost.
    parents: [u8; MOST],
    parent_arcs: [u8; MOST],
    parent_costs: [i16; MOST],
    /// Of every arc its flow and its ends.
    flows: [f64; ARCS],
    sources: [u8; ARCS],
    sinks: [u8; ARCS],
    /// The arcs whose source is the end farther from the root.
    source_below: Arcs,
    /// The arcs that are artificial: in the end that of the root.
    artificial: Arcs,
    n_sources: usize,
    n_sinks: usize,
}

impl Default for FewNodes {
    fn default() -> Self {
        FewNodes {
            low: [[0.0; 4]; GROUPS],
            high: [[0.0; 4]; GROUPS],
            duals: [[0.0; 4]; GROUPS],
            coarse_duals: [[0; 16]; MOST_WIDTH],
            parents: [0; MOST],
            parent_arcs: [0; MOST],
            parent_costs: [0; MOST],
            flows: [0.0; ARCS],
            sources: [0; ARCS],
            sinks: [0; ARCS],
            source_below: 0,
            artificial: 0,
            n_sources: 0,
            n_sinks: 0,
        }
    }
}

/// The costs by sources: as they are given, with their grid, and in 16 bits.
#[derive(Clone, Copy)]
struct Costs<'a> {
    given: &'a [f64],
    grid: Grid,
    coarse: &'a [Sixteen],
    n_sinks: usize,
}

impl Costs<'_> {
    /// On the grid.
    #[inline(always)]
    fn exact(&self, source: usize, sink: usize) -> f64 {
        self.grid.round(self.given[source * self.n_sinks + sink])
    }

    /// In 16 bits, where rows take `W` registers.
    #[inline(always)]
    fn coarse<const W: usize>(&self, source: usize, sink: usize) -> i16 {
        self.coarse.as_flattened()[source * 16 * W + sink]
    }
}

/// Whether the nodes fit. Fewer sinks than fill a register are other solvers'.
pub(super) fn has_room(n_sources: usize, n_sinks: usize) -> bool {
    n_sources <= MOST && (2..=MOST_WIDTH).contains(&width(n_sinks))
}

impl NetworkSimplex {
    /// The optimal cost, from the lots of the auction; rows of coarse costs take `W` registers.
    #[inline(always)]
    pub(super) fn solve_few<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        problem: Problem,
        costs: &[f64],
    ) -> Result<f64, TransportError> {
        let (n, m) = (self.n_sources, self.n_sinks);
        let limit = PIVOTS_PER_NODE * (n + m);
        if !self.grow_few::<S, W>(simd, costs) {
            return Err(problem.not_solved(0));
        }
        let costs = Costs {
            given: costs,
            grid: self.grid,
            coarse: &self.coarse[..n * W],
            n_sinks: m,
        };
        let tree = &mut self.few;
        let mut pivots = 0;
        // Half of the sources at a time: a few pivots more, but each is found in half of the time.
        // It ends when coarse costs find nothing, or what they find saves nothing by exact ones.
        let first_half = 0..n.div_ceil(2);
        let mut sources = first_half.clone();
        let mut n_halves_without = 0;
        while n_halves_without < 2 && pivots <= limit {
            let best = tree.coarse_best::<S, W>(simd, costs, sources.clone());
            sources = match sources.end < n {
                true => sources.end..n,
                false => first_half.clone(),
            };
            let Some((source, sink)) = best else {
                n_halves_without += 1;
                continue;
            };
            if !tree.pivot::<S, W>(simd, costs, source, sink) {
                break;
            }
            n_halves_without = 0;
            pivots += 1;
        }
        while let Some((source, sink)) = tree.exact_best(simd, costs) {
            pivots += 1;
            if !tree.pivot::<S, W>(simd, costs, source, sink) || pivots > limit {
                return Err(problem.not_solved(pivots));
            }
        }
        Ok(tree.cost(costs.given))
    }
}

impl FewNodes {
    /// The dual value of a source: what a unit of mass costs by the arc to its parent, less the dual
    /// value there.
    #[inline(always)]
    fn source_dual(&self, costs: Costs, source: usize) -> f64 {
        let parent = self.parents[source] as usize;
        costs.exact(source, parent) - self.duals.as_flattened()[parent]
    }

    /// What a unit of mass saves by an arc.
    #[inline(always)]
    fn saved(&self, costs: Costs, source: usize, sink: usize) -> f64 {
        let here = costs.exact(source, sink) - self.duals.as_flattened()[sink];
        self.source_dual(costs, source) - here
    }

    /// What the plan costs.
    #[inline(always)]
    fn cost(&self, costs: &[f64]) -> f64 {
        let mut cost = 0.0;
        for first in [0, MOST] {
            let n = if first == 0 {
                self.n_sinks
            } else {
                self.n_sources
            };
            let mut of_these = 0.0;
            for arc in first..first + n {
                let (source, sink) = (self.sources[arc] as usize, self.sinks[arc] as usize);
                of_these += self.flows[arc] * costs[source * self.n_sinks + sink];
            }
            cost += of_these;
        }
        cost
    }

    /// Visits the plan: source, sink and mass.
    pub(super) fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for arc in (0..self.n_sinks).chain(MOST..MOST + self.n_sources) {
            // An artificial arc carries nothing.
            if self.flows[arc] > 0.0 {
                visit(
                    self.sources[arc] as usize,
                    self.sinks[arc] as usize,
                    self.flows[arc],
                );
            }
        }
    }

    /// The dual values of the sinks.
    pub(super) fn sink_duals(&self) -> Vec<f64> {
        self.duals.as_flattened()[..self.n_sinks].to_vec()
    }
}
