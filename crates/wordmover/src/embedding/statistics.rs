//! What an embedding took.

use std::ops::AddAssign;
use std::time::Duration;

/// What was done and how long it took, by the clock on the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EmbeddingStatistics {
    /// Distances computed, empty documents' included.
    pub distances: u64,
    /// Time for word vectors and for distances between words.
    pub ground_costs: Duration,
    /// Time for exact transports, and for features from their costs.
    pub transport: Duration,
}

impl AddAssign for EmbeddingStatistics {
    fn add_assign(&mut self, other: Self) {
        self.distances += other.distances;
        self.ground_costs += other.ground_costs;
        self.transport += other.transport;
    }
}
