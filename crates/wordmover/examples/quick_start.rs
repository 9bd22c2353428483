//! Embeds a few sentences with the built-in vectors and prints, for each, the
//! other one that is most like it under the Word Mover's Kernel.

use std::sync::Arc;

use wordmover::{EmbeddingParams, WordMoversEmbedding, WordVectors};

const TEXTS: [&str; 6] = [
    "Obama speaks to the media in Illinois",
    "The president greets the press in Chicago",
    "The striker scored twice in the cup final",
    "A late goal won the football match",
    "Shares fell as investors worried about inflation",
    "The stock market dropped on fears of rising prices",
];

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Result<(), wordmover::Error> {
    let vectors = Arc::new(WordVectors::builtin());
    let params = EmbeddingParams::default().n_features(1024);
    let model = WordMoversEmbedding::fit(params, vectors, &TEXTS)?;
    let z = model.transform(&TEXTS)?;
    let rows: Vec<Vec<f64>> = centred(&z, model.n_features());
    for (i, text) in TEXTS.iter().enumerate() {
        let likeness = |j: &usize| cosine(&rows[i], &rows[*j]);
        let others = (0..TEXTS.len()).filter(|j| *j != i);
        let best = others.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let best = best.expect("more than one text");
        println!("{text}\n    {:.2}  {}", likeness(&best), TEXTS[best]);
    }
    Ok(())
}

/// Every document is about equally far from every random document, so raw cosines
/// are all near 1: what tells documents apart is the difference from the mean.
fn centred(z: &[f32], n_features: usize) -> Vec<Vec<f64>> {
    let n = z.len() / n_features;
    let mean = |k: usize| {
        (0..n)
            .map(|i| f64::from(z[i * n_features + k]))
            .sum::<f64>()
            / n as f64
    };
    let mean: Vec<f64> = (0..n_features).map(mean).collect();
    let row = |row: &[f32]| {
        row.iter()
            .zip(&mean)
            .map(|(&x, m)| f64::from(x) - m)
            .collect()
    };
    z.chunks_exact(n_features).map(row).collect()
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
