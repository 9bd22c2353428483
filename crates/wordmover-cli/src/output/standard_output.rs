//! Results that go to standard output.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Prints a whole result.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write standard output")
}

/// The reader of our output has closed it: `wordmover ... | head` is no failure.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
