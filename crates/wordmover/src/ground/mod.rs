//! Ground costs: distances between word vectors, by a [`Metric`].
//!
//! Two ways to Euclidean distances, for two purposes. [`direct`] sums squared differences in double
//! precision, so that a word is at distance exactly 0 from itself and near words lose
//! no digits: all distances that are given out in double precision start from it.
//! [`product`] computes `|a|^2 + |b|^2 - 2ab` in single precision at the rate of a
//! matrix product, which is all that features in single precision can show; where the
//! difference would lose digits it takes the direct way. Other metrics always take it.
//!
//! Either way a cost is one sum over the coordinates in their order, whatever else is
//! computed beside it, and nothing is fused: it depends on the two vectors alone, not
//! on tile sizes, thread counts or the instruction set. The bodies are plain loops over
//! lanes that the compiler vectorises, compiled for the baseline and for AVX2, chosen
//! at run time.

pub(crate) mod direct;
mod metric;
pub(crate) mod product;

pub use metric::Metric;
