//! The fitted model: documents to vectors.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use rayon::prelude::*;

use crate::document::{CorpusCounts, Document, WordCounts};
use crate::error::Result;
use crate::random_documents::RandomDocuments;
use crate::space::WordSpace;
use crate::vectors::WordVectors;

use super::finish::FittedFinish;
use super::fit::Fitter;
use super::params::EmbeddingParams;
use super::statistics::EmbeddingStatistics;
use super::transform::{self, Precision, Transform};

/// The features of a document without a known word.
const EMPTY: f32 = 0.0;

/// A fitted Word Mover's Embedding.
///
/// Feature `j` of a document `x` is `exp(-gamma * WMD(x, omega_j)) / sqrt(R)` for
/// the random documents `omega_j`, and then [finished](crate::Finish): centred and
/// scaled unless asked otherwise, so that cosines of embeddings tell documents apart.
/// With [`Finish::Raw`](crate::Finish::Raw), inner products of two embeddings estimate
/// the Word Mover's Kernel. The embedding of a document depends on the document and the
/// model alone: not on the documents beside it, the batch size or the threads.
///
/// The distances behind them come from ground costs in single precision and are good to 2e-7
/// of their value or better. Those of [`distances`](WordMoversEmbedding::distances) are in
/// double precision throughout.
///
/// A document without a known word is infinitely far from everything. Its features
/// are all 0, raw or finished.
///
/// ```
/// use std::sync::Arc;
/// use wordmover::{EmbeddingParams, WordMoversEmbedding, WordVectors};
///
/// let texts = ["Obama speaks to the media in Illinois",
///              "The president greets the press in Chicago",
///              "The band gave a concert in Japan"];
/// let params = EmbeddingParams::default().n_features(256);
/// let model = WordMoversEmbedding::fit(params, Arc::new(WordVectors::builtin()), &texts)?;
/// let z = model.transform(&texts)?;
/// assert_eq!(z.len(), 3 * 256);
/// # Ok::<(), wordmover::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct WordMoversEmbedding {
    pub(crate) params: EmbeddingParams,
    /// `None`: raw distances.
    pub(crate) gamma: Option<f64>,
    pub(crate) corpus: CorpusCounts,
    pub(crate) space: WordSpace,
    pub(crate) random_documents: RandomDocuments,
    pub(crate) finish: FittedFinish,
}

impl WordMoversEmbedding {
    /// Fits a model on texts; see [`Fitter`] to do so in a stream.
    ///
    /// # Errors
    ///
    /// A parameter is out of range, or no text has a known word.
    pub fn fit(
        params: EmbeddingParams,
        vectors: Arc<WordVectors>,
        texts: &[impl AsRef<str>],
    ) -> Result<Self> {
        let mut fitter = Fitter::new(params.check()?, vectors);
        for text in texts {
            let counts = fitter.word_counts(text.as_ref());
            fitter.observe(&counts);
        }
        fitter.finish()
    }

    /// Embeds texts: a row of [`n_features`](Self::n_features) for each.
    ///
    /// # Errors
    ///
    /// A word vector holds a value that is not finite.
    pub fn transform(&self, texts: &[impl AsRef<str> + Sync]) -> Result<Vec<f32>> {
        let documents: Vec<Document> = texts
            .par_iter()
            .map(|text| self.document(&self.word_counts(text.as_ref())))
            .collect();
        self.embed(&documents)
    }

    /// Counts the known words of a text.
    #[must_use]
    pub fn word_counts(&self, text: &str) -> WordCounts {
        WordCounts::from_text(text, &self.params.tokenizer, self.space.vectors())
    }

    /// Weighs counted words as the model was fitted to.
    #[must_use]
    pub fn document(&self, counts: &WordCounts) -> Document {
        Document::from_counts(counts, &self.corpus, &self.params.bag)
    }

    /// Embeds documents: a row of [`n_features`](Self::n_features) for each.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform).
    pub fn embed(&self, documents: &[Document]) -> Result<Vec<f32>> {
        let mut out = vec![0.0; documents.len() * self.n_features()];
        self.embed_into(documents, &mut out, &mut |_| ControlFlow::Continue(()))?;
        Ok(out)
    }

    /// Embeds documents into a buffer of the caller's, row by row. Now and then
    /// `progress` hears what was done since the last time, out of
    /// `documents.len() * n_features()` distances, and may break off.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform), and [`crate::Error::Interrupted`].
    ///
    /// # Panics
    ///
    /// If `out` is not `documents.len() * n_features()` long.
    pub fn embed_into(
        &self,
        documents: &[Document],
        out: &mut [f32],
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let scale = self.scale();
        let feature = |j, distance| self.feature(j, distance, scale);
        self.features_transform()
            .map_distances(documents, out, EMPTY, feature, progress)?;
        // A row of zeros stays one.
        self.finish.scale_components(out, self.n_features());
        Ok(())
    }

    /// What features are made with.
    fn features_transform(&self) -> Transform<'_> {
        Transform {
            space: &self.space,
            random_documents: &self.random_documents,
            precision: Precision::Single,
        }
    }

    /// A distance to its feature, but for the components.
    fn feature(&self, j: usize, distance: f64, scale: f64) -> f32 {
        self.finish.feature(j, self.raw_feature(distance, scale)) as f32
    }

    /// What a distance becomes before it is finished.
    fn raw_feature(&self, distance: f64, scale: f64) -> f64 {
        match self.gamma {
            Some(gamma) => libm::exp(-gamma * distance) * scale,
            None => distance,
        }
    }

    /// `1 / sqrt(R)`.
    fn scale(&self) -> f64 {
        1.0 / (self.n_features() as f64).sqrt()
    }

    /// Fits the finish on the [distances](Self::distances) of documents, none of them
    /// empty.
    pub(super) fn fit_finish(&self, distances: Vec<f64>) -> FittedFinish {
        let (finish, components) = (self.params.finish, self.params.components);
        let (mut rows, scale) = (distances, self.scale());
        rows.par_iter_mut()
            .for_each(|x| *x = self.raw_feature(*x, scale));
        FittedFinish::fit(finish, components, self.n_features(), rows)
    }

    /// The exact distances from every document to every random document, row by
    /// row, in double precision: what the features are made of. Infinity for documents without words.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform).
    pub fn distances(&self, documents: &[Document]) -> Result<Vec<f64>> {
        let never = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
        transform::distances(&self.space, &self.random_documents, documents, never)
    }

    /// The distances that [`embed`](Self::embed) makes features of, for
    /// [`features_of`](Self::features_of): their ground costs are in single precision,
    /// unlike those of [`distances`](Self::distances). Into a buffer of the caller's, with
    /// `progress` as in [`embed_into`](Self::embed_into).
    ///
    /// # Errors
    ///
    /// As [`embed_into`](Self::embed_into).
    ///
    /// # Panics
    ///
    /// As [`embed_into`](Self::embed_into).
    pub fn feature_distances_into(
        &self,
        documents: &[Document],
        out: &mut [f64],
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        self.features_transform()
            .map_distances(documents, out, f64::INFINITY, |_, d| d, progress)
    }

    /// [`feature_distances_into`](Self::feature_distances_into) for some of the random
    /// documents, rounded to f32: for those who compute and keep distances in tiles.
    ///
    /// # Errors
    ///
    /// As [`embed_into`](Self::embed_into).
    ///
    /// # Panics
    ///
    /// If there are no such random documents, or `out` is not `documents.len()` times
    /// their number long.
    pub fn distances_into(
        &self,
        documents: &[Document],
        random_documents: Range<usize>,
        out: &mut [f32],
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let transform = Transform {
            random_documents: &self.random_documents.range(random_documents),
            ..self.features_transform()
        };
        let round = |_, distance| distance as f32;
        transform.map_distances(documents, out, f32::INFINITY, round, progress)
    }

    /// The features that distances of
    /// [`feature_distances_into`](Self::feature_distances_into) make, to the bit those of
    /// [`embed`](Self::embed). Distances do not depend on gamma: kept, they serve models
    /// that differ in gamma alone, and in what depends on it.
    #[must_use]
    pub fn features_of(&self, distances: &[f64]) -> Vec<f32> {
        let (n_features, scale) = (self.n_features(), self.scale());
        let or_empty = |(i, &distance): (usize, &f64)| match distance {
            f64::INFINITY => EMPTY,
            distance => self.feature(i % n_features, distance, scale),
        };
        let mut features: Vec<f32> = distances.par_iter().enumerate().map(or_empty).collect();
        self.finish.scale_components(&mut features, n_features);
        features
    }

    /// Number of features (`R` in the paper).
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.random_documents.len()
    }

    /// The settled gamma; `None` if the features are raw distances.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        self.gamma
    }

    /// The parameters it was fitted with.
    #[must_use]
    pub fn params(&self) -> &EmbeddingParams {
        &self.params
    }

    /// The word vectors under the model's normalisation.
    #[must_use]
    pub fn space(&self) -> &WordSpace {
        &self.space
    }

    /// The word counts of the corpus it was fitted on.
    #[must_use]
    pub fn corpus(&self) -> &CorpusCounts {
        &self.corpus
    }

    /// The random documents.
    #[must_use]
    pub fn random_documents(&self) -> &RandomDocuments {
        &self.random_documents
    }
}

/// The inner product `<Z(x), Z(y)>` of two embeddings: an estimate of the Word Mover's
/// Kernel if their features are [raw](crate::Finish::Raw).
///
/// # Panics
///
/// If they differ in length.
#[must_use]
pub fn kernel(x: &[f32], y: &[f32]) -> f64 {
    assert_eq!(x.len(), y.len(), "embeddings of one model");
    x.iter()
        .zip(y)
        .map(|(&a, &b)| f64::from(a) * f64::from(b))
        .sum()
}
