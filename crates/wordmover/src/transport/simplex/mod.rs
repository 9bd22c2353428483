//! A network simplex of any size.
//!
//! A basic plan is a spanning tree of sources and sinks, whose arcs carry all mass. It is
//! rooted at a sink, so every source has a sink as its parent, and every sink but the root a
//! source; with few sinks most sources are leaves that send all they have to their
//! parent. Only the sinks keep dual values `v`; that of a source follows from its parent:
//! `u[i] = C[i][parent] - v[parent]`.
//!
//! ```text
//! aim   <- weighted mean of column k, improved once or twice        see `start`
//! place every source on the sink of least C[i][k] - aim[k] that has room,
//!     those with the most to lose first; a source that fills a sink goes on
//! v[k]  <- from the tree, starting with 0 at the root
//! loop:
//!     look at the sources in turn, four at a time, for arcs with
//!     C[i][k] - v[k] < u[i]; collect a few of them                 see `pricing`
//!     if there are none: the plan is optimal and v proves it
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

mod pivot;
mod place;
mod pricing;
mod sets;
mod start;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::TransportError;
use super::lanes::{Four, Simd};
use super::problem::Problem;
use super::workspace::grow;
use pricing::Candidates;
use sets::words;

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
    /// The costs on their grid, by blocks of four sources: `columns[block * n_sinks + sink]`.
    columns: Vec<Four>,
    /// The supplies on their grid, four to a block.
    masses: Vec<Four>,
    /// Dual value per sink, four times over.
    duals: Vec<Four>,

    /// The parent of every source (as [`super::lanes::number`]), and the flow and cost of the
    /// arc to it.
    source_parent: Vec<Four>,
    source_flow: Vec<Four>,
    source_cost: Vec<Four>,
    /// The parent of every sink, and the flow of the arc from it.
    sink_parent: Vec<u32>,
    sink_flow: Vec<f64>,
    /// The sinks in the subtree of every source, and of every sink, with itself.
    source_subtree: Vec<u64>,
    sink_subtree: Vec<u64>,
    /// The sinks that a pivot moves, and a set at hand.
    moved: Vec<u64>,
    inner: Vec<u64>,

    /// While starting: sums over the sources, dual values to aim by (four times over) and
    /// room left in every sink.
    sums: Vec<Four>,
    aim: Vec<Four>,
    room: Vec<f64>,
    /// Sinks that are filled, in the order they became so; lists of sources.
    filled: Vec<u32>,
    next: Vec<u32>,
}

impl NetworkSimplex {
    /// The optimal cost.
    #[inline(always)]
    pub(super) fn solve<S: Simd>(
        &mut self,
        simd: S,
        problem: Problem,
    ) -> Result<f64, TransportError> {
        let (n, m) = (problem.supply.len(), problem.demand.len());
        if n > self.fits.0 || m > self.fits.1 {
            self.make_room(n, m);
        }
        (self.n_sources, self.n_sinks) = (n, m);
        let corrections = match n {
            0..16 => 0,
            _ => 2,
        };
        self.start(simd, problem, corrections);
        let stop = self.stop.clone();
        let stop = stop.as_deref();
        let Some(mut tree) = self.place::<S>(simd) else {
            return Err(problem.not_solved(0));
        };
        let limit = PIVOTS_PER_NODE * (n + m);
        let mut pivots = 0;
        let mut candidates = Candidates::default();
        while candidates.find(simd, &tree) {
            if stop.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(TransportError::Interrupted);
            }
            let pivots_before = pivots;
            let mut is_tree = true;
            while let Some((source, sink, reduced)) = candidates.best(&tree) {
                is_tree &= tree.pivot(source, sink, reduced);
                pivots += 1;
            }
            // The best candidate of a search pays: sums are exact.
            if pivots == pivots_before || pivots > limit || !is_tree {
                return Err(problem.not_solved(pivots));
            }
        }
        Ok(tree.cost(problem))
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
        let (n_blocks, words) = (n.div_ceil(4), words(m));
        grow(&mut self.columns, n_blocks * m);
        grow(&mut self.masses, n_blocks);
        grow(&mut self.duals, m);
        grow(&mut self.source_parent, n_blocks);
        grow(&mut self.source_flow, n_blocks);
        grow(&mut self.source_cost, n_blocks);
        grow(&mut self.sink_parent, m);
        grow(&mut self.sink_flow, m);
        grow(&mut self.source_subtree, 4 * n_blocks * words);
        grow(&mut self.sink_subtree, m * words);
        grow(&mut self.moved, words);
        grow(&mut self.inner, words);
        grow(&mut self.sums, m);
        grow(&mut self.aim, m);
        grow(&mut self.room, m);
        grow(&mut self.filled, m);
        grow(&mut self.next, 4 * n_blocks);
    }

    /// Visits the plan of the problem solved last: source, sink and mass.
    pub(super) fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let parents = self.source_parent.as_flattened().iter();
        let flows = self.source_flow.as_flattened();
        for (source, (parent, &flow)) in parents.zip(flows).take(self.n_sources).enumerate() {
            visit(source, parent.to_bits() as usize, flow);
        }
        for sink in 0..self.n_sinks {
            if self.sink_parent[sink] != NONE {
                visit(self.sink_parent[sink] as usize, sink, self.sink_flow[sink]);
            }
        }
    }

    /// The dual values of the sinks.
    pub(super) fn sink_duals(&self) -> Vec<f64> {
        let duals = &self.duals[..self.n_sinks];
        duals.iter().map(|dual| dual[0]).collect()
    }
}
