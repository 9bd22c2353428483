//! The words of a table, packed into one string, and the index that finds them.
//!
//! A `String` per word would cost 24 bytes and an allocation each. Packed, a word
//! costs its letters, four bytes for its end, and five to ten in the index; and
//! the native form can be taken over with two copies.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct words, numbered from 0 in the order in which they came.
#[derive(Default)]
pub(super) struct WordList {
    text: String,
    /// Where each word ends in `text`; it begins where the one before ends.
    ends: Vec<u32>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// Why a word cannot join the list.
#[derive(Debug, PartialEq)]
pub(super) enum Refused {
    /// It is there already, with this id.
    Duplicate(u32),
    /// Ids or offsets would not fit 32 bits.
    Full,
}

/// A second occurrence of a word, and the id of the first.
#[derive(Debug, PartialEq)]
pub(super) struct Duplicate {
    pub(super) id: u32,
    pub(super) first: u32,
    pub(super) word: String,
}

impl WordList {
    /// Takes over words that are packed already.
    ///
    /// `ends` must not decrease, must lie on character boundaries, and must not
    /// number more than [`super::MAX_WORDS`]; the reader of the native form has
    /// seen to it.
    pub(super) fn from_packed(text: String, ends: Vec<u32>) -> Result<Self, Duplicate> {
        let mut list = WordList {
            index: HashTable::with_capacity(ends.len()),
            text,
            ends,
            hasher: DefaultHashBuilder::default(),
        };
        for id in 0..list.ends.len() as u32 {
            if let Err(first) = list.enter(id) {
                let word = list.word(id).to_owned();
                return Err(Duplicate { id, first, word });
            }
        }
        Ok(list)
    }

    /// Appends a word.
    pub(super) fn push(&mut self, word: &str) -> Result<(), Refused> {
        let id = self.ends.len() as u32;
        if self.ends.len() as u64 >= super::MAX_WORDS {
            return Err(Refused::Full);
        }
        let end = u32::try_from(self.text.len() + word.len()).map_err(|_| Refused::Full)?;
        self.text.push_str(word);
        self.ends.push(end);
        self.enter(id).map_err(Refused::Duplicate)
    }

    /// Puts a word that is in `text` and `ends` into the index, or returns the
    /// id of its equal.
    fn enter(&mut self, id: u32) -> Result<(), u32> {
        let WordList {
            text,
            ends,
            index,
            hasher,
        } = self;
        let hash = |id: u32| hasher.hash_one(word_at(text, ends, id));
        let equal = |&other: &u32| word_at(text, ends, other) == word_at(text, ends, id);
        match index.entry(hash(id), equal, |&other| hash(other)) {
            Entry::Occupied(entry) => Err(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(id);
                Ok(())
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The word with this id. Panics when there is none.
    pub(super) fn word(&self, id: u32) -> &str {
        word_at(&self.text, &self.ends, id)
    }

    pub(super) fn id(&self, word: &str) -> Option<u32> {
        let text = self.text.as_bytes();
        // As bytes: where characters begin need not be asked again.
        let is_here = |&id: &u32| &text[range_of(&self.ends, id)] == word.as_bytes();
        self.index
            .find(self.hasher.hash_one(word), is_here)
            .copied()
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.ends.len() as u32).map(|id| self.word(id))
    }

    /// All words, one after the other.
    pub(super) fn packed(&self) -> &str {
        &self.text
    }

    /// Where each word ends in [`packed`](Self::packed).
    pub(super) fn ends(&self) -> &[u32] {
        &self.ends
    }
}

/// The word with this id, free of the list so that the index can be borrowed mutably.
fn word_at<'a>(text: &'a str, ends: &[u32], id: u32) -> &'a str {
    &text[range_of(ends, id)]
}

/// Where the word with this id is.
#[inline]
fn range_of(ends: &[u32], id: u32) -> Range<usize> {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    start as usize..ends[id] as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_id_and_id_by_word() {
        let mut list = WordList::default();
        for word in ["the", "naïve", "of"] {
            list.push(word).unwrap();
        }
        assert_eq!(list.iter().collect::<Vec<_>>(), ["the", "naïve", "of"]);
        assert_eq!(list.id("naïve"), Some(1));
        assert_eq!(list.id("na"), None);
        assert_eq!(list.id(""), None);

        let packed = WordList::from_packed(list.packed().into(), list.ends().into()).unwrap();
        assert_eq!(packed.len(), 3);
        assert_eq!(packed.id("of"), Some(2));
    }

    #[test]
    fn a_second_occurrence_is_refused() {
        let mut list = WordList::default();
        list.push("a").unwrap();
        list.push("b").unwrap();
        assert_eq!(list.push("a"), Err(Refused::Duplicate(0)));
        let packed = WordList::from_packed("aba".into(), vec![1, 2, 3]);
        assert_eq!(
            packed.err(),
            Some(Duplicate {
                id: 2,
                first: 0,
                word: "a".into()
            })
        );
    }

    #[test]
    fn many_words_keep_their_ids() {
        let mut list = WordList::default();
        for number in 0..10_000 {
            list.push(&number.to_string()).unwrap();
        }
        for number in 0..10_000u32 {
            assert_eq!(list.id(&number.to_string()), Some(number));
        }
    }
}
