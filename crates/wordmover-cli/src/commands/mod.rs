//! One file per subcommand.

pub mod distance;
pub mod embed;
pub mod fit;
pub mod info;
pub mod vectors;

mod corpus;
mod plan_svg;
