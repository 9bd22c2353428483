//! Scores for pairs of texts.

use std::sync::Arc;

use hashbrown::HashSet;
use rayon::prelude::*;

use crate::average::AveragedVectors;
use crate::document::{BagRules, Weighting, WordCounts, WordProbabilities};
use crate::embedding::{Components, EmbeddingParams, Fitter, PostProcessing, WordMoversEmbedding};
use crate::error::Result;
use crate::names::names;
use crate::space::{Metric, Normalization};
use crate::vectors::WordVectors;
use crate::wmd;

use super::cosine;

/// The score [`Similarity::Wmd`] and [`Similarity::Wrd`] give where there is no distance because a text has
/// no known word: words of length 1, and directions, cannot be farther apart.
pub const FARTHEST: f64 = -2.0;

/// How much of [`Similarity::Blend`] is SIF's, chosen on training files
/// (docs/similarity-study.md).
const SIF_SHARE: f64 = 1.0 / 3.0;

/// So many distinct texts have a first principal component worth removing; the embedding
/// fills its own sample up with background documents below that, SIF has none.
const LEAST_TEXTS: usize = 256;

/// How similar two texts are, by one of several measures. Greater is more similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Similarity {
    /// Two thirds [`Wme`](Similarity::Wme) and one third [`Sif`](Similarity::Sif); with fewer
    /// than 256 distinct texts, `Wme` alone.
    Blend,
    /// Cosine of Word Mover's Embeddings.
    Wme,
    /// The Word Mover's Kernel of the paper's features, centred by the mean of the corpus
    /// and normalised: `K(x, y) / sqrt(K(x, x) K(y, y))`. Without centring, all values are
    /// nearly the same, because every text is about equally far from a random document.
    Kernel,
    /// The Word Mover's Distance, negative, between NBOW bags of words of length 1.
    Wmd,
    /// The word rotator's distance, negative: lengths of the word vectors as weights, cosines
    /// as ground costs (Yokoi et al., 2020).
    Wrd,
    /// Cosine of averaged word vectors.
    Average,
    /// Cosine of word vectors averaged with inverse document frequencies.
    Tfidf,
    /// Cosine of word vectors averaged with smooth inverse frequencies, the first
    /// principal component taken out (Arora et al., 2017).
    Sif,
}

names!(Similarity, "similarity":
    Blend "blend" "two thirds wme, one third sif; wme alone with fewer than 256 distinct texts",
    Wme "wme" "cosine of Word Mover's Embeddings",
    Kernel "kernel" "Word Mover's Kernel, estimated",
    Wmd "wmd" "negative Word Mover's Distance",
    Wrd "wrd" "negative word rotator's distance",
    Average "average" "cosine of averaged word vectors",
    Tfidf "tfidf" "cosine of averages weighted by inverse document frequency",
    Sif "sif" "cosine of averages weighted by smooth inverse frequency, first component removed",
);

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
        if self == Similarity::Blend {
            return blend(pairs, params, vectors, probabilities);
        }
        let mut params = params.clone();
        match self {
            Similarity::Blend | Similarity::Wme => {}
            Similarity::Kernel => {
                params.post_processing = PostProcessing::Center;
                params.components = Components::Keep;
            }
            Similarity::Wmd => {
                params.documents.normalization = Normalization::Unit;
                params.documents.bag = BagRules {
                    max_words: 1 << 24,
                    ..BagRules::default()
                };
            }
            Similarity::Wrd => {
                params.documents.normalization = Normalization::None;
                params.documents.metric = Metric::Cosine;
                params.documents.bag = BagRules {
                    max_words: 1 << 24,
                    ..BagRules::default()
                };
            }
            Similarity::Average | Similarity::Tfidf | Similarity::Sif => {
                params.documents.normalization = Normalization::None;
                params.documents.bag.min_count = 1;
                params.documents.bag.weighting = match self {
                    Similarity::Tfidf => Weighting::Tfidf,
                    Similarity::Sif => Weighting::Sif,
                    _ => Weighting::Nbow,
                };
            }
        }
        let fitter = Fitter::new(params.check()?, vectors.clone());
        let mut fitter = fitter.word_probabilities(probabilities.cloned());
        let counts: Vec<WordCounts> = pairs
            .par_iter()
            .flat_map_iter(|(first, second)| {
                [first.as_ref(), second.as_ref()].map(|text| fitter.word_counts(text))
            })
            .collect();
        // Nothing to fit on: nothing is like anything.
        if !counts.iter().any(|counts| fitter.has_words(counts)) {
            let score = if matches!(self, Similarity::Wmd | Similarity::Wrd) {
                FARTHEST
            } else {
                0.0
            };
            return Ok(vec![score; pairs.len()]);
        }
        counts.iter().for_each(|counts| fitter.observe(counts));
        match self {
            Similarity::Blend | Similarity::Wme | Similarity::Kernel => {
                with_model(&fitter.finish()?, &counts)
            }
            Similarity::Wmd | Similarity::Wrd => {
                let model = fitter.finish_documents()?;
                let document = |counts: &WordCounts| {
                    let document = model.document(counts);
                    match self {
                        Similarity::Wrd => wmd::word_rotator_document(model.space(), &document),
                        _ => Ok(document),
                    }
                };
                let distance = |pair: &[WordCounts]| {
                    let (first, second) = (document(&pair[0])?, document(&pair[1])?);
                    if first.is_empty() || second.is_empty() {
                        return Ok(FARTHEST);
                    }
                    // Not the negative of 0, which would read as -0.
                    Ok(0.0 - wmd::distance(model.space(), &first, &second)?)
                };
                counts.par_chunks_exact(2).map(distance).collect()
            }
            Similarity::Average | Similarity::Tfidf | Similarity::Sif => {
                let n_components = usize::from(self == Similarity::Sif);
                let documents = Arc::new(fitter.finish_documents()?);
                let model = AveragedVectors::fit(documents, n_components, &counts)?;
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

fn blend(
    pairs: &[(impl AsRef<str> + Sync, impl AsRef<str> + Sync)],
    params: &EmbeddingParams,
    vectors: &Arc<WordVectors>,
    probabilities: Option<&WordProbabilities>,
) -> Result<Vec<f64>> {
    let mut scores = Similarity::Wme.of_pairs(pairs, params, vectors, probabilities)?;
    let texts = pairs.iter().flat_map(|(a, b)| [a.as_ref(), b.as_ref()]);
    let distinct: HashSet<&str> = texts.collect();
    if distinct.len() >= LEAST_TEXTS {
        let of_sif = Similarity::Sif.of_pairs(pairs, params, vectors, probabilities)?;
        for (score, of_sif) in scores.iter_mut().zip(of_sif) {
            *score = (1.0 - SIF_SHARE) * *score + SIF_SHARE * of_sif;
        }
    }
    Ok(scores)
}

fn with_model(model: &WordMoversEmbedding, counts: &[WordCounts]) -> Result<Vec<f64>> {
    let documents = model.documents().documents(counts);
    let rows = model.embed(&documents)?;
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
