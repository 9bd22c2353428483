//! A small corpus of three classes, each with words of its own in a corner of space.

#![allow(dead_code)]

use std::ops::ControlFlow;
use std::sync::Arc;

use wordmover::WordVectors;
use wordmover::space::UnknownWords;
use wordmover::text::{StopWords, Tokenizer};
use wordmover_classify::{Event, LabeledCorpus, Protocol, Views, WmeParams};

/// Numbers that look random enough, from 0 to `n - 1`.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

pub fn vectors() -> Arc<WordVectors> {
    let mut numbers = Numbers(1);
    let mut words = Vec::new();
    let mut matrix = Vec::new();
    for (corner, letter) in ["a", "b", "c"].iter().enumerate() {
        for i in 0..8 {
            words.push(format!("{letter}{i}"));
            for k in 0..3 {
                let noise = numbers.below(1000) as f32 / 1000.0 - 0.5;
                matrix.push(if k == corner { 1.0 } else { 0.0 } + noise);
            }
        }
    }
    Arc::new(WordVectors::from_rows("toy", words, matrix, 3).unwrap())
}

pub fn tokenizer() -> Tokenizer {
    Tokenizer {
        stop_words: StopWords::None,
        ..Tokenizer::default()
    }
}

/// Labelled texts: mostly words of the class' own letter.
pub fn texts(n: usize, seed: u64) -> Vec<(&'static str, String)> {
    let mut numbers = Numbers(seed);
    let texts = (0..n).map(|i| {
        let class = ["a", "b", "c"][i % 3];
        let words = (0..3 + numbers.below(4)).map(|_| {
            let letter = if numbers.below(4) == 0 {
                ["a", "b", "c"][numbers.below(3)]
            } else {
                class
            };
            format!("{letter}{}", numbers.below(8))
        });
        (class, words.collect::<Vec<_>>().join(" "))
    });
    texts.collect()
}

pub fn corpus_of(texts: &[(&str, impl AsRef<str>)]) -> LabeledCorpus {
    let labeled = texts.iter().map(|(class, text)| (*class, text.as_ref()));
    LabeledCorpus::from_texts(labeled, tokenizer(), vectors()).unwrap()
}

pub fn corpus(n: usize, seed: u64) -> LabeledCorpus {
    corpus_of(&texts(n, seed))
}

/// Small enough for a test, with meanings alone, and of known words alone.
pub fn params(protocol: Protocol) -> WmeParams {
    let mut params = WmeParams::new(protocol);
    params.embedding.documents.unknown = Some(UnknownWords::Skip);
    params.embedding.n_features = 300;
    params.views = vec![Views::Meanings];
    if protocol == Protocol::Paper {
        params.d_maxes = vec![3, 6];
    }
    params
}

pub fn silent(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
