//! Times a grid search; see `bench/svm`.
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use wordmover_learn::{Features, grid, split};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: time_grid FILE")?;
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
        .map(|&b| u32::from_le_bytes(b) as usize)
        .collect();
    let values: Vec<f32> = values
        .as_chunks()
        .0
        .iter()
        .map(|&b| f32::from_le_bytes(b))
        .collect();
    let distances = Features::new(&values, n_columns)?;
    let mut params = grid::GridParams::default();
    if let Some(g) = std::env::args().nth(2) {
        params = params.gammas([Some(g.parse()?)]);
    }
    let folds = split::stratified_k_folds(&labels, 10, 1)?;
    let n = AtomicUsize::new(0);
    let start = Instant::now();
    let surface = grid::search(&params, &[distances], &labels, &folds, &|| {
        n.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    })?;
    println!(
        "{:.2} s, {} fits, {:?}",
        start.elapsed().as_secs_f64(),
        n.into_inner(),
        surface.best()
    );
    Ok(())
}
