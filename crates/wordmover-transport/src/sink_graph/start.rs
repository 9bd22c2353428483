//! Costs compared, and dual values to aim by.

use super::{MOST_SINKS, Number, SinkGraph};
use crate::grid::Grid;
use crate::lanes::{Four, Simd};
use crate::problem::Problem;

/// Sums over the sources.
pub(super) struct Sums<L> {
    pub first_cost: L,
    /// What sinks cost beyond the first, weighted by mass.
    pub beyond: [L; MOST_SINKS],
    pub largest: L,
    pub mass: L,
}

/// Dual values to aim by, 0 for the first sink, the mean difference between best and
/// second-best sink, and the difference between the fullest sink and the emptiest before the last
/// correction, in demands.
#[derive(Default)]
pub(super) struct Aim {
    pub duals: [f64; MOST_SINKS],
    pub gap: f64,
    pub imbalance: f64,
}

impl SinkGraph {
    /// Fills `columns` with the costs beyond those of the first sink, and `masses`.
    #[inline(always)]
    pub(super) fn compare_costs<S: Simd, N: Number>(
        &mut self,
        simd: S,
        sinks: N,
        problem: Problem,
        mass_grid: Grid,
    ) -> Sums<S::Lanes> {
        let Problem { costs, supply, .. } = problem;
        let (n, m) = (supply.len(), sinks.get());
        let zero = simd.splat(0.0);
        let mut sums = Sums {
            first_cost: zero,
            beyond: [zero; MOST_SINKS],
            largest: zero,
            mass: zero,
        };
        let (fours, rest) = supply.as_chunks::<4>();
        let mut columns = self.columns.chunks_exact_mut(sinks.others());
        let mut masses = self.masses.iter_mut();
        let mut block = [zero; MOST_SINKS];
        if problem.is_by_sinks {
            for (at, mass) in fours.iter().enumerate() {
                for k in 0..m {
                    block[k] = simd.load_at(costs, k * n + 4 * at);
                }
                let (Some(columns), Some(rounded)) = (columns.next(), masses.next()) else {
                    break;
                };
                let mass = mass_grid.round_positive(simd, simd.load(mass));
                compare_four(simd, sinks, &block, mass, columns, rounded, &mut sums);
            }
        } else {
            for (rows, mass) in costs.chunks_exact(4 * m).zip(fours) {
                let rows = &rows[..4 * m];
                let mut k = 0;
                while k + 4 <= m {
                    let turned = simd.transpose(
                        simd.load_at(rows, k),
                        simd.load_at(rows, m + k),
                        simd.load_at(rows, 2 * m + k),
                        simd.load_at(rows, 3 * m + k),
                    );
                    block[k..][..4].copy_from_slice(&turned);
                    k += 4;
                }
                while k < m {
                    block[k] = simd.of(rows[k], rows[m + k], rows[2 * m + k], rows[3 * m + k]);
                    k += 1;
                }
                let (Some(columns), Some(rounded)) = (columns.next(), masses.next()) else {
                    break;
                };
                let mass = mass_grid.round_positive(simd, simd.load(mass));
                compare_four(simd, sinks, &block, mass, columns, rounded, &mut sums);
            }
        }
        if !rest.is_empty()
            && let (Some(columns), Some(rounded)) = (columns.next(), masses.next())
        {
            // Sources that are not there are the last, without mass.
            let start = n - rest.len();
            for k in 0..m {
                let cost = |lane: usize| problem.cost((start + lane).min(n - 1), k);
                block[k] = simd.of(cost(0), cost(1), cost(2), cost(3));
            }
            let mut mass = [0.0; 4];
            mass[..rest.len()].copy_from_slice(rest);
            let mass = mass_grid.round_masses(simd, simd.load(&mass));
            compare_four(simd, sinks, &block, mass, columns, rounded, &mut sums);
        }
        sums
    }

    /// Moves the aim towards balance. If every sink's share of the sources were spread evenly
    /// over the gaps between best and second-best sink, lowering its value by
    /// `gap * surplus / demand` would shed the surplus; gaps are of one size for all sinks, so
    /// their mean will do. `step` is how much of that is done.
    #[inline(always)]
    pub(super) fn correct<S: Simd, N: Number, const MEASURES_GAP: bool>(
        &self,
        simd: S,
        sinks: N,
        demand: &[f64],
        total: f64,
        step: f64,
        aim: &mut Aim,
    ) {
        let m = sinks.get();
        let demand = &demand[..m];
        let n_blocks = self.n_sources.div_ceil(4);
        let zero = simd.splat(0.0);
        let mut aims = [zero; MOST_SINKS];
        for k in 1..m {
            aims[k] = simd.splat(aim.duals[k]);
        }
        let mut loads = [zero; MOST_SINKS];
        let mut gaps = zero;
        let columns = self.columns.chunks_exact(sinks.others());
        let blocks = columns.zip(&self.masses[..n_blocks]);
        for (columns, mass) in blocks {
            let columns = &columns[..sinks.others()];
            let mass = simd.load(mass);
            let mut reduced = [zero; MOST_SINKS];
            reduced[1] = simd.sub(simd.load(&columns[0]), aims[1]);
            let mut least = simd.lesser(reduced[1], zero);
            let mut second = simd.greater(reduced[1], zero);
            for k in 2..m {
                reduced[k] = simd.sub(simd.load(&columns[k - 1]), aims[k]);
                if MEASURES_GAP {
                    second = simd.lesser(second, simd.greater(reduced[k], least));
                }
                least = simd.lesser(reduced[k], least);
            }
            if MEASURES_GAP {
                gaps = simd.add(gaps, simd.mul(simd.sub(second, least), mass));
            }
            for k in 1..m {
                let here = simd.keep(simd.same(reduced[k], least), mass);
                loads[k] = simd.add(loads[k], here);
            }
        }
        if MEASURES_GAP {
            aim.gap = simd.total(gaps) / total;
        }
        let mut excess = [0.0; MOST_SINKS];
        let mut first_load = total;
        for k in 1..m {
            let load = simd.total(loads[k]);
            first_load -= load;
            excess[k] = (load / demand[k] - 1.0).clamp(-1.0, 1.0);
        }
        excess[0] = (first_load / demand[0] - 1.0).clamp(-1.0, 1.0);
        let (mut least, mut most) = (excess[0], excess[0]);
        for k in 1..m {
            least = if excess[k] < least { excess[k] } else { least };
            most = if excess[k] > most { excess[k] } else { most };
            aim.duals[k] -= step * aim.gap * (excess[k] - excess[0]);
        }
        aim.imbalance = most - least;
    }
}

#[inline(always)]
fn compare_four<S: Simd, N: Number>(
    simd: S,
    sinks: N,
    costs: &[S::Lanes; MOST_SINKS],
    mass: S::Lanes,
    columns: &mut [Four],
    rounded_mass: &mut Four,
    sums: &mut Sums<S::Lanes>,
) {
    simd.store(mass, rounded_mass);
    sums.mass = simd.add(sums.mass, mass);
    sums.first_cost = simd.add(sums.first_cost, simd.mul(costs[0], mass));
    let columns = &mut columns[..sinks.others()];
    // Of this block first: one maximum waits for the other, but not for those of other blocks.
    let mut largest = simd.splat(0.0);
    for k in 1..sinks.get() {
        let beyond = simd.sub(costs[k], costs[0]);
        simd.store(beyond, &mut columns[k - 1]);
        sums.beyond[k] = simd.add(sums.beyond[k], simd.mul(beyond, mass));
        largest = simd.greater(simd.abs(beyond), largest);
    }
    sums.largest = simd.greater(largest, sums.largest);
}
