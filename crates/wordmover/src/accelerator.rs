//! Distances to random documents, computed elsewhere than on the CPU's cores.
//!
//! The library computes on the CPU. What can compute the same distances faster, a GPU for
//! instance, is an [`Accelerator`]; fitters and models take one
//! ([`Fitter::accelerator`](crate::embedding::Fitter::accelerator),
//! [`WordMoversEmbedding::with_accelerator`](crate::WordMoversEmbedding::with_accelerator))
//! and use it wherever features are made. Model files know nothing of it.

use std::error::Error;
use std::fmt::Debug;

/// Documents and random documents whose distances are asked for.
#[derive(Debug, Clone, Copy)]
pub struct DistanceBatch<'b> {
    /// Dimension of the vectors.
    pub dim: usize,
    /// Vectors of the distinct words of all documents, one after the other.
    pub vectors: &'b [f32],
    /// Where the words of each document begin, and where those of the last end.
    pub starts: &'b [usize],
    /// Words of the documents: positions among the vectors.
    pub words: &'b [u32],
    /// Their weights: positive, with a sum of one in every document that has words.
    pub weights: &'b [f64],
    /// Where the words of each random document begin, and where those of the last end.
    pub random_starts: &'b [usize],
    /// Vectors of the random documents' words, one after the other; all words of a random
    /// document weigh the same.
    pub random_vectors: &'b [f32],
}

/// Computes exact distances from documents to random documents.
pub trait Accelerator: Debug + Send + Sync {
    /// Names how it computes: results of the same name and the same input are the same bits.
    /// Distances that are kept are kept under it.
    fn name(&self) -> &str;

    /// Writes the distance of every document to every random document, row by row, good to
    /// 1e-6 of its value; infinity for documents without words.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from doing so; then `out` is not looked at.
    fn distances(
        &self,
        batch: DistanceBatch<'_>,
        out: &mut [f32],
    ) -> Result<(), Box<dyn Error + Send + Sync>>;
}
