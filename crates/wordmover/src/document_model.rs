//! From text to weighted document: the one owner of that step.
//!
//! A [`DocumentModel`] holds all that decides how a text becomes a [`Document`]: word
//! vectors and their normalisation, the tokenizer, what the corpus says of its words, and
//! the rules of weighting. Embeddings, indexes, classifiers and similarities each hold
//! one; none of them counts or weighs words on its own.

use std::borrow::Borrow;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::accelerator::Accelerator;
use crate::checked::{Checked, within};
use crate::document::{BagRules, CorpusCounts, Document, Weighting, Word, WordCounts, WordFactors};
use crate::error::{Error, Result};
use crate::space::{Metric, Normalization, UnknownWords, WordSpace};
use crate::text::Tokenizer;
use crate::vectors::WordVectors;
use crate::word_probabilities::WordProbabilities;

/// How texts become weighted documents, with the defaults that `Default` gives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DocumentParams {
    /// Normalisation of the word vectors. Default [`Normalization::Unit`].
    pub normalization: Normalization,
    /// How texts become words. Default: lower case, SMART stop words dropped.
    pub tokenizer: Tokenizer,
    /// How words become weights. Default: NBOW, at most 500 distinct words.
    pub bag: BagRules,
    /// What becomes of words that the vectors do not know. Default: what is
    /// [best for the vectors](UnknownWords::default_for).
    pub unknown: Option<UnknownWords>,
    /// The ground cost between words. Default [`Metric::Euclidean`], which files do not mention.
    #[serde(default, skip_serializing_if = "Metric::is_default")]
    pub metric: Metric,
}

impl DocumentParams {
    /// Sets what becomes of words that the vectors do not know.
    #[must_use]
    pub fn unknown(mut self, unknown: UnknownWords) -> Self {
        self.unknown = Some(unknown);
        self
    }

    /// Sets the ground cost between words.
    #[must_use]
    pub fn metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// Sets the normalisation of the word vectors.
    #[must_use]
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
        self
    }

    /// Sets how texts become words.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: Tokenizer) -> Self {
        self.tokenizer = tokenizer;
        self
    }

    /// Sets how words become weights.
    #[must_use]
    pub fn bag(mut self, bag: BagRules) -> Self {
        self.bag = bag;
        self
    }

    /// Sets how a word's count becomes its weight.
    #[must_use]
    pub fn weighting(mut self, weighting: Weighting) -> Self {
        self.bag.weighting = weighting;
        self
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] names the first that is out of range.
    pub fn check(self) -> Result<Checked<Self>> {
        let words = "between 1 and 16777216";
        within("max_words", self.bag.max_words, 1..=1 << 24, words)?;
        Ok(Checked::new(self))
    }
}

/// Sees a corpus once, in order, and makes the [`DocumentModel`].
///
/// ```
/// use std::sync::Arc;
/// use wordmover::{Weighting, WordVectors, document_model::{DocumentFitter, DocumentParams}};
///
/// let params = DocumentParams::default().weighting(Weighting::Tfidf).check()?;
/// let mut fitter = DocumentFitter::new(params, Arc::new(WordVectors::builtin()));
/// for text in ["Obama speaks to the media in Illinois", "A cat sat on the mat"] {
///     let counts = fitter.word_counts(text);
///     fitter.observe(&counts);
/// }
/// let model = fitter.finish()?;
/// assert_eq!(model.document_of("the media in Illinois").len(), 2);
/// # Ok::<(), wordmover::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DocumentFitter {
    params: DocumentParams,
    unknown: UnknownWords,
    vectors: Arc<WordVectors>,
    corpus: CorpusCounts,
    accelerator: Option<Arc<dyn Accelerator>>,
}

impl DocumentFitter {
    /// Ready for the first document. SIF weights use the built-in word probabilities
    /// unless [others](Self::word_probabilities) are given.
    #[must_use]
    pub fn new(params: Checked<DocumentParams>, vectors: Arc<WordVectors>) -> Self {
        let mut params = params.into_inner();
        let unknown = params
            .unknown
            .unwrap_or_else(|| UnknownWords::default_for(&vectors));
        params.unknown = Some(unknown);
        let mut corpus = CorpusCounts::default();
        if params.bag.weighting == Weighting::Sif {
            corpus.set_probabilities(builtin_probabilities(&vectors));
        }
        DocumentFitter {
            params,
            unknown,
            vectors,
            corpus,
            accelerator: None,
        }
    }

    /// Has distances to random documents computed by an [accelerator](crate::accelerator).
    #[must_use]
    pub fn accelerator(mut self, accelerator: Option<Arc<dyn Accelerator>>) -> Self {
        self.accelerator = accelerator;
        self
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
        WordCounts::from_text(text, &self.params.tokenizer, &self.vectors)
    }

    /// Takes note of the next document.
    pub fn observe(&mut self, counts: &WordCounts) {
        let (unknown, vectors) = (self.unknown, &self.vectors);
        self.corpus
            .observe(counts, |word| has_vector(word, unknown, vectors));
    }

    /// Whether a document has a word with a vector.
    #[must_use]
    pub fn has_words(&self, counts: &WordCounts) -> bool {
        let mut words = counts.iter();
        words.any(|(word, _)| has_vector(word, self.unknown, &self.vectors))
    }

    /// The parameters, with everything settled that depends on the vectors.
    #[must_use]
    pub fn params(&self) -> &DocumentParams {
        &self.params
    }

    /// The word vectors.
    #[must_use]
    pub fn vectors(&self) -> &Arc<WordVectors> {
        &self.vectors
    }

    /// What computes distances to random documents, if not the CPU.
    pub(crate) fn accelerator_name(&self) -> &str {
        self.accelerator.as_ref().map_or("", |it| it.name())
    }

    /// The word counts of the documents seen so far.
    #[must_use]
    pub fn corpus(&self) -> &CorpusCounts {
        &self.corpus
    }

    /// The model of the documents seen.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyCorpus`] if no document had a word to fit on;
    /// [`Error::InvalidVectors`] if a word's vector holds NaN or infinity.
    pub fn finish(self) -> Result<DocumentModel> {
        let params = self.params;
        let words = kept_words(&self.corpus, &params.bag, &self.vectors);
        if words.is_empty() {
            return Err(Error::EmptyCorpus {
                n_documents: self.corpus.n_documents(),
            });
        }
        Ok(DocumentModel {
            space: WordSpace::new(self.vectors, params.normalization, &words)?
                .with_unknown(self.unknown)?
                .with_metric(params.metric)
                .with_accelerator(self.accelerator),
            corpus: self.corpus,
            tokenizer: params.tokenizer,
            rules: params.bag,
            landmarks: Arc::default(),
        })
    }
}

/// How texts become weighted documents, fitted on a corpus. See [`DocumentFitter`].
#[derive(Debug, Clone)]
pub struct DocumentModel {
    space: WordSpace,
    tokenizer: Tokenizer,
    corpus: CorpusCounts,
    rules: BagRules,
    /// Documents that random documents may be parts of; each has a word that is kept.
    landmarks: Arc<[WordCounts]>,
}

impl DocumentModel {
    /// A model without a corpus, for documents on their own. It has no frequencies: weights
    /// that need them are those of a word never seen, and no mean vector is subtracted.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if a parameter is out of range, or the normalisation
    /// centres.
    pub fn without_corpus(params: DocumentParams, vectors: Arc<WordVectors>) -> Result<Self> {
        let params = params.check()?.into_inner();
        if params.normalization.centers() {
            return Err(Error::InvalidParameter {
                name: "normalization",
                value: params.normalization.to_string(),
                requirement: "none or unit where there is no corpus to take the mean of",
            });
        }
        let unknown = params
            .unknown
            .unwrap_or_else(|| UnknownWords::default_for(&vectors));
        Ok(DocumentModel {
            space: WordSpace::new(vectors, params.normalization, &[])?
                .with_unknown(unknown)?
                .with_metric(params.metric),
            tokenizer: params.tokenizer,
            corpus: CorpusCounts::default(),
            rules: params.bag,
            landmarks: Arc::default(),
        })
    }

    /// Puts together what a model file kept.
    pub(crate) fn from_parts(
        space: WordSpace,
        tokenizer: Tokenizer,
        corpus: CorpusCounts,
        rules: BagRules,
    ) -> Self {
        DocumentModel {
            space,
            tokenizer,
            corpus,
            rules,
            landmarks: Arc::default(),
        }
    }

    /// The same model without what its corpus says of words: for weights that do not ask for it.
    pub(crate) fn without_word_counts(&self) -> Self {
        DocumentModel {
            space: self.space.clone(),
            tokenizer: self.tokenizer.clone(),
            corpus: self.corpus.without_words(),
            rules: self.rules,
            landmarks: Arc::default(),
        }
    }

    /// The same model, with distances to random documents computed by an
    /// [accelerator](crate::accelerator).
    #[must_use]
    pub fn with_accelerator(mut self, accelerator: Option<Arc<dyn Accelerator>>) -> Self {
        self.space = self.space.with_accelerator(accelerator);
        self
    }

    /// The same corpus with other weights.
    ///
    /// SIF weights use the built-in word probabilities.
    #[must_use]
    pub fn with_weighting(mut self, weighting: Weighting) -> Self {
        if weighting == Weighting::Sif && self.corpus.probabilities().is_none() {
            let probabilities = builtin_probabilities(self.space.vectors());
            self.corpus.set_probabilities(probabilities);
        }
        self.rules.weighting = weighting;
        self
    }

    /// The same corpus, with weights of words multiplied by these factors before they are
    /// normalised; `None` takes them away.
    #[must_use]
    pub fn with_factors(mut self, factors: Option<WordFactors>) -> Self {
        self.corpus.set_factors(factors);
        self
    }

    /// Documents that random documents can be parts of
    /// ([`RandomWords::Documents`](crate::random_documents::RandomWords::Documents)). A model
    /// file does not keep them: it keeps the random documents drawn.
    #[must_use]
    pub fn with_landmarks<'c>(
        mut self,
        documents: impl IntoIterator<Item = &'c WordCounts>,
    ) -> Self {
        let documents = documents.into_iter();
        let has_words = |counts: &&WordCounts| self.kept(counts).next().is_some();
        self.landmarks = documents.filter(has_words).cloned().collect();
        self
    }

    /// The documents that random documents can be parts of.
    #[must_use]
    pub fn landmarks(&self) -> &[WordCounts] {
        &self.landmarks
    }

    /// Those of the words that have a vector and are frequent enough.
    pub(crate) fn kept<'c>(&self, counts: &'c WordCounts) -> impl Iterator<Item = Word<'c>> {
        counts.iter().map(|(word, _)| word).filter(|&word| {
            let min_count = self.rules.min_count;
            let is_frequent =
                min_count <= 1 || self.corpus.frequency(word).occurrences >= min_count;
            is_frequent && self.space.has_vector(word)
        })
    }

    /// The parameters it was fitted with.
    #[must_use]
    pub fn params(&self) -> DocumentParams {
        DocumentParams {
            normalization: self.space.normalization(),
            tokenizer: self.tokenizer.clone(),
            bag: self.rules,
            unknown: Some(self.space.unknown()),
            metric: self.space.metric(),
        }
    }

    /// Counts the known words of a text.
    #[must_use]
    pub fn word_counts(&self, text: &str) -> WordCounts {
        WordCounts::from_text(text, &self.tokenizer, self.space.vectors())
    }

    /// Counts words that were tokenised elsewhere; nothing is lower-cased or dropped.
    #[must_use]
    pub fn word_counts_of_tokens<'t>(
        &self,
        tokens: impl IntoIterator<Item = &'t str>,
    ) -> WordCounts {
        WordCounts::from_tokens(tokens, self.space.vectors())
    }

    /// Weighs counted words.
    #[must_use]
    pub fn document(&self, counts: &WordCounts) -> Document {
        // The corpus counts words with a vector alone, and need not cut them into their parts.
        let is_seen = |word: Word| self.corpus.frequency(word).documents > 0;
        let has_vector = |word: Word| match word {
            Word::Known(_) => true,
            Word::Unknown(_) => is_seen(word) || self.space.has_vector(word),
        };
        Document::from_counts(counts, &self.corpus, &self.rules, has_vector)
    }

    /// Weighs the counted words of many documents.
    #[must_use]
    pub fn documents(&self, counts: &[impl Borrow<WordCounts> + Sync]) -> Vec<Document> {
        let counts = counts.par_iter();
        counts
            .map(|counts| self.document(counts.borrow()))
            .collect()
    }

    /// The weighted document of a text.
    #[must_use]
    pub fn document_of(&self, text: &str) -> Document {
        self.document(&self.word_counts(text))
    }

    /// The weight of one occurrence of a word, before weights are normalised.
    #[must_use]
    pub fn word_weight(&self, word: Word) -> f64 {
        self.rules.weighting.of_word(word, &self.corpus) * self.corpus.factor(word)
    }

    /// The distinct words of the corpus that the table knows and that are frequent enough,
    /// ascending.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        kept_words(&self.corpus, &self.rules, self.vectors())
    }

    /// The word vectors under their normalisation.
    #[must_use]
    pub fn space(&self) -> &WordSpace {
        &self.space
    }

    /// The word vectors as they are.
    #[must_use]
    pub fn vectors(&self) -> &Arc<WordVectors> {
        self.space.vectors()
    }

    /// How texts become words.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The word counts of the corpus.
    #[must_use]
    pub fn corpus(&self) -> &CorpusCounts {
        &self.corpus
    }

    /// How words become weights.
    #[must_use]
    pub fn rules(&self) -> &BagRules {
        &self.rules
    }
}

fn has_vector(word: Word, unknown: UnknownWords, vectors: &WordVectors) -> bool {
    match word {
        Word::Known(_) => true,
        Word::Unknown(word) => unknown.gives_vector(word, vectors),
    }
}

/// So many words of the table stand for a corpus that has none of them.
const STAND_INS: usize = 1000;

/// Words of the table alone: random words are drawn around these. A corpus whose words are all
/// composed gets the most frequent words of the table instead.
fn kept_words(corpus: &CorpusCounts, rules: &BagRules, vectors: &WordVectors) -> Vec<u32> {
    let mut words = corpus.words();
    let frequency = |word| corpus.frequency(Word::Known(word));
    words.retain(|&word| frequency(word).occurrences >= rules.min_count);
    let is_kept = |word: &&str| {
        let frequency = corpus.frequency(Word::Unknown(word));
        frequency.occurrences >= rules.min_count
    };
    if words.is_empty() && corpus.unknown().iter().any(is_kept) {
        words.extend(0..vectors.len().min(STAND_INS) as u32);
    }
    words
}

#[cfg(feature = "builtin-vectors")]
fn builtin_probabilities(vectors: &WordVectors) -> Option<WordProbabilities> {
    Some(WordProbabilities::builtin(vectors))
}

#[cfg(not(feature = "builtin-vectors"))]
fn builtin_probabilities(_vectors: &WordVectors) -> Option<WordProbabilities> {
    None
}
