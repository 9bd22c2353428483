//! What the user chooses.

use serde::{Deserialize, Serialize};

use crate::document::{BagRules, Weighting};
use crate::error::{Error, Result};
use crate::random_documents::RandomWords;
use crate::space::Normalization;
use crate::text::{StopWords, Tokenizer};

use super::finish::{Components, Finish};

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

/// Parameters of an embedding, with the defaults that `Default` gives.
///
/// ```
/// use wordmover::{EmbeddingParams, Gamma};
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
    /// What is done to word vectors first. Default [`Normalization::Unit`].
    pub normalization: Normalization,
    /// Seed of the random documents. Default 0.
    pub seed: u64,
    /// How texts become words. Default: lower case, SMART stop words dropped.
    pub tokenizer: Tokenizer,
    /// How words become weights. Default: NBOW, at most 500 distinct words.
    pub bag: BagRules,
    /// What is done to the features at last. Default [`Finish::Standardize`].
    pub finish: Finish,
    /// What is done to their first principal components. Default: ten are flattened.
    pub components: Components,
}

impl Default for EmbeddingParams {
    fn default() -> Self {
        EmbeddingParams {
            n_features: 512,
            d_max: 6,
            gamma: Gamma::default(),
            random_words: RandomWords::default(),
            normalization: Normalization::default(),
            seed: 0,
            tokenizer: Tokenizer::default(),
            bag: BagRules::default(),
            finish: Finish::default(),
            components: Components::default(),
        }
    }
}

impl EmbeddingParams {
    /// What was found best for the similarity of sentences: SIF weights, for which no
    /// stop word needs to be dropped, and 1024 features (`docs/similarity-study.md`).
    #[must_use]
    pub fn for_similarity() -> Self {
        let tokenizer = Tokenizer {
            stop_words: StopWords::None,
            ..Tokenizer::default()
        };
        Self::default()
            .n_features(1024)
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

    /// Sets what is done to word vectors first.
    #[must_use]
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
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
        self.tokenizer = tokenizer;
        self
    }

    /// Sets how a word's count becomes its weight.
    #[must_use]
    pub fn weighting(mut self, weighting: Weighting) -> Self {
        self.bag.weighting = weighting;
        self
    }

    /// Sets what is done to the features at last.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Sets what is done to the first principal components of the finished features.
    #[must_use]
    pub fn components(mut self, components: Components) -> Self {
        self.components = components;
        self
    }

    /// The features as the paper has them: nothing is done to them at last.
    #[must_use]
    pub fn raw(self) -> Self {
        self.finish(Finish::Raw).components(Components::Keep)
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] names the first that is out of range.
    pub fn check(self) -> Result<CheckedParams> {
        let (features, lengths) = ("between 1 and 1048576", "between 1 and 4096");
        within("n_features", self.n_features, 1, 1 << 20, features)?;
        within("d_max", self.d_max, 1, 4096, lengths)?;
        let n_words = self.n_features * self.d_max;
        let few = "at most 16777216";
        within("n_features times d_max", n_words, 1, 1 << 24, few)?;
        within(
            "max_words",
            self.bag.max_words,
            1,
            1 << 24,
            "between 1 and 16777216",
        )?;
        within("components", self.components.count(), 0, 64, "at most 64")?;
        if let Gamma::Value(gamma) = self.gamma
            && !(gamma.is_finite() && gamma > 0.0)
        {
            return Err(Error::InvalidParameter {
                name: "gamma",
                value: gamma.to_string(),
                requirement: "a positive finite number",
            });
        }
        Ok(CheckedParams(self))
    }
}

fn within(
    name: &'static str,
    value: usize,
    least: usize,
    most: usize,
    requirement: &'static str,
) -> Result<()> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(Error::InvalidParameter {
            name,
            value: value.to_string(),
            requirement,
        })
    }
}

/// Parameters that passed [`EmbeddingParams::check`]; only these can be fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedParams(EmbeddingParams);

impl CheckedParams {
    /// The parameters.
    #[must_use]
    pub fn get(&self) -> &EmbeddingParams {
        &self.0
    }
}
