//! What a unit of mass costs from one vector to another.

use serde::{Deserialize, Serialize};

use crate::names::names;

/// The ground cost between two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Metric {
    /// The length of the difference, as in the paper.
    #[default]
    Euclidean,
    /// The square of that. Not a metric: a detour may cost less.
    SqEuclidean,
    /// One minus the cosine, between 0 and 2. Not a metric either. A vector of zeros is at
    /// distance 1 from every other.
    Cosine,
    /// The sum of the absolute differences of the coordinates.
    Cityblock,
}

names!(Metric, "metric":
    Euclidean "euclidean" "length of the difference (the paper's)",
    SqEuclidean "sqeuclidean" "square of the length of the difference",
    Cosine "cosine" "one minus the cosine",
    Cityblock "cityblock" "sum of the absolute differences of the coordinates",
);

impl Metric {
    /// Whether it is the paper's, which files do not mention.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Metric::default()
    }

    /// Whether no detour costs less. Only then may mass that two documents share stay where it
    /// is without a look at the rest.
    #[must_use]
    pub fn has_triangle_inequality(self) -> bool {
        matches!(self, Metric::Euclidean | Metric::Cityblock)
    }
}
