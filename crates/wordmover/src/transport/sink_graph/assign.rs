//! Every source on the sink it prefers.

use super::{Entry, Graph, MOST_DENSE, fours};
use crate::transport::lanes::{FAR, Four, Simd, number};

impl<const M: usize> Graph<'_, M> {
    /// Every source to its best sink, as a dense table; ties go to the first.
    #[inline(always)]
    pub fn assign_shares<S: Simd>(&mut self, simd: S) {
        let mut loads = [simd.splat(0.0); MOST_DENSE];
        let mut duals = [simd.splat(0.0); MOST_DENSE];
        for k in 0..M {
            duals[k] = simd.splat(self.duals[0][k]);
        }
        let (masses, rest) = self.masses.as_chunks::<4>();
        let columns = self.columns.chunks_exact(M);
        let blocks = columns.zip(self.shares.chunks_exact_mut(M));
        for (block, (columns, shares)) in blocks.enumerate() {
            let mut reduced = [simd.splat(0.0); MOST_DENSE];
            let mut least = simd.splat(f64::INFINITY);
            for k in 0..M {
                reduced[k] = simd.sub(simd.load(&columns[k]), duals[k]);
                least = simd.lesser(reduced[k], least);
            }
            let mut free = if block < masses.len() {
                simd.load(&masses[block])
            } else {
                let mut mass = [0.0; 4];
                mass[..rest.len()].copy_from_slice(rest);
                simd.load(&mass)
            };
            for k in 0..M {
                let best = simd.same(reduced[k], least);
                let here = simd.keep(best, free);
                free = simd.drop(best, free);
                simd.store(here, &mut shares[k]);
                loads[k] = simd.add(loads[k], here);
            }
        }
        for k in 0..M {
            self.surplus[k] += simd.total(loads[k]);
        }
    }

    /// Every source to its best sink, as lists; ties go to the first. Makes the rows, too.
    #[inline(always)]
    pub fn assign_lists<S: Simd>(&mut self, simd: S, rows: &mut [Four]) {
        let n = self.n_sources;
        for k in 0..M {
            self.ends[k] = (k * n) as u32;
        }
        let (masses, rest) = self.masses.as_chunks::<4>();
        let blocks = self.columns.chunks_exact(M);
        let rows = rows.chunks_exact_mut(4 * fours::<M>());
        for (block, (columns, rows)) in blocks.zip(rows).enumerate() {
            let (columns, rows) = (&columns[..M], &mut rows[..4 * fours::<M>()]);
            let mut least = simd.splat(f64::INFINITY);
            let mut best = simd.splat(number(0));
            for four in 0..fours::<M>() {
                let mut costs = [simd.load(&FAR); 4];
                for lane in 0..4 {
                    let k = 4 * four + lane;
                    if k < M {
                        costs[lane] = simd.load(&columns[k]);
                        let reduced = simd.sub(costs[lane], simd.splat(self.duals[four][lane]));
                        let is_best = simd.below(reduced, least);
                        best = simd.choose(is_best, simd.splat(number(k)), best);
                        least = simd.lesser(reduced, least);
                    }
                }
                let turned = simd.transpose(costs[0], costs[1], costs[2], costs[3]);
                for lane in 0..4 {
                    simd.store(turned[lane], &mut rows[lane * fours::<M>() + four]);
                }
            }
            let mut sinks: Four = [0.0; 4];
            simd.store(best, &mut sinks);
            if block < masses.len() {
                for lane in 0..4 {
                    let sink = sinks[lane].to_bits() as usize;
                    self.add(sink, 4 * block + lane, masses[block][lane]);
                }
            } else {
                for (lane, &mass) in rest.iter().enumerate() {
                    let sink = sinks[lane].to_bits() as usize;
                    self.add(sink, 4 * block + lane, mass);
                }
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, sink: usize, source: usize, mass: f64) {
        let source = source as u32;
        let end = &mut self.ends[sink];
        self.entries[*end as usize] = Entry { mass, source };
        *end += 1;
        self.surplus[sink] += mass;
    }
}
