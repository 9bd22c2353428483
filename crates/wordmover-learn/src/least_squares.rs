//! Cross-validation of linear classifiers by least squares: a comparison of features that
//! costs next to nothing.
//!
//! With squared loss instead of squared hinge loss, all classes share one matrix, which is
//! factorised once for each C and fold: `(X^T X + I / (2 C)) w = X^T y`, with `y` 1 for the
//! rows of a class and -1 for the others. The matrix of the rows that are learnt from is
//! that of all rows less that of the fold. Where there are fewer rows than columns, the
//! same is done with `X X^T`. A hundred classes take hardly longer than two.
//!
//! Columns are standardised over all rows, and a column of ones is the bias. Which of
//! several sets of features is better comes out as with the [SVM](crate::linear), which
//! remains the classifier.

mod cholesky;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::error::{Error, Result, same_length};
use crate::features::Features;
use crate::linear::{HeldOutScore, Targets, score_held_out};
use crate::scaling::column_scaling;
use crate::split::Split;
use crate::svm::panels::Panels;
use cholesky::Factor;

/// One C, judged on rows held out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LeastSquaresPoint {
    /// Weight of the losses.
    pub cost: f64,
    /// Over all rows held out: the share predicted right, or where rows have any number of
    /// classes the micro-averaged F1.
    pub score: f64,
    /// Standard deviation of the score over the splits.
    pub deviation: f64,
}

/// Judges every C. A row is held out by one split at most, and learnt from by all others.
///
/// Work runs on the current rayon thread pool; the result does not depend on it. `progress`
/// is called, from any of its threads, for each C of a split that is done, and may break.
///
/// # Errors
///
/// If features, targets and splits do not fit each other, a feature is not finite, there is
/// no positive finite C or nothing held out, or `progress` broke ([`Error::Interrupted`]).
pub fn search(
    costs: &[f64],
    features: Features,
    targets: &Targets,
    splits: &[Split],
    progress: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<Vec<LeastSquaresPoint>> {
    same_length(
        "labels, one for each row",
        features.n_rows(),
        targets.n_rows(),
    )?;
    features.check_finite()?;
    if costs.is_empty() {
        let what = "values of C";
        return Err(Error::Empty { what });
    }
    if let Some(cost) = costs.iter().find(|cost| !(1e-100..=1e100).contains(*cost)) {
        return Err(Error::parameter("C", cost, "between 1e-100 and 1e100"));
    }
    if splits.is_empty() || splits.iter().any(|split| split.test.is_empty()) {
        let what = "rows held out";
        return Err(Error::Empty { what });
    }
    check_disjoint(features.n_rows(), splits)?;
    let problem = Problem::new(features, targets, splits);
    let stopped = AtomicBool::new(false);
    let done = || {
        if stopped.load(Ordering::Relaxed) || progress().is_break() {
            stopped.store(true, Ordering::Relaxed);
            return Err(Error::Interrupted);
        }
        Ok(())
    };
    let jobs: Vec<(usize, f64)> = (0..splits.len())
        .flat_map(|split| costs.iter().map(move |&cost| (split, cost)))
        .collect();
    let values = jobs.par_iter().with_max_len(1).map(|&(split, cost)| {
        let values = problem.held_out_values(split, cost);
        done().map(|()| values)
    });
    let values: Vec<Vec<f64>> = values.collect::<Result<_>>()?;
    let points = costs.iter().enumerate().map(|(c, &cost)| {
        let of_splits = (0..splits.len()).map(|split| {
            let values = values[split * costs.len() + c].as_slice();
            (splits[split].test.as_slice(), values)
        });
        let HeldOutScore { score, deviation } = score_held_out(targets, of_splits)?;
        Ok(LeastSquaresPoint {
            cost,
            score,
            deviation,
        })
    });
    points.collect()
}

/// Rows held out twice would be learnt from by nobody.
fn check_disjoint(n_rows: usize, splits: &[Split]) -> Result<()> {
    let mut is_held_out = vec![false; n_rows];
    for split in splits {
        same_length(
            "rows of a split",
            n_rows,
            split.train.len() + split.test.len(),
        )?;
        for &row in &split.test {
            let known = is_held_out.get_mut(row);
            if known.is_none_or(|held_out| std::mem::replace(held_out, true)) {
                let requirement = "one of the rows, in one split";
                return Err(Error::parameter("a row held out", row, requirement));
            }
        }
    }
    Ok(())
}

/// What all values of C share.
struct Problem<'a> {
    targets: &'a Targets,
    splits: &'a [Split],
    /// Standardised, with a last column of ones.
    values: Vec<f32>,
    n_columns: usize,
    products: Products,
}

enum Products {
    /// `X^T X` and `X^T Y` of all rows, and for each split of the rows it holds out.
    Columns { all: Sums, held_out: Vec<Sums> },
    /// `X X^T`.
    Rows(Vec<f64>),
}

struct Sums {
    square: Vec<f64>,
    /// A row for each column of the features, a column for each machine.
    right: Vec<f64>,
}

impl<'a> Problem<'a> {
    fn new(features: Features, targets: &'a Targets, splits: &'a [Split]) -> Self {
        let n_rows = features.n_rows();
        let n_columns = features.n_columns() + 1;
        let scaling = column_scaling(features, 0..n_rows);
        let mut values = vec![1.0; n_rows * n_columns];
        let rows = values.par_chunks_exact_mut(n_columns).enumerate();
        rows.for_each(|(row, values)| {
            let each = scaling.iter().zip(features.row(row));
            for (value, (scaling, &x)) in values.iter_mut().zip(each) {
                *value = scaling.apply(x) as f32;
            }
        });
        let mut problem = Problem {
            targets,
            splits,
            values,
            n_columns,
            products: Products::Rows(Vec::new()),
        };
        problem.products = match n_rows < n_columns {
            true => {
                let rows: Vec<usize> = (0..n_rows).collect();
                let panels = Panels::of_rows(problem.features(), &rows);
                let mut square = vec![0.0; n_rows * n_rows];
                panels.add_outer_products(&vec![1.0; n_columns], &mut square);
                Products::Rows(square)
            }
            false => problem.by_columns(),
        };
        problem
    }

    fn features(&self) -> Features<'_> {
        Features::new(&self.values, self.n_columns).expect("whole rows")
    }

    fn by_columns(&self) -> Products {
        let mut parts: Vec<Vec<usize>> = self.splits.iter().map(|s| s.test.clone()).collect();
        let held_out: Vec<usize> = parts.concat();
        let mut is_held_out = vec![false; self.targets.n_rows()];
        held_out.iter().for_each(|&row| is_held_out[row] = true);
        // Rows that no split holds out.
        let others = (0..is_held_out.len()).filter(|&row| !is_held_out[row]);
        parts.push(others.collect());
        let sums = parts.par_iter().with_max_len(1).map(|rows| self.sums(rows));
        let mut sums: Vec<Sums> = sums.collect();
        let mut all = sums.pop().expect("one more than splits");
        for part in &sums {
            add(&mut all.square, &part.square);
            add(&mut all.right, &part.right);
        }
        let held_out = sums;
        Products::Columns { all, held_out }
    }

    fn sums(&self, rows: &[usize]) -> Sums {
        let (n, n_machines) = (self.n_columns, self.targets.n_machines());
        let mut square = vec![0.0; n * n];
        let mut right = vec![0.0; n * n_machines];
        if rows.is_empty() {
            return Sums { square, right };
        }
        let columns = Panels::of_columns(self.features(), rows);
        columns.add_outer_products(&vec![1.0; rows.len()], &mut square);
        // y is twice the membership less 1.
        let features = self.features();
        let mut all = vec![0.0; n];
        for &row in rows {
            for (sum, &x) in all.iter_mut().zip(features.row(row)) {
                *sum += f64::from(x);
            }
            for machine in self.machines_of(row) {
                let sums = right.iter_mut().skip(machine).step_by(n_machines);
                for (sum, &x) in sums.zip(features.row(row)) {
                    *sum += 2.0 * f64::from(x);
                }
            }
        }
        for (sums, all) in right.chunks_exact_mut(n_machines).zip(all) {
            sums.iter_mut().for_each(|sum| *sum -= all);
        }
        Sums { square, right }
    }

    /// The machines for which a row is of the class.
    fn machines_of(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let positions = self.targets.positions(row).iter();
        let n_machines = self.targets.n_machines();
        positions
            .map(|&p| p as usize)
            .filter(move |&p| p < n_machines)
    }

    /// Decision values of the rows that a split holds out.
    fn held_out_values(&self, split: usize, cost: f64) -> Vec<f64> {
        let ridge = 0.5 / cost;
        let split = (split, &self.splits[split]);
        match &self.products {
            Products::Columns { all, held_out } => {
                self.values_by_columns(split.1, all, &held_out[split.0], ridge)
            }
            Products::Rows(square) => self.values_by_rows(split.1, square, ridge),
        }
    }

    fn values_by_columns(&self, split: &Split, all: &Sums, less: &Sums, ridge: f64) -> Vec<f64> {
        let n_machines = self.targets.n_machines();
        let difference = |all: &[f64], less: &[f64]| -> Vec<f64> {
            all.iter().zip(less).map(|(a, b)| a - b).collect()
        };
        let mut weights = difference(&all.right, &less.right);
        let square = difference(&all.square, &less.square);
        Factor::new(square, self.n_columns, ridge).solve(&mut weights, n_machines);
        let features = self.features();
        let mut values = vec![0.0; split.test.len() * n_machines];
        for (&row, values) in split.test.iter().zip(values.chunks_exact_mut(n_machines)) {
            let weights = weights.chunks_exact(n_machines);
            for (&x, weights) in features.row(row).iter().zip(weights) {
                let x = f64::from(x);
                values
                    .iter_mut()
                    .zip(weights)
                    .for_each(|(v, w)| *v += x * w);
            }
        }
        values
    }

    fn values_by_rows(&self, split: &Split, square: &[f64], ridge: f64) -> Vec<f64> {
        let (n_rows, n_machines) = (self.targets.n_rows(), self.targets.n_machines());
        let n = split.train.len();
        let mut part = Vec::with_capacity(n * n);
        let mut duals = vec![-1.0; n * n_machines];
        for (position, &row) in split.train.iter().enumerate() {
            part.extend(
                split
                    .train
                    .iter()
                    .map(|&other| square[row * n_rows + other]),
            );
            for machine in self.machines_of(row) {
                duals[position * n_machines + machine] = 1.0;
            }
        }
        Factor::new(part, n, ridge).solve(&mut duals, n_machines);
        let mut values = vec![0.0; split.test.len() * n_machines];
        for (&row, values) in split.test.iter().zip(values.chunks_exact_mut(n_machines)) {
            let duals = duals.chunks_exact(n_machines);
            for (&other, duals) in split.train.iter().zip(duals) {
                let product = square[row * n_rows + other];
                values
                    .iter_mut()
                    .zip(duals)
                    .for_each(|(v, d)| *v += product * d);
            }
        }
        values
    }
}

fn add(sums: &mut [f64], others: &[f64]) {
    sums.iter_mut()
        .zip(others)
        .for_each(|(sum, other)| *sum += other);
}
