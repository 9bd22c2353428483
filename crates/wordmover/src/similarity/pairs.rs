//! Scores for pairs of texts.

use std::sync::Arc;

use rayon::prelude::*;

use crate::average::AveragedVectors;
use crate::document::{CorpusCounts, Document, Weighting, WordCounts, WordProbabilities};
use crate::embedding::{Components, EmbeddingParams, Finish, Fitter, WordMoversEmbedding};
use crate::error::Result;
use crate::space::{Normalization, WordSpace};
use crate::vectors::WordVectors;
use crate::wmd;

use super::cosine;

/// The score [`Similarity::Wmd`] gives where there is no distance because a text has
/// no known word: words of length 1 cannot be farther apart.
pub const FARTHEST: f64 = -2.0;

/// How similar two texts are, by one of several measures. Greater is more similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Similarity {
    /// Cosine of Word Mover's Embeddings.
    Wme,
    /// The Word Mover's Kernel of the paper's features, centred by the mean of the corpus
    /// and normalised: `K(x, y) / sqrt(K(x, x) K(y, y))`. Without centring, all values are
    /// nearly the same, because every text is about equally far from a random document.
    Kernel,
    /// The Word Mover's Distance, negative, between NBOW bags of words of length 1.
    Wmd,
    /// Cosine of averaged word vectors.
    Average,
    /// Cosine of word vectors averaged with inverse document frequencies.
    Tfidf,
    /// Cosine of word vectors averaged with smooth inverse frequencies, the first
    /// principal component taken out (Arora et al., 2017).
    Sif,
}

impl Similarity {
    /// Scores pairs of texts. The texts of all pairs are the corpus that is fitted on.
    ///
    /// `params` settle how texts become words, for every measure, and what
    /// [`Wme`](Similarity::Wme) and [`Kernel`](Similarity::Kernel) embed with.
    /// `probabilities` are those of SIF weights; with `None`, the corpus gives them.
    ///
    /// A text without a known word is like nothing: its scores are 0, or [`FARTHEST`].
    ///
    /// # Errors
    ///
    /// A parameter is out of range; a word vector holds a value that is not finite.
    pub fn of_pairs(
        self,
        pairs: &[(impl AsRef<str> + Sync, impl AsRef<str> + Sync)],
        params: &EmbeddingParams,
        vectors: &Arc<WordVectors>,
        probabilities: Option<&WordProbabilities>,
    ) -> Result<Vec<f64>> {
        let count = |text: &str| WordCounts::from_text(text, &params.tokenizer, vectors);
        let counts: Vec<WordCounts> = pairs
            .par_iter()
            .flat_map_iter(|(first, second)| [count(first.as_ref()), count(second.as_ref())])
            .collect();
        match self {
            Similarity::Wme | Similarity::Kernel => {
                let mut params = params.clone();
                if self == Similarity::Kernel {
                    (params.finish, params.components) = (Finish::Center, Components::Keep);
                }
                // Nothing to fit on: nothing is like anything.
                if counts.iter().all(|counts| counts.words.is_empty()) {
                    return Ok(vec![0.0; pairs.len()]);
                }
                let fitter = Fitter::new(params.check()?, vectors.clone());
                let mut fitter = fitter.word_probabilities(probabilities.cloned());
                counts.iter().for_each(|counts| fitter.observe(counts));
                let model = fitter.finish()?;
                with_model(&model, &counts)
            }
            Similarity::Wmd => {
                let space = WordSpace::new(vectors.clone(), Normalization::Unit, &[])?;
                counts
                    .par_chunks_exact(2)
                    .map(|pair| {
                        let (first, second) = (Document::nbow(&pair[0]), Document::nbow(&pair[1]));
                        if first.is_empty() || second.is_empty() {
                            return Ok(FARTHEST);
                        }
                        // Not the negative of 0, which would read as -0.
                        Ok(0.0 - wmd::distance(&space, &first, &second)?)
                    })
                    .collect()
            }
            Similarity::Average | Similarity::Tfidf | Similarity::Sif => {
                let (weighting, n_components) = match self {
                    Similarity::Tfidf => (Weighting::Tfidf, 0),
                    Similarity::Sif => (Weighting::Sif, 1),
                    _ => (Weighting::Nbow, 0),
                };
                let mut corpus = CorpusCounts::default();
                counts.iter().for_each(|counts| corpus.observe(counts));
                corpus.set_probabilities(probabilities.cloned());
                let space = WordSpace::new(vectors.clone(), Normalization::None, &[])?;
                let model = AveragedVectors::fit(space, corpus, weighting, n_components, &counts)?;
                let rows = model.embed(&counts)?;
                Ok(scores(&rows, model.dim()))
            }
        }
    }

    /// Scores pairs of texts with a model fitted elsewhere, by the cosine of its
    /// embeddings.
    ///
    /// # Errors
    ///
    /// A word vector holds a value that is not finite.
    pub fn of_pairs_with(
        pairs: &[(impl AsRef<str> + Sync, impl AsRef<str> + Sync)],
        model: &WordMoversEmbedding,
    ) -> Result<Vec<f64>> {
        let counts: Vec<WordCounts> = pairs
            .par_iter()
            .flat_map_iter(|(first, second)| {
                [first.as_ref(), second.as_ref()].map(|text| model.word_counts(text))
            })
            .collect();
        with_model(model, &counts)
    }
}

fn with_model(model: &WordMoversEmbedding, counts: &[WordCounts]) -> Result<Vec<f64>> {
    let bags: Vec<Document> = counts.par_iter().map(|c| model.document(c)).collect();
    let rows = model.embed(&bags)?;
    // Of centred features, this is the normalised kernel as well.
    Ok(scores(&rows, model.n_features()))
}

/// The cosine of rows 0 and 1, of rows 2 and 3, and so on.
fn scores(rows: &[f32], width: usize) -> Vec<f64> {
    let pairs = rows.par_chunks_exact(2 * width);
    pairs
        .map(|pair| cosine(&pair[..width], &pair[width..]))
        .collect()
}
