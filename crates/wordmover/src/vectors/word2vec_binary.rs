//! word2vec's binary format: a line `COUNT DIMENSION`, then for each word its
//! bytes, a space, and its values as little-endian `f32`.
//!
//! The original program ends each entry with a newline and the published
//! Google News file does not, so one newline before a word is passed over.
//! Words must be UTF-8: a word damaged in decoding would never be looked up,
//! and two damaged words could fall together.

use super::error::Checked;
use super::foreign::GrowingTable;
use super::input::{Delimited, Input};
use super::{Place, VectorsError};
use crate::Result;

/// No word may be longer.
pub(super) const MAX_WORD: usize = 1 << 16;

/// Reads up to `limit` of the `promised` words; the header has been consumed.
pub(super) fn read(
    input: &mut Input<'_>,
    dim: usize,
    promised: u64,
    limit: u64,
) -> Result<GrowingTable> {
    let mut table = GrowingTable::new(dim);
    while table.len() < promised.min(limit) {
        skip_newline(input)?;
        let start = input.offset();
        let at = Place::Byte(start);
        let word_len = match input.find(b' ', MAX_WORD)? {
            Delimited::After(len) => len,
            Delimited::End(len) => return Err(cut_short(input, len, promised, &table)),
            Delimited::TooLong => {
                return Err(input.problem(VectorsError::WordTooLong {
                    at,
                    limit: MAX_WORD,
                }));
            }
        };
        let entry_len = word_len + 1 + 4 * dim;
        let n_seen = input.peek(entry_len)?.len();
        if n_seen < entry_len {
            return Err(cut_short(input, n_seen, promised, &table));
        }
        let (word, row) = input.seen(entry_len).split_at(word_len);
        std::str::from_utf8(word)
            .map_err(|_| VectorsError::BadUtf8 { at })
            .and_then(|word| table.push_word(word, at, |id| Place::Entry(id + 1)))
            .and_then(|()| push_row(&mut table.values, &row[1..], start + word_len as u64 + 1))
            .map_err(|problem| input.problem(problem))?;
        input.consume(entry_len);
    }
    if table.len() < limit {
        skip_newline(input)?;
        if !input.peek(1)?.is_empty() {
            let at = Place::Byte(input.offset());
            return Err(input.problem(VectorsError::MoreThanPromised { at, promised }));
        }
    }
    Ok(table)
}

fn skip_newline(input: &mut Input<'_>) -> Result<()> {
    if input.peek(1)? == b"\n" {
        input.consume(1);
    }
    Ok(())
}

/// The stream ends `n_left` bytes after what is consumed, inside an entry.
fn cut_short(
    input: &Input<'_>,
    n_left: usize,
    promised: u64,
    table: &GrowingTable,
) -> crate::Error {
    let at = Place::Byte(input.offset() + n_left as u64);
    input.problem(VectorsError::CutShort {
        at,
        promised,
        found: table.len(),
    })
}

/// Appends the row that begins at byte `offset` of the file.
pub(super) fn push_row(values: &mut Vec<f32>, row: &[u8], offset: u64) -> Checked<()> {
    for (position, value) in floats(row).enumerate() {
        if !value.is_finite() {
            let at = Place::Byte(offset + 4 * position as u64);
            return Err(VectorsError::NotFinite {
                at,
                value: value.to_string(),
            });
        }
        values.push(value);
    }
    Ok(())
}

fn floats(row: &[u8]) -> impl Iterator<Item = f32> {
    row.as_chunks::<4>()
        .0
        .iter()
        .copied()
        .map(f32::from_le_bytes)
}

/// Whether what follows is a word and `dim` finite values that are not text.
///
/// Letters and digits are finite floats too, so a row must also hold something
/// that no text holds. Real rows do: a float's lowest bytes are anything.
pub(super) fn first_entry_fits(input: &mut Input<'_>, dim: usize) -> Result<bool> {
    let bytes = input.peek(1 + MAX_WORD + 1 + 4 * dim)?;
    let bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
    let Some(word_len) = bytes
        .iter()
        .take(MAX_WORD + 1)
        .position(|&byte| byte == b' ')
    else {
        return Ok(false);
    };
    let word = &bytes[..word_len];
    let Some(row) = bytes[word_len + 1..].get(..4 * dim) else {
        return Ok(false);
    };
    Ok(!word.is_empty()
        && std::str::from_utf8(word).is_ok()
        && floats(row).all(f32::is_finite)
        && !could_be_text(row))
}

/// Whether a stretch of bytes could be cut from a text file.
pub(super) fn could_be_text(bytes: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // A character cut at the end of the stretch is no fault.
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && !has_control_bytes(bytes)
}

/// Whether there is a byte that text does not contain in any usual encoding.
pub(super) fn has_control_bytes(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .any(|&byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\r' | b'\n'))
}
