//! A network simplex of any size.
//!
//! A basic plan is a spanning tree of sources and sinks, whose arcs carry all mass. It is
//! rooted at a sink, so every source has a sink as its parent, and every sink but the root a
//! source; with few sinks most sources are leaves that send all they have to their
//! parent. Only the sinks keep dual values `v`; that of a source follows from its parent:
//! `u[i] = C[i][parent] - v[parent]`.
//!
//! ```text
//! round the costs to 16 bits                                       see `coarse`
//! let the sources bid for the sinks, by coarse costs               see `auction`
//! make a spanning tree of that plan                                see `forest`
//! v[k]  <- from the tree, starting at the root
//! loop:                                        with few nodes see `few` instead
//!     look at the sources in turn for arcs with C[i][k] - v[k] < u[i], by coarse costs
//!     until there are none; collect a few of them                  see `pricing`
//!     if there are none by exact costs: the plan is optimal and v proves it
//!     let them enter one after the other, best first, as long as they pay:
//!         each closes a cycle, mass is sent round it until one of its arcs is
//!         empty, and that one leaves the tree                      see `pivot`
//! ```
//!
//! What makes it end for every input is that there are no rounding errors. Costs and
//! masses are rounded once, to a grid so coarse that every sum the algorithm forms
//! is exact in double precision, and so fine that it does not matter: 2^-52 of the
//! total mass, and for the costs what leaves room for `4 m` times the largest, since a
//! dual value is a sum over a path past at most `m` sinks: 2^-48 of it for eight
//! sinks, 2^-42 for five hundred. So ties are seen as ties and
//! mass is conserved to the last bit. And the tree stays *strongly feasible*
//! (Cunningham, 1976): an arc without mass always has its source below its sink. Of
//! several arcs that become empty together the one that keeps it so leaves, and then no
//! tree can come back, ties or not.
//!
//! Every loop has a bound nevertheless: on a machine that calculates otherwise (see
//! [`crate::float_environment`]) a broken invariant is an error, not a hang.

mod auction;
mod coarse;
mod few;
mod forest;
mod pivot;
mod pricing;
mod sets;
mod start;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::compiled::{Compiled, Part};
use super::error::TransportError;
use super::grid::Grid;
use super::lanes::{Simd, Sixteen};
use super::problem::Problem;
use super::workspace::grow;
use auction::Lot;
use coarse::{by_width, width};
use pricing::Candidates;
use sets::words;
use tree::Tree;

/// No node: the parent of the root, or the end of a list.
const NONE: u32 = u32::MAX;

/// No known problem needs more than a few pivots per source and sink.
const PIVOTS_PER_NODE: usize = 1000;

/// The solver's memory.
#[derive(Debug, Default)]
pub(super) struct NetworkSimplex {
    n_sources: usize,
    n_sinks: usize,
    /// Ends a problem when it is set.
    stop: Option<Arc<AtomicBool>>,
    /// Sources and sinks that there is room for.
    fits: (usize, usize),
    /// Costs by sources where they were given sink by sink.
    turned: Vec<f64>,
    /// What costs are rounded to.
    grid: Grid,
    /// The masses on their grid.
    masses: Vec<f64>,

    /// Costs and dual values of the sinks in 16 bits; see `coarse`.
    coarse: Vec<Sixteen>,
    coarse_duals: Vec<Sixteen>,
    /// What is taken off the costs of every sink, and the units of what is left.
    base: Vec<f64>,
    units: f64,

    /// Dual value per sink, and zeros up to a multiple of sixteen.
    duals: Vec<f64>,
    /// The parent of every source, and the flow and cost of the arc to it.
    source_parent: Vec<u32>,
    source_flow: Vec<f64>,
    source_cost: Vec<f64>,
    /// The parent of every sink, and the flow of the arc from it.
    sink_parent: Vec<u32>,
    sink_flow: Vec<f64>,
    /// The sinks in the subtree of every source, and of every sink, with itself.
    source_subtree: Vec<u64>,
    sink_subtree: Vec<u64>,
    /// The sinks that a pivot moves, and a set at hand.
    moved: Vec<u64>,
    inner: Vec<u64>,

    /// While starting: room left in every sink and mass that no sink has yet; the lots, and the
    /// first of every sink; the sources that wait; dual values when the auction is over.
    room: Vec<f64>,
    free: Vec<f64>,
    lots: Vec<Lot>,
    first_lot: Vec<u32>,
    queue: Vec<u32>,
    prices: Vec<Sixteen>,
    /// The forest: see there. Sources that no arc has met yet; where the children of every node
    /// end, and all children.
    is_alone: Vec<bool>,
    parent: Vec<u32>,
    flow: Vec<f64>,
    child: Vec<u32>,
    next: Vec<u32>,
    order: Vec<u32>,
    /// The tree of few nodes, and whether it is that of the problem solved last.
    few: few::FewNodes,
    is_few: bool,
}

/// The solver with costs by sources, as parts of it are compiled.
struct Rows<'a> {
    solver: &'a mut NetworkSimplex,
    problem: Problem<'a>,
    costs: &'a [f64],
}

/// Costs by sources, from those given sink by sink.
struct Turn<'a>(Problem<'a>, &'a mut Vec<f64>);

/// Grids, and coarse costs.
struct Start<'a>(Rows<'a>);

/// A plan; rows of coarse costs take `W` registers, see [`by_width`].
struct Auction<'a, const W: usize>(&'a mut NetworkSimplex);

/// From that plan to the optimal one, with few nodes, and with many.
struct Few<'a, const W: usize>(Rows<'a>);
struct Many<'a>(Rows<'a>);

impl Part for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        turn(simd, self.0, self.1);
    }
}

impl Part for Start<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Rows {
            solver,
            problem,
            costs,
        } = self.0;
        solver.start(simd, costs, problem);
    }
}

impl<const W: usize> Part for Auction<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        self.0.hold_auction::<S, W>(simd)
    }
}

impl<const W: usize> Part for Few<'_, W> {
    type Output = Result<f64, TransportError>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let Rows {
            solver,
            problem,
            costs,
        } = self.0;
        solver.solve_few::<S, W>(simd, problem, costs)
    }
}

impl Part for Many<'_> {
    type Output = Result<f64, TransportError>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let Rows {
            solver,
            problem,
            costs,
        } = self.0;
        solver.solve_many(simd, problem, costs)
    }
}

impl NetworkSimplex {
    /// The optimal cost.
    #[inline(always)]
    pub(super) fn solve<S: Compiled>(
        &mut self,
        simd: S,
        problem: Problem,
    ) -> Result<f64, TransportError> {
        if !problem.is_by_sinks {
            return self.solve_rows(simd, problem, problem.costs);
        }
        let mut turned = std::mem::take(&mut self.turned);
        simd.call(Turn(problem, &mut turned));
        let solved = self.solve_rows(simd, problem, &turned);
        self.turned = turned;
        solved
    }

    /// The optimal cost, from costs source by source.
    #[inline(always)]
    fn solve_rows<S: Compiled>(
        &mut self,
        simd: S,
        problem: Problem,
        costs: &[f64],
    ) -> Result<f64, TransportError> {
        let (n, m) = (problem.supply.len(), problem.demand.len());
        if n > self.fits.0 || m > self.fits.1 {
            self.make_room(n, m);
        }
        (self.n_sources, self.n_sinks) = (n, m);
        self.is_few = few::has_room(n, m);
        simd.call(Start(Rows {
            solver: self,
            problem,
            costs,
        }));
        if !by_width!(S, width(m), W => simd.call(Auction::<W>(self))) {
            return Err(problem.not_solved(0));
        }
        let is_few = self.is_few;
        let rows = Rows {
            solver: self,
            problem,
            costs,
        };
        match width(m) {
            2 if is_few => simd.call(Few::<2>(rows)),
            3 if is_few => simd.call(Few::<3>(rows)),
            4 if is_few => simd.call(Few::<4>(rows)),
            _ => simd.call(Many(rows)),
        }
    }

    /// The optimal cost from the plan of the auction.
    #[inline(always)]
    fn solve_many<S: Simd>(
        &mut self,
        simd: S,
        problem: Problem,
        costs: &[f64],
    ) -> Result<f64, TransportError> {
        let (n, m) = (self.n_sources, self.n_sinks);
        self.plant(simd, costs);
        let stop = self.stop.clone();
        let stop = stop.as_deref();
        let mut tree = Tree::grow(self, costs);

        let limit = PIVOTS_PER_NODE * (n + m);
        let mut pivots = 0;
        let mut candidates = Candidates::new(m);
        while candidates.find(simd, &mut tree) {
            if stop.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(TransportError::Interrupted);
            }
            let pivots_before = pivots;
            let mut is_tree = true;
            while let Some((source, sink, reduced)) = candidates.best(simd, &tree) {
                let words = if S::IS_MAIN { words(m) } else { 0 };
                is_tree &= match words {
                    1 => tree.pivot::<S, 1>(simd, source, sink, reduced),
                    2 => tree.pivot::<S, 2>(simd, source, sink, reduced),
                    _ => tree.pivot::<S, 0>(simd, source, sink, reduced),
                };
                pivots += 1;
            }
            // Of exact candidates the best pays: sums are exact.
            let is_stuck = pivots == pivots_before && !candidates.become_exact();
            if is_stuck || pivots > limit || !is_tree {
                return Err(problem.not_solved(pivots));
            }
        }

        Ok(tree.cost())
    }

    /// A flag that ends a problem before its time.
    pub(super) fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.stop = Some(flag);
    }

    /// Only what is too short grows, so that memory is that of the largest problem.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize, m: usize) {
        self.fits = (n.max(self.fits.0), m.max(self.fits.1));
        let (n, m) = self.fits;
        let (w, words) = (width(m), words(m));
        grow(&mut self.masses, n);
        grow(&mut self.coarse, n * w);
        for shorts in [&mut self.coarse_duals, &mut self.prices] {
            grow(shorts, w);
        }
        grow(&mut self.base, 16 * w);
        for of_sources in [&mut self.source_flow, &mut self.source_cost, &mut self.free] {
            grow(of_sources, n);
        }
        grow(&mut self.duals, 16 * w);
        for of_sinks in [&mut self.sink_flow, &mut self.room] {
            grow(of_sinks, m);
        }
        grow(&mut self.source_parent, n);
        grow(&mut self.queue, n + 1);
        for of_sinks in [&mut self.sink_parent, &mut self.first_lot] {
            grow(of_sinks, m);
        }
        grow(&mut self.source_subtree, n * words);
        grow(&mut self.sink_subtree, m * words);
        grow(&mut self.moved, words);
        grow(&mut self.inner, words);
        grow(&mut self.parent, n + m);
        for of_nodes in [&mut self.child, &mut self.next, &mut self.order] {
            grow(of_nodes, n + m + 4);
        }
        grow(&mut self.is_alone, n);
        grow(&mut self.flow, n + m);
    }

    /// Visits the plan of the problem solved last: source, sink and mass.
    pub(super) fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        if self.is_few {
            return self.few.each_flow(visit);
        }
        let flows = self.source_parent.iter().zip(&self.source_flow);
        for (source, (&parent, &flow)) in flows.take(self.n_sources).enumerate() {
            visit(source, parent as usize, flow);
        }
        for sink in 0..self.n_sinks {
            if self.sink_parent[sink] != NONE {
                visit(self.sink_parent[sink] as usize, sink, self.sink_flow[sink]);
            }
        }
    }

    /// The dual values of the sinks.
    pub(super) fn sink_duals(&self) -> Vec<f64> {
        if self.is_few {
            return self.few.sink_duals();
        }
        self.duals[..self.n_sinks].to_vec()
    }
}

/// Costs source by source, from those given sink by sink.
#[inline(always)]
fn turn<S: Simd>(simd: S, problem: Problem, turned: &mut Vec<f64>) {
    let (n, m) = (problem.supply.len(), problem.demand.len());
    turned.clear();
    turned.resize(n * m, 0.0);
    for first in (0..n).step_by(4) {
        for sink in (0..m).step_by(4) {
            if first + 4 <= n && sink + 4 <= m {
                let column = |k| simd.load_at(problem.costs, (sink + k) * n + first);
                let rows = simd.transpose(column(0), column(1), column(2), column(3));
                for lane in 0..4 {
                    let row = turned[(first + lane) * m + sink..].first_chunk_mut();
                    simd.store(rows[lane], row.expect("four sinks"));
                }
                continue;
            }
            for source in first..n.min(first + 4) {
                for sink in sink..m.min(sink + 4) {
                    turned[source * m + sink] = problem.costs[sink * n + source];
                }
            }
        }
    }
}
