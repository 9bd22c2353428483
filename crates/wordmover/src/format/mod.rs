//! The model file: a safetensors file with documented tensors and metadata.
//!
//! `docs/model-format.md` describes it for readers in other languages. Everything
//! in a file is checked before it is used, and sizes before memory is taken for
//! them; a file from a newer version is refused by name. A model does not hold its
//! word vectors unless asked to: it holds their checksum, and refuses others.

mod attachment;
mod checksum;
mod error;
mod packed_words;
mod reader;
mod tensors;
mod writer;

pub use attachment::Attachment;
pub use error::ModelError;
pub use reader::ModelFile;
pub(crate) use reader::is_builtin;

use serde::{Deserialize, Serialize};

use crate::vectors::WordVectors;

/// Value of the metadata key `format`.
const FORMAT: &str = "wordmover-model";

/// The newest version of the format this library reads.
const VERSION: u32 = 5;

/// The first version that knows rows of length 1. Models without what a version is the first
/// to know are written as an earlier one.
const FIRST_WITH_UNIT: u32 = 5;

/// The first version that knows metrics other than the Euclidean, and factors of words.
const FIRST_WITH_METRIC: u32 = 4;

/// The first version whose features are made of distances in single precision.
const FIRST_ROUNDED: u32 = 3;

/// The first version that knows of words the vectors lack.
const FIRST_WITH_UNKNOWN: u32 = 3;

/// The first version with a checksum over the whole file.
const FIRST_WITH_CHECKSUM: u32 = 3;

/// Which word vectors a model was fitted with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorsIdentity {
    /// Name of the file without its folder; `minilm-160d-81k` for the built-in ones.
    pub name: String,
    /// Number of words.
    pub words: usize,
    /// Dimension.
    pub dim: usize,
    /// SHA-256 of words and values, as [`WordVectors::checksum`] gives it.
    pub checksum: String,
    /// That of the parts of words, if the vectors have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces_checksum: Option<String>,
}

impl VectorsIdentity {
    /// Describes `vectors`.
    #[must_use]
    pub fn of(vectors: &WordVectors) -> Self {
        VectorsIdentity {
            name: vectors.name().to_owned(),
            words: vectors.len(),
            dim: vectors.dim(),
            checksum: vectors.checksum().to_owned(),
            pieces_checksum: vectors.subwords_checksum().map(str::to_owned),
        }
    }
}

impl std::fmt::Display for VectorsIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = self.checksum.get(..12).unwrap_or(&self.checksum);
        write!(
            f,
            "{} ({} x {}, sha256 {short}…)",
            self.name, self.words, self.dim
        )
    }
}
