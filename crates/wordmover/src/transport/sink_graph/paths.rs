//! Shortest paths over the sinks, and mass moved along them.

use super::{Entry, MOST_KNOWN_FOURS, Settled, Step, Workspace, is_dense, sinks};
use crate::transport::lanes::{FAR, Four, Simd};

/// The numbers of the sinks that the compiler may know.
const SINKS: [Four; MOST_KNOWN_FOURS] = [
    [0.0, 1.0, 2.0, 3.0],
    [4.0, 5.0, 6.0, 7.0],
    [8.0, 9.0, 10.0, 11.0],
    [12.0, 13.0, 14.0, 15.0],
    [16.0, 17.0, 18.0, 19.0],
    [20.0, 21.0, 22.0, 23.0],
];

/// Masks of one lane.
const LANE: [Four; 4] = {
    const SET: f64 = f64::from_bits(u64::MAX);
    [
        [SET, 0.0, 0.0, 0.0],
        [0.0, SET, 0.0, 0.0],
        [0.0, 0.0, SET, 0.0],
        [0.0, 0.0, 0.0, SET],
    ]
};

impl Workspace {
    /// Dijkstra from an overfull sink to the nearest one below its demand, and the
    /// new dual values. Gives the number of sinks settled, that one last; 0 if no sink
    /// is below its demand.
    #[inline(always)]
    pub(super) fn shortest_path<S: Simd, const M: usize>(&mut self, simd: S, from: usize) -> usize {
        let m = sinks::<M>(self.n_sinks);
        let n_fours = m.div_ceil(4);
        // Of known number, what changes stays in registers.
        let mut open_duals = [simd.splat(0.0); MOST_KNOWN_FOURS];
        let mut distances = [simd.load(&FAR); MOST_KNOWN_FOURS];
        for k in 0..n_fours {
            if M > 0 {
                open_duals[k] = simd.load(&self.duals[k]);
            } else {
                self.open_duals[k] = self.duals[k];
                self.open_distances[k] = FAR;
            }
        }
        let mut n_settled = 0;
        let mut here = from;
        let mut distance = 0.0;
        loop {
            let base = distance + self.duals.as_flattened()[here];
            self.settled[n_settled] = Settled {
                distance,
                base,
                sink: here as u32,
            };
            n_settled += 1;
            if self.surplus[here] < 0.0 {
                let duals = self.duals.as_flattened_mut();
                for before in &self.settled[..n_settled - 1] {
                    duals[before.sink as usize] += before.distance - distance;
                }
                return n_settled;
            }
            if !self.edges_known[here] {
                self.find_edges::<S, M>(simd, here);
            }

            // A settled sink is as far from everywhere as can be.
            let (far, closed) = (simd.load(&FAR), simd.splat(f64::NEG_INFINITY));
            if M > 0 {
                let number = simd.splat(here as f64);
                for k in 0..n_fours {
                    let is_here = simd.same(simd.load(&SINKS[k]), number);
                    open_duals[k] = simd.choose(is_here, closed, open_duals[k]);
                    distances[k] = simd.choose(is_here, far, distances[k]);
                }
            } else {
                let (four, lane) = (here / 4, simd.load(&LANE[here % 4]));
                let open = &mut self.open_duals[four];
                simd.store(simd.choose(lane, closed, simd.load(open)), open);
                let open = &mut self.open_distances[four];
                simd.store(simd.choose(lane, far, simd.load(open)), open);
            }

            let edges = &self.edge_cost[here * n_fours..][..n_fours];
            let base = simd.splat(base);
            let mut nearest = far;
            if M > 0 {
                for k in 0..n_fours {
                    let edge = simd.add(simd.load(&edges[k]), base);
                    let through = simd.sub(edge, open_duals[k]);
                    distances[k] = simd.lesser(through, distances[k]);
                    nearest = simd.lesser(distances[k], nearest);
                }
            } else {
                let open_duals = &self.open_duals[..n_fours];
                let distances = &mut self.open_distances[..n_fours];
                for k in 0..n_fours {
                    let edge = simd.add(simd.load(&edges[k]), base);
                    let through = simd.sub(edge, simd.load(&open_duals[k]));
                    let best = simd.lesser(through, simd.load(&distances[k]));
                    simd.store(best, &mut distances[k]);
                    nearest = simd.lesser(best, nearest);
                }
            }
            distance = simd.least(nearest);
            if distance == f64::INFINITY {
                return 0;
            }
            let nearest = simd.splat(distance);
            for k in 0..n_fours {
                let distances = if M > 0 {
                    distances[k]
                } else {
                    simd.load(&self.open_distances[k])
                };
                let lanes = simd.same_bits(distances, nearest);
                if lanes != 0 {
                    here = 4 * k + lanes.trailing_zeros() as usize;
                    break;
                }
            }
        }
    }

    /// Moves mass along the path found last.
    #[inline(always)]
    pub(super) fn augment<S: Simd, const M: usize>(&mut self, simd: S, n_settled: usize) {
        let from = self.settled[0].sink as usize;
        let target = self.settled[n_settled - 1].sink as usize;
        let most = lesser(self.surplus[from], -self.surplus[target]);
        let (n_steps, amount) = self.trace::<M>(n_settled, most);
        for step in 0..n_steps {
            let Step {
                before,
                after,
                source,
            } = self.path[step];
            let (before, after, source) = (before as usize, after as usize, source as usize);
            if is_dense::<M>() {
                self.move_share::<S, M>(simd, before, after, source, amount);
            } else {
                self.move_entry::<S, M>(simd, before, after, source, amount);
            }
        }
        self.surplus[from] -= amount;
        self.surplus[target] += amount;
    }

    /// Finds the path to the sink settled last, by looking for the sinks through which
    /// its distance came about (sums are exact, so equality finds them), and the least
    /// piece on it. Keeping parents up to date during the search would cost more.
    #[inline(always)]
    fn trace<const M: usize>(&mut self, n_settled: usize, most: f64) -> (usize, f64) {
        let m = sinks::<M>(self.n_sinks);
        let stride = 4 * m.div_ceil(4);
        let edges = self.edge_cost.as_flattened();
        let sources = self.edge_source.as_flattened();
        let settled = &self.settled[..n_settled];
        let mut amount = most;
        let mut n_steps = 0;
        let mut at = n_settled - 1;
        while at != 0 {
            let Settled {
                distance,
                base,
                sink,
            } = settled[at];
            let after = sink as usize;
            let dual = base - distance;
            let leads_here = |before: &Settled| {
                (edges[before.sink as usize * stride + after] + before.base) - dual == distance
            };
            at = settled[..at].iter().position(leads_here).unwrap_or(0);
            let before = settled[at].sink as usize;
            let source = sources[before * stride + after].to_bits() as usize;
            let mass = if is_dense::<M>() {
                self.shares[source / 4 * m + before][source % 4]
            } else {
                self.entries[before * self.n_sources + source].mass
            };
            amount = lesser(amount, mass);
            self.path[n_steps] = Step {
                before: before as u32,
                after: sink,
                source: source as u32,
            };
            n_steps += 1;
        }
        (n_steps, amount)
    }

    #[inline(always)]
    fn move_share<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        before: usize,
        after: usize,
        source: usize,
        amount: f64,
    ) {
        let shares = &mut self.shares[source / 4 * M..][..M];
        let lane = source % 4;
        shares[before][lane] -= amount;
        if shares[before][lane] == 0.0 {
            self.edges_known[before] = false;
        }
        let is_new = shares[after][lane] == 0.0;
        shares[after][lane] += amount;
        if is_new {
            self.offer_edges::<S, M>(simd, after, source * M, source);
        }
    }

    #[inline(always)]
    fn move_entry<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        before: usize,
        after: usize,
        place: usize,
        amount: f64,
    ) {
        let n = self.n_sources;
        let place = before * n + place;
        let Entry { mass, row } = self.entries[place];
        if mass == amount {
            let last = self.list_end[before] - 1;
            self.entries[place] = self.entries[last as usize];
            self.list_end[before] = last;
            self.edges_known[before] = false;
        } else {
            self.entries[place].mass = mass - amount;
        }
        let (start, end) = (after * n, self.list_end[after] as usize);
        // A source that was whole is in no other list.
        let source = row as usize / sinks::<M>(self.n_sinks);
        let was_whole = mass == self.masses.as_flattened()[source];
        let there = if was_whole {
            None
        } else {
            let list = &mut self.entries[start..end];
            list.iter_mut().find(|entry| entry.row == row)
        };
        match there {
            Some(entry) => entry.mass += amount,
            None => {
                self.entries[end] = Entry { mass: amount, row };
                self.list_end[after] += 1;
                self.offer_edges::<S, M>(simd, after, row as usize, end - start);
            }
        }
    }
}

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
