//! The solver: truncated Newton steps with a line search, as in LIBLINEAR 2.50.
//!
//! Each machine minimises `|w|^2 / 2 + C sum_i max(0, 1 - y_i w x_i)^2`. From the
//! current `w`, with `A` the rows whose margin is below 1:
//!
//! 1. Solve `(I + 2 C X_A^T X_A) s = -gradient` by conjugate gradients, preconditioned
//!    by `0.99 + 0.01 * diagonal`, until the quadratic model gains little: `t * gain of
//!    step t <= min(0.5, |gradient|^(1/2)) * gain so far`, in the preconditioner's norm.
//! 2. Halve the step from 1 until the objective falls by a hundredth of what the slope
//!    promises; at most twenty times.
//! 3. Stop when `|gradient| <= eps * max(1, min(n_positive, n_negative)) / n * |gradient
//!    at 0|`, when the objective changes by less than 1e-12 of itself, or after 1,000
//!    steps.
//!
//! (LIBLINEAR's trust region, which the paper's version used, gave way to the line
//! search in its version 2.40.)
//!
//! All machines go through the stages together, so that `X` is read once for all of
//! them, and a machine that is done leaves the round. A machine's numbers do not
//! depend on the others, except that they decide together when Gram matrices pay.
//!
//! Every number is computed from the same operands in the same order as in LIBLINEAR,
//! so that from `w = 0` and without Gram matrices the weights have its bits. Anything
//! less would not do: step 1 is so loose that for a large C two solvers which round
//! differently part ways, and stop, both within the rule, at objectives 1e-2 apart.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::design::Design;
use super::gram::Gram;
use super::machine::{Machine, Solution};
use super::vectors::dot;
use crate::error::{Error, Result};

const PRECONDITIONER_SHARE: f64 = 0.01;

/// All machines of one training part.
#[derive(Debug)]
pub(crate) struct Solver<'a> {
    design: &'a Design,
    machines: Vec<Machine>,
    keeps_gram: bool,
    all_rows: Option<Gram>,
}

impl<'a> Solver<'a> {
    /// Machines at `w = 0`. With `keeps_gram` Gram matrices are kept where that is
    /// faster, and rounding differs from LIBLINEAR's.
    pub fn new(design: &'a Design, keeps_gram: bool) -> Self {
        let mut machines: Vec<Machine> = (0..design.n_machines())
            .map(|class| Machine::new(design, class))
            .collect();
        let mut pairs: Vec<_> = machines
            .iter_mut()
            .map(|m| (&m.signs[..], &mut m.gradient[..]))
            .collect();
        design.columns.multiply(&mut pairs);
        for machine in &mut machines {
            machine.unit_gradient_norm = dot(&machine.gradient, &machine.gradient).sqrt();
        }
        Solver {
            design,
            machines,
            keeps_gram,
            all_rows: None,
        }
    }

    /// Puts every machine back to `w = 0`; Gram matrices are kept.
    pub fn reset(&mut self) {
        self.machines.iter_mut().for_each(Machine::reset);
    }

    /// Weights of every machine, as they are now.
    pub fn weights(&self) -> impl Iterator<Item = &[f64]> {
        self.machines.iter().map(|machine| &machine.weights[..])
    }

    /// Minimises for this C, beginning at the last solution. `progress` is called before every
    /// pass over the rows; if it breaks, so does this.
    pub fn solve(
        &mut self,
        cost: f64,
        eps: f64,
        progress: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Solution>> {
        let Solver {
            design,
            machines,
            keeps_gram,
            all_rows,
        } = self;
        let keeps_gram = *keeps_gram && Gram::may_pay(design);
        for machine in machines.iter_mut() {
            machine.begin(cost);
        }
        let mut running: Vec<&mut Machine> = machines.iter_mut().collect();
        compute_gradients(design, &mut running, cost);
        running.retain_mut(|machine| !machine.is_converged(cost, eps));
        while !running.is_empty() {
            if keeps_gram {
                update_grams(design, &mut running, all_rows);
            }
            find_preconditioners(design, &mut running, cost);
            conjugate_gradients(design, &mut running, cost, progress)?;
            let pairs = running.iter_mut();
            let mut pairs: Vec<_> = pairs
                .map(|m| (&m.step[..], &mut m.step_values[..]))
                .collect();
            design.rows.multiply(&mut pairs);
            running.retain_mut(|machine| machine.search_line(cost));
            compute_gradients(design, &mut running, cost);
            running.retain_mut(|machine| machine.goes_on(cost, eps));
        }
        Ok(machines.iter().map(Machine::solution).collect())
    }
}

/// `gradient = w - 2 C X_A^T (y (1 - margin))`, and which rows are active.
fn compute_gradients(design: &Design, machines: &mut [&mut Machine], cost: f64) {
    for machine in machines.iter_mut() {
        machine.find_active_rows(cost);
    }
    let pairs = machines.iter_mut();
    let mut pairs: Vec<_> = pairs
        .map(|m| (&m.cg.row_values[..], &mut m.gradient[..]))
        .collect();
    design.columns.multiply(&mut pairs);
    for machine in machines {
        for (g, w) in machine.gradient.iter_mut().zip(&machine.weights) {
            *g = w + 2.0 * *g;
        }
        machine.gradient_norm = dot(&machine.gradient, &machine.gradient).sqrt();
    }
}

/// Brings Gram matrices up to date where it pays.
fn update_grams(design: &Design, machines: &mut [&mut Machine], all_rows: &mut Option<Gram>) {
    if all_rows.is_none() {
        let rent: usize = machines.iter().map(|machine| machine.rent).sum();
        if rent >= design.n_rows * Gram::cost_of_a_change(design) {
            *all_rows = Some(Gram::of_all_rows(design));
        }
    }
    if let Some(all_rows) = all_rows {
        let update = |machine: &mut &mut Machine| machine.update_gram(design, all_rows);
        machines.par_iter_mut().for_each(update);
    }
}

/// `0.99 + 0.01 * (1 + 2 C diagonal of X_A^T X_A)`.
fn find_preconditioners(design: &Design, machines: &mut [&mut Machine], cost: f64) {
    for machine in machines.iter_mut() {
        let each = machine.cg.row_values.iter_mut().zip(&machine.is_active);
        each.for_each(|(value, &is_active)| *value = if is_active { 2.0 * cost } else { 0.0 });
    }
    let through_rows = machines.iter_mut().filter(|m| !m.gram_is_current);
    let mut pairs: Vec<_> = through_rows
        .map(|m| (&m.cg.row_values[..], &mut m.preconditioner[..]))
        .collect();
    design.columns.multiply_squares_from_one(&mut pairs);
    for machine in machines {
        if let (true, Some(gram)) = (machine.gram_is_current, &machine.gram) {
            let diagonal = gram.diagonal(design.n_columns);
            for (m, diagonal) in machine.preconditioner.iter_mut().zip(diagonal) {
                *m = 1.0 + 2.0 * cost * diagonal;
            }
        }
        for m in &mut machine.preconditioner {
            *m = (1.0 - PRECONDITIONER_SHARE) + PRECONDITIONER_SHARE * *m;
        }
    }
}

/// Finds every machine's Newton step.
fn conjugate_gradients(
    design: &Design,
    machines: &mut [&mut Machine],
    cost: f64,
    progress: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<()> {
    let a_pass = 2 * design.n_rows * design.n_columns;
    let mut running: Vec<&mut Machine> =
        machines.iter_mut().map(|machine| &mut **machine).collect();
    for machine in &mut running {
        machine.begin_cg();
    }
    while !running.is_empty() {
        if progress().is_break() {
            return Err(Error::Interrupted);
        }
        running
            .par_iter_mut()
            .with_min_len(4)
            .for_each(|machine| machine.multiply_by_gram(cost));
        let through_rows = |m: &&mut &mut Machine| !m.gram_is_current;
        let pairs = running.iter_mut().filter(through_rows);
        let mut pairs: Vec<_> = pairs
            .map(|m| (&m.cg.direction[..], &mut m.cg.row_values[..]))
            .collect();
        design.rows.multiply(&mut pairs);
        for machine in running.iter_mut().filter(through_rows) {
            machine.rent += a_pass;
            for (value, is_active) in machine.cg.row_values.iter_mut().zip(&machine.is_active) {
                *value = if *is_active { cost * *value } else { 0.0 };
            }
        }
        let pairs = running.iter_mut().filter(through_rows);
        let mut pairs: Vec<_> = pairs
            .map(|m| (&m.cg.row_values[..], &mut m.cg.curvature[..]))
            .collect();
        design.columns.multiply(&mut pairs);
        running.retain_mut(|machine| machine.advance_cg());
    }
    Ok(())
}
