//! A network simplex for few nodes, whose tree is kept in sets of 64 bits.
//!
//! A basic plan is a spanning tree of sources and sinks, and the simplex exchanges one of
//! its arcs after the other (see [`super::simplex`] for the algorithm, and for why it
//! ends). What takes time with few nodes is not the arithmetic but walking the
//! tree: branches that no processor foresees. Here there are next to none. The arcs of
//! the tree have numbers, and every node keeps the set of arcs on its path to the root
//! in one word:
//!
//! ```text
//! path[x]                                   arcs between node x and the root
//! cycle = path[i] ^ path[k]                 closed by the entering arc from i to k
//! of its arcs give mass those that point up on the path from i, down on that from k
//! the one with the least leaves, and the entering arc takes its number
//! for all nodes x with the leaving arc in path[x]:
//!     path[x] ^= cycle without that arc     they hang by the entering one now
//!     v[x] += what makes the entering arc's reduced cost zero
//! ```
//!
//! The last loop goes over all nodes, four at a time, without branches. Pricing is
//! complete: all arcs, and the one that saves most enters. A row of costs is a few
//! vectors, so that costs less than keeping candidates, and fewer pivots are needed.
//!
//! Nodes are numbered: first the sinks, up to the next multiple of four, then the sources.
//! Where sources start, see `order`; the first tree, see `place`; arithmetic is exact, see
//! [`super::problem`].

mod order;
mod pivot;
mod place;
mod pricing;

use super::compiled::{Compiled, Part};
use super::error::TransportError;
use super::lanes::{Four, Simd};
use super::problem::Problem;

/// Nodes, and arcs, that a word has bits for.
const MOST: usize = 64;
const GROUPS: usize = MOST / 4;
/// Vectors of four that sinks take at most.
const MOST_WIDTH: usize = 6;

/// No known problem needs more than one or two.
const PIVOTS_PER_NODE: usize = 1000;

/// The solver's memory.
#[derive(Debug, Default)]
pub(super) struct BitsetSimplex {
    n_sources: usize,
    n_sinks: usize,
    /// Costs on their grid by sources, in as many vectors each as the sinks take.
    rows: Vec<Four>,
    basis: Basis,
}

/// The solver for sinks that take `W` vectors of four, with its problem.
struct Vectors<'a, const W: usize> {
    solver: &'a mut BitsetSimplex,
    problem: Problem<'a>,
}

impl<const W: usize> Part for Vectors<'_, W> {
    type Output = Result<f64, TransportError>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        self.solver.solve_onto::<S, W>(simd, self.problem)
    }
}

/// The tree.
#[derive(Debug)]
struct Basis {
    /// Of every node the arcs between it and the root, as the bits of a number.
    paths: [Four; GROUPS],
    /// Dual value of every sink, and of every source the negative of it.
    potentials: [Four; GROUPS],
    /// Of every arc its flow and cost; and its ends, as nodes.
    flows: [Four; GROUPS],
    costs: [Four; GROUPS],
    sources: [u8; MOST],
    sinks: [u8; MOST],
    /// The arcs whose source is the end farther from the root.
    source_below: u64,
    /// Vectors of four that the sinks take.
    width: usize,
}

impl Default for Basis {
    fn default() -> Self {
        Basis {
            paths: [[0.0; 4]; GROUPS],
            potentials: [[0.0; 4]; GROUPS],
            flows: [[0.0; 4]; GROUPS],
            costs: [[0.0; 4]; GROUPS],
            sources: [0; MOST],
            sinks: [0; MOST],
            source_below: 0,
            width: 0,
        }
    }
}

/// Whether the nodes fit.
pub(super) fn has_room(n_sources: usize, n_sinks: usize) -> bool {
    let width = n_sinks.div_ceil(4);
    width <= MOST_WIDTH && n_sources <= MOST - 4 * width
}

impl BitsetSimplex {
    /// The optimal cost of a problem that [has room](has_room).
    #[inline(always)]
    pub(super) fn solve<S: Compiled>(
        &mut self,
        simd: S,
        problem: Problem,
    ) -> Result<f64, TransportError> {
        let solver = self;
        match problem.demand.len().div_ceil(4) {
            1 => simd.call(Vectors::<1> { solver, problem }),
            2 => simd.call(Vectors::<2> { solver, problem }),
            3 => simd.call(Vectors::<3> { solver, problem }),
            4 => simd.call(Vectors::<4> { solver, problem }),
            5 => simd.call(Vectors::<5> { solver, problem }),
            _ => simd.call(Vectors::<6> { solver, problem }),
        }
    }

    /// The optimal cost, for sinks that take `W` vectors of four.
    #[inline(always)]
    fn solve_onto<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        problem: Problem,
    ) -> Result<f64, TransportError> {
        let (n, m) = (problem.supply.len(), problem.demand.len());
        (self.n_sources, self.n_sinks) = (n, m);
        if self.rows.is_empty() {
            self.rows = vec![[0.0; 4]; MOST * MOST_WIDTH];
        }
        let basis = &mut self.basis;
        let rows = &mut self.rows[..n.next_multiple_of(4) * W];
        let mut order = [0; MOST];
        let mut preferred = [[0.0; 4]; GROUPS];
        let aim = basis.order::<S, W>(simd, problem, rows, &mut order, &mut preferred);
        let rows = &rows[..n * W];
        if !basis.place::<S, W>(simd, rows, aim, &order[..n], &preferred, m) {
            return Err(problem.not_solved(0));
        }
        let limit = PIVOTS_PER_NODE * (n + m);
        let mut pivots = 0;
        while let Some((source, sink, saved)) = basis.entering_arc::<S, W>(simd, rows) {
            let cost = rows.as_flattened()[source * 4 * W + sink];
            basis.pivot::<S, W>(simd, n, source, sink, saved, cost);
            pivots += 1;
            if pivots > limit {
                return Err(problem.not_solved(pivots));
            }
        }
        Ok(basis.cost(simd, n))
    }

    /// Visits the plan of the problem solved last: source, sink and mass.
    pub(super) fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let Basis {
            sources,
            sinks,
            flows,
            width,
            ..
        } = &self.basis;
        let first = 4 * width;
        for arc in (0..self.n_sinks).chain(first..first + self.n_sources) {
            let mass = flows.as_flattened()[arc];
            // The arc of the root, which has none, carries nothing.
            if mass > 0.0 {
                visit(sources[arc] as usize - first, sinks[arc] as usize, mass);
            }
        }
    }

    /// The dual values of the sinks.
    pub(super) fn sink_duals(&self) -> Vec<f64> {
        self.basis.potentials.as_flattened()[..self.n_sinks].to_vec()
    }
}

impl Basis {
    /// What the plan costs. Of the rounded costs, which differ from those given by 2^-46 of
    /// the largest at most, and are at hand.
    #[inline(always)]
    fn cost<S: Simd>(&self, simd: S, n: usize) -> f64 {
        let groups = ..self.width + n.div_ceil(4);
        let mut sum = simd.splat(0.0);
        for (flow, cost) in self.flows[groups].iter().zip(&self.costs[groups]) {
            sum = simd.add(sum, simd.mul(simd.load(flow), simd.load(cost)));
        }
        simd.total(sum)
    }
}
