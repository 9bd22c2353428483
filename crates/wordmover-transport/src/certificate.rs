//! Proof of optimality that does not trust the solver.
//!
//! A plan whose marginals are the weights costs at least as much as the
//! optimum; dual values that nowhere exceed a cost are worth at most the
//! optimum. When both hold and the two values meet, both are optimal.

use super::Solution;

/// How far a solution is from being a proven optimum. All three are zero for a
/// perfect one. For solutions of this library marginals are off by some 1e-16, and dual values
/// and gap by up to 1e-13 for a hundred sinks, 1e-12 for a thousand: the solvers round costs
/// once, see [`solve`](super::solve). A gap is relative to the largest cost: where the
/// optimum is 1e-11 of it, a gap of 1e-16 is the fifth digit of the optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Largest difference between a weight and what the plan ships, relative to
    /// the total mass. Infinite when the plan has a negative or non-finite
    /// entry, or one out of range.
    pub marginal_error: f64,
    /// Largest excess of `supply_dual + demand_dual` over a cost, relative to the
    /// largest cost in absolute value.
    pub dual_violation: f64,
    /// Difference between the plan's cost, recomputed from its flows, and the
    /// dual value, relative to the total mass times the largest cost; or that
    /// between the claimed and the recomputed cost, whichever is larger.
    pub gap: f64,
}

impl Certificate {
    /// Measures a solution against its problem. The costs are row-major.
    ///
    /// # Panics
    ///
    /// If the shapes of problem and solution differ.
    #[must_use]
    pub fn check(costs: &[f64], supply: &[f64], demand: &[f64], solution: &Solution) -> Self {
        let n_sinks = demand.len();
        assert_eq!(costs.len(), supply.len() * n_sinks, "cost matrix shape");
        assert_eq!(solution.supply_duals.len(), supply.len(), "supply duals");
        assert_eq!(solution.demand_duals.len(), demand.len(), "demand duals");

        let mut shipped = vec![0.0; supply.len()];
        let mut received = vec![0.0; demand.len()];
        let mut primal = 0.0;
        let mut well_formed = true;
        for flow in &solution.flows {
            let (from, to) = (flow.from as usize, flow.to as usize);
            if from >= supply.len() || to >= n_sinks || !flow.mass.is_finite() || flow.mass < 0.0 {
                well_formed = false;
                continue;
            }
            shipped[from] += flow.mass;
            received[to] += flow.mass;
            primal += flow.mass * costs[from * n_sinks + to];
        }

        let total: f64 = supply.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let scale = costs.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let marginal_error = if well_formed {
            let differences = shipped
                .iter()
                .zip(supply)
                .chain(received.iter().zip(demand))
                .map(|(done, due)| (done - due).abs());
            differences.fold(0.0, nan_max) / total
        } else {
            f64::INFINITY
        };

        let mut violation = 0.0;
        for (row, u) in costs
            .chunks_exact(n_sinks.max(1))
            .zip(&solution.supply_duals)
        {
            for (cost, v) in row.iter().zip(&solution.demand_duals) {
                violation = nan_max(violation, u + v - cost);
            }
        }
        let worth = |weights: &[f64], duals: &[f64]| -> f64 {
            weights.iter().zip(duals).map(|(w, d)| w * d).sum()
        };
        let dual = worth(supply, &solution.supply_duals) + worth(demand, &solution.demand_duals);
        let gap = nan_max((primal - dual).abs(), (primal - solution.cost).abs());
        Certificate {
            marginal_error,
            dual_violation: violation / scale,
            gap: gap / (scale * total),
        }
    }

    /// Whether all three figures are at most `tolerance`. A NaN never passes.
    #[must_use]
    pub fn holds(&self, tolerance: f64) -> bool {
        self.marginal_error <= tolerance
            && self.dual_violation <= tolerance
            && self.gap <= tolerance
    }
}

/// Like `f64::max`, but a NaN on either side stays.
pub(super) fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}
