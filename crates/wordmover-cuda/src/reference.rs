//! A distance as the library computes it, on the CPU: for problems the GPU cannot take, and to
//! check those it took.

use wordmover::transport::{TransportError, Workspace};

/// Pairs whose squared distance is at most this share of their squared lengths are near: see
/// the library's `ground/product.rs`, of which [`ground_cost`] is the definition.
const NEAR: f32 = 0.5;

/// The distance from a bag, given its words' vectors one after the other, to a random document,
/// in single precision.
///
/// # Errors
///
/// Whatever the library's solver says.
pub fn distance_on_host(
    vectors: &[f32],
    weights: &[f64],
    random_words: &[f32],
    dim: usize,
    workspace: &mut Workspace,
) -> Result<f32, TransportError> {
    let costs: Vec<f64> = vectors
        .chunks_exact(dim)
        .flat_map(|word| {
            random_words
                .chunks_exact(dim)
                .map(move |other| ground_cost(word, other))
        })
        .collect();
    let n_sinks = random_words.len() / dim;
    let demand = vec![1.0 / n_sinks as f64; n_sinks];
    Ok(workspace.optimal_value(&costs, weights, &demand)? as f32)
}

/// The largest squared length of some vectors.
pub(crate) fn longest(vectors: &[f32], dim: usize) -> f64 {
    use rayon::prelude::*;
    let squares = vectors
        .par_chunks_exact(dim)
        .with_min_len(1024)
        .map(squared_length);
    squares.reduce(|| 0.0, f64::max)
}

fn squared_length(vector: &[f32]) -> f64 {
    vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum()
}

fn ground_cost(a: &[f32], b: &[f32]) -> f64 {
    let square = |vector| {
        let square = squared_length(vector);
        if square == 0.0 || (1e-24..1e24).contains(&square) {
            square as f32
        } else {
            f32::NAN
        }
    };
    let mut product = 0f32;
    for (x, y) in a.iter().zip(b) {
        product += x * y;
    }
    let squares = square(a) + square(b);
    let squared = squares - 2.0 * product;
    if squared > NEAR * squares {
        return f64::from(squared.sqrt());
    }
    let differences = a.iter().zip(b).map(|(x, y)| f64::from(*x) - f64::from(*y));
    differences.map(|x| x * x).sum::<f64>().sqrt()
}
