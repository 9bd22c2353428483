//! Embeddings that `wordmover embed` wrote: a two-dimensional `.npy` array of 32-bit floats.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// Magic, version and the length of the rest of the header.
const PREAMBLE_BYTES: usize = 10;

/// The rows of an array, and how long each is.
#[derive(Debug, PartialEq)]
pub struct Rows {
    pub width: usize,
    pub values: Vec<f32>,
}

/// Reads the array of a file.
pub fn read(path: &Path) -> Result<Rows> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let Some(rows) = parse(&bytes) else {
        bail!(
            "{}: not a two-dimensional .npy array of 32-bit floats",
            path.display()
        );
    };
    Ok(rows)
}

fn parse(bytes: &[u8]) -> Option<Rows> {
    let preamble = bytes.strip_prefix(b"\x93NUMPY\x01\x00")?;
    let n_header = usize::from(u16::from_le_bytes(*preamble.first_chunk()?));
    let header = bytes.get(PREAMBLE_BYTES..PREAMBLE_BYTES + n_header)?;
    let header: String = std::str::from_utf8(header)
        .ok()?
        .split_whitespace()
        .collect();
    let shape = header
        .strip_prefix("{'descr':'<f4','fortran_order':False,'shape':(")?
        .strip_suffix('}')?
        .trim_end_matches(',')
        .strip_suffix(')')?;
    let (n_rows, width) = shape.split_once(',')?;
    let (n_rows, width): (usize, usize) = (n_rows.parse().ok()?, width.parse().ok()?);
    let data = &bytes[PREAMBLE_BYTES + n_header..];
    let (values, rest) = data.as_chunks::<4>();
    if !rest.is_empty() || n_rows.checked_mul(width) != Some(values.len()) {
        return None;
    }
    Some(Rows {
        width,
        values: values
            .iter()
            .map(|&value| f32::from_le_bytes(value))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, values: &[f32]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    const HEADER: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";

    #[test]
    fn rows_are_read_and_anything_else_is_refused() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, f32::INFINITY];
        let whole = file(HEADER, &values);
        let rows = parse(&whole).unwrap();
        assert_eq!((rows.width, &rows.values[..]), (3, &values[..]));
        for n in 0..whole.len() {
            assert_eq!(parse(&whole[..n]), None, "{n} bytes");
        }
        assert_eq!(parse(&[&whole[..], &[0]].concat()), None);
        for (from, to) in [
            ("<f4", "<f8"),
            ("False", "True"),
            ("(2, 3)", "(6,)"),
            ("(2, 3)", "(2, 4)"),
            ("(2, 3)", "(1, 2, 3)"),
            ("(2, 3)", "(-2, -3)"),
            ("(2, 3)", "(18446744073709551615, 18446744073709551615)"),
        ] {
            assert_eq!(
                parse(&file(&HEADER.replace(from, to), &values)),
                None,
                "{to}"
            );
        }
    }
}
