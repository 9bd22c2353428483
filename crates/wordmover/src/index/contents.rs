//! What is in an index, document by document.

use super::open::SearchIndex;
use crate::error::Result;

/// A document as the index keeps it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredDocument<'i> {
    /// Its id, or its number where documents have no ids.
    pub id: &'i str,
    /// Its text.
    pub text: &'i str,
    /// Its embedding by the model of the index; zeros for a text without words.
    pub embedding: Vec<f32>,
}

impl SearchIndex {
    /// The documents that can be found, in the order in which they came. Items are errors
    /// where the index is damaged.
    pub fn documents(&self) -> impl Iterator<Item = Result<StoredDocument<'_>>> {
        let live = self.segments.iter().flat_map(|segment| {
            let numbers = 0..segment.entry.documents;
            let live = numbers.filter(|&i| !segment.is_removed(i));
            live.map(move |i| (segment, i))
        });
        live.map(|(segment, i)| {
            let numbers = segment.embedding(i).iter();
            Ok(StoredDocument {
                id: self.found(segment.id(i))?,
                text: self.found(segment.text(i))?,
                embedding: numbers.map(|&x| f32::from_le_bytes(x)).collect(),
            })
        })
    }
}
