//! The first tree: every source at the best sink that has room.
//!
//! Demands are in the flows of the sinks' entries and shrink to the room that is left. A
//! source that fills a sink becomes the one above it, with an entry of what room there was,
//! and goes on to the next best, even if it has nothing left; where it ends is the sink above
//! it. The last sink is never full and becomes the root. So entries without mass have
//! their source below, as they must.

use super::order::{BEYOND_COSTS, SINKS, numbered};
use super::{Basis, GROUPS, MOST};
use crate::transport::lanes::{Four, Simd, number};

/// The points, whose numbers the entries below them have at first.
const POINTS: [u8; MOST] = {
    let mut points = [0; MOST];
    let mut point = 0;
    while point < MOST {
        points[point] = point as u8;
        point += 1;
    }
    points
};

impl Basis {
    /// Makes the tree of sources in their `order`.
    #[inline(always)]
    pub(super) fn place<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        rows: &[Four],
        mut aim: [S::Lanes; W],
        order: &[u8],
        homes: &[Four; GROUPS],
        m: usize,
    ) {
        self.sources = POINTS;
        self.sinks = POINTS;
        let flows = self.flows.as_flattened_mut();
        let closed = simd.splat(-BEYOND_COSTS);
        let mut full = [0u8; 32];
        let mut n_full = 0;
        let mut is_full = 0u32;
        for &source in order {
            let source = source as usize;
            let point = (4 * W + source) % MOST;
            let mut mass = flows[point];
            let mut sink = homes.as_flattened()[source].to_bits() as usize % 32;
            loop {
                if is_full >> sink & 1 == 0 {
                    if mass < flows[sink] || n_full + 1 >= m {
                        break;
                    }
                    mass -= flows[sink];
                    self.sources[sink] = point as u8;
                    full[n_full % 32] = sink as u8;
                    n_full += 1;
                    is_full |= 1 << sink;
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
                if is_full >> sink & 1 != 0 {
                    // Costs that are no numbers.
                    sink = (!is_full).trailing_zeros() as usize % 32;
                }
            }
            flows[sink] -= mass;
            flows[point] = mass;
            self.sinks[point] = sink as u8;
        }
        self.grow::<S, W>(simd, rows, &full[..n_full.min(31)]);
    }

    /// Makes paths and dual values, the sinks filled last first: they are nearest the root.
    #[inline(always)]
    fn grow<S: Simd, const W: usize>(&mut self, simd: S, rows: &[Four], full: &[u8]) {
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
        for &sink in full.iter().rev() {
            let sink = sink as usize % MOST;
            let point = self.sources[sink] as usize % MOST;
            let home = self.sinks[point] as usize % MOST;
            let path = paths[home].to_bits() | 1 << point | 1 << sink;
            paths[sink] = f64::from_bits(path);
            let row = &rows[(point - 4 * W) * 4 * W..][..4 * W];
            costs[sink] = row[sink];
            potentials[sink] = potentials[home] + (row[sink] - row[home]);
        }
        for (source, row) in rows.chunks_exact(4 * W).enumerate() {
            let point = (4 * W + source) % MOST;
            let home = self.sinks[point] as usize % MOST;
            paths[point] = f64::from_bits(paths[home].to_bits() | 1 << point);
            costs[point] = row[home];
            potentials[point] = potentials[home] - row[home];
        }
        self.source_below = !0 << (4 * W);
    }
}
