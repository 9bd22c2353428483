//! From a corpus to a model, one document at a time.

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
#[derive(Debug)]
pub struct Fitter {
    params: CheckedParams,
    vectors: Arc<WordVectors>,
    corpus: CorpusCounts,
    /// Documents that settle gamma.
    gamma_sample: Sample,
    /// Documents that the finish is fitted on; none if it needs none.
    finish_sample: Sample,
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

    /// Draws the random documents and settles gamma.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyCorpus`] if no document had a word to fit on.
    pub fn finish(self) -> Result<WordMoversEmbedding> {
        let params = self.params.get();
        let mut words = self.corpus.words();
        words.retain(|&word| self.corpus.frequency(word).occurrences >= params.bag.min_count);
        if words.is_empty() {
            return Err(Error::EmptyCorpus {
                n_documents: self.corpus.n_documents(),
            });
        }
        let space = WordSpace::new(self.vectors, params.normalization, &words)?;
        let sample = |n| {
            let (distribution, d_max) = (params.random_words, params.d_max);
            RandomDocuments::sample(&space, &words, distribution, n, d_max, params.seed)
        };
        let weighted = |sample: &[WordCounts]| -> Vec<Document> {
            let documents = sample
                .iter()
                .map(|counts| Document::from_counts(counts, &self.corpus, &params.bag));
            documents.filter(|document| !document.is_empty()).collect()
        };
        let gamma = match params.gamma {
            Gamma::Value(gamma) => Some(gamma),
            Gamma::None => None,
            Gamma::Auto => {
                let documents = weighted(&self.gamma_sample.documents);
                let random = sample(GAMMA_RANDOM_DOCUMENTS)?;
                Some(gamma_of(transform::distances(&space, &random, &documents)?))
            }
        };
        let random_documents = sample(params.n_features)?;
        let mut documents = Vec::new();
        if needs_finish(params) {
            documents = weighted(&self.finish_sample.documents);
            let (tokenizer, vectors) = (&params.tokenizer, space.vectors());
            let more = finish::background(documents.len(), params.seed, tokenizer, vectors);
            documents.extend(weighted(&more));
        }
        let mut model = WordMoversEmbedding {
            params: params.clone(),
            gamma,
            corpus: self.corpus,
            space,
            random_documents,
            finish: FittedFinish::default(),
        };
        if needs_finish(&model.params) {
            model.finish = model.fit_finish(&documents)?;
        }
        Ok(model)
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
#[derive(Debug)]
struct Sample {
    seed: u64,
    size: usize,
    n_seen: u64,
    documents: Vec<WordCounts>,
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
