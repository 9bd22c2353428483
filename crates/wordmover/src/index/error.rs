//! What can be wrong with an index.

/// Why an index cannot be used or changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no manifest, or it is of something else.
    #[error("not a search index of wordmover")]
    NotAnIndex,
    /// A later version of the library wrote it.
    #[error(
        "the index has version {found} of its format, and versions up to {supported} can be read"
    )]
    NewerVersion {
        /// Its version.
        found: u64,
        /// The newest that can be read.
        supported: u32,
    },
    /// A file of it is missing, cut short or otherwise not what was written.
    #[error("the index is damaged: {file}: {reason}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another program is writing it.
    #[error("another program is writing the index")]
    Locked,
    /// Something is there already.
    #[error("it exists already")]
    Exists,
    /// Something is there that is no index, and so is never replaced.
    #[error("it exists and is no search index: it is not replaced")]
    Foreign,
    /// Two documents would have the same id.
    #[error("there are two documents with the id {id:?}")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// There is no such document.
    #[error("the index has no document with the id {id:?}")]
    UnknownId {
        /// The id.
        id: String,
    },
    /// Either all documents of an index bring an id, or none.
    #[error("{}", if *.needed {
        "the documents of this index have ids, and those given have none"
    } else {
        "the documents of this index are numbered, and those given have ids"
    })]
    Ids {
        /// Whether the documents of the index have ids.
        needed: bool,
    },
    /// A graph is asked for, or would be lost.
    #[error("this program has no graphs: build it with the cargo feature `hnsw`")]
    NoGraphs,
    /// A graph cannot be built.
    #[error("its graph cannot be built: {reason}")]
    Graph {
        /// Why not.
        reason: String,
    },
    /// There are no documents, and an index of nothing could not be searched.
    #[error("there are no documents")]
    Empty,
}
