//! The fitted model: documents to vectors.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use rayon::prelude::*;

use crate::accelerator::Accelerator;
use crate::content_hash::ContentHash;
use crate::document::{CorpusCounts, Document, WordCounts};
use crate::document_model::DocumentModel;
use crate::error::{Error, Result};
use crate::float_environment::IeeeArithmetic;
use crate::random_documents::RandomDocuments;
use crate::space::WordSpace;
use crate::vectors::WordVectors;

use super::features::{EMPTY, RawFeature};
use super::fit::{Fitter, draw, needs_sample};
use super::params::{EmbeddingParams, Gamma};
use super::post_processing::{Components, FittedPostProcessing, PostProcessing};
use super::sample::SampleDistances;
use super::small_block::PreparedTiles;
use super::statistics::EmbeddingStatistics;
use super::transform::{self, CostPrecision, Threads, Transform};

/// A fitted Word Mover's Embedding.
///
/// Feature `j` of a document `x` is `exp(-gamma * WMD(x, omega_j)) / sqrt(R)` for
/// the random documents `omega_j`, and then [post-processed](crate::embedding::PostProcessing): centred
/// and scaled unless asked otherwise, so that cosines of embeddings tell documents apart.
/// With [`PostProcessing::Raw`](crate::embedding::PostProcessing::Raw), inner products of two embeddings estimate
/// the Word Mover's Kernel. The embedding of a document depends on the document and the
/// model alone: not on the documents beside it, the batch size or the threads.
///
/// The distances behind them come from ground costs in single precision and are good to 2e-7
/// of their value or better. Those of [`distances`](WordMoversEmbedding::distances) are in
/// double precision throughout.
///
/// A document without a known word is infinitely far from everything. Its features
/// are all 0, raw or post-processed.
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
    pub(crate) documents: Arc<DocumentModel>,
    pub(crate) random_documents: RandomDocuments,
    pub(crate) post_processing: FittedPostProcessing,
    /// Whether features are made of distances in single precision; not so in models of the
    /// file versions 1 and 2, which keep the bits they had.
    pub(crate) rounds_distances: bool,
    /// Distances of documents that it was fitted on, as long as it stays in memory.
    pub(crate) sample: SampleDistances,
    /// For a few documents at a time.
    pub(crate) prepared: PreparedTiles,
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

    /// The embedding of the paper for documents whose model was fitted before: random
    /// documents are drawn and nothing else is computed. The document model settles how texts
    /// become documents; the parameters' own say in it is not used.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if a parameter is out of range, or needs distances to
    /// settle: gamma must be a value or none, and the features raw.
    pub fn draw(params: EmbeddingParams, documents: Arc<DocumentModel>) -> Result<Self> {
        let mut params = params.check()?.into_inner();
        let refused = |name, value: String, requirement| {
            Err(Error::InvalidParameter {
                name,
                value,
                requirement,
            })
        };
        if needs_sample(&params) {
            let value = format!("{}, {}", params.post_processing, params.components);
            return refused("post_processing", value, "raw, and components kept");
        }
        let gamma = match params.gamma {
            Gamma::Value(gamma) => Some(gamma),
            Gamma::None => None,
            Gamma::Auto => return refused("gamma", "auto".to_owned(), "a number or none"),
        };
        params.documents = documents.params();
        Ok(WordMoversEmbedding {
            random_documents: draw(&documents, &params, params.n_features)?,
            params,
            gamma,
            documents,
            post_processing: FittedPostProcessing::default(),
            rounds_distances: true,
            sample: SampleDistances::default(),
            prepared: PreparedTiles::default(),
        })
    }

    /// The same model, with distances computed by an [accelerator](crate::accelerator).
    /// Models of the file versions 1 and 2 keep the bits they had, and so the CPU.
    #[must_use]
    pub fn with_accelerator(mut self, accelerator: Option<Arc<dyn Accelerator>>) -> Self {
        if self.rounds_distances {
            let documents = DocumentModel::clone(&self.documents);
            self.documents = Arc::new(documents.with_accelerator(accelerator));
        }
        self
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
        self.documents.word_counts(text)
    }

    /// Weighs counted words as the model was fitted to.
    #[must_use]
    pub fn document(&self, counts: &WordCounts) -> Document {
        self.documents.document(counts)
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

    /// Embeds documents into a buffer of the caller's, row by row. `progress` is called with
    /// the work done since the last call, out of `documents.len() * n_features()` distances,
    /// and may break off.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform), [`Error::Interrupted`], and
    /// [`Error::NotFinite`] if values of the model are so large that a feature overflows.
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
        self.embed_by(Threads::All, documents, out, progress)
    }

    /// Embeds one document on the calling thread: no thread pool is touched (but by an
    /// [accelerator](crate::accelerator), which takes no notice of threads). For callers that
    /// have threads of their own, and where waking others would take longer than the work. The
    /// bits of [`embed`](Self::embed).
    ///
    /// # Errors
    ///
    /// As [`embed_into`](Self::embed_into).
    pub fn embed_one(&self, document: &Document) -> Result<Vec<f32>> {
        // The caller's thread may round otherwise than ours.
        let _ieee = IeeeArithmetic::enter();
        let mut out = vec![0.0; self.n_features()];
        let document = std::slice::from_ref(document);
        let never = &mut |_: &_| ControlFlow::Continue(());
        self.embed_by(Threads::Caller, document, &mut out, never)?;
        Ok(out)
    }

    fn embed_by(
        &self,
        threads: Threads,
        documents: &[Document],
        out: &mut [f32],
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<()> {
        let raw = self.raw_feature();
        let feature = |j, distance: f64| {
            // Distances are kept and shared in single precision, so features are made of it.
            let distance = match self.rounds_distances {
                true => f64::from(distance as f32),
                false => distance,
            };
            self.post_processing.feature(j, raw.of(distance)) as f32
        };
        let transform = Transform {
            threads,
            ..self.features_transform()
        };
        transform.map_distances(documents, out, EMPTY, feature, progress)?;
        self.complete(out)
    }

    /// The features that distances of [`distances_into`](Self::distances_into) make, to the
    /// bit those of [`embed`](Self::embed) (but for models of the file versions 1 and 2,
    /// whose features are made of unrounded distances). Distances do not depend on gamma:
    /// kept, they serve models that differ in gamma alone, and in what depends on it.
    ///
    /// # Errors
    ///
    /// As [`embed_into`](Self::embed_into).
    pub fn features_of(&self, distances: &[f32]) -> Result<Vec<f32>> {
        let mut features = distances.to_vec();
        self.make_features(&mut features)?;
        Ok(features)
    }

    /// [`features_of`](Self::features_of) in the place of the distances.
    ///
    /// # Errors
    ///
    /// As [`embed_into`](Self::embed_into).
    pub fn make_features(&self, distances: &mut [f32]) -> Result<()> {
        let (n_features, raw) = (self.n_features(), self.raw_feature());
        let feature = |(i, x): (usize, &mut f32)| {
            *x = match *x {
                f32::INFINITY => EMPTY,
                distance => {
                    let raw = raw.of(f64::from(distance));
                    self.post_processing.feature(i % n_features, raw) as f32
                }
            };
        };
        distances
            .par_iter_mut()
            .enumerate()
            .for_each_init(IeeeArithmetic::enter, |_, x| feature(x));
        self.complete(distances)
    }

    /// The same embedding with post-processing fitted on some documents, which are given by
    /// their distances to its random documents, row by row: for callers that have these
    /// anyway, where a [`Fitter`] would compute a sample's once more. Every document must have
    /// a known word.
    #[must_use]
    pub fn post_processed(mut self, how: PostProcessing, distances: &[f32]) -> Self {
        let (components, n_features) = (Components::Keep, self.n_features());
        let raw = self.raw_feature();
        self.post_processing =
            FittedPostProcessing::fit(how, components, n_features, raw, distances);
        self.params.post_processing = how;
        self.params.components = components;
        self
    }

    /// Whether [`features_of`](Self::features_of) gives the bits of [`embed`](Self::embed):
    /// true but for models of the file versions 1 and 2.
    #[must_use]
    pub fn shares_distances(&self) -> bool {
        self.rounds_distances
    }

    /// The last step to features: components, length, and a look at whether all is finite.
    fn complete(&self, rows: &mut [f32]) -> Result<()> {
        // A row of zeros stays one.
        self.post_processing.complete(rows, self.n_features());
        match rows.iter().position(|x| !x.is_finite()) {
            Some(position) => Err(Error::NotFinite {
                row: position / self.n_features(),
                column: position % self.n_features(),
            }),
            None => Ok(()),
        }
    }

    /// What features are made with.
    fn features_transform(&self) -> Transform<'_> {
        Transform {
            space: self.space(),
            random_documents: &self.random_documents,
            precision: CostPrecision::Single,
            known: Some(&self.sample).filter(|_| self.rounds_distances),
            prepared: Some(&self.prepared),
            threads: Threads::All,
        }
    }

    fn raw_feature(&self) -> RawFeature {
        RawFeature::new(self.gamma, self.n_features())
    }

    /// The exact distances from every document to every random document, row by row, with
    /// everything in double precision. Infinity for documents without words.
    ///
    /// # Errors
    ///
    /// As [`transform`](Self::transform).
    pub fn distances(&self, documents: &[Document]) -> Result<Vec<f64>> {
        let never = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
        transform::distances(self.space(), &self.random_documents, documents, never)
    }

    /// The distances that [`embed`](Self::embed) makes features of, for
    /// [`features_of`](Self::features_of), to some of the random documents: in single
    /// precision, good to 2e-7 of their value. Infinity for documents without words.
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
        let all = random_documents == (0..self.n_features());
        let some;
        let mut transform = self.features_transform();
        if !all {
            some = self.random_documents.range(random_documents);
            transform = Transform {
                random_documents: &some,
                known: None,
                prepared: None,
                ..transform
            };
        }
        let round = |_, distance| distance as f32;
        transform.map_distances(documents, out, f32::INFINITY, round, progress)
    }

    /// Names the [distances](Self::distances_into) from these documents to all random
    /// documents: equal names are equal distances. Gamma is not part of it.
    #[must_use]
    pub fn distances_key(&self, documents: &[Document]) -> String {
        let hash = ContentHash::new("distances-2").documents(self.space(), documents);
        self.random_documents.hash(hash, 0..self.n_features()).hex()
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

    /// How texts become documents.
    #[must_use]
    pub fn documents(&self) -> &Arc<DocumentModel> {
        &self.documents
    }

    /// The word vectors under the model's normalisation.
    #[must_use]
    pub fn space(&self) -> &WordSpace {
        self.documents.space()
    }

    /// The word counts of the corpus it was fitted on.
    #[must_use]
    pub fn corpus(&self) -> &CorpusCounts {
        self.documents.corpus()
    }

    /// The same model without what its corpus says of words.
    pub(crate) fn without_word_counts(&self) -> Self {
        WordMoversEmbedding {
            documents: Arc::new(self.documents.without_word_counts()),
            ..self.clone()
        }
    }

    /// The random documents.
    #[must_use]
    pub fn random_documents(&self) -> &RandomDocuments {
        &self.random_documents
    }
}

/// The inner product `<Z(x), Z(y)>` of two embeddings: an estimate of the Word Mover's
/// Kernel if their features are [raw](crate::embedding::PostProcessing::Raw).
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
