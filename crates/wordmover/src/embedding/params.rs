//! What the user chooses.

use serde::{Deserialize, Serialize};

use crate::checked::{Checked, within};
use crate::document::Weighting;
use crate::document_model::DocumentParams;
use crate::error::{Error, Result};
use crate::random_documents::RandomWords;
use crate::space::Normalization;
use crate::text::{StopWords, Tokenizer};

use super::post_processing::{Components, PostProcessing};

/// The scale of the features, `gamma` in the paper.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Gamma {
    /// One over the median distance between documents of the corpus and random
    /// documents (256 documents drawn with the seed, and the first 32 random
    /// documents; of two middle values the greater), so that the typical feature is exp(-1) before scaling. It does
    /// not depend on the number of features.
    #[default]
    Auto,
    /// This value.
    Value(f64),
    /// No exponential: the features are the distances themselves, not scaled by the
    /// number of features.
    None,
}

impl std::fmt::Display for Gamma {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Gamma::Auto => f.pad("auto"),
            Gamma::Value(value) => value.fmt(f),
            Gamma::None => f.pad("none"),
        }
    }
}

impl std::str::FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => return Ok(Gamma::Auto),
            "none" => return Ok(Gamma::None),
            _ => {}
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(Gamma::Value(value)),
            _ => Err(Error::InvalidParameter {
                name: "gamma",
                value: text.to_owned(),
                requirement: "auto, none or a positive number",
            }),
        }
    }
}

/// Parameters of an embedding, with the defaults that `Default` gives.
///
/// ```
/// use wordmover::{EmbeddingParams, embedding::Gamma};
///
/// let params = EmbeddingParams::default().n_features(1024).d_max(3).gamma(Gamma::Value(0.5));
/// assert!(params.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmbeddingParams {
    /// Number of random documents and so of features (`R` in the paper). Default 512.
    pub n_features: usize,
    /// Greatest length of a random document (`D_max`). Default 6.
    pub d_max: usize,
    /// Scale of the features. Default [`Gamma::Auto`].
    pub gamma: Gamma,
    /// Distribution of the random words. Default [`RandomWords::Uniform`].
    pub random_words: RandomWords,
    /// Seed of the random documents. Default 0.
    pub seed: u64,
    /// How texts become weighted documents.
    #[serde(flatten)]
    pub documents: DocumentParams,
    /// Post-processing of the features. Default [`PostProcessing::Standardize`].
    #[serde(alias = "finish")]
    pub post_processing: PostProcessing,
    /// What is done to their first principal components. Default: three are flattened.
    pub components: Components,
}

impl Default for EmbeddingParams {
    fn default() -> Self {
        EmbeddingParams {
            n_features: 512,
            d_max: 6,
            gamma: Gamma::default(),
            random_words: RandomWords::default(),
            seed: 0,
            documents: DocumentParams::default(),
            post_processing: PostProcessing::default(),
            components: Components::default(),
        }
    }
}

impl EmbeddingParams {
    /// What was found best for the similarity of sentences: SIF weights, for which no
    /// stop word needs to be dropped, random documents of at most three words, and 1024
    /// features (`docs/similarity-study.md`).
    #[must_use]
    pub fn for_similarity() -> Self {
        let tokenizer = Tokenizer {
            stop_words: StopWords::None,
            ..Tokenizer::default()
        };
        Self::default()
            .n_features(1024)
            .d_max(3)
            .weighting(Weighting::Sif)
            .tokenizer(tokenizer)
    }

    /// Sets the number of features (`R`).
    #[must_use]
    pub fn n_features(mut self, n_features: usize) -> Self {
        self.n_features = n_features;
        self
    }

    /// Sets the greatest length of a random document (`D_max`).
    #[must_use]
    pub fn d_max(mut self, d_max: usize) -> Self {
        self.d_max = d_max;
        self
    }

    /// Sets the scale of the features.
    #[must_use]
    pub fn gamma(mut self, gamma: Gamma) -> Self {
        self.gamma = gamma;
        self
    }

    /// Sets the distribution of the random words.
    #[must_use]
    pub fn random_words(mut self, random_words: RandomWords) -> Self {
        self.random_words = random_words;
        self
    }

    /// Sets the normalisation of the word vectors.
    #[must_use]
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.documents.normalization = normalization;
        self
    }

    /// Sets the seed of the random documents.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how texts become words.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: Tokenizer) -> Self {
        self.documents.tokenizer = tokenizer;
        self
    }

    /// Sets how a word's count becomes its weight.
    #[must_use]
    pub fn weighting(mut self, weighting: Weighting) -> Self {
        self.documents.bag.weighting = weighting;
        self
    }

    /// Sets the post-processing of the features.
    #[must_use]
    pub fn post_processing(mut self, post_processing: PostProcessing) -> Self {
        self.post_processing = post_processing;
        self
    }

    /// Sets what is done to the first principal components of the features.
    #[must_use]
    pub fn components(mut self, components: Components) -> Self {
        self.components = components;
        self
    }

    /// The features as the paper has them, without post-processing.
    #[must_use]
    pub fn raw(self) -> Self {
        self.post_processing(PostProcessing::Raw)
            .components(Components::Keep)
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] names the first that is out of range.
    pub fn check(self) -> Result<Checked<Self>> {
        let (features, lengths) = ("between 1 and 1048576", "between 1 and 4096");
        within("n_features", self.n_features, 1..=1 << 20, features)?;
        within("d_max", self.d_max, 1..=4096, lengths)?;
        let n_words = self.n_features * self.d_max;
        let few = "at most 16777216";
        within("n_features times d_max", n_words, 1..=1 << 24, few)?;
        self.documents.clone().check()?;
        within("components", self.components.count(), 0..=64, "at most 64")?;
        if let Gamma::Value(gamma) = self.gamma
            && !(gamma.is_finite() && gamma > 0.0)
        {
            return Err(Error::InvalidParameter {
                name: "gamma",
                value: gamma.to_string(),
                requirement: "a positive finite number",
            });
        }
        Ok(Checked::new(self))
    }
}
