//! Exact Word Mover's Distance and Word Mover's Embedding of documents, after Wu et
//! al., *Word Mover's Embedding: From Word2Vec to Document Embedding*, EMNLP 2018.
//!
//! Data flows one way:
//!
//! | from | to | where |
//! | --- | --- | --- |
//! | text | words | [`text`] |
//! | words | weighted bag | [`document`] |
//! | bag | points in space | [`vectors`], [`space`] |
//! | two bags | distance and transport plan | [`wmd`], [`transport`] |
//! | bag, corpus of bags | nearest neighbours | [`WmdIndex`], [`EmbeddingIndex`] |
//! | documents | index that is kept | [`index`] |
//! | bag, random documents | embedding | [`WordMoversEmbedding`] |
//! | bag of any vectors | embedding | [`points`] |
//! | anything with a distance | embedding | [`d2ke`] |
//! | counted words | averaged vectors | [`average`] |
//! | two embeddings, pairs of texts | similarity | [`similarity`] |
//! | model | file | [`mod@format`] |
//!
//! Most users need [`WordVectors`], [`EmbeddingParams`] and [`WordMoversEmbedding`]:
//!
//! ```
//! use std::sync::Arc;
//! use wordmover::{EmbeddingParams, WordMoversEmbedding, WordVectors};
//!
//! let texts = ["Obama speaks to the media in Illinois",
//!              "The president greets the press in Chicago"];
//! let vectors = Arc::new(WordVectors::builtin());
//! let model = WordMoversEmbedding::fit(EmbeddingParams::default(), vectors, &texts)?;
//! let embeddings = model.transform(&texts)?;
//! assert_eq!(embeddings.len(), 2 * model.n_features());
//! # Ok::<(), wordmover::Error>(())
//! ```
//!
//! Results depend on the input and the seed alone: the same bits for any number of
//! threads, any batch size, and a document alone or among others. Work runs on the
//! current rayon thread pool. Nothing is printed, nothing is normalised unless asked
//! for by name, and a transport problem is solved exactly or is an error.

#![deny(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod accelerator;
pub mod atomic_file;
pub mod average;
pub mod checked;
mod container;
pub mod content_hash;
mod corpus;
pub mod d2ke;
pub mod document;
pub mod document_model;
pub mod embedding;
mod error;
pub mod error_message;
pub mod format;
mod ground;
pub mod index;
pub mod names;
pub mod neighbors;
pub mod points;
mod principal;
pub mod random_documents;
pub mod similarity;
pub mod space;
pub mod text;
pub mod vectors;
mod weighting;
pub mod wmd;
mod word_probabilities;

pub use document::{Document, Weighting};
pub use document_model::DocumentModel;
pub use embedding::{EmbeddingParams, WordMoversEmbedding};
pub use error::{Error, Result};
pub use format::ModelFile;
pub use neighbors::{EmbeddingIndex, Neighbor, WmdIndex};
pub use similarity::Similarity;
pub use vectors::WordVectors;
#[doc(inline)]
pub use wordmover_transport::{self as transport, float_environment};

/// The guide's Rust example, compiled and run with the doc tests.
#[cfg(all(doctest, feature = "builtin-vectors"))]
#[doc = include_str!("../../../docs/guide.md")]
struct Guide;
