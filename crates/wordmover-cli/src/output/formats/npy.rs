//! NumPy's `.npy`, version 1.0: a short header, then the numbers.
//!
//! The header holds the number of rows, which is known only at the end. It has a fixed
//! length with room for any number, and is written again when the rows are.

use std::io::{self, Seek, SeekFrom, Write};

use super::ids::RowIds;
use super::{OutputFormat, RowWriter};

pub const FORMAT: OutputFormat = OutputFormat {
    suffixes: &["npy"],
    holds_ids: false,
    start: |file, n_features, _| Ok(Box::new(NpyWriter::new(file, n_features)?)),
};

/// A multiple of 64, so that the numbers are aligned in a mapped file.
const HEADER_BYTES: usize = 128;

/// Magic, version and the length of the rest of the header.
const PREAMBLE_BYTES: usize = 10;

/// Numbers are turned into bytes this many at a time.
const CHUNK_VALUES: usize = 4096;

/// Writes a two-dimensional array of 32-bit floats, a row at a time.
pub struct NpyWriter<W> {
    writer: W,
    n_features: usize,
    n_rows: u64,
    bytes: Vec<u8>,
}

impl<W: Write + Seek> NpyWriter<W> {
    pub fn new(mut writer: W, n_features: usize) -> io::Result<NpyWriter<W>> {
        writer.write_all(&header(0, n_features))?;
        Ok(NpyWriter {
            writer,
            n_features,
            n_rows: 0,
            bytes: Vec::new(),
        })
    }
}

impl<W: Write + Seek + Send> RowWriter<W> for NpyWriter<W> {
    /// There is no place for ids.
    fn write_rows(&mut self, _: RowIds<'_>, rows: &[f32]) -> io::Result<()> {
        for chunk in rows.chunks(CHUNK_VALUES) {
            self.bytes.clear();
            self.bytes
                .extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
            self.writer.write_all(&self.bytes)?;
        }
        self.n_rows += (rows.len() / self.n_features) as u64;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<W> {
        self.writer.seek(SeekFrom::Start(0))?;
        self.writer
            .write_all(&header(self.n_rows, self.n_features))?;
        self.writer.seek(SeekFrom::End(0))?;
        Ok(self.writer)
    }
}

fn header(n_rows: u64, n_features: usize) -> [u8; HEADER_BYTES] {
    let description =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_rows}, {n_features}), }}");
    let mut header = [b' '; HEADER_BYTES];
    header[..8].copy_from_slice(b"\x93NUMPY\x01\x00");
    header[8..PREAMBLE_BYTES]
        .copy_from_slice(&((HEADER_BYTES - PREAMBLE_BYTES) as u16).to_le_bytes());
    // 97 bytes at most, with twenty digits for each number.
    header[PREAMBLE_BYTES..][..description.len()].copy_from_slice(description.as_bytes());
    header[HEADER_BYTES - 1] = b'\n';
    header
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// The shape and the numbers of a file, by the format's definition.
    fn parse(bytes: &[u8]) -> (String, Vec<f32>) {
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let header_bytes = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let (header, data) = bytes[10..].split_at(header_bytes);
        assert_eq!((10 + header_bytes) % 64, 0);
        let header = std::str::from_utf8(header).unwrap();
        assert!(header.ends_with('\n'));
        let shape = header
            .trim_end()
            .strip_prefix("{'descr': '<f4', 'fortran_order': False, 'shape': (")
            .and_then(|rest| rest.strip_suffix("), }"))
            .unwrap();
        let values = data
            .chunks_exact(4)
            .map(|value| f32::from_le_bytes(value.try_into().unwrap()));
        assert_eq!(data.len() % 4, 0);
        (shape.to_string(), values.collect())
    }

    #[test]
    fn rows_in_several_parts_are_read_back() {
        let mut writer = Box::new(NpyWriter::new(Cursor::new(Vec::new()), 3).unwrap());
        let values: Vec<f32> = (0..3 * 5000).map(|value| value as f32 * 0.1).collect();
        writer.write_rows(RowIds::Numbers(0), &values[..3]).unwrap();
        writer.write_rows(RowIds::Numbers(1), &[]).unwrap();
        writer.write_rows(RowIds::Numbers(1), &values[3..]).unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert_eq!(parse(&bytes), ("5000, 3".to_string(), values));
    }

    #[test]
    fn no_rows_are_an_array_of_no_rows() {
        let writer = Box::new(NpyWriter::new(Cursor::new(Vec::new()), 7).unwrap());
        let bytes = writer.finish().unwrap().into_inner();
        assert_eq!(parse(&bytes), ("0, 7".to_string(), vec![]));
    }

    #[test]
    fn what_is_not_a_number_keeps_its_bits() {
        let values = [f32::NAN, f32::INFINITY, -0.0, f32::MIN_POSITIVE / 2.0];
        let mut writer = Box::new(NpyWriter::new(Cursor::new(Vec::new()), 2).unwrap());
        writer.write_rows(RowIds::Numbers(0), &values).unwrap();
        let (shape, read) = parse(&writer.finish().unwrap().into_inner());
        assert_eq!(shape, "2, 2");
        let bits: Vec<u32> = read.into_iter().map(f32::to_bits).collect();
        assert_eq!(bits, values.map(f32::to_bits));
    }

    #[test]
    fn the_header_has_room_for_any_shape() {
        let header = header(u64::MAX, usize::MAX);
        let text = std::str::from_utf8(&header[PREAMBLE_BYTES..]).unwrap();
        assert!(
            text.trim_end()
                .ends_with(&format!("({}, {}), }}", u64::MAX, usize::MAX)),
            "{text}"
        );
        assert!(text.ends_with('\n'));
    }
}
