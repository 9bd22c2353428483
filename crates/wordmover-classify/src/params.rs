//! What the user chooses; `docs/protocols.md` says why the protocols are as they are.

use serde::{Deserialize, Serialize};
use wordmover::{EmbeddingParams, Weighting, space::UnknownWords};

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
    /// Good parameters for little time: successive halving of random-document lengths
    /// and weightings, standardised features, a bias, warm starts, five stratified folds.
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
    /// Number of folds.
    #[must_use]
    pub fn n_folds(self) -> usize {
        match self {
            Protocol::Paper => 10,
            Protocol::Fast => 5,
        }
    }
}

/// How to train a classifier on Word Mover's Embeddings.
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
    /// `d_max`, `gamma` and weighting are chosen, and its tokenizer is the corpus'.
    pub embedding: EmbeddingParams,
    /// Greatest lengths of random documents (`D_max`) to choose from.
    pub d_maxes: Vec<usize>,
    /// Weightings to choose from.
    pub weightings: Vec<Weighting>,
    /// Views to choose from; the paper's protocol has meanings alone.
    pub views: Vec<Views>,
}

impl WmeParams {
    /// What the protocol prescribes: `R` = 4096, `D_max` in {3, 6, ..., 21} and NBOW for
    /// the paper's; `R` = 1024, `D_max` in {3, 6, 12}, NBOW or TF-IDF for the fast one,
    /// and any views.
    #[must_use]
    pub fn new(protocol: Protocol) -> Self {
        let (n_features, d_maxes) = match protocol {
            Protocol::Paper => (4096, vec![3, 6, 9, 12, 15, 18, 21]),
            Protocol::Fast => (1024, vec![3, 6, 12]),
        };
        WmeParams {
            protocol,
            embedding: embedding(protocol).n_features(n_features),
            d_maxes,
            weightings: weightings(protocol),
            views: match protocol {
                Protocol::Paper => vec![Views::Meanings],
                Protocol::Fast => Views::ALL.to_vec(),
            },
        }
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// If one is out of range, there is nothing to choose from, or the paper's protocol is
    /// to choose anything but meanings.
    pub fn check(&self) -> Result<()> {
        check_some("the list of views", self.views.len())?;
        if self.protocol == Protocol::Paper && self.views != [Views::Meanings] {
            let views: Vec<String> = self.views.iter().map(ToString::to_string).collect();
            return Err(Error::InvalidParameter {
                name: "the list of views",
                value: views.join(", "),
                requirement: "meanings alone, with the paper's protocol",
            });
        }
        check_some("the list of D_max", self.d_maxes.len())?;
        check_some("the list of weightings", self.weightings.len())?;
        for &d_max in &self.d_maxes {
            self.embedding.clone().d_max(d_max).check()?;
        }
        Ok(())
    }
}

/// How to classify by the votes of nearest neighbours under the Word Mover's Distance.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KnnParams {
    /// The folds: ten at random, or five stratified.
    pub protocol: Protocol,
    /// Normalisation, bag rules and seed; its weighting is chosen, and what is random
    /// about an embedding is not used.
    pub embedding: EmbeddingParams,
    /// K is chosen between 1 and this. The paper: 21.
    pub max_k: usize,
    /// Weightings to choose from.
    pub weightings: Vec<Weighting>,
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
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_some("the list of weightings", self.weightings.len())?;
        check_some("the greatest K", self.max_k)?;
        self.embedding.clone().check()?;
        Ok(())
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

fn check_some(name: &'static str, n: usize) -> Result<()> {
    if n > 0 {
        return Ok(());
    }
    Err(Error::InvalidParameter {
        name,
        value: "empty".to_owned(),
        requirement: "one at least",
    })
}
