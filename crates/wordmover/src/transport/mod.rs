//! Exact optimal transport between two weighted sets.
//!
//! Given ground costs `C` (row-major, one row per source, one column per
//! sink), supplies and demands, [`solve`] finds the cheapest plan `F >= 0` with
//! row sums equal to the supplies and column sums equal to the demands. This is
//! the linear program behind the Word Mover's Distance (equation 1 of the
//! paper). The answer is optimal or an error; dual values come with it, so that
//! anyone can [check](Certificate) it without trusting the solver.
//!
//! This module knows nothing of words or vectors: [`crate::wmd`] joins them.

mod bounds;
mod certificate;
mod given;
mod grid;
mod lanes;
mod path_simplex;
mod simplex;
mod sink_graph;
mod three_sinks;
mod two_sinks;
mod workspace;

pub use bounds::{relaxed_from_demand, relaxed_from_supply};
pub use certificate::Certificate;
pub use workspace::Workspace;

use crate::error::{Error, Result};

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
    /// Total cost of the plan.
    pub cost: f64,
    /// The non-zero entries of the plan, ordered by source, then sink.
    pub flows: Vec<Flow>,
    /// One dual value per source; together with `demand_duals` never above a cost.
    pub supply_duals: Vec<f64>,
    /// One dual value per sink.
    pub demand_duals: Vec<f64>,
}

/// What is wrong with a transport problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportProblem {
    /// A side has no weight.
    #[error("a transport problem needs at least one positive supply and one positive demand")]
    NoMass,
    /// The cost matrix does not fit the weights.
    #[error("expected {expected} costs for {sources} supplies and {sinks} demands, found {found}")]
    WrongShape {
        /// Number of supplies.
        sources: usize,
        /// Number of demands.
        sinks: usize,
        /// `sources * sinks`.
        expected: usize,
        /// Costs given.
        found: usize,
    },
    /// More costs than the solver can number.
    #[error(
        "a problem of {costs} costs is too large: at most {} are possible",
        u32::MAX
    )]
    TooLarge {
        /// Costs given.
        costs: usize,
    },
    /// A cost is NaN, infinite or of a size that leaves no room for sums.
    #[error("the cost from source {from} to sink {to} is {cost}, not a number of size up to 1e300")]
    BadCost {
        /// Row.
        from: usize,
        /// Column.
        to: usize,
        /// The cost.
        cost: f64,
    },
    /// A weight is negative, NaN or infinite.
    #[error("{side} {index} is {weight}, not a finite number of at least zero")]
    BadWeight {
        /// `"supply"` or `"demand"`.
        side: &'static str,
        /// Its position.
        index: usize,
        /// The weight.
        weight: f64,
    },
    /// The two sides do not hold the same mass.
    #[error("supplies sum to {supply} and demands to {demand}: they must be equal")]
    Unbalanced {
        /// Sum of the supplies.
        supply: f64,
        /// Sum of the demands.
        demand: f64,
    },
    /// The solver gave up, which no known input makes it do.
    #[error("no optimum after {steps} steps of a {sources} x {sinks} problem")]
    NotSolved {
        /// Steps taken.
        steps: usize,
        /// Number of sources.
        sources: usize,
        /// Number of sinks.
        sinks: usize,
    },
}

impl From<TransportProblem> for Error {
    fn from(problem: TransportProblem) -> Self {
        Error::InvalidTransport(problem)
    }
}

/// Solves one transport problem exactly.
///
/// `costs` is row-major, `supply.len()` rows by `demand.len()` columns; any
/// numbers will do for costs, negative ones too. Weights may be zero. The two sides
/// must have the same sum to [`BALANCE_TOLERANCE`]; nothing is rescaled.
///
/// ```
/// use wordmover::transport::{Certificate, solve};
///
/// let costs = [0.0, 2.0, 3.0, 1.0, 5.0, 4.0];
/// let (supply, demand) = ([0.5, 0.25, 0.25], [0.6, 0.4]);
/// let plan = solve(&costs, &supply, &demand)?;
/// assert!((plan.cost - 1.35).abs() < 1e-12);
/// assert!(Certificate::check(&costs, &supply, &demand, &plan).holds(1e-12));
/// # Ok::<(), wordmover::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidTransport`] says what is wrong with the problem.
pub fn solve(costs: &[f64], supply: &[f64], demand: &[f64]) -> Result<Solution> {
    validate(costs, supply, demand)?;
    let problem = Positive::part_of(costs, supply, demand);
    let mut workspace = Workspace::default();
    let cost = problem.solve(&mut workspace)?;

    let Positive { sources, sinks, .. } = &problem;
    let mut flows: Vec<Flow> = workspace
        .flows()
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
/// use wordmover::transport::{Workspace, cost};
///
/// let mut workspace = Workspace::default();
/// assert_eq!(cost(&[1.0, 3.0], &[1.0], &[0.5, 0.5], &mut workspace)?, 2.0);
/// assert!(cost(&[1.0, 3.0], &[1.0], &[0.5, 0.6], &mut workspace).is_err());
/// # Ok::<(), wordmover::Error>(())
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
    validate(costs, supply, demand)?;
    let no_zeros = supply.iter().chain(demand).all(|&weight| weight > 0.0);
    Ok(if no_zeros {
        workspace.solve(costs, supply, demand)?
    } else {
        Positive::part_of(costs, supply, demand).solve(workspace)?
    })
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

    fn solve(&self, workspace: &mut Workspace) -> Result<f64, TransportProblem> {
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
    // Checked multiplication: the lengths come from the caller.
    let expected = supply.len().checked_mul(demand.len());
    if expected != Some(costs.len()) {
        return Err(TransportProblem::WrongShape {
            sources: supply.len(),
            sinks: demand.len(),
            expected: expected.unwrap_or(usize::MAX),
            found: costs.len(),
        }
        .into());
    }
    if costs.len() > u32::MAX as usize {
        let costs = costs.len();
        return Err(TransportProblem::TooLarge { costs }.into());
    }
    for (side, weights) in [("supply", supply), ("demand", demand)] {
        if let Some(index) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(TransportProblem::BadWeight {
                side,
                index,
                weight: weights[index],
            }
            .into());
        }
    }
    if let Some(index) = costs.iter().position(|c| c.is_nan() || c.abs() > 1e300) {
        return Err(TransportProblem::BadCost {
            from: index / demand.len(),
            to: index % demand.len(),
            cost: costs[index],
        }
        .into());
    }
    let total_supply: f64 = supply.iter().sum();
    let total_demand: f64 = demand.iter().sum();
    if !(total_supply > 0.0 && total_demand > 0.0) {
        return Err(TransportProblem::NoMass.into());
    }
    let balanced =
        (total_supply - total_demand).abs() <= BALANCE_TOLERANCE * total_supply.max(total_demand);
    if !balanced {
        return Err(TransportProblem::Unbalanced {
            supply: total_supply,
            demand: total_demand,
        }
        .into());
    }
    Ok(())
}
