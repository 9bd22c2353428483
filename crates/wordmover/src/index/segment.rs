//! A segment: documents that were added together, mapped into memory.
//!
//! Opening looks at the header alone. What the mapped bytes say is checked where it is used,
//! so that a damaged file is an error and never a crash; `verify` compares it with its checksum.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use safetensors::Dtype;
use sha2::{Digest, Sha256};

use super::IndexError;
use super::manifest::{FileEntry, SegmentEntry};
use crate::container::{self, ContainerError};
use crate::content_hash::hex;
use crate::document::Word;

/// Names of the tensors. Numbers are little-endian; lists of several documents are one after
/// the other, and `_ends` says where each ends.
pub(super) mod names {
    pub const ID_ENDS: &str = "id_ends";
    pub const TEXT_ENDS: &str = "text_ends";
    pub const BAG_ENDS: &str = "bag_ends";
    pub const BAG_WEIGHTS: &str = "bag_weights";
    pub const POSTING_ENDS: &str = "posting_ends";
    pub const UNKNOWN_WORD_ENDS: &str = "unknown_word_ends";
    pub const EMBEDDINGS: &str = "embeddings";
    pub const VECTORS: &str = "vectors";
    pub const SQUARED_LENGTHS: &str = "squared_lengths";
    pub const KNOWN_WORDS: &str = "known_words";
    pub const BAG_WORDS: &str = "bag_words";
    pub const ID_ORDER: &str = "id_order";
    pub const TOKENS: &str = "tokens";
    pub const POSTING_WORDS: &str = "posting_words";
    pub const POSTING_DOCUMENTS: &str = "posting_documents";
    pub const POSTING_COUNTS: &str = "posting_counts";
    pub const IDS: &str = "ids";
    pub const TEXTS: &str = "texts";
    pub const UNKNOWN_WORDS: &str = "unknown_words";
}

/// What is wrong with a file, before its name is added.
pub(super) type Found<T> = Result<T, IndexError>;

/// Numbers of words and their weights, as they stand in the file.
pub(super) type BagBytes<'b> = (&'b [[u8; 4]], &'b [[u8; 8]]);

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    map: Arc<Mmap>,
    pub entry: SegmentEntry,
    /// Number of its first new word.
    pub first_word: usize,
    /// Position of its first document in the index.
    pub first_document: usize,
    dim: usize,
    n_features: usize,
    /// A bit for each document, set where it was removed.
    removed: Vec<u8>,
    ranges: Ranges,
}

#[derive(Debug)]
struct Ranges {
    id_ends: Range<usize>,
    text_ends: Range<usize>,
    bag_ends: Range<usize>,
    bag_weights: Range<usize>,
    posting_ends: Range<usize>,
    unknown_word_ends: Range<usize>,
    embeddings: Range<usize>,
    vectors: Range<usize>,
    squared_lengths: Range<usize>,
    known_words: Range<usize>,
    bag_words: Range<usize>,
    id_order: Range<usize>,
    tokens: Range<usize>,
    posting_words: Range<usize>,
    posting_documents: Range<usize>,
    posting_counts: Range<usize>,
    ids: Range<usize>,
    texts: Range<usize>,
    unknown_words: Range<usize>,
}

/// Maps a file of an index, which must have the size that the manifest states.
pub(super) fn map(folder: &Path, entry: &FileEntry) -> std::io::Result<Found<Mmap>> {
    let file = File::open(folder.join(&entry.file))?;
    let found = file.metadata()?.len();
    if found != entry.bytes {
        let reason = format!("{found} bytes where {} are due", entry.bytes);
        return Ok(Err(damaged(&entry.file, reason)));
    }
    // SAFETY: the mapping is read-only. Files of an index are never changed once they have
    // their name, only removed, which leaves a mapping as it is. Where another program changes
    // one regardless, its bytes are only ever copied and decoded, and what they say is checked
    // at every use.
    Ok(Ok(unsafe { Mmap::map(&file) }?))
}

/// Compares mapped bytes with the checksum of the manifest.
pub(super) fn verify(entry: &FileEntry, bytes: &[u8]) -> Found<()> {
    match hex(&Sha256::digest(bytes)) == entry.sha256 {
        true => Ok(()),
        false => Err(damaged(&entry.file, "its checksum differs".to_owned())),
    }
}

pub(super) fn damaged(file: &str, reason: impl Into<String>) -> IndexError {
    IndexError::Damaged {
        file: file.to_owned(),
        reason: reason.into(),
    }
}

impl Segment {
    pub fn new(
        map: Mmap,
        entry: SegmentEntry,
        removed: Vec<u8>,
        first_word: usize,
        first_document: usize,
        (dim, n_features): (usize, usize),
    ) -> Found<Self> {
        let bad = |reason: String| damaged(&entry.data.file, reason);
        let (data_start, header) = container::parse(&map).map_err(|problem| {
            bad(match problem {
                ContainerError::Header { detail } => format!("its header: {detail}"),
                ContainerError::Size { expected, found } => {
                    format!("{found} bytes where {expected} are due")
                }
            })
        })?;
        let tensor = |name: &str, dtype: Dtype, shape: &[Option<usize>]| -> Found<Range<usize>> {
            let info = header
                .info(name)
                .ok_or_else(|| bad(format!("it has no {name}")))?;
            let lengths = info.shape.iter().zip(shape);
            let fits = info.dtype == dtype
                && info.shape.len() == shape.len()
                && lengths
                    .clone()
                    .all(|(found, due)| due.is_none_or(|due| due == *found));
            if !fits {
                return Err(bad(format!(
                    "its {name} has another type or shape than is due"
                )));
            }
            let (start, end) = info.data_offsets;
            Ok(data_start + start..data_start + end)
        };
        let n = Some(entry.documents);
        let n_unknown = Some(entry.composed_words + entry.other_words);
        let n_vectors = Some(entry.known_words + entry.composed_words);
        let bag_weights = tensor(names::BAG_WEIGHTS, Dtype::F64, &[None])?;
        let posting_words = tensor(names::POSTING_WORDS, Dtype::U32, &[None])?;
        let n_postings = Some(posting_words.len() / 4);
        let posting_documents = tensor(names::POSTING_DOCUMENTS, Dtype::U32, &[None])?;
        let ranges = Ranges {
            id_ends: tensor(names::ID_ENDS, Dtype::U64, &[n])?,
            text_ends: tensor(names::TEXT_ENDS, Dtype::U64, &[n])?,
            bag_ends: tensor(names::BAG_ENDS, Dtype::U64, &[n])?,
            posting_ends: tensor(names::POSTING_ENDS, Dtype::U64, &[n_postings])?,
            unknown_word_ends: tensor(names::UNKNOWN_WORD_ENDS, Dtype::U64, &[n_unknown])?,
            embeddings: tensor(names::EMBEDDINGS, Dtype::F32, &[n, Some(n_features)])?,
            vectors: tensor(names::VECTORS, Dtype::F32, &[n_vectors, Some(dim)])?,
            squared_lengths: tensor(names::SQUARED_LENGTHS, Dtype::F32, &[n_vectors])?,
            known_words: tensor(names::KNOWN_WORDS, Dtype::U32, &[Some(entry.known_words)])?,
            bag_words: tensor(names::BAG_WORDS, Dtype::U32, &[Some(bag_weights.len() / 8)])?,
            bag_weights,
            id_order: tensor(names::ID_ORDER, Dtype::U32, &[n])?,
            tokens: tensor(names::TOKENS, Dtype::U32, &[n])?,
            posting_words,
            posting_counts: tensor(
                names::POSTING_COUNTS,
                Dtype::U16,
                &[Some(posting_documents.len() / 4)],
            )?,
            posting_documents,
            ids: tensor(names::IDS, Dtype::U8, &[None])?,
            texts: tensor(names::TEXTS, Dtype::U8, &[None])?,
            unknown_words: tensor(names::UNKNOWN_WORDS, Dtype::U8, &[None])?,
        };
        if removed.len() != entry.documents.div_ceil(8) {
            return Err(bad(
                "the bits of its removed documents are not as many".to_owned()
            ));
        }
        Ok(Segment {
            map: Arc::new(map),
            entry,
            first_word,
            first_document,
            dim,
            n_features,
            removed,
            ranges,
        })
    }

    fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.map[range.clone()]
    }

    /// Numbers of `N` bytes each; the shape was checked.
    fn numbers<const N: usize>(&self, range: &Range<usize>) -> &[[u8; N]] {
        self.bytes(range).as_chunks().0
    }

    pub fn bad(&self, reason: impl Into<String>) -> IndexError {
        damaged(&self.entry.data.file, reason)
    }

    /// The `i`-th of several lists that follow each other.
    fn list(&self, ends: &Range<usize>, i: usize, len: usize) -> Found<Range<usize>> {
        let ends: &[[u8; 8]] = self.numbers(ends);
        let end = |i: usize| u64::from_le_bytes(ends[i]);
        let (start, end) = (if i == 0 { 0 } else { end(i - 1) }, end(i));
        match start <= end && end <= len as u64 {
            true => Ok(start as usize..end as usize),
            false => Err(self.bad("a list in it ends before it begins, or nowhere")),
        }
    }

    fn packed(&self, ends: &Range<usize>, bytes: &Range<usize>, i: usize) -> Found<&str> {
        let range = self.list(ends, i, bytes.len())?;
        let text = std::str::from_utf8(&self.bytes(bytes)[range]);
        text.map_err(|_| self.bad("a text in it is not UTF-8"))
    }

    /// The id of a document.
    pub fn id(&self, i: usize) -> Found<&str> {
        self.packed(&self.ranges.id_ends, &self.ranges.ids, i)
    }

    /// The text of a document.
    pub fn text(&self, i: usize) -> Found<&str> {
        self.packed(&self.ranges.text_ends, &self.ranges.texts, i)
    }

    /// Whether a document was removed.
    pub fn is_removed(&self, i: usize) -> bool {
        self.removed[i / 8] >> (i % 8) & 1 == 1
    }

    /// The whole file.
    pub fn whole(&self) -> &[u8] {
        &self.map
    }

    /// The bits of removed documents.
    pub fn removed(&self) -> &[u8] {
        &self.removed
    }

    /// The document with this id that was not removed.
    pub fn find(&self, id: &str) -> Found<Option<usize>> {
        let order: &[[u8; 4]] = self.numbers(&self.ranges.id_order);
        let document = |at: usize| match u32::from_le_bytes(order[at]) as usize {
            i if i < self.entry.documents => Ok(i),
            _ => Err(self.bad("its order of ids names a document that is not there")),
        };
        let (mut low, mut high) = (0, order.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(document(middle)?)? < id {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        while low < order.len() {
            let i = document(low)?;
            if self.id(i)? != id {
                break;
            }
            if !self.is_removed(i) {
                return Ok(Some(i));
            }
            low += 1;
        }
        Ok(None)
    }

    /// Words of a document, counted.
    pub fn tokens(&self, i: usize) -> u32 {
        u32::from_le_bytes(self.numbers(&self.ranges.tokens)[i])
    }

    /// Numbers and weights of the words of a document, as they stand; none if it was removed.
    pub fn bag_bytes(&self, i: usize) -> Found<BagBytes<'_>> {
        let words: &[[u8; 4]] = self.numbers(&self.ranges.bag_words);
        let weights: &[[u8; 8]] = self.numbers(&self.ranges.bag_weights);
        let range = match self.is_removed(i) {
            true => 0..0,
            false => self.list(&self.ranges.bag_ends, i, words.len())?,
        };
        Ok((&words[range.clone()], &weights[range]))
    }

    /// Numbers and weights of the words of a document; none if it was removed.
    pub fn bag(&self, i: usize) -> Found<impl ExactSizeIterator<Item = (u32, f64)> + Clone> {
        let (words, weights) = self.bag_bytes(i)?;
        let words = words.iter().map(|&word| u32::from_le_bytes(word));
        Ok(words.zip(weights.iter().map(|&weight| f64::from_le_bytes(weight))))
    }

    /// The embedding of a document, scaled to length 1.
    pub fn embedding(&self, i: usize) -> &[[u8; 4]] {
        &self.numbers(&self.ranges.embeddings)[i * self.n_features..][..self.n_features]
    }

    pub fn n_vectors(&self) -> usize {
        self.entry.known_words + self.entry.composed_words
    }

    /// The vector of the `i`-th new word.
    pub fn vector(&self, i: usize) -> impl ExactSizeIterator<Item = f32> {
        let vectors: &[[u8; 4]] = self.numbers(&self.ranges.vectors);
        let vector = &vectors[i * self.dim..(i + 1) * self.dim];
        vector.iter().map(|&x| f32::from_le_bytes(x))
    }

    /// The squared length of that vector.
    pub fn squared_length(&self, i: usize) -> f32 {
        f32::from_le_bytes(self.numbers(&self.ranges.squared_lengths)[i])
    }

    /// The `i`-th new word.
    pub fn word(&self, i: usize) -> Found<Word<'_>> {
        let known: &[[u8; 4]] = self.numbers(&self.ranges.known_words);
        if let Some(&id) = known.get(i) {
            return Ok(Word::Known(u32::from_le_bytes(id)));
        }
        let i = i - known.len();
        let (ends, words) = (&self.ranges.unknown_word_ends, &self.ranges.unknown_words);
        Ok(Word::Unknown(self.packed(ends, words, i)?))
    }

    /// The number of a word, if it is new here.
    pub fn number(&self, word: Word) -> Found<Option<u32>> {
        let (known, composed) = (self.entry.known_words, self.entry.composed_words);
        let kinds = match word {
            Word::Known(_) => [0..known, 0..0],
            Word::Unknown(_) => [
                known..known + composed,
                known + composed..self.entry.words(),
            ],
        };
        for Range { start, end } in kinds {
            let (mut low, mut high) = (start, end);
            while low < high {
                let middle = low + (high - low) / 2;
                match self.word(middle)? < word {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            if low < end && self.word(low)? == word {
                return Ok(Some((self.first_word + low) as u32));
            }
        }
        Ok(None)
    }

    /// The documents with a word, and how often they have it; removed ones included.
    pub fn postings(
        &self,
        number: u32,
    ) -> Found<impl ExactSizeIterator<Item = (u32, u16)> + Clone> {
        let words: &[[u8; 4]] = self.numbers(&self.ranges.posting_words);
        let documents: &[[u8; 4]] = self.numbers(&self.ranges.posting_documents);
        let counts: &[[u8; 2]] = self.numbers(&self.ranges.posting_counts);
        let range = match words.binary_search_by_key(&number, |&word| u32::from_le_bytes(word)) {
            Ok(at) => self.list(&self.ranges.posting_ends, at, documents.len())?,
            Err(_) => 0..0,
        };
        let documents = documents[range.clone()]
            .iter()
            .map(|&i| u32::from_le_bytes(i));
        Ok(documents.zip(counts[range].iter().map(|&count| u16::from_le_bytes(count))))
    }

    /// Adds how many documents have each word, by number; removed ones included. Numbers that
    /// cannot be are left out: whoever comes to them says so.
    pub fn count_postings(&self, counts: &mut [u32]) {
        let words: &[[u8; 4]] = self.numbers(&self.ranges.posting_words);
        let ends: &[[u8; 8]] = self.numbers(&self.ranges.posting_ends);
        let mut start = 0;
        for (&word, &end) in words.iter().zip(ends) {
            let end = u64::from_le_bytes(end);
            if let Some(count) = counts.get_mut(u32::from_le_bytes(word) as usize) {
                *count = count.saturating_add(end.saturating_sub(start) as u32);
            }
            start = end;
        }
    }

    /// Compares the file with its checksum.
    pub fn verify(&self) -> Found<()> {
        verify(&self.entry.data, &self.map)
    }
}
