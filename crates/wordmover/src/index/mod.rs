//! A search index that is kept on disk and grows.
//!
//! A [`SearchIndex`] is a folder of files that are mapped into memory, so that it opens in
//! the same time whatever its size. It holds texts, ids, weighted bags, word vectors,
//! embeddings and postings; documents are added in segments, removed by a bit, and gathered
//! anew by [`compact`](SearchIndex::compact). Files never change once they are named by the
//! manifest, which is replaced as a whole: an interrupted change leaves the index as it was,
//! and readers that have it open keep what they opened. One program writes at a time.
//! `docs/index-format.md` describes the files.
//!
//! ```
//! use std::sync::Arc;
//! use wordmover::index::{IndexParams, NewDocument, SearchBy, SearchIndex};
//! use wordmover::vectors::WordVectors;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("docs.wmi");
//! let texts = ["The band gave a concert in Japan", "Obama speaks to the media in Illinois"];
//! let documents = texts.map(|text| NewDocument::numbered(text));
//! let vectors = Arc::new(WordVectors::builtin());
//! let mut index = SearchIndex::build(&path, &IndexParams::default(), vectors, &documents)?;
//! index.add(&[NewDocument::numbered("Shares fall in Tokyo")])?;
//!
//! let index = SearchIndex::open(&path, None)?;
//! let hits = index.search("The president greets the press", 1, SearchBy::Wmd)?;
//! assert_eq!((hits[0].id.as_str(), hits[0].text.as_str()), ("1", texts[1]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contents;
mod copy;
mod corpus;
mod error;
mod graph;
mod hits;
mod hybrid;
mod manifest;
mod open;
mod search;
mod segment;
mod segment_writer;
mod write;

#[cfg(test)]
mod tests;

pub use contents::StoredDocument;
pub use error::IndexError;
pub use hits::{Hit, HitParts, SearchBy};
pub use open::{IndexInfo, SearchIndex, is_index};
pub use search::SearchOptions;
pub use write::{IndexParams, NewDocument, check_place};
