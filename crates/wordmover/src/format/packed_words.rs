//! A list of words as two tensors: their bytes, and where each ends.

use super::ModelError;

/// Concatenated bytes and end offsets.
pub(super) fn pack<'w>(words: impl Iterator<Item = &'w str>) -> (Vec<u8>, Vec<u64>) {
    let mut bytes = Vec::new();
    let ends = words.map(|word| {
        bytes.extend_from_slice(word.as_bytes());
        bytes.len() as u64
    });
    let ends = ends.collect();
    (bytes, ends)
}

/// The words again; `name` is the tensor the message speaks of.
pub(super) fn unpack(
    name: &'static str,
    bytes: &[u8],
    ends: &[u64],
) -> Result<Vec<String>, ModelError> {
    let bad = |reason: &str| ModelError::BadValue {
        name,
        reason: reason.to_owned(),
    };
    let mut start = 0;
    let mut words = Vec::with_capacity(ends.len());
    for &end in ends {
        let end = usize::try_from(end).map_err(|_| bad("ends beyond its bytes"))?;
        let word = bytes
            .get(start..end)
            .ok_or_else(|| bad("has ends out of order"))?;
        let word = std::str::from_utf8(word).map_err(|_| bad("is not UTF-8"))?;
        words.push(word.to_owned());
        start = end;
    }
    if start != bytes.len() {
        return Err(bad("has bytes after the last word"));
    }
    Ok(words)
}
