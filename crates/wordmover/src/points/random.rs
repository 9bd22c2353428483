//! Random sets of points.

use serde::{Deserialize, Serialize};

use crate::names::names;
use crate::random_documents::{RandomDocuments, Stream};
use crate::space::Moments;

use super::sets::PointSets;

/// How the points of a random set are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RandomPoints {
    /// Every coordinate uniform between the least and the greatest of all coordinates, as the
    /// random words of the paper.
    #[default]
    Uniform,
    /// Every coordinate normal with its own mean and deviation over all points.
    Gaussian,
    /// A point of the sets, every point being equally likely.
    Samples,
    /// All points of a random set from one set, every set being equally likely, and then every
    /// point of it by its weight. A set gives the points that go together.
    Sets,
}

names!(RandomPoints, "random_points":
    Uniform "uniform" "coordinates between the extremes of the points (the paper's)",
    Gaussian "gaussian" "normal, with the points' mean and deviation of each coordinate",
    Samples "samples" "points of the sets",
    Sets "sets" "points of one of the sets",
);

impl RandomPoints {
    /// Draws `n` random sets of at most `d_max` points around those of `sets`, of which there is
    /// at least one.
    pub(super) fn draw(
        self,
        sets: &PointSets,
        moments: &Moments,
        n: usize,
        d_max: usize,
        seed: u64,
    ) -> RandomDocuments {
        let dim = sets.dim();
        let (mut lengths, mut points) = (Vec::with_capacity(n), Vec::new());
        let mut vector = vec![0.0; dim];
        let all = sets.all_points();
        for document in 0..n {
            let mut stream = Stream::new(seed, document as u64);
            let length = 1 + stream.below(d_max as u64);
            let set = match self {
                RandomPoints::Sets => stream.below(sets.len() as u64) as usize,
                _ => 0,
            };
            for _ in 0..length {
                match self {
                    RandomPoints::Uniform => stream.uniform_vector(moments, &mut vector),
                    RandomPoints::Gaussian => stream.normal_vector(moments, &mut vector),
                    RandomPoints::Samples => {
                        let point = stream.below((all.len() / dim) as u64) as usize;
                        vector.copy_from_slice(&all[point * dim..][..dim]);
                    }
                    RandomPoints::Sets => {
                        let point = by_weight(sets.weights(set), stream.uniform());
                        vector.copy_from_slice(&sets.points(set)[point * dim..][..dim]);
                    }
                }
                points.extend_from_slice(&vector);
            }
            lengths.push(length as u32);
        }
        RandomDocuments::from_parts(dim, &lengths, points)
    }
}

/// The position at which the weights up to it exceed `share` of their sum.
fn by_weight(weights: &[f64], share: f64) -> usize {
    let mut left = share;
    for (position, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return position;
        }
    }
    weights.len() - 1
}
