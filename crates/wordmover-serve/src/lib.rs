//! An HTTP service for Word Mover's Embeddings and Distances: what `wordmover serve` runs.
//!
//! `POST /v1/embeddings` has OpenAI's contract, so that its clients work unchanged; the
//! other routes are in `openapi.json`, which the service itself serves, and in
//! `docs/serve.md`. At `/` is a page that shows which words of two texts correspond.
//!
//! | module | what it decides |
//! | --- | --- |
//! | `connection`, `timed_io` | who may connect, and how long clients may take |
//! | `service`, `router`, `key`, `body` | from a request to an answer: paths, keys, limits, headers |
//! | `routes/` | what each path reads and writes |
//! | `work` | the queue, the batches, the rayon pool |
//! | `served` | the models, and taking them up anew |
//! | `memory`, `metrics`, `log` | what is bounded, counted and told |
//! | [`alignment`] | the words of two texts and the plan between them |
//! | `page` | the files of the page |
//!
//! Nothing is printed: lines of the log go to a function of the caller's.

#![deny(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod alignment;
mod base64;
mod body;
mod connection;
mod error;
mod fields;
mod key;
mod limits;
mod log;
mod memory;
mod metrics;
mod page;
mod router;
mod routes;
mod served;
mod server;
mod service;
mod timed_io;
mod work;

pub use error::Error;
pub use limits::Limits;
pub use log::{LogFormat, LogSink};
pub use page::stand_alone;
pub use served::Sources;
pub use server::{ServeParams, Server, Stop};
