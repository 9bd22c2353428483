//! What can be wrong with sets of points.

use crate::error::Error;

/// What is wrong with sets of points, and where. Sets, points and coordinates count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// Points have no coordinates.
    #[error("points need at least one coordinate")]
    NoDimension,
    /// There is nothing to fit on.
    #[error("there are no sets to fit on")]
    NoSets,
    /// A set is not a whole number of points.
    #[error("set {set} has {values} values, which are no whole points of dimension {dim}")]
    Ragged {
        /// The set.
        set: usize,
        /// Its values.
        values: usize,
        /// The dimension of a point.
        dim: usize,
    },
    /// Sets of another dimension than the model's, or than each other's.
    #[error("the points have dimension {found}, not {expected}")]
    Dimension {
        /// What it must be.
        expected: usize,
        /// What it is.
        found: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("coordinate {coordinate} of point {point} of set {set} is {value}, not finite")]
    NotFinite {
        /// The set.
        set: usize,
        /// The point.
        point: usize,
        /// The coordinate.
        coordinate: usize,
        /// Its value.
        value: f32,
    },
    /// A set has no points.
    #[error("set {set} has no points")]
    Empty {
        /// The set.
        set: usize,
    },
    /// A set has points, none of which weighs anything.
    #[error("all weights of set {set} are 0")]
    NoWeight {
        /// The set.
        set: usize,
    },
    /// A weight is negative, NaN or infinite.
    #[error(
        "the weight of point {point} of set {set} is {weight}, not a finite number of at least zero"
    )]
    BadWeight {
        /// The set.
        set: usize,
        /// The point.
        point: usize,
        /// The weight.
        weight: f64,
    },
    /// Points and weights differ in number.
    #[error("set {set} has {points} points and {weights} weights")]
    WrongWeights {
        /// The set.
        set: usize,
        /// Its points.
        points: usize,
        /// Its weights.
        weights: usize,
    },
}

impl From<PointsError> for Error {
    fn from(error: PointsError) -> Self {
        Error::InvalidPoints(error)
    }
}
