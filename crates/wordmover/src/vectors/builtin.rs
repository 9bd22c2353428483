//! The word vectors that are part of the library.
//!
//! 80,000 words of GloVe 6B in 100 dimensions, int8. Where they come from and
//! how they were made is told in `data/README.md`.

use std::sync::Arc;

use super::WordVectors;

static BYTES: &[u8] = include_bytes!("../../data/glove-6b-100d-80k.int8.safetensors");

const NAME: &str = "glove-6b-100d-80k";

impl WordVectors {
    /// The built-in table: the 80,000 most frequent words of GloVe 6B (lower
    /// case, English), dimension 100, stored in int8.
    ///
    /// The matrix stays where it is in the program; each call copies the words
    /// and builds their index, a few milliseconds. Share the result.
    ///
    /// The source lacks `a`, `i` and `'s`.
    pub fn builtin() -> Self {
        WordVectors::from_owner(Arc::new(BYTES), NAME, usize::MAX)
            .expect("the built-in table is sound: a test opens it")
    }
}
