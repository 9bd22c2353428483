//! Every source on the sink it prefers.

use super::{Graph, MOST_SINKS, Number, Piece, SinkGraph, Start};
use crate::lanes::{FAR, Four, Simd};

impl<N: Number, const M: usize, const W: usize> Graph<'_, N, M, W> {
    /// Every source to its best sink, as lists, with its row of reduced costs; but those that
    /// prefer theirs by the margin are put aside, and only count. Gives what all of it costs,
    /// by reduced costs.
    #[inline(always)]
    pub fn assign<S: Simd>(&mut self, simd: S, start: &Start, demand: &[f64; M], mass: f64) -> f64 {
        let (n, m) = (self.n_sources, self.sinks.get());
        for k in 0..m {
            self.ends[k] = (k * n) as u32;
        }
        let zero = simd.splat(0.0);
        let margin = simd.splat(start.margin);
        let mut duals = [zero; MOST_SINKS];
        for k in 1..m {
            duals[k] = simd.splat(start.duals[k]);
        }
        let mut loads = [zero; MOST_SINKS];
        let mut cost = zero;
        let masses = self.masses.as_chunks::<4>().0;
        let mut columns = self.columns.chunks_exact(self.sinks.others());
        let mut rows = self.rows.as_chunks_mut::<4>().0.iter_mut();
        // Not zipped: three of them are too many for the optimiser.
        for (block, mass) in masses.iter().enumerate() {
            let (Some(columns), Some(rows)) = (columns.next(), rows.next()) else {
                break;
            };
            let columns = &columns[..self.sinks.others()];
            let mut reduced = [simd.load(&FAR); MOST_SINKS];
            reduced[0] = zero;
            let (mut least, mut second) = (zero, zero);
            for k in 1..m {
                let cost = start.grid.round_lanes(simd, simd.load(&columns[k - 1]));
                reduced[k] = simd.sub(cost, duals[k]);
                let greater = simd.greater(reduced[k], least);
                second = match k {
                    1 => greater,
                    _ => simd.lesser(second, greater),
                };
                least = simd.lesser(reduced[k], least);
            }
            let masses = simd.load(mass);
            cost = simd.add(cost, simd.mul(masses, least));
            for k in 1..m {
                let here = simd.keep(simd.same(reduced[k], least), masses);
                loads[k] = simd.add(loads[k], here);
            }
            let mut lanes = simd.below_bits(simd.sub(second, least), margin);
            if lanes == 0 {
                continue;
            }
            for w in 0..W {
                let k = 4 * w;
                let (a, b, c, d) = (reduced[k], reduced[k + 1], reduced[k + 2], reduced[k + 3]);
                let turned = simd.transpose(a, b, c, d);
                for lane in 0..4 {
                    simd.store(turned[lane], &mut rows[lane][w]);
                }
            }
            let mut tags: Four = [0.0; 4];
            simd.store(start.tags.shift_lanes(simd, least), &mut tags);
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize % 4;
                lanes &= lanes - 1;
                let sink = tags[lane].to_bits() as usize & (m.next_power_of_two() - 1);
                let source = (4 * block + lane) as u32;
                // Beyond the last source there is no mass.
                if source as usize == n {
                    break;
                }
                let end = &mut self.ends[sink];
                let mass = mass[lane];
                self.pieces[*end as usize] = Piece { mass, source };
                *end += 1;
            }
        }
        let mut first_load = mass;
        for k in 1..m {
            let load = simd.total(loads[k]);
            first_load -= load;
            self.surplus[k] = load - demand[k];
        }
        self.surplus[0] = first_load - demand[0];
        simd.total(cost)
    }
}

impl SinkGraph {
    /// Visits the sources that [`Graph::assign`] put aside: source, sink and mass.
    pub(super) fn each_put_aside(&self, visit: &mut impl FnMut(usize, usize, f64)) {
        let Start {
            grid,
            duals,
            margin,
            ..
        } = &self.start;
        if *margin == f64::INFINITY {
            return;
        }
        let others = self.n_sinks - 1;
        let blocks = self.columns.chunks_exact(others).zip(&self.masses);
        for (block, (columns, masses)) in blocks.take(self.n_sources.div_ceil(4)).enumerate() {
            let (mut best, mut least, mut second) = ([0; 4], [0.0; 4], [f64::INFINITY; 4]);
            for (k, column) in (1..).zip(columns) {
                for lane in 0..4 {
                    let reduced = grid.round(column[lane]) - duals[k];
                    // Choices, not branches, which nobody could foresee.
                    let is_less = reduced < least[lane];
                    let greater = if is_less { least[lane] } else { reduced };
                    second[lane] = if greater < second[lane] {
                        greater
                    } else {
                        second[lane]
                    };
                    best[lane] = if is_less { k } else { best[lane] };
                    least[lane] = if is_less { reduced } else { least[lane] };
                }
            }
            for lane in 0..4 {
                let source = 4 * block + lane;
                if source < self.n_sources && second[lane] - least[lane] >= *margin {
                    visit(source, best[lane], masses[lane]);
                }
            }
        }
    }
}
