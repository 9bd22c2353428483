//! One file per subcommand.

pub mod distance;
pub mod embed;
pub mod fit;
pub mod info;
pub mod search;
pub mod similarity;
pub mod vectors;

mod corpus;
mod neighbor_table;
mod plan_svg;
