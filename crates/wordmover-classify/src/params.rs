//! What the user chooses; `docs/protocols.md` says why the protocols are as they are.

use serde::{Deserialize, Serialize};
use wordmover::random_documents::RandomWords;
use wordmover::{
    EmbeddingParams, Weighting,
    space::{Metric, UnknownWords},
};
use wordmover_learn::linear::ClassWeights;

use crate::error::{Error, Result};
use crate::views::Views;

/// How parameters are chosen by cross-validation on the training documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Protocol {
    /// The whole grid of the paper with LIBLINEAR's machine: ten folds, no bias, nothing
    /// standardised, every machine from 0.
    Paper,
    /// Good parameters for little time: a race of word weights and random documents,
    /// standardised features, of length 1 if that is better, a bias, five stratified folds.
    #[default]
    Fast,
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Protocol::Paper => "paper",
            Protocol::Fast => "fast",
        })
    }
}

impl Protocol {
    /// Number of folds, unless asked otherwise.
    #[must_use]
    pub fn n_folds(self) -> usize {
        match self {
            Protocol::Paper => 10,
            Protocol::Fast => 5,
        }
    }
}

/// How to train a classifier.
///
/// ```
/// use wordmover_classify::{Protocol, WmeParams};
///
/// let params = WmeParams::new(Protocol::Paper);
/// assert_eq!(params.d_maxes, [3, 6, 9, 12, 15, 18, 21]);
/// assert_eq!(params.embedding.n_features, 4096);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WmeParams {
    /// How parameters are chosen.
    pub protocol: Protocol,
    /// Everything else about the embedding: the number of features (`R`) among it. Its
    /// `d_max`, `gamma`, random words and weighting are chosen, and its tokenizer is the
    /// corpus'.
    pub embedding: EmbeddingParams,
    /// Greatest lengths of random documents (`D_max`) to choose from.
    pub d_maxes: Vec<usize>,
    /// Distributions of random words to choose from.
    pub random_words: Vec<RandomWords>,
    /// Weightings to choose from.
    pub weightings: Vec<Weighting>,
    /// Whether stop words are kept: what to choose from. Where the corpus' tokenizer drops
    /// none, they are kept.
    pub keep_stop_words: Vec<bool>,
    /// Exponents to choose from of the word weights that labels give (`beta`); 0 is none.
    pub label_exponents: Vec<f64>,
    /// Views to choose from; the paper's protocol has meanings alone.
    pub views: Vec<Views>,
    /// How much more documents of some classes count.
    pub class_weights: ClassWeights,
    /// Number of folds; fewer are used where there are fewer documents.
    pub n_folds: usize,
}

impl WmeParams {
    /// What the protocol prescribes. The paper's: `R` = 4096, `D_max` in {3, 6, ..., 21} and
    /// NBOW. The fast one: `R` = 1024, `D_max` in {3, 6, 12}, uniform random words or parts
    /// of documents, NBOW or TF-IDF, stop words kept or dropped, weights learnt from labels
    /// with the exponents 0, 0.5 and 1, and any views.
    #[must_use]
    pub fn new(protocol: Protocol) -> Self {
        let is_paper = protocol == Protocol::Paper;
        let (n_features, d_maxes) = match protocol {
            Protocol::Paper => (4096, vec![3, 6, 9, 12, 15, 18, 21]),
            Protocol::Fast => (1024, vec![3, 6, 12]),
        };
        WmeParams {
            protocol,
            embedding: embedding(protocol).n_features(n_features),
            d_maxes,
            random_words: match is_paper {
                true => vec![RandomWords::Uniform],
                false => vec![RandomWords::Uniform, RandomWords::Documents],
            },
            weightings: weightings(protocol),
            keep_stop_words: match is_paper {
                true => vec![false],
                false => vec![false, true],
            },
            label_exponents: match is_paper {
                true => vec![0.0],
                false => vec![0.0, 0.5, 1.0],
            },
            views: match is_paper {
                true => vec![Views::Meanings],
                false => Views::ALL.to_vec(),
            },
            class_weights: ClassWeights::Equal,
            n_folds: protocol.n_folds(),
        }
    }

    /// The Word Mover's Embedding of the paper alone: no words, nothing learnt from labels but
    /// the classifier, uniform random words, and stop words as the tokenizer says.
    #[must_use]
    pub fn embedding_alone(mut self) -> Self {
        self.views = vec![Views::Meanings];
        self.label_exponents = vec![0.0];
        self.random_words = vec![RandomWords::Uniform];
        self.keep_stop_words = vec![false];
        self
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// If one is out of range, there is nothing to choose from, or the paper's protocol is
    /// to choose what it does not have.
    pub fn check(&self) -> Result<()> {
        check_some("the list of views", self.views.len())?;
        if self.protocol == Protocol::Paper {
            self.check_paper()?;
        }
        check_some("the list of D_max", self.d_maxes.len())?;
        check_some("the list of random words", self.random_words.len())?;
        check_some("the list of weightings", self.weightings.len())?;
        check_some("the list of uses of stop words", self.keep_stop_words.len())?;
        check_some("the list of label exponents", self.label_exponents.len())?;
        for exponent in &self.label_exponents {
            if !(0.0..=4.0).contains(exponent) {
                return Err(invalid("a label exponent", exponent, "between 0 and 4"));
            }
        }
        for &d_max in &self.d_maxes {
            self.embedding.clone().d_max(d_max).check()?;
        }
        check_folds(self.n_folds)
    }

    fn check_paper(&self) -> Result<()> {
        if self.views != [Views::Meanings] {
            let views: Vec<String> = self.views.iter().map(ToString::to_string).collect();
            let requirement = "meanings alone, with the paper's protocol";
            return Err(invalid("the list of views", views.join(", "), requirement));
        }
        let requirement = "one, with the paper's protocol";
        for (name, n) in [
            ("the list of random words", self.random_words.len()),
            ("the list of uses of stop words", self.keep_stop_words.len()),
        ] {
            if n > 1 {
                return Err(invalid(name, format!("{n} values"), requirement));
            }
        }
        if self.label_exponents != [0.0] {
            let value = format!("{:?}", self.label_exponents);
            let requirement = "0 alone, with the paper's protocol";
            return Err(invalid("the list of label exponents", value, requirement));
        }
        if self.class_weights != ClassWeights::Equal {
            let requirement = "equal, with the paper's protocol";
            return Err(invalid("class weights", "not equal", requirement));
        }
        Ok(())
    }
}

/// What is learnt from labels of the space in which neighbours are near.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learn {
    /// Nothing.
    #[default]
    None,
    /// Weights of words.
    Weights,
    /// A linear map of the word vectors.
    Metric,
    /// Both.
    Both,
}

impl std::fmt::Display for Learn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Learn::None => "none",
            Learn::Weights => "weights",
            Learn::Metric => "metric",
            Learn::Both => "both",
        })
    }
}

impl Learn {
    pub(crate) fn has_weights(self) -> bool {
        matches!(self, Learn::Weights | Learn::Both)
    }

    pub(crate) fn has_metric(self) -> bool {
        matches!(self, Learn::Metric | Learn::Both)
    }
}

/// How to classify by the votes of nearest neighbours under the Word Mover's Distance.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KnnParams {
    /// The folds: at random, or stratified.
    pub protocol: Protocol,
    /// Normalisation, bag rules and seed; its weighting is chosen, and what is random
    /// about an embedding is not used.
    pub embedding: EmbeddingParams,
    /// K is chosen between 1 and this. The paper: 21.
    pub max_k: usize,
    /// Weightings to choose from.
    pub weightings: Vec<Weighting>,
    /// Number of folds; without folds where something is learnt: there, parameters are chosen
    /// on one part held out.
    pub n_folds: usize,
    /// What is learnt from labels.
    pub learn: Learn,
}

impl KnnParams {
    /// What the protocol prescribes.
    #[must_use]
    pub fn new(protocol: Protocol) -> Self {
        KnnParams {
            protocol,
            embedding: embedding(protocol),
            max_k: 21,
            weightings: weightings(protocol),
            n_folds: protocol.n_folds(),
            learn: Learn::None,
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_some("the list of weightings", self.weightings.len())?;
        check_some("the greatest K", self.max_k)?;
        let metric = self.embedding.documents.metric;
        if self.learn != Learn::None && metric != Metric::Euclidean {
            let requirement = "euclidean where the space is learnt";
            return Err(invalid("the metric", metric, requirement));
        }
        self.embedding.clone().check()?;
        check_folds(self.n_folds)
    }
}

/// The paper drops words that the vectors do not know.
fn embedding(protocol: Protocol) -> EmbeddingParams {
    let mut params = EmbeddingParams::default();
    if protocol == Protocol::Paper {
        params.documents.unknown = Some(UnknownWords::Skip);
    }
    params
}

fn weightings(protocol: Protocol) -> Vec<Weighting> {
    match protocol {
        Protocol::Paper => vec![Weighting::Nbow],
        Protocol::Fast => vec![Weighting::Nbow, Weighting::Tfidf],
    }
}

fn check_folds(n_folds: usize) -> Result<()> {
    if (2..=1000).contains(&n_folds) {
        return Ok(());
    }
    let requirement = "between 2 and 1000";
    Err(invalid("the number of folds", n_folds, requirement))
}

fn check_some(name: &'static str, n: usize) -> Result<()> {
    if n > 0 {
        return Ok(());
    }
    Err(invalid(name, "empty", "one at least"))
}

fn invalid(name: &'static str, value: impl ToString, requirement: &'static str) -> Error {
    Error::InvalidParameter {
        name,
        value: value.to_string(),
        requirement,
    }
}
