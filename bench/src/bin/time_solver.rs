//! Our side of `bench/run peers` and `bench/run instructions`:
//!
//! ```text
//! time_solver transport PROBLEMS [PASSES]
//! time_solver documents VECTORS TEXTS [PASSES]
//! ```
//!
//! The first solves the transport problems of a file; the second takes the Word
//! Mover's Distance between lines 1 and 2, 3 and 4, ... of a file of words, with
//! vectors scaled to length 1. Either way the results are printed, one a line.
//! Then, with PASSES, everything is solved that many times more, for counting
//! instructions. Without, every line of standard input holds a number of seconds and
//! a number of parts: passes are made for so long, and the answer is the fastest time
//! of each part of the problems in seconds.
//!
//! A file of problems is little-endian: their number, then for each the numbers of
//! rows and columns (all u64), the costs row by row, supplies and demands (all f64).

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wordmover::transport::Workspace;
use wordmover::{
    Document, WordVectors,
    document::WordCounts,
    space::{Normalization, WordSpace},
    wmd,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["transport", problems] => transport(problems, None),
        ["transport", problems, passes] => transport(problems, Some(passes.parse()?)),
        ["documents", vectors, texts] => documents(vectors, texts, None),
        ["documents", vectors, texts, passes] => documents(vectors, texts, Some(passes.parse()?)),
        _ => Err("expected transport PROBLEMS [PASSES] or documents VECTORS TEXTS [PASSES]".into()),
    }
}

struct Problem {
    costs: Vec<f64>,
    supply: Vec<f64>,
    demand: Vec<f64>,
}

fn transport(path: &str, passes: Option<usize>) -> Result<(), Box<dyn Error>> {
    let problems = read_problems(&std::fs::read(path)?).ok_or("the file of problems is cut off")?;
    let mut workspace = Workspace::default();
    run(problems.len(), passes, |i| {
        let problem = &problems[i];
        Ok(workspace.optimal_value(&problem.costs, &problem.supply, &problem.demand)?)
    })
}

fn read_problems(bytes: &[u8]) -> Option<Vec<Problem>> {
    let mut words = bytes.chunks_exact(8).map(|chunk| {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let n_problems = words.next()?;
    let mut problem = || {
        let (rows, columns) = (words.next()? as usize, words.next()? as usize);
        let mut floats = |n: usize| -> Option<Vec<f64>> {
            (0..n).map(|_| words.next().map(f64::from_bits)).collect()
        };
        Some(Problem {
            costs: floats(rows * columns)?,
            supply: floats(rows)?,
            demand: floats(columns)?,
        })
    };
    (0..n_problems).map(|_| problem()).collect()
}

/// From words to distance, as a peer that takes lists of words does it.
fn documents(vectors: &str, texts: &str, passes: Option<usize>) -> Result<(), Box<dyn Error>> {
    let vectors = Arc::new(WordVectors::open(Path::new(vectors), None)?);
    let space = WordSpace::new(vectors.clone(), Normalization::Unit, &[])?;
    let texts = std::fs::read_to_string(texts)?;
    let documents: Vec<Vec<&str>> = texts
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let pairs: Vec<_> = documents.chunks_exact(2).collect();
    run(pairs.len(), passes, |i| {
        let [x, y] = [&pairs[i][0], &pairs[i][1]]
            .map(|words| Document::nbow(&WordCounts::from_tokens(words.iter().copied(), &vectors)));
        Ok(wmd::distance(&space, &x, &y)?)
    })
}

/// Prints the results of problems 0 to `n`, then solves them again as asked.
fn run(
    n: usize,
    passes: Option<usize>,
    mut solve: impl FnMut(usize) -> Result<f64, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for i in 0..n {
        writeln!(out, "{}", solve(i)?)?;
    }
    out.flush()?;
    if let Some(passes) = passes {
        for _ in 0..passes {
            for i in 0..n {
                black_box(solve(i)?);
            }
        }
        return Ok(());
    }
    for line in std::io::stdin().lines() {
        let line = line?;
        let (seconds, n_parts) = line.trim().split_once(' ').ok_or("expected two numbers")?;
        let limit = Duration::try_from_secs_f64(seconds.parse()?)?;
        let size = n.div_ceil(n_parts.parse::<usize>()?.max(1)).max(1);
        let mut least = vec![Duration::MAX; n.div_ceil(size)];
        let start = Instant::now();
        loop {
            for (part, least) in least.iter_mut().enumerate() {
                let start = Instant::now();
                for i in part * size..n.min((part + 1) * size) {
                    black_box(solve(i)?);
                }
                *least = start.elapsed().min(*least);
            }
            if start.elapsed() >= limit {
                break;
            }
        }
        for least in least {
            write!(out, "{} ", least.as_secs_f64())?;
        }
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}
