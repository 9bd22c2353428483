//! Word vectors: the table that gives each word its point in space.
//!
//! [`WordVectors`] comes from a file ([`open`](WordVectors::open)), a stream
//! ([`read`](WordVectors::read)), memory ([`from_rows`](WordVectors::from_rows),
//! [`from_bytes`](WordVectors::from_bytes)) or the library itself
//! (`WordVectors::builtin`, unless that feature is off). Read are
//!
//! - word2vec's binary format,
//! - word2vec's text format and fastText's `.vec`,
//! - GloVe's text format (no header, two dimensions or more),
//! - fastText's `.bin`, with its n-grams for words that it does not know,
//! - our native form, a safetensors file that is mapped into memory and opens
//!   in the time it takes to index its words,
//!
//! each also gzipped, and told apart by content, never by file name. Readers
//! are strict: whatever could be read in two ways or is damaged is an error
//! that names the line or byte. Nothing is normalised, centred, lower-cased or
//! repaired, and no word stands for unknown words; that is for callers, by name.
//!
//! Values are used in `f32` and may be stored in less, see [`Precision`].

mod checksum;
mod detect;
mod error;
mod fasttext;
mod foreign;
mod input;
mod native;
mod nearest;
mod precision;
mod rows;
mod subwords;
mod text;
mod word2vec_binary;
mod words;

#[cfg(feature = "builtin-vectors")]
mod builtin;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use error::{Place, VectorsError};
pub use precision::{Precision, UnknownPrecision};

use crate::{Error, Result};
use detect::{Container, Foreign};
use foreign::GrowingTable;
use input::Input;
use native::NativeTable;
use rows::{ByteOwner, Rows};
use subwords::Subwords;
use words::WordList;

/// The largest dimension accepted: far beyond any published table, and small
/// enough that one row of an absurd header does no harm.
const MAX_DIM: usize = 65_536;

/// Ids are `u32`.
const MAX_WORDS: u64 = u32::MAX as u64;

/// Words and their vectors, all of one dimension.
///
/// Words are numbered from 0 in the order of the file, which in published
/// tables is that of frequency. A table holds at least one word, no word twice,
/// and no empty word. It does not change, and can be shared among threads; it is
/// not `Clone`, because copies would be large: share it in an `Arc`.
///
/// ```
/// use wordmover::WordVectors;
///
/// let text = "cat 0.9 0.1\ndog 0.8 0.2\ncar 0.1 0.9\n";
/// let vectors = WordVectors::read(text.as_bytes(), "pets", None)?;
/// assert_eq!((vectors.len(), vectors.dim()), (3, 2));
///
/// let cat = vectors.id("cat").unwrap();
/// let nearest = vectors.nearest(&vectors.vector(cat), 1, &[cat]);
/// assert_eq!(vectors.word(nearest[0].0), "dog");
/// # Ok::<(), wordmover::Error>(())
/// ```
pub struct WordVectors {
    name: String,
    words: WordList,
    rows: Rows,
    checksum: OnceLock<String>,
    probabilities: Option<Vec<f32>>,
    subwords: Option<Subwords>,
    /// Typical length of a vector.
    length: OnceLock<f64>,
}

impl WordVectors {
    /// Reads a file of any supported format, gzipped or not, and keeps its first
    /// `limit` words, or all.
    ///
    /// The native form is mapped, not read: the file must not be changed in
    /// place while the table is in use (replacing it, as [`save`](Self::save)
    /// does, is harmless). Foreign formats are read up to the limit; what comes
    /// after it is not looked at. [`name`](Self::name) is the last part of `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] when the system cannot read the file, and
    /// [`Error::InvalidVectors`] when its content cannot be used.
    pub fn open(path: &Path, limit: Option<usize>) -> Result<Self> {
        let read_error = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(read_error)?;
        let metadata = file.metadata().map_err(read_error)?;
        if metadata.is_dir() {
            return Err(read_error(io::ErrorKind::IsADirectory.into()));
        }
        let shown = path.display().to_string();
        let mut input = Input::new(&file, &shown);
        // A pipe cannot be mapped.
        let is_native = detect::container(&mut input)? == Container::Native;
        let limit = limit.unwrap_or(usize::MAX);
        // A pipe cannot be mapped.
        let mut table = if is_native && metadata.is_file() {
            // SAFETY: the mapping is read-only and lives as long as the table.
            // Rust cannot see another program write to the file meanwhile; that
            // the caller must prevent is documented above. Bytes that change
            // regardless are only ever decoded as numbers: the words, whose
            // validity is relied upon, are copied before they are checked.
            let map = unsafe { memmap2::Mmap::map(&file) }.map_err(read_error)?;
            Self::from_owner(Arc::new(map), &shown, limit)?
        } else {
            Self::from_input(input, &shown, limit)?
        };
        if let Some(name) = path.file_name() {
            table.name = name.to_string_lossy().into_owned();
        }
        Ok(table)
    }

    /// Reads a stream of any supported format, gzipped or not, and keeps its
    /// first `limit` words, or all. `name` is used in messages.
    ///
    /// Memory grows with what arrives, not with what a header promises.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn read(reader: impl Read, name: &str, limit: Option<usize>) -> Result<Self> {
        Self::from_input(Input::new(reader, name), name, limit.unwrap_or(usize::MAX))
    }

    /// Takes over the native form held in memory: a `Vec<u8>`, a `&'static
    /// [u8]`, a mapped file, or a type of the caller's that refers to a part of
    /// something larger. The rows are not copied.
    ///
    /// `as_ref` must give the same bytes each time, or methods may panic.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`].
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static, name: &str) -> Result<Self> {
        Self::from_owner(Arc::new(bytes), name, usize::MAX)
    }

    /// Makes a table from words and a matrix with one row of `dim` values per
    /// word, row by row.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`] when there is no word, an empty or a repeated
    /// one, a value that is not finite, or a matrix of another size.
    pub fn from_rows(name: &str, words: Vec<String>, matrix: Vec<f32>, dim: usize) -> Result<Self> {
        let invalid = |problem| Error::InvalidVectors {
            name: name.to_owned(),
            problem,
        };
        if words.is_empty() {
            return Err(invalid(VectorsError::Empty));
        }
        if !(1..=MAX_DIM).contains(&dim) {
            return Err(invalid(VectorsError::Dimension { dim }));
        }
        if words.len().checked_mul(dim) != Some(matrix.len()) {
            let (words, found) = (words.len(), matrix.len());
            return Err(invalid(VectorsError::MatrixSize { words, dim, found }));
        }
        let place = |index: u64| Place::Entry(index + 1);
        if let Some(position) = matrix.iter().position(|value| !value.is_finite()) {
            let at = place((position / dim) as u64);
            let value = matrix[position].to_string();
            return Err(invalid(VectorsError::NotFinite { at, value }));
        }
        let mut table = GrowingTable {
            values: matrix,
            ..GrowingTable::new(dim)
        };
        for (index, word) in words.iter().enumerate() {
            table
                .push_word(word, place(index as u64), place)
                .map_err(invalid)?;
        }
        Ok(Self::from_growing(table, name))
    }

    fn from_growing(mut table: GrowingTable, name: &str) -> Self {
        table.values.shrink_to_fit();
        WordVectors {
            name: name.to_owned(),
            words: table.words,
            rows: Rows::from_floats(table.values, table.dim),
            checksum: OnceLock::new(),
            probabilities: None,
            subwords: None,
            length: OnceLock::new(),
        }
    }

    fn from_owner(owner: ByteOwner, name: &str, limit: usize) -> Result<Self> {
        let invalid = |problem| Error::InvalidVectors {
            name: name.to_owned(),
            problem,
        };
        if limit == 0 {
            return Err(invalid(VectorsError::LimitZero));
        }
        let NativeTable {
            words,
            rows,
            checksum,
            probabilities,
            subwords,
        } = native::load(owner, limit).map_err(invalid)?;
        let checksum = checksum.map_or_else(OnceLock::new, OnceLock::from);
        Ok(WordVectors {
            name: name.to_owned(),
            words,
            rows,
            checksum,
            probabilities,
            subwords,
            length: OnceLock::new(),
        })
    }

    fn from_input(mut input: Input<'_>, name: &str, limit: usize) -> Result<Self> {
        if limit == 0 {
            return Err(input.problem(VectorsError::LimitZero));
        }
        let mut container = detect::container(&mut input)?;
        if container == Container::Gzip {
            input = input.unpacked();
            container = detect::container(&mut input)?;
        }
        if container == Container::Native {
            let bytes = native::read_bytes(input)?;
            return Self::from_owner(Arc::new(bytes), name, limit);
        }
        let limit = limit as u64;
        if container == Container::FastText {
            let (table, ngrams) = fasttext::read(&mut input, limit)?;
            let mut vectors = Self::from_growing(table, name);
            vectors.subwords = ngrams.map(Subwords::Ngrams);
            return Ok(vectors);
        }
        let table = match detect::foreign(&mut input)? {
            Foreign::Text(layout) => text::read(&mut input, &layout, limit)?,
            Foreign::Binary { dim, promised } => {
                word2vec_binary::read(&mut input, dim, promised, limit)?
            }
        };
        Ok(Self::from_growing(table, name))
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no words: never, as no such table can be made.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of values in each vector.
    pub fn dim(&self) -> usize {
        self.rows.dim()
    }

    /// What the table is called: the name of its file without the directory, or
    /// the name given by whoever made it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the values are stored. What was read from a foreign format is
    /// [`Precision::F32`].
    pub fn precision(&self) -> Precision {
        self.rows.precision()
    }

    /// The word with this id.
    ///
    /// # Panics
    ///
    /// If `id` is not below [`len()`](Self::len).
    pub fn word(&self, id: u32) -> &str {
        self.words.word(id)
    }

    /// The id of a word, if the table has it. Case matters.
    pub fn id(&self, word: &str) -> Option<u32> {
        self.words.id(word)
    }

    /// All words in the order of their ids.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter()
    }

    /// Writes the vector of a word to `out`.
    ///
    /// A native f32 or f16 file that is damaged may give NaN or infinity; where
    /// that matters, use [`copy_finite_vector`](Self::copy_finite_vector).
    ///
    /// # Panics
    ///
    /// If `id` is not below [`len()`](Self::len), or `out.len()` is not
    /// [`dim()`](Self::dim).
    pub fn copy_vector(&self, id: u32, out: &mut [f32]) {
        assert_eq!(
            out.len(),
            self.dim(),
            "the buffer has another dimension than the table"
        );
        assert!(
            (id as usize) < self.len(),
            "there is no word {id} in a table of {}",
            self.len()
        );
        self.rows.copy_row(id as usize, out);
    }

    /// Writes the vector of a word to `out`, or says that it is not finite.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`] when the row holds NaN or infinity.
    ///
    /// # Panics
    ///
    /// Like [`copy_vector`](Self::copy_vector).
    pub fn copy_finite_vector(&self, id: u32, out: &mut [f32]) -> Result<()> {
        self.copy_vector(id, out);
        self.check_finite_at(out, Place::Entry(u64::from(id) + 1))
    }

    fn check_finite_at(&self, values: &[f32], at: Place) -> Result<()> {
        match values.iter().find(|value| !value.is_finite()) {
            None => Ok(()),
            Some(value) => {
                let value = value.to_string();
                Err(self.invalid(VectorsError::NotFinite { at, value }))
            }
        }
    }

    /// The vector of a word, in memory of its own.
    ///
    /// # Panics
    ///
    /// If `id` is not below [`len()`](Self::len).
    pub fn vector(&self, id: u32) -> Vec<f32> {
        let mut values = vec![0.0; self.dim()];
        self.copy_vector(id, &mut values);
        values
    }

    fn invalid(&self, problem: VectorsError) -> Error {
        Error::InvalidVectors {
            name: self.name.clone(),
            problem,
        }
    }
}

impl fmt::Debug for WordVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordVectors")
            .field("name", &self.name)
            .field("len", &self.len())
            .field("dim", &self.dim())
            .field("precision", &self.precision())
            .finish_non_exhaustive()
    }
}
