//! The word vectors that are part of the library.
//!
//! 81,000 English words in 160 dimensions, int8, with parts of words for those that are not
//! among them: distilled from the sentence transformer all-MiniLM-L6-v2. Where they come from
//! and how they were made is told in `data/README.md`.

use std::sync::Arc;

use super::WordVectors;

static BYTES: &[u8] = include_bytes!("../../data/minilm-160d-81k.int8.safetensors");

const NAME: &str = "minilm-160d-81k";

impl WordVectors {
    /// The built-in table: 81,000 English words (lower case), dimension 160, stored in int8,
    /// with the parts of words that others are composed of, and with the words' probabilities.
    ///
    /// The matrix stays where it is in the program; each call copies the words
    /// and builds their index, a few milliseconds. Share the result.
    pub fn builtin() -> Self {
        WordVectors::from_owner(Arc::new(BYTES), NAME, usize::MAX)
            .expect("the built-in table is sound: a test opens it")
    }
}
