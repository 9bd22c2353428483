//! The device as the library's [`Accelerator`].

use std::error::Error;

use wordmover::accelerator::{Accelerator, DistanceBatch};

use crate::device::Device;
use crate::input::{Bags, RandomDocuments};

impl Accelerator for Device {
    /// The number grows with whatever changes a bit of a distance.
    fn name(&self) -> &str {
        "CUDA path 1"
    }

    fn distances(
        &self,
        batch: DistanceBatch<'_>,
        out: &mut [f32],
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let bags = Bags {
            starts: batch.starts,
            words: batch.words,
            weights: batch.weights,
        };
        let random = RandomDocuments {
            starts: batch.random_starts,
            vectors: batch.random_vectors,
        };
        Device::distances(self, batch.vectors, batch.dim, bags, random, out)?;
        Ok(())
    }
}
