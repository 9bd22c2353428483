//! Shortest paths over the sinks, and mass moved along them.

use super::{Entry, Graph, MOST_KNOWN_FOURS, fours, is_dense};
use crate::transport::lanes::{FAR, Four, Simd};

/// The numbers of the sinks.
const SINKS: [Four; MOST_KNOWN_FOURS] = [
    [0.0, 1.0, 2.0, 3.0],
    [4.0, 5.0, 6.0, 7.0],
    [8.0, 9.0, 10.0, 11.0],
    [12.0, 13.0, 14.0, 15.0],
    [16.0, 17.0, 18.0, 19.0],
    [20.0, 21.0, 22.0, 23.0],
];

/// A sink whose distance is final.
#[derive(Clone, Copy, Default)]
struct Settled {
    distance: f64,
    /// Distance plus the dual value it had when settled.
    base: f64,
    sink: u32,
}

/// A piece of a source that goes from one sink to another.
#[derive(Clone, Copy, Default)]
struct Step {
    before: u32,
    after: u32,
    source: u32,
}

impl<const M: usize> Graph<'_, M> {
    /// Moves surplus of a sink to the nearest one below its demand. False if there is none.
    #[inline(always)]
    pub fn augment<S: Simd>(&mut self, simd: S, from: usize) -> bool {
        let mut settled = [Settled::default(); M];
        let n_settled = self.shortest_path(simd, from, &mut settled);
        if n_settled == 0 {
            return false;
        }
        let settled = &settled[..n_settled];
        let target = settled[n_settled - 1].sink as usize;
        let most = lesser(self.surplus[from], -self.surplus[target]);
        let mut path = [Step::default(); M];
        let (n_steps, amount) = self.trace(settled, most, &mut path);
        for step in &path[..n_steps] {
            let (before, after) = (step.before as usize, step.after as usize);
            if is_dense::<M>() {
                self.move_share(simd, before, after, step.source as usize, amount);
            } else {
                self.move_entry(simd, before, after, step.source as usize, amount);
            }
        }
        self.surplus[from] -= amount;
        self.surplus[target] += amount;
        true
    }

    /// Dijkstra from an overfull sink to the nearest one below its demand, and the
    /// new dual values. Gives the number of sinks settled, that one last; 0 if no sink
    /// is below its demand.
    #[inline(always)]
    fn shortest_path<S: Simd>(
        &mut self,
        simd: S,
        from: usize,
        settled: &mut [Settled; M],
    ) -> usize {
        let mut open_duals = [simd.splat(0.0); MOST_KNOWN_FOURS];
        let mut distances = [simd.load(&FAR); MOST_KNOWN_FOURS];
        for k in 0..fours::<M>() {
            open_duals[k] = simd.load(&self.duals[k]);
        }
        let (far, closed) = (simd.load(&FAR), simd.splat(f64::NEG_INFINITY));
        let mut here = from;
        let mut distance = 0.0;
        for n_settled in 0..M {
            let base = distance + self.duals.as_flattened()[here];
            settled[n_settled] = Settled {
                distance,
                base,
                sink: here as u32,
            };
            if self.surplus[here] < 0.0 {
                let duals = self.duals.as_flattened_mut();
                for before in &settled[..n_settled] {
                    duals[before.sink as usize] += before.distance - distance;
                }
                return n_settled + 1;
            }
            if self.edges_known >> here & 1 == 0 {
                self.find_edges(simd, here);
            }
            // A settled sink is as far from everywhere as can be.
            let number = simd.splat(here as f64);
            let edges = &self.edge_cost[here * fours::<M>()..][..fours::<M>()];
            let base = simd.splat(base);
            let mut nearest = far;
            for k in 0..fours::<M>() {
                let is_here = simd.same(simd.load(&SINKS[k]), number);
                open_duals[k] = simd.choose(is_here, closed, open_duals[k]);
                distances[k] = simd.choose(is_here, far, distances[k]);
                let edge = simd.add(simd.load(&edges[k]), base);
                let through = simd.sub(edge, open_duals[k]);
                distances[k] = simd.lesser(through, distances[k]);
                nearest = simd.lesser(distances[k], nearest);
            }
            distance = simd.least(nearest);
            if distance == f64::INFINITY {
                return 0;
            }
            let nearest = simd.splat(distance);
            // Which vector it is in, no branch could foresee.
            let mut lanes = 0;
            for k in 0..fours::<M>() {
                lanes |= simd.same_bits(distances[k], nearest) << (4 * k);
            }
            here = (lanes.trailing_zeros() as usize).min(M - 1);
        }
        0
    }

    /// Finds the path to the sink settled last, by looking for the sinks through which
    /// its distance came about (sums are exact, so equality finds them), and the least
    /// piece on it. Keeping parents up to date during the search would cost more.
    #[inline(always)]
    fn trace(&self, settled: &[Settled], most: f64, path: &mut [Step; M]) -> (usize, f64) {
        let stride = 4 * fours::<M>();
        let edges = self.edge_cost.as_flattened();
        let sources = self.edge_source.as_flattened();
        let mut amount = most;
        let mut n_steps = 0;
        let mut at = settled.len() - 1;
        while at != 0 && n_steps < M {
            let end = settled[at];
            let after = end.sink as usize;
            let dual = end.base - end.distance;
            let mut before = 0;
            for (i, settled) in settled[..at].iter().enumerate() {
                let edge = edges[settled.sink as usize * stride + after];
                if (edge + settled.base) - dual == end.distance {
                    before = i;
                    break;
                }
            }
            at = before;
            let before = settled[at].sink as usize;
            let source = sources[before * stride + after].to_bits() as usize;
            let mass = if is_dense::<M>() {
                self.shares[source / 4 * M + before][source % 4]
            } else {
                self.entries[before * self.n_sources + source].mass
            };
            amount = lesser(amount, mass);
            path[n_steps] = Step {
                before: before as u32,
                after: after as u32,
                source: source as u32,
            };
            n_steps += 1;
        }
        (n_steps, amount)
    }

    #[inline(always)]
    fn move_share<S: Simd>(
        &mut self,
        simd: S,
        before: usize,
        after: usize,
        source: usize,
        amount: f64,
    ) {
        let shares = &mut self.shares[source / 4 * M..][..M];
        let lane = source % 4;
        let left = shares[before][lane] - amount;
        shares[before][lane] = left;
        if left == 0.0 {
            self.edges_known &= !(1 << before);
        }
        let there = shares[after][lane];
        shares[after][lane] = there + amount;
        if there == 0.0 {
            self.offer_edges(simd, after, source, source);
        }
    }

    #[inline(always)]
    fn move_entry<S: Simd>(
        &mut self,
        simd: S,
        before: usize,
        after: usize,
        place: usize,
        amount: f64,
    ) {
        let n = self.n_sources;
        let place = before * n + place;
        let Entry { mass, source } = self.entries[place];
        if mass == amount {
            let last = self.ends[before] - 1;
            self.entries[place] = self.entries[last as usize];
            self.ends[before] = last;
            self.edges_known &= !(1 << before);
        } else {
            self.entries[place].mass = mass - amount;
        }
        let (start, end) = (after * n, self.ends[after] as usize);
        // A source that was whole is in no other list.
        if mass != self.masses[source as usize] {
            for entry in &mut self.entries[start..end] {
                if entry.source == source {
                    entry.mass += amount;
                    return;
                }
            }
        }
        let mass = amount;
        self.entries[end] = Entry { mass, source };
        self.ends[after] += 1;
        self.offer_edges(simd, after, source as usize, end - start);
    }
}

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
