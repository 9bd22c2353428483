//! Bags of any vectors: image patches, tokens of a transformer, events, histograms.
//!
//! A document is a weighted set of word vectors; nothing in the Wasserstein distance or in the
//! embedding needs the words. [`PointSets`] are weighted sets of vectors of any dimension,
//! [`PointSetEmbedding`] gives them the random features of the paper: by the same code, so that
//! the words of documents, given as points, get the word embedding bit for bit.
//!
//! ```
//! use wordmover::points::{PointSetEmbedding, PointSetParams, PointSets};
//!
//! let mut sets = PointSets::new(2)?;
//! sets.push(&[0.0, 0.0, 1.0, 0.0], None)?; // two points
//! sets.push(&[5.0, 5.0], None)?;
//! sets.push(&[0.0, 0.1, 1.0, 0.1, 0.0, 0.0], Some(&[0.25, 0.5, 0.25]))?;
//! let params = PointSetParams { n_features: 64, ..PointSetParams::default() };
//! let model = PointSetEmbedding::fit(params, &sets)?;
//! let z = model.transform(&sets)?;
//! assert_eq!(z.len(), 3 * 64);
//! # Ok::<(), wordmover::Error>(())
//! ```

mod embedding;
mod error;
mod random;
mod sets;

pub use embedding::{PointSetEmbedding, PointSetParams};
pub use error::PointsError;
pub use random::RandomPoints;
pub use sets::PointSets;
