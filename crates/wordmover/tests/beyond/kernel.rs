//! The kernel of documents: enumerated, estimated, and read as a soft minimum.

use wordmover::embedding::{Gamma, WordMoversKernel};
use wordmover::random_documents::RandomWords;
use wordmover::{Document, EmbeddingParams, WordMoversEmbedding, wmd};

use crate::toy;

const GAMMA: f64 = 0.7;

fn model(params: EmbeddingParams) -> (WordMoversEmbedding, Vec<Document>) {
    let params = params.gamma(Gamma::Value(GAMMA));
    let model = WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap();
    let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
    (model, documents.to_vec())
}

fn pairs(document: &Document) -> Vec<(usize, f64)> {
    let words = document.known().iter().map(|&word| word as usize);
    words.zip(document.weights().iter().copied()).collect()
}

#[test]
fn an_enumerated_kernel_is_exact_and_an_estimate_within_its_error() {
    let (model, documents) = model(toy::params().n_features(4096));
    let kernel = WordMoversKernel::new(&model).unwrap();
    assert!(kernel.is_exact());
    let found = kernel.matrix(&documents, &documents).unwrap();
    let (drawn, _) = self::model(
        toy::params()
            .n_features(4096)
            .random_words(RandomWords::Gaussian),
    );
    let estimated = WordMoversKernel::new(&drawn).unwrap();
    assert!(!estimated.is_exact());
    let estimates = estimated.matrix(&documents, &documents).unwrap();
    let n = documents.len();
    for (i, x) in documents.iter().enumerate() {
        for (j, y) in documents.iter().enumerate() {
            let exact = toy::exact_kernel(GAMMA, &pairs(x), &pairs(y));
            assert!((found.values[i * n + j] - exact).abs() < 1e-14);
            assert_eq!(found.errors[i * n + j], 0.0);
            // Symmetric, positive, and not known exactly.
            assert_eq!(estimates.values[i * n + j], estimates.values[j * n + i]);
            let error = estimates.errors[i * n + j];
            assert!(error > 0.0 && error < 0.02, "{error}");
        }
    }
}

#[test]
fn the_standard_error_is_that_of_the_estimates() {
    // Of random words of the vocabulary, the exact kernel is known: count how often the
    // estimate of few features is within one and two standard errors.
    let (mut within, mut n) = ([0, 0], 0);
    for seed in 0..60 {
        let params = toy::params().n_features(256).seed(seed).d_max(2);
        let (model, documents) = model(params);
        let z = model.embed(&documents).unwrap();
        for (i, x) in documents.iter().enumerate() {
            for (j, y) in documents.iter().enumerate().take(i + 1) {
                let exact = toy::exact_kernel(GAMMA, &pairs(x), &pairs(y));
                let rows = [&z[i * 256..][..256], &z[j * 256..][..256]];
                let products = rows[0].iter().zip(rows[1]);
                let products: Vec<f64> = products
                    .map(|(a, b)| f64::from(*a) * f64::from(*b) * 256.0)
                    .collect();
                let mean = products.iter().sum::<f64>() / 256.0;
                let squares = products.iter().map(|p| (p - mean) * (p - mean));
                let error = (squares.sum::<f64>() / 255.0 / 256.0).sqrt();
                let off = (mean - exact).abs() / error;
                within[0] += u32::from(off <= 1.0);
                within[1] += u32::from(off <= 2.0);
                n += 1;
            }
        }
    }
    let share = within.map(|count| f64::from(count) / f64::from(n));
    assert!((0.55..0.85).contains(&share[0]), "{share:?}");
    assert!((0.88..=1.0).contains(&share[1]), "{share:?}");
}

#[test]
fn the_soft_minimum_is_above_the_distance_and_comes_down_to_the_way_over_a_random_document() {
    let params = toy::params();
    let mut last = f64::INFINITY;
    for gamma in [0.5, 2.0, 20.0, 200.0] {
        let params = params.clone().gamma(Gamma::Value(gamma));
        let model = WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap();
        let documents = ["a b", "d d e"].map(|text| model.document(&model.word_counts(text)));
        let kernel = WordMoversKernel::new(&model).unwrap();
        let found = kernel.matrix(&documents[..1], &documents[1..]).unwrap();
        let soft = found.soft_minimum()[0];
        let distance = wmd::distance(model.space(), &documents[0], &documents[1]).unwrap();
        assert!(soft >= distance && soft <= last, "{soft} at {gamma}");
        last = soft;
        if gamma == 200.0 {
            // The document "a b" is itself a random document: no detour.
            assert!(soft - distance < 0.05, "{soft} and {distance}");
        }
    }
}

#[test]
fn a_kernel_needs_a_gamma() {
    let params = toy::params().gamma(Gamma::None);
    let model = WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap();
    let message = WordMoversKernel::new(&model).unwrap_err().to_string();
    assert_eq!(message, "gamma is none: it must be a number for a kernel");
}
