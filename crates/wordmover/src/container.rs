//! The safetensors container, as the native vectors and the model file use it.
//!
//! The crate's own types describe the header, but it is framed here: the crate
//! writes metadata in random order, and the same content should give the same
//! bytes; and on reading it adds sizes from the header without checking the sum.

use std::collections::BTreeMap;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

/// Longest header accepted; ours take some hundred bytes.
const MAX_HEADER: usize = 1 << 24;

/// What is wrong with the frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContainerError {
    /// The header is too long, or not what the format asks for.
    Header { detail: String },
    /// The file is shorter or longer than its header says.
    Size { expected: u64, found: u64 },
}

/// Length of the header, from the first eight bytes.
pub(crate) fn header_len(start: &[u8]) -> Result<usize, ContainerError> {
    let Some(&len) = start.first_chunk() else {
        let found = start.len() as u64;
        return Err(ContainerError::Size { expected: 8, found });
    };
    let len = u64::from_le_bytes(len);
    match usize::try_from(len) {
        Ok(len) if len <= MAX_HEADER => Ok(len),
        _ => Err(ContainerError::Header {
            detail: format!("it would be {len} bytes long"),
        }),
    }
}

/// Where the data begins, and what the header says of it.
pub(crate) fn parse_header(bytes: &[u8]) -> Result<(usize, Metadata), ContainerError> {
    let data_start = 8 + header_len(bytes)?;
    let Some(header) = bytes.get(8..data_start) else {
        let (expected, found) = (data_start as u64, bytes.len() as u64);
        return Err(ContainerError::Size { expected, found });
    };
    // This checks that the tensors have the sizes of their shapes and follow each
    // other from offset 0.
    let metadata = serde_json::from_slice(header).map_err(|error| ContainerError::Header {
        detail: error.to_string(),
    })?;
    Ok((data_start, metadata))
}

/// The same for a file that must be all there.
pub(crate) fn parse(bytes: &[u8]) -> Result<(usize, Metadata), ContainerError> {
    let (data_start, metadata) = parse_header(bytes)?;
    let expected = (data_start as u64).saturating_add(metadata.data_len() as u64);
    let found = bytes.len() as u64;
    if expected == found {
        Ok((data_start, metadata))
    } else {
        Err(ContainerError::Size { expected, found })
    }
}

/// A header for tensors that follow each other in this order, framed and padded.
///
/// Tensors with wide values should come first, so that all are aligned.
pub(crate) fn header<'n>(
    entries: &[(&str, &str)],
    tensors: impl IntoIterator<Item = (&'n str, Dtype, Vec<usize>)>,
) -> Vec<u8> {
    let mut offset = 0;
    let mut json = serde_json::Map::new();
    let entries: BTreeMap<_, _> = entries.iter().copied().collect();
    json.insert("__metadata__".to_owned(), serde_json::json!(entries));
    for (name, dtype, shape) in tensors {
        let n_bytes = shape.iter().product::<usize>() * dtype.bitsize() / 8;
        let data_offsets = (offset, offset + n_bytes);
        offset += n_bytes;
        let info = TensorInfo {
            dtype,
            shape,
            data_offsets,
        };
        json.insert(name.to_owned(), serde_json::json!(info));
    }
    let json = serde_json::Value::Object(json).to_string();
    let padded = json.len().next_multiple_of(8);
    let mut header = (padded as u64).to_le_bytes().to_vec();
    header.extend_from_slice(json.as_bytes());
    // Spaces, so that the tensors begin at a multiple of 8 as the format asks.
    header.resize(8 + padded, b' ');
    header
}
