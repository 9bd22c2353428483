//! How the time of an embedding grows: `cost_scaling [FILE.svg]`.
//!
//! Documents of known length are drawn from the built-in vocabulary, frequent words
//! more often (Zipf's law). From one setting, the number of documents `N`, the number
//! of features `R` and the number of distinct words a document `L` are varied in turn;
//! printed, as JSON, and drawn are the fastest times on one thread, with slopes fitted to
//! logarithms: 1 is linear.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use plotters::coord::Shift;
use plotters::prelude::*;
use wordmover::{
    Document, EmbeddingParams, WordMoversEmbedding, WordVectors,
    embedding::{EmbeddingStatistics, Gamma},
};

const REPEATS: usize = 5;

/// What is varied.
#[derive(Clone, Copy)]
struct Setting {
    n_documents: usize,
    n_features: usize,
    n_words: usize,
}

const MIDDLE: Setting = Setting {
    n_documents: 1024,
    n_features: 256,
    n_words: 64,
};

struct Series {
    name: &'static str,
    points: Vec<(f64, f64)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()?;
    let vectors = Arc::new(WordVectors::builtin());
    let mut series = Vec::new();
    let documents = [128, 256, 512, 1024, 2048, 4096];
    let features = [32, 64, 128, 256, 512, 1024];
    let words = [16, 32, 64, 128, 256, 512];
    type Varied = (&'static str, [usize; 6], fn(usize) -> Setting);
    let varied: [Varied; 3] = [
        ("documents N", documents, |n| Setting {
            n_documents: n,
            ..MIDDLE
        }),
        ("features R", features, |n| Setting {
            n_features: n,
            ..MIDDLE
        }),
        ("distinct words a document L", words, |n| Setting {
            n_words: n,
            ..MIDDLE
        }),
    ];
    for (name, values, setting) in varied {
        let mut points = Vec::new();
        for value in values {
            let seconds = seconds(&vectors, setting(value))?;
            points.push((value as f64, seconds));
        }
        series.push(Series { name, points });
    }
    if let Some(path) = std::env::args().nth(1) {
        draw(&path, &series)?;
    }
    let series: Vec<_> = series
        .iter()
        .map(|Series { name, points }| {
            let whole: Vec<_> = points.iter().map(|&(x, y)| (x as u64, y)).collect();
            serde_json::json!({"name": name, "points": whole, "slope": line(points).0})
        })
        .collect();
    println!("{}", serde_json::Value::from(series));
    Ok(())
}

/// The fastest of a few embeddings.
fn seconds(vectors: &Arc<WordVectors>, setting: Setting) -> Result<f64, wordmover::Error> {
    let params = EmbeddingParams::default()
        .n_features(setting.n_features)
        .gamma(Gamma::Value(1.0));
    let text = ["the first words of the corpus decide on the random documents"];
    let model = WordMoversEmbedding::fit(params, vectors.clone(), &text)?;
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let documents: Vec<Document> = (0..setting.n_documents)
        .map(|_| document(setting.n_words, vectors.len(), &mut random))
        .collect::<Result<_, _>>()?;
    let mut out = vec![0.0; documents.len() * model.n_features()];
    let mut least = Duration::MAX;
    for _ in 0..REPEATS {
        let mut total = EmbeddingStatistics::default();
        model.embed_into(&documents, &mut out, &mut |done| {
            total += *done;
            ControlFlow::Continue(())
        })?;
        least = least.min(total.ground_costs + total.transport);
    }
    Ok(least.as_secs_f64())
}

/// A document of `n_words` distinct words out of a vocabulary ordered by frequency.
fn document(
    n_words: usize,
    vocabulary: usize,
    random: &mut ChaCha8Rng,
) -> Result<Document, wordmover::Error> {
    let mut counts = std::collections::BTreeMap::new();
    while counts.len() < n_words {
        // Zipf's law: the logarithm of the rank is uniform.
        let uniform = (random.next_u64() >> 11) as f64 * 0.5f64.powi(53);
        let rank = (vocabulary as f64).powf(uniform) as u32;
        *counts.entry(rank - 1).or_insert(0.0) += 1.0;
    }
    let total: f64 = counts.values().sum();
    Document::from_weights(
        counts
            .into_iter()
            .map(|(word, count)| (word, count / total)),
    )
}

/// Slope and intercept of the least-squares line through the logarithms.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mx = logs.iter().map(|p| p.0).sum::<f64>() / n;
    let my = logs.iter().map(|p| p.1).sum::<f64>() / n;
    let covariance = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    let slope = covariance / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    (slope, my - slope * mx)
}

fn draw(path: &str, series: &[Series]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (960, 360)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, series) in root.split_evenly((1, 3)).iter().zip(series) {
        panel(area, series)?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    Series { name, points }: &Series,
) -> Result<(), Box<dyn Error>> {
    let (slope, intercept) = line(points);
    // Powers of two make better labels than a logarithmic axis has.
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.log2(), y.log2())).collect();
    let (first, last) = (logs[0], logs[logs.len() - 1]);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .caption(format!("slope {slope:.2}"), ("sans-serif", 18))
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(
            first.0 - 0.5..last.0 + 0.5,
            first.1.floor() - 0.2..last.1.ceil() + 0.2,
        )?;
    chart
        .configure_mesh()
        .x_desc(*name)
        .y_desc("seconds, one thread")
        .x_labels(6)
        .y_labels(8)
        .max_light_lines(0)
        .x_label_formatter(&|x| format!("{:.0}", x.exp2()))
        .y_label_formatter(&|y| format!("{:.2}", y.exp2()))
        .draw()?;
    let fitted = points.iter().map(|(x, _)| {
        let y = intercept + slope * x.ln();
        (x.log2(), y / 2f64.ln())
    });
    chart.draw_series(LineSeries::new(fitted, &RED))?;
    let dots = logs
        .iter()
        .map(|point| Circle::new(*point, 4, BLUE.filled()));
    chart.draw_series(dots)?;
    Ok(())
}
