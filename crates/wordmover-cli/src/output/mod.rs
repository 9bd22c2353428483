//! Writing embeddings, and writing files at all.
//!
//! Embeddings go to a file of one of the [`formats`], or as JSON lines to standard output. Rows are written as they come and none is kept, so memory does
//! not depend on their number.
//!
//! A file is either there whole or not at all: it is written under another name in
//! the same directory and renamed at the end ([`OutputFile`], which serves every other
//! kind of file too). A file that exists is replaced only with `--force`.
//! Where it all goes is checked before the work starts ([`check_outputs`]), because the
//! work may take hours.

mod background;
mod destination;
mod formats;
mod standard_output;
mod target;
mod writer;

pub use background::BackgroundWriter;
pub use destination::Destination;
pub use formats::{Cell, Ids, TableWriter, as_cell, suffixes};
pub use standard_output::{is_closed_pipe, print};
pub use target::{OutputFile, cannot_write, check_outputs};
