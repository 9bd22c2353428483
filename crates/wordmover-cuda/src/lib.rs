//! Exact transport on a CUDA GPU: distances from documents to random documents, and batches of
//! any transport problems.
//!
//! The same distances as the library's features are made of: bags (word ids and weights) and
//! random documents in, single-precision distances out ([`Device::distances`]). Ground costs
//! have the bits of the library's, and every transport is solved exactly, in integers; what the
//! GPU cannot take (see [`Statistics::on_host`]) the library's own solver solves, and a sample
//! of every call is compared with it. Batches of transport problems of any shapes
//! ([`Device::transport_costs`]) come with dual values, by which every cost is proven. Design, error bounds and measurements: `docs/gpu.md`.
//!
//! Nothing of CUDA is needed to build this crate: the driver is loaded at run time, and the
//! kernels are embedded as PTX (`kernels/`, made by `kernels/make_ptx.py`). Without a driver,
//! [`Device::open`] says so.

#![deny(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod accelerator;
mod arena;
mod batch;
mod block;
mod device;
mod error;
mod input;
mod kernels;
mod masses;
mod plan;
mod reference;
mod run;

pub use batch::{BatchStatistics, TransportProblem};
pub use device::Device;
pub use error::{Error, Result};
pub use input::{Bags, RandomDocuments, Statistics};
pub use reference::distance_on_host;
