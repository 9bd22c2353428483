//! Linear classifiers on sparse and dense features side by side: L2-regularised linear SVM
//! with squared hinge loss, each class against the rest; one class a row or any number of
//! them.
//!
//! | for | where |
//! | --- | --- |
//! | sparse and dense columns of the same rows | [`FeatureBlocks`] |
//! | classes, sets of classes, weights of rows | [`Targets`] |
//! | fit and predict | [`LinearClassifier`] |
//! | C and the weight of the dense columns by cross-validation | [`search`] |
//! | probabilities | [`Calibration`] |
//!
//! The objective is that of LIBLINEAR's `-s 1` and `-s 2`. The solver works on `[sparse |
//! weight * dense]` without making it: dense columns are standardised as they are read.
//! `docs/svm.md` says why it is as it is. The machine of the paper, without intercept and
//! with LIBLINEAR's steps to the last bit, is [`LinearSvm`](crate::LinearSvm).

mod blocks;
mod calibration;
mod company;
mod design;
mod dual;
mod group;
mod lanes;
mod model;
mod newton;
mod params;
mod row_access;
mod score;
mod search;
mod targets;

pub use blocks::FeatureBlocks;
pub use calibration::{Calibration, Sigmoid};
pub use dual::MachineFit;
pub use model::LinearClassifier;
pub use params::{CheckedLinearParams, ClassWeights, LinearParams};
pub(crate) use score::{HeldOutScore, score_held_out};
pub use search::{
    CheckedLinearSearchParams, LinearPoint, LinearSearchParams, LinearSurface, search,
};
pub use targets::Targets;
