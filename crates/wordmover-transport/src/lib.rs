//! Exact optimal transport between two weighted sets: the solvers of `wordmover`, which gives
//! them out as `wordmover::transport`, for whoever needs nothing else of it.
//!
//! Given ground costs `C` (row-major, one row per source, one column per
//! sink), supplies and demands, [`solve`] finds the cheapest plan `F >= 0` with
//! row sums equal to the supplies and column sums equal to the demands. This is
//! the linear program behind the Word Mover's Distance (equation 1 of the
//! paper). The answer is optimal or an error; dual values come with it, so that
//! anyone can [check](Certificate) it without trusting the solver.
//!
//! Nothing here knows of words or vectors: `wordmover::wmd` joins them. A crate of its own,
//! because it needs no other, and because the compiler can then work on it and on what is built
//! upon it at the same time. The problems that POT has solved, too, are tests of `wordmover`
//! (`transport_fixtures`, `transport_properties`).

#![deny(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod bitset_simplex;
mod bounds;
mod certificate;
mod compiled;
mod error;
pub mod float_environment;
mod grid;
#[doc(hidden)]
pub mod instruction_sets;
#[doc(hidden)]
pub mod lanes;
mod one_sink;
mod partial;
mod problem;
mod simplex;
mod sink_graph;
mod two_sinks;
mod workspace;

pub use bounds::{relaxed_from_demand, relaxed_from_supply};
pub use certificate::Certificate;
pub use error::{Result, TransportError};
pub use partial::{Amount, PartialSolution, solve_partial, solve_partial_with};
pub use workspace::Workspace;

use crate::float_environment::IeeeArithmetic;

/// How far, relative to the total mass, supplies and demands may differ in sum.
///
/// Weights that were summed and divided in single precision do not pass: they
/// are refused rather than rescaled.
pub const BALANCE_TOLERANCE: f64 = 1e-9;

/// Mass sent from one source to one sink.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// Row of the cost matrix.
    pub from: u32,
    /// Column of the cost matrix.
    pub to: u32,
    /// How much is sent; positive.
    pub mass: f64,
}

/// An optimal transport plan and the dual values that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Total cost of the plan: the sum of mass times cost over its flows, so not negative where
    /// no cost is.
    pub cost: f64,
    /// The non-zero entries of the plan, ordered by source, then sink.
    pub flows: Vec<Flow>,
    /// One dual value per source; together with `demand_duals` never above a cost.
    pub supply_duals: Vec<f64>,
    /// One dual value per sink.
    pub demand_duals: Vec<f64>,
}

/// Solves one transport problem exactly.
///
/// `costs` is row-major, `supply.len()` rows by `demand.len()` columns; any
/// numbers will do for costs, negative ones too. Weights may be zero. The two sides
/// must have the same sum to [`BALANCE_TOLERANCE`]; nothing is rescaled.
///
/// ```
/// use wordmover_transport::{Certificate, solve};
///
/// let costs = [0.0, 2.0, 3.0, 1.0, 5.0, 4.0];
/// let (supply, demand) = ([0.5, 0.25, 0.25], [0.6, 0.4]);
/// let plan = solve(&costs, &supply, &demand)?;
/// assert!((plan.cost - 1.35).abs() < 1e-12);
/// assert!(Certificate::check(&costs, &supply, &demand, &plan).holds(1e-12));
/// # Ok::<(), wordmover_transport::TransportError>(())
/// ```
///
/// # Accuracy
///
/// The solvers calculate exactly on grids of 2^-52 of the total mass and about 2^-45 of the
/// largest cost (2^-42 for 500 sinks). So a plan costs at most 1e-13 of the largest cost, times
/// the total mass, more than the optimum, for up to a hundred sinks, and 1e-12 for up to a
/// thousand; [`Certificate`] measures it. Relative to the optimum that is nothing unless the
/// optimum is tiny: where it is 1e-11 of the largest cost, the fifth digit may be wrong. There
/// the sums of the weights, which are known to 1e-16, hide as much.
///
/// # Errors
///
/// [`TransportError`] says what is wrong with the problem.
pub fn solve(costs: &[f64], supply: &[f64], demand: &[f64]) -> Result<Solution> {
    solve_with(costs, supply, demand, &mut Workspace::default())
}

/// [`solve`] with the memory of a workspace, which may be told when to stop
/// ([`Workspace::stop_when`]).
///
/// # Errors
///
/// As [`solve`], and [`TransportError::Interrupted`].
pub fn solve_with(
    costs: &[f64],
    supply: &[f64],
    demand: &[f64],
    workspace: &mut Workspace,
) -> Result<Solution> {
    let _ieee = IeeeArithmetic::enter();
    validate(costs, supply, demand)?;
    let problem = Positive::part_of(costs, supply, demand);
    let cost = problem.solve(workspace)?;

    let Positive { sources, sinks, .. } = &problem;
    let mut flows: Vec<Flow> = workspace
        .flows()
        .into_iter()
        .map(|(source, sink, mass)| Flow {
            from: sources[source] as u32,
            to: sinks[sink] as u32,
            mass,
        })
        .collect();
    flows.sort_unstable_by_key(|flow| (flow.from, flow.to));
    let (supply_duals, demand_duals) = extend_duals(
        costs,
        supply.len(),
        demand.len(),
        sinks,
        &workspace.sink_duals(&problem.costs),
    );
    Ok(Solution {
        cost,
        flows,
        supply_duals,
        demand_duals,
    })
}

/// The optimal cost alone, as [`solve`] gives it; for many problems in a row, which then
/// share a workspace.
///
/// ```
/// use wordmover_transport::{Workspace, cost};
///
/// let mut workspace = Workspace::default();
/// assert_eq!(cost(&[1.0, 3.0], &[1.0], &[0.5, 0.5], &mut workspace)?, 2.0);
/// assert!(cost(&[1.0, 3.0], &[1.0], &[0.5, 0.6], &mut workspace).is_err());
/// # Ok::<(), wordmover_transport::TransportError>(())
/// ```
///
/// # Errors
///
/// As [`solve`].
pub fn cost(
    costs: &[f64],
    supply: &[f64],
    demand: &[f64],
    workspace: &mut Workspace,
) -> Result<f64> {
    let _ieee = IeeeArithmetic::enter();
    validate(costs, supply, demand)?;
    let no_zeros = supply.iter().chain(demand).all(|&weight| weight > 0.0);
    if no_zeros {
        workspace.solve(costs, supply, demand)
    } else {
        Positive::part_of(costs, supply, demand).solve(workspace)
    }
}

/// The part of a problem that has mass, which is all the solver takes.
struct Positive {
    /// Where it lies in the whole.
    sources: Vec<usize>,
    sinks: Vec<usize>,
    costs: Vec<f64>,
    supply: Vec<f64>,
    demand: Vec<f64>,
}

impl Positive {
    fn part_of(costs: &[f64], supply: &[f64], demand: &[f64]) -> Self {
        let sources = positive(supply);
        let sinks = positive(demand);
        let cost_at = |&i: &usize| sinks.iter().map(move |&k| costs[i * demand.len() + k]);
        Positive {
            costs: sources.iter().flat_map(cost_at).collect(),
            supply: sources.iter().map(|&i| supply[i]).collect(),
            demand: sinks.iter().map(|&k| demand[k]).collect(),
            sources,
            sinks,
        }
    }

    fn solve(&self, workspace: &mut Workspace) -> Result<f64> {
        workspace.solve(&self.costs, &self.supply, &self.demand)
    }
}

/// Dual values for every row and column, from those of the sinks with a demand: the
/// largest that the costs allow. Weights of zero need a feasible value too, although
/// it does not count.
fn extend_duals(
    costs: &[f64],
    n_sources: usize,
    n_sinks: usize,
    sinks: &[usize],
    sink_duals: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let mut demand_duals = vec![f64::NAN; n_sinks];
    for (&sink, &dual) in sinks.iter().zip(sink_duals) {
        demand_duals[sink] = dual;
    }
    let supply_dual = |source: usize| {
        let row = &costs[source * n_sinks..][..n_sinks];
        let reduced = sinks.iter().map(|&sink| row[sink] - demand_duals[sink]);
        reduced.fold(f64::INFINITY, f64::min)
    };
    let supply_duals: Vec<f64> = (0..n_sources).map(supply_dual).collect();
    for (sink, dual) in demand_duals.iter_mut().enumerate() {
        if dual.is_nan() {
            let reduced = (0..n_sources).map(|i| costs[i * n_sinks + sink] - supply_duals[i]);
            *dual = reduced.fold(f64::INFINITY, f64::min);
        }
    }
    (supply_duals, demand_duals)
}

fn positive(weights: &[f64]) -> Vec<usize> {
    (0..weights.len()).filter(|&i| weights[i] > 0.0).collect()
}

fn validate(costs: &[f64], supply: &[f64], demand: &[f64]) -> Result<()> {
    let (supply, demand) = validate_parts(costs, supply, demand)?;
    let balanced = (supply - demand).abs() <= BALANCE_TOLERANCE * supply.max(demand);
    if !balanced {
        return Err(TransportError::Unbalanced { supply, demand });
    }
    Ok(())
}

/// Whatever can be wrong with a problem apart from its balance; the sums of the two sides.
fn validate_parts(costs: &[f64], supply: &[f64], demand: &[f64]) -> Result<(f64, f64)> {
    // Checked multiplication: the lengths come from the caller.
    let expected = supply.len().checked_mul(demand.len());
    if expected != Some(costs.len()) {
        return Err(TransportError::WrongShape {
            sources: supply.len(),
            sinks: demand.len(),
            expected: expected.unwrap_or(usize::MAX),
            found: costs.len(),
        });
    }
    if costs.len() > u32::MAX as usize {
        let costs = costs.len();
        return Err(TransportError::TooLarge { costs });
    }
    for (side, weights) in [("supply", supply), ("demand", demand)] {
        if let Some(index) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(TransportError::BadWeight {
                side,
                index,
                weight: weights[index],
            });
        }
    }
    if let Some(index) = costs.iter().position(|c| c.is_nan() || c.abs() > 1e300) {
        return Err(TransportError::BadCost {
            from: index / demand.len(),
            to: index % demand.len(),
            cost: costs[index],
        });
    }
    let total_supply: f64 = supply.iter().sum();
    let total_demand: f64 = demand.iter().sum();
    if !(total_supply > 0.0 && total_demand > 0.0) {
        return Err(TransportError::NoMass);
    }
    Ok((total_supply, total_demand))
}
