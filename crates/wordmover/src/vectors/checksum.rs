//! The identity of a table: SHA-256 over its words and values, the same in
//! whatever file format they came.
//!
//! Hashed are: dimension and number of words (`u64`), for each word its length
//! in bytes (`u32`) and its bytes, then all values (`f32`) row by row as they
//! are after decoding; every number little-endian.

use sha2::{Digest, Sha256};

use super::rows::Rows;
use super::subwords::Pieces;
use super::words::WordList;
use super::{VectorsError, WordVectors};
use crate::Result;
use crate::content_hash::hex;

impl WordVectors {
    /// The SHA-256 of the content in lower-case hexadecimal: the same for the
    /// same words and values, whatever file they came from.
    ///
    /// Hashed are the dimension and the number of words (`u64`), each word's
    /// length in bytes (`u32`) and its bytes, then all values (`f32`) row by
    /// row; numbers are little-endian. Fewer bits per value are other values,
    /// so each [precision](crate::vectors::Precision) of one table has its own checksum.
    ///
    /// A native file states its checksum, and this returns what it states
    /// without reading the rows; [`verify_checksum`](Self::verify_checksum)
    /// reads them. Otherwise the first call computes it, at 1.4 GB of values a
    /// second on a processor with SHA instructions.
    pub fn checksum(&self) -> &str {
        self.checksum.get_or_init(|| self.compute_checksum())
    }

    /// Reads the whole table and compares it with its checksum.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`](crate::Error::InvalidVectors) when they differ, which means that the native
    /// file has been damaged since it was written.
    pub fn verify_checksum(&self) -> Result<()> {
        let same = |expected: &str, found: String| match found == expected {
            true => Ok(()),
            false => {
                let expected = expected.to_owned();
                Err(self.invalid(VectorsError::Checksum { expected, found }))
            }
        };
        same(self.checksum(), self.compute_checksum())?;
        match &self.pieces {
            Some(pieces) => same(pieces.checksum(), pieces.compute_checksum()),
            None => Ok(()),
        }
    }

    fn compute_checksum(&self) -> String {
        hash_of(&self.words, &self.rows).finish()
    }
}

impl Pieces {
    fn compute_checksum(&self) -> String {
        let hash = hash_of(self.list(), self.rows());
        hash.with_ids(self.words()).finish()
    }
}

fn hash_of(words: &WordList, rows: &Rows) -> VectorsHash {
    let mut hash = VectorsHash::new(rows.dim(), words);
    let mut row = vec![0.0; rows.dim()];
    for id in 0..words.len() {
        rows.copy_row(id, &mut row);
        hash.row(&row);
    }
    hash
}

/// Words hashed, values still to come.
#[derive(Clone)]
pub(super) struct VectorsHash {
    sha: Sha256,
    bytes: Vec<u8>,
}

impl VectorsHash {
    pub(super) fn new(dim: usize, words: &WordList) -> Self {
        let mut sha = Sha256::new();
        sha.update((dim as u64).to_le_bytes());
        sha.update((words.len() as u64).to_le_bytes());
        for word in words.iter() {
            // A word is part of a text of less than 4 GiB.
            sha.update((word.len() as u32).to_le_bytes());
            sha.update(word);
        }
        VectorsHash {
            sha,
            bytes: Vec::with_capacity(4 * dim),
        }
    }

    pub(super) fn row(&mut self, values: &[f32]) {
        self.bytes.clear();
        self.bytes
            .extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.sha.update(&self.bytes);
    }

    /// Adds the ids of words that are pieces, too.
    pub(super) fn with_ids(mut self, ids: &[u32]) -> Self {
        for id in ids {
            self.sha.update(id.to_le_bytes());
        }
        self
    }

    /// Lower-case hexadecimal.
    pub(super) fn finish(self) -> String {
        hex(&self.sha.finalize())
    }
}
