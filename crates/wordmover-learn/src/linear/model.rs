//! The fitted classifier.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::error::{Error, Result, same_length};

use super::blocks::FeatureBlocks;
use super::company::{Company, MOST_LANES, companies};
use super::design::Design;
use super::dual::{MachineFit, Schedule};
use super::group::Group;
use super::params::{CheckedLinearParams, ClassWeights, LinearParams};
use super::targets::Targets;

/// A linear SVM (L2-regularised, squared hinge, each class against the rest) on sparse and
/// dense features together.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearClassifier {
    classes: Vec<usize>,
    one_each: bool,
    n_sparse: usize,
    n_dense: usize,
    /// Column by column, sparse ones first, and in each machine by machine.
    weights: Vec<f64>,
    intercepts: Vec<f64>,
    fits: Vec<MachineFit>,
}

impl LinearClassifier {
    /// Fits.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, a feature is not finite, there are not as many labels
    /// as rows, or every row has weight 0.
    pub fn fit(params: LinearParams, features: FeatureBlocks, targets: &Targets) -> Result<Self> {
        Self::fit_checked(&params.check()?, features, targets)
    }

    /// The same with parameters that were checked before.
    ///
    /// # Errors
    ///
    /// As for [`fit`](Self::fit).
    pub fn fit_checked(
        params: &CheckedLinearParams,
        features: FeatureBlocks,
        targets: &Targets,
    ) -> Result<Self> {
        Self::fit_with_progress(params, features, targets, &|| ControlFlow::Continue(()))
    }

    /// [`fit_checked`](Self::fit_checked) that `progress`, which is called before every pass
    /// over the rows, can end.
    ///
    /// # Errors
    ///
    /// As for [`fit`](Self::fit), and [`Error::Interrupted`] if `progress` broke.
    pub fn fit_with_progress(
        params: &CheckedLinearParams,
        features: FeatureBlocks,
        targets: &Targets,
        progress: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Self> {
        let params = params.get();
        let schedule = Schedule::of(params, progress);
        check_problem(params, &features, targets)?;
        let design = Design::new(features, targets.learnt(0..targets.n_rows())?, params);
        let companies = companies(targets.n_machines(), 1);
        let solve = |&(first, n): &Company| match n {
            1 => Part::solve::<1>(&design, targets, params, schedule, first, n),
            2 => Part::solve::<2>(&design, targets, params, schedule, first, n),
            3..=4 => Part::solve::<4>(&design, targets, params, schedule, first, n),
            _ => Part::solve::<MOST_LANES>(&design, targets, params, schedule, first, n),
        };
        let parts: Vec<Part> = companies.par_iter().with_max_len(1).map(solve).collect();
        if progress().is_break() {
            return Err(Error::Interrupted);
        }
        let n_columns = features.n_sparse() + features.n_dense();
        let n_machines = targets.n_machines();
        let mut weights = vec![0.0; n_columns * n_machines];
        for (part, &(first, _)) in parts.iter().zip(&companies) {
            let n = part.intercepts.len();
            let columns = part.weights.chunks_exact(n);
            for (weights, column) in weights.chunks_exact_mut(n_machines).zip(columns) {
                weights[first..][..n].copy_from_slice(column);
            }
        }
        Ok(LinearClassifier {
            classes: targets.classes().to_vec(),
            one_each: targets.is_one_each(),
            n_sparse: features.n_sparse(),
            n_dense: features.n_dense(),
            weights,
            intercepts: parts
                .iter()
                .flat_map(|part| part.intercepts.clone())
                .collect(),
            fits: parts.iter().flat_map(|part| part.fits.clone()).collect(),
        })
    }

    /// Puts together what was kept of a model: its class ids, ascending; whether a row has
    /// exactly one of them; the numbers of columns; and weights, column by column (sparse
    /// ones first) and in each machine by machine.
    ///
    /// # Errors
    ///
    /// If classes do not ascend, there are too few, lengths do not fit, or a number is not
    /// finite.
    pub fn from_parts(
        classes: Vec<usize>,
        one_each: bool,
        (n_sparse, n_dense): (usize, usize),
        weights: Vec<f64>,
        intercepts: Vec<f64>,
    ) -> Result<Self> {
        let least = if one_each { 2 } else { 1 };
        if classes.len() < least || !classes.is_sorted_by(|a, b| a < b) {
            let requirement = "ascending, and at least 2 if a row has one";
            return Err(Error::parameter(
                "a list of classes",
                classes.len(),
                requirement,
            ));
        }
        let n_machines = n_machines(classes.len(), one_each);
        same_length(
            "intercepts, one for each machine",
            n_machines,
            intercepts.len(),
        )?;
        let n_weights = (n_sparse + n_dense) * n_machines;
        same_length(
            "weights, one for each column and machine",
            n_weights,
            weights.len(),
        )?;
        if let Some(value) = weights.iter().chain(&intercepts).find(|x| !x.is_finite()) {
            return Err(Error::parameter("a weight", value, "a finite number"));
        }
        Ok(LinearClassifier {
            classes,
            one_each,
            n_sparse,
            n_dense,
            weights,
            intercepts,
            fits: Vec::new(),
        })
    }

    /// Class ids, ascending.
    #[must_use]
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// Number of machines: one for each class, or one, that speaks for the first class, if
    /// there are two and every row has one.
    #[must_use]
    pub fn n_machines(&self) -> usize {
        self.intercepts.len()
    }

    /// Weights of a machine for all columns, sparse ones first; features are multiplied by
    /// them as they come.
    pub fn weights(&self, machine: usize) -> impl Iterator<Item = f64> + '_ {
        let n = self.n_machines();
        assert!(machine < n, "machine {machine} of {n}");
        self.weights.iter().skip(machine).step_by(n).copied()
    }

    /// Weights of a column, one for each machine: what it says for their classes. Dense
    /// columns come behind the sparse ones.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[must_use]
    pub fn column_weights(&self, column: usize) -> &[f64] {
        &self.weights[column * self.n_machines()..][..self.n_machines()]
    }

    /// Number of sparse columns a row must have.
    #[must_use]
    pub fn n_sparse(&self) -> usize {
        self.n_sparse
    }

    /// Number of dense columns a row must have.
    #[must_use]
    pub fn n_dense(&self) -> usize {
        self.n_dense
    }

    /// Whether a row has exactly one class.
    #[must_use]
    pub fn is_one_each(&self) -> bool {
        self.one_each
    }

    /// One for each machine.
    #[must_use]
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// How each machine was found; nothing for a model put together of its parts.
    #[must_use]
    pub fn fits(&self) -> &[MachineFit] {
        &self.fits
    }

    /// Whether every machine is as good as was asked for.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.fits.iter().all(|fit| fit.converged)
    }

    /// Decision values, row by row, one for each machine.
    ///
    /// # Errors
    ///
    /// If the columns are not those of the training, or a feature is not finite.
    pub fn decision_values(&self, features: FeatureBlocks) -> Result<Vec<f64>> {
        same_length("sparse columns", self.n_sparse, features.n_sparse())?;
        same_length("dense columns", self.n_dense, features.n_dense())?;
        features.check_finite()?;
        let n = self.n_machines();
        let mut values = vec![0.0; features.n_rows() * n];
        let rows = values.par_chunks_exact_mut(n).enumerate();
        rows.with_min_len(64).for_each(|(row, values)| {
            let (columns, sparse) = features.sparse_row(row);
            let columns = columns.iter().map(|&column| column as usize);
            let dense = features.dense_row(row).iter().map(|&x| f64::from(x));
            let dense = (self.n_sparse..).zip(dense);
            for (column, x) in columns.zip(sparse.iter().copied()).chain(dense) {
                let weights = &self.weights[column * n..][..n];
                for (value, weight) in values.iter_mut().zip(weights) {
                    *value += x * weight;
                }
            }
            for (value, intercept) in values.iter_mut().zip(&self.intercepts) {
                *value += intercept;
            }
        });
        Ok(values)
    }

    /// The class of each row: the one of the greatest decision value, of equal ones the
    /// first; with a single machine the first class if its value is positive.
    ///
    /// # Errors
    ///
    /// As for [`decision_values`](Self::decision_values).
    pub fn predict(&self, features: FeatureBlocks) -> Result<Vec<usize>> {
        Ok(self.classes_of(&self.decision_values(features)?))
    }

    /// The classes of each row whose decision values are positive, ascending: for rows that
    /// may have any number of them. With a single machine for two classes, the one.
    ///
    /// # Errors
    ///
    /// As for [`decision_values`](Self::decision_values).
    pub fn predict_sets(&self, features: FeatureBlocks) -> Result<Vec<Vec<usize>>> {
        Ok(self.sets_of(&self.decision_values(features)?))
    }

    /// The class that each row of decision values stands for, as in
    /// [`predict`](Self::predict).
    #[must_use]
    pub fn classes_of(&self, decision_values: &[f64]) -> Vec<usize> {
        let rows = decision_values.chunks_exact(self.n_machines());
        rows.map(|values| self.classes[best_position(values, self.classes.len())])
            .collect()
    }

    /// The classes that each row of decision values stands for, as in
    /// [`predict_sets`](Self::predict_sets).
    #[must_use]
    pub fn sets_of(&self, decision_values: &[f64]) -> Vec<Vec<usize>> {
        let rows = decision_values.chunks_exact(self.n_machines());
        let positions = rows.map(|values| positive_positions(values, self.classes.len()));
        positions
            .map(|positions| positions.into_iter().map(|p| self.classes[p]).collect())
            .collect()
    }
}

/// Machines for so many classes.
pub(crate) fn n_machines(n_classes: usize, one_each: bool) -> usize {
    if one_each && n_classes == 2 {
        1
    } else {
        n_classes
    }
}

/// The position of the class that decision values stand for.
pub(crate) fn best_position(values: &[f64], n_classes: usize) -> usize {
    if let ([value], 2) = (values, n_classes) {
        return usize::from(*value <= 0.0);
    }
    let mut best = 0;
    for (position, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = position;
        }
    }
    best
}

/// The positions of the classes whose decision values are positive.
pub(crate) fn positive_positions(values: &[f64], n_classes: usize) -> Vec<usize> {
    if values.len() < n_classes {
        return vec![best_position(values, n_classes)];
    }
    let positions = values.iter().enumerate().filter(|(_, value)| **value > 0.0);
    positions.map(|(position, _)| position).collect()
}

/// Refuses parameters, features and targets that do not fit each other.
pub(crate) fn check_problem(
    params: &LinearParams,
    features: &FeatureBlocks,
    targets: &Targets,
) -> Result<()> {
    same_length(
        "labels, one for each row",
        features.n_rows(),
        targets.n_rows(),
    )?;
    features.check_finite()?;
    if let ClassWeights::Given(weights) = &params.class_weights {
        let is_unknown = |(class, _): &&(usize, f64)| !targets.classes().contains(class);
        if let Some((class, _)) = weights.iter().find(is_unknown) {
            let requirement = "one of the classes";
            return Err(Error::parameter(
                "a class with a weight",
                class,
                requirement,
            ));
        }
    }
    Ok(())
}

/// Machines that were solved together.
struct Part {
    /// Column by column.
    weights: Vec<f64>,
    intercepts: Vec<f64>,
    fits: Vec<MachineFit>,
}

impl Part {
    fn solve<const L: usize>(
        design: &Design,
        targets: &Targets,
        params: &LinearParams,
        schedule: Schedule<'_>,
        first: usize,
        n: usize,
    ) -> Self {
        let mut group = Group::<L>::new(design, targets, params, first, n);
        let fits = group.solve(params.cost, schedule);
        let n_columns = design.blocks().n_sparse() + design.blocks().n_dense();
        let mut weights = vec![0.0; n_columns * n];
        let intercepts =
            group.fold_back(|column, lane, weight| weights[column * n + lane] = weight);
        Part {
            weights,
            intercepts,
            fits,
        }
    }
}
