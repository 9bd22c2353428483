//! What can go wrong.

use cudarc::driver::DriverError;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No CUDA driver on this machine.
    #[error("no CUDA driver is installed on this machine")]
    NoDriver,
    /// A driver, but no such GPU.
    #[error("there is no GPU {ordinal}: the CUDA driver sees {found}")]
    NoDevice {
        /// The GPU asked for.
        ordinal: usize,
        /// How many there are.
        found: usize,
    },
    /// The driver refused something.
    #[error("the CUDA driver failed while {doing}")]
    Driver {
        /// What it was asked for.
        doing: &'static str,
        /// What it says.
        #[source]
        source: DriverError,
    },
    /// Slices whose lengths do not fit each other.
    #[error("expected {expected} {what}, found {found}")]
    WrongLength {
        /// Of what.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Starts that do not ascend, or a random document without words.
    #[error("{what} {index} does not end after it starts")]
    BadStart {
        /// Document or random document.
        what: &'static str,
        /// Which one.
        index: usize,
    },
    /// A word without a vector.
    #[error("word {word} of document {document} has no vector: there are {n_words}")]
    NoVector {
        /// The word.
        word: u32,
        /// Whose it is.
        document: usize,
        /// How many vectors there are.
        n_words: usize,
    },
    /// A weight that is not positive and finite.
    #[error("weight {weight} in document {document} is not a positive number")]
    BadWeight {
        /// The weight.
        weight: f64,
        /// Whose it is.
        document: usize,
    },
    /// The library's solver found something else.
    #[error(
        "GPU and CPU disagree about document {document} and random document {random}: {found} and {expected}"
    )]
    Disagreement {
        /// Row of the distance.
        document: usize,
        /// Its column.
        random: usize,
        /// On the GPU.
        found: f32,
        /// On the CPU.
        expected: f32,
    },
    /// A transport problem that the library refuses, too.
    #[error("problem {index}")]
    Problem {
        /// Which one of the batch.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: wordmover::Error,
    },
    /// The library's solver failed.
    #[error(transparent)]
    Host(#[from] wordmover::Error),
}

/// Names what the driver was doing.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T>;
}

impl<T> Doing<T> for std::result::Result<T, DriverError> {
    fn doing(self, doing: &'static str) -> Result<T> {
        self.map_err(|source| Error::Driver { doing, source })
    }
}
