//! Our side of `bench/run ground`:
//!
//! ```text
//! time_ground_costs ROWS COLUMNS DIM COSTS
//! ```
//!
//! ROWS and COLUMNS are files of vectors, little-endian f32 one after the other. The
//! costs that features are made of are written to COSTS, little-endian f64 row by row.
//! Then every line of standard input is a number of seconds: the costs are computed
//! again and again for so long, and the answer is the fastest time in seconds.

// The module is private to the library; this is the same source.
#[path = "../../../crates/wordmover/src/ground/product.rs"]
#[allow(dead_code, reason = "the library uses more of it")]
mod product;

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

// The module looks for it here, as in the library.
use wordmover::float_environment;

use product::{NearCost, PackedColumns, PackedRows, ROWS};

/// As in the embedding, where a thread takes so many at once.
const GROUPS_PER_TASK: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, columns, dim, costs] = &arguments[..] else {
        return Err("expected ROWS COLUMNS DIM COSTS".into());
    };
    let dim: usize = dim.parse()?;
    let (rows, columns) = (read(rows)?, read(columns)?);
    let (n_rows, n_columns) = (rows.len() / dim, columns.len() / dim);
    let (rows, columns) = (
        PackedRows::new(&rows, dim),
        PackedColumns::new(&columns, dim),
    );
    let width = columns.width();
    let mut table = vec![0.0; rows.n_padded() * width];
    let mut near = Vec::new();
    let parts = rows.parts(GROUPS_PER_TASK);
    let compute = |table: &mut [f32], near: &mut Vec<Vec<NearCost>>| {
        near.resize(parts.len(), Vec::new());
        let parts_of_table = table.chunks_mut(GROUPS_PER_TASK * ROWS * width);
        for ((part, costs), near) in parts.iter().zip(parts_of_table).zip(near) {
            near.clear();
            product::costs(*part, &columns, costs, near);
        }
        black_box(table);
    };
    compute(&mut table, &mut near);
    let mut costs_of_features: Vec<f64> = table.iter().map(|&cost| cost.into()).collect();
    for (part, near) in near.iter().enumerate() {
        for &NearCost { row, column, cost } in near {
            let row = part * GROUPS_PER_TASK * ROWS + row as usize;
            costs_of_features[row * width + column as usize] = cost;
        }
    }
    let mut bytes = Vec::new();
    for row in costs_of_features.chunks_exact(width).take(n_rows) {
        bytes.extend(row[..n_columns].iter().flat_map(|cost| cost.to_le_bytes()));
    }
    std::fs::write(costs, bytes)?;
    let mut answers = std::io::stdout().lock();
    writeln!(answers, "ready")?;
    for line in std::io::stdin().lines() {
        let end = Instant::now() + Duration::try_from_secs_f64(line?.trim().parse()?)?;
        let mut least = Duration::MAX;
        while least == Duration::MAX || Instant::now() < end {
            let start = Instant::now();
            compute(&mut table, &mut near);
            least = least.min(start.elapsed());
        }
        writeln!(answers, "{}", least.as_secs_f64())?;
        answers.flush()?;
    }
    Ok(())
}

fn read(path: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let floats = bytes.as_chunks().0.iter();
    Ok(floats.map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
