//! One file per subcommand.

pub mod completions;
pub mod distance;
pub mod embed;
pub mod evaluate;
#[cfg(feature = "serve")]
pub mod explain;
pub mod fit;
pub mod index;
pub mod info;
pub mod man;
pub mod points;
pub mod predict;
pub mod search;
#[cfg(feature = "serve")]
pub mod serve;
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
mod search_index;
