//! The best gamma, C and table of distances by cross-validation.
//!
//! Distances depend on neither gamma nor C, so they are computed once, elsewhere, for
//! each way to draw random documents (the paper varies `D_max`). From a table of them
//! come the features of every gamma, and from those the machines of every C, one after
//! the other with what can be kept between them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::error::{Error, Result, same_length};
use crate::features::Features;
use crate::metrics::mean_and_deviation;
use crate::split::Split;
use crate::svm::{LinearSvm, SvmParams};

/// The paper's values of gamma.
pub const PAPER_GAMMAS: [f64; 18] = [
    0.01, 0.03, 0.10, 0.14, 0.19, 0.28, 0.39, 0.56, 0.79, 1.0, 1.12, 1.58, 2.23, 3.16, 4.46, 6.30,
    8.91, 10.0,
];

/// The paper's values of C.
pub const PAPER_COSTS: [f64; 26] = [
    1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 3e2, 5e2, 8e2, 1e3, 3e3, 5e3, 8e3, 1e4, 3e4, 5e4,
    8e4, 1e5, 3e5, 5e5, 8e5, 1e6, 1e7, 1e8,
];

/// Makes the features of a gamma from rows of distances of some width; `None` asks for the
/// distances themselves.
pub type MakeFeatures<'a> = dyn Fn(&[f32], usize, Option<f64>) -> Vec<f32> + Sync + 'a;

/// What is searched. The default is the paper's grid with LIBLINEAR's parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GridParams {
    /// Values of gamma; `None` takes the distances themselves for features.
    pub gammas: Vec<Option<f64>>,
    /// Values of C, ascending.
    pub costs: Vec<f64>,
    /// The machine; its own C is not used.
    pub svm: SvmParams,
    /// Whether the machine for a C begins at the solution for the C before, as in
    /// [`LinearSvm::fit_path`]: several times faster. If not, every machine is that of
    /// [`LinearSvm::fit`], and the surface the one LIBLINEAR gives. The stopping rule is
    /// loose: on features that differ little (a small gamma) a warm start may satisfy it
    /// at once, and the accuracy found is then that of a smaller C. Default no.
    pub warm_starts: bool,
}

impl Default for GridParams {
    fn default() -> Self {
        GridParams {
            gammas: PAPER_GAMMAS.map(Some).to_vec(),
            costs: PAPER_COSTS.to_vec(),
            svm: SvmParams::default(),
            warm_starts: false,
        }
    }
}

impl GridParams {
    /// Sets the values of gamma.
    #[must_use]
    pub fn gammas(mut self, gammas: impl Into<Vec<Option<f64>>>) -> Self {
        self.gammas = gammas.into();
        self
    }

    /// Sets the values of C.
    #[must_use]
    pub fn costs(mut self, costs: impl Into<Vec<f64>>) -> Self {
        self.costs = costs.into();
        self
    }

    /// Sets the machine.
    #[must_use]
    pub fn svm(mut self, svm: SvmParams) -> Self {
        self.svm = svm;
        self
    }

    /// Sets whether machines begin at the last solution.
    #[must_use]
    pub fn warm_starts(mut self, warm_starts: bool) -> Self {
        self.warm_starts = warm_starts;
        self
    }

    fn check(&self) -> Result<()> {
        if self.gammas.is_empty() {
            return Err(Error::Empty { what: "gammas" });
        }
        if self.costs.is_empty() {
            let what = "values of C";
            return Err(Error::Empty { what });
        }
        self.gammas
            .iter()
            .try_for_each(|&gamma| check_gamma(gamma))?;
        for &cost in &self.costs {
            self.svm.cost(cost).check()?;
        }
        let descent = self.costs.windows(2).find(|pair| pair[0] >= pair[1]);
        match descent {
            Some(pair) => Err(Error::parameter(
                "C",
                pair[1],
                "greater than the one before",
            )),
            None => Ok(()),
        }
    }
}

/// One point of the grid, judged on rows held out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct GridPoint {
    /// Position of the table of distances.
    pub table: usize,
    /// Gamma, or `None` for the distances themselves.
    pub gamma: Option<f64>,
    /// C.
    pub cost: f64,
    /// Rows predicted right when they were held out, over all splits.
    pub n_right: u64,
    /// Share of the rows held out that were predicted right.
    pub accuracy: f64,
    /// Standard deviation of the accuracy over the splits.
    pub deviation: f64,
}

/// The whole grid and the point chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    points: Vec<GridPoint>,
    best: usize,
}

impl Surface {
    /// Every point: by table, then by gamma in the order given, then by C.
    #[must_use]
    pub fn points(&self) -> &[GridPoint] {
        &self.points
    }

    /// The point with the most rows predicted right; of equal ones that with the
    /// smallest C, then the earliest gamma, then the earliest table.
    #[must_use]
    pub fn best(&self) -> &GridPoint {
        &self.points[self.best]
    }
}

/// Tries every gamma and C on every table of distances, a row a labelled document.
///
/// Work runs on the current rayon thread pool; the result does not depend on it.
/// `progress` hears, from any of its threads, that another machine was fitted (there
/// are `tables * gammas * costs * splits`) and may break.
///
/// # Errors
///
/// If a parameter is out of range, a table does not have one row for each label or has
/// a value that cannot be used, there is nothing to try, some training part has one
/// class only, or `progress` broke ([`Error::Interrupted`]).
pub fn search(
    params: &GridParams,
    tables: &[Features],
    features: &MakeFeatures,
    labels: &[usize],
    splits: &[Split],
    progress: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<Surface> {
    params.check()?;
    if tables.is_empty() {
        let what = "tables of distances";
        return Err(Error::Empty { what });
    }
    if splits.is_empty() || splits.iter().any(|split| split.test.is_empty()) {
        let what = "rows held out";
        return Err(Error::Empty { what });
    }
    for table in tables {
        same_length(
            "rows of distances, one for each label",
            labels.len(),
            table.n_rows(),
        )?;
    }
    let rows = splits
        .iter()
        .flat_map(|split| split.train.iter().chain(&split.test));
    if let Some(row) = rows.copied().find(|&row| row >= labels.len()) {
        return Err(Error::parameter("a row of a split", row, "one of the rows"));
    }

    let mut paths = Vec::new();
    for &table in tables {
        for &gamma in &params.gammas {
            paths.extend(splits.iter().map(|split| (table, gamma, split)));
        }
    }
    let stopped = AtomicBool::new(false);
    let fitted = || {
        if stopped.load(Ordering::Relaxed) || progress().is_break() {
            stopped.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let n_right: Result<Vec<Vec<u64>>> = paths
        .into_par_iter()
        .with_max_len(1)
        .map(|(table, gamma, split)| path(params, table, features, gamma, labels, split, &fitted))
        .collect();
    let n_right = n_right?;

    let mut points = Vec::new();
    for (i, path) in n_right.chunks_exact(splits.len()).enumerate() {
        for (c, &cost) in params.costs.iter().enumerate() {
            let (table, gamma) = (i / params.gammas.len(), i % params.gammas.len());
            let gamma = params.gammas[gamma];
            points.push(point(
                table,
                gamma,
                cost,
                splits,
                path.iter().map(|path| path[c]),
            )?);
        }
    }
    let best = choose(&points, &params.gammas);
    Ok(Surface { points, best })
}

/// How many of the held-out rows the machine of every C predicts right.
fn path(
    params: &GridParams,
    table: Features,
    features: &MakeFeatures,
    gamma: Option<f64>,
    labels: &[usize],
    split: &Split,
    fitted: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<Vec<u64>> {
    let part = |rows: &[usize]| -> Result<(Vec<f32>, Vec<usize>)> {
        let distances = table.gather(rows);
        let values = features(&distances, table.n_columns(), gamma);
        check_finite(&values, table.n_columns())?;
        Ok((values, rows.iter().map(|&row| labels[row]).collect()))
    };
    let (train, train_labels) = part(&split.train)?;
    let (test, test_labels) = part(&split.test)?;
    let train = Features::new(&train, table.n_columns())?;
    let test = Features::new(&test, table.n_columns())?;
    let svm = params.svm.cost(params.costs[0]).check()?;
    let mut n_right = Vec::with_capacity(params.costs.len());
    let warm_starts = params.warm_starts;
    LinearSvm::visit_path(
        svm,
        &params.costs,
        warm_starts,
        train,
        &train_labels,
        |machine| {
            let predicted = machine.predict(test)?;
            let right = predicted.iter().zip(&test_labels).filter(|(p, t)| p == t);
            n_right.push(right.count() as u64);
            if fitted().is_break() {
                return Err(Error::Interrupted);
            }
            Ok(())
        },
    )?;
    Ok(n_right)
}

fn point(
    table: usize,
    gamma: Option<f64>,
    cost: f64,
    splits: &[Split],
    n_right: impl Iterator<Item = u64> + Clone,
) -> Result<GridPoint> {
    let sizes = splits.iter().map(|split| split.test.len() as f64);
    let each: Vec<f64> = n_right
        .clone()
        .zip(sizes.clone())
        .map(|(n, of)| n as f64 / of)
        .collect();
    let n_right = n_right.sum();
    let (_, deviation) = mean_and_deviation(&each)?;
    Ok(GridPoint {
        table,
        gamma,
        cost,
        n_right,
        accuracy: n_right as f64 / sizes.sum::<f64>(),
        deviation,
    })
}

/// Position of the best point, by the rule of [`Surface::best`].
fn choose(points: &[GridPoint], gammas: &[Option<f64>]) -> usize {
    let rank = |point: &GridPoint| {
        let gamma = gammas.iter().position(|&gamma| gamma == point.gamma);
        (
            std::cmp::Reverse(point.n_right),
            point.cost,
            gamma,
            point.table,
        )
    };
    let mut best = 0;
    for (i, point) in points.iter().enumerate() {
        if rank(point) < rank(&points[best]) {
            best = i;
        }
    }
    best
}

/// Of several values that are not finite, the first is named.
fn check_finite(values: &[f32], n_columns: usize) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(position) => Err(Error::NotFinite {
            row: position / n_columns,
            column: position % n_columns,
            value: values[position],
        }),
        None => Ok(()),
    }
}

fn check_gamma(gamma: Option<f64>) -> Result<()> {
    match gamma {
        Some(gamma) if !(gamma.is_finite() && gamma > 0.0) => {
            Err(Error::parameter("gamma", gamma, "a positive finite number"))
        }
        _ => Ok(()),
    }
}
