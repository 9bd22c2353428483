//! The exact solvers against POT on every committed problem.
//!
//! The fixtures and the script that made them are in `testdata/pot`.

mod pot;

use pot::{PartialProblem, Problem, for_each_partial_problem, for_each_problem};
use wordmover::transport::{self, Amount, Certificate};

/// Relative to the optimal cost.
const COST_TOLERANCE: f64 = 1e-9;
/// Relative to the largest ground cost, where the optimum is zero and so no
/// relative error exists. The weights' sums differ by some 1e-16 between the
/// sides, and a solver may have to send that much over any distance. No other
/// optimum is below a thousandth of the largest ground cost.
const ZERO_TOLERANCE: f64 = 1e-12;
const CERTIFICATE_TOLERANCE: f64 = 1e-9;

fn tolerated_error(problem: &Problem) -> f64 {
    if problem.expected == 0.0 {
        ZERO_TOLERANCE * problem.largest_cost()
    } else {
        COST_TOLERANCE * problem.expected
    }
}

fn report(failures: &[String]) {
    assert!(
        failures.is_empty(),
        "{} failures, of which the first are:\n{}",
        failures.len(),
        failures[..failures.len().min(20)].join("\n")
    );
}

#[test]
fn problems_are_rebuilt_bit_for_bit() {
    let mut failures = Vec::new();
    for_each_problem(|problem| {
        let found = problem.checksum();
        if found != problem.expected_checksum {
            failures.push(format!(
                "{}: checksum {:016x} expected, {found:016x} found",
                problem.id, problem.expected_checksum
            ));
        }
    });
    report(&failures);
}

#[test]
fn optima_are_zero_or_well_above_rounding() {
    // What `tolerated_error` relies on.
    let mut n_zero = 0;
    for_each_problem(|problem| {
        if problem.expected == 0.0 {
            n_zero += 1;
        } else {
            assert!(
                problem.expected >= 1e-3 * problem.largest_cost(),
                "{}",
                problem.id
            );
        }
    });
    assert!(n_zero > 0);
}

#[test]
#[allow(clippy::print_stdout, reason = "the worst errors, for the curious")]
fn optimal_costs_agree_with_pot_and_are_certified() {
    let mut failures = Vec::new();
    // Kind by kind, as they come: the largest share of the tolerated error, and whose it was.
    let mut worst: Vec<(String, f64, String)> = Vec::new();
    let n_problems = for_each_problem(|problem| {
        let Problem {
            id,
            kind,
            costs,
            supply,
            demand,
            expected,
            ..
        } = &problem;
        let solution = match transport::solve(costs, supply, demand) {
            Ok(solution) => solution,
            Err(error) => {
                failures.push(format!("{id}: {error}"));
                return;
            }
        };

        let error = (solution.cost - expected).abs();
        let tolerated = tolerated_error(&problem);
        // Written so that a cost which is not a number fails.
        let agrees = error <= tolerated;
        if !agrees {
            failures.push(format!(
                "{id}: cost {expected} expected, {} found",
                solution.cost
            ));
        }
        let certificate = Certificate::check(costs, supply, demand, &solution);
        if !certificate.holds(CERTIFICATE_TOLERANCE) {
            failures.push(format!(
                "{id}: marginal error {:e}, dual violation {:e}, gap {:e}",
                certificate.marginal_error, certificate.dual_violation, certificate.gap
            ));
        }

        let share = if error == 0.0 { 0.0 } else { error / tolerated };
        match worst.last_mut() {
            Some((last_kind, last_share, last_id)) if last_kind == kind => {
                if share > *last_share {
                    (*last_share, *last_id) = (share, id.clone());
                }
            }
            _ => worst.push((kind.clone(), share, id.clone())),
        }
    });
    println!("{n_problems} problems; the largest error of each kind as a share of the tolerance:");
    for (kind, share, id) in &worst {
        println!("  {kind:<10} {share:.1e} ({id})");
    }
    report(&failures);
}

#[test]
fn partial_costs_agree_with_pot_and_are_certified() {
    let mut failures = Vec::new();
    for_each_partial_problem(|partial| {
        let PartialProblem {
            problem,
            amount,
            expected,
        } = partial;
        let Problem {
            id,
            costs,
            supply,
            demand,
            ..
        } = &problem;
        let plan = match transport::solve_partial(costs, supply, demand, amount) {
            Ok(plan) => plan,
            Err(error) => {
                failures.push(format!("{id} {amount:?}: {error}"));
                return;
            }
        };
        let unmatched = plan.unmatched_supply.iter().chain(&plan.unmatched_demand);
        let found = match amount {
            Amount::Penalty(penalty) => plan.cost + penalty * unmatched.sum::<f64>(),
            _ => plan.cost,
        };
        // The least masses move next to nothing at next to no cost.
        let tolerated = COST_TOLERANCE * expected + ZERO_TOLERANCE * problem.largest_cost();
        let agrees = (found - expected).abs() <= tolerated;
        if !agrees {
            failures.push(format!(
                "{id} {amount:?}: {expected} expected, {found} found"
            ));
        }
        let certificate = plan.certificate(costs, supply, demand);
        if !certificate.holds(CERTIFICATE_TOLERANCE) {
            failures.push(format!("{id} {amount:?}: {certificate:?}"));
        }
    });
    report(&failures);
}
