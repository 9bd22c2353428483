//! NumPy's `.npz`: a zip archive of `.npy` arrays, stored or deflated.
//!
//! Only what NumPy writes is read: no encryption, no other compression, no archives in parts.
//! Sizes are checked before memory is taken for them.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::DeflateDecoder;

/// What an archive ends in: the signature, and the length without a comment.
const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
/// The same of archives with sizes of 64 bits.
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";
const LOCATOR_64_BYTES: usize = 20;
/// An entry of the directory, and what precedes the bytes of a file.
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
const LOCAL: &[u8] = b"PK\x03\x04";
const LOCAL_BYTES: usize = 30;

/// Deflate makes bytes at most about a thousand times fewer: more is not an array.
const MOST_DEFLATED: u64 = 1100;

/// An array of numbers.
#[derive(Debug, PartialEq)]
pub struct Array {
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Values,
}

#[derive(Debug, PartialEq)]
pub enum Values {
    Floats(Vec<f64>),
    Integers(Vec<i64>),
}

/// Reads all arrays of a file, in its order.
pub fn read(path: &Path) -> Result<Vec<Array>> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
    let Some(entries) = entries(&bytes) else {
        bail!("{name}: not an .npz archive");
    };
    let mut arrays = Vec::with_capacity(entries.len());
    for entry in entries {
        let array = entry.contents(&bytes).and_then(|npy| array(&npy));
        let Some((shape, values)) = array else {
            bail!(
                "{name}: {} is not an array of floats or integers in C order",
                entry.name
            );
        };
        arrays.push(Array {
            name: entry.name.trim_end_matches(".npy").to_owned(),
            shape,
            values,
        });
    }
    Ok(arrays)
}

/// A file of the archive.
struct Entry {
    name: String,
    is_deflated: bool,
    n_stored: u64,
    n_bytes: u64,
    at: u64,
}

/// The directory of an archive.
fn entries(bytes: &[u8]) -> Option<Vec<Entry>> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    // A comment of up to 64 KiB may follow.
    let first = last.saturating_sub(1 << 16);
    let end = (first..=last)
        .rev()
        .find(|&at| bytes[at..].starts_with(END))?;
    let mut n_entries = u64::from(u16_at(bytes, end + 10)?);
    let mut directory = u64::from(u32_at(bytes, end + 16)?);
    if let Some(locator) = end.checked_sub(LOCATOR_64_BYTES)
        && bytes[locator..].starts_with(LOCATOR_64)
    {
        let end_64 = usize::try_from(u64_at(bytes, locator + 8)?).ok()?;
        if !bytes.get(end_64..)?.starts_with(END_64) {
            return None;
        }
        n_entries = u64_at(bytes, end_64 + 32)?;
        directory = u64_at(bytes, end_64 + 48)?;
    }
    if n_entries > (bytes.len() / ENTRY_BYTES) as u64 {
        return None;
    }
    let mut at = usize::try_from(directory).ok()?;
    let mut entries = Vec::new();
    for _ in 0..n_entries {
        if !bytes.get(at..)?.starts_with(ENTRY) {
            return None;
        }
        let is_encrypted = u16_at(bytes, at + 8)? & 1 != 0;
        let method = u16_at(bytes, at + 10)?;
        let n_name = usize::from(u16_at(bytes, at + 28)?);
        let n_extra = usize::from(u16_at(bytes, at + 30)?);
        let n_comment = usize::from(u16_at(bytes, at + 32)?);
        if is_encrypted || ![0, 8].contains(&method) {
            return None;
        }
        let name = bytes.get(at + ENTRY_BYTES..at + ENTRY_BYTES + n_name)?;
        let extra_at = at + ENTRY_BYTES + n_name;
        let mut entry = Entry {
            name: std::str::from_utf8(name).ok()?.to_owned(),
            is_deflated: method == 8,
            n_stored: u64::from(u32_at(bytes, at + 20)?),
            n_bytes: u64::from(u32_at(bytes, at + 24)?),
            at: u64::from(u32_at(bytes, at + 42)?),
        };
        entry.take_wide_sizes(bytes.get(extra_at..extra_at + n_extra)?)?;
        entries.push(entry);
        at = extra_at + n_extra + n_comment;
    }
    Some(entries)
}

impl Entry {
    /// Sizes that 32 bits do not hold stand in the extra field, in this order.
    fn take_wide_sizes(&mut self, mut extra: &[u8]) -> Option<()> {
        while extra.len() >= 4 {
            let (id, n) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
            let field = extra.get(4..4 + n)?;
            if id == 1 {
                let mut at = 0;
                for size in [&mut self.n_bytes, &mut self.n_stored, &mut self.at] {
                    if *size == u64::from(u32::MAX) {
                        *size = u64_at(field, at)?;
                        at += 8;
                    }
                }
            }
            extra = &extra[4 + n..];
        }
        Some(())
    }

    fn contents(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let at = usize::try_from(self.at).ok()?;
        if !bytes.get(at..)?.starts_with(LOCAL) {
            return None;
        }
        let n_name = usize::from(u16_at(bytes, at.checked_add(26)?)?);
        let n_extra = usize::from(u16_at(bytes, at + 28)?);
        let start = at + LOCAL_BYTES + n_name + n_extra;
        let end = start.checked_add(usize::try_from(self.n_stored).ok()?)?;
        let stored = bytes.get(start..end)?;
        if !self.is_deflated {
            return (self.n_bytes == self.n_stored).then(|| stored.to_vec());
        }
        if self.n_bytes > self.n_stored.saturating_mul(MOST_DEFLATED) {
            return None;
        }
        let mut contents = Vec::new();
        let mut inflated = DeflateDecoder::new(stored).take(self.n_bytes + 1);
        inflated.read_to_end(&mut contents).ok()?;
        (contents.len() as u64 == self.n_bytes).then_some(contents)
    }
}

/// The shape and the numbers of an `.npy` file.
fn array(bytes: &[u8]) -> Option<(Vec<usize>, Values)> {
    let (header_at, n_header): (usize, usize) = match bytes.get(..8)? {
        b"\x93NUMPY\x01\x00" => (10, usize::from(u16_at(bytes, 8)?)),
        b"\x93NUMPY\x02\x00" | b"\x93NUMPY\x03\x00" => {
            (12, usize::try_from(u32_at(bytes, 8)?).ok()?)
        }
        _ => return None,
    };
    let header = bytes.get(header_at..header_at.checked_add(n_header)?)?;
    let header: String = std::str::from_utf8(header)
        .ok()?
        .split_whitespace()
        .collect();
    let (kind, shape) = header
        .strip_prefix("{'descr':'")?
        .split_once("','fortran_order':False,'shape':(")?;
    let shape = shape.trim_end_matches('}').trim_end_matches(',');
    let shape = shape.strip_suffix(')')?.trim_end_matches(',');
    let shape: Vec<usize> = match shape {
        "" => Vec::new(),
        shape => {
            let lengths = shape.split(',').map(|n| n.parse().ok());
            lengths.collect::<Option<_>>()?
        }
    };
    let n = shape
        .iter()
        .try_fold(1usize, |n, &length| n.checked_mul(length))?;
    let data = &bytes[header_at + n_header..];
    fn each<const N: usize, T>(data: &[u8], n: usize, read: fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (values, rest) = data.as_chunks::<N>();
        let fits = rest.is_empty() && values.len() == n;
        fits.then(|| values.iter().map(|&value| read(value)).collect())
    }
    let values = match kind {
        "<f4" => Values::Floats(each::<4, f64>(data, n, |x| {
            f64::from(f32::from_le_bytes(x))
        })?),
        "<f8" => Values::Floats(each::<8, f64>(data, n, f64::from_le_bytes)?),
        "<i4" => Values::Integers(each::<4, i64>(data, n, |x| {
            i64::from(i32::from_le_bytes(x))
        })?),
        "<i8" => Values::Integers(each::<8, i64>(data, n, i64::from_le_bytes)?),
        _ => return None,
    };
    Some((shape, values))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by NumPy 2.4.6: `points` of 3 x 2 float32, `offsets`, `weights`; stored, deflated.
    const STORED: &[u8] = include_bytes!("testdata/sets.npz");
    const DEFLATED: &[u8] = include_bytes!("testdata/sets-compressed.npz");

    fn arrays(bytes: &[u8]) -> Option<Vec<(Vec<usize>, Values)>> {
        let entries = entries(bytes)?;
        let each = entries.iter();
        each.map(|entry| array(&entry.contents(bytes)?)).collect()
    }

    #[test]
    fn arrays_of_numpy_are_read() {
        for bytes in [STORED, DEFLATED] {
            let found = arrays(bytes).unwrap();
            let points = Values::Floats(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.5]);
            assert_eq!(found[0], (vec![3, 2], points));
            assert_eq!(found[1], (vec![3], Values::Integers(vec![0, 1, 3])));
            assert_eq!(found[2], (vec![3], Values::Floats(vec![1.0, 0.25, 0.75])));
        }
    }

    #[test]
    fn damaged_archives_are_refused_without_a_panic() {
        for whole in [STORED, DEFLATED] {
            for n in 0..whole.len() {
                assert!(arrays(&whole[..n]).is_none(), "{n} bytes");
            }
            for at in 0..whole.len() {
                for bit in 0..8 {
                    let mut damaged = whole.to_vec();
                    damaged[at] ^= 1 << bit;
                    // Whatever it is then, it is read or refused.
                    let _ = arrays(&damaged);
                }
            }
        }
    }
}
