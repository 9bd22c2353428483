//! A network simplex for few points, whose tree fits into words of 64 bits.
//!
//! A basic plan is a spanning tree of sources and sinks, and the simplex exchanges one of
//! its entries after the other (see [`super::simplex`] for the algorithm, and for why it
//! ends). What takes time with few points is not the arithmetic but finding the way in the
//! tree: branches that no processor foresees. Here there are next to none. The entries of
//! the tree have numbers, and every point keeps the set of entries on its path to the root
//! in one word:
//!
//! ```text
//! path[x]                                   entries between point x and the root
//! cycle = path[i] ^ path[k]                 closed by a new entry from i to k
//! of its entries give way those that point up on the way from i, down on that from k
//! the least of them leaves, and the new entry takes its number
//! for all points x with the leaving entry in path[x]:
//!     path[x] ^= cycle without that entry   they hang by the new one now
//!     v[x] += what makes the new entry's reduced cost zero
//! ```
//!
//! The last loop goes over all points, four at a time, without asking anything. Pricing is
//! complete: all entries, and the one that saves most enters. A row of costs is a few
//! vectors, so that costs less than keeping candidates, and fewer pivots are needed.
//!
//! Points are numbered: first the sinks, up to the next multiple of four, then the sources.
//! Where sources start, see `order`; the first tree, see `place`; arithmetic is exact, see
//! [`super::given`].

mod order;
mod pivot;
mod place;
mod pricing;

use super::TransportProblem;
use super::given::Given;
use super::lanes::{Four, Simd};
use super::workspace::Workspace;

/// Points, and entries, that a word has bits for.
const MOST: usize = 64;
const GROUPS: usize = MOST / 4;
/// Vectors of four that sinks take at most.
const MOST_WIDTH: usize = 6;

/// No known problem needs more than one or two.
const PIVOTS_PER_POINT: usize = 10_000;

/// The tree.
#[derive(Debug)]
pub(super) struct Basis {
    /// Of every point the entries between it and the root, as the bits of a number.
    paths: [Four; GROUPS],
    /// Dual value of every sink, and of every source the negative of it.
    potentials: [Four; GROUPS],
    /// Of every entry what it carries and what that costs; and its ends, as points.
    flows: [Four; GROUPS],
    costs: [Four; GROUPS],
    sources: [u8; MOST],
    sinks: [u8; MOST],
    /// The entries whose source is the end farther from the root.
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

/// Whether the points fit.
pub(super) fn has_room(n_sources: usize, n_sinks: usize) -> bool {
    let width = n_sinks.div_ceil(4);
    width <= MOST_WIDTH && n_sources <= MOST - 4 * width
}

impl Workspace {
    /// The optimal cost, for sinks that take `W` vectors of four.
    #[inline(always)]
    pub(super) fn solve_by_paths<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        given: Given,
    ) -> Result<f64, TransportProblem> {
        let (n, m) = (given.supply.len(), given.demand.len());
        let basis = &mut self.basis;
        let rows = &mut self.rows[..n.next_multiple_of(4) * W];
        let mut order = [0; MOST];
        let mut homes = [[0.0; 4]; GROUPS];
        let aim = basis.order::<S, W>(simd, given, rows, &mut order, &mut homes);
        let rows = &rows[..n * W];
        basis.place::<S, W>(simd, rows, aim, &order[..n], &homes, m);
        let limit = PIVOTS_PER_POINT * (n + m);
        let mut pivots = 0;
        while let Some((source, sink, saved)) = basis.best_entry::<S, W>(simd, rows) {
            let cost = rows.as_flattened()[source * 4 * W + sink];
            basis.pivot::<S, W>(simd, n, source, sink, saved, cost);
            pivots += 1;
            if pivots > limit {
                return Err(TransportProblem::NotSolved {
                    steps: pivots,
                    sources: n,
                    sinks: m,
                });
            }
        }
        Ok(basis.cost(simd, n))
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

    /// The plan of the problem solved last, of `n` sources and `m` sinks: source, sink and mass.
    pub fn flows(&self, n: usize, m: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let first = 4 * self.width;
        (0..m).chain(first..first + n).filter_map(move |slot| {
            let mass = self.flows.as_flattened()[slot];
            // The root's slot holds nothing.
            let (source, sink) = (self.sources[slot] as usize, self.sinks[slot] as usize);
            (mass > 0.0).then(|| (source - first, sink, mass))
        })
    }

    /// The dual values of the sinks, and what follows them.
    pub fn sink_duals(&self) -> &[f64] {
        self.potentials.as_flattened()
    }
}
