//! Theorem 1 of the paper on real texts: how far the features' inner products are from the exact
//! Word Mover's Kernel, against its bound.
//!
//! `kernel_on_documents [TEXTS [FILE.svg]]`: a text a line; without a file, eight sentences.
//!
//! The random documents are single words of the corpus (`D_max` 1, `random_words` vocabulary), so
//! that the kernel is a mean over its distinct words and known exactly. Printed and drawn are the
//! largest and the root mean square error over all pairs, the mean over seeds, and two bounds
//! that hold with probability 0.95: Hoeffding's for the pairs at hand (with the union bound), and
//! that of the theorem, which is uniform over all documents of any words with a vector.

use std::error::Error;
use std::sync::Arc;

use plotters::prelude::*;
use wordmover::embedding::{Gamma, WordMoversKernel, kernel};
use wordmover::random_documents::RandomWords;
use wordmover::{Document, EmbeddingParams, WordMoversEmbedding, WordVectors};

const TEXTS: [&str; 8] = [
    "Obama speaks to the media in Illinois",
    "The president greets the press in Chicago",
    "The band gave a concert in Japan",
    "The guitarist sang an old song on the stage",
    "Students read books about quantum mechanics",
    "A physicist explains the theory of light",
    "The team scored two goals in the match",
    "The player missed a penalty in the final",
];
const GAMMA: f64 = 1.0;
const N_SEEDS: u64 = 10;
const CONFIDENCE: f64 = 0.95;

struct Measured {
    n_features: usize,
    largest: f64,
    mean: f64,
    pairs: f64,
    theorem: f64,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let texts: Vec<String> = match arguments.next() {
        Some(path) => std::fs::read_to_string(path)?
            .lines()
            .map(str::to_owned)
            .collect(),
        None => TEXTS.map(str::to_owned).to_vec(),
    };
    let vectors = Arc::new(WordVectors::builtin());
    let fit = |n_features, seed| {
        let params = EmbeddingParams::default()
            .raw()
            .random_words(RandomWords::Vocabulary)
            .d_max(1)
            .gamma(Gamma::Value(GAMMA))
            .n_features(n_features)
            .seed(seed);
        WordMoversEmbedding::fit(params, vectors.clone(), &texts)
    };
    let model = fit(1, 0)?;
    let documents: Vec<Document> = texts
        .iter()
        .map(|text| model.document(&model.word_counts(text)))
        .filter(|document| !document.is_empty())
        .collect();
    let exact = WordMoversKernel::new(&model)?;
    assert!(exact.is_exact(), "too many words to enumerate");
    let exact = exact.matrix(&documents, &documents)?.values;
    let longest = documents.iter().map(Document::len).max().unwrap_or(1);
    println!(
        "{} documents of at most {longest} words, {} distinct words, dimension {}",
        documents.len(),
        model.documents().words().len(),
        model.space().dim()
    );
    println!(
        "{:>6}  {:>9}  {:>9}  {:>9}  {:>9}",
        "R", "rms", "largest", "Hoeffding", "theorem 1"
    );
    let mut measured = Vec::new();
    for power in 4..=12 {
        let n_features = 1usize << power;
        let n = documents.len();
        let (mut largest_sum, mut square_sum) = (0.0, 0.0);
        for seed in 0..N_SEEDS {
            let model = fit(n_features, seed)?;
            let z = model.embed(&documents)?;
            let rows: Vec<&[f32]> = z.chunks_exact(n_features).collect();
            let mut largest = 0.0f64;
            for i in 0..n {
                for j in 0..=i {
                    let error = (kernel(rows[i], rows[j]) - exact[i * n + j]).abs();
                    largest = largest.max(error);
                    square_sum += error * error;
                }
            }
            largest_sum += largest;
        }
        let n_pairs = (n * (n + 1) / 2) as f64;
        let row = Measured {
            n_features,
            largest: largest_sum / N_SEEDS as f64,
            mean: (square_sum / (N_SEEDS as f64 * n_pairs)).sqrt(),
            // 2 pairs exp(-R t^2 / 2) = 1 - confidence.
            pairs: (2.0 * (2.0 * n_pairs / (1.0 - CONFIDENCE)).ln() / n_features as f64).sqrt(),
            theorem: theorem(n_features, model.space().dim(), longest),
        };
        println!(
            "{:6}  {:9.6}  {:9.6}  {:9.4}  {:9.3}",
            row.n_features, row.mean, row.largest, row.pairs, row.theorem
        );
        measured.push(row);
    }
    if let Some(path) = arguments.next() {
        draw(&path, &measured)?;
    }
    Ok(())
}

/// The `2 t` for which `2 (12 gamma / t)^(2 d L) exp(-R t^2 / 2)` is one minus the confidence, by
/// halving.
fn theorem(n_features: usize, dim: usize, longest: usize) -> f64 {
    let probability = |t: f64| {
        let covering = 2.0 * (dim * longest) as f64 * (12.0 * GAMMA / t).ln();
        2f64.ln() + covering - n_features as f64 * t * t / 2.0
    };
    let (mut low, mut high) = (1e-6, 1e6);
    for _ in 0..200 {
        let middle = f64::sqrt(low * high);
        match probability(middle) > (1.0 - CONFIDENCE).ln() {
            true => low = middle,
            false => high = middle,
        }
    }
    2.0 * high
}

const GREY: RGBColor = RGBColor(150, 150, 150);

fn draw(path: &str, measured: &[Measured]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (720, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let (first, last) = (&measured[0], &measured[measured.len() - 1]);
    let mut chart = ChartBuilder::on(&root)
        .margin(20)
        .caption(
            "Error of the kernel on real texts, and Theorem 1",
            ("sans-serif", 20),
        )
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(
            (first.n_features as f64 * 0.8..last.n_features as f64 * 1.25).log_scale(),
            (last.mean * 0.5..first.theorem * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("number of random documents R")
        .y_desc("error")
        .draw()?;
    // The line of slope -1/2 through the middle of what was measured.
    let levels = measured
        .iter()
        .map(|row| (row.mean * (row.n_features as f64).sqrt()).ln());
    let level = (levels.sum::<f64>() / measured.len() as f64).exp();
    let points = measured.iter().map(|row| {
        (
            row.n_features as f64,
            level / (row.n_features as f64).sqrt(),
        )
    });
    let dotted = DashedLineSeries::new(points, 4, 4, GREY.into());
    chart
        .draw_series(dotted)?
        .label("proportional to 1 / sqrt(R)")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], GREY));
    type Of = fn(&Measured) -> f64;
    let lines: [(&str, RGBColor, Of); 4] = [
        ("bound of Theorem 1 (95 %)", RED, |row| row.theorem),
        ("Hoeffding's bound for these pairs (95 %)", MAGENTA, |row| {
            row.pairs
        }),
        ("largest error of all pairs", BLUE, |row| row.largest),
        ("root mean square error", BLACK, |row| row.mean),
    ];
    for (label, colour, value) in lines {
        let points = measured
            .iter()
            .map(|row| (row.n_features as f64, value(row)));
        chart
            .draw_series(LineSeries::new(points, colour))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE)
        .border_style(BLACK)
        .position(SeriesLabelPosition::Coordinate(20, 130))
        .draw()?;
    root.present()?;
    Ok(())
}
