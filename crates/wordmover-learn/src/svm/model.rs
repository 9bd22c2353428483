//! The fitted machine.

use std::ops::ControlFlow;

use crate::error::{Error, Result, same_length};
use crate::features::Features;

use super::design::Design;
use super::machine::Solution;
use super::newton::Solver;
use super::panels::Panels;
use super::params::{CheckedSvmParams, SvmParams, check_cost};

/// Rows whose decision values are computed together.
const BLOCK: usize = 1024;

/// A linear SVM: one machine for each class against the rest, or a single one if
/// there are two classes.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSvm {
    classes: Vec<usize>,
    n_features: usize,
    /// Machine by machine.
    weights: Vec<f64>,
    intercepts: Vec<f64>,
    solutions: Vec<Solution>,
}

impl LinearSvm {
    /// Fits on rows of features and the class id of each row. Begins at 0, so the
    /// steps are those of LIBLINEAR.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, a feature is not finite, there are no rows, not
    /// as many labels, or only one class.
    pub fn fit(params: SvmParams, features: Features, labels: &[usize]) -> Result<Self> {
        Self::fit_with_progress(params, features, labels, &|| ControlFlow::Continue(()))
    }

    /// [`fit`](Self::fit) that `progress`, which is called before every pass over the rows,
    /// can end.
    ///
    /// # Errors
    ///
    /// As for [`fit`](Self::fit), and [`Error::Interrupted`] if `progress` broke.
    pub fn fit_with_progress(
        params: SvmParams,
        features: Features,
        labels: &[usize],
        progress: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Self> {
        let params = params.check()?;
        let params = params.get();
        let design = Design::new(features, labels, params.standardize, params.bias)?;
        let mut solver = Solver::new(&design, false);
        let solutions = solver.solve(params.cost, params.tolerance, progress)?;
        Ok(Self::of(&design, &solver, solutions))
    }

    /// Fits one machine for each `C` in `costs` (and not for that of `params`), each
    /// beginning at the solution for the one before. Ascending values are the fastest.
    /// All satisfy the same stopping rule as [`fit`](Self::fit), but need not stop at
    /// the same point within its tolerance.
    ///
    /// # Errors
    ///
    /// As for [`fit`](Self::fit).
    pub fn fit_path(
        params: CheckedSvmParams,
        costs: &[f64],
        features: Features,
        labels: &[usize],
    ) -> Result<Vec<Self>> {
        let mut path = Vec::with_capacity(costs.len());
        Self::visit_path(params, costs, true, features, labels, |model| {
            path.push(model);
            Ok(())
        })?;
        Ok(path)
    }

    /// [`fit_path`](Self::fit_path), machine by machine, with warm starts or each from
    /// 0; an error of `visit` ends it.
    pub(crate) fn visit_path(
        params: CheckedSvmParams,
        costs: &[f64],
        warm_starts: bool,
        features: Features,
        labels: &[usize],
        mut visit: impl FnMut(Self) -> Result<()>,
    ) -> Result<()> {
        costs.iter().try_for_each(|&cost| check_cost(cost))?;
        let params = params.get();
        let design = Design::new(features, labels, params.standardize, params.bias)?;
        let mut solver = Solver::new(&design, warm_starts);
        for &cost in costs {
            if !warm_starts {
                solver.reset();
            }
            let never = || ControlFlow::Continue(());
            let solutions = solver.solve(cost, params.tolerance, &never)?;
            visit(Self::of(&design, &solver, solutions))?;
        }
        Ok(())
    }

    fn of(design: &Design, solver: &Solver, solutions: Vec<Solution>) -> Self {
        let folded = solver.weights().map(|weights| design.fold_back(weights));
        let (weights, intercepts): (Vec<_>, Vec<_>) = folded.unzip();
        LinearSvm {
            classes: design.classes.clone(),
            n_features: weights[0].len(),
            weights: weights.concat(),
            intercepts,
            solutions,
        }
    }

    /// Puts together what was kept of a model: its class ids and, machine by machine,
    /// weights and intercepts. Such a model tells nothing of its solution.
    ///
    /// # Errors
    ///
    /// If there are fewer than two classes, lengths do not fit, or a number is not
    /// finite.
    pub fn from_parts(
        classes: Vec<usize>,
        weights: Vec<f64>,
        intercepts: Vec<f64>,
    ) -> Result<Self> {
        if classes.len() < 2 {
            return Err(Error::parameter(
                "number of classes",
                classes.len(),
                "at least 2",
            ));
        }
        let n_machines = if classes.len() == 2 { 1 } else { classes.len() };
        same_length(
            "intercepts, one for each machine",
            n_machines,
            intercepts.len(),
        )?;
        let n_features = weights.len() / n_machines;
        same_length(
            "weights in whole machines",
            n_features * n_machines,
            weights.len(),
        )?;
        if n_features == 0 {
            return Err(Error::Empty { what: "weights" });
        }
        if let Some(value) = weights.iter().chain(&intercepts).find(|x| !x.is_finite()) {
            return Err(Error::parameter("a weight", value, "a finite number"));
        }
        Ok(LinearSvm {
            classes,
            n_features,
            weights,
            intercepts,
            solutions: Vec::new(),
        })
    }

    /// Class ids, in the order in which they first appeared in training.
    #[must_use]
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// Number of columns a row must have.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of machines: 1 for two classes (the first against the second), else the
    /// number of classes.
    #[must_use]
    pub fn n_machines(&self) -> usize {
        self.intercepts.len()
    }

    /// Weights of all machines for features as they come, machine by machine.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What each machine adds: its bias, and what standardising took away. All 0 if
    /// there is neither.
    #[must_use]
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// How each machine's solution was found; empty for a model put together from
    /// parts.
    #[must_use]
    pub fn solutions(&self) -> &[Solution] {
        &self.solutions
    }

    /// Decision values, row by row, one for each machine.
    ///
    /// # Errors
    ///
    /// If the number of columns is another than in training, or a value is not finite.
    pub fn decision_values(&self, features: Features) -> Result<Vec<f64>> {
        same_length("columns", self.n_features, features.n_columns())?;
        features.check_finite()?;
        let mut values = Vec::with_capacity(features.n_rows() * self.n_machines());
        for start in (0..features.n_rows()).step_by(BLOCK) {
            let rows: Vec<usize> = (start..features.n_rows()).take(BLOCK).collect();
            let panels = Panels::of_rows(features, &rows);
            values.extend(self.values_of(&panels, rows.len()));
        }
        Ok(values)
    }

    fn values_of(&self, rows: &Panels, n_rows: usize) -> Vec<f64> {
        let mut by_machine = vec![0.0; self.n_machines() * n_rows];
        let weights = self.weights.chunks_exact(self.n_features);
        let mut pairs: Vec<_> = weights.zip(by_machine.chunks_exact_mut(n_rows)).collect();
        rows.multiply(&mut pairs);
        let mut values = Vec::with_capacity(by_machine.len());
        for row in 0..n_rows {
            for (machine, intercept) in self.intercepts.iter().enumerate() {
                values.push(by_machine[machine * n_rows + row] + intercept);
            }
        }
        values
    }

    /// The class of each row: the one of the greatest decision value, of equal ones
    /// the first; with two classes the first if its decision value is positive.
    ///
    /// # Errors
    ///
    /// As for [`decision_values`](Self::decision_values).
    pub fn predict(&self, features: Features) -> Result<Vec<usize>> {
        Ok(self.classes_of(&self.decision_values(features)?))
    }

    /// The classes that rows of decision values stand for, as in
    /// [`predict`](Self::predict).
    #[must_use]
    pub fn classes_of(&self, decision_values: &[f64]) -> Vec<usize> {
        let rows = decision_values.chunks_exact(self.n_machines());
        rows.map(|values| self.class_of(values)).collect()
    }

    fn class_of(&self, values: &[f64]) -> usize {
        if let [value] = values {
            return self.classes[usize::from(*value <= 0.0)];
        }
        let mut best = 0;
        for (machine, value) in values.iter().enumerate() {
            if *value > values[best] {
                best = machine;
            }
        }
        self.classes[best]
    }
}
