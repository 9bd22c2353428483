//! Shortest paths over the sinks, and mass moved along them.

use super::{Graph, MOST_FOURS, MOST_SINKS, Number, Piece};
use crate::lanes::{FAR, Four, Simd, number};

/// For every sink, infinity in its own lane, and nothing above anything in the others.
const CLOSED: [[Four; MOST_FOURS]; MOST_SINKS] = {
    let mut closed = [[[f64::NEG_INFINITY; 4]; MOST_FOURS]; MOST_SINKS];
    let mut sink = 0;
    while sink < MOST_SINKS {
        closed[sink][sink / 4][sink % 4] = f64::INFINITY;
        sink += 1;
    }
    closed
};

/// Where surplus can go: the nearest sink below its demand, and the sink before each on the
/// way there (as [`number`]).
struct Way<const W: usize> {
    target: usize,
    length: f64,
    before: [Four; W],
}

/// A piece of a source that goes from one sink to another.
#[derive(Clone, Copy, Default)]
pub(super) struct PathStep {
    before: u32,
    after: u32,
    place: u32,
}

impl<N: Number, const M: usize, const W: usize> Graph<'_, N, M, W> {
    /// Moves surplus of a sink to the nearest one below its demand. False if there is none, or
    /// nothing to move.
    #[inline(always)]
    pub fn augment<S: Simd>(&mut self, simd: S, from: usize, path: &mut [PathStep; M]) -> bool {
        let Some(way) = self.find_way(simd, from) else {
            return false;
        };
        let m = self.sinks.get();
        let before = way.before.as_flattened();
        let mut amount = lesser(self.surplus[from], -self.surplus[way.target]);
        let mut n_steps = 0;
        let mut after = way.target;
        while n_steps < m {
            let sink = before[after].to_bits() as usize & (m.next_power_of_two() - 1);
            let place = self.edge_place[sink].as_flattened()[after].to_bits() as u32;
            amount = lesser(
                amount,
                self.pieces[sink * self.n_sources + place as usize].mass,
            );
            path[n_steps] = PathStep {
                before: sink as u32,
                after: after as u32,
                place,
            };
            n_steps += 1;
            after = sink;
            if sink == from {
                break;
            }
        }
        // Exact sums leave no piece without mass, nor a path that does not end here.
        if after != from || amount <= 0.0 {
            return false;
        }
        for step in &path[..n_steps] {
            self.move_piece(simd, *step, amount);
        }
        self.surplus[from] -= amount;
        self.surplus[way.target] += amount;
        self.added += amount * way.length;
        true
    }

    /// Dijkstra from an overfull sink to the nearest one below its demand, and the
    /// new dual values.
    #[inline(always)]
    fn find_way<S: Simd>(&mut self, simd: S, from: usize) -> Option<Way<W>> {
        let far = simd.load(&FAR);
        let mut distances = [far; MOST_FOURS];
        let mut before = [simd.splat(0.0); MOST_FOURS];
        let mut closed = [simd.splat(f64::NEG_INFINITY); MOST_FOURS];
        let mut duals = [far; MOST_FOURS];
        for w in 0..W {
            duals[w] = simd.load(&self.duals[w]);
        }
        let mut here = from;
        let mut distance = 0.0;
        for _ in 0..self.sinks.get() {
            if self.edges_known >> here & 1 == 0 {
                self.find_edges(simd, here);
            }
            let base = simd.splat(distance + self.duals.as_flattened()[here]);
            let number = simd.splat(number(here));
            let (edges, closing) = (&self.edge_cost[here], &CLOSED[here]);
            let mut open = [far; MOST_FOURS];
            let mut nearest = far;
            for w in 0..W {
                let through = simd.sub(simd.add(simd.load(&edges[w]), base), duals[w]);
                before[w] = simd.choose(simd.below(through, distances[w]), number, before[w]);
                distances[w] = simd.lesser(through, distances[w]);
                closed[w] = simd.greater(simd.load(&closing[w]), closed[w]);
                open[w] = simd.greater(distances[w], closed[w]);
                nearest = simd.lesser(open[w], nearest);
            }
            distance = simd.least(nearest);
            let nearest = simd.splat(distance);
            // Which vector it is in, no branch could foresee.
            let mut lanes = 0;
            for w in 0..W {
                lanes |= simd.same_bits(open[w], nearest) << (4 * w);
            }
            here = (lanes.trailing_zeros() as usize).min(self.sinks.get() - 1);
            if self.surplus[here] < 0.0 {
                break;
            }
        }
        if distance == f64::INFINITY || self.surplus[here] >= 0.0 {
            return None;
        }
        let length = {
            let duals = self.duals.as_flattened();
            distance + (duals[here] - duals[from])
        };
        let (zero, nearest) = (simd.splat(0.0), simd.splat(distance));
        let mut way = Way {
            target: here,
            length,
            before: [[0.0; 4]; W],
        };
        for w in 0..W {
            // Only what is nearer moves, the first sink by the whole length: it is 0 from itself.
            let moved = simd.lesser(simd.sub(distances[w], nearest), zero);
            simd.store(simd.add(duals[w], moved), &mut self.duals[w]);
            simd.store(before[w], &mut way.before[w]);
        }
        Some(way)
    }

    #[inline(always)]
    fn move_piece<S: Simd>(&mut self, simd: S, step: PathStep, amount: f64) {
        let (before, after) = (step.before as usize, step.after as usize);
        let n = self.n_sources;
        let place = before * n + step.place as usize;
        let Piece { mass, source } = self.pieces[place];
        if mass == amount {
            let last = self.ends[before] - 1;
            self.pieces[place] = self.pieces[last as usize];
            self.ends[before] = last;
            self.edges_known &= !(1 << before);
        } else {
            self.pieces[place].mass = mass - amount;
        }
        let (start, end) = (after * n, self.ends[after] as usize);
        // A source that was whole is in no other list.
        if mass != self.masses[source as usize] {
            for piece in &mut self.pieces[start..end] {
                if piece.source == source {
                    piece.mass += amount;
                    return;
                }
            }
        }
        let mass = amount;
        self.pieces[end] = Piece { mass, source };
        self.ends[after] += 1;
        self.offer_edges(simd, after, source as usize, end - start);
    }
}

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
