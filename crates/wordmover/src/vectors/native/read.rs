//! Checks a native file and takes it over.

use std::ops::{Range, RangeInclusive};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::{FORMAT, NGRAM_ROWS, NGRAM_SCALES, Names, PIECES, VERSION, WORDS, dtype_of};
use crate::Result;
use crate::container::{self, ContainerError};
use crate::vectors::error::Checked;
use crate::vectors::input::Input;
use crate::vectors::rows::{ByteOwner, Rows};
use crate::vectors::subwords::{LONGEST_NGRAM, Ngrams, Pieces, Subwords};
use crate::vectors::words::{Duplicate, WordList};
use crate::vectors::{MAX_DIM, MAX_WORDS, Place, Precision, VectorsError, precision};

/// Whether the first nine bytes could begin a safetensors file.
pub(in crate::vectors) fn resembles(start: &[u8]) -> bool {
    let Some((&len, rest)) = start.split_first_chunk() else {
        return false;
    };
    (2..=100_000_000).contains(&u64::from_le_bytes(len)) && rest.first() == Some(&b'{')
}

/// A table read from the native form.
pub(in crate::vectors) struct NativeTable {
    pub(in crate::vectors) words: WordList,
    pub(in crate::vectors) rows: Rows,
    /// As stored; none if only a part of the words was wanted.
    pub(in crate::vectors) checksum: Option<String>,
    /// Probabilities of the words in running text, if the file has them.
    pub(in crate::vectors) probabilities: Option<Vec<f32>>,
    /// Parts of words, if the file has them.
    pub(in crate::vectors) subwords: Option<Subwords>,
}

/// Takes the bytes of a native file from a stream.
pub(in crate::vectors) fn read_bytes(mut input: Input<'_>) -> Result<Vec<u8>> {
    let header = {
        let start = input.peek(8)?;
        let len = container::header_len(start).map_err(|problem| input.problem(problem.into()))?;
        container::parse_header(input.peek(8 + len)?)
    };
    let (data_start, metadata) = header.map_err(|problem| input.problem(problem.into()))?;
    // One byte more than wanted shows a file that is too long.
    input.take(
        data_start
            .saturating_add(metadata.data_len())
            .saturating_add(1),
    )
}

/// Checks a native file and takes its first `limit` words.
pub(in crate::vectors) fn load(owner: ByteOwner, limit: usize) -> Checked<NativeTable> {
    let bytes: &[u8] = owner.as_ref().as_ref();
    let (data_start, metadata) = container::parse(bytes)?;
    let stated = Stated::from_metadata(&metadata)?;

    let file = File {
        owner: &owner,
        bytes,
        data_start,
        metadata: &metadata,
        precision: stated.precision,
    };
    let (words, rows, n_words) = file.table(&WORDS, limit)?;
    let n_kept = words.len();
    let probabilities = match metadata.info("probabilities") {
        Some(_) => Some(file.probabilities(n_words, n_kept)?),
        None => None,
    };
    let subwords = match (metadata.info(PIECES.rows), metadata.info(NGRAM_ROWS)) {
        (None, None) => None,
        (Some(_), None) => {
            let checksum = stated.pieces_checksum?;
            let (pieces, piece_rows, _) = file.table(&PIECES, usize::MAX)?;
            let piece_words = file.piece_words(n_words, n_kept)?;
            same_dim(&piece_rows, &rows)?;
            Some(Subwords::Pieces(Pieces::new(
                pieces,
                piece_rows,
                piece_words,
                &words,
                checksum,
            )))
        }
        (None, Some(info)) => {
            let (lengths, checksum) = (stated.ngram_lengths?, stated.ngrams_checksum?);
            let (ngram_rows, n_rows) = file.ngram_rows(info)?;
            same_dim(&ngram_rows, &rows)?;
            Some(Subwords::Ngrams(Ngrams::new(
                lengths,
                ngram_rows,
                n_rows,
                Some(checksum),
            )))
        }
        (Some(_), Some(_)) => {
            let detail = "it has pieces of words, too".to_owned();
            return Err(VectorsError::Ngrams { detail });
        }
    };
    Ok(NativeTable {
        words,
        rows,
        checksum: (n_kept == n_words).then_some(stated.checksum),
        probabilities,
        subwords,
    })
}

/// Parts of words have vectors like those of words.
fn same_dim(parts: &Rows, words: &Rows) -> Checked<()> {
    match parts.dim() == words.dim() {
        true => Ok(()),
        false => Err(VectorsError::Dimension { dim: parts.dim() }),
    }
}

/// A file whose container is sound.
struct File<'b> {
    owner: &'b ByteOwner,
    bytes: &'b [u8],
    data_start: usize,
    metadata: &'b Metadata,
    precision: Precision,
}

impl<'b> File<'b> {
    fn range(&self, info: &TensorInfo) -> Range<usize> {
        let (start, end) = info.data_offsets;
        self.data_start + start..self.data_start + end
    }

    /// The bytes of a tensor with one number for each word.
    fn column(&self, name: &'static str, dtype: Dtype, n: usize) -> Checked<&'b [u8]> {
        let info = tensor(self.metadata, name)?;
        if info.dtype != dtype || info.shape != [n] {
            return Err(mismatch(name, info, dtype, &format!("[{n}]")));
        }
        Ok(&self.bytes[self.range(info)])
    }

    /// The first `limit` words and rows of a table, and how many it has.
    fn table(&self, names: &Names, limit: usize) -> Checked<(WordList, Rows, usize)> {
        let dtype = dtype_of(self.precision);
        let rows = tensor(self.metadata, names.rows)?;
        let &[n_words, dim] = &rows.shape[..] else {
            return Err(mismatch(names.rows, rows, dtype, "[n, dim]"));
        };
        if rows.dtype != dtype {
            let shape = format!("[{n_words}, {dim}]");
            return Err(mismatch(names.rows, rows, dtype, &shape));
        }
        if n_words == 0 {
            return Err(VectorsError::Empty);
        }
        if n_words as u64 > MAX_WORDS {
            return Err(VectorsError::TooManyWords {
                at: Place::Entry(MAX_WORDS + 1),
            });
        }
        if !(1..=MAX_DIM).contains(&dim) {
            return Err(VectorsError::Dimension { dim });
        }
        let ends = self.column(names.ends, Dtype::U32, n_words)?;
        let packed = tensor(self.metadata, names.packed)?;
        if packed.dtype != Dtype::U8 || packed.shape.len() != 1 {
            return Err(mismatch(names.packed, packed, Dtype::U8, "[bytes]"));
        }
        let packed = &self.bytes[self.range(packed)];
        let n_kept = n_words.min(limit);
        let scales = match self.precision {
            Precision::Int8 => {
                read_scales(self.column(names.scales, Dtype::F32, n_words)?, n_kept)?
            }
            Precision::F32 | Precision::F16 => Vec::new(),
        };
        let words = read_words(ends, packed, n_kept)?;
        let start = self.range(rows).start;
        let range = start..start + n_kept * dim * self.precision.n_bytes();
        let rows = Rows::stored(self.owner.clone(), range, dim, self.precision, scales);
        Ok((words, rows, n_words))
    }

    /// The rows of n-grams, and how many there are.
    fn ngram_rows(&self, info: &TensorInfo) -> Checked<(Rows, u32)> {
        let dtype = dtype_of(self.precision);
        let &[n_rows, dim] = &info.shape[..] else {
            return Err(mismatch(NGRAM_ROWS, info, dtype, "[buckets, dim]"));
        };
        if info.dtype != dtype {
            let shape = format!("[{n_rows}, {dim}]");
            return Err(mismatch(NGRAM_ROWS, info, dtype, &shape));
        }
        let n = u32::try_from(n_rows).ok().filter(|&n| n > 0);
        let n = n.ok_or_else(|| VectorsError::Ngrams {
            detail: format!("there are {n_rows} rows"),
        })?;
        let scales = match self.precision {
            Precision::Int8 => read_scales(self.column(NGRAM_SCALES, Dtype::F32, n_rows)?, n_rows)?,
            Precision::F32 | Precision::F16 => Vec::new(),
        };
        let (owner, range) = (self.owner.clone(), self.range(info));
        Ok((Rows::stored(owner, range, dim, self.precision, scales), n))
    }

    /// Ids of the words that are pieces, too, among those that are kept.
    fn piece_words(&self, n_words: usize, n_kept: usize) -> Checked<Vec<u32>> {
        let name = "piece_words";
        let info = tensor(self.metadata, name)?;
        if info.dtype != Dtype::U32 || info.shape.len() != 1 {
            return Err(mismatch(name, info, Dtype::U32, "[k]"));
        }
        let ids = self.bytes[self.range(info)].as_chunks().0.iter();
        let mut ids: Vec<u32> = ids.map(|&stored| u32::from_le_bytes(stored)).collect();
        let ascends = ids.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends || ids.last().is_some_and(|&id| id as usize >= n_words) {
            return Err(VectorsError::PieceWords);
        }
        ids.retain(|&id| (id as usize) < n_kept);
        Ok(ids)
    }

    fn probabilities(&self, n_words: usize, n_kept: usize) -> Checked<Vec<f32>> {
        let bytes = self.column("probabilities", Dtype::F32, n_words)?;
        let values = bytes.as_chunks().0[..n_kept].iter();
        let values: Vec<f32> = values.map(|&stored| f32::from_le_bytes(stored)).collect();
        match values.iter().position(|p| !(0.0..=1.0).contains(p)) {
            Some(index) => Err(VectorsError::BadProbability {
                at: Place::Entry(index as u64 + 1),
                value: values[index],
            }),
            None => Ok(values),
        }
    }
}

impl From<ContainerError> for VectorsError {
    fn from(problem: ContainerError) -> Self {
        match problem {
            ContainerError::Header { detail } => VectorsError::NativeHeader { detail },
            ContainerError::Size { expected, found } => {
                VectorsError::NativeSize { expected, found }
            }
        }
    }
}

/// What the metadata says.
struct Stated {
    precision: Precision,
    checksum: String,
    /// What a file without parts of words need not say.
    pieces_checksum: Checked<String>,
    ngrams_checksum: Checked<String>,
    ngram_lengths: Checked<RangeInclusive<usize>>,
}

impl Stated {
    fn from_metadata(metadata: &Metadata) -> Checked<Self> {
        let get = |key| {
            metadata
                .metadata()
                .as_ref()
                .and_then(|entries| entries.get(key))
                .cloned()
        };
        if get("format").as_deref() != Some(FORMAT) {
            return Err(VectorsError::NotWordVectors);
        }
        match get("version") {
            Some(version) if version == VERSION => {}
            Some(found) => return Err(VectorsError::NativeVersion { found }),
            None => {
                return Err(VectorsError::NativeMetadata {
                    key: "version",
                    found: None,
                });
            }
        }
        let unusable = |key| VectorsError::NativeMetadata {
            key,
            found: get(key),
        };
        let precision = get("precision").and_then(|name| name.parse().ok());
        let checksum = |key| {
            let stated = get(key).filter(|sum| is_checksum(sum));
            stated.ok_or_else(|| unusable(key))
        };
        let lengths = get("ngram_lengths").as_deref().and_then(parse_lengths);
        Ok(Stated {
            precision: precision.ok_or_else(|| unusable("precision"))?,
            checksum: checksum("checksum")?,
            pieces_checksum: checksum("pieces_checksum"),
            ngrams_checksum: checksum("ngrams_checksum"),
            ngram_lengths: lengths.ok_or_else(|| unusable("ngram_lengths")),
        })
    }
}

/// `3-6`: from 1 to the longest that are accepted.
fn parse_lengths(text: &str) -> Option<RangeInclusive<usize>> {
    let (least, most) = text.split_once('-')?;
    let (least, most) = (least.parse().ok()?, most.parse().ok()?);
    (1 <= least && least <= most && most <= LONGEST_NGRAM).then_some(least..=most)
}

fn is_checksum(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn tensor<'a>(metadata: &'a Metadata, name: &'static str) -> Checked<&'a TensorInfo> {
    metadata
        .info(name)
        .ok_or(VectorsError::TensorMissing { tensor: name })
}

fn mismatch(tensor: &'static str, info: &TensorInfo, dtype: Dtype, shape: &str) -> VectorsError {
    VectorsError::TensorMismatch {
        tensor,
        expected: format!("{dtype} {shape}"),
        found: format!("{} {:?}", info.dtype, info.shape),
    }
}

fn read_scales(bytes: &[u8], n_kept: usize) -> Checked<Vec<f32>> {
    let mut scales = Vec::with_capacity(n_kept);
    for &stored in &bytes.as_chunks().0[..n_kept] {
        let value = f32::from_le_bytes(stored);
        if !precision::usable_scale(value) {
            let at = Place::Entry(scales.len() as u64 + 1);
            return Err(VectorsError::BadScale { at, value });
        }
        scales.push(value);
    }
    Ok(scales)
}

fn read_words(word_ends: &[u8], packed: &[u8], n_kept: usize) -> Checked<WordList> {
    let entry = |index: usize| Place::Entry(index as u64 + 1);
    let (word_ends, _) = word_ends.as_chunks();
    let mut ends = Vec::with_capacity(n_kept);
    let mut start = 0;
    for (index, &stored) in word_ends[..n_kept].iter().enumerate() {
        let (at, end, len) = (entry(index), u32::from_le_bytes(stored), packed.len());
        if end == start {
            return Err(VectorsError::EmptyWord { at });
        }
        if end < start || end as usize > len {
            return Err(VectorsError::WordEnd {
                at,
                start,
                end,
                len,
            });
        }
        ends.push(end);
        start = end;
    }
    if n_kept == word_ends.len() && start as usize != packed.len() {
        return Err(VectorsError::SurplusWordBytes {
            end: start,
            len: packed.len(),
        });
    }
    // Copied first: a mapped file may change between the check and the copy.
    let text = packed[..start as usize].to_vec();
    let text = String::from_utf8(text).map_err(|error| {
        let n_valid = error.utf8_error().valid_up_to();
        let index = ends.partition_point(|&end| end as usize <= n_valid);
        VectorsError::BadUtf8 { at: entry(index) }
    })?;
    if let Some(index) = ends
        .iter()
        .position(|&end| !text.is_char_boundary(end as usize))
    {
        return Err(VectorsError::BadUtf8 { at: entry(index) });
    }
    WordList::from_packed(text, ends).map_err(|Duplicate { id, first, word }| {
        let (at, first) = (entry(id as usize), entry(first as usize));
        VectorsError::DuplicateWord { at, word, first }
    })
}
