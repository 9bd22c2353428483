//! The model for texts of any kind, when there is no corpus to fit one on.
//!
//! Gamma and the post-processing need documents. Here these are background documents: words
//! drawn by how frequent they are in English, which the built-in vectors bring along. So
//! the model depends on nothing but this file, the vectors and the seed, and is the same
//! everywhere.

use std::sync::Arc;

use crate::error::Result;
use crate::random_documents::Stream;
use crate::vectors::WordVectors;
use crate::word_probabilities::WordProbabilities;

use super::fit::Fitter;
use super::model::WordMoversEmbedding;
use super::params::EmbeddingParams;

/// The name of the model. A model that embeds otherwise gets another.
pub const GENERAL_PURPOSE: &str = "wordmover-general-1";

/// Background documents it is fitted on.
const DOCUMENTS: u64 = 512;

/// The words of a background document: so many at least, and fewer than so many.
const LENGTHS: (u64, u64) = (4, 32);

/// Seed of the background documents; random documents have their own.
const SEED: u64 = 0x77_6f_72_64;

impl WordMoversEmbedding {
    /// A model for English texts of any kind, on the built-in vectors, with the
    /// [parameters for similarity](EmbeddingParams::for_similarity): 1024 features. It needs
    /// no corpus and no file, takes a second or two to make, and has the same bits
    /// everywhere. A model fitted on texts like those it is used for is better.
    ///
    /// ```
    /// use wordmover::WordMoversEmbedding;
    ///
    /// let model = WordMoversEmbedding::general_purpose()?;
    /// let z = model.transform(&["Obama speaks to the media in Illinois"])?;
    /// assert_eq!(z.len(), 1024);
    /// # Ok::<(), wordmover::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None, as long as the built-in vectors are sound.
    pub fn general_purpose() -> Result<Self> {
        let vectors = Arc::new(WordVectors::builtin());
        let params = EmbeddingParams::for_similarity().check()?;
        let probabilities = WordProbabilities::builtin(&vectors);
        let mut fitter = Fitter::new(params, vectors.clone());
        for text in background_texts(&vectors, probabilities.values()) {
            let counts = fitter.word_counts(&text);
            fitter.observe(&counts);
        }
        fitter.finish()
    }
}

/// Texts of words drawn independently by their probabilities.
fn background_texts(vectors: &WordVectors, probabilities: &[f32]) -> impl Iterator<Item = String> {
    let mut total = 0.0;
    let up_to: Vec<f64> = probabilities
        .iter()
        .map(|&probability| {
            total += f64::from(probability);
            total
        })
        .collect();
    (0..DOCUMENTS).map(move |document| {
        let mut stream = Stream::new(SEED, document);
        let (least, below) = LENGTHS;
        let n_words = least + stream.below(below - least);
        let words = (0..n_words).map(|_| {
            let place = stream.uniform() * total;
            let id = up_to.partition_point(|&sum| sum <= place);
            vectors.word(id.min(up_to.len() - 1) as u32)
        });
        words.collect::<Vec<_>>().join(" ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::cosine;

    #[test]
    fn the_general_purpose_model_is_the_same_everywhere_and_tells_texts_apart() {
        let model = WordMoversEmbedding::general_purpose().unwrap();
        let texts = [
            "Obama speaks to the media in Illinois",
            "The president greets the press in Chicago",
            "The band gave a concert in Japan",
        ];
        let rows = model.transform(&texts).unwrap();
        let rows: Vec<&[f32]> = rows.chunks_exact(model.n_features()).collect();
        let near = cosine(rows[0], rows[1]);
        let far = cosine(rows[0], rows[2]);
        assert!(near > far + 0.2, "{near} {far}");
    }
}
