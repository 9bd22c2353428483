//! The best C and weight of the dense block by cross-validation.
//!
//! All machines of a fold and of a weight go along the values of C, each beginning where it
//! was for the C before. Folds and companies of machines run in parallel. Nothing of the
//! features is copied for a fold but its sparse part.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::split::Split;

use super::blocks::FeatureBlocks;
use super::company::{Company, MOST_LANES, companies};
use super::design::{Design, HeldOut};
use super::dual::Schedule;
use super::group::Group;
use super::model::check_problem;
use super::params::{LinearParams, check_positive};
use super::score::{HeldOutScore, score_held_out};
use super::targets::Targets;

/// What is searched.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LinearSearchParams {
    /// Values of C, ascending. Default 0.03, 0.1, ... 30: for rows of length 1 or so.
    pub costs: Vec<f64>,
    /// Weights of the dense block. Default 1 alone.
    pub dense_weights: Vec<f64>,
    /// The machine; its own C and weight are not used. By default its tolerance is 1e-2:
    /// enough to compare values of C.
    pub linear: LinearParams,
}

impl Default for LinearSearchParams {
    fn default() -> Self {
        LinearSearchParams {
            costs: vec![0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0],
            dense_weights: vec![1.0],
            linear: LinearParams::default().tolerance(1e-2),
        }
    }
}

impl LinearSearchParams {
    /// Sets the values of C.
    #[must_use]
    pub fn costs(mut self, costs: impl Into<Vec<f64>>) -> Self {
        self.costs = costs.into();
        self
    }

    /// Sets the weights of the dense block.
    #[must_use]
    pub fn dense_weights(mut self, dense_weights: impl Into<Vec<f64>>) -> Self {
        self.dense_weights = dense_weights.into();
        self
    }

    /// Sets the machine.
    #[must_use]
    pub fn linear(mut self, linear: LinearParams) -> Self {
        self.linear = linear;
        self
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// If one is out of range, there is nothing to try, or values of C do not ascend.
    pub fn check(self) -> Result<CheckedLinearSearchParams> {
        let lists = [
            ("values of C", "C", &self.costs),
            (
                "weights of the dense block",
                "dense_weight",
                &self.dense_weights,
            ),
        ];
        for (what, name, values) in lists {
            if values.is_empty() {
                return Err(Error::Empty { what });
            }
            values
                .iter()
                .try_for_each(|&value| check_positive(name, value))?;
        }
        if let Some(pair) = self.costs.windows(2).find(|pair| pair[0] >= pair[1]) {
            let requirement = "greater than the one before";
            return Err(Error::parameter("C", pair[1], requirement));
        }
        let linear = self.linear.clone();
        linear.cost(self.costs[0]).dense_weight(1.0).check()?;
        Ok(CheckedLinearSearchParams(self))
    }
}

/// Parameters that passed [`LinearSearchParams::check`].
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedLinearSearchParams(LinearSearchParams);

impl CheckedLinearSearchParams {
    /// The parameters.
    #[must_use]
    pub fn get(&self) -> &LinearSearchParams {
        &self.0
    }
}

/// One weight of the dense block with one C, judged on rows held out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LinearPoint {
    /// Weight of the dense block.
    pub dense_weight: f64,
    /// C.
    pub cost: f64,
    /// Over all rows held out: the share predicted right, or where rows have any number of
    /// classes the micro-averaged F1.
    pub score: f64,
    /// Standard deviation of the score over the splits.
    pub deviation: f64,
    /// Machines that had not converged after the greatest number of epochs.
    pub n_unfinished: usize,
}

/// All points, and what the best one says about the rows held out.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSurface {
    points: Vec<LinearPoint>,
    best: usize,
    held_out_rows: Vec<usize>,
    held_out_values: Vec<f64>,
}

impl LinearSurface {
    /// Every point: by weight of the dense block, then by C.
    #[must_use]
    pub fn points(&self) -> &[LinearPoint] {
        &self.points
    }

    /// The point with the greatest score; of equal ones that with the smallest C, then the
    /// earliest weight.
    #[must_use]
    pub fn best(&self) -> &LinearPoint {
        &self.points[self.best]
    }

    /// The rows held out, split by split.
    #[must_use]
    pub fn held_out_rows(&self) -> &[usize] {
        &self.held_out_rows
    }

    /// Decision values of those rows at the best point, by machines that had not seen them:
    /// what [`Calibration::fit`](super::Calibration::fit) needs.
    #[must_use]
    pub fn held_out_values(&self) -> &[f64] {
        &self.held_out_values
    }
}

/// Tries every weight and C.
///
/// Work runs on the current rayon thread pool; the result does not depend on it. `progress`
/// is called, from any of its threads, with the number of machines solved since its last
/// call (there are `weights * costs * splits * machines`) and may break.
///
/// A class may be missing from a training part: its machine then says no to every row.
///
/// # Errors
///
/// If features, targets and splits do not fit each other, a feature is not finite, nothing
/// is held out, or `progress` broke ([`Error::Interrupted`]).
pub fn search(
    params: &CheckedLinearSearchParams,
    features: FeatureBlocks,
    targets: &Targets,
    splits: &[Split],
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Result<LinearSurface> {
    let params = params.get();
    check_problem(&params.linear, &features, targets)?;
    if splits.is_empty() || splits.iter().any(|split| split.test.is_empty()) {
        let what = "rows held out";
        return Err(Error::Empty { what });
    }
    let rows = splits
        .iter()
        .flat_map(|split| split.train.iter().chain(&split.test));
    if let Some(row) = rows.copied().find(|&row| row >= targets.n_rows()) {
        return Err(Error::parameter("a row of a split", row, "one of the rows"));
    }
    let parts = splits.par_iter().with_max_len(1).map(|split| {
        let rows = targets.learnt(split.train.iter().copied())?;
        let design = Design::new(features, rows, &params.linear);
        let held_out = HeldOut::new(&design, split.test.clone());
        Ok((design, held_out))
    });
    let parts: Vec<(Design, HeldOut)> = parts.collect::<Result<_>>()?;
    let companies = companies(targets.n_machines(), splits.len());
    let mut jobs = Vec::new();
    for split in 0..splits.len() {
        jobs.extend(companies.iter().map(|&company| (split, company)));
    }
    let stopped = AtomicBool::new(false);
    let solved = |n_machines: usize| {
        if stopped.load(Ordering::Relaxed) || progress(n_machines as u64).is_break() {
            stopped.store(true, Ordering::Relaxed);
            return Err(Error::Interrupted);
        }
        Ok(())
    };

    let mut best: Option<(usize, Vec<Vec<f64>>)> = None;
    let mut points: Vec<LinearPoint> = Vec::new();
    for &dense_weight in &params.dense_weights {
        let linear = params.linear.clone().dense_weight(dense_weight);
        let path = |&(split, company): &(usize, Company)| {
            let job = Job {
                part: &parts[split],
                targets,
                linear: &linear,
                costs: &params.costs,
                solved: &solved,
            };
            match company.1 {
                1 => job.path::<1>(company),
                2 => job.path::<2>(company),
                3..=4 => job.path::<4>(company),
                _ => job.path::<MOST_LANES>(company),
            }
        };
        let paths: Result<Vec<Vec<Stop>>> = jobs.par_iter().with_max_len(1).map(path).collect();
        let paths = paths?;
        for (c, &cost) in params.costs.iter().enumerate() {
            let stops = || paths.iter().map(|path| &path[c]);
            let values = join(&parts, targets.n_machines(), jobs.iter().zip(stops()));
            let rows = parts.iter().map(|(_, held_out)| held_out.rows.as_slice());
            let held_out = rows.zip(values.iter().map(Vec::as_slice));
            let HeldOutScore { score, deviation } = score_held_out(targets, held_out)?;
            points.push(LinearPoint {
                dense_weight,
                cost,
                score,
                deviation,
                n_unfinished: stops().map(|stop| stop.n_unfinished).sum(),
            });
            let last = points.len() - 1;
            let is_better = best.as_ref().is_none_or(|(best, _)| {
                let (best, point) = (&points[*best], &points[last]);
                point.score > best.score || (point.score == best.score && cost < best.cost)
            });
            if is_better {
                best = Some((last, values));
            }
        }
    }
    let (best, values) = best.ok_or(Error::Empty {
        what: "values of C",
    })?;
    Ok(LinearSurface {
        points,
        best,
        held_out_rows: splits.iter().flat_map(|split| split.test.clone()).collect(),
        held_out_values: values.concat(),
    })
}

/// Machines of a company on a split, for one C.
struct Stop {
    /// Of the rows held out, row by row.
    values: Vec<f64>,
    n_unfinished: usize,
}

/// A company on a split.
struct Job<'a> {
    part: &'a (Design<'a>, HeldOut),
    targets: &'a Targets,
    linear: &'a LinearParams,
    costs: &'a [f64],
    solved: &'a (dyn Fn(usize) -> Result<()> + Sync),
}

impl Job<'_> {
    fn path<const L: usize>(&self, (first, n): Company) -> Result<Vec<Stop>> {
        let (design, held_out) = self.part;
        let mut group = Group::<L>::new(design, self.targets, self.linear, first, n);
        let mut stops = Vec::with_capacity(self.costs.len());
        for &cost in self.costs {
            let never = || ControlFlow::Continue(());
            let fits = group.solve(cost, Schedule::of(self.linear, &never));
            let values = group.held_out_values(held_out);
            stops.push(Stop {
                values: values
                    .iter()
                    .flat_map(|lanes| &lanes[..n])
                    .copied()
                    .collect(),
                n_unfinished: fits.iter().filter(|fit| !fit.converged).count(),
            });
            (self.solved)(n)?;
        }
        Ok(stops)
    }
}

/// Decision values of all machines, split by split.
fn join<'a>(
    parts: &[(Design, HeldOut)],
    n_machines: usize,
    stops: impl Iterator<Item = (&'a (usize, Company), &'a Stop)>,
) -> Vec<Vec<f64>> {
    let sizes = parts.iter().map(|(_, held_out)| held_out.rows.len());
    let mut values: Vec<Vec<f64>> = sizes.map(|n| vec![0.0; n * n_machines]).collect();
    for (&(split, (first, n)), stop) in stops {
        let rows = values[split].chunks_exact_mut(n_machines);
        for (row, values) in rows.zip(stop.values.chunks_exact(n)) {
            row[first..][..n].copy_from_slice(values);
        }
    }
    values
}
