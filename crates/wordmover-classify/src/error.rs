//! The crate's one error type: variants carry facts, the sentence is made here.

use std::path::PathBuf;

/// What the crate's fallible functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong between labelled texts and a prediction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to learn from, or nothing to judge by.
    #[error("there are no {what}")]
    NoDocuments {
        /// What is missing.
        what: &'static str,
    },
    /// A document to learn from has no class.
    #[error("document {} has no class", row + 1)]
    NoLabel {
        /// Its position.
        row: usize,
    },
    /// A document has several classes where it may have one.
    #[error("document {} has several classes; the classifier gives one to a document", row + 1)]
    SeveralLabels {
        /// Its position.
        row: usize,
    },
    /// A classifier needs something to tell apart.
    #[error("the {what} ({n_documents}) are all of class `{class}`: at least two are needed")]
    OneClass {
        /// Which documents.
        what: &'static str,
        /// The only class.
        class: String,
        /// How many documents there are.
        n_documents: usize,
    },
    /// No document to learn from has a known word.
    #[error("none of the {n_documents} training documents has a word that the vectors know")]
    NoKnownWords {
        /// How many there are.
        n_documents: usize,
    },
    /// No document to learn from has a word at all.
    #[error("none of the {n_documents} training documents has a word")]
    NoWords {
        /// How many there are.
        n_documents: usize,
    },
    /// There are more folds than documents.
    #[error(
        "{n_documents} training documents with known words cannot be divided into {n_folds} folds"
    )]
    TooFewDocuments {
        /// Documents that can be learnt from.
        n_documents: usize,
        /// Folds of the protocol.
        n_folds: usize,
    },
    /// Without one fold, a single class would be left.
    #[error(
        "class `{class}` has too few training documents with known words ({n_documents}): \
         cross-validation would learn from the other class alone"
    )]
    ClassTooSmall {
        /// The small class.
        class: String,
        /// Its members.
        n_documents: usize,
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
    /// A model file without a classifier in it, or with a damaged one.
    #[error("{name}: {reason}")]
    InvalidClassifier {
        /// The file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The cache cannot be read or written.
    #[error("cannot use the cache {}", path.display())]
    Cache {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What the embedding or the search had to say.
    #[error(transparent)]
    Text(wordmover::Error),
    /// What the learner had to say.
    #[error(transparent)]
    Learn(wordmover_learn::Error),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<wordmover::Error> for Error {
    fn from(error: wordmover::Error) -> Self {
        match error {
            wordmover::Error::Interrupted => Error::Interrupted,
            other => Error::Text(other),
        }
    }
}

impl From<wordmover_learn::Error> for Error {
    fn from(error: wordmover_learn::Error) -> Self {
        match error {
            wordmover_learn::Error::Interrupted => Error::Interrupted,
            other => Error::Learn(other),
        }
    }
}
