//! Reading documents: plain text, TSV, CSV and JSON lines, each perhaps gzipped.
//!
//! Every format is streamed: one document is in memory at a time, and a line (or a
//! CSV row) longer than 256 MiB is refused, so that memory does not depend on the
//! size of the file. Every failure names the file and, past the first byte, the line.
//!
//! Documents are counted and never dropped. Rows without an id are known by their
//! number later on, so a reader that quietly skipped a row would shift every label
//! after it. Hence the one rule for blank lines:
//!
//! - where a row is a single text (text files, tables of one column), a blank line is
//!   an empty document;
//! - where it cannot be a row (tables of several columns, JSON lines), blank lines at
//!   the end of the file are ignored and any other is an error.
//!
//! Embeddings made earlier are read whole, in [`npy`].
//!
//! Encodings other than UTF-8 are left out: a byte that is not UTF-8 is an error.

mod columns;
mod csv;
mod documents;
mod format;
#[cfg(test)]
mod fuzz_tests;
mod json_lines;
mod lines;
pub mod npy;
mod options;
mod pairs;
mod row;
mod source;
mod table;
mod tsv;

pub use documents::{DocumentText, Documents, open, open_all, shown_all};
pub use format::Format;
pub use lines::read_text;
pub use options::InputOptions;
pub use pairs::{Pair, read_pairs};
pub use source::shown;
