//! L2-regularised linear SVM with squared hinge loss, one class against the rest:
//! LIBLINEAR's `-s 2`, for dense features.
//!
//! Features are stored as f32 and all arithmetic is f64: features of a Word Mover's
//! Embedding differ in their third digit, and C runs up to 1e8, so single precision
//! would decide where the solver stops. `docs/svm.md` has the measurements.

mod design;
mod gram;
mod machine;
mod model;
mod newton;
pub(crate) mod panels;
mod params;
mod vectors;

pub use machine::{Solution, Stop};
pub use model::LinearSvm;
pub use params::{CheckedSvmParams, SvmParams};
