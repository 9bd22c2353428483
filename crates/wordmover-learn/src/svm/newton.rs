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
//! depend on the others.
//!
//! Every number is computed from the same operands in the same order as in LIBLINEAR,
//! so that from `w = 0` and without Gram matrices the weights have its bits. Anything
//! less would not do: step 1 is so loose that for a large C two solvers which round
//! differently part ways, and stop, both within the rule, at objectives 1e-2 apart.

use rayon::prelude::*;

use super::design::Design;
use super::gram::Gram;
use super::vectors::{add_scaled, dot, plain_dot, squared_hinge};

const MOST_NEWTON_STEPS: usize = 1000;
const MOST_HALVINGS: usize = 20;
const SUFFICIENT_DECREASE: f64 = 0.01;
const LEAST_CHANGE: f64 = 1e-12;
const CG_TOLERANCE: f64 = 0.5;
const PRECONDITIONER_SHARE: f64 = 0.01;
const LEAST_CURVATURE: f64 = 1e-16;

/// Why the solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The gradient is as small as asked for.
    Converged,
    /// The objective can fall no further in double precision; LIBLINEAR warns.
    NoProgress,
    /// After 1,000 Newton steps the gradient was still too large; LIBLINEAR warns.
    StepLimit,
}

/// How the solution of one machine was found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// `|w|^2 / 2 + C * sum of squared hinge losses`, for the columns as they were
    /// used (standardised, if they were).
    pub objective: f64,
    /// Norm of the objective's gradient.
    pub gradient_norm: f64,
    /// Newton steps taken.
    pub n_newton_steps: usize,
    /// Steps of conjugate gradients in all.
    pub n_cg_steps: usize,
    /// Why the solver stopped.
    pub stop: Stop,
}

/// One class against the rest.
#[derive(Debug)]
pub(crate) struct Machine {
    /// +1 and -1.
    signs: Vec<f64>,
    /// Norm of `X^T y`: the gradient at 0 is `2 C` times it.
    unit_gradient_norm: f64,
    /// `max(1, min(n_positive, n_negative)) / n`.
    balance: f64,

    pub weights: Vec<f64>,
    /// `X w`.
    values: Vec<f64>,
    objective: f64,
    /// By how much the last step changed the objective.
    last_change: f64,
    squared_norm: f64,
    gradient: Vec<f64>,
    gradient_norm: f64,
    is_active: Vec<bool>,

    step: Vec<f64>,
    /// `X step`.
    step_values: Vec<f64>,
    preconditioner: Vec<f64>,
    cg: ConjugateGradients,

    gram: Option<Gram>,
    /// Multiplications through `X` that an up-to-date Gram matrix would have saved.
    rent: usize,
    /// Whether `gram` is that of the active rows.
    gram_is_current: bool,

    n_newton_steps: usize,
    n_cg_steps: usize,
    stop: Option<Stop>,
}

#[derive(Debug)]
struct ConjugateGradients {
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// `H direction`.
    curvature: Vec<f64>,
    /// `M^-1 residual`.
    preconditioned: Vec<f64>,
    /// A vector over the rows.
    row_values: Vec<f64>,
    /// `residual^T M^-1 residual`.
    zr: f64,
    model_gain: f64,
    tolerance: f64,
    n_steps: usize,
}

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
        let (n, r) = (design.n_rows, design.n_columns);
        let mut machines: Vec<Machine> = (0..design.n_machines())
            .map(|positive| {
                let signs: Vec<f64> = (0..n).map(|row| design.label_sign(positive, row)).collect();
                let n_positive = signs.iter().filter(|&&sign| sign > 0.0).count();
                Machine {
                    unit_gradient_norm: 0.0,
                    balance: n_positive.min(n - n_positive).max(1) as f64 / n as f64,
                    weights: vec![0.0; r],
                    values: vec![0.0; n],
                    objective: 0.0,
                    last_change: 0.0,
                    squared_norm: 0.0,
                    gradient: vec![0.0; r],
                    gradient_norm: 0.0,
                    is_active: vec![true; n],
                    step: vec![0.0; r],
                    step_values: vec![0.0; n],
                    preconditioner: vec![0.0; r],
                    cg: ConjugateGradients {
                        residual: vec![0.0; r],
                        direction: vec![0.0; r],
                        curvature: vec![0.0; r],
                        preconditioned: vec![0.0; r],
                        row_values: vec![0.0; n],
                        zr: 0.0,
                        model_gain: 0.0,
                        tolerance: 0.0,
                        n_steps: 0,
                    },
                    gram: None,
                    rent: 0,
                    gram_is_current: false,
                    n_newton_steps: 0,
                    n_cg_steps: 0,
                    stop: None,
                    signs,
                }
            })
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

    /// Weights of every machine, as they are now.
    pub fn weights(&self) -> impl Iterator<Item = &[f64]> {
        self.machines.iter().map(|machine| &machine.weights[..])
    }

    /// Minimises for this C, beginning at the last solution.
    pub fn solve(&mut self, cost: f64, eps: f64) -> Vec<Solution> {
        let Solver {
            design,
            machines,
            keeps_gram,
            all_rows,
        } = self;
        let keeps_gram = *keeps_gram && design.n_columns < design.n_rows;
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
            conjugate_gradients(design, &mut running, cost);
            let pairs = running.iter_mut();
            let mut pairs: Vec<_> = pairs
                .map(|m| (&m.step[..], &mut m.step_values[..]))
                .collect();
            design.rows.multiply(&mut pairs);
            running.retain_mut(|machine| machine.search_line(cost));
            compute_gradients(design, &mut running, cost);
            running.retain_mut(|machine| machine.goes_on(cost, eps));
        }
        machines.iter().map(Machine::solution).collect()
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
    let (n, r) = (design.n_rows, design.n_columns);
    let an_outer_product = r * (r + 1) / 2;
    if all_rows.is_none() {
        let rent: usize = machines.iter().map(|machine| machine.rent).sum();
        if rent >= n * an_outer_product {
            *all_rows = Some(Gram::of_all_rows(design));
        }
    }
    if let Some(all_rows) = all_rows {
        machines.par_iter_mut().for_each(|machine| {
            let n_active = machine.is_active.iter().filter(|&&is| is).count();
            let from_none = n_active;
            let from_all = n - n_active;
            let current = machine.gram.as_ref();
            let from_current =
                current.map_or(usize::MAX, |gram| gram.n_changes(&machine.is_active));
            let n_changes = from_none.min(from_all).min(from_current);
            machine.gram_is_current = machine.rent >= n_changes * an_outer_product;
            if !machine.gram_is_current {
                return;
            }
            machine.rent = 0;
            let mut gram = match machine.gram.take() {
                Some(gram) if from_current == n_changes => gram,
                _ if from_all == n_changes => all_rows.clone(),
                _ => Gram::of_no_rows(design),
            };
            gram.change_to(design, &machine.is_active);
            machine.gram = Some(gram);
        });
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
fn conjugate_gradients(design: &Design, machines: &mut [&mut Machine], cost: f64) {
    let a_pass = 2 * design.n_rows * design.n_columns;
    let mut running: Vec<&mut Machine> =
        machines.iter_mut().map(|machine| &mut **machine).collect();
    for machine in &mut running {
        machine.begin_cg();
    }
    while !running.is_empty() {
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
}

impl Machine {
    fn begin(&mut self, cost: f64) {
        self.n_newton_steps = 0;
        self.n_cg_steps = 0;
        self.stop = None;
        self.squared_norm = plain_dot(&self.weights, &self.weights);
        let loss = squared_hinge(cost, &self.signs, &self.values, 0.0, &self.values);
        self.objective = loss + 0.5 * self.squared_norm;
    }

    /// Leaves the gradient's weights of the rows in `cg.row_values`.
    fn find_active_rows(&mut self, cost: f64) {
        for (i, &value) in self.values.iter().enumerate() {
            let margin = value * self.signs[i];
            self.is_active[i] = margin < 1.0;
            self.cg.row_values[i] = if margin < 1.0 {
                cost * self.signs[i] * (margin - 1.0)
            } else {
                0.0
            };
        }
        self.gram_is_current = false;
    }

    fn is_converged(&mut self, cost: f64, eps: f64) -> bool {
        let at_zero = 2.0 * cost * self.unit_gradient_norm;
        let converged = self.gradient_norm <= eps * self.balance * at_zero;
        if converged {
            self.stop = Some(Stop::Converged);
        }
        converged
    }

    fn begin_cg(&mut self) {
        self.step.fill(0.0);
        for (residual, g) in self.cg.residual.iter_mut().zip(&self.gradient) {
            *residual = -g;
        }
        let each = self.cg.residual.iter().zip(&self.preconditioner);
        for (direction, (residual, m)) in self.cg.direction.iter_mut().zip(each) {
            *direction = residual / m;
        }
        self.cg.zr = dot(&self.cg.direction, &self.cg.residual);
        self.cg.tolerance = CG_TOLERANCE.min(self.cg.zr.sqrt().sqrt());
        self.cg.model_gain = 0.0;
        self.cg.n_steps = 0;
    }

    fn multiply_by_gram(&mut self, cost: f64) {
        if let (true, Some(gram)) = (self.gram_is_current, &self.gram) {
            gram.multiply(&self.cg.direction, &mut self.cg.curvature);
            self.cg.curvature.iter_mut().for_each(|h| *h *= cost);
        }
    }

    /// One step along the direction, whose product with `C X_A^T X_A` is known. Returns
    /// whether another is needed.
    fn advance_cg(&mut self) -> bool {
        let cg = &mut self.cg;
        cg.n_steps += 1;
        self.n_cg_steps += 1;
        for (h, d) in cg.curvature.iter_mut().zip(&cg.direction) {
            *h = d + 2.0 * *h;
        }
        let along = dot(&cg.direction, &cg.curvature);
        if along <= LEAST_CURVATURE {
            return false;
        }
        let length = cg.zr / along;
        add_scaled(&mut self.step, length, &cg.direction);
        add_scaled(&mut cg.residual, -length, &cg.curvature);
        let model = -0.5 * (dot(&self.step, &cg.residual) - dot(&self.step, &self.gradient));
        let change = model - cg.model_gain;
        // A model that does not fall has met rounding.
        if !(model <= 0.0 && change <= 0.0) || cg.n_steps as f64 * change >= cg.tolerance * model {
            return false;
        }
        cg.model_gain = model;
        let each = cg.residual.iter().zip(&self.preconditioner);
        for (z, (residual, m)) in cg.preconditioned.iter_mut().zip(each) {
            *z = residual / m;
        }
        let zr = dot(&cg.preconditioned, &cg.residual);
        let beta = zr / cg.zr;
        for (direction, z) in cg.direction.iter_mut().zip(&cg.preconditioned) {
            *direction = beta * *direction + z;
        }
        cg.zr = zr;
        cg.n_steps < self.step.len().max(5)
    }

    /// Goes along the step as far as the objective allows; `false` if it does not.
    fn search_line(&mut self, cost: f64) -> bool {
        let step_norm = plain_dot(&self.step, &self.step);
        let along = plain_dot(&self.step, &self.weights);
        let slope = plain_dot(&self.step, &self.gradient);
        let mut length = 1.0;
        for _ in 0..MOST_HALVINGS {
            let loss = squared_hinge(cost, &self.signs, &self.values, length, &self.step_values);
            let objective =
                loss + (length * length * step_norm + self.squared_norm) / 2.0 + length * along;
            if objective - self.objective <= SUFFICIENT_DECREASE * length * slope {
                self.n_newton_steps += 1;
                add_scaled(&mut self.values, length, &self.step_values);
                add_scaled(&mut self.weights, length, &self.step);
                self.squared_norm += length * length * step_norm + 2.0 * length * along;
                self.last_change = (self.objective - objective).abs();
                self.objective = objective;
                return true;
            }
            length *= 0.5;
        }
        self.stop = Some(Stop::NoProgress);
        false
    }

    fn goes_on(&mut self, cost: f64, eps: f64) -> bool {
        if self.is_converged(cost, eps) {
            return false;
        }
        if self.last_change <= LEAST_CHANGE * self.objective.abs() {
            self.stop = Some(Stop::NoProgress);
        } else if self.n_newton_steps == MOST_NEWTON_STEPS {
            self.stop = Some(Stop::StepLimit);
        }
        self.stop.is_none()
    }

    fn solution(&self) -> Solution {
        Solution {
            objective: self.objective,
            gradient_norm: self.gradient_norm,
            n_newton_steps: self.n_newton_steps,
            n_cg_steps: self.n_cg_steps,
            stop: self.stop.unwrap_or(Stop::StepLimit),
        }
    }
}
