//! Where the simplex starts: every source on the best sink that has room.

use super::tree::Tree;
use super::{NONE, NetworkSimplex};
use crate::transport::lanes::{Simd, number};

/// Sources are placed in so many classes, by what they lose if not on their best sink;
/// the mean loss is in class `MEAN_CLASS`.
const CLASSES: usize = 16;
const MEAN_CLASS: f64 = 6.0;

/// Adding it to a double of 0 up to 2^52 leaves the nearest whole number in the low bits.
const TO_BITS: f64 = 4_503_599_627_370_496.0;

impl NetworkSimplex {
    /// Sends every source to the best sink that has room, those with most to lose first. A
    /// source that fills a sink becomes its parent and goes on to another, even if it
    /// has nothing left.
    ///
    /// `None` if that leaves more than one sink with room, which balanced masses do not.
    #[inline(always)]
    pub(super) fn place<S: Simd>(&mut self, simd: S) -> Option<Tree<'_>> {
        let classes = self.classify::<S>(simd);
        let root = self.fill(classes)?;
        let mut tree = Tree::of(self);
        tree.grow(root);
        Some(tree)
    }

    /// Notes the best sink of every source as its parent and makes a list of the sources
    /// of every class, starting with the one returned.
    #[inline(always)]
    fn classify<S: Simd>(&mut self, simd: S) -> [u32; CLASSES] {
        let (n, m) = (self.n_sources, self.n_sinks);
        let n_blocks = n.div_ceil(4);
        let aim = &self.aim[..m];
        let columns = self.columns[..n_blocks * m].chunks_exact(m);
        let masses = &self.masses[..n_blocks];
        let parents = &mut self.source_parent[..n_blocks];
        let flows = &mut self.source_flow[..n_blocks];
        let source_costs = &mut self.source_cost[..n_blocks];
        let mut losses = simd.splat(0.0);
        for (((columns, parent), source_cost), (flow, mass)) in columns
            .zip(&mut *parents)
            .zip(&mut *source_costs)
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
            simd.store(best, parent);
            simd.store(best_cost, source_cost);
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
            // Nothing is cheaper than the parent of a source that is not there.
            source_costs[pad / 4][pad % 4] = f64::MIN;
        }
        first
    }

    /// Fills the sinks, the highest classes first, and returns the one that is never filled,
    /// if it is one.
    #[inline(always)]
    fn fill(&mut self, classes: [u32; CLASSES]) -> Option<usize> {
        let (n, m) = (self.n_sources, self.n_sinks);
        let (room, aim) = (&mut self.room[..m], &mut self.aim[..m]);
        let parents = &mut self.source_parent.as_flattened_mut()[..n];
        let flows = &mut self.source_flow.as_flattened_mut()[..n];
        let source_costs = &mut self.source_cost.as_flattened_mut()[..n];
        let next = &self.next[..n];
        let (sink_parent, sink_flow) = (&mut self.sink_parent[..m], &mut self.sink_flow[..m]);
        let filled = &mut self.filled[..m];
        let columns = &self.columns[..n.div_ceil(4) * m];
        let mut n_filled = 0;
        for first in classes.into_iter().rev() {
            let mut at = first;
            while at != NONE {
                let source = at as usize;
                let mut mass = flows[source];
                let mut sink = parents[source].to_bits() as usize;
                at = next[source];
                if mass < room[sink] {
                    room[sink] -= mass;
                    continue;
                }
                let columns = &columns[source / 4 * m..][..m];
                // Every round fills a sink, or finds one that has room.
                for _ in 0..=m {
                    if mass < room[sink] || (n_filled + 1 >= m && room[sink] > 0.0) {
                        break;
                    }
                    if room[sink] > 0.0 {
                        sink_parent[sink] = source as u32;
                        sink_flow[sink] = room[sink];
                        mass -= room[sink];
                        room[sink] = 0.0;
                        aim[sink] = [f64::NEG_INFINITY; 4];
                        filled[n_filled] = sink as u32;
                        n_filled += 1;
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
                parents[source] = number(sink);
                flows[source] = mass;
                source_costs[source] = columns[sink][source % 4];
            }
        }
        let mut root = 0;
        for k in 0..m {
            if aim[k][0] > f64::NEG_INFINITY {
                root = k;
            }
        }
        (n_filled + 1 == m).then_some(root)
    }
}
