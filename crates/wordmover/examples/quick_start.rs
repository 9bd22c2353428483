//! Embeds a few sentences with the built-in vectors and prints, for each, the
//! other one that is most like it under the Word Mover's Kernel.

use std::sync::Arc;

use wordmover::{EmbeddingParams, WordMoversEmbedding, WordVectors, similarity::cosine};

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
    let rows: Vec<&[f32]> = z.chunks_exact(model.n_features()).collect();
    for (i, text) in TEXTS.iter().enumerate() {
        let likeness = |j: &usize| cosine(rows[i], rows[*j]);
        let others = (0..TEXTS.len()).filter(|j| *j != i);
        let best = others.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let best = best.expect("more than one text");
        println!("{text}\n    {:.2}  {}", likeness(&best), TEXTS[best]);
    }
    Ok(())
}
