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
//! It ends because sums are exact (see [`super::problem`]): lengths are never negative, and
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
//! over them; but not for an instruction set that few processors need.

mod assign;
mod edges;
mod paths;
mod start;

use super::compiled::{Compiled, Part};
use super::grid::Grid;
use super::lanes::{Four, Simd};
use super::problem::{MASS_BITS, Problem, bits_to_number, demand_on_grid};
use super::workspace::grow;
use paths::PathStep;
use start::Aim;

/// Numbers of sinks known to the compiler go up to this, in so many vectors of four.
pub(super) const MOST_SINKS: usize = 24;
const MOST_FOURS: usize = MOST_SINKS / 4;

/// After so many augmentations for every sink, and some, the work is handed over: where nothing
/// that was guessed holds, augmentations are many and long.
const AUGMENTATIONS_PER_SINK: usize = 16;
const SOME_AUGMENTATIONS: usize = 64;

/// Bits of the tags below `P`. Five more are room for sums, and to find the tags by.
const TAG_BITS: i32 = 48;

/// How much of the estimated correction of the aim is applied, first and then. Measured on unit
/// vectors.
const STEPS: [f64; 2] = [0.9, 0.5];

/// The margin, in mean differences between best and second-best sink, times the root of sinks
/// over sources: so dual values move, on unit vectors. A wider one leaves more to look
/// at, a narrower one fails more often.
const MARGIN: f64 = 2.0;

/// The same, times how far from balance the last correction found the sinks: so they move where
/// few words of a document have most of its mass. The wider of the two margins is taken.
const MARGIN_OF_IMBALANCE: f64 = 0.7;

/// With fewer sources for every sink nobody is put aside: dual values move too much.
const MANY: usize = 8;

/// How many sinks there are.
trait Number: Copy {
    fn get(self) -> usize;

    /// Without the first.
    #[inline(always)]
    fn others(self) -> usize {
        self.get() - 1
    }
}

/// As many as the compiler knows.
#[derive(Clone, Copy)]
struct Known<const M: usize>;

/// As many as turn out.
#[derive(Clone, Copy)]
struct Any(usize);

impl<const M: usize> Number for Known<M> {
    #[inline(always)]
    fn get(self) -> usize {
        M
    }
}

impl Number for Any {
    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }
}

/// The solver for up to `M` sinks, in `W` vectors of four, with its problem.
struct Sinks<'a, N, const M: usize, const W: usize> {
    sinks: N,
    graph: &'a mut SinkGraph,
    problem: Problem<'a>,
}

impl<N: Number, const M: usize, const W: usize> Part for Sinks<'_, N, M, W> {
    type Output = Option<f64>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<f64> {
        self.graph
            .solve_onto::<S, N, M, W>(simd, self.sinks, self.problem)
    }
}

/// A piece of a source at a sink.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    mass: f64,
    /// Number of the source.
    source: u32,
}

/// What sources are assigned by.
#[derive(Debug, Clone, Copy, Default)]
struct Start {
    grid: Grid,
    tags: Grid,
    duals: [f64; MOST_SINKS],
    /// Infinite if no source is put aside.
    margin: f64,
}

/// The solver's memory.
#[derive(Debug, Default)]
pub(super) struct SinkGraph {
    n_sources: usize,
    n_sinks: usize,
    /// Sources and sinks that there is room for.
    fits: (usize, usize),
    /// The costs beyond those of the first sink, and without it, by blocks of four sources.
    columns: Vec<Four>,
    /// The supplies on their grid, four to a block.
    masses: Vec<Four>,
    /// Reduced costs by sources, in as many vectors each as the sinks take.
    rows: Vec<Four>,
    /// The plan: those of sink `j` are `pieces[j * n_sources .. list_end[j]]`, and those that
    /// were put aside, of which `start` tells.
    pieces: Vec<Piece>,
    list_end: Vec<u32>,
    start: Start,
    /// Cheapest way to move a source from sink `j` to `k`, without duals, and its place in
    /// the list (as [`super::lanes::number`]).
    edge_cost: Vec<Four>,
    edge_place: Vec<Four>,
    duals: [f64; MOST_SINKS],
}

/// The graph of up to `M` sinks, in `W` vectors of four, as slices of a [`SinkGraph`].
struct Graph<'a, N, const M: usize, const W: usize> {
    sinks: N,
    n_sources: usize,
    masses: &'a [f64],
    columns: &'a [Four],
    /// Reduced costs at the start by sources; infinite beyond the last sink.
    rows: &'a mut [[Four; W]],
    pieces: &'a mut [Piece],
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

impl SinkGraph {
    /// The optimal cost for 3 to [`MOST_SINKS`] sinks. `None` if costs differ too little for a
    /// grid below them, or not at all, and if it would take long: another solver is better then.
    #[inline(always)]
    pub(super) fn solve<S: Compiled>(&mut self, simd: S, problem: Problem) -> Option<f64> {
        macro_rules! by_number_of_sinks {
            ($($m:literal)*) => {
                match problem.demand.len() {
                    $($m => simd.call(Sinks::<_, $m, { usize::div_ceil($m, 4) }> {
                        sinks: Known::<$m>,
                        graph: self,
                        problem,
                    }),)*
                    _ => None,
                }
            };
        }
        if !S::IS_MAIN {
            return simd.call(Sinks::<_, MOST_SINKS, MOST_FOURS> {
                sinks: Any(problem.demand.len()),
                graph: self,
                problem,
            });
        }
        by_number_of_sinks!(3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
    }

    /// The optimal cost for up to `M` sinks, in `W` vectors of four.
    #[inline(always)]
    fn solve_onto<S: Simd, N: Number, const M: usize, const W: usize>(
        &mut self,
        simd: S,
        sinks: N,
        problem: Problem,
    ) -> Option<f64> {
        let (n, m) = (problem.supply.len(), sinks.get());
        if n > self.fits.0 || M > self.fits.1 {
            self.make_room(n, M);
        }
        (self.n_sources, self.n_sinks) = (n, m);
        let mut total = 0.0;
        for k in 0..m {
            total += problem.demand[k];
        }
        let mass_grid = Grid::below(total, MASS_BITS);
        let sums = self.compare_costs(simd, sinks, problem, mass_grid);
        let largest = simd.most(sums.largest);
        let tags = Grid::below(largest, TAG_BITS);
        if !tags.is_normal() {
            return None;
        }
        let mass = simd.total(sums.mass);
        let demand: [f64; M] = demand_on_grid(&problem.demand[..m], mass_grid, mass);
        let mut aim = Aim::default();
        for k in 1..m {
            aim.duals[k] = simd.total(sums.beyond[k]) / total;
        }
        self.correct::<S, N, true>(simd, sinks, problem.demand, total, STEPS[0], &mut aim);
        self.correct::<S, N, false>(simd, sinks, problem.demand, total, STEPS[1], &mut aim);
        let start = &mut self.start;
        start.tags = tags;
        start.grid = Grid::below(largest, TAG_BITS - bits_to_number(m));
        for k in 1..m {
            start.duals[k] = start.tagged(aim.duals[k].clamp(-largest, largest), k);
        }
        start.margin = f64::INFINITY;
        if n >= MANY * m {
            let of_size = MARGIN * (m as f64 / n as f64).sqrt();
            let of_imbalance = MARGIN_OF_IMBALANCE * aim.imbalance;
            start.margin = aim.gap * of_size.max(of_imbalance);
        }
        let n_blocks = n.div_ceil(4);
        let mut graph = Graph::<N, M, W> {
            sinks,
            n_sources: n,
            masses: &self.masses.as_flattened()[..4 * n_blocks],
            columns: &self.columns[..n_blocks * sinks.others()],
            rows: &mut self.rows.as_chunks_mut().0[..4 * n_blocks],
            pieces: &mut self.pieces[..n * m],
            ends: first(&mut self.list_end),
            edge_cost: first(self.edge_cost.as_chunks_mut().0),
            edge_place: first(self.edge_place.as_chunks_mut().0),
            edges_known: 0,
            surplus: [0.0; M],
            duals: [[0.0; 4]; W],
            added: 0.0,
        };
        let mut cost;
        loop {
            cost = graph.assign(simd, start, &demand, mass);
            let is_solved = graph.balance(simd);
            if is_solved && graph.has_moved_at_most(start.margin) {
                break;
            }
            if start.margin == f64::INFINITY {
                return None;
            }
            // Again with nothing put aside, without which there may be no way for a surplus,
            // either. Where it ended is closer to the truth than where it began.
            let moved = graph.duals.as_flattened();
            for k in 1..m {
                let dual = start.duals[k] + (moved[k] - moved[0]);
                start.duals[k] = start.tagged(dual.clamp(-largest, largest), k);
            }
            start.margin = f64::INFINITY;
            graph.edges_known = 0;
            graph.duals = [[0.0; 4]; W];
            graph.added = 0.0;
        }
        // From reduced costs to costs: what every sink receives is its demand.
        cost += graph.added + simd.total(sums.first_cost);
        for k in 0..m {
            cost += demand[k] * start.duals[k];
            self.duals[k] = start.duals[k] + graph.duals[k / 4][k % 4];
        }
        Some(cost)
    }

    /// Only what is too short grows, so that memory is that of the largest problem.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize, m: usize) {
        self.fits = (n.max(self.fits.0), m.max(self.fits.1));
        let (n, m) = self.fits;
        let n_blocks = n.div_ceil(4);
        grow(&mut self.columns, n_blocks * (m - 1));
        grow(&mut self.masses, n_blocks);
        grow(&mut self.rows, 4 * n_blocks * m.div_ceil(4));
        grow(&mut self.pieces, 4 * n_blocks * m);
        // Not in the solver itself: writing to it would make the compiler read `start` again.
        grow(&mut self.list_end, MOST_SINKS);
        grow(&mut self.edge_cost, MOST_SINKS * MOST_FOURS);
        grow(&mut self.edge_place, MOST_SINKS * MOST_FOURS);
    }

    /// Visits the plan of the problem solved last: source, sink and mass.
    pub(super) fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        self.each_put_aside(&mut visit);
        for sink in 0..self.n_sinks {
            let list = sink * self.n_sources..self.list_end[sink] as usize;
            for piece in &self.pieces[list] {
                visit(piece.source as usize, sink, piece.mass);
            }
        }
    }

    /// The dual values of the sinks.
    pub(super) fn sink_duals(&self) -> Vec<f64> {
        self.duals[..self.n_sinks].to_vec()
    }
}

impl Start {
    /// The nearest dual value that sink `k` may start from.
    #[inline(always)]
    fn tagged(&self, dual: f64, k: usize) -> f64 {
        self.grid.round(dual) - k as f64 * self.tags.unit()
    }
}

/// The part of the memory that up to `M` sinks take.
#[inline(always)]
fn first<T, const M: usize>(memory: &mut [T]) -> &mut [T; M] {
    memory.first_chunk_mut().expect("room for every sink")
}

impl<N: Number, const M: usize, const W: usize> Graph<'_, N, M, W> {
    /// Moves all surplus where it is wanted. False if it has no way, or if that takes long.
    #[inline(always)]
    #[must_use]
    fn balance<S: Simd>(&mut self, simd: S) -> bool {
        let m = self.sinks.get();
        let mut left = AUGMENTATIONS_PER_SINK * m + SOME_AUGMENTATIONS;
        let mut path = [PathStep::default(); M];
        for sink in 0..m {
            while self.surplus[sink] > 0.0 {
                if left == 0 || !self.augment(simd, sink, &mut path) {
                    return false;
                }
                left -= 1;
            }
        }
        true
    }

    /// Whether no two dual values have moved apart by more than the margin.
    #[inline(always)]
    fn has_moved_at_most(&self, margin: f64) -> bool {
        let (mut least, mut most) = (0.0, 0.0);
        for k in 0..self.sinks.get() {
            let moved = self.duals[k / 4][k % 4];
            least = if moved < least { moved } else { least };
            most = if moved > most { moved } else { most };
        }
        most - least <= margin
    }
}
