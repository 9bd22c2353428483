//! Writing embeddings, and writing files at all.
//!
//! Embeddings go to a `.npy`, `.parquet`, `.jsonl` or `.csv` file, or as JSON lines to
//! standard output. Rows are written as they come and none is kept, so memory does
//! not depend on their number.
//!
//! A file is either there whole or not at all: it is written under another name in
//! the same directory and renamed at the end ([`AsideFile`], which serves every other
//! kind of file too). A file that exists is replaced only when the user said so.
//! Where it all goes is checked before the work starts ([`Destination`]), because the
//! work may take hours.

mod aside;
mod background;
mod csv;
mod destination;
mod format;
mod ids;
mod json_lines;
mod npy;
mod parquet;
mod standard_output;
mod unfinished;
mod writer;

pub use aside::{AsideFile, cannot_write, check_target, is_same_target};
pub use background::BackgroundWriter;
pub use destination::Destination;
pub use ids::Ids;
pub use standard_output::{is_closed_pipe, print};
pub use unfinished::remove_unfinished;
