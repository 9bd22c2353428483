//! One class against the rest: where its solver stands, and the steps it takes alone.
//!
//! What needs the features is done for all machines together, in `newton.rs`.

use super::design::Design;
use super::gram::Gram;
use super::vectors::{add_scaled, dot, plain_dot, squared_hinge};

const MOST_NEWTON_STEPS: usize = 1000;
const MOST_HALVINGS: usize = 20;
const SUFFICIENT_DECREASE: f64 = 0.01;
const LEAST_CHANGE: f64 = 1e-12;
const CG_TOLERANCE: f64 = 0.5;
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
    pub signs: Vec<f64>,
    /// Norm of `X^T y`: the gradient at 0 is `2 C` times it.
    pub unit_gradient_norm: f64,
    /// `max(1, min(n_positive, n_negative)) / n`.
    balance: f64,

    pub weights: Vec<f64>,
    /// `X w`.
    values: Vec<f64>,
    objective: f64,
    /// By how much the last step changed the objective.
    last_change: f64,
    squared_norm: f64,
    pub gradient: Vec<f64>,
    pub gradient_norm: f64,
    pub is_active: Vec<bool>,

    pub step: Vec<f64>,
    /// `X step`.
    pub step_values: Vec<f64>,
    pub preconditioner: Vec<f64>,
    pub cg: ConjugateGradients,

    pub gram: Option<Gram>,
    /// Multiplications through `X` that an up-to-date Gram matrix would have saved.
    pub rent: usize,
    /// Whether `gram` is that of the active rows.
    pub gram_is_current: bool,

    n_newton_steps: usize,
    n_cg_steps: usize,
    stop: Option<Stop>,
}

#[derive(Debug)]
pub(crate) struct ConjugateGradients {
    residual: Vec<f64>,
    pub direction: Vec<f64>,
    /// `H direction`.
    pub curvature: Vec<f64>,
    /// `M^-1 residual`.
    preconditioned: Vec<f64>,
    /// A vector over the rows.
    pub row_values: Vec<f64>,
    /// `residual^T M^-1 residual`.
    zr: f64,
    model_gain: f64,
    tolerance: f64,
    n_steps: usize,
}

impl Machine {
    /// The machine of the class at this position, at `w = 0`.
    pub fn new(design: &Design, class: usize) -> Self {
        let (n, r) = (design.n_rows, design.n_columns);
        let signs: Vec<f64> = (0..n).map(|row| design.label_sign(class, row)).collect();
        let n_positive = signs.iter().filter(|&&sign| sign > 0.0).count();
        Machine {
            signs,
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
        }
    }

    pub fn reset(&mut self) {
        self.weights.fill(0.0);
        self.values.fill(0.0);
    }

    pub fn begin(&mut self, cost: f64) {
        self.n_newton_steps = 0;
        self.n_cg_steps = 0;
        self.stop = None;
        self.squared_norm = plain_dot(&self.weights, &self.weights);
        let loss = squared_hinge(cost, &self.signs, &self.values, 0.0, &self.values);
        self.objective = loss + 0.5 * self.squared_norm;
    }

    /// Leaves the gradient's weights of the rows in `cg.row_values`.
    pub fn find_active_rows(&mut self, cost: f64) {
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

    pub fn is_converged(&mut self, cost: f64, eps: f64) -> bool {
        let at_zero = 2.0 * cost * self.unit_gradient_norm;
        let converged = self.gradient_norm <= eps * self.balance * at_zero;
        if converged {
            self.stop = Some(Stop::Converged);
        }
        converged
    }

    /// Brings the Gram matrix up to the active rows if that pays, from whichever of
    /// the last one, that of all rows and none needs the fewest changes.
    pub fn update_gram(&mut self, design: &Design, all_rows: &Gram) {
        let n_active = self.is_active.iter().filter(|&&is| is).count();
        let from_all = design.n_rows - n_active;
        let last = self.gram.as_ref();
        let from_last = last.map_or(usize::MAX, |gram| gram.n_changes(&self.is_active));
        let n_changes = from_last.min(from_all).min(n_active);
        self.gram_is_current = self.rent >= n_changes * Gram::cost_of_a_change(design);
        if !self.gram_is_current {
            return;
        }
        self.rent = 0;
        let mut gram = match self.gram.take() {
            Some(gram) if from_last == n_changes => gram,
            _ if from_all == n_changes => all_rows.clone(),
            _ => Gram::of_no_rows(design),
        };
        gram.change_to(design, &self.is_active);
        self.gram = Some(gram);
    }

    pub fn begin_cg(&mut self) {
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

    pub fn multiply_by_gram(&mut self, cost: f64) {
        if let (true, Some(gram)) = (self.gram_is_current, &self.gram) {
            gram.multiply(&self.cg.direction, &mut self.cg.curvature);
            self.cg.curvature.iter_mut().for_each(|h| *h *= cost);
        }
    }

    /// One step along the direction, whose product with `C X_A^T X_A` is known. Returns
    /// whether another is needed.
    pub fn advance_cg(&mut self) -> bool {
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
    pub fn search_line(&mut self, cost: f64) -> bool {
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

    pub fn goes_on(&mut self, cost: f64, eps: f64) -> bool {
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

    pub fn solution(&self) -> Solution {
        Solution {
            objective: self.objective,
            gradient_norm: self.gradient_norm,
            n_newton_steps: self.n_newton_steps,
            n_cg_steps: self.n_cg_steps,
            stop: self.stop.unwrap_or(Stop::StepLimit),
        }
    }
}
