//! What the device found, proven on the host.
//!
//! The plan's integers must add up to the masses, which is checked exactly. With the true costs
//! it costs at least the optimum; the dual values, made feasible for the true costs, are worth
//! at most the optimum. Where the two meet, both are optimal, whatever the device did.

use wordmover::transport::{Flow, Solution};

use super::problem::{Fitted, TransportProblem};

/// How far a plan's cost may be above the dual value, relative to the largest cost times the
/// total mass: what the library promises of its own.
const GAP: f64 = 1e-12;

/// A plan and dual values as the device writes them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'a> {
    /// Row, and column in the upper half.
    pub arcs: &'a [u32],
    /// Some may be zero.
    pub masses: &'a [i64],
    /// Of columns, in units of the scaled costs.
    pub duals: &'a [i64],
    pub scale: f64,
    /// The largest cost in absolute value.
    pub largest: f64,
}

/// The solution, if it is proven to be one.
pub(super) fn proven(
    problem: &TransportProblem,
    fitted: &Fitted,
    found: Found,
) -> Option<Solution> {
    let TransportProblem {
        costs,
        supply,
        demand,
    } = *problem;
    let mut left = fitted.masses.clone();
    let mut flows = Vec::with_capacity(found.arcs.len());
    let mut cost = 0.0;
    for (&arc, &mass) in found.arcs.iter().zip(found.masses) {
        if mass == 0 {
            continue;
        }
        let (row, column) = (arc as usize & 0xffff, arc as usize >> 16);
        if mass < 0 || row >= fitted.n_rows || column >= fitted.n_columns {
            return None;
        }
        left[row] -= mass;
        left[fitted.n_rows + column] -= mass;
        let (source, sink) = fitted.arc(row, column);
        let mass = mass as f64 * fitted.unit;
        cost += mass * costs[source * demand.len() + sink];
        flows.push(Flow {
            from: source as u32,
            to: sink as u32,
            mass,
        });
    }
    if left.iter().any(|&left| left != 0) {
        return None;
    }
    let (supply_duals, demand_duals) = feasible_duals(problem, fitted, found);
    let worth = |weights: &[f64], duals: &[f64]| -> f64 {
        weights.iter().zip(duals).map(|(w, d)| w * d).sum()
    };
    let dual = worth(supply, &supply_duals) + worth(demand, &demand_duals);
    let total: f64 = supply.iter().sum();
    // Not a number is no proof.
    let is_proven = (cost - dual).abs() <= GAP * found.largest * total;
    is_proven.then(|| {
        flows.sort_unstable_by_key(|flow| (flow.from, flow.to));
        Solution {
            cost,
            flows,
            supply_duals,
            demand_duals,
        }
    })
}

/// Dual values of sources and sinks that nowhere exceed a cost: those of the device's columns,
/// and for everything else the largest there are.
fn feasible_duals(
    problem: &TransportProblem,
    fitted: &Fitted,
    found: Found,
) -> (Vec<f64>, Vec<f64>) {
    let TransportProblem { costs, demand, .. } = *problem;
    let unit = match found.scale == 0.0 {
        true => 0.0,
        false => 1.0 / found.scale,
    };
    // Without weight, a dual value of minus infinity holds nobody back.
    let mut given = vec![f64::NEG_INFINITY; demand.len()];
    for (column, &dual) in found.duals.iter().enumerate() {
        given[fitted.arc(0, column).1] = dual as f64 * unit;
    }
    let rows = costs.chunks_exact(demand.len());
    let supply_duals: Vec<f64> = rows.map(|row| least_difference(row, &given)).collect();
    if given.contains(&f64::NEG_INFINITY) {
        let least = least_of_columns(costs, &supply_duals, demand.len());
        for (dual, least) in given.iter_mut().zip(least) {
            if *dual == f64::NEG_INFINITY {
                *dual = least;
            }
        }
    }
    (supply_duals, given)
}

/// The least `cost - dual` of a row.
fn least_difference(costs: &[f64], duals: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut least = [f64::INFINITY; LANES];
    let mut take = |lane: usize, difference: f64| {
        least[lane] = if difference < least[lane] {
            difference
        } else {
            least[lane]
        };
    };
    let whole = costs.len() / LANES * LANES;
    for (costs, duals) in costs.chunks_exact(LANES).zip(duals.chunks_exact(LANES)) {
        for lane in 0..LANES {
            take(lane, costs[lane] - duals[lane]);
        }
    }
    for (lane, (cost, dual)) in costs[whole..].iter().zip(&duals[whole..]).enumerate() {
        take(lane, cost - dual);
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
}

/// The least `cost - dual` of every column, with dual values of rows.
fn least_of_columns(costs: &[f64], duals: &[f64], n_columns: usize) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; n_columns];
    for (row, dual) in costs.chunks_exact(n_columns).zip(duals) {
        for (least, cost) in least.iter_mut().zip(row) {
            let difference = cost - dual;
            *least = if difference < *least {
                difference
            } else {
                *least
            };
        }
    }
    least
}
