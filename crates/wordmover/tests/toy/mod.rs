//! A handful of words in the plane, small enough to enumerate.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::sync::Arc;

use wordmover::text::{StopWords, Tokenizer};
use wordmover::{
    EmbeddingParams, WordVectors,
    random_documents::RandomWords,
    space::{Normalization, UnknownWords},
};

/// Words of one letter and their vectors.
pub const WORDS: [(&str, [f32; 2]); 5] = [
    ("a", [0.0, 0.0]),
    ("b", [1.0, 0.25]),
    ("c", [-0.5, 0.75]),
    ("d", [0.25, -1.0]),
    ("e", [1.5, 1.0]),
];

/// A corpus that holds every word.
pub const TEXTS: [&str; 4] = ["a b c", "a a d", "e d b", "c"];

pub fn vectors() -> Arc<WordVectors> {
    let words = WORDS.iter().map(|(word, _)| (*word).to_owned()).collect();
    let matrix = WORDS.iter().flat_map(|(_, vector)| *vector).collect();
    Arc::new(WordVectors::from_rows("toy", words, matrix, 2).unwrap())
}

/// Random documents of words of the corpus, which can be enumerated; raw features.
pub fn params() -> EmbeddingParams {
    let tokenizer = Tokenizer {
        stop_words: StopWords::None,
        ..Tokenizer::default()
    };
    let mut params = EmbeddingParams::default();
    // There are no other words.
    params.documents.unknown = Some(UnknownWords::Skip);
    params
        .tokenizer(tokenizer)
        .normalization(Normalization::None)
        .random_words(RandomWords::Vocabulary)
        .d_max(2)
        .raw()
}

/// The exact kernel for [`params`]: the mean over both lengths and all words of a
/// random document.
pub fn exact_kernel(gamma: f64, x: &[(usize, f64)], y: &[(usize, f64)]) -> f64 {
    let n = WORDS.len();
    let mut mean = 0.0;
    for i in 0..n {
        let omega = [(i, 1.0)];
        mean += 0.5 / n as f64 * product(gamma, x, y, &omega);
        for j in 0..n {
            let omega = [(i, 0.5), (j, 0.5)];
            mean += 0.5 / (n * n) as f64 * product(gamma, x, y, &omega);
        }
    }
    mean
}

fn product(gamma: f64, x: &[(usize, f64)], y: &[(usize, f64)], omega: &[(usize, f64)]) -> f64 {
    (-gamma * (naive_wmd(x, omega) + naive_wmd(y, omega))).exp()
}

/// Word Mover's Distance to a document of one word, or of two of weight a half,
/// from first principles: with two sinks the sources sort by which they prefer.
fn naive_wmd(x: &[(usize, f64)], omega: &[(usize, f64)]) -> f64 {
    let distance = |i: usize, j: usize| -> f64 {
        let (a, b) = (WORDS[i].1, WORDS[j].1);
        f64::from(a[0] - b[0]).hypot(f64::from(a[1] - b[1]))
    };
    if let [(only, _)] = omega {
        return x.iter().map(|&(i, mass)| mass * distance(i, *only)).sum();
    }
    let (first, second) = (omega[0].0, omega[1].0);
    let preference = |i: usize| distance(i, first) - distance(i, second);
    let mut order = x.to_vec();
    order.sort_by(|a, b| preference(a.0).total_cmp(&preference(b.0)));
    let (mut room, mut cost) = (0.5, 0.0);
    for (i, mass) in order {
        let there = mass.min(room);
        room -= there;
        cost += there * distance(i, first) + (mass - there) * distance(i, second);
    }
    cost
}
