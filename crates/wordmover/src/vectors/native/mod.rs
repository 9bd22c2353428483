//! The native form: a safetensors file that can be mapped into memory.
//!
//! | tensor | type and shape | content |
//! | --- | --- | --- |
//! | `word_ends` | U32 `[n]` | where each word ends in `words` |
//! | `scales` | F32 `[n]` | only with int8: the unit of each row |
//! | `vectors` | F32, F16 or I8 `[n, dim]` | the rows |
//! | `words` | U8 `[bytes]` | the words in UTF-8, one after the other |
//!
//! | `probabilities` | F32 `[n]` | optional: how likely each word is in running text |
//!
//! and metadata `format`, `version`, `precision` and `checksum`, all strings. Parts of words
//! are a second table, optional: `piece_ends`, `piece_scales`, `piece_vectors` and `pieces`,
//! with `pieces_checksum`. Hashed n-grams, instead of pieces, are `ngram_vectors` with
//! `ngram_scales`, and `ngram_lengths` and `ngrams_checksum` in the metadata.
//!
//! Everything but the rows is checked on opening, and checked before memory is
//! reserved for it; the rows are not touched, so that a mapped table costs only
//! the rows that are used. Int8 rows are finite by construction; f32 and f16
//! rows may hold NaN in a damaged file, which is found by whoever reads them
//! through `copy_finite_vector` and by `verify_checksum`.

mod read;
mod write;

use safetensors::Dtype;

use super::Precision;

pub(super) use read::{NativeTable, load, read_bytes, resembles};

pub(super) const FORMAT: &str = "wordmover-vectors";
pub(super) const VERSION: &str = "1";

/// Names of the tensors of a table.
struct Names {
    ends: &'static str,
    scales: &'static str,
    rows: &'static str,
    packed: &'static str,
}

const WORDS: Names = Names {
    ends: "word_ends",
    scales: "scales",
    rows: "vectors",
    packed: "words",
};

const PIECES: Names = Names {
    ends: "piece_ends",
    scales: "piece_scales",
    rows: "piece_vectors",
    packed: "pieces",
};

/// The rows of n-grams, and their scales.
const NGRAM_ROWS: &str = "ngram_vectors";
const NGRAM_SCALES: &str = "ngram_scales";

/// The type of the tensor `vectors`.
fn dtype_of(precision: Precision) -> Dtype {
    match precision {
        Precision::F32 => Dtype::F32,
        Precision::F16 => Dtype::F16,
        Precision::Int8 => Dtype::I8,
    }
}
