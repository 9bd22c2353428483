//! Our side of `bench/run linear`: works whenever a line comes in, and tells what it found.
//!
//! The file holds, little-endian, the numbers of rows, sparse columns, sparse values and
//! dense columns as u64; where each sparse row begins, and the end of the last, as u64; the
//! sparse values as f64 and their columns as u32; a class id a row as u32; and the dense
//! rows as f32. A line of standard input is one of
//!
//! - `fit VIEW WEIGHT BIAS C TOLERANCE`: the answer is a line with the seconds, the passes of
//!   all machines, whether all converged, and the sum of their objectives.
//! - `search VIEW WEIGHTS BIAS COSTS TOLERANCE`: five folds; lists are separated by commas.
//!   The answer is a line with the seconds, and weight, C and accuracy of the best.
//!
//! A view is `words` (sparse columns), `meanings` (dense ones) or `both`; a bias of 0 is none.

use std::error::Error;
use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use wordmover_learn::linear::{LinearSearchParams, search};
use wordmover_learn::{
    FeatureBlocks, Features, LinearClassifier, LinearParams, SparseRows, Targets, split,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("usage: time_linear FILE")?;
    let data = Data::read(&std::fs::read(path)?)?;
    let targets = Targets::one_each(&data.labels)?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match *line.split_whitespace().collect::<Vec<_>>() {
            ["fit", view, weight, bias, cost, tolerance] => {
                let params = params(bias, tolerance)?.cost(cost.parse()?);
                let params = params.dense_weight(weight.parse()?);
                let start = Instant::now();
                let model = LinearClassifier::fit(params, data.view(view)?, &targets)?;
                let seconds = start.elapsed().as_secs_f64();
                let n_epochs: usize = model.fits().iter().map(|fit| fit.n_epochs).sum();
                let objective: f64 = model.fits().iter().map(|fit| fit.objective).sum();
                let converged = model.converged();
                writeln!(out, "{seconds} {n_epochs} {converged} {objective}")?;
            }
            ["search", view, weights, bias, costs, tolerance] => {
                let params = LinearSearchParams::default().linear(params(bias, tolerance)?);
                let params = params.costs(list(costs)?).dense_weights(list(weights)?);
                let folds = split::k_folds(data.labels.len(), 5, 1)?;
                let go_on = |_| ControlFlow::Continue(());
                let start = Instant::now();
                let surface = search(&params.check()?, data.view(view)?, &targets, &folds, &go_on)?;
                let seconds = start.elapsed().as_secs_f64();
                let best = surface.best();
                let (weight, cost, score) = (best.dense_weight, best.cost, best.score);
                writeln!(out, "{seconds} {weight} {cost} {score}")?;
            }
            _ => return Err(format!("cannot do {line:?}").into()),
        }
        out.flush()?;
    }
    Ok(())
}

fn params(bias: &str, tolerance: &str) -> Outcome<LinearParams> {
    let bias: f64 = bias.parse()?;
    let params = LinearParams::default().bias((bias > 0.0).then_some(bias));
    Ok(params.tolerance(tolerance.parse()?))
}

fn list(values: &str) -> Outcome<Vec<f64>> {
    Ok(values
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()?)
}

struct Data {
    labels: Vec<usize>,
    sparse: SparseRows,
    dense: Vec<f32>,
    n_dense: usize,
}

impl Data {
    fn read(bytes: &[u8]) -> Outcome<Self> {
        let mut rest = bytes;
        let mut take = |n: usize| -> Outcome<&[u8]> {
            let (part, others) = rest.split_at_checked(n).ok_or("the file is too short")?;
            rest = others;
            Ok(part)
        };
        let wide = |bytes: &[u8]| -> Vec<usize> {
            let numbers = bytes.as_chunks().0.iter();
            numbers
                .map(|&bytes| u64::from_le_bytes(bytes) as usize)
                .collect()
        };
        let narrow = |bytes: &[u8]| -> Vec<u32> {
            let numbers = bytes.as_chunks().0.iter();
            numbers.map(|&bytes| u32::from_le_bytes(bytes)).collect()
        };
        let head = wide(take(32)?);
        let (n_rows, n_sparse, n_values, n_dense) = (head[0], head[1], head[2], head[3]);
        let starts = wide(take(8 * (n_rows + 1))?);
        let values = take(8 * n_values)?.as_chunks().0.iter();
        let values = values.map(|&bytes| f64::from_le_bytes(bytes)).collect();
        let columns = narrow(take(4 * n_values)?);
        let labels = narrow(take(4 * n_rows)?);
        let dense = take(4 * n_rows * n_dense)?.as_chunks().0.iter();
        Ok(Data {
            labels: labels.into_iter().map(|label| label as usize).collect(),
            sparse: SparseRows::new(n_sparse, starts, columns, values)?,
            dense: dense.map(|&bytes| f32::from_le_bytes(bytes)).collect(),
            n_dense,
        })
    }

    fn view(&self, name: &str) -> Outcome<FeatureBlocks<'_>> {
        let dense = || Features::new(&self.dense, self.n_dense);
        Ok(match name {
            "words" => FeatureBlocks::sparse(&self.sparse),
            "meanings" => FeatureBlocks::dense(dense()?),
            "both" => FeatureBlocks::both(&self.sparse, dense()?)?,
            _ => return Err(format!("there is no view {name}").into()),
        })
    }
}
