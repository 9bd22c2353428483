//! Probabilities from decision values: Platt's sigmoid, fitted by the algorithm of Lin, Lin
//! and Weng (A note on Platt's probabilistic outputs for support vector machines, 2007).
//!
//! For each machine `p = 1 / (1 + exp(slope * value + offset))`, least in cross-entropy
//! against `(n + 1) / (n + 2)` for the `n` rows of the class and `1 / (m + 2)` for the `m`
//! others. Decision values must be of rows that the machine has not seen, as those of
//! cross-validation are. Where a row has one class, the probabilities of its classes are
//! divided by their sum.

use crate::error::{Error, Result, same_length};

use super::targets::Targets;

const MOST_STEPS: usize = 100;
const LEAST_STEP: f64 = 1e-10;
const RIDGE: f64 = 1e-12;
const SMALL_GRADIENT: f64 = 1e-5;
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Sigmoids of all machines.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    sigmoids: Vec<Sigmoid>,
    n_classes: usize,
    one_each: bool,
}

/// `p = 1 / (1 + exp(slope * value + offset))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid {
    /// Negative where greater values speak for the class.
    pub slope: f64,
    /// Log-odds against the class at a value of 0.
    pub offset: f64,
}

impl Calibration {
    /// Fits on decision values of some of the targets' rows, row by row.
    ///
    /// # Errors
    ///
    /// If there are none, their number does not fit, or one is not finite.
    pub fn fit(values: &[f64], rows: &[usize], targets: &Targets) -> Result<Self> {
        let n_machines = targets.n_machines();
        let what = "decision values, one for each row and machine";
        same_length(what, rows.len() * n_machines, values.len())?;
        if rows.is_empty() {
            let what = "rows to calibrate with";
            return Err(Error::Empty { what });
        }
        if let Some(&row) = rows.iter().find(|&&row| row >= targets.n_rows()) {
            return Err(Error::parameter("a row", row, "one of the rows"));
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Error::parameter(
                "a decision value",
                value,
                "a finite number",
            ));
        }
        let sigmoids = (0..n_machines).map(|machine| {
            let of_machine = values.iter().skip(machine).step_by(n_machines);
            let is_of_class = |row: usize| targets.positions(row).contains(&(machine as u32));
            let rows = rows.iter().map(|&row| is_of_class(row));
            Sigmoid::fit(&of_machine.copied().zip(rows).collect::<Vec<_>>())
        });
        Ok(Calibration {
            sigmoids: sigmoids.collect(),
            n_classes: targets.classes().len(),
            one_each: targets.is_one_each(),
        })
    }

    /// What was kept of a fit.
    ///
    /// # Errors
    ///
    /// If there are not as many sigmoids as machines, or a number is not finite.
    pub fn from_parts(n_classes: usize, one_each: bool, sigmoids: Vec<Sigmoid>) -> Result<Self> {
        let expected = super::model::n_machines(n_classes, one_each);
        same_length("sigmoids, one for each machine", expected, sigmoids.len())?;
        let numbers = sigmoids.iter().flat_map(|s| [s.slope, s.offset]);
        if let Some(value) = numbers.clone().find(|value| !value.is_finite()) {
            return Err(Error::parameter("a sigmoid", value, "a finite number"));
        }
        Ok(Calibration {
            sigmoids,
            n_classes,
            one_each,
        })
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// One for each machine.
    #[must_use]
    pub fn sigmoids(&self) -> &[Sigmoid] {
        &self.sigmoids
    }

    /// Probabilities of all classes, row by row, of rows of decision values. Where a row has
    /// one class they sum to 1.
    #[must_use]
    pub fn probabilities(&self, decision_values: &[f64]) -> Vec<f64> {
        let rows = decision_values.chunks_exact(self.sigmoids.len());
        let mut probabilities = Vec::with_capacity(rows.len() * self.n_classes);
        for values in rows {
            let start = probabilities.len();
            let each = self.sigmoids.iter().zip(values);
            probabilities.extend(each.map(|(sigmoid, &value)| sigmoid.probability(value)));
            if self.sigmoids.len() < self.n_classes {
                probabilities.push(1.0 - probabilities[start]);
            } else if self.one_each {
                let row = &mut probabilities[start..];
                let sum: f64 = row.iter().sum();
                let all_alike = 1.0 / self.n_classes as f64;
                let divide = |p: &mut f64| *p = if sum > 0.0 { *p / sum } else { all_alike };
                row.iter_mut().for_each(divide);
            }
        }
        probabilities
    }
}

impl Sigmoid {
    /// The probability at a decision value; never greater than 1, and never NaN.
    #[must_use]
    pub fn probability(&self, value: f64) -> f64 {
        let z = value * self.slope + self.offset;
        if z >= 0.0 {
            let e = libm::exp(-z);
            e / (1.0 + e)
        } else {
            1.0 / (1.0 + libm::exp(z))
        }
    }

    /// Newton's method with a ridge and backtracking.
    fn fit(rows: &[(f64, bool)]) -> Self {
        let n_positive = rows.iter().filter(|(_, is)| *is).count() as f64;
        let n_negative = rows.len() as f64 - n_positive;
        let of_positive = (n_positive + 1.0) / (n_positive + 2.0);
        let of_negative = 1.0 / (n_negative + 2.0);
        let target = |is: bool| if is { of_positive } else { of_negative };
        let loss = |sigmoid: Sigmoid| -> f64 {
            let each = rows.iter().map(|&(value, is)| {
                let z = value * sigmoid.slope + sigmoid.offset;
                if z >= 0.0 {
                    target(is) * z + libm::log1p(libm::exp(-z))
                } else {
                    (target(is) - 1.0) * z + libm::log1p(libm::exp(z))
                }
            });
            each.sum()
        };
        let mut sigmoid = Sigmoid {
            slope: 0.0,
            offset: libm::log((n_negative + 1.0) / (n_positive + 1.0)),
        };
        let mut least = loss(sigmoid);
        for _ in 0..MOST_STEPS {
            let (mut h11, mut h22, mut h21) = (RIDGE, RIDGE, 0.0);
            let (mut g1, mut g2) = (0.0, 0.0);
            for &(value, is) in rows {
                let p = sigmoid.probability(value);
                let curvature = p * (1.0 - p);
                h11 += value * value * curvature;
                h22 += curvature;
                h21 += value * curvature;
                let slope = target(is) - p;
                g1 += value * slope;
                g2 += slope;
            }
            if g1.abs() < SMALL_GRADIENT && g2.abs() < SMALL_GRADIENT {
                break;
            }
            let determinant = h11 * h22 - h21 * h21;
            let step_slope = -(h22 * g1 - h21 * g2) / determinant;
            let step_offset = -(h11 * g2 - h21 * g1) / determinant;
            let along = g1 * step_slope + g2 * step_offset;
            let mut length = 1.0;
            let next = loop {
                let next = Sigmoid {
                    slope: sigmoid.slope + length * step_slope,
                    offset: sigmoid.offset + length * step_offset,
                };
                let found = loss(next);
                if found < least + SUFFICIENT_DECREASE * length * along {
                    break Some((next, found));
                }
                length /= 2.0;
                // This ends steps that are no numbers, too (a determinant of 0).
                if length < LEAST_STEP {
                    break None;
                }
            };
            match next {
                Some(next) => (sigmoid, least) = next,
                None => break,
            }
        }
        sigmoid
    }
}
