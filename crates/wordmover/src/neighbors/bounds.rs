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

/// Memory of [`DualBound::lower_bound`], reused.
#[derive(Debug, Default)]
pub(super) struct DualBound {
    start: Vec<f64>,
    raised: Vec<f64>,
}

impl DualBound {
    /// The greatest of the three bounds, but no more of them than it takes to exceed
    /// `enough`. `costs` has a row of `demand.len()` for every source.
    pub fn lower_bound(
        &mut self,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
        enough: f64,
    ) -> f64 {
        let n_sinks = demand.len();
        self.refill(n_sinks, 0.0);
        let total: f64 = supply.iter().sum();
        for (row, &mass) in costs.chunks_exact(n_sinks).zip(supply) {
            let share = mass / total;
            for (mean, &cost) in self.start.iter_mut().zip(row) {
                *mean += share * cost;
            }
        }
        let mut best = self.improved(costs, supply, demand);
        if best > enough {
            return best;
        }
        self.refill(n_sinks, f64::INFINITY);
        for row in costs.chunks_exact(n_sinks) {
            for (least, &cost) in self.start.iter_mut().zip(row) {
                *least = least.min(cost);
            }
        }
        best = best.max(self.improved(costs, supply, demand));
        if best > enough {
            return best;
        }
        self.refill(n_sinks, 0.0);
        best.max(self.improved(costs, supply, demand))
    }

    /// The bound from the dual values in `start`.
    fn improved(&mut self, costs: &[f64], supply: &[f64], demand: &[f64]) -> f64 {
        self.raised.clear();
        self.raised.resize(demand.len(), f64::INFINITY);
        let mut bound = 0.0;
        for (row, &mass) in costs.chunks_exact(demand.len()).zip(supply) {
            let least = row
                .iter()
                .zip(&self.start)
                .map(|(cost, dual)| cost - dual)
                .fold(f64::INFINITY, f64::min);
            bound += mass * least;
            for (raised, &cost) in self.raised.iter_mut().zip(row) {
                *raised = raised.min(cost - least);
            }
        }
        let sinks = demand.iter().zip(&self.raised);
        bound + sinks.map(|(mass, dual)| mass * dual).sum::<f64>()
    }

    fn refill(&mut self, n_sinks: usize, value: f64) {
        self.start.clear();
        self.start.resize(n_sinks, value);
    }
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
            let costs = prop::collection::vec((0..9u32).prop_map(f64::from), n * m);
            (
                costs,
                masses(n).prop_map(shares),
                masses(m).prop_map(shares),
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn the_bound_lies_between_the_relaxed_and_the_exact_cost(
            (costs, supply, demand) in problems(),
        ) {
            let mut dual_bound = DualBound::default();
            let bound = dual_bound.lower_bound(&costs, &supply, &demand, f64::INFINITY);
            let exact = transport::solve(&costs, &supply, &demand).unwrap().cost;
            prop_assert!(bound <= exact + 1e-12, "{bound} {exact}");
            prop_assert!(bound >= relaxed_from_supply(&costs, &supply, demand.len()) - 1e-12);
            prop_assert!(bound >= relaxed_from_demand(&costs, &demand) - 1e-12);
            let early = dual_bound.lower_bound(&costs, &supply, &demand, 0.5 * exact);
            prop_assert!(early <= bound && (early > 0.5 * exact || early == bound));
        }
    }
}
