//! Relaxed transport: lower bounds that drop one side's constraint.
//!
//! Without the demand constraint every source sends all it has to its nearest
//! sink; without the supply constraint every sink takes all it needs from its
//! nearest source. Each is the exact optimum of a larger feasible set, hence a
//! lower bound (the "relaxed" Word Mover's Distance of Kusner et al., 2015).

/// Every source to its nearest sink: `sum_i supply_i * min_j costs_ij`.
///
/// # Panics
///
/// If `costs` is not `supply.len() * n_sinks` long.
#[must_use]
pub fn relaxed_from_supply(costs: &[f64], supply: &[f64], n_sinks: usize) -> f64 {
    assert_eq!(costs.len(), supply.len() * n_sinks, "cost matrix shape");
    supply
        .iter()
        .zip(costs.chunks_exact(n_sinks.max(1)))
        .map(|(mass, row)| mass * row.iter().copied().fold(f64::INFINITY, f64::min))
        .sum()
}

/// Every sink from its nearest source: `sum_j demand_j * min_i costs_ij`.
///
/// # Panics
///
/// If the length of `costs` is not a multiple of `demand.len()`.
#[must_use]
pub fn relaxed_from_demand(costs: &[f64], demand: &[f64]) -> f64 {
    let n_sinks = demand.len().max(1);
    assert_eq!(costs.len() % n_sinks, 0, "cost matrix shape");
    let mut nearest = vec![f64::INFINITY; demand.len()];
    for row in costs.chunks_exact(n_sinks) {
        for (best, &cost) in nearest.iter_mut().zip(row) {
            *best = best.min(cost);
        }
    }
    demand
        .iter()
        .zip(nearest)
        .map(|(mass, cost)| mass * cost)
        .sum()
}
