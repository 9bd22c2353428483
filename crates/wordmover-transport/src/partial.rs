//! Partial transport: only some of the mass moves, at the least cost.
//!
//! Both problems below become balanced ones by one dummy source and one dummy sink, which take
//! what is not matched. To move a given mass `s`, mass meets the dummies at no cost, the dummy
//! sink demands what of the supplies stays behind, the dummy source supplies what of the demands
//! stays open, and the arc between the two costs more than it could ever save: a plan that used
//! it could move less for less. With a penalty for unmatched mass instead, mass meets the
//! dummies at the penalty, and each dummy could take a whole side. So the solvers of balanced
//! problems do the work, exactly as ever, and their dual values prove the partial plan too:
//! see [`PartialSolution::certificate`].

use super::certificate::{Certificate, nan_max};
use super::error::{Result, TransportError};
use super::{BALANCE_TOLERANCE, Flow, Workspace, solve_with, validate_parts};
use crate::float_environment::IeeeArithmetic;

/// What is left of a side below this share of it is rounding: all of the side moves.
const ROUNDING: f64 = 1e-15;

/// How much of the mass is to move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// This mass, above 0 and at most the lesser of the two sides.
    Mass(f64),
    /// As much as pays: each unit of mass that stays unmatched, on either side, costs this
    /// much. Mass moves where the cost is below twice the penalty.
    Penalty(f64),
}

/// An optimal plan that moves some of the mass, and the dual values that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialSolution {
    /// Total cost of the plan: the sum of mass times cost over its flows, penalties apart.
    pub cost: f64,
    /// The mass that moves.
    pub mass: f64,
    /// The non-zero entries of the plan, ordered by source, then sink.
    pub flows: Vec<Flow>,
    /// What stays behind of each supply.
    pub unmatched_supply: Vec<f64>,
    /// What stays open of each demand.
    pub unmatched_demand: Vec<f64>,
    /// What one more unit of mass would cost; twice the penalty, where there is one.
    pub mass_dual: f64,
    /// One dual value per source, none above 0. With those of a sink and of the mass it is never
    /// above a cost.
    pub supply_duals: Vec<f64>,
    /// One dual value per sink, none above 0.
    pub demand_duals: Vec<f64>,
}

/// Moves part of the mass at the least cost.
///
/// `costs` is row-major, `supply.len()` rows by `demand.len()` columns; any numbers will do for
/// costs, negative ones too. Weights may be zero, and the two sides need not have the same sum.
///
/// ```
/// use wordmover_transport::{Amount, solve_partial};
///
/// let costs = [0.0, 2.0, 3.0, 1.0];
/// let (supply, demand) = ([0.5, 0.5], [0.6, 0.4]);
/// let plan = solve_partial(&costs, &supply, &demand, Amount::Mass(0.7))?;
/// assert!((plan.cost - 0.2).abs() < 1e-12);
/// assert!((plan.unmatched_supply[1] - 0.3).abs() < 1e-12);
/// assert!(plan.certificate(&costs, &supply, &demand).holds(1e-12));
///
/// // Unmatched mass at 0.6 on either side: moving pays where the cost is below 1.2.
/// let plan = solve_partial(&costs, &supply, &demand, Amount::Penalty(0.6))?;
/// assert!((plan.mass - 0.9).abs() < 1e-12);
/// # Ok::<(), wordmover_transport::TransportError>(())
/// ```
///
/// # Accuracy
///
/// As for [`solve`](super::solve), relative to the mass of both sides: of a mass that is a
/// millionth of them, ten digits are exact.
///
/// # Errors
///
/// [`TransportError`] says what is wrong with the problem.
pub fn solve_partial(
    costs: &[f64],
    supply: &[f64],
    demand: &[f64],
    amount: Amount,
) -> Result<PartialSolution> {
    solve_partial_with(costs, supply, demand, amount, &mut Workspace::default())
}

/// [`solve_partial`] with the memory of a workspace, which may be told when to stop.
///
/// # Errors
///
/// As [`solve_partial`], and [`TransportError::Interrupted`].
pub fn solve_partial_with(
    costs: &[f64],
    supply: &[f64],
    demand: &[f64],
    amount: Amount,
    workspace: &mut Workspace,
) -> Result<PartialSolution> {
    let _ieee = IeeeArithmetic::enter();
    let (total_supply, total_demand) = validate_parts(costs, supply, demand)?;
    let dummies = Dummies::new(costs, total_supply, total_demand, amount)?;
    let (n, m) = (supply.len(), demand.len());
    let expanded: Vec<f64> = costs
        .chunks_exact(m)
        .flat_map(|row| row.iter().copied().chain([dummies.arc]))
        .chain(std::iter::repeat_n(dummies.arc, m))
        .chain([dummies.between])
        .collect();
    let mut plan = solve_with(
        &expanded,
        &with_last(supply, dummies.supply),
        &with_last(demand, dummies.demand),
        workspace,
    )?;

    let (mut unmatched_supply, mut unmatched_demand) = (vec![0.0; n], vec![0.0; m]);
    plan.flows.retain(|flow| {
        let (from, to) = (flow.from as usize, flow.to as usize);
        match (from < n, to < m) {
            (true, true) => return true,
            (true, false) => unmatched_supply[from] = flow.mass,
            (false, true) => unmatched_demand[to] = flow.mass,
            (false, false) => {}
        }
        false
    });
    let flow_cost = |flow: &Flow| flow.mass * costs[flow.from as usize * m + flow.to as usize];
    let source_dual = plan.supply_duals.pop().unwrap_or_default();
    let sink_dual = plan.demand_duals.pop().unwrap_or_default();
    // What dual values of a dummy say of its arcs goes to the other ends of these.
    let moved_to = |duals: Vec<f64>, dummy: f64| -> Vec<f64> {
        let dual = |dual: f64| (dual + dummy - dummies.arc).min(0.0);
        duals.into_iter().map(dual).collect()
    };
    Ok(PartialSolution {
        cost: plan.flows.iter().map(flow_cost).sum(),
        mass: match amount {
            Amount::Mass(_) => dummies.mass,
            Amount::Penalty(_) => plan.flows.iter().map(|flow| flow.mass).sum(),
        },
        flows: plan.flows,
        unmatched_supply,
        unmatched_demand,
        mass_dual: match amount {
            Amount::Mass(_) => -(source_dual + sink_dual),
            Amount::Penalty(penalty) => 2.0 * penalty,
        },
        supply_duals: moved_to(plan.supply_duals, sink_dual),
        demand_duals: moved_to(plan.demand_duals, source_dual),
    })
}

/// What makes the problem a balanced one.
struct Dummies {
    supply: f64,
    demand: f64,
    /// Cost of matching mass with a dummy.
    arc: f64,
    /// Cost from dummy to dummy.
    between: f64,
    /// The mass to move, where that is given.
    mass: f64,
}

impl Dummies {
    fn new(costs: &[f64], supply: f64, demand: f64, amount: Amount) -> Result<Self> {
        match amount {
            Amount::Mass(mass) => {
                let most = supply.min(demand);
                if !(mass > 0.0 && mass <= most * (1.0 + BALANCE_TOLERANCE)) {
                    return Err(TransportError::BadMass { mass, most });
                }
                let mass = mass.min(most);
                let rest = |side: f64| match side - mass {
                    rest if rest <= ROUNDING * side => 0.0,
                    rest => rest,
                };
                // Whatever is above minus the least cost will do; the largest cost keeps the
                // grid of costs as fine as it was.
                let largest = costs
                    .iter()
                    .fold(0.0, |most: f64, cost| most.max(cost.abs()));
                let least = costs.iter().copied().fold(0.0, f64::min);
                Ok(Dummies {
                    supply: rest(demand),
                    demand: rest(supply),
                    arc: 0.0,
                    between: if largest > 0.0 { largest - least } else { 1.0 },
                    mass,
                })
            }
            Amount::Penalty(penalty) => {
                if !(0.0..=1e300).contains(&penalty) {
                    return Err(TransportError::BadPenalty { penalty });
                }
                Ok(Dummies {
                    supply: demand,
                    demand: supply,
                    arc: penalty,
                    between: 0.0,
                    mass: f64::NAN,
                })
            }
        }
    }
}

fn with_last(values: &[f64], last: f64) -> Vec<f64> {
    values.iter().copied().chain([last]).collect()
}

impl PartialSolution {
    /// Measures the plan against its problem without trusting the solver, as
    /// [`Certificate::check`] does for balanced ones.
    ///
    /// A plan that ships at most the weights, and the mass in all, costs at least as much as the
    /// optimum. Dual values `p_i <= 0` of the sources, `q_j <= 0` of the sinks and `r` of the mass
    /// with `p_i + q_j + r` nowhere above a cost are worth `p.a + q.b + r.mass`, at most the
    /// optimum. Where the two meet, both are optimal. For a penalty the same values prove that
    /// no other plan, of this mass or another, costs less with what is unmatched: then `r` is
    /// twice the penalty.
    ///
    /// # Panics
    ///
    /// If the shapes of problem and solution differ.
    #[must_use]
    pub fn certificate(&self, costs: &[f64], supply: &[f64], demand: &[f64]) -> Certificate {
        let m = demand.len();
        assert_eq!(costs.len(), supply.len() * m, "cost matrix shape");
        assert_eq!(self.supply_duals.len(), supply.len(), "supply duals");
        assert_eq!(self.demand_duals.len(), m, "demand duals");

        let (mut shipped, mut received) = (vec![0.0; supply.len()], vec![0.0; m]);
        let (mut primal, mut moved) = (0.0, 0.0);
        let mut well_formed = true;
        for flow in &self.flows {
            let (from, to) = (flow.from as usize, flow.to as usize);
            if from >= supply.len() || to >= m || !flow.mass.is_finite() || flow.mass < 0.0 {
                well_formed = false;
                continue;
            }
            shipped[from] += flow.mass;
            received[to] += flow.mass;
            moved += flow.mass;
            primal += flow.mass * costs[from * m + to];
        }
        let total = supply.iter().sum::<f64>() + demand.iter().sum::<f64>();
        let total = total.max(f64::MIN_POSITIVE);
        let scale = costs.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let scale = scale.max(self.mass_dual.abs());
        let scale = if scale > 0.0 { scale } else { 1.0 };

        let unmatched = self.unmatched_supply.iter().chain(&self.unmatched_demand);
        let done = shipped.iter().chain(&received).zip(unmatched);
        let errors = done.zip(supply.iter().chain(demand));
        let errors = errors.map(|((done, left), due)| (done + left - due).abs().max(-left));
        let marginal_error = errors.fold((moved - self.mass).abs(), nan_max);

        let (p, q) = (&self.supply_duals, &self.demand_duals);
        let mut violation = p.iter().chain(q).copied().fold(0.0, nan_max);
        for (row, p) in costs.chunks_exact(m.max(1)).zip(p) {
            for (cost, q) in row.iter().zip(q) {
                violation = nan_max(violation, p + q + self.mass_dual - cost);
            }
        }
        let worth = |weights: &[f64], duals: &[f64]| -> f64 {
            weights.iter().zip(duals).map(|(w, d)| w * d).sum()
        };
        let dual = worth(supply, p) + worth(demand, q) + self.mass * self.mass_dual;
        let gap = nan_max((primal - dual).abs(), (primal - self.cost).abs());
        Certificate {
            marginal_error: match well_formed {
                true => marginal_error / total,
                false => f64::INFINITY,
            },
            dual_violation: violation / scale,
            gap: gap / (scale * total),
        }
    }
}
