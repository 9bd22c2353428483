//! Writes the native form.

use std::io::{self, Write};
use std::path::Path;

use safetensors::Dtype;

use super::{FORMAT, NGRAM_ROWS, NGRAM_SCALES, Names, PIECES, VERSION, WORDS, dtype_of};
use crate::atomic_file;
use crate::container;
use crate::vectors::checksum::VectorsHash;
use crate::vectors::error::Checked;
use crate::vectors::rows::Rows;
use crate::vectors::subwords::{Ngrams, Subwords};
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
        atomic_file::write(path, |out| writer.write(out)).map_err(|source| Error::Write {
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
        Writer::new(self, precision).map_err(|problem| self.invalid(problem))
    }
}

/// Word vectors ready to be written.
struct Writer<'a> {
    words: Table<'a>,
    pieces: Option<Table<'a>>,
    piece_words: &'a [u32],
    ngrams: Option<NgramTable<'a>>,
    probabilities: &'a [f32],
    header: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(vectors: &'a WordVectors, precision: Precision) -> Checked<Self> {
        let words = Table::new(&vectors.words, &vectors.rows, precision)?;
        let (pieces, ngrams) = match &vectors.subwords {
            Some(Subwords::Pieces(pieces)) => (Some(pieces), None),
            Some(Subwords::Ngrams(ngrams)) => (None, Some(ngrams)),
            None => (None, None),
        };
        let ngrams = ngrams.map(|ngrams| NgramTable::new(ngrams, precision));
        let ngrams = ngrams.transpose()?;
        let piece_words = pieces.map_or(&[][..], |pieces| pieces.words());
        let pieces = pieces.map(|pieces| Table::new(pieces.list(), pieces.rows(), precision));
        let mut pieces = pieces.transpose()?;
        if let Some(pieces) = &mut pieces {
            pieces.checksum = pieces.hash.clone().with_ids(piece_words).finish();
        }
        let probabilities = vectors.probabilities().unwrap_or(&[]);
        let mut entries = vec![
            ("format", FORMAT),
            ("version", VERSION),
            ("precision", precision.as_str()),
            ("checksum", words.checksum.as_str()),
        ];
        // Wide values first, so that all are aligned.
        let mut tensors = words.columns(&WORDS);
        if let Some(pieces) = &pieces {
            entries.push(("pieces_checksum", &pieces.checksum));
            tensors.extend(pieces.columns(&PIECES));
            tensors.push(("piece_words", Dtype::U32, vec![piece_words.len()]));
        }
        if let Some(ngrams) = &ngrams {
            entries.push(("ngram_lengths", &ngrams.lengths));
            entries.push(("ngrams_checksum", &ngrams.checksum));
            if precision == Precision::Int8 {
                tensors.push((NGRAM_SCALES, Dtype::F32, vec![ngrams.n_rows]));
            }
        }
        if !probabilities.is_empty() {
            tensors.push(("probabilities", Dtype::F32, vec![probabilities.len()]));
        }
        tensors.extend(words.rows_and_words(&WORDS));
        if let Some(pieces) = &pieces {
            tensors.extend(pieces.rows_and_words(&PIECES));
        }
        if let Some(ngrams) = &ngrams {
            let shape = vec![ngrams.n_rows, ngrams.rows.dim()];
            tensors.push((NGRAM_ROWS, dtype_of(precision), shape));
        }
        Ok(Writer {
            header: container::header(&entries, tensors),
            words,
            pieces,
            piece_words,
            ngrams,
            probabilities,
        })
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.header)?;
        let tables = || std::iter::once(&self.words).chain(&self.pieces);
        tables().try_for_each(|table| table.write_columns(out))?;
        for id in self.piece_words {
            out.write_all(&id.to_le_bytes())?;
        }
        for scale in self.ngrams.iter().flat_map(|ngrams| &ngrams.scales) {
            out.write_all(&scale.to_le_bytes())?;
        }
        for probability in self.probabilities {
            out.write_all(&probability.to_le_bytes())?;
        }
        tables().try_for_each(|table| table.write_rows_and_words(out))?;
        match &self.ngrams {
            Some(ngrams) => write_rows(ngrams.rows, ngrams.n_rows, ngrams.precision, out),
            None => Ok(()),
        }
    }
}

/// Encodes all rows and takes note of their decoded values; returns the scales, which only
/// int8 has.
fn encode_rows(
    rows: &Rows,
    n_rows: usize,
    precision: Precision,
    hash: &mut VectorsHash,
    refuse: impl Fn(usize, precision::Unrepresentable) -> VectorsError,
) -> Checked<Vec<f32>> {
    let mut scales = Vec::new();
    let (mut encoded, mut decoded) = (Vec::new(), vec![0.0; rows.dim()]);
    for id in 0..n_rows {
        encoded.clear();
        let scale = rows
            .encode_row(id, precision, &mut encoded)
            .map_err(|unrepresentable| refuse(id, unrepresentable))?;
        precision::decode(&encoded, precision, scale, &mut decoded);
        hash.row(&decoded);
        if precision == Precision::Int8 {
            scales.push(scale);
        }
    }
    Ok(scales)
}

fn write_rows(
    rows: &Rows,
    n_rows: usize,
    precision: Precision,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut encoded = Vec::new();
    for id in 0..n_rows {
        encoded.clear();
        // Rows do not change; but a file that is mapped could.
        rows.encode_row(id, precision, &mut encoded)
            .map_err(|_| io::Error::other("the vectors changed while they were written"))?;
        out.write_all(&encoded)?;
    }
    Ok(())
}

/// Rows of n-grams, which have no names.
struct NgramTable<'a> {
    rows: &'a Rows,
    n_rows: usize,
    precision: Precision,
    lengths: String,
    scales: Vec<f32>,
    checksum: String,
}

impl<'a> NgramTable<'a> {
    fn new(ngrams: &'a Ngrams, precision: Precision) -> Checked<Self> {
        let (rows, n_rows) = (ngrams.rows(), ngrams.n_rows() as usize);
        let mut hash = VectorsHash::of_ngrams(rows.dim(), ngrams);
        let refuse =
            |_, unrepresentable| refuse("an n-gram", Place::Piece, unrepresentable, precision);
        let scales = encode_rows(rows, n_rows, precision, &mut hash, refuse)?;
        let lengths = ngrams.lengths();
        Ok(NgramTable {
            rows,
            n_rows,
            precision,
            lengths: format!("{}-{}", lengths.start(), lengths.end()),
            scales,
            checksum: hash.finish(),
        })
    }
}

/// Words or parts of words with their rows.
///
/// The checksum stands before the rows it covers, so the rows are encoded
/// twice, here and in [`write_rows_and_words`](Self::write_rows_and_words); holding them
/// encoded would double the memory of a large table.
struct Table<'a> {
    words: &'a WordList,
    rows: &'a Rows,
    precision: Precision,
    scales: Vec<f32>,
    hash: VectorsHash,
    checksum: String,
}

impl<'a> Table<'a> {
    fn new(words: &'a WordList, rows: &'a Rows, precision: Precision) -> Checked<Self> {
        let mut hash = VectorsHash::new(rows.dim(), words);
        let refuse = |id, unrepresentable| {
            let at = Place::Entry(id as u64 + 1);
            refuse(words.word(id as u32), at, unrepresentable, precision)
        };
        let scales = encode_rows(rows, words.len(), precision, &mut hash, refuse)?;
        Ok(Table {
            words,
            rows,
            precision,
            scales,
            checksum: hash.clone().finish(),
            hash,
        })
    }

    fn columns(&self, names: &Names) -> Vec<(&'static str, Dtype, Vec<usize>)> {
        let mut tensors = vec![(names.ends, Dtype::U32, vec![self.words.len()])];
        if self.precision == Precision::Int8 {
            tensors.push((names.scales, Dtype::F32, vec![self.words.len()]));
        }
        tensors
    }

    fn rows_and_words(&self, names: &Names) -> [(&'static str, Dtype, Vec<usize>); 2] {
        let shape = vec![self.words.len(), self.rows.dim()];
        let packed = vec![self.words.packed().len()];
        [
            (names.rows, dtype_of(self.precision), shape),
            (names.packed, Dtype::U8, packed),
        ]
    }

    fn write_columns(&self, out: &mut impl Write) -> io::Result<()> {
        for end in self.words.ends() {
            out.write_all(&end.to_le_bytes())?;
        }
        for scale in &self.scales {
            out.write_all(&scale.to_le_bytes())?;
        }
        Ok(())
    }

    fn write_rows_and_words(&self, out: &mut impl Write) -> io::Result<()> {
        write_rows(self.rows, self.words.len(), self.precision, out)?;
        out.write_all(self.words.packed().as_bytes())
    }
}

fn refuse(
    word: &str,
    at: Place,
    precision::Unrepresentable(value): precision::Unrepresentable,
    precision: Precision,
) -> VectorsError {
    if value.is_finite() {
        let word = word.to_owned();
        VectorsError::TooLargeForPrecision {
            word,
            value,
            precision,
        }
    } else {
        let value = value.to_string();
        VectorsError::NotFinite { at, value }
    }
}
