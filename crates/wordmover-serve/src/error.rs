//! Errors: one JSON object with a sentence, the same four fields whatever went wrong.

use hyper::StatusCode;
use serde_json::json;

/// An answer that is not the one asked for, in the form that OpenAI's clients know:
/// `{"error": {"message", "type", "param", "code"}}`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiError {
    pub status: StatusCode,
    pub kind: &'static str,
    pub message: String,
    pub param: Option<String>,
    pub code: Option<&'static str>,
    /// Seconds after which to try again.
    pub retry_after: Option<u64>,
    /// Methods that the path has, for status 405.
    pub allow: Option<&'static str>,
    /// Whether the connection cannot be used again: part of the request is unread.
    pub closes: bool,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        ApiError {
            status,
            kind,
            message: message.into(),
            param: None,
            code: None,
            retry_after: None,
            allow: None,
            closes: false,
        }
    }

    /// Status 400: the request cannot be answered as it is.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// Status 400 for a field of the body.
    pub fn field(name: impl Into<String>, message: impl Into<String>) -> Self {
        let mut error = Self::invalid(message);
        error.param = Some(name.into());
        error
    }

    /// The same with another status.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub fn closing(mut self) -> Self {
        self.closes = true;
        self
    }

    /// Status 429: there is more work than the service takes on.
    pub fn busy(message: impl Into<String>, retry_after: u64) -> Self {
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "requests", message);
        error.retry_after = Some(retry_after.max(1));
        error.code("rate_limit_exceeded")
    }

    /// Status 503: not now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", message);
        error.retry_after = Some(1);
        error
    }

    /// Status 500: our fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message)
    }

    pub fn body(&self) -> String {
        json!({ "error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }})
        .to_string()
    }
}

impl From<wordmover::Error> for ApiError {
    /// What the library refuses after the request was checked is not the client's mistake.
    fn from(error: wordmover::Error) -> Self {
        ApiError::internal(wordmover::error_message::of(&error))
    }
}

impl From<wordmover_classify::Error> for ApiError {
    fn from(error: wordmover_classify::Error) -> Self {
        ApiError::internal(wordmover::error_message::of(&error))
    }
}

/// Why a service cannot start, or cannot take up its files again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address asked for.
        address: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Threads or signal handlers cannot be had.
    #[error("cannot start the service")]
    Start(#[source] std::io::Error),
    /// A public address without a key.
    #[error(
        "{0} can be reached from other machines: give --api-key-file, or --no-api-key to serve everybody"
    )]
    Public(std::net::SocketAddr),
    /// The file of the key cannot be read.
    #[error("cannot read {path}")]
    ReadKey {
        /// The file.
        path: std::path::PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file of the key holds no key.
    #[error("{path} holds no key: it needs one line of at least {least} visible ASCII characters")]
    NoKey {
        /// The file.
        path: std::path::PathBuf,
        /// Shortest key.
        least: usize,
    },
    /// A model cannot be used.
    #[error(transparent)]
    Model(#[from] wordmover::Error),
    /// A classifier cannot be used.
    #[error(transparent)]
    Classifier(#[from] wordmover_classify::Error),
}
