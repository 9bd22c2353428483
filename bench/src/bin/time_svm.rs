//! Our side of `bench/run svm`: works whenever a line comes in, and prints how long it took.
//!
//! The file holds, little-endian, the numbers of rows and of columns as u64, a class id
//! a row as u32, and the rows as f32. A line of standard input is one of
//!
//! - `fit C TOLERANCE`: the rows are features. The answer is a line with the seconds,
//!   the Newton steps, the steps of conjugate gradients and the objective of each
//!   binary classifier; and a line with the predicted classes of the rows.
//! - `grid cold` or `grid warm`: the rows are distances. The paper's grid of gamma and C
//!   by 10 folds, every binary classifier from 0 or from the last one's solution; the
//!   answer is a line with the seconds, the classifiers fitted, and the point chosen:
//!   gamma, C and accuracy.

use std::error::Error;
use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use wordmover_learn::grid::{self, GridParams};
use wordmover_learn::{Features, LinearSvm, SvmParams, split};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: time_svm FILE")?;
    let data = read(path.as_ref())?;
    let rows = Features::new(&data.values, data.n_columns)?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match *line.split_whitespace().collect::<Vec<_>>() {
            ["fit", cost, tolerance] => {
                let params = SvmParams::default().cost(cost.parse()?);
                fit(
                    params.tolerance(tolerance.parse()?),
                    rows,
                    &data.labels,
                    &mut out,
                )?;
            }
            ["grid", start] => search(start == "warm", rows, &data.labels, &mut out)?,
            _ => return Err(format!("cannot do {line:?}").into()),
        }
        out.flush()?;
    }
    Ok(())
}

struct Data {
    labels: Vec<usize>,
    values: Vec<f32>,
    n_columns: usize,
}

fn read(path: &Path) -> Result<Data, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let (head, rest) = bytes.split_at_checked(16).ok_or("the file is too short")?;
    let n_rows = u64::from_le_bytes(head[..8].try_into()?) as usize;
    let n_columns = u64::from_le_bytes(head[8..].try_into()?) as usize;
    let (labels, values) = rest
        .split_at_checked(4 * n_rows)
        .ok_or("the file is too short")?;
    let labels = labels.as_chunks().0.iter();
    let labels = labels.map(|&bytes| u32::from_le_bytes(bytes) as usize);
    let values = values.as_chunks().0.iter();
    let values = values.map(|&bytes| f32::from_le_bytes(bytes));
    Ok(Data {
        labels: labels.collect(),
        values: values.collect(),
        n_columns,
    })
}

fn fit(
    params: SvmParams,
    features: Features,
    labels: &[usize],
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let model = LinearSvm::fit(params, features, labels)?;
    let seconds = start.elapsed().as_secs_f64();
    let solutions = model.solutions();
    let n_newton: usize = solutions.iter().map(|s| s.n_newton_steps).sum();
    let n_cg: usize = solutions.iter().map(|s| s.n_cg_steps).sum();
    write!(out, "{seconds} {n_newton} {n_cg}")?;
    for solution in solutions {
        write!(out, " {}", solution.objective)?;
    }
    writeln!(out)?;
    for class in model.predict(features)? {
        write!(out, "{class} ")?;
    }
    writeln!(out)?;
    Ok(())
}

fn search(
    warm_starts: bool,
    distances: Features,
    labels: &[usize],
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let params = GridParams::default().warm_starts(warm_starts);
    let folds = split::stratified_k_folds(labels, 10, 1)?;
    let start = Instant::now();
    let go_on = || ControlFlow::Continue(());
    let surface = grid::search(&params, &[distances], &features_of, labels, &folds, &go_on)?;
    let seconds = start.elapsed().as_secs_f64();
    let n_fitted = surface.points().len() * folds.len();
    let best = surface.best();
    let gamma = best.gamma.unwrap_or(f64::NAN);
    let (cost, accuracy) = (best.cost, best.accuracy);
    writeln!(out, "{seconds} {n_fitted} {gamma} {cost} {accuracy}")?;
    Ok(())
}

fn features_of(distances: &[f32], n_columns: usize, gamma: Option<f64>) -> Vec<f32> {
    let scale = 1.0 / (n_columns as f64).sqrt();
    let feature = |&distance: &f32| match gamma {
        Some(gamma) => ((-gamma * f64::from(distance)).exp() * scale) as f32,
        None => distance,
    };
    distances.iter().map(feature).collect()
}
