//! The library's errors as Python's exceptions, in one place.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use wordmover::Error;
use wordmover::index::IndexError;
use wordmover::transport::TransportError;

pyo3::create_exception!(
    wordmover,
    ModelError,
    PyValueError,
    "A model file that cannot be used, or word vectors that are not the model's."
);

/// An exception with the library's words.
pub fn to_python(error: Error) -> PyErr {
    match &error {
        Error::Read { path, source } | Error::Write { path, source } => {
            let shown = path.display().to_string();
            match number_of(source) {
                // Python chooses the subclass by the number: FileNotFoundError and so on.
                Some(number) => {
                    let verb = error.to_string().replace(&format!(" {shown}"), "");
                    let reason = source.to_string();
                    let reason = reason.split(" (os error").next().unwrap_or_default();
                    PyOSError::new_err((number, format!("{verb}: {reason}"), shown))
                }
                None => PyOSError::new_err(in_full(&error)),
            }
        }
        Error::InvalidIndex { name, problem } => match problem {
            IndexError::Exists | IndexError::Foreign => {
                let number = number_of(&ErrorKind::AlreadyExists.into());
                PyOSError::new_err((number, problem.to_string(), name.clone()))
            }
            IndexError::Locked => PyOSError::new_err(error.to_string()),
            _ => PyValueError::new_err(error.to_string()),
        },
        Error::InvalidModel { .. } => ModelError::new_err(in_full(&error)),
        Error::InvalidTransport(TransportError::NotSolved { .. }) => {
            PyRuntimeError::new_err(in_full(&error))
        }
        Error::InvalidTransport(TransportError::Unbalanced { .. }) => {
            let hint = "normalize=True divides each side by its sum";
            PyValueError::new_err(format!("{error} ({hint})"))
        }
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => PyValueError::new_err(in_full(&error)),
    }
}

/// A corpus without a word to go by: the vectors know none, or all are too rare.
pub fn no_words(n_documents: u64, min_count: u64) -> PyErr {
    if min_count <= 1 {
        return to_python(Error::EmptyCorpus { n_documents });
    }
    PyValueError::new_err(format!(
        "none of the {n_documents} documents has a word that the vectors know and that occurs \
         {min_count} times (min_count)"
    ))
}

/// The system's number of an error: its own, or that of its kind, which is the same on
/// every system for these.
fn number_of(error: &io::Error) -> Option<i32> {
    error.raw_os_error().or(match error.kind() {
        ErrorKind::NotFound => Some(2),
        ErrorKind::PermissionDenied => Some(13),
        ErrorKind::AlreadyExists => Some(17),
        ErrorKind::NotADirectory => Some(20),
        ErrorKind::IsADirectory => Some(21),
        _ => None,
    })
}

/// The message with its causes.
fn in_full(error: &Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        message.push_str(": ");
        message.push_str(&source.to_string());
        cause = source.source();
    }
    message
}
