//! Our side of `bench/svm`: fits a linear SVM whenever a line comes in.
//!
//! The file holds, little-endian, the numbers of rows and of columns as u64, a class id
//! a row as u32, and the features as f32. Each line of standard input is a `C`, a
//! tolerance. The answer is one line: seconds of the
//! each warm-started, none of which is told). The answer is one line: seconds of the
//! fit, Newton steps, conjugate-gradient steps, then the objective of each machine; and
//! one line with the predicted classes of the training rows.

use std::io::{BufRead, Write};
use std::time::Instant;

use wordmover_learn::{Features, LinearSvm, SvmParams};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: time_svm FILE")?;
    let bytes = std::fs::read(path)?;
    let (head, rest) = bytes.split_at_checked(16).ok_or("the file is too short")?;
    let n_rows = u64::from_le_bytes(head[..8].try_into()?) as usize;
    let n_columns = u64::from_le_bytes(head[8..].try_into()?) as usize;
    let (labels, values) = rest
        .split_at_checked(4 * n_rows)
        .ok_or("the file is too short")?;
    let labels: Vec<usize> = labels
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| u32::from_le_bytes(bytes) as usize)
        .collect();
    let values: Vec<f32> = values
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect();
    let features = Features::new(&values, n_columns)?;

    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let (Some(cost), Some(tolerance)) = (words.next(), words.next()) else {
            return Err("a line needs a C and a tolerance".into());
        };
        let params = SvmParams::default()
            .cost(cost.parse()?)
            .tolerance(tolerance.parse()?);
        let start = Instant::now();
        let model = LinearSvm::fit(params, features, &labels)?;
        let seconds = start.elapsed().as_secs_f64();
        let solutions = model.solutions();
        let newton: usize = solutions.iter().map(|s| s.n_newton_steps).sum();
        let cg: usize = solutions.iter().map(|s| s.n_cg_steps).sum();
        write!(out, "{seconds} {newton} {cg}")?;
        for solution in solutions {
            write!(out, " {}", solution.objective)?;
        }
        writeln!(out)?;
        let predicted: Vec<String> = model
            .predict(features)?
            .iter()
            .map(usize::to_string)
            .collect();
        writeln!(out, "{}", predicted.join(" "))?;
        out.flush()?;
    }
    Ok(())
}
