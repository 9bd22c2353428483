//! Options of `wordmover points`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wordmover::embedding::Gamma;
use wordmover::points::{PointSetParams, RandomPoints};
use wordmover::space::Metric;

use super::groups::{WritingArguments, set};
use super::values::{at_least_one, named, read};
use crate::output::suffixes;

#[derive(Debug, Subcommand)]
pub enum PointsCommand {
    /// Turn sets of vectors into vectors
    #[command(after_help = "Examples:\n  \
        wordmover points embed sets.npz -o sets.npy --features 1024 --random-points sets\n\n\
        sets.npz holds the arrays points (a point a row), offsets (where each set begins, and\n\
        where the last ends) and perhaps weights (one for each point); without offsets, every\n\
        array of the file is a set, in the file's order. The features are those of the paper,\n\
        without post-processing.")]
    Embed(PointsEmbedArguments),
}

#[derive(Debug, Args)]
pub struct PointsEmbedArguments {
    /// Sets of points: an .npz file
    #[arg(value_name = "INPUT")]
    pub sets: PathBuf,
    #[arg(short, long, value_name = "FILE", help = format!(
        "Where the vectors go: {}; without it, or for -, JSON lines are printed",
        suffixes(|_| true)
    ))]
    pub output: Option<PathBuf>,
    /// Number of features [default: 512]
    #[arg(long, value_name = "R", value_parser = at_least_one)]
    pub features: Option<usize>,
    /// Greatest number of points of a random set [default: 6]
    #[arg(long, value_name = "D", value_parser = at_least_one)]
    pub d_max: Option<usize>,
    /// Scale of the features: a number, auto (one over the median distance), or none (the
    /// features are the distances) [default: auto]
    #[arg(long, value_name = "GAMMA", allow_negative_numbers = true, value_parser = read::<Gamma>)]
    pub gamma: Option<Gamma>,
    /// Distribution of the random points [default: uniform]
    #[arg(long, value_parser = named::<RandomPoints>(), value_name = "DISTRIBUTION")]
    pub random_points: Option<RandomPoints>,
    /// Ground cost between points [default: euclidean]
    #[arg(long, value_parser = named::<Metric>(), value_name = "METRIC")]
    pub metric: Option<Metric>,
    /// Seed of the random sets [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub writing: WritingArguments,
}

impl PointsEmbedArguments {
    /// The parameters these options and the defaults describe.
    pub fn params(&self) -> PointSetParams {
        let mut params = PointSetParams::default();
        set(&mut params.n_features, self.features);
        set(&mut params.d_max, self.d_max);
        set(&mut params.gamma, self.gamma);
        set(&mut params.random_points, self.random_points);
        set(&mut params.metric, self.metric);
        set(&mut params.seed, self.seed);
        params
    }
}
