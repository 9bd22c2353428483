//! Word Mover's Embedding (section 3 of the paper).
//!
//! A corpus is shown to a [`Fitter`], which draws the random documents and settles
//! gamma; the fitted [`WordMoversEmbedding`] turns documents into vectors. Nothing
//! in between is half-initialised: parameters are [checked](EmbeddingParams::check)
//! before a fitter exists, and a model exists only fitted or loaded.

mod finish;
mod fit;
mod fit_distances;
mod model;
mod params;
mod statistics;
mod transform;

pub(crate) use finish::FittedFinish;
pub use finish::{Components, Finish};
pub use fit::Fitter;
pub use fit_distances::FitDistances;
pub use model::{WordMoversEmbedding, kernel};
pub use params::{CheckedParams, EmbeddingParams, Gamma};
pub use statistics::EmbeddingStatistics;
