//! Which embedding, gamma, C and views: the two protocols.
//!
//! [`paper`] has the grid of the paper in two rounds. [`fast`] has [candidates](candidates)
//! [race](race), [refines](refinement) the winner and compares views.

mod candidates;
mod fast;
mod paper;
mod race;
mod refinement;
mod surface;

pub(crate) use surface::content as sample_content;

use serde::{Deserialize, Serialize};
use wordmover::Weighting;
use wordmover::embedding::PostProcessing;
use wordmover::random_documents::RandomWords;

use crate::cache::Cache;
use crate::corpus::LabeledCorpus;
use crate::distances::EmbeddedRows;
use crate::error::Result;
use crate::held_out::HeldOut;
use crate::params::{Protocol, WmeParams};
use crate::progress::Reporter;
use crate::view_choice::WordsView;
use crate::views::{ViewPoint, Views};

/// An embedding that was tried: how words are weighed, and what random documents are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Weights of words.
    pub weighting: Weighting,
    /// Whether stop words are kept.
    #[serde(default)]
    pub keep_stop_words: bool,
    /// The exponent of the weights that labels give; 0 is none.
    #[serde(default)]
    pub label_exponent: f64,
    /// Distribution of the random words.
    #[serde(default)]
    pub random_words: RandomWords,
    /// Greatest length of a random document (`D_max`).
    pub d_max: usize,
}

impl std::fmt::Display for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.weighting)?;
        if self.keep_stop_words {
            write!(f, " with stop words")?;
        }
        if self.label_exponent > 0.0 {
            write!(f, " and labels^{}", self.label_exponent)?;
        }
        write!(f, ", {}", self.random_documents())
    }
}

impl Candidate {
    /// What its random documents are, in words.
    fn random_documents(&self) -> String {
        let Candidate {
            random_words,
            d_max,
            ..
        } = self;
        format!("{random_words} D_max = {d_max}")
    }
}

/// The parameters chosen, and how good they looked on rows held out. Where words alone
/// are looked at, candidate, `R` and gamma are those of an embedding that the classifier does
/// not use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WmeChoice {
    /// What the classifier looks at; files of the first version have meanings alone.
    #[serde(default)]
    pub views: Views,
    /// What meanings are multiplied by beside words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanings_weight: Option<f64>,
    /// The embedding.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// What the machine learns from. Missing in early files, whose standardising is folded into
    /// the machine.
    #[serde(default = "raw")]
    pub post_processing: PostProcessing,
    /// The constant feature beside them. None with the paper's protocol; missing in early files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
    /// Number of features (`R`).
    pub n_features: usize,
    /// Scale of the features.
    pub gamma: f64,
    /// Weight of the losses (`C`).
    pub cost: f64,
    /// Share of the documents held out that were predicted right in the last round; where a
    /// document may have several classes, the micro-averaged F1. 0 if none could be held out.
    pub accuracy: f64,
    /// Standard deviation of that share over the folds.
    pub deviation: f64,
}

fn raw() -> PostProcessing {
    PostProcessing::Raw
}

/// One point of the surface that cross-validation searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurfacePoint {
    /// The embedding.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Scale of the features.
    pub gamma: f64,
    /// C.
    pub cost: f64,
    /// Share of the documents held out that were predicted right; where a document may have
    /// several classes, the micro-averaged F1.
    pub accuracy: f64,
    /// Standard deviation of the share over the folds.
    pub deviation: f64,
}

/// A round of the search: everything judged at one number of features.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurfaceRound {
    /// Number of features.
    pub n_features: usize,
    /// Number of documents.
    pub n_documents: usize,
    /// Number of folds.
    pub n_folds: usize,
    /// By candidate, then gamma, then C.
    pub points: Vec<SurfacePoint>,
}

/// The search's outcome.
pub(crate) struct Chosen {
    pub choice: WmeChoice,
    pub rounds: Vec<SurfaceRound>,
    pub views: Vec<ViewPoint>,
    /// Positions in the corpus of the documents that are learnt from.
    pub rows: Vec<usize>,
    /// The embedding of the candidate that won, and the features of these documents if
    /// meanings are looked at.
    pub embedded: EmbeddedRows,
    /// If words are looked at.
    pub words: Option<WordsView>,
    /// What the parameters chosen say of documents held out, if there were any.
    pub held_out: Option<HeldOut>,
}

/// Chooses by cross-validation on the training documents.
pub(crate) fn choose(
    params: &WmeParams,
    train: &LabeledCorpus,
    cache: &Cache,
    reporter: &mut Reporter,
) -> Result<Chosen> {
    match params.protocol {
        Protocol::Paper => paper::choose(params, train, cache, reporter),
        Protocol::Fast => fast::choose(params, train, cache, reporter),
    }
}

fn percent(accuracy: f64) -> String {
    format!("{:.2} %", 100.0 * accuracy)
}
