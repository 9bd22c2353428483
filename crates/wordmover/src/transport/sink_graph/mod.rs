//! The solver for few sinks: surplus moves along shortest paths in the graph of sinks.
//!
//! A basic optimal plan onto `m` sinks splits at most `m - 1` sources; every
//! other source goes whole to one sink. So the state worth keeping is which sources
//! each sink receives from, and the work worth doing is between sinks, of which
//! there are few.
//!
//! ```text
//! p[i][k] = C[i][k] - C[i][0]                          what counts are differences
//! v[k]  <- the aim: weighted mean of p[.][k], corrected twice
//! every source i goes to the sink of least p[i][k] - v[k]       optimal for its own loads
//! those that prefer theirs by a wide margin stay there: put them aside
//! while some sink s holds more than its demand:
//!     r[j][k] = min over i at sink j of (p[i][k] - p[i][j]) + v[j] - v[k]  >= 0
//!     Dijkstra from s over r until the first sink t below its demand
//!     v[k] += dist[k] - dist[t]   for every sink nearer than t
//!     move along the path what s has too much, t too little, or the
//!     smallest piece on the way, whichever is least
//! if two dual values have moved apart by more than the margin: again from here, with nothing
//!     put aside
//! ```
//!
//! Every step keeps each source on a sink of least `p[i][k] - v[k]`, which is
//! complementary slackness: when no surplus is left, the plan is optimal and `v`
//! proves it. A source that is put aside keeps its sink as long as no two dual values
//! move apart by more than the margin, so the answer is as exact as without, and the loop has
//! half of the sources to look at.
//!
//! It ends because sums are exact (see [`super::given`]): lengths are never negative, and
//! every augmentation moves at least one unit of the mass grid. Why sums fit: let `P` be the
//! largest `|p|`. Dual values start within `P` of each other's zero, reduced costs within
//! `2 P`. Some sink is below its demand until the end, its dual value is still the
//! one of the start, and every other is within `2 P` of it; so is every path length. That
//! leaves all sums below `16 P`.
//!
//! The dual value of sink `k` starts `k` tags below a multiple of the cost grid, a tag being so
//! small that all of them are less than one unit. So no source prefers two sinks alike,
//! and the last bits of its least reduced cost tell which sink it is.
//!
//! The rows of `r` are made only when Dijkstra reaches their sink and kept until a
//! source leaves it. The number of sinks is known to the compiler, which unrolls the loops
//! over them.

mod assign;
mod edges;
mod paths;
mod start;

use super::TransportProblem;
use super::given::{Given, MASS_BITS, bits_to_number, demand_on_grid};
use super::grid::Grid;
use super::lanes::{Four, Simd};
use super::workspace::{MOST_KNOWN, Workspace};
use paths::Step;
use start::Aim;

/// No known problem needs more than a few augmentations per source and sink.
const AUGMENTATIONS_PER_POINT: usize = 10_000;

/// Bits of the tags below `P`. Five more are room for sums, and to find the tags by.
const TAG_BITS: i32 = 48;

/// How much of the estimated correction of the aim is applied, first and then. Measured on unit
/// vectors.
const STEPS: [f64; 2] = [0.9, 0.5];

/// The margin, in mean differences between best and second-best sink, times the root of sinks
/// over sources: so dual values move, on unit vectors. A wider one leaves more to look
/// at, a narrower one fails more often.
const MARGIN: f64 = 2.0;

/// With fewer sources for every sink nobody is put aside: dual values move too much.
const MANY: usize = 8;

/// The number of sinks besides the first.
#[inline(always)]
const fn others<const M: usize>() -> usize {
    M - 1
}

/// A piece of a source at a sink.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    mass: f64,
    /// Number of the source.
    source: u32,
}

impl Entry {
    /// Source, sink and mass.
    pub(super) fn flow(self, sink: usize) -> (usize, usize, f64) {
        (self.source as usize, sink, self.mass)
    }
}

/// What sources are assigned by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Start {
    grid: Grid,
    tags: Grid,
    duals: [f64; MOST_KNOWN],
    /// Infinite if nobody is put aside.
    margin: f64,
}

/// The graph of `M` sinks, in `W` vectors of four, as the parts of a [`Workspace`] at hand.
struct Graph<'a, const M: usize, const W: usize> {
    n_sources: usize,
    masses: &'a [f64],
    columns: &'a [Four],
    /// Reduced costs at the start by sources; infinite beyond the last sink.
    rows: &'a mut [[Four; W]],
    entries: &'a mut [Entry],
    /// Where the list of every sink ends.
    ends: &'a mut [u32; M],
    /// The cheapest way to move a source from one sink to another, and its place in the list.
    edge_cost: &'a mut [[Four; W]; M],
    edge_place: &'a mut [[Four; W]; M],
    /// One bit per sink.
    edges_known: u32,
    /// Load minus demand per sink.
    surplus: [f64; M],
    /// By how much the dual values have moved.
    duals: [Four; W],
    /// What augmentations have added to the cost, by reduced costs.
    added: f64,
}

impl Workspace {
    /// The optimal cost for `M` sinks, in `W` vectors of four.
    #[inline(always)]
    pub(super) fn solve_by_sink_graph<S: Simd, const M: usize, const W: usize>(
        &mut self,
        simd: S,
        given: Given,
    ) -> Result<f64, TransportProblem> {
        let n = given.supply.len();
        let mut total = 0.0;
        for k in 0..M {
            total += given.demand[k];
        }
        let mass_grid = Grid::below(total, MASS_BITS);
        let sums = self.compare_costs::<S, M>(simd, given, mass_grid);
        let largest = simd.most(sums.largest);
        let tags = Grid::below(largest, TAG_BITS);
        if tags.unit() == 0.0 {
            return self.solve_tiny(given);
        }
        let mass = simd.total(sums.mass);
        let demand: [f64; M] = demand_on_grid(given.demand, mass_grid, mass);
        let mut aim = Aim::default();
        for k in 1..M {
            aim.duals[k] = simd.total(sums.beyond[k]) / total;
        }
        self.correct::<S, M, true>(simd, given.demand, total, STEPS[0], &mut aim);
        self.correct::<S, M, false>(simd, given.demand, total, STEPS[1], &mut aim);
        let start = &mut self.start;
        start.tags = tags;
        start.grid = Grid::below(largest, TAG_BITS - bits_to_number(M));
        for k in 1..M {
            start.duals[k] = start.tagged(aim.duals[k].clamp(-largest, largest), k);
        }
        start.margin = f64::INFINITY;
        if n >= MANY * M {
            start.margin = MARGIN * aim.gap * (M as f64 / n as f64).sqrt();
        }
        let n_blocks = n.div_ceil(4);
        let mut graph = Graph::<M, W> {
            n_sources: n,
            masses: &self.masses.as_flattened()[..4 * n_blocks],
            columns: &self.columns[..n_blocks * others::<M>()],
            rows: &mut self.rows.as_chunks_mut().0[..4 * n_blocks],
            entries: &mut self.entries[..n * M],
            ends: first(&mut self.list_end),
            edge_cost: first(self.edge_cost.as_chunks_mut().0),
            edge_place: first(self.edge_place.as_chunks_mut().0),
            edges_known: 0,
            surplus: [0.0; M],
            duals: [[0.0; 4]; W],
            added: 0.0,
        };
        let mut cost = graph.assign(simd, start, &demand, mass);
        let mut solved = graph.balance(simd);
        if start.margin < f64::INFINITY
            && (solved.is_err() || !graph.has_moved_at_most(start.margin))
        {
            // Where it ended is closer to the truth than where it began.
            let moved = graph.duals.as_flattened();
            for k in 1..M {
                let dual = start.duals[k] + (moved[k] - moved[0]);
                start.duals[k] = start.tagged(dual.clamp(-largest, largest), k);
            }
            start.margin = f64::INFINITY;
            graph.edges_known = 0;
            graph.duals = [[0.0; 4]; W];
            graph.added = 0.0;
            cost = graph.assign(simd, start, &demand, mass);
            solved = graph.balance(simd);
        }
        // From reduced costs to costs: what every sink receives is its demand.
        cost += graph.added + simd.total(sums.first_cost);
        for k in 0..M {
            cost += demand[k] * start.duals[k];
            self.duals[k] = [start.duals[k] + graph.duals[k / 4][k % 4]; 4];
        }
        solved.map(|()| cost)
    }
}

impl Start {
    /// The nearest dual value that sink `k` may start from.
    #[inline(always)]
    fn tagged(&self, dual: f64, k: usize) -> f64 {
        self.grid.round(dual) - k as f64 * self.tags.unit()
    }
}

/// The part of the memory that `M` sinks take.
#[inline(always)]
fn first<T, const M: usize>(memory: &mut [T]) -> &mut [T; M] {
    memory.first_chunk_mut().expect("room for every sink")
}

impl<const M: usize, const W: usize> Graph<'_, M, W> {
    /// Moves all surplus where it is wanted.
    #[inline(always)]
    fn balance<S: Simd>(&mut self, simd: S) -> Result<(), TransportProblem> {
        let limit = AUGMENTATIONS_PER_POINT * (self.n_sources + M);
        let mut augmentations = 0;
        let mut path = [Step::default(); M];
        for sink in 0..M {
            while self.surplus[sink] > 0.0 {
                if augmentations == limit || !self.augment(simd, sink, &mut path) {
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

    /// Whether no two dual values have moved apart by more than the margin.
    #[inline(always)]
    fn has_moved_at_most(&self, margin: f64) -> bool {
        let (mut least, mut most) = (0.0, 0.0);
        for k in 0..M {
            let moved = self.duals[k / 4][k % 4];
            least = if moved < least { moved } else { least };
            most = if moved > most { moved } else { most };
        }
        most - least <= margin
    }
}
