//! A lower bound from feasible dual values.
//!
//! Any numbers `u_i` (a source each) and `v_j` (a sink each) with
//! `u_i + v_j <= cost_ij` make `sum supply_i u_i + sum demand_j v_j` a lower bound of
//! the transport cost. The relaxed distances are two such: all `v` zero and `u` as
//! great as can be, or the other way round. Three better ones in two passes over the
//! costs each: begin with some `v`, give every source the greatest `u` it can have,
//! then raise every `v` as far as that allows.
//!
//! - From `v = 0`: never below the sources' relaxed distance.
//! - From the greatest `v` with `u = 0`: never below the sinks' relaxed distance.
//! - From the mean cost of every sink, where the exact solver starts as well: sinks
//!   far from everything have to be paid for. Usually the best.
//!
//! Costs are in single precision, and lower bounds of the true ones. However `u` was rounded,
//! `v_j` is at most `cost_ij - u_i` as rounded, so `u_i + v_j` exceeds `cost_ij` by at most half
//! a unit in the last place of that difference; the masses sum to one, so the bound is too great
//! by no more than that, which is subtracted twice over.

use crate::float_environment::IeeeArithmetic;
use crate::instruction_sets::by_instruction_set;

/// Columns handled together; rows of costs are whole multiples of it.
pub(super) const LANES: usize = 16;

/// The distance between 1 and the next number of single precision.
const ROUNDING: f64 = f32::EPSILON as f64;

/// Costs of a table, of which a problem has some rows and some columns.
#[derive(Clone, Copy)]
pub(super) struct Costs<'c> {
    /// Rows of `width` costs each.
    pub table: &'c [f32],
    pub width: usize,
    /// The rows of the problem's sources.
    pub rows: &'c [u32],
}

/// Memory of [`DualBound::lower_bound`], reused.
#[derive(Debug, Default)]
pub(super) struct DualBound {
    /// By column: minus infinity where there is no sink, otherwise 0.
    mask: Vec<f32>,
    start: Vec<f32>,
    raised: Vec<f32>,
}

impl DualBound {
    /// The greatest of the three bounds, but no more of them than it takes to exceed
    /// `enough`. `demand` is by column, 0 where there is no sink.
    ///
    /// # Panics
    ///
    /// If the lengths do not fit.
    pub fn lower_bound(
        &mut self,
        costs: Costs,
        supply: &[f64],
        demand: &[f64],
        enough: f64,
    ) -> f64 {
        assert_eq!(costs.width % LANES, 0, "whole lanes");
        assert_eq!(costs.rows.len(), supply.len(), "a row a source");
        assert!(demand.len() <= costs.width, "a column a sink");
        let _ieee = IeeeArithmetic::enter();
        let this = self;
        by_instruction_set!(
            (this: &mut DualBound, costs: Costs, supply: &[f64], demand: &[f64], enough: f64) -> f64,
            |_set| this.lower_bound_portable(costs, supply, demand, enough)
        )
    }

    #[inline(always)]
    fn lower_bound_portable(
        &mut self,
        costs: Costs,
        supply: &[f64],
        demand: &[f64],
        enough: f64,
    ) -> f64 {
        self.mask.clear();
        let masked = |&mass: &f64| if mass > 0.0 { 0.0 } else { f32::NEG_INFINITY };
        self.mask.extend(demand.iter().map(masked));
        self.mask.resize(costs.width, f32::NEG_INFINITY);

        // What it starts from may be rounded in any way.
        self.refill(0.0);
        let total: f64 = supply.iter().sum();
        for (row, &mass) in rows(costs).zip(supply) {
            let share = (mass / total) as f32;
            for (mean, &cost) in self.start.iter_mut().zip(row) {
                *mean += share * cost;
            }
        }
        let mut best = self.improved(costs, supply, demand);
        if best > enough {
            return best;
        }
        self.refill(f32::INFINITY);
        for row in rows(costs) {
            for (least, &cost) in self.start.iter_mut().zip(row) {
                *least = if cost < *least { cost } else { *least };
            }
        }
        best = best.max(self.improved(costs, supply, demand));
        if best > enough {
            return best;
        }
        self.refill(0.0);
        best.max(self.improved(costs, supply, demand))
    }

    /// The bound from the dual values in `start`.
    #[inline(always)]
    fn improved(&mut self, costs: Costs, supply: &[f64], demand: &[f64]) -> f64 {
        for (start, &mask) in self.start.iter_mut().zip(&self.mask) {
            // Columns without a sink must not be anybody's least.
            *start += mask;
        }
        self.raised.clear();
        self.raised.resize(costs.width, f32::INFINITY);
        let (mut bound, mut greatest) = (0.0, 0.0f32);
        for (row, &mass) in rows(costs).zip(supply) {
            let least = least_difference(row, &self.start);
            bound += mass * f64::from(least);
            greatest = greatest.max(least.abs());
            for (raised, &cost) in self.raised.iter_mut().zip(row) {
                let value = cost - least;
                *raised = if value < *raised { value } else { *raised };
            }
        }
        let mut greatest_raised = 0.0f32;
        for (&mass, &dual) in demand.iter().zip(&self.raised) {
            if mass > 0.0 {
                bound += mass * f64::from(dual);
                greatest_raised = greatest_raised.max(dual.abs());
            }
        }
        // A difference that was the least is one of `raised`.
        bound - ROUNDING * f64::from(greatest_raised.max(greatest))
    }

    fn refill(&mut self, value: f32) {
        self.start.clear();
        self.start.resize(self.mask.len(), value);
    }
}

#[inline(always)]
fn rows<'c>(costs: Costs<'c>) -> impl Iterator<Item = &'c [f32]> {
    let Costs { table, width, rows } = costs;
    let rows = rows.iter();
    rows.map(move |&row| &table[row as usize * width..][..width])
}

/// The least of the differences, lane by lane first.
#[inline(always)]
fn least_difference(row: &[f32], start: &[f32]) -> f32 {
    let mut least = [f32::INFINITY; LANES];
    let (row, start) = (row.as_chunks::<LANES>().0, start.as_chunks::<LANES>().0);
    for (costs, duals) in row.iter().zip(start) {
        for l in 0..LANES {
            let value = costs[l] - duals[l];
            least[l] = if value < least[l] { value } else { least[l] };
        }
    }
    least.into_iter().fold(f32::INFINITY, f32::min)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transport::{self, relaxed_from_demand, relaxed_from_supply};

    /// Costs with many ties, and masses of sum one.
    fn problems() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>)> {
        let masses = |n| prop::collection::vec(1..6u32, n);
        let shares = |masses: Vec<u32>| -> Vec<f64> {
            let total = f64::from(masses.iter().sum::<u32>());
            masses.iter().map(|&mass| f64::from(mass) / total).collect()
        };
        (1..12usize, 1..12usize).prop_flat_map(move |(n, m)| {
            let costs =
                prop::collection::vec((0..9u32).prop_map(|c| f64::from(c as f32 / 7.0)), n * m);
            (
                costs,
                masses(n).prop_map(shares),
                masses(m).prop_map(shares),
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        /// Columns without a sink, the first and the last of the table, cost next to nothing.
        #[test]
        fn the_bound_lies_between_the_relaxed_and_the_exact_cost(
            (costs, supply, demand) in problems(),
        ) {
            let (m, width) = (demand.len(), LANES);
            let mut table = vec![-7.0f32; (supply.len() + 1) * width];
            for (i, row) in costs.chunks_exact(m).enumerate() {
                for (j, &cost) in row.iter().enumerate() {
                    table[(i + 1) * width + j + 1] = cost as f32;
                }
            }
            let rows: Vec<u32> = (1..=supply.len() as u32).collect();
            let columns: Vec<f64> = [0.0].into_iter().chain(demand.iter().copied()).collect();
            let problem = Costs { table: &table, width, rows: &rows };
            let mut dual_bound = DualBound::default();
            let bound = dual_bound.lower_bound(problem, &supply, &columns, f64::INFINITY);
            let exact = transport::solve(&costs, &supply, &demand).unwrap().cost;
            prop_assert!(bound <= exact + 1e-12, "{bound} {exact}");
            prop_assert!(bound >= relaxed_from_supply(&costs, &supply, m) - 1e-5);
            prop_assert!(bound >= relaxed_from_demand(&costs, &demand) - 1e-5);
            let early = dual_bound.lower_bound(problem, &supply, &columns, 0.5 * exact);
            prop_assert!(early <= bound && (early > 0.5 * exact || early == bound));
        }
    }
}
