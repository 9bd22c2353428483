//! One file per subcommand.

pub mod completions;
pub mod distance;
pub mod embed;
pub mod evaluate;
pub mod fit;
pub mod info;
pub mod man;
pub mod predict;
pub mod search;
pub mod similarity;
pub mod test;
pub mod train;
pub mod vectors;

mod class_figures;
mod corpus;
mod labeled;
mod neighbor_table;
mod plan_svg;
mod prediction_table;
