//! Word Mover's Embedding (section 3 of the paper).
//!
//! A corpus is shown to a [`Fitter`], which draws the random documents and settles
//! gamma; the fitted [`WordMoversEmbedding`] turns documents into vectors. Nothing
//! in between is half-initialised: parameters are [checked](EmbeddingParams::check)
//! before a fitter exists, and a model exists only fitted or loaded.

mod accelerated;
pub(crate) mod cost_table;
mod exact_kernel;
pub(crate) mod features;
pub(crate) mod fit;
mod frequent_words;
#[cfg(feature = "builtin-vectors")]
mod general_purpose;
mod model;
mod params;
mod post_processing;
pub(crate) mod sample;
pub(crate) mod small_block;
mod statistics;
mod tile;
pub(crate) mod transform;

pub use exact_kernel::{KernelMatrix, WordMoversKernel};
pub use features::raw_features;
pub use fit::{DrawnEmbedding, Fitter};
#[cfg(feature = "builtin-vectors")]
pub use general_purpose::GENERAL_PURPOSE;
pub use model::{WordMoversEmbedding, kernel};
pub use params::{EmbeddingParams, Gamma};
pub(crate) use post_processing::FittedPostProcessing;
pub use post_processing::{Components, PostProcessing};
pub use statistics::EmbeddingStatistics;
