//! The problem on its grids, and coarse costs.

use super::NetworkSimplex;
use super::coarse::{round_row, units, width};
use crate::grid::Grid;
use crate::lanes::Simd;
use crate::problem::{MASS_BITS, Problem, cost_bits};

/// The least spread of costs that coarse ones are made for, as a part of the largest: 2^-34.
const LEAST_PART: f64 = 1.0 / (1u64 << 34) as f64;

/// The unit of the grid in coarse ones that makes no difference to them.
const FAR_FINER: f64 = 0.01;

impl NetworkSimplex {
    /// Puts masses on their grid, finds that of the costs, and makes coarse costs.
    #[inline(always)]
    pub(super) fn start<S: Simd>(&mut self, simd: S, costs: &[f64], problem: Problem) {
        let Problem { supply, demand, .. } = problem;
        let (n, m) = (self.n_sources, self.n_sinks);
        let w = width(m);
        let total: f64 = supply.iter().sum();
        self.measure(supply, demand, Grid::below(total, MASS_BITS));
        let (least, most) = self.find_base(simd, costs, supply, total);
        let largest = if -least > most { -least } else { most };
        self.grid = Grid::below(largest, cost_bits(m));
        // Half of each, since the whole may be too much for a double; and not so little that
        // doubles near the largest cost would be off by more than a tenth of a unit.
        let half_spread = (0.5 * most - 0.5 * least).max(LEAST_PART * largest);
        self.units = 0.5 * units(half_spread);
        let base = &self.base[..16 * w];
        let rows = self.coarse[..n * w].chunks_exact_mut(w);
        let rows = costs.chunks_exact(m).zip(rows);
        if self.units * self.grid.unit() < FAR_FINER {
            for (row, coarse) in rows {
                round_row::<S, false, false>(simd, row, self.grid, base, self.units, coarse);
            }
        } else {
            for (row, coarse) in rows {
                round_row::<S, true, false>(simd, row, self.grid, base, self.units, coarse);
            }
        }
        self.coarse_duals[..w].fill([0; 16]);
    }

    /// Masses, and the room in every sink while it has nothing: its demand. Rounding, and an
    /// imbalance of the input within its tolerance, are settled with the largest.
    #[inline(always)]
    fn measure(&mut self, supply: &[f64], demand: &[f64], grid: Grid) {
        let mut left_over = 0.0;
        for (mass, &given) in self.masses.iter_mut().zip(supply) {
            *mass = grid.round(given).max(grid.unit());
            left_over += *mass;
        }
        let (mut largest, mut most) = (0, 0.0);
        for (sink, (room, &given)) in self.room.iter_mut().zip(demand).enumerate() {
            *room = grid.round(given).max(grid.unit());
            left_over -= *room;
            if *room > most {
                (largest, most) = (sink, *room);
            }
        }
        self.room[largest] += left_over;
    }

    /// The mean cost of every sink, weighted by mass; the least and the greatest of all costs, and
    /// of zero.
    #[inline(always)]
    fn find_base<S: Simd>(
        &mut self,
        simd: S,
        costs: &[f64],
        supply: &[f64],
        total: f64,
    ) -> (f64, f64) {
        let m = self.n_sinks;
        let base = &mut self.base[..16 * width(m)];
        base.fill(0.0);
        let (base, rest_of_base) = base.split_at_mut(m / 4 * 4);
        let base = base.as_chunks_mut::<4>().0;
        let (mut least, mut most) = (
            [simd.splat(f64::INFINITY); 2],
            [simd.splat(f64::NEG_INFINITY); 2],
        );
        let (mut rest_least, mut rest_most) = (f64::INFINITY, f64::NEG_INFINITY);
        for (row, &mass) in costs.chunks_exact(m).zip(supply) {
            let weight = mass / total;
            let (fours, rest) = row.as_chunks::<4>();
            let (pairs, last) = fours.as_chunks::<2>();
            let (base_pairs, base_last) = base.as_chunks_mut::<2>();
            for (cost, base) in pairs.iter().zip(base_pairs) {
                // By turns: each minimum waits for the one before.
                for lane in 0..2 {
                    let cost = simd.load(&cost[lane]);
                    least[lane] = simd.lesser(cost, least[lane]);
                    most[lane] = simd.greater(cost, most[lane]);
                    let weighted = simd.mul(cost, simd.splat(weight));
                    simd.store(simd.add(simd.load(&base[lane]), weighted), &mut base[lane]);
                }
            }
            for (cost, base) in last.iter().zip(base_last) {
                let cost = simd.load(cost);
                least[0] = simd.lesser(cost, least[0]);
                most[0] = simd.greater(cost, most[0]);
                let weighted = simd.mul(cost, simd.splat(weight));
                simd.store(simd.add(simd.load(base), weighted), base);
            }
            for (&cost, base) in rest.iter().zip(&mut *rest_of_base) {
                rest_least = if cost < rest_least { cost } else { rest_least };
                rest_most = if cost > rest_most { cost } else { rest_most };
                *base += cost * weight;
            }
        }
        let least = simd.least(simd.lesser(least[0], least[1]));
        let most = simd.most(simd.greater(most[0], most[1]));
        (least.min(rest_least), most.max(rest_most))
    }
}
