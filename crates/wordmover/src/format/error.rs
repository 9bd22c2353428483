//! What can be wrong with a model file.

use super::VectorsIdentity;

/// What is wrong with a model file, or with the vectors given for it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not a safetensors file, or a damaged one.
    #[error("not a model file, or a damaged one ({reason})")]
    NotSafetensors {
        /// What the safetensors reader said.
        reason: String,
    },
    /// A safetensors file, but not of ours.
    #[error("a safetensors file, but not a wordmover model")]
    NotAModel,
    /// Written by a later version.
    #[error("model format {found} is newer than {supported}, the newest this version reads")]
    NewerVersion {
        /// Version in the file.
        found: u32,
        /// Newest version we read.
        supported: u32,
    },
    /// The content is not what the checksum says.
    #[error("damaged model: its content does not match its checksum")]
    Damaged,
    /// A metadata entry is missing or cannot be read.
    #[error("damaged model: metadata {key:?} {reason}")]
    Metadata {
        /// The entry.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is missing.
    #[error("damaged model: tensor {name:?} is missing")]
    MissingTensor {
        /// The tensor.
        name: &'static str,
    },
    /// A tensor has the wrong type or shape.
    #[error("damaged model: tensor {name:?} is {found}, not {expected}")]
    WrongTensor {
        /// The tensor.
        name: &'static str,
        /// Type and shape it should have.
        expected: String,
        /// Type and shape it has.
        found: String,
    },
    /// A tensor holds a value that makes no sense.
    #[error("damaged model: tensor {name:?} {reason}")]
    BadValue {
        /// The tensor.
        name: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The model needs vectors that were not given.
    #[error("the model was fitted with the vectors {needed}: they must be given")]
    VectorsNeeded {
        /// Those it needs.
        needed: Box<VectorsIdentity>,
    },
    /// The vectors given are not those it was fitted with.
    #[error("the model was fitted with the vectors {needed}, not with {given}")]
    WrongVectors {
        /// Those it needs.
        needed: Box<VectorsIdentity>,
        /// Those given.
        given: Box<VectorsIdentity>,
    },
    /// It claims the right vectors, but they lack a word of its vocabulary.
    #[error("damaged model: its vocabulary holds {word:?}, which its vectors lack")]
    UnknownWord {
        /// The word.
        word: String,
    },
}
