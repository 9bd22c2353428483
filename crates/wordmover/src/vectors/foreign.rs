//! What the readers of foreign formats fill.

use super::error::Checked;
use super::words::{Refused, WordList};
use super::{Place, VectorsError};

/// A table that grows a word at a time.
pub(super) struct GrowingTable {
    pub(super) words: WordList,
    /// The reader appends a row here before it enters the row's word.
    pub(super) values: Vec<f32>,
    pub(super) dim: usize,
}

impl GrowingTable {
    /// An empty table; nothing is reserved, because a header may promise anything.
    pub(super) fn new(dim: usize) -> Self {
        GrowingTable {
            words: WordList::default(),
            values: Vec::new(),
            dim,
        }
    }

    /// How many words there are.
    pub(super) fn len(&self) -> u64 {
        self.words.len() as u64
    }

    /// Enters the word found at `at`. `place_of` says where the word with a
    /// given id was found.
    pub(super) fn push_word(
        &mut self,
        word: &str,
        at: Place,
        place_of: impl Fn(u64) -> Place,
    ) -> Checked<()> {
        if word.is_empty() {
            return Err(VectorsError::EmptyWord { at });
        }
        self.words.push(word).map_err(|refused| match refused {
            Refused::Full => VectorsError::TooManyWords { at },
            Refused::Duplicate(first) => VectorsError::DuplicateWord {
                at,
                word: word.to_owned(),
                first: place_of(first.into()),
            },
        })
    }
}
