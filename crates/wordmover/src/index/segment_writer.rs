//! Documents to the bytes of a segment.

use hashbrown::HashMap;
use safetensors::Dtype;

use super::manifest::{SegmentEntry, Writing};
use super::segment::names;
use crate::container;
use crate::document::{Document, Word, WordCounts};
use crate::error::Result;
use crate::neighbors::{radius, squared_lengths};
use crate::space::WordSpace;

/// A document with all that is kept of it.
pub(super) struct Entry {
    pub id: String,
    pub text: String,
    pub counts: WordCounts,
    pub bag: Document,
}

/// Writes a segment of documents and their embeddings, which are of length 1.
///
/// `number` knows the words of the segments before; `first_word` is the number of the first
/// word that it does not know.
pub(super) fn write(
    writing: &mut Writing,
    space: &WordSpace,
    entries: &[Entry],
    embeddings: &[f32],
    first_word: usize,
    number: impl Fn(Word) -> Result<Option<u32>>,
) -> Result<SegmentEntry> {
    let mut numbers: HashMap<Word, u32> = HashMap::new();
    let mut new: [Vec<Word>; 3] = Default::default();
    for (word, _) in entries.iter().flat_map(|entry| entry.counts.iter()) {
        if numbers.contains_key(&word) {
            continue;
        }
        let found = number(word)?;
        numbers.insert(word, found.unwrap_or(u32::MAX));
        if found.is_none() {
            let kind = match word {
                Word::Known(_) => 0,
                word if space.has_vector(word) => 1,
                _ => 2,
            };
            new[kind].push(word);
        }
    }
    new.iter_mut().for_each(|words| words.sort_unstable());
    for (i, &word) in new.iter().flatten().enumerate() {
        numbers.insert(word, (first_word + i) as u32);
    }
    let with_vectors: Vec<Word> = new[..2].iter().flatten().copied().collect();
    let vectors = space.gather(with_vectors.iter().copied())?;

    let mut tensors = Tensors::default();
    let n = entries.len();
    let texts = Packed::of(entries.iter().map(|entry| entry.text.as_str()));
    let ids = Packed::of(entries.iter().map(|entry| entry.id.as_str()));
    let unknown = new[1..].iter().flatten().map(|word| match *word {
        Word::Unknown(word) => word,
        Word::Known(_) => unreachable!("those are the first kind"),
    });
    let unknown = Packed::of(unknown);
    let bag_words = || entries.iter().flat_map(|entry| entry.bag.words());
    let bag_ends = entries.iter().scan(0, |end, entry| {
        *end += entry.bag.len() as u64;
        Some(*end)
    });
    let weights = entries.iter().flat_map(|entry| entry.bag.weights());
    let tokens = |entry: &Entry| entry.counts.n_known + entry.counts.n_unknown;
    let mut id_order: Vec<u32> = (0..n as u32).collect();
    id_order.sort_by_key(|&i| entries[i as usize].id.as_str());
    let postings = Postings::of(entries, &numbers);

    // Wide values first, so that all are aligned.
    tensors.add(
        names::ID_ENDS,
        Dtype::U64,
        &[n],
        ids.ends.iter().map(|x| x.to_le_bytes()),
    );
    tensors.add(
        names::TEXT_ENDS,
        Dtype::U64,
        &[n],
        texts.ends.iter().map(|x| x.to_le_bytes()),
    );
    tensors.add(
        names::BAG_ENDS,
        Dtype::U64,
        &[n],
        bag_ends.map(u64::to_le_bytes),
    );
    let n_bag = bag_words().count();
    tensors.add(
        names::BAG_WEIGHTS,
        Dtype::F64,
        &[n_bag],
        weights.map(|x| x.to_le_bytes()),
    );
    let n_lists = postings.words.len();
    let ends = postings.ends.iter().map(|x| x.to_le_bytes());
    tensors.add(names::POSTING_ENDS, Dtype::U64, &[n_lists], ends);
    let ends = unknown.ends.iter().map(|x| x.to_le_bytes());
    tensors.add(
        names::UNKNOWN_WORD_ENDS,
        Dtype::U64,
        &[unknown.ends.len()],
        ends,
    );
    let shape = [n, embeddings.len() / n.max(1)];
    tensors.add(
        names::EMBEDDINGS,
        Dtype::F32,
        &shape,
        embeddings.iter().map(|x| x.to_le_bytes()),
    );
    let shape = [with_vectors.len(), space.dim()];
    tensors.add(
        names::VECTORS,
        Dtype::F32,
        &shape,
        vectors.iter().map(|x| x.to_le_bytes()),
    );
    let squares = squared_lengths(&vectors, space.dim());
    let squares = squares.iter().map(|x| x.to_le_bytes());
    tensors.add(
        names::SQUARED_LENGTHS,
        Dtype::F32,
        &[with_vectors.len()],
        squares,
    );
    let known = new[0].iter().map(|word| match *word {
        Word::Known(id) => id.to_le_bytes(),
        Word::Unknown(_) => unreachable!("those are the other kinds"),
    });
    tensors.add(names::KNOWN_WORDS, Dtype::U32, &[new[0].len()], known);
    let words = bag_words().map(|word| numbers[&word].to_le_bytes());
    tensors.add(names::BAG_WORDS, Dtype::U32, &[n_bag], words);
    tensors.add(
        names::ID_ORDER,
        Dtype::U32,
        &[n],
        id_order.iter().map(|x| x.to_le_bytes()),
    );
    let counted = entries
        .iter()
        .map(|entry| u32::try_from(tokens(entry)).unwrap_or(u32::MAX));
    tensors.add(
        names::TOKENS,
        Dtype::U32,
        &[n],
        counted.clone().map(u32::to_le_bytes),
    );
    let words = postings.words.iter().map(|x| x.to_le_bytes());
    tensors.add(names::POSTING_WORDS, Dtype::U32, &[n_lists], words);
    let n_postings = postings.entries.len();
    let documents = postings.entries.iter().map(|(_, i, _)| i.to_le_bytes());
    tensors.add(
        names::POSTING_DOCUMENTS,
        Dtype::U32,
        &[n_postings],
        documents,
    );
    let counts = postings
        .entries
        .iter()
        .map(|(_, _, count)| count.to_le_bytes());
    tensors.add(names::POSTING_COUNTS, Dtype::U16, &[n_postings], counts);
    for (name, packed) in [
        (names::IDS, &ids),
        (names::TEXTS, &texts),
        (names::UNKNOWN_WORDS, &unknown),
    ] {
        let bytes = packed.text.bytes().map(|byte| [byte]);
        tensors.add(name, Dtype::U8, &[packed.text.len()], bytes);
    }

    let described = tensors.described.iter();
    let described = described.map(|(name, dtype, shape)| (*name, *dtype, shape.clone()));
    let header = container::header(&[("format", "wordmover-index-segment")], described);
    Ok(SegmentEntry {
        data: writing.write("segment", "safetensors", &[&header, &tensors.data])?,
        documents: n,
        known_words: new[0].len(),
        composed_words: new[1].len(),
        other_words: new[2].len(),
        tokens: counted.map(u64::from).sum(),
        radius: radius(&vectors, space.dim()),
        removed: None,
    })
}

/// Tensors one after the other.
#[derive(Default)]
struct Tensors {
    described: Vec<(&'static str, Dtype, Vec<usize>)>,
    data: Vec<u8>,
}

impl Tensors {
    fn add<const N: usize>(
        &mut self,
        name: &'static str,
        dtype: Dtype,
        shape: &[usize],
        values: impl Iterator<Item = [u8; N]>,
    ) {
        self.described.push((name, dtype, shape.to_vec()));
        values.for_each(|value| self.data.extend_from_slice(&value));
    }
}

/// Texts one after the other, and where each ends.
struct Packed {
    text: String,
    ends: Vec<u64>,
}

impl Packed {
    fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for each in texts {
            text.push_str(each);
            ends.push(text.len() as u64);
        }
        Packed { text, ends }
    }
}

/// For every word of the documents, by number, the documents that have it.
struct Postings {
    words: Vec<u32>,
    ends: Vec<u64>,
    /// Word, document and count.
    entries: Vec<(u32, u32, u16)>,
}

impl Postings {
    fn of(documents: &[Entry], numbers: &HashMap<Word, u32>) -> Self {
        let mut entries = Vec::new();
        for (i, document) in documents.iter().enumerate() {
            let counted = document.counts.iter().map(|(word, count)| {
                (
                    numbers[&word],
                    i as u32,
                    u16::try_from(count).unwrap_or(u16::MAX),
                )
            });
            entries.extend(counted);
        }
        entries.sort_unstable();
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        for (at, &(word, _, _)) in entries.iter().enumerate() {
            match words.last() == Some(&word) {
                true => ends.pop(),
                false => {
                    words.push(word);
                    None
                }
            };
            ends.push(at as u64 + 1);
        }
        Postings {
            words,
            ends,
            entries,
        }
    }
}
