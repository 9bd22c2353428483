//! Text classification by Word Mover's Embeddings and Word Mover's Distances: section 4
//! of Wu et al., *Word Mover's Embedding*, EMNLP 2018; and by words themselves, alone or
//! beside the embeddings.
//!
//! | for | where |
//! | --- | --- |
//! | labelled documents | [`LabeledCorpus`], [`CountedText`] |
//! | a classifier, trained and kept in a file | [`TextClassifier`] |
//! | what it says of texts | [`Prediction`] |
//! | accuracy on documents not seen | [`evaluate`], [`evaluate_splits`], [`TextClassifier::test`], [`Figures`] |
//! | how parameters are chosen | [`Protocol`], [`Views`], [`WmeParams`], [`KnnParams`] |
//! | interrupted work taken up again | [`Cache`] |
//! | what is heard on the way | [`Event`], [`Observer`] |
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//! use wordmover::{WordVectors, text::Tokenizer};
//! use wordmover_classify::{Cache, LabeledCorpus, Protocol, TextClassifier, WmeParams};
//!
//! let texts = [("sport", "The striker scored a goal in the final match"),
//!              ("sport", "Her team won the tennis championship"),
//!              ("sport", "The coach praised the players after the game"),
//!              ("politics", "The senate debates the budget"),
//!              ("politics", "Voters elected a new president"),
//!              ("politics", "The minister resigned after the vote")];
//! let vectors = Arc::new(WordVectors::builtin());
//! let corpus = LabeledCorpus::from_texts(texts, Tokenizer::default(), vectors)?;
//! let mut params = WmeParams::new(Protocol::Fast);
//! params.embedding.n_features = 64;
//! let silent = |_: wordmover_classify::Event| ControlFlow::Continue(());
//! let (classifier, _) = TextClassifier::train(&params, &corpus, &Cache::none(), &silent)?;
//! let prediction = &classifier.predict(&["A goal in the last minute won the cup"])?[0];
//! assert_eq!(classifier.classes()[prediction.class], "sport");
//! # Ok::<(), wordmover_classify::Error>(())
//! ```
//!
//! Results depend on the documents, the parameters and the seed alone: the same bits for
//! any number of threads, with a cache or without. Work runs on the current rayon thread
//! pool. Nothing is printed.

#![deny(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod cache;
mod choice;
mod classifier;
mod corpus;
mod counted_text;
mod curve;
mod distances;
mod error;
mod evaluation;
mod explanation;
mod figures;
mod file;
mod folds;
mod held_out;
mod knn;
mod label_weights;
mod learnt_neighbors;
mod learnt_space;
mod machine;
mod params;
mod prediction;
mod progress;
mod terms;
mod test;
mod training_documents;
mod view_choice;
mod views;

pub use cache::Cache;
pub use choice::{Candidate, SurfacePoint, SurfaceRound, WmeChoice};
pub use classifier::{ClassifierInfo, TextClassifier, Training};
pub use corpus::LabeledCorpus;
pub use counted_text::CountedText;
pub use curve::{CurvePoint, feature_curve};
pub use error::{Error, Result};
pub use evaluation::{
    CrossValidation, Evaluation, Method, Outcome, evaluate, evaluate_splits, random_splits,
};
pub use explanation::{Explanation, NearRandomDocument, WordEffect};
pub use figures::Figures;
pub use knn::{KnnChoice, KnnCurve};
pub use learnt_neighbors::LearntSpace;
pub use params::{KnnParams, Learn, Protocol, WmeParams};
pub use prediction::Prediction;
pub use progress::{Event, Observer, StageTime};
pub use test::Test;
pub use views::{ViewPoint, Views};
pub use wordmover_learn::linear::ClassWeights;
