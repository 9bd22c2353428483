//! What fewer bits per value cost: `quantization_error FILE [LIMIT [DOCUMENTS]]`
//! compares the vectors of a file with themselves in half precision and in int8.
//!
//! Reported are, over all words, the length of the change relative to the
//! length of the vector, and one minus the cosine between old and new; and over
//! pairs of words that follow each other in the file, the change of their
//! cosine. With a file of documents, one a line, also the relative change of the Word
//! Mover's Distance between each document and the one a third of the file further on,
//! for vectors as they are and scaled to length 1.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use wordmover::text::Tokenizer;
use wordmover::vectors::Precision;
use wordmover::{
    Document, WordVectors,
    document::WordCounts,
    space::{Normalization, WordSpace},
    wmd,
};

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("expected FILE [LIMIT [DOCUMENTS]]")?;
    let limit = arguments.next().map(|limit| limit.parse()).transpose()?;
    let texts = arguments.next().map(std::fs::read_to_string).transpose()?;
    let original = Arc::new(WordVectors::open(Path::new(&file), limit)?);
    println!(
        "{}: {} words, dimension {}",
        original.name(),
        original.len(),
        original.dim()
    );
    println!(
        "precision  relative change: mean       max  1 - cosine: mean       max  pair cosine: mean       max"
    );
    for precision in [Precision::F16, Precision::Int8] {
        let stored =
            WordVectors::from_bytes(original.to_native_bytes(precision)?, original.name())?;
        let mut relative = Spread::default();
        let mut turn = Spread::default();
        let mut pair_cosine = Spread::default();
        let mut previous: Option<(Vec<f32>, Vec<f32>)> = None;
        for id in 0..original.len() as u32 {
            let (old, new) = (original.vector(id), stored.vector(id));
            let length = dot(&old, &old).sqrt();
            if length == 0.0 {
                continue;
            }
            let change: Vec<f32> = old.iter().zip(&new).map(|(old, new)| new - old).collect();
            relative.add(dot(&change, &change).sqrt() / length);
            turn.add(1.0 - cosine(&old, &new));
            if let Some((old_before, new_before)) = &previous {
                pair_cosine.add((cosine(new_before, &new) - cosine(old_before, &old)).abs());
            }
            previous = Some((old, new));
        }
        println!("{precision:9}  {relative}  {turn}  {pair_cosine}");
        if let Some(texts) = &texts {
            let (original, stored) = (original.clone(), Arc::new(stored));
            for normalization in [Normalization::None, Normalization::Unit] {
                let change = distance_change(&original, &stored, normalization, texts)?;
                println!(
                    "    relative change of {} distances, {normalization:?}: {change}",
                    change.n
                );
            }
        }
    }
    Ok(())
}

/// Relative change of the distances between each document and the one a third of the file on.
fn distance_change(
    original: &Arc<WordVectors>,
    stored: &Arc<WordVectors>,
    normalization: Normalization,
    texts: &str,
) -> Result<Spread, wordmover::Error> {
    let tokenizer = Tokenizer::default();
    let documents = texts.lines().map(|text| {
        let counts = WordCounts::from_text(text, &tokenizer, original);
        Document::nbow(&counts)
    });
    let documents: Vec<Document> = documents.filter(|document| !document.is_empty()).collect();
    let old = WordSpace::new(original.clone(), normalization, &[])?;
    let new = WordSpace::new(stored.clone(), normalization, &[])?;
    let mut change = Spread::default();
    for (x, y) in documents.iter().zip(&documents[documents.len() / 3..]) {
        let before = wmd::distance(&old, x, y)?;
        if before > 0.0 {
            let after = wmd::distance(&new, x, y)?;
            change.add((after - before).abs() / before);
        }
    }
    Ok(change)
}

/// Mean and maximum of a quantity that is not negative.
#[derive(Default)]
struct Spread {
    n: usize,
    sum: f64,
    max: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.n += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:21.6} {:9.6}", self.sum / self.n as f64, self.max)
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| f64::from(a) * f64::from(b))
        .sum()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
