//! Errors in how the program was called.
//!
//! The program ends with code 2 when its arguments make no sense and with code 1
//! for everything else. Some of the former are found only after a file was opened
//! (which column holds the text?), far from the argument parser, so they travel as
//! ordinary errors and are told apart by this type.

use std::fmt;

/// The arguments, not the data or the machine, are at fault.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// A usage error with this message.
pub fn usage_error(message: impl Into<String>) -> anyhow::Error {
    UsageError(message.into()).into()
}

/// Whether the error, or anything that caused it, is a usage error.
pub fn is_usage_error(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<UsageError>())
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_usage_error_is_recognised_under_added_context() {
        let plain = usage_error("--field is required");
        assert!(is_usage_error(&plain));
        assert_eq!(plain.to_string(), "--field is required");

        let wrapped: anyhow::Result<()> = Err(usage_error("no")).context("reading docs.jsonl");
        assert!(is_usage_error(&wrapped.unwrap_err()));
    }

    #[test]
    fn any_other_error_is_not_a_usage_error() {
        assert!(!is_usage_error(&anyhow::anyhow!("disk full")));
    }
}
