//! The program as its users meet it: the real binary, run in a directory of its own,
//! judged by its standard output, standard error, exit code and the files it leaves.

mod classify;
mod distance;
mod embed;
mod explain;
mod files;
mod fit;
mod formats;
mod index;
mod points;
mod reports;
mod robustness;
mod search;
mod similarity;
mod support;
mod usage;
mod vectors;
