//! The first tree: every source at the best sink that has room.
//!
//! Demands are in the flows of the sinks' arcs and shrink to the room that is left. A
//! source that fills a sink becomes its parent, with an arc of what room there was,
//! and goes on to the next best, even if it has nothing left; where it ends is its parent.
//! The last sink is never filled and becomes the root. So arcs without mass have
//! their source below, as they must.

use super::order::{BEYOND_COSTS, SINKS, numbered};
use super::{Basis, GROUPS, MOST};
use crate::lanes::{Four, Simd, number};

/// The nodes, whose numbers the arcs below them have at first.
const NODES: [u8; MOST] = {
    let mut nodes = [0; MOST];
    let mut node = 0;
    while node < MOST {
        nodes[node] = node as u8;
        node += 1;
    }
    nodes
};

impl Basis {
    /// Makes the tree of sources in their `order`. False if that leaves more than one sink with
    /// room, which balanced masses do not.
    #[inline(always)]
    #[must_use]
    pub(super) fn place<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        rows: &[Four],
        mut aim: [S::Lanes; W],
        order: &[u8],
        preferred: &[Four; GROUPS],
        m: usize,
    ) -> bool {
        self.sources = NODES;
        self.sinks = NODES;
        let flows = self.flows.as_flattened_mut();
        let closed = simd.splat(-BEYOND_COSTS);
        let mut filled = [0u8; 32];
        let mut n_filled = 0;
        let mut is_filled = 0u32;
        for &source in order {
            let source = source as usize;
            let node = (4 * W + source) % MOST;
            let mut mass = flows[node];
            let mut sink = preferred.as_flattened()[source].to_bits() as usize % 32;
            // Every round fills a sink, or finds one that has room.
            loop {
                if is_filled >> sink & 1 == 0 {
                    if mass < flows[sink] || n_filled + 1 >= m {
                        break;
                    }
                    mass -= flows[sink];
                    self.sources[sink] = node as u8;
                    filled[n_filled % 32] = sink as u8;
                    n_filled += 1;
                    is_filled |= 1 << sink;
                    let number = simd.splat(number(sink));
                    for w in 0..W {
                        let is_here = simd.matches(simd.load(&SINKS[w]), number);
                        aim[w] = simd.choose(is_here, closed, aim[w]);
                    }
                }
                let row = &rows[source * W..][..W];
                let mut least = numbered(simd, simd.sub(simd.load(&row[0]), aim[0]), 0);
                for w in 1..W {
                    let reduced = numbered(simd, simd.sub(simd.load(&row[w]), aim[w]), w);
                    least = simd.lesser(least, reduced);
                }
                sink = simd.least(least).to_bits() as usize % 32;
                if is_filled >> sink & 1 != 0 {
                    // Costs that are no numbers, or subnormal ones that count as zero.
                    sink = (!is_filled).trailing_zeros() as usize % 32;
                }
            }
            flows[sink] -= mass;
            flows[node] = mass;
            self.sinks[node] = sink as u8;
        }
        self.grow::<S, W>(simd, rows, &filled[..n_filled.min(31)]);
        n_filled + 1 == m
    }

    /// Makes paths and dual values, the sinks filled last first: they are nearest the root.
    #[inline(always)]
    fn grow<S: Simd, const W: usize>(&mut self, simd: S, rows: &[Four], filled: &[u8]) {
        let n = rows.len() / W;
        let groups = ..W + n.div_ceil(4);
        let zero = simd.splat(0.0);
        for path in &mut self.paths[groups] {
            simd.store(zero, path);
        }
        for (potential, cost) in self.potentials[groups]
            .iter_mut()
            .zip(&mut self.costs[groups])
        {
            simd.store(zero, potential);
            simd.store(zero, cost);
        }
        let paths = self.paths.as_flattened_mut();
        let potentials = self.potentials.as_flattened_mut();
        let costs = self.costs.as_flattened_mut();
        let rows = rows.as_flattened();
        for &sink in filled.iter().rev() {
            let sink = sink as usize % MOST;
            let node = self.sources[sink] as usize % MOST;
            let parent = self.sinks[node] as usize % MOST;
            let path = paths[parent].to_bits() | 1 << node | 1 << sink;
            paths[sink] = f64::from_bits(path);
            let row = &rows[(node - 4 * W) * 4 * W..][..4 * W];
            costs[sink] = row[sink];
            potentials[sink] = potentials[parent] + (row[sink] - row[parent]);
        }
        for (source, row) in rows.chunks_exact(4 * W).enumerate() {
            let node = (4 * W + source) % MOST;
            let parent = self.sinks[node] as usize % MOST;
            paths[node] = f64::from_bits(paths[parent].to_bits() | 1 << node);
            costs[node] = row[parent];
            potentials[node] = potentials[parent] - row[parent];
        }
        self.source_below = !0 << (4 * W);
    }
}
