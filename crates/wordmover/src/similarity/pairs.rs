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

/// How much of [`Similarity::Blend`] is WME's, SIF's and the aligned cosine's, chosen on
/// training files (docs/similarity-study.md).
const WME_SHARE: f64 = 0.25;
const SIF_SHARE: f64 = 0.25;
const ALIGNED_SHARE: f64 = 0.5;

/// So many distinct texts have a first principal component worth removing; the embedding
/// fills its own sample up with background documents below that, SIF has none.
const LEAST_TEXTS: usize = 256;

/// How similar two texts are, by one of several measures. Greater is more similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Similarity {
    /// Three cosines together: half is the mean cosine of the words that the best alignment
    /// pairs (one minus the Word Mover's Distance of SIF-weighted bags with cosines as ground
    /// costs), a quarter [`Wme`](Similarity::Wme), a quarter [`Sif`](Similarity::Sif). With
    /// fewer than 256 distinct texts there is no `Sif`, and the others keep their ratio.
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
    Blend "blend" "half the mean cosine of the words that the best alignment pairs, a quarter wme, a quarter sif (no sif with fewer than 256 distinct texts)",
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
        let corpus = Corpus::of(pairs, &self.settings(params), vectors, probabilities)?;
        match self {
            Similarity::Wmd | Similarity::Wrd => {
                let distances = corpus.distances(self == Similarity::Wrd)?;
                // Not the negative of 0, which would read as -0.
                let score = |distance: Option<f64>| distance.map_or(FARTHEST, |d| 0.0 - d);
                Ok(distances.into_iter().map(score).collect())
            }
            // Nothing to fit on: nothing is like anything.
            _ if corpus.is_empty() => Ok(vec![0.0; pairs.len()]),
            Similarity::Blend | Similarity::Wme | Similarity::Kernel => {
                with_model(&corpus.fitter.finish()?, &corpus.counts)
            }
            Similarity::Average | Similarity::Tfidf | Similarity::Sif => {
                let n_components = usize::from(self == Similarity::Sif);
                let documents = Arc::new(corpus.fitter.finish_documents()?);
                let model = AveragedVectors::fit(documents, n_components, &corpus.counts)?;
                let rows = model.embed(&corpus.counts)?;
                Ok(scores(&rows, model.dim()))
            }
        }
    }

    /// `params` with what the measure itself settles.
    fn settings(self, params: &EmbeddingParams) -> EmbeddingParams {
        let mut params = params.clone();
        match self {
            Similarity::Blend | Similarity::Wme => {}
            Similarity::Kernel => {
                params.post_processing = PostProcessing::Center;
                params.components = Components::Keep;
            }
            Similarity::Wmd => {
                params.documents.normalization = Normalization::Unit;
                params.documents.bag = all_words(Weighting::Nbow);
            }
            Similarity::Wrd => {
                params.documents.normalization = Normalization::None;
                params.documents.metric = Metric::Cosine;
                params.documents.bag = all_words(Weighting::Nbow);
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
        params
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

/// The texts of all pairs, and what was observed in them.
struct Corpus {
    fitter: Fitter,
    /// Of each pair's first text, then its second.
    counts: Vec<WordCounts>,
}

impl Corpus {
    fn of(
        pairs: &[(impl AsRef<str> + Sync, impl AsRef<str> + Sync)],
        params: &EmbeddingParams,
        vectors: &Arc<WordVectors>,
        probabilities: Option<&WordProbabilities>,
    ) -> Result<Corpus> {
        let fitter = Fitter::new(params.clone().check()?, vectors.clone());
        let mut fitter = fitter.word_probabilities(probabilities.cloned());
        let counts: Vec<WordCounts> = pairs
            .par_iter()
            .flat_map_iter(|(first, second)| {
                [first.as_ref(), second.as_ref()].map(|text| fitter.word_counts(text))
            })
            .collect();
        counts.iter().for_each(|counts| fitter.observe(counts));
        Ok(Corpus { fitter, counts })
    }

    /// Whether no text has a known word.
    fn is_empty(&self) -> bool {
        !self
            .counts
            .iter()
            .any(|counts| self.fitter.has_words(counts))
    }

    /// The exact distance of each pair's texts; none where one of them has no known word.
    fn distances(self, is_rotator: bool) -> Result<Vec<Option<f64>>> {
        if self.is_empty() {
            return Ok(vec![None; self.counts.len() / 2]);
        }
        let model = self.fitter.finish_documents()?;
        let document = |counts: &WordCounts| {
            let document = model.document(counts);
            if is_rotator {
                wmd::word_rotator_document(model.space(), &document)
            } else {
                Ok(document)
            }
        };
        let distance = |pair: &[WordCounts]| {
            let (first, second) = (document(&pair[0])?, document(&pair[1])?);
            if first.is_empty() || second.is_empty() {
                return Ok(None);
            }
            wmd::distance(model.space(), &first, &second).map(Some)
        };
        self.counts.par_chunks_exact(2).map(distance).collect()
    }
}

fn blend(
    pairs: &[(impl AsRef<str> + Sync, impl AsRef<str> + Sync)],
    params: &EmbeddingParams,
    vectors: &Arc<WordVectors>,
    probabilities: Option<&WordProbabilities>,
) -> Result<Vec<f64>> {
    let mut parts = vec![
        (
            ALIGNED_SHARE,
            aligned_cosines(pairs, params, vectors, probabilities)?,
        ),
        (
            WME_SHARE,
            Similarity::Wme.of_pairs(pairs, params, vectors, probabilities)?,
        ),
    ];
    let texts = pairs.iter().flat_map(|(a, b)| [a.as_ref(), b.as_ref()]);
    let distinct: HashSet<&str> = texts.collect();
    if distinct.len() >= LEAST_TEXTS {
        let of_sif = Similarity::Sif.of_pairs(pairs, params, vectors, probabilities)?;
        parts.push((SIF_SHARE, of_sif));
    }
    let total: f64 = parts.iter().map(|(share, _)| share).sum();
    let score = |i| {
        parts
            .iter()
            .map(|(share, scores)| share * scores[i])
            .sum::<f64>()
            / total
    };
    Ok((0..pairs.len()).map(score).collect())
}

/// The mean cosine of the words that the best alignment of two texts pairs, 0 where a text
/// has no known word: one minus the Word Mover's Distance with cosines as ground costs.
fn aligned_cosines(
    pairs: &[(impl AsRef<str> + Sync, impl AsRef<str> + Sync)],
    params: &EmbeddingParams,
    vectors: &Arc<WordVectors>,
    probabilities: Option<&WordProbabilities>,
) -> Result<Vec<f64>> {
    let mut params = params.clone();
    params.documents.metric = Metric::Cosine;
    params.documents.bag = all_words(Weighting::Sif);
    let corpus = Corpus::of(pairs, &params, vectors, probabilities)?;
    let cosine = |distance: Option<f64>| distance.map_or(0.0, |distance| 1.0 - distance);
    Ok(corpus.distances(false)?.into_iter().map(cosine).collect())
}

fn all_words(weighting: Weighting) -> BagRules {
    BagRules {
        weighting,
        max_words: 1 << 24,
        ..BagRules::default()
    }
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
