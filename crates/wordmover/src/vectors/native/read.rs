//! Checks a native file and takes it over.

use std::ops::Range;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::{FORMAT, VERSION, dtype_of};
use crate::Result;
use crate::container::{self, ContainerError};
use crate::vectors::error::Checked;
use crate::vectors::input::Input;
use crate::vectors::rows::{ByteOwner, Rows};
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

    let vectors = tensor(&metadata, "vectors")?;
    let &[n_words, dim] = &vectors.shape[..] else {
        return Err(mismatch("vectors", vectors, stated.dtype(), "[n, dim]"));
    };
    if vectors.dtype != stated.dtype() {
        return Err(mismatch(
            "vectors",
            vectors,
            stated.dtype(),
            &format!("[{n_words}, {dim}]"),
        ));
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
    let range =
        |info: &TensorInfo| data_start + info.data_offsets.0..data_start + info.data_offsets.1;
    let column = |name, dtype| -> Checked<Range<usize>> {
        let info = tensor(&metadata, name)?;
        if info.dtype != dtype || info.shape != [n_words] {
            return Err(mismatch(name, info, dtype, &format!("[{n_words}]")));
        }
        Ok(range(info))
    };
    let word_ends = &bytes[column("word_ends", Dtype::U32)?];
    let packed = tensor(&metadata, "words")?;
    if packed.dtype != Dtype::U8 || packed.shape.len() != 1 {
        return Err(mismatch("words", packed, Dtype::U8, "[bytes]"));
    }
    let packed = &bytes[range(packed)];

    let n_kept = n_words.min(limit);
    let scales = match stated.precision {
        Precision::Int8 => read_scales(&bytes[column("scales", Dtype::F32)?], n_kept)?,
        Precision::F32 | Precision::F16 => Vec::new(),
    };
    let words = read_words(word_ends, packed, n_kept)?;
    let rows_start = range(vectors).start;
    let rows_len = n_kept * dim * stated.precision.n_bytes();
    let rows_range = rows_start..rows_start + rows_len;
    let rows = Rows::stored(owner.clone(), rows_range, dim, stated.precision, scales);
    let checksum = (n_kept == n_words).then_some(stated.checksum);
    Ok(NativeTable {
        words,
        rows,
        checksum,
    })
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
        let checksum = get("checksum").filter(|sum| is_checksum(sum));
        Ok(Stated {
            precision: precision.ok_or_else(|| unusable("precision"))?,
            checksum: checksum.ok_or_else(|| unusable("checksum"))?,
        })
    }

    fn dtype(&self) -> Dtype {
        dtype_of(self.precision)
    }
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
