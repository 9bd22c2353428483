//! From a corpus to a model, one document at a time.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::document::{CorpusCounts, Document, Weighting, WordCounts};
use crate::error::{Error, Result};
use crate::random_documents::{RandomDocuments, Stream};
use crate::space::WordSpace;
use crate::vectors::WordVectors;
use crate::word_probabilities::WordProbabilities;

use super::finish::{self, Finish, FittedFinish};
use super::model::WordMoversEmbedding;
use super::params::{CheckedParams, EmbeddingParams, Gamma};
use super::statistics::EmbeddingStatistics;
use super::transform;

/// Documents and random documents whose distances settle [`Gamma::Auto`].
const GAMMA_DOCUMENTS: usize = 256;
const GAMMA_RANDOM_DOCUMENTS: usize = 32;

/// The stream that picks documents; random documents use the low numbers.
const SAMPLE_STREAM: u64 = u64::MAX;

/// Sees a corpus once, in order, and makes the model.
///
/// Memory: the counts of the distinct words, and at most 1,280 documents.
///
/// ```
/// use std::sync::Arc;
/// use wordmover::{EmbeddingParams, Fitter, WordVectors};
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
    pub(super) params: CheckedParams,
    pub(super) vectors: Arc<WordVectors>,
    pub(super) corpus: CorpusCounts,
    /// Documents that settle gamma.
    pub(super) gamma_sample: Sample,
    /// Documents that the finish is fitted on; none if it needs none.
    pub(super) finish_sample: Sample,
}

impl Fitter {
    /// Ready for the first document. SIF weights use the built-in word probabilities
    /// unless [others](Self::word_probabilities) are given.
    #[must_use]
    pub fn new(params: CheckedParams, vectors: Arc<WordVectors>) -> Self {
        let seed = params.get().seed;
        let finish_size = match needs_finish(params.get()) {
            true => finish::sample_size(params.get().n_features),
            false => 0,
        };
        let mut corpus = CorpusCounts::default();
        if params.get().bag.weighting == Weighting::Sif
            && let Some(probabilities) = builtin_probabilities(&vectors)
        {
            corpus.set_probabilities(Some(probabilities));
        }
        Fitter {
            params,
            vectors,
            corpus,
            gamma_sample: Sample::new(seed, GAMMA_DOCUMENTS),
            finish_sample: Sample::new(seed, finish_size),
        }
    }

    /// Takes the probabilities of words, for SIF weights, from here; `None` takes them
    /// from the corpus itself.
    #[must_use]
    pub fn word_probabilities(mut self, probabilities: Option<WordProbabilities>) -> Self {
        self.corpus.set_probabilities(probabilities);
        self
    }

    /// Counts the words of a text as the model will.
    #[must_use]
    pub fn word_counts(&self, text: &str) -> WordCounts {
        WordCounts::from_text(text, &self.params.get().tokenizer, &self.vectors)
    }

    /// Takes note of the next document.
    pub fn observe(&mut self, counts: &WordCounts) {
        self.corpus.observe(counts);
        if !counts.words.is_empty() {
            self.gamma_sample.observe(counts);
            self.finish_sample.observe(counts);
        }
    }

    /// Documents seen so far.
    #[must_use]
    pub fn n_documents(&self) -> u64 {
        self.corpus.n_documents()
    }

    /// Draws the random documents, settles gamma and fits the finish. Who fits the same
    /// corpus with several gammas computes its [`distances`](Self::distances) once.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyCorpus`] if no document had a word to fit on.
    pub fn finish(self) -> Result<WordMoversEmbedding> {
        let drawn = self.draw()?;
        let gamma = match drawn.model.params.gamma {
            Gamma::Value(gamma) => Some(gamma),
            Gamma::None => None,
            Gamma::Auto => Some(drawn.auto_gamma()?),
        };
        let never = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
        let distances = drawn.finish_distances(never)?;
        Ok(drawn.scaled(gamma, distances))
    }

    /// Everything that gamma has no part in.
    pub(super) fn draw(self) -> Result<Drawn> {
        let params = self.params.get();
        let mut words = self.corpus.words();
        words.retain(|&word| self.corpus.frequency(word).occurrences >= params.bag.min_count);
        if words.is_empty() {
            return Err(Error::EmptyCorpus {
                n_documents: self.corpus.n_documents(),
            });
        }
        let space = WordSpace::new(self.vectors, params.normalization, &words)?;
        let weighted = |sample: &[WordCounts]| -> Vec<Document> {
            let documents = sample
                .iter()
                .map(|counts| Document::from_counts(counts, &self.corpus, &params.bag));
            documents.filter(|document| !document.is_empty()).collect()
        };
        let gamma_documents = weighted(&self.gamma_sample.documents);
        let mut finish_documents = Vec::new();
        if needs_finish(params) {
            finish_documents = weighted(&self.finish_sample.documents);
            let (n, tokenizer) = (finish_documents.len(), &params.tokenizer);
            let more = finish::background(n, params.seed, tokenizer, space.vectors());
            finish_documents.extend(weighted(&more));
        }
        let (distribution, d_max) = (params.random_words, params.d_max);
        let (n, seed) = (params.n_features, params.seed);
        Ok(Drawn {
            gamma_documents,
            finish_documents,
            model: WordMoversEmbedding {
                random_documents: RandomDocuments::sample(
                    &space,
                    &words,
                    distribution,
                    n,
                    d_max,
                    seed,
                )?,
                params: params.clone(),
                gamma: None,
                corpus: self.corpus,
                space,
                finish: FittedFinish::default(),
            },
            words,
        })
    }
}

/// A model that lacks gamma and what depends on it.
pub(super) struct Drawn {
    pub model: WordMoversEmbedding,
    /// What random words are drawn around.
    words: Vec<u32>,
    gamma_documents: Vec<Document>,
    finish_documents: Vec<Document>,
}

impl Drawn {
    /// What [`Gamma::Auto`] comes to.
    pub fn auto_gamma(&self) -> Result<f64> {
        let (params, space) = (&self.model.params, &self.model.space);
        let (distribution, d_max) = (params.random_words, params.d_max);
        let (n, seed) = (GAMMA_RANDOM_DOCUMENTS, params.seed);
        let random = RandomDocuments::sample(space, &self.words, distribution, n, d_max, seed)?;
        let never = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
        let distances = transform::distances(space, &random, &self.gamma_documents, never)?;
        Ok(gamma_of(distances))
    }

    /// The distances that the finish is fitted on.
    pub fn finish_distances(
        &self,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<Vec<f64>> {
        let (space, random) = (&self.model.space, &self.model.random_documents);
        transform::distances(space, random, &self.finish_documents, progress)
    }

    /// The model with a settled gamma.
    pub fn scaled(self, gamma: Option<f64>, finish_distances: Vec<f64>) -> WordMoversEmbedding {
        let mut model = self.model;
        model.gamma = gamma;
        if needs_finish(&model.params) {
            model.finish = model.fit_finish(finish_distances);
        }
        model
    }
}

/// Whether the features are anything but raw.
fn needs_finish(params: &EmbeddingParams) -> bool {
    params.finish != Finish::Raw || params.components.count() > 0
}

#[cfg(feature = "builtin-vectors")]
fn builtin_probabilities(vectors: &WordVectors) -> Option<WordProbabilities> {
    Some(WordProbabilities::builtin(vectors))
}

#[cfg(not(feature = "builtin-vectors"))]
fn builtin_probabilities(_vectors: &WordVectors) -> Option<WordProbabilities> {
    None
}

/// One over the median; 1 where that says nothing.
fn gamma_of(mut distances: Vec<f64>) -> f64 {
    distances.sort_unstable_by(f64::total_cmp);
    match distances.get(distances.len() / 2) {
        Some(&median) if median > 0.0 => 1.0 / median,
        _ => 1.0,
    }
}

/// A uniform sample of the documents that have a known word (reservoir sampling).
#[derive(Debug, Clone)]
pub(super) struct Sample {
    seed: u64,
    size: usize,
    n_seen: u64,
    pub documents: Vec<WordCounts>,
}

impl Sample {
    fn new(seed: u64, size: usize) -> Self {
        Sample {
            seed,
            size,
            n_seen: 0,
            documents: Vec::new(),
        }
    }

    fn observe(&mut self, counts: &WordCounts) {
        if self.documents.len() < self.size {
            self.documents.push(counts.clone());
        } else if self.size > 0 {
            // A stream per document keeps this free of state that could go astray.
            let mut stream = Stream::new(self.seed ^ self.n_seen, SAMPLE_STREAM);
            let position = stream.below(self.n_seen + 1) as usize;
            if let Some(place) = self.documents.get_mut(position) {
                place.clone_from(counts);
            }
        }
        self.n_seen += 1;
    }
}
