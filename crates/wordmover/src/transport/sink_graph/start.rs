//! Where the solver starts: the problem on its grid, good dual values, and every
//! source on the sink it prefers.

use super::grid::Grid;
use super::{Entry, MOST_KNOWN, Workspace, is_dense, sinks};
use crate::transport::lanes::{Four, Simd, number};

/// Bits of the cost grid below the largest cost, and of the mass grid below the total.
const COST_BITS: i32 = 48;
const MASS_BITS: i32 = 52;

/// How much of the estimated correction of the dual values is applied. Measured on
/// unit vectors: the number of augmentations is flat between 0.5 and 0.8.
const CORRECTION: f64 = 0.65;

impl Workspace {
    #[inline(always)]
    pub(super) fn start<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) {
        let (n, m) = (supply.len(), sinks::<M>(demand.len()));
        self.n_sources = n;
        self.n_sinks = m;
        if !self.has_room(n, m) {
            self.make_room(n, m);
        }
        for known in &mut self.edges_known[..m] {
            *known = false;
        }
        let cost_grid = Grid::below(largest(simd, costs), COST_BITS);
        let total = total(simd, supply);
        let mass_grid = Grid::below(total, MASS_BITS);

        self.round::<S, M>(simd, costs, supply, cost_grid, mass_grid);
        self.owe(simd, demand, mass_grid, m);
        for (dual, sum) in self.duals.as_flattened_mut()[..m]
            .iter_mut()
            .zip(&self.sums)
        {
            *dual = cost_grid.round(simd.total(simd.load(sum)) / total);
        }
        for _ in 0..corrections::<M>(n) {
            self.correct_duals::<S, M>(simd, demand, total, cost_grid);
        }
        if is_dense::<M>() {
            self.assign_shares::<S, M>(simd);
        } else {
            self.assign_lists::<S, M>(simd);
        }
    }

    /// Makes the workspace that of a problem with one sink, whose dual value is 0.
    pub(super) fn make_one_sink(&mut self, n: usize) {
        if !self.has_room(n, 1) {
            self.make_room(n, 1);
        }
        self.n_sources = n;
        self.n_sinks = 1;
        self.duals[0] = [0.0; 4];
    }

    fn has_room(&self, n: usize, m: usize) -> bool {
        let n_blocks = n.div_ceil(4);
        self.rows.len() >= n * m + 8
            && self.columns.len() >= n_blocks * m
            && self.masses.len() >= n_blocks
            && self.entries.len() >= n * m
            && self.settled.len() >= m
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize, m: usize) {
        let (n_blocks, n_fours) = (n.div_ceil(4), m.div_ceil(4));
        grow(&mut self.rows, n * m + 8);
        grow(&mut self.columns, n_blocks * m);
        grow(&mut self.masses, n_blocks);
        grow(&mut self.shares, n_blocks * m);
        grow(&mut self.entries, n * m);
        grow(&mut self.sums, 4 * n_fours);
        grow(&mut self.duals, n_fours);
        grow(&mut self.open_duals, n_fours);
        grow(&mut self.open_distances, n_fours);
        grow(&mut self.edge_cost, 4 * n_fours * n_fours);
        grow(&mut self.edge_source, 4 * n_fours * n_fours);
        grow(&mut self.edges_known, 4 * n_fours);
        grow(&mut self.surplus, 4 * n_fours);
        grow(&mut self.list_end, 4 * n_fours);
        grow(&mut self.settled, 4 * n_fours);
        grow(&mut self.path, 4 * n_fours);
    }

    /// Costs and supplies on their grids, by rows and by columns of four sources, and
    /// the sums of the columns weighted by mass.
    #[inline(always)]
    fn round<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        costs: &[f64],
        supply: &[f64],
        cost_grid: Grid,
        mass_grid: Grid,
    ) {
        let (n, m) = (supply.len(), sinks::<M>(self.n_sinks));
        let mut sums = [simd.splat(0.0); MOST_KNOWN];
        if M == 0 {
            self.sums[..m].fill([0.0; 4]);
        }
        let (supply_fours, supply_rest) = supply.as_chunks::<4>();
        for (block, mass) in supply_fours.iter().enumerate() {
            let given = costs[block * 4 * m..][..4 * m].as_chunks::<4>().0;
            let rows = &mut self.rows[block * 4 * m..][..4 * m];
            for (given, row) in given.iter().zip(rows.as_chunks_mut::<4>().0) {
                simd.store(cost_grid.round_lanes(simd, simd.load(given)), row);
            }
            let mass = mass_grid.round_lanes(simd, simd.load(mass));
            simd.store(mass, &mut self.masses[block]);
            let columns = &mut self.columns[block * m..][..m];
            for k in 0..m {
                let column = simd.of(rows[k], rows[m + k], rows[2 * m + k], rows[3 * m + k]);
                simd.store(column, &mut columns[k]);
                let weighted = simd.mul(column, mass);
                if M > 0 {
                    sums[k] = simd.add(sums[k], weighted);
                } else {
                    let sum = simd.add(simd.load(&self.sums[k]), weighted);
                    simd.store(sum, &mut self.sums[k]);
                }
            }
        }
        if !supply_rest.is_empty() {
            let block = supply_fours.len();
            let mut mass = [0.0; 4];
            for (rounded, &given) in mass.iter_mut().zip(supply_rest) {
                *rounded = mass_grid.round(given);
            }
            self.masses[block] = mass;
            for (row, &given) in self.rows[block * 4 * m..]
                .iter_mut()
                .zip(&costs[block * 4 * m..])
            {
                *row = cost_grid.round(given);
            }
            // The last source stands in for those that are not there; they have no mass.
            let row = |lane: usize| (block * 4 + lane).min(n - 1) * m;
            for k in 0..m {
                let rows = &self.rows;
                let column = [
                    rows[row(0) + k],
                    rows[row(1) + k],
                    rows[row(2) + k],
                    rows[row(3) + k],
                ];
                self.columns[block * m + k] = column;
                let weighted = simd.mul(simd.load(&column), simd.load(&mass));
                if M > 0 {
                    sums[k] = simd.add(sums[k], weighted);
                } else {
                    let sum = simd.add(simd.load(&self.sums[k]), weighted);
                    simd.store(sum, &mut self.sums[k]);
                }
            }
        }
        if M > 0 {
            for (sum, stored) in sums.iter().zip(&mut self.sums[..m]) {
                simd.store(*sum, stored);
            }
        }
    }

    /// What every sink lacks while it has nothing. Rounding, and an imbalance of the
    /// input within its tolerance, are settled with the largest demand.
    #[inline(always)]
    fn owe<S: Simd>(&mut self, simd: S, demand: &[f64], grid: Grid, m: usize) {
        let mut masses = simd.splat(0.0);
        for mass in &self.masses[..self.n_sources.div_ceil(4)] {
            masses = simd.add(masses, simd.load(mass));
        }
        let mut left_over = simd.total(masses);
        let surplus = &mut self.surplus[..m];
        let mut largest = 0;
        for k in 0..m {
            let owed = grid.round(demand[k]);
            left_over -= owed;
            surplus[k] = -owed;
            if surplus[k] < surplus[largest] {
                largest = k;
            }
        }
        surplus[largest] -= left_over;
    }

    /// Moves dual values towards balance. If every sink's share of the sources were
    /// spread evenly over the gaps between best and second-best sink, lowering a dual
    /// by `gap * surplus / demand` would shed the surplus; gaps are of one size for all
    /// sinks, so their mean will do.
    #[inline(always)]
    fn correct_duals<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        demand: &[f64],
        total: f64,
        grid: Grid,
    ) {
        let m = sinks::<M>(self.n_sinks);
        let n_blocks = self.n_sources.div_ceil(4);
        let duals = &mut self.duals.as_flattened_mut()[..m];
        let mut loads = [simd.splat(0.0); MOST_KNOWN];
        if M == 0 {
            self.sums[..m].fill([0.0; 4]);
        }
        let mut gaps = simd.splat(0.0);
        let blocks = self.columns.chunks_exact(m).zip(&self.masses[..n_blocks]);
        for (columns, mass) in blocks {
            let mass = simd.load(mass);
            let reduced = |k: usize| simd.sub(simd.load(&columns[k]), simd.splat(duals[k]));
            let mut kept = [simd.splat(0.0); MOST_KNOWN];
            let mut least = simd.splat(f64::INFINITY);
            let mut second = least;
            for k in 0..m {
                let reduced = reduced(k);
                if M > 0 {
                    kept[k] = reduced;
                }
                second = simd.lesser(second, simd.greater(reduced, least));
                least = simd.lesser(reduced, least);
            }
            gaps = simd.add(gaps, simd.mul(simd.sub(second, least), mass));
            for k in 0..m {
                if M > 0 {
                    let here = simd.keep(simd.same(kept[k], least), mass);
                    loads[k] = simd.add(loads[k], here);
                } else {
                    let here = simd.keep(simd.same(reduced(k), least), mass);
                    let sum = simd.add(simd.load(&self.sums[k]), here);
                    simd.store(sum, &mut self.sums[k]);
                }
            }
        }
        let gap = CORRECTION * simd.total(gaps) / total;
        for k in 0..m {
            let load = simd.total(if M > 0 {
                loads[k]
            } else {
                simd.load(&self.sums[k])
            });
            // Never more than a gap, so that duals stay in the range where sums are exact.
            let excess = ((load - demand[k]) / demand[k]).clamp(-1.0, 1.0);
            duals[k] = grid.round(duals[k] - gap * excess);
        }
    }

    /// Every source to its best sink, as a dense table; ties go to the first.
    #[inline(always)]
    fn assign_shares<S: Simd, const M: usize>(&mut self, simd: S) {
        let n_blocks = self.n_sources.div_ceil(4);
        let duals = &self.duals.as_flattened()[..M];
        let mut loads = [simd.splat(0.0); super::MOST_DENSE];
        let blocks = self.columns.chunks_exact(M).zip(&self.masses[..n_blocks]);
        for ((columns, mass), shares) in blocks.zip(self.shares.chunks_exact_mut(M)) {
            let mut reduced = [simd.splat(0.0); super::MOST_DENSE];
            let mut least = simd.splat(f64::INFINITY);
            for k in 0..M {
                reduced[k] = simd.sub(simd.load(&columns[k]), simd.splat(duals[k]));
                least = simd.lesser(reduced[k], least);
            }
            let mut free = simd.load(mass);
            for k in 0..M {
                let best = simd.same(reduced[k], least);
                let here = simd.keep(best, free);
                free = simd.drop(best, free);
                simd.store(here, &mut shares[k]);
                loads[k] = simd.add(loads[k], here);
            }
        }
        for (surplus, load) in self.surplus[..M].iter_mut().zip(loads) {
            *surplus += simd.total(load);
        }
    }

    /// Every source to its best sink, as lists; ties go to the first.
    #[inline(always)]
    fn assign_lists<S: Simd, const M: usize>(&mut self, simd: S) {
        let (n, m) = (self.n_sources, sinks::<M>(self.n_sinks));
        let n_blocks = n.div_ceil(4);
        let duals = &self.duals.as_flattened()[..m];
        let ends = &mut self.list_end[..m];
        for k in 0..m {
            ends[k] = (k * n) as u32;
        }
        let surplus = &mut self.surplus[..m];
        let entries = &mut self.entries[..n * m];
        let blocks = self.columns.chunks_exact(m).zip(&self.masses[..n_blocks]);
        for (block, (columns, masses)) in blocks.enumerate() {
            let mut least = simd.splat(f64::INFINITY);
            let mut best = simd.splat(number(0));
            for k in 0..m {
                let reduced = simd.sub(simd.load(&columns[k]), simd.splat(duals[k]));
                best = simd.choose(simd.below(reduced, least), simd.splat(number(k)), best);
                least = simd.lesser(reduced, least);
            }
            let mut sinks: Four = [0.0; 4];
            simd.store(best, &mut sinks);
            for lane in 0..4 {
                let mass = masses[lane];
                if mass > 0.0 {
                    let sink = sinks[lane].to_bits() as usize;
                    let row = ((block * 4 + lane) * m) as u32;
                    entries[ends[sink] as usize] = Entry { mass, row };
                    ends[sink] += 1;
                    surplus[sink] += mass;
                }
            }
        }
    }
}

/// How often the dual values are corrected: few sources are sooner moved than
/// counted, and between many sinks gaps are too small to aim by.
#[inline(always)]
fn corrections<const M: usize>(n_sources: usize) -> usize {
    match n_sources {
        _ if M == 0 => 0,
        0..16 => 0,
        16..128 => 1,
        _ => 2,
    }
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

/// Never shrinks: what lies beyond the problem at hand is not read.
fn grow<T: Copy + Default>(values: &mut Vec<T>, len: usize) {
    if values.len() < len {
        values.resize(len, T::default());
    }
}
