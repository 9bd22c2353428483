//! Tests of the word-vector table through the public interface.

#![expect(clippy::print_stderr, reason = "skipped tests say so")]

mod allocations;
#[cfg(feature = "builtin-vectors")]
mod builtin;
mod checksum;
mod fasttext;
mod formats;
mod mutation;
mod native;
mod nearest;
mod rejections;
mod samples;
mod shared_data;
