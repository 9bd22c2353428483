//! How fast the embedding's inner products approach the exact Word Mover's Kernel
//! (Theorem 1 of the paper): `kernel_convergence [FILE.svg]`.
//!
//! On five words in the plane with random documents of one or two of those words,
//! the kernel is a mean over thirty random documents and can be computed exactly.
//! Printed and drawn is the root mean square error of the estimates over pairs of
//! documents and seeds; Monte Carlo promises a slope of -1/2.

#[path = "../tests/toy/mod.rs"]
mod toy;

use std::error::Error;

use plotters::prelude::*;
use wordmover::{
    WordMoversEmbedding,
    embedding::{Gamma, kernel},
};

const GAMMA: f64 = 0.7;
const N_SEEDS: u64 = 100;

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{:>8}  {:>10}  error x sqrt(R)", "R", "error");
    let mut points = Vec::new();
    for power in 2..=12 {
        let n_features = 1usize << power;
        let error = kernel_error(n_features)?;
        let scaled = error * (n_features as f64).sqrt();
        println!("{n_features:8}  {error:10.6}  {scaled:.4}");
        points.push((n_features as f64, error));
    }
    println!("slope of log error against log R: {:.3}", slope(&points));
    if let Some(path) = std::env::args().nth(1) {
        draw(&path, &points)?;
    }
    Ok(())
}

fn kernel_error(n_features: usize) -> Result<f64, wordmover::Error> {
    let texts = ["a b c", "a a d", "e d b", "c", "e e a"];
    let (mut sum, mut n) = (0.0, 0.0);
    for seed in 0..N_SEEDS {
        let params = toy::params()
            .n_features(n_features)
            .gamma(Gamma::Value(GAMMA))
            .seed(seed);
        let model = WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS)?;
        let documents = texts.map(|text| model.document(&model.word_counts(text)));
        let pairs = documents.each_ref().map(|document| {
            let words = document.known().iter().map(|&word| word as usize);
            words
                .zip(document.weights().iter().copied())
                .collect::<Vec<_>>()
        });
        let z = model.embed(&documents)?;
        let rows: Vec<&[f32]> = z.chunks_exact(n_features).collect();
        for i in 0..texts.len() {
            for j in 0..=i {
                let exact = toy::exact_kernel(GAMMA, &pairs[i], &pairs[j]);
                sum += (kernel(rows[i], rows[j]) - exact).powi(2);
                n += 1.0;
            }
        }
    }
    Ok(f64::sqrt(sum / n))
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mx = logs.iter().map(|p| p.0).sum::<f64>() / n;
    let my = logs.iter().map(|p| p.1).sum::<f64>() / n;
    let covariance = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    covariance / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>()
}

fn draw(path: &str, points: &[(f64, f64)]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (640, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let (first, last) = (points[0], points[points.len() - 1]);
    let mut chart = ChartBuilder::on(&root)
        .margin(20)
        .caption("Error of the kernel estimate", ("sans-serif", 20))
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(
            (first.0 * 0.8..last.0 * 1.25).log_scale(),
            (last.1 * 0.5..first.1 * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("number of random documents R")
        .y_desc("root mean square error")
        .draw()?;
    // Through the geometric middle of the points, with the slope of the theorem.
    let middle = points.iter().map(|(x, y)| (y * x.sqrt()).ln()).sum::<f64>();
    let scale = (middle / points.len() as f64).exp();
    let line = points.iter().map(|(x, _)| (*x, scale / x.sqrt()));
    chart
        .draw_series(LineSeries::new(line, &RED))?
        .label("proportional to 1 / sqrt(R)")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], RED));
    let dots = points
        .iter()
        .map(|point| Circle::new(*point, 4, BLUE.filled()));
    chart
        .draw_series(dots)?
        .label("measured")
        .legend(|(x, y)| Circle::new((x + 10, y), 4, BLUE.filled()));
    chart
        .configure_series_labels()
        .background_style(WHITE)
        .border_style(BLACK)
        .position(SeriesLabelPosition::UpperRight)
        .draw()?;
    root.present()?;
    Ok(())
}
