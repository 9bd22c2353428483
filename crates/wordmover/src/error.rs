//! The library's one error type.
//!
//! Variants carry facts; the sentence is made from them in one place. A cause
//! that is itself an error is the `source`, never repeated in the message.

use std::path::PathBuf;

use crate::document::DocumentError;
use crate::format::ModelError;
use crate::index::IndexError;
use crate::points::PointsError;
use crate::transport::TransportError;
use crate::vectors::VectorsError;

/// What the library's fallible functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong on the way from a text to its embedding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A word-vector file, or words and vectors given by the caller, cannot be used.
    #[error("{name}: {problem}")]
    InvalidVectors {
        /// The file, or another name of the input.
        name: String,
        /// What is wrong with it, and where.
        problem: VectorsError,
    },
    /// A file of word counts cannot be used.
    #[error("{name}: line {line}: expected a word and its count")]
    InvalidCounts {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
    },
    /// A transport problem cannot be solved.
    #[error("{0}")]
    InvalidTransport(TransportError),
    /// Sets of points cannot be used.
    #[error("{0}")]
    InvalidPoints(PointsError),
    /// A bag of words given by the caller cannot be used.
    #[error("{0}")]
    InvalidDocument(DocumentError),
    /// A document without a known word has no Word Mover's Distance.
    #[error("the document has no word that the vectors know")]
    EmptyDocument,
    /// There is nothing to fit a model on.
    #[error(
        "none of the {n_documents} documents has a word that the vectors know: nothing to fit on"
    )]
    EmptyCorpus {
        /// Documents seen.
        n_documents: u64,
    },
    /// A model file cannot be used.
    #[error("{name}: {problem}")]
    InvalidModel {
        /// The file.
        name: String,
        /// What is wrong with it.
        problem: ModelError,
    },
    /// A search index cannot be used or changed.
    #[error("{name}: {problem}")]
    InvalidIndex {
        /// The folder.
        name: String,
        /// What is wrong with it.
        problem: IndexError,
    },
    /// A parameter is out of its range.
    #[error("{name} is {value}: it must be {requirement}")]
    InvalidParameter {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it must be.
        requirement: &'static str,
    },
    /// A distance of the caller's is negative or not a number.
    #[error(
        "the distance of object {object} to random object {random_object} is {distance}: it must \
         be a number of at least 0"
    )]
    InvalidDistance {
        /// The object, from 0.
        object: usize,
        /// The random object, from 0.
        random_object: usize,
        /// What was given for a distance.
        distance: f64,
    },
    /// A feature is not finite, because values of the model are too large.
    #[error("feature {column} of document {row} is not finite: values of the model are too large")]
    NotFinite {
        /// The document, from 0.
        row: usize,
        /// The feature, from 0.
        column: usize,
    },
    /// An [accelerator](crate::accelerator) could not compute distances.
    #[error("{name} could not compute distances")]
    Accelerator {
        /// What it calls itself.
        name: String,
        /// What it says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        match error {
            TransportError::Interrupted => Error::Interrupted,
            _ => Error::InvalidTransport(error),
        }
    }
}
