//! Batches of transport problems on the GPU and on all cores: seconds, and whether they agree.
//!
//! Problems are words as points on the unit sphere in 50 dimensions, with Euclidean costs and
//! word counts (or, with `--weights`, any weights) on both sides, drawn from a seed. Times are
//! from problems in memory to costs in memory.
//!
//! ```sh
//! cargo run --release -p wordmover-bench --bin time_batch -- 72x72 --problems 10000
//! ```
//!
//! Lines of output are a name, a tab and values, for `bench/run gpu_batch`: the machine with the
//! GPU may have neither this repository nor Python.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use wordmover::transport::{self, Workspace};
use wordmover_cuda::{Device, TransportProblem};

const USAGE: &str = "usage: time_batch NxM... [--problems N] [--repeat N] [--weights] [--seed N]";

type Error = Box<dyn std::error::Error>;

/// Costs of a batch, if nothing else is asked for: 3.2 GB, but not more problems than this.
const COSTS: usize = 400_000_000;
const MOST_PROBLEMS: usize = 1_000_000;

/// Costs differ by at most this, relative to their value, or the run fails.
const TOLERANCE: f64 = 1e-9;

struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        // Its high bits, stirred: those of a congruential generator alone are too regular.
        let x = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58476d1ce4e5b9);
        ((x ^ (x >> 32)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn words(&mut self, n: usize) -> Vec<[f64; 50]> {
        let word = |random: &mut Random| {
            // Sums of uniform numbers are normal enough.
            let mut word = [0.0; 50].map(|_: f64| (0..6).map(|_| random.uniform() - 0.5).sum());
            let length = word.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
            word.iter_mut().for_each(|x| *x /= length);
            word
        };
        (0..n).map(|_| word(self)).collect()
    }

    /// Word counts, mostly one and seldom many, over their total; or any weights.
    fn weights(&mut self, n: usize, is_counted: bool) -> Vec<f64> {
        let weight = |random: &mut Random| match is_counted {
            true => (1.0 / (1.0 - 0.9 * random.uniform())).floor(),
            false => 0.01 + random.uniform(),
        };
        let raw: Vec<f64> = (0..n).map(|_| weight(self)).collect();
        let total: f64 = raw.iter().sum();
        raw.iter().map(|w| w / total).collect()
    }
}

fn problem(n: usize, m: usize, is_counted: bool, seed: u64) -> [Vec<f64>; 3] {
    let mut random = Random(seed.wrapping_mul(0x9e3779b97f4a7c15));
    let (a, b) = (random.words(n), random.words(m));
    let mut costs = Vec::with_capacity(n * m);
    for a in &a {
        let product = |b: &[f64; 50]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        costs.extend(b.iter().map(|b| (2.0 - 2.0 * product(b)).max(0.0).sqrt()));
    }
    let (supply, demand) = (random.weights(n, is_counted), random.weights(m, is_counted));
    [costs, supply, demand]
}

fn on_cpu(problems: &[TransportProblem]) -> Result<Vec<f64>, Error> {
    let solve = |workspace: &mut Workspace, problem: &TransportProblem| {
        transport::cost(problem.costs, problem.supply, problem.demand, workspace)
    };
    let solved: transport::Result<_> = problems
        .par_iter()
        .map_init(Workspace::default, solve)
        .collect();
    Ok(solved?)
}

fn main() -> Result<(), Error> {
    let (mut shapes, mut n_problems, mut repeat) = (Vec::new(), None, 5);
    let (mut is_counted, mut seed) = (true, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || -> Result<usize, Error> { Ok(arguments.next().ok_or(USAGE)?.parse()?) };
        match argument.as_str() {
            "--problems" => n_problems = Some(value()?),
            "--repeat" => repeat = value()?.max(1),
            "--seed" => seed = value()?,
            "--weights" => is_counted = false,
            shape => {
                let (n, m) = shape.split_once('x').ok_or(USAGE)?;
                shapes.push((n.parse::<usize>()?, m.parse::<usize>()?));
            }
        }
    }
    let device = Device::open(0)?;
    println!("GPU\t{}", device.name()?);
    let threads = std::thread::available_parallelism()?;
    println!("CPU\t{}, {threads} threads", cpu());
    let masses = if is_counted {
        "word counts"
    } else {
        "any weights"
    };
    for (n, m) in shapes {
        let n_problems = n_problems.unwrap_or((COSTS / (n * m)).clamp(1, MOST_PROBLEMS));
        let batch: Vec<[Vec<f64>; 3]> = (0..n_problems)
            .into_par_iter()
            .map(|i| problem(n, m, is_counted, (seed * n_problems + i) as u64))
            .collect();
        let problems: Vec<TransportProblem> = batch
            .iter()
            .map(|[costs, supply, demand]| TransportProblem {
                costs,
                supply,
                demand,
            })
            .collect();
        let (mut times, mut found, mut n_on_host) = (Vec::new(), Vec::new(), 0);
        for _ in 0..repeat + 1 {
            let start = Instant::now();
            let (costs, statistics) = device.transport_costs(&problems, &Arc::default())?;
            times.push(start.elapsed().as_secs_f64());
            (found, n_on_host) = (costs, statistics.on_host);
        }
        let first = times.remove(0);
        times.sort_by(f64::total_cmp);
        let start = Instant::now();
        let expected = on_cpu(&problems)?;
        let on_cpu = start.elapsed().as_secs_f64();
        let difference = |(a, b): (&f64, &f64)| (a - b).abs() / b;
        let largest = found
            .iter()
            .zip(&expected)
            .map(difference)
            .fold(0.0, nan_max);
        let median = times[times.len() / 2];
        println!(
            "measured\t{n}x{m}\t{masses}\t{n_problems}\t{first:.5}\t{median:.5}\t{on_cpu:.5}\t{largest:.2e}\t{n_on_host}"
        );
        if largest.is_nan() || largest > TOLERANCE {
            return Err("costs differ by more than 1e-9".into());
        }
    }
    Ok(())
}

/// Not a number is as far off as can be.
fn nan_max(a: f64, b: f64) -> f64 {
    if b.is_nan() { b } else { a.max(b) }
}

/// The processor, where the system tells.
fn cpu() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": "));
    model.map_or("unknown", |(_, name)| name).to_owned()
}
