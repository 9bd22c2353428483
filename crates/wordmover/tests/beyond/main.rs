//! Beyond words: sets of points, other metrics, any distance, and the kernel itself.

#[path = "../toy/mod.rs"]
mod toy;

mod any_distance;
mod kernel;
mod metrics;
mod points;
