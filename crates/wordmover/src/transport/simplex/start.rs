//! The problem on its grid, and dual values to aim by.

use super::NetworkSimplex;
use crate::transport::grid::Grid;
use crate::transport::lanes::{Four, Simd};
use crate::transport::problem::{MASS_BITS, Problem, cost_bits};

/// How much of the estimated correction of the aim is applied. Measured on
/// unit vectors: what is left to do is flat between 0.5 and 0.8.
const CORRECTION: f64 = 0.65;

impl NetworkSimplex {
    /// Puts the problem on its grids and finds an aim.
    #[inline(always)]
    pub(super) fn start<S: Simd>(&mut self, simd: S, problem: Problem, corrections: usize) {
        let m = problem.demand.len();
        let cost_grid = Grid::below(largest(simd, problem.costs), cost_bits(m));
        let total = total(simd, problem.supply);
        let mass_grid = Grid::below(total, MASS_BITS);
        self.sums[..m].fill([0.0; 4]);
        if problem.is_transposed {
            self.round_columns(simd, problem, cost_grid, mass_grid);
        } else {
            self.round_rows(simd, problem, cost_grid, mass_grid);
        }
        self.measure_room(simd, problem.demand, mass_grid, m);
        let (aim, stored) = (&mut self.aim[..m], &self.sums[..m]);
        for k in 0..m {
            aim[k] = [simd.total(simd.load(&stored[k])) / total; 4];
        }
        for _ in 0..corrections {
            self.correct_aim(simd, problem.demand, total);
        }
    }

    /// Costs and supplies on their grids, and the sums of the columns weighted by mass,
    /// from costs given source by source.
    #[inline(always)]
    fn round_rows<S: Simd>(&mut self, simd: S, problem: Problem, cost_grid: Grid, mass_grid: Grid) {
        let Problem { costs, supply, .. } = problem;
        let m = self.n_sinks;
        let stored = &mut self.sums[..m];
        let (supply_fours, supply_rest) = supply.as_chunks::<4>();
        let blocks = costs.chunks_exact(4 * m).zip(supply_fours);
        let columns = self.columns.chunks_exact_mut(m).zip(&mut self.masses);
        for ((rows, mass), (columns, rounded_mass)) in blocks.zip(columns) {
            let mass = mass_grid.round_lanes(simd, simd.load(mass));
            let mass = simd.greater(mass, simd.splat(mass_grid.unit()));
            simd.store(mass, rounded_mass);
            let (columns, rows) = (&mut columns[..m], &rows[..4 * m]);
            let mut k = 0;
            while k + 4 <= m {
                let turned = simd.transpose(
                    simd.load_at(rows, k),
                    simd.load_at(rows, m + k),
                    simd.load_at(rows, 2 * m + k),
                    simd.load_at(rows, 3 * m + k),
                );
                for lane in 0..4 {
                    let column = cost_grid.round_lanes(simd, turned[lane]);
                    simd.store(column, &mut columns[k + lane]);
                    add_weighted(simd, &mut stored[k + lane], column, mass);
                }
                k += 4;
            }
            while k < m {
                let column = simd.of(rows[k], rows[m + k], rows[2 * m + k], rows[3 * m + k]);
                let column = cost_grid.round_lanes(simd, column);
                simd.store(column, &mut columns[k]);
                add_weighted(simd, &mut stored[k], column, mass);
                k += 1;
            }
        }
        if !supply_rest.is_empty() {
            // The last source stands in for those that are not there; they have no mass.
            let block = supply_fours.len();
            let mass = rounded_rest(simd, supply_rest, mass_grid);
            simd.store(mass, &mut self.masses[block]);
            let rows = &costs[block * 4 * m..];
            let last = supply_rest.len() - 1;
            let (second, third) = (&rows[1.min(last) * m..][..m], &rows[2.min(last) * m..][..m]);
            let (first, fourth) = (&rows[..m], &rows[last * m..][..m]);
            for k in 0..m {
                let column = simd.of(first[k], second[k], third[k], fourth[k]);
                let column = cost_grid.round_lanes(simd, column);
                simd.store(column, &mut self.columns[block * m + k]);
                add_weighted(simd, &mut stored[k], column, mass);
            }
        }
    }

    /// The same, from costs given sink by sink.
    #[inline(always)]
    fn round_columns<S: Simd>(
        &mut self,
        simd: S,
        problem: Problem,
        cost_grid: Grid,
        mass_grid: Grid,
    ) {
        let Problem { costs, supply, .. } = problem;
        let (n, m) = (supply.len(), self.n_sinks);
        let stored = &mut self.sums[..m];
        let (supply_fours, supply_rest) = supply.as_chunks::<4>();
        let columns = self.columns.chunks_exact_mut(m).zip(&mut self.masses);
        for (block, (mass, (columns, rounded_mass))) in supply_fours.iter().zip(columns).enumerate()
        {
            let mass = mass_grid.round_lanes(simd, simd.load(mass));
            let mass = simd.greater(mass, simd.splat(mass_grid.unit()));
            simd.store(mass, rounded_mass);
            for (k, stored_column) in columns.iter_mut().enumerate() {
                let column = simd.load_at(costs, k * n + 4 * block);
                let column = cost_grid.round_lanes(simd, column);
                simd.store(column, stored_column);
                add_weighted(simd, &mut stored[k], column, mass);
            }
        }
        if !supply_rest.is_empty() {
            let block = supply_fours.len();
            let mass = rounded_rest(simd, supply_rest, mass_grid);
            simd.store(mass, &mut self.masses[block]);
            let last = supply_rest.len() - 1;
            for k in 0..m {
                let rest = &costs[k * n + 4 * block..][..last + 1];
                let column = simd.of(rest[0], rest[1.min(last)], rest[2.min(last)], rest[last]);
                let column = cost_grid.round_lanes(simd, column);
                simd.store(column, &mut self.columns[block * m + k]);
                add_weighted(simd, &mut stored[k], column, mass);
            }
        }
    }

    /// The room in every sink while it has nothing: its demand. Rounding, and an imbalance
    /// of the input within its tolerance, are settled with the largest.
    #[inline(always)]
    fn measure_room<S: Simd>(&mut self, simd: S, demand: &[f64], grid: Grid, m: usize) {
        let mut masses = simd.splat(0.0);
        for mass in &self.masses[..self.n_sources.div_ceil(4)] {
            masses = simd.add(masses, simd.load(mass));
        }
        let mut left_over = simd.total(masses);
        let (room, demand) = (&mut self.room[..m], &demand[..m]);
        let (mut largest, mut most) = (0, 0.0);
        for k in 0..m {
            let rounded = grid.round(demand[k]).max(grid.unit());
            left_over -= rounded;
            room[k] = rounded;
            if rounded > most {
                (largest, most) = (k, rounded);
            }
        }
        room[largest] += left_over;
    }

    /// Moves the aim towards balance. If every sink's share of the sources were spread
    /// evenly over the gaps between best and second-best sink, lowering its value by
    /// `gap * surplus / demand` would shed the surplus; gaps are of one size for all
    /// sinks, so their mean will do.
    #[inline(always)]
    fn correct_aim<S: Simd>(&mut self, simd: S, demand: &[f64], total: f64) {
        let m = self.n_sinks;
        let n_blocks = self.n_sources.div_ceil(4);
        let (aim, stored) = (&mut self.aim[..m], &mut self.sums[..m]);
        stored.fill([0.0; 4]);
        let mut gaps = simd.splat(0.0);
        let blocks = self.columns.chunks_exact(m).zip(&self.masses[..n_blocks]);
        for (columns, mass) in blocks {
            let mass = simd.load(mass);
            let columns = &columns[..m];
            let mut least = simd.splat(f64::INFINITY);
            let mut second = least;
            for k in 0..m {
                let reduced = simd.sub(simd.load(&columns[k]), simd.load(&aim[k]));
                second = simd.lesser(second, simd.greater(reduced, least));
                least = simd.lesser(reduced, least);
            }
            gaps = simd.add(gaps, simd.mul(simd.sub(second, least), mass));
            for k in 0..m {
                let reduced = simd.sub(simd.load(&columns[k]), simd.load(&aim[k]));
                let here = simd.keep(simd.same(reduced, least), mass);
                let sum = simd.add(simd.load(&stored[k]), here);
                simd.store(sum, &mut stored[k]);
            }
        }
        let gap = CORRECTION * simd.total(gaps) / total;
        for k in 0..m {
            let load = simd.load(&stored[k]);
            // Never more than a gap, so that what is made of the aim stays in range.
            let excess = ((simd.total(load) - demand[k]) / demand[k]).clamp(-1.0, 1.0);
            aim[k] = [aim[k][0] - gap * excess; 4];
        }
    }
}

#[inline(always)]
fn add_weighted<S: Simd>(simd: S, sum: &mut Four, column: S::Lanes, mass: S::Lanes) {
    let added = simd.add(simd.load(sum), simd.mul(column, mass));
    simd.store(added, sum);
}

/// The masses of the last block, if it is not full, on their grid.
#[inline(always)]
fn rounded_rest<S: Simd>(simd: S, rest: &[f64], grid: Grid) -> S::Lanes {
    let mut mass = [0.0; 4];
    for (rounded, &given) in mass.iter_mut().zip(rest) {
        *rounded = grid.round(given).max(grid.unit());
    }
    simd.load(&mass)
}

#[inline(always)]
fn largest<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let (fours, rest) = values.as_chunks::<4>();
    let mut largest = simd.splat(0.0);
    for four in fours {
        largest = simd.greater(simd.abs(simd.load(four)), largest);
    }
    let mut most = -simd.least(simd.sub(simd.splat(0.0), largest));
    for value in rest {
        if value.abs() > most {
            most = value.abs();
        }
    }
    most
}

#[inline(always)]
fn total<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let (fours, rest) = values.as_chunks::<4>();
    let mut sum = simd.splat(0.0);
    for four in fours {
        sum = simd.add(sum, simd.load(four));
    }
    simd.total(sum) + rest.iter().sum::<f64>()
}
