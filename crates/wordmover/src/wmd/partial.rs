//! The distance that moves only some of the mass: for texts of very different length, or of
//! which only a part is to be alike.

use crate::document::Document;
use crate::error::Result;
use crate::space::WordSpace;
use crate::transport::{Amount, Certificate, Flow, PartialSolution, solve_partial};

use super::{WordMove, full_costs, in_order, not_empty};

/// The best plan that moves part of the mass of two documents.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialWordTransport {
    /// Sum of mass times cost over the moves; with a penalty, also the penalty of all that is
    /// unmatched. Divided by `mass` it is the mean distance of what moves.
    pub distance: f64,
    /// The mass that moves, out of 1.
    pub mass: f64,
    /// The plan, ordered by the words of the first document, then the second.
    pub moves: Vec<WordMove>,
    /// What stays behind of each word of the first document.
    pub first_unmatched: Vec<f64>,
    /// What stays open of each word of the second document.
    pub second_unmatched: Vec<f64>,
    /// What one more unit of mass would cost.
    pub mass_dual: f64,
    /// One dual value per word of the first document; see [`PartialSolution`].
    pub first_duals: Vec<f64>,
    /// One dual value per word of the second document.
    pub second_duals: Vec<f64>,
}

/// The least cost of moving part of the mass of one document onto the other, with its plan:
/// `Amount::Mass(0.8)` moves the best 80 %.
///
/// Moving everything, `Amount::Mass(1.0)`, is the Word Mover's Distance. Symmetric in the two
/// documents to the last bit.
///
/// # Errors
///
/// As [`distance`](super::distance), and
/// [`Error::InvalidTransport`](crate::Error::InvalidTransport) if no such mass can move.
pub fn partial_transport(
    space: &WordSpace,
    first: &Document,
    second: &Document,
    amount: Amount,
) -> Result<PartialWordTransport> {
    not_empty(first)?;
    not_empty(second)?;
    let (x, y, exchanged) = in_order(first, second);
    let costs = full_costs(space, x, y)?;
    let plan = solve_partial(&costs, x.weights(), y.weights(), amount)?;
    let moves = plan.flows.iter().map(|flow| WordMove {
        from: flow.from,
        to: flow.to,
        mass: flow.mass,
        cost: costs[flow.from as usize * y.len() + flow.to as usize],
    });
    let mut found = PartialWordTransport {
        moves: moves.collect(),
        distance: match amount {
            Amount::Mass(_) => plan.cost,
            Amount::Penalty(penalty) => {
                let unmatched = plan.unmatched_supply.iter().chain(&plan.unmatched_demand);
                plan.cost + penalty * unmatched.sum::<f64>()
            }
        },
        mass: plan.mass,
        first_unmatched: plan.unmatched_supply,
        second_unmatched: plan.unmatched_demand,
        mass_dual: plan.mass_dual,
        first_duals: plan.supply_duals,
        second_duals: plan.demand_duals,
    };
    if exchanged {
        for step in &mut found.moves {
            std::mem::swap(&mut step.from, &mut step.to);
        }
        std::mem::swap(&mut found.first_unmatched, &mut found.second_unmatched);
        std::mem::swap(&mut found.first_duals, &mut found.second_duals);
        found
            .moves
            .sort_unstable_by_key(|step| (step.from, step.to));
    }
    Ok(found)
}

impl PartialWordTransport {
    /// Checks the plan against the problem; see [`PartialSolution::certificate`].
    ///
    /// # Errors
    ///
    /// As [`distance`](super::distance).
    ///
    /// # Panics
    ///
    /// If the plan is not one between these two documents.
    pub fn certificate(
        &self,
        space: &WordSpace,
        first: &Document,
        second: &Document,
    ) -> Result<Certificate> {
        let costs = full_costs(space, first, second)?;
        let flows = self.moves.iter().map(|step| Flow {
            from: step.from,
            to: step.to,
            mass: step.mass,
        });
        let solution = PartialSolution {
            cost: self.moves.iter().map(|step| step.mass * step.cost).sum(),
            mass: self.mass,
            flows: flows.collect(),
            unmatched_supply: self.first_unmatched.clone(),
            unmatched_demand: self.second_unmatched.clone(),
            mass_dual: self.mass_dual,
            supply_duals: self.first_duals.clone(),
            demand_duals: self.second_duals.clone(),
        };
        Ok(solution.certificate(&costs, first.weights(), second.weights()))
    }
}
