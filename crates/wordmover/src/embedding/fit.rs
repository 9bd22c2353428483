//! From a corpus to a model, one document at a time: drawing, then scaling.
//!
//! Everything that takes time does not depend on gamma. It is a value of its own, the
//! [`DrawnEmbedding`]: to try several gammas, draw once and [scale](DrawnEmbedding::scale)
//! for each.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::accelerator::Accelerator;
use crate::checked::Checked;
use crate::content_hash::ContentHash;
use crate::document::{Document, Word, WordCounts};
use crate::document_model::{DocumentFitter, DocumentModel};
use crate::error::Result;
use crate::random_documents::{RandomDocuments, RandomWords};
use crate::vectors::WordVectors;
use crate::word_probabilities::WordProbabilities;

use super::features::RawFeature;
use super::model::WordMoversEmbedding;
use super::params::{EmbeddingParams, Gamma};
use super::post_processing::{FittedPostProcessing, PostProcessing};
use super::sample::{self, Sample, SampleDistances};
use super::small_block::PreparedTiles;
use super::statistics::EmbeddingStatistics;
use super::transform::{CostPrecision, Threads, Transform};

/// Documents and random documents whose distances settle [`Gamma::Auto`].
pub(crate) const GAMMA_DOCUMENTS: usize = 256;
pub(crate) const GAMMA_RANDOM_DOCUMENTS: usize = 32;

/// Documents that random documents can be parts of, at most.
const LANDMARKS: usize = 1 << 16;

/// Sees a corpus once, in order, and makes the model.
///
/// Memory: the counts of the distinct words, and at most 1,280 documents; 66,816 if random
/// documents are parts of documents.
///
/// ```
/// use std::sync::Arc;
/// use wordmover::{EmbeddingParams, WordVectors, embedding::Fitter};
///
/// let vectors = Arc::new(WordVectors::builtin());
/// let mut fitter = Fitter::new(EmbeddingParams::default().n_features(64).check()?, vectors);
/// for text in ["Obama speaks to the media in Illinois", "A cat sat on the mat"] {
///     let counts = fitter.word_counts(text);
///     fitter.observe(&counts);
/// }
/// let model = fitter.finish()?;
/// assert_eq!(model.n_features(), 64);
/// # Ok::<(), wordmover::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fitter {
    params: Checked<EmbeddingParams>,
    documents: DocumentFitter,
    /// Documents that settle gamma.
    gamma_sample: Sample<WordCounts>,
    /// Documents that the post-processing is fitted on; none if there is none.
    sample: Sample<WordCounts>,
    /// Documents that random documents are parts of; none unless they are.
    landmarks: Sample<WordCounts>,
}

impl Fitter {
    /// Ready for the first document. SIF weights use the built-in word probabilities
    /// unless [others](Self::word_probabilities) are given.
    #[must_use]
    pub fn new(params: Checked<EmbeddingParams>, vectors: Arc<WordVectors>) -> Self {
        let seed = params.seed;
        let sample_size = match needs_sample(&params) {
            true => sample::sample_size(params.n_features),
            false => 0,
        };
        let n_landmarks = match params.random_words {
            RandomWords::Documents => LANDMARKS,
            _ => 0,
        };
        let documents = Checked::new(params.documents.clone());
        let documents = DocumentFitter::new(documents, vectors);
        let mut params = params.into_inner();
        params.documents = documents.params().clone();
        Fitter {
            params: Checked::new(params),
            documents,
            gamma_sample: Sample::new(seed, GAMMA_DOCUMENTS),
            sample: Sample::new(seed, sample_size),
            landmarks: Sample::new(seed, n_landmarks),
        }
    }

    /// Takes the probabilities of words, for SIF weights, from here; `None` takes them
    /// from the corpus itself.
    #[must_use]
    pub fn word_probabilities(mut self, probabilities: Option<WordProbabilities>) -> Self {
        self.documents = self.documents.word_probabilities(probabilities);
        self
    }

    /// Has distances computed by an [accelerator](crate::accelerator), here and in the model.
    #[must_use]
    pub fn accelerator(mut self, accelerator: Option<Arc<dyn Accelerator>>) -> Self {
        self.documents = self.documents.accelerator(accelerator);
        self
    }

    /// Counts the words of a text as the model will.
    #[must_use]
    pub fn word_counts(&self, text: &str) -> WordCounts {
        self.documents.word_counts(text)
    }

    /// Takes note of the next document.
    pub fn observe(&mut self, counts: &WordCounts) {
        self.documents.observe(counts);
        if self.documents.has_words(counts) {
            self.gamma_sample.observe(counts);
            self.sample.observe(counts);
            self.landmarks.observe(counts);
        }
    }

    /// Whether a document has a word with a vector.
    #[must_use]
    pub fn has_words(&self, counts: &WordCounts) -> bool {
        self.documents.has_words(counts)
    }

    /// Documents seen so far.
    #[must_use]
    pub fn n_documents(&self) -> u64 {
        self.documents.corpus().n_documents()
    }

    /// Names what [`draw`](Self::draw) computes by the content it depends on: a SHA-256 of
    /// word vectors, counts and parameters. Gamma is not among these.
    #[must_use]
    pub fn key(&self) -> String {
        let params = EmbeddingParams::clone(&self.params).gamma(Gamma::None);
        let corpus = self.documents.corpus();
        let words = corpus.words();
        let unknown = corpus.unknown();
        let known = words.iter().map(|&word| Word::Known(word));
        let all = known.chain(unknown.iter().map(|&word| Word::Unknown(word)));
        let frequencies: Vec<_> = all.map(|word| corpus.frequency(word)).collect();
        let probabilities = corpus.probabilities().map_or(&[][..], |p| p.values());
        let mut hash = ContentHash::new("drawn-2")
            .bytes(self.documents.vectors().checksum().as_bytes())
            .json(&params)
            .numbers([corpus.n_documents()].into_iter())
            .numbers(words.iter().map(|&word| u64::from(word)))
            .json(&unknown)
            .numbers(frequencies.iter().map(|frequency| frequency.documents))
            .numbers(frequencies.iter().map(|frequency| frequency.occurrences))
            .numbers(probabilities.iter().map(|p| u64::from(p.to_bits())));
        if !self.documents.accelerator_name().is_empty() {
            hash = hash.bytes(self.documents.accelerator_name().as_bytes());
        }
        for sample in [&self.gamma_sample, &self.sample, &self.landmarks] {
            hash = hash.numbers([sample.documents.len() as u64].into_iter());
            for counts in &sample.documents {
                let pair = |&(word, count): &(u32, u32)| u64::from(word) << 32 | u64::from(count);
                hash = hash.numbers(counts.words.iter().map(pair));
                hash = hash.json(&counts.unknown);
            }
        }
        hash.hex()
    }

    /// Draws the random documents, settles gamma and fits the post-processing.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyCorpus`](crate::Error::EmptyCorpus) if no document had a word to fit on.
    pub fn finish(self) -> Result<WordMoversEmbedding> {
        let gamma = self.params.gamma;
        let drawn = self.draw(&mut |_| ControlFlow::Continue(()))?;
        drawn.scale(gamma)
    }

    /// How texts become documents, alone: for what needs no random documents.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_documents(self) -> Result<DocumentModel> {
        self.documents.finish()
    }

    /// Draws the random documents and computes all distances that fitting needs.
    /// `progress` is called with the work done since the last call and may break off.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish), and [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn draw(
        self,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<DrawnEmbedding> {
        let params = self.params.into_inner();
        let documents = self.documents.finish()?;
        let documents = Arc::new(documents.with_landmarks(&self.landmarks.documents));
        let random_documents = draw(&documents, &params, params.n_features)?;
        let gamma_documents = self.gamma_sample.weighted(&documents);
        let auto_gamma = auto_gamma(&documents, &params, &gamma_documents, progress)?;
        let (mut sampled, mut n_distinct) = (Vec::new(), 0);
        if needs_sample(&params) {
            sampled = self.sample.weighted(&documents);
            n_distinct = sample::n_distinct(&sampled);
            sampled.extend(sample::background(n_distinct, params.seed, &documents));
        }
        let distances = distances(&documents, &random_documents, &sampled, progress)?;
        Ok(DrawnEmbedding {
            n_sampled: self.sample.documents.len(),
            n_distinct,
            sample: SampleDistances::new(&sampled, distances),
            params,
            documents,
            random_documents,
            auto_gamma,
        })
    }

    /// About how many distances [`draw`](Self::draw) computes, for progress bars: how many
    /// background documents are added shows only then.
    #[must_use]
    pub fn n_distances(&self) -> u64 {
        let gamma = self.gamma_sample.documents.len() * GAMMA_RANDOM_DOCUMENTS;
        let sampled = match needs_sample(&self.params) {
            true => self.sample.documents.len().max(sample::ENOUGH),
            false => 0,
        };
        (gamma + sampled * self.params.n_features) as u64
    }
}

/// An embedding without its gamma: random documents, and the distances that settle gamma
/// and the post-processing.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
/// use wordmover::{EmbeddingParams, WordVectors, embedding::{Fitter, Gamma}};
///
/// let params = EmbeddingParams::default().n_features(16).check()?;
/// let mut fitter = Fitter::new(params, Arc::new(WordVectors::builtin()));
/// for text in ["Obama speaks to the media in Illinois", "A cat sat on the mat"] {
///     let counts = fitter.word_counts(text);
///     fitter.observe(&counts);
/// }
/// let drawn = fitter.draw(&mut |_| ControlFlow::Continue(()))?;
/// let wide = drawn.scale(Gamma::Value(0.5))?;
/// let narrow = drawn.scale(Gamma::Value(5.0))?;
/// assert_eq!(wide.random_documents(), narrow.random_documents());
/// # Ok::<(), wordmover::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DrawnEmbedding {
    params: EmbeddingParams,
    documents: Arc<DocumentModel>,
    random_documents: RandomDocuments,
    auto_gamma: f64,
    sample: SampleDistances,
    n_sampled: usize,
    n_distinct: usize,
}

impl DrawnEmbedding {
    /// The model with a gamma.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`](crate::Error::InvalidParameter) if gamma is not a
    /// positive finite number.
    pub fn scale(&self, gamma: Gamma) -> Result<WordMoversEmbedding> {
        let params = self.params.clone().gamma(gamma).check()?.into_inner();
        let gamma = match gamma {
            Gamma::Value(gamma) => Some(gamma),
            Gamma::None => None,
            Gamma::Auto => Some(self.auto_gamma),
        };
        let mut post_processing = FittedPostProcessing::default();
        if needs_sample(&params) {
            let raw = RawFeature::new(gamma, params.n_features);
            post_processing = FittedPostProcessing::fit(
                params.post_processing,
                params.components,
                params.n_features,
                raw,
                self.sample.all(),
            );
        }
        Ok(WordMoversEmbedding {
            params,
            gamma,
            documents: self.documents.clone(),
            random_documents: self.random_documents.clone(),
            post_processing,
            rounds_distances: true,
            sample: self.sample.clone(),
            prepared: PreparedTiles::default(),
        })
    }

    /// How texts become documents.
    #[must_use]
    pub fn documents(&self) -> &Arc<DocumentModel> {
        &self.documents
    }

    /// Documents that the post-processing was fitted on, and how many of them differ from
    /// each other. Where that is few, background documents were added.
    #[must_use]
    pub fn sample_variety(&self) -> (usize, usize) {
        (self.n_sampled, self.n_distinct)
    }

    /// Memory its distances and random documents take, in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        let random = self
            .random_documents
            .words_of_range(0..self.params.n_features);
        size_of_val(self.sample.all()) + size_of_val(random)
    }
}

/// Whether the features are anything but raw.
pub(super) fn needs_sample(params: &EmbeddingParams) -> bool {
    params.post_processing != PostProcessing::Raw || params.components.count() > 0
}

/// The first `n` random documents of an embedding with these parameters; those of more
/// begin with them.
pub(super) fn draw(
    documents: &DocumentModel,
    params: &EmbeddingParams,
    n: usize,
) -> Result<RandomDocuments> {
    RandomDocuments::sample(documents, params.random_words, n, params.d_max, params.seed)
}

/// One over the median distance between sampled documents and the first random documents;
/// 1 where that says nothing.
fn auto_gamma(
    documents: &DocumentModel,
    params: &EmbeddingParams,
    sampled: &[Document],
    progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
) -> Result<f64> {
    let random = draw(documents, params, GAMMA_RANDOM_DOCUMENTS)?;
    let distances = distances(documents, &random, sampled, progress)?;
    Ok(inverse_median(distances))
}

/// One over the median of distances; 1 where that says nothing.
pub(crate) fn inverse_median(mut distances: Vec<f32>) -> f64 {
    distances.sort_unstable_by(f32::total_cmp);
    match distances.get(distances.len() / 2) {
        Some(&median) if median > 0.0 && median.is_finite() => 1.0 / f64::from(median),
        _ => 1.0,
    }
}

fn distances(
    documents: &DocumentModel,
    random_documents: &RandomDocuments,
    sampled: &[Document],
    progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
) -> Result<Vec<f32>> {
    let transform = Transform {
        space: documents.space(),
        random_documents,
        precision: CostPrecision::Single,
        known: None,
        prepared: None,
        threads: Threads::All,
    };
    let mut out = vec![0.0; sampled.len() * random_documents.len()];
    let round = |_, distance| distance as f32;
    transform.map_distances(sampled, &mut out, f32::INFINITY, round, progress)?;
    Ok(out)
}
