//! Learning from features: the classifiers and the cross-validation of the Word Mover's
//! Embedding paper (section 4), and linear classifiers on sparse and dense features side by
//! side; without any text in it.
//!
//! | for | where |
//! | --- | --- |
//! | linear SVM on sparse features, dense features or both; several classes a row; weights of classes and rows; C by cross-validation; probabilities | [`LinearClassifier`], [`linear`] |
//! | sparse features, TF-IDF | [`SparseRows`], [`TfIdf`] |
//! | the paper's linear SVM, LIBLINEAR's `-s 2` to the last bit | [`LinearSvm`], [`svm`] |
//! | gamma, C and `D_max` by cross-validation | [`grid`] |
//! | features compared by cross-validated least squares, quickly | [`least_squares`] |
//! | votes of nearest neighbours, K by cross-validation | [`knn`] |
//! | folds and random splits | [`split`] |
//! | accuracy, F1, confusion matrix | [`metrics`], [`multilabel`] |
//!
//! Dense features are rows of `f32` ([`Features`]), classes are ids of the caller's choice.
//!
//! ```
//! use std::ops::ControlFlow;
//! use wordmover_learn::grid::{self, GridParams};
//! use wordmover_learn::{Features, LinearSvm, SvmParams, metrics, split};
//!
//! // Distances of eight documents from two random documents, and the classes.
//! let distances = [1.20, 1.31, 1.32, 1.21, 1.19, 1.30, 1.30, 1.22,
//!                  1.21, 1.33, 1.31, 1.20, 1.22, 1.29, 1.33, 1.19];
//! let labels = [7, 4, 7, 4, 7, 4, 7, 4];
//! let table = Features::new(&distances, 2)?;
//!
//! let folds = split::stratified_k_folds(&labels, 4, 1)?;
//! let params = GridParams::default();
//! let features_of = |distances: &[f32], _: usize, gamma: Option<f64>| -> Vec<f32> {
//!     let gamma = gamma.unwrap_or(1.0) as f32;
//!     distances.iter().map(|distance| (-gamma * distance).exp()).collect()
//! };
//! let never = || ControlFlow::Continue(());
//! let surface = grid::search(&params, &[table], &features_of, &labels, &folds, &never)?;
//! let best = surface.best();
//!
//! let features = features_of(&distances, 2, best.gamma);
//! let features = Features::new(&features, 2)?;
//! let model = LinearSvm::fit(SvmParams::default().cost(best.cost), features, &labels)?;
//! assert_eq!(metrics::accuracy(&labels, &model.predict(features)?)?, 1.0);
//! # Ok::<(), wordmover_learn::Error>(())
//! ```
//!
//! Results depend on the input and the seed alone: the same bits for any number of
//! threads and on any machine. Work runs on the current rayon thread pool. Nothing is
//! printed, and nothing is rescaled unless asked for by name.

#![deny(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod error;
mod features;
pub mod grid;
pub mod knn;
pub mod least_squares;
pub mod linear;
pub mod metrics;
pub mod multilabel;
mod scaling;
mod sparse;
pub mod split;
pub mod svm;
mod tfidf;

pub use error::{Error, Result};
pub use features::Features;
pub use linear::{FeatureBlocks, LinearClassifier, LinearParams, Targets};
pub use sparse::SparseRows;
pub use svm::{CheckedSvmParams, LinearSvm, Solution, Stop, SvmParams};
pub use tfidf::TfIdf;
