//! Writes the native form.

use std::io::{self, Write};
use std::path::Path;

use safetensors::Dtype;

use super::{FORMAT, VERSION, dtype_of};
use crate::aside::write_aside;
use crate::container;
use crate::vectors::checksum::VectorsHash;
use crate::vectors::error::Checked;
use crate::vectors::rows::Rows;
use crate::vectors::words::WordList;
use crate::vectors::{Place, Precision, VectorsError, WordVectors, precision};
use crate::{Error, Result};

impl WordVectors {
    /// Writes the native form. A file already there is replaced in one step
    /// once the new one is complete.
    ///
    /// The same table always gives the same bytes. A table that has the
    /// precision already is written without further loss.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] when the system cannot write, and
    /// [`Error::InvalidVectors`] when a value is not finite or too large for the
    /// precision (half precision ends at 65,504).
    pub fn save(&self, path: &Path, precision: Precision) -> Result<()> {
        let writer = self.writer(precision)?;
        write_aside(path, |out| writer.write(out)).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })
    }

    /// Writes the native form to a writer of the caller's.
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save).
    pub fn write_to(&self, out: &mut impl Write, precision: Precision) -> Result<()> {
        self.writer(precision)?
            .write(out)
            .map_err(|source| Error::Write {
                path: self.name().into(),
                source,
            })
    }

    /// The native form as bytes, to be part of a larger file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`], as [`save`](Self::save).
    pub fn to_native_bytes(&self, precision: Precision) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes, precision)?;
        Ok(bytes)
    }

    fn writer(&self, precision: Precision) -> Result<Writer<'_>> {
        Writer::new(&self.words, &self.rows, precision).map_err(|problem| self.invalid(problem))
    }
}

/// A table ready to be written.
///
/// The checksum stands before the rows it covers, so the rows are encoded
/// twice, here and in [`write`](Self::write); holding them encoded would double
/// the memory of a large table.
struct Writer<'a> {
    words: &'a WordList,
    rows: &'a Rows,
    precision: Precision,
    scales: Vec<f32>,
    header: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(words: &'a WordList, rows: &'a Rows, precision: Precision) -> Checked<Self> {
        let mut hash = VectorsHash::new(rows.dim(), words);
        let mut scales = Vec::with_capacity(words.len());
        let (mut encoded, mut decoded) = (Vec::new(), vec![0.0; rows.dim()]);
        for id in 0..words.len() {
            encoded.clear();
            let scale = rows
                .encode_row(id, precision, &mut encoded)
                .map_err(|unrepresentable| refuse(words, id, unrepresentable, precision))?;
            precision::decode(&encoded, precision, scale, &mut decoded);
            hash.row(&decoded);
            scales.push(scale);
        }
        if precision != Precision::Int8 {
            scales.clear();
        }
        let header = header(words, rows.dim(), precision, &hash.finish());
        Ok(Writer {
            words,
            rows,
            precision,
            scales,
            header,
        })
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.header)?;
        for end in self.words.ends() {
            out.write_all(&end.to_le_bytes())?;
        }
        for scale in &self.scales {
            out.write_all(&scale.to_le_bytes())?;
        }
        let mut encoded = Vec::new();
        for id in 0..self.words.len() {
            encoded.clear();
            // Rows do not change; but a file that is mapped could.
            self.rows
                .encode_row(id, self.precision, &mut encoded)
                .map_err(|_| io::Error::other("the vectors changed while they were written"))?;
            out.write_all(&encoded)?;
        }
        out.write_all(self.words.packed().as_bytes())
    }
}

fn refuse(
    words: &WordList,
    id: usize,
    precision::Unrepresentable(value): precision::Unrepresentable,
    precision: Precision,
) -> VectorsError {
    if value.is_finite() {
        let word = words.word(id as u32).to_owned();
        VectorsError::TooLargeForPrecision {
            word,
            value,
            precision,
        }
    } else {
        let at = Place::Entry(id as u64 + 1);
        VectorsError::NotFinite {
            at,
            value: value.to_string(),
        }
    }
}

fn header(words: &WordList, dim: usize, precision: Precision, checksum: &str) -> Vec<u8> {
    let n_words = words.len();
    let mut tensors = vec![("word_ends", Dtype::U32, vec![n_words])];
    if precision == Precision::Int8 {
        tensors.push(("scales", Dtype::F32, vec![n_words]));
    }
    tensors.push(("vectors", dtype_of(precision), vec![n_words, dim]));
    tensors.push(("words", Dtype::U8, vec![words.packed().len()]));
    let entries = [
        ("format", FORMAT),
        ("version", VERSION),
        ("precision", precision.as_str()),
        ("checksum", checksum),
    ];
    container::header(&entries, tensors)
}
