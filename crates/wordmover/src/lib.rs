//! Word Mover's Embedding.
#![deny(missing_docs)]

mod aside;
mod container;
pub mod document;
mod embedding;
mod error;
pub mod format;
mod ground;
mod random_documents;
mod space;
pub mod text;
pub mod transport;
pub mod vectors;
pub mod wmd;

pub use document::{BagRules, Document, Weighting, WordCounts};
pub use embedding::{CheckedParams, EmbeddingParams, Fitter, Gamma, WordMoversEmbedding, kernel};
pub use error::{Error, Result};
pub use format::ModelFile;
pub use random_documents::{RandomDocuments, RandomWords};
pub use space::{Normalization, WordSpace};
pub use vectors::{Precision, WordVectors};
