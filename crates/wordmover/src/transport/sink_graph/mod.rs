//! The solver for few sinks: surplus moves along shortest paths in the graph of sinks.
//!
//! A basic optimal plan onto `m` sinks splits at most `m - 1` sources; every
//! other source goes whole to one sink. So the state worth keeping is which sources
//! each sink receives from, and the work worth doing is between sinks, of which
//! there are few.
//!
//! ```text
//! v[k]  <- the aim: weighted mean of column k, corrected twice
//! send every source i to argmin_k (C[i][k] - v[k])      optimal for its own loads
//! while some sink s holds more than its demand:
//!     r[j][k] = min over i at sink j of (C[i][k] - C[i][j]) + v[j] - v[k]  >= 0
//!     Dijkstra from s over r until the first sink t below its demand
//!     v[k] += dist[k] - dist[t]   for every sink nearer than t
//!     move along the path what s has too much, t too little, or the
//!     smallest piece on the way, whichever is least
//! ```
//!
//! Every step keeps each source on a sink of least `C[i][k] - v[k]`, which is
//! complementary slackness: when no surplus is left, the plan is optimal and `v`
//! proves it. The mean start removes the systematic difference between sinks;
//! starting from nearest sinks instead takes about one augmentation per source.
//!
//! It ends because sums are exact (see [`super::start`]): lengths are never negative, and
//! every augmentation moves at least one unit of the mass grid. Why sums fit: some sink is
//! below its demand until the end, its dual value is still the one of the start, and
//! every other is within twice the largest cost of it; so is every path length. That
//! leaves all of them below eight times the largest cost.
//!
//! The rows of `r` are made only when Dijkstra reaches their sink and kept until a
//! source leaves it. The number of sinks is known to the compiler, which unrolls the loops
//! over them; up to four, the plan is a dense table worked on four sources at a time,
//! beyond that, lists.

mod assign;
mod edges;
mod paths;

use super::TransportProblem;
use super::lanes::{Four, Simd};
use super::start::Given;
use super::workspace::{MOST_KNOWN_FOURS, Workspace};

/// No known problem needs more than a few augmentations per source and sink.
const AUGMENTATIONS_PER_POINT: usize = 10_000;

/// How often the aim is corrected. More would pay for more than 20 sinks, but little.
const CORRECTIONS: usize = 2;

/// Up to this many sinks the plan is a dense table.
const MOST_DENSE: usize = 4;

#[inline(always)]
pub(super) fn is_dense<const M: usize>() -> bool {
    M <= MOST_DENSE
}

/// Vectors of four for all sinks.
#[inline(always)]
const fn fours<const M: usize>() -> usize {
    M.div_ceil(4)
}

/// A piece of a source at a sink.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    pub mass: f64,
    /// Number of the source.
    pub source: u32,
}

/// The graph of `M` sinks, as the parts of a [`Workspace`] at hand.
struct Graph<'a, const M: usize> {
    n_sources: usize,
    masses: &'a [f64],
    columns: &'a [Four],
    /// The costs by sources, as many vectors each as the sinks take; infinite beyond the last.
    rows: &'a [Four],
    shares: &'a mut [Four],
    entries: &'a mut [Entry],
    /// Where the list of every sink ends.
    ends: &'a mut [u32; M],
    edge_cost: &'a mut [Four],
    edge_source: &'a mut [Four],
    /// One bit per sink.
    edges_known: u32,
    /// Load minus demand per sink.
    surplus: [f64; M],
    duals: [Four; MOST_KNOWN_FOURS],
}

impl Workspace {
    /// The optimal cost for `M` sinks, at least two.
    #[inline(always)]
    pub(super) fn solve_by_sink_graph<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        given: Given,
    ) -> Result<f64, TransportProblem> {
        let n = given.supply.len();
        let cost_grid = self.start::<S, M>(simd, given, CORRECTIONS);
        let n_blocks = n.div_ceil(4);
        let mut graph = Graph::<M> {
            n_sources: n,
            masses: &self.masses.as_flattened()[..n],
            columns: &self.columns[..n_blocks * M],
            rows: &[],
            shares: &mut self.shares[..n_blocks * M],
            entries: &mut self.entries[..n * M],
            ends: self
                .list_end
                .first_chunk_mut()
                .expect("room for every sink"),
            edge_cost: &mut self.edge_cost[..M * fours::<M>()],
            edge_source: &mut self.edge_source[..M * fours::<M>()],
            edges_known: 0,
            surplus: [0.0; M],
            duals: [[0.0; 4]; MOST_KNOWN_FOURS],
        };
        for k in 0..M {
            graph.duals[k / 4][k % 4] = cost_grid.round(self.aim[k][0]);
            graph.surplus[k] = -self.room[k];
        }
        if is_dense::<M>() {
            graph.assign_shares(simd);
        } else {
            let rows = &mut self.rows[..4 * n_blocks * fours::<M>()];
            graph.assign_lists(simd, rows);
            graph.rows = rows;
        }
        let solved = graph.balance(simd);
        let cost = graph.cost(simd);
        for k in 0..M {
            self.duals[k] = [graph.duals[k / 4][k % 4]; 4];
        }
        solved.map(|()| cost)
    }
}

impl<const M: usize> Graph<'_, M> {
    /// Moves all surplus where it is wanted.
    #[inline(always)]
    fn balance<S: Simd>(&mut self, simd: S) -> Result<(), TransportProblem> {
        let limit = AUGMENTATIONS_PER_POINT * (self.n_sources + M);
        let mut augmentations = 0;
        for sink in 0..M {
            while self.surplus[sink] > 0.0 {
                if augmentations == limit || !self.augment(simd, sink) {
                    return Err(TransportProblem::NotSolved {
                        steps: augmentations,
                        sources: self.n_sources,
                        sinks: M,
                    });
                }
                augmentations += 1;
            }
        }
        Ok(())
    }

    /// What the plan costs. Of the rounded costs, which differ from those given by 2^-47 of
    /// the largest at most, and are at hand.
    #[inline(always)]
    fn cost<S: Simd>(&self, simd: S) -> f64 {
        if is_dense::<M>() {
            let mut cost = simd.splat(0.0);
            for (column, share) in self.columns.iter().zip(&*self.shares) {
                cost = simd.add(cost, simd.mul(simd.load(column), simd.load(share)));
            }
            return simd.total(cost);
        }
        let mut cost = 0.0;
        for sink in 0..M {
            let list = &self.entries[sink * self.n_sources..self.ends[sink] as usize];
            for entry in list {
                let row = entry.source as usize * fours::<M>();
                cost += entry.mass * self.rows[row + sink / 4][sink % 4];
            }
        }
        cost
    }
}
