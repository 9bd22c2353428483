//! Where the simplex starts: every source on the best sink that has room.

use super::NONE;
use super::tree::Tree;
use crate::transport::lanes::{Simd, number};
use crate::transport::workspace::Workspace;

/// Sources are placed in so many classes, by what they lose if not on their best sink;
/// the mean loss is in class `MEAN_CLASS`.
const CLASSES: usize = 16;
const MEAN_CLASS: f64 = 6.0;

/// Adding it to a double of 0 up to 2^52 leaves the nearest whole number in the low bits.
const TO_BITS: f64 = 4_503_599_627_370_496.0;

impl Workspace {
    /// Sends every source to the best sink that has room, those with most to lose first. A
    /// source that fills a sink becomes the one above it and goes on to another, even if it
    /// has nothing left.
    #[inline(always)]
    pub(super) fn place<S: Simd>(&mut self, simd: S) -> Tree<'_> {
        let classes = self.classify::<S>(simd);
        let root = self.fill(classes);
        let mut tree = Tree::of(self);
        tree.grow(root);
        tree
    }

    /// Notes the best sink of every source as its home and makes a list of the sources
    /// of every class, starting with the one returned.
    #[inline(always)]
    fn classify<S: Simd>(&mut self, simd: S) -> [u32; CLASSES] {
        let (n, m) = (self.n_sources, self.n_sinks);
        let n_blocks = n.div_ceil(4);
        let aim = &self.aim[..m];
        let columns = self.columns[..n_blocks * m].chunks_exact(m);
        let masses = &self.masses[..n_blocks];
        let homes = &mut self.home[..n_blocks];
        let flows = &mut self.home_flow[..n_blocks];
        let home_costs = &mut self.home_cost[..n_blocks];
        let mut losses = simd.splat(0.0);
        for (((columns, home), home_cost), (flow, mass)) in columns
            .zip(&mut *homes)
            .zip(&mut *home_costs)
            .zip(flows.iter_mut().zip(masses))
        {
            let mut least = simd.splat(f64::INFINITY);
            let mut second = least;
            let (mut best, mut best_cost) = (simd.splat(number(0)), least);
            let columns = &columns[..m];
            for k in 0..m {
                let cost = simd.load(&columns[k]);
                let reduced = simd.sub(cost, simd.load(&aim[k]));
                let is_best = simd.below(reduced, least);
                best = simd.choose(is_best, simd.splat(number(k)), best);
                best_cost = simd.choose(is_best, cost, best_cost);
                second = simd.lesser(second, simd.greater(reduced, least));
                least = simd.lesser(reduced, least);
            }
            simd.store(best, home);
            simd.store(best_cost, home_cost);
            // The loss has the flow's place for now.
            let loss = simd.sub(second, least);
            simd.store(loss, flow);
            losses = simd.add(losses, simd.mul(loss, simd.load(mass)));
        }
        let mut total = simd.splat(0.0);
        for mass in masses {
            total = simd.add(total, simd.load(mass));
        }
        let mean = simd.total(losses) / simd.total(total);
        let scale = simd.splat(if mean > 0.0 { MEAN_CLASS / mean } else { 0.0 });
        let highest = simd.splat((CLASSES - 1) as f64);
        let mut first = [NONE; CLASSES];
        let next = self.next[..4 * n_blocks].as_chunks_mut::<4>().0;
        for (block, ((flow, mass), next)) in flows.iter_mut().zip(masses).zip(next).enumerate() {
            let class = simd.lesser(simd.mul(simd.load(flow), scale), highest);
            let class = simd.add(class, simd.splat(TO_BITS));
            let mut classes = [0.0; 4];
            simd.store(class, &mut classes);
            *flow = *mass;
            let n_here = if block * 4 + 4 <= n { 4 } else { n % 4 };
            for lane in 0..4 {
                if lane < n_here {
                    let first = &mut first[classes[lane].to_bits() as usize % CLASSES];
                    next[lane] = *first;
                    *first = (block * 4 + lane) as u32;
                }
            }
        }
        for pad in n..4 * n_blocks {
            // Nothing is cheaper than the home of a source that is not there.
            home_costs[pad / 4][pad % 4] = f64::MIN;
        }
        first
    }

    /// Fills the sinks, the highest classes first, and returns the one that is never full.
    #[inline(always)]
    fn fill(&mut self, classes: [u32; CLASSES]) -> usize {
        let (n, m) = (self.n_sources, self.n_sinks);
        let (room, aim) = (&mut self.room[..m], &mut self.aim[..m]);
        let homes = &mut self.home.as_flattened_mut()[..n];
        let flows = &mut self.home_flow.as_flattened_mut()[..n];
        let home_costs = &mut self.home_cost.as_flattened_mut()[..n];
        let next = &self.next[..n];
        let (up, up_flow) = (&mut self.up[..m], &mut self.up_flow[..m]);
        let full = &mut self.full[..m];
        let columns = &self.columns[..n.div_ceil(4) * m];
        let mut n_full = 0;
        for first in classes.into_iter().rev() {
            let mut at = first;
            while at != NONE {
                let source = at as usize;
                let mut mass = flows[source];
                let mut sink = homes[source].to_bits() as usize;
                at = next[source];
                if mass < room[sink] {
                    room[sink] -= mass;
                    continue;
                }
                let columns = &columns[source / 4 * m..][..m];
                while mass >= room[sink] && (n_full + 1 < m || room[sink] == 0.0) {
                    if room[sink] > 0.0 {
                        up[sink] = source as u32;
                        up_flow[sink] = room[sink];
                        mass -= room[sink];
                        room[sink] = 0.0;
                        aim[sink] = [f64::NEG_INFINITY; 4];
                        full[n_full] = sink as u32;
                        n_full += 1;
                    }
                    let mut least = f64::INFINITY;
                    for k in 0..m {
                        let reduced = columns[k][source % 4] - aim[k][0];
                        if reduced < least {
                            (sink, least) = (k, reduced);
                        }
                    }
                }
                room[sink] -= mass;
                homes[source] = number(sink);
                flows[source] = mass;
                home_costs[source] = columns[sink][source % 4];
            }
        }
        let mut root = 0;
        for k in 0..m {
            if aim[k][0] > f64::NEG_INFINITY {
                root = k;
            }
        }
        root
    }
}
