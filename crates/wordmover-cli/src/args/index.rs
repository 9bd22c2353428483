//! Options of `wordmover index`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::groups::{InputArguments, ParamArguments, VectorArguments, WritingArguments};

#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Make an index of documents, to search them without reading them again
    Build(Box<IndexBuildArguments>),
    /// Add documents to an index
    Add(IndexAddArguments),
    /// Remove documents from an index
    Remove(IndexRemoveArguments),
    /// Describe an index
    #[command(after_help = "Examples:\n  \
        wordmover index info docs.wmi --json")]
    Info {
        /// The index
        #[arg(value_name = "INDEX")]
        index: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read an index to its end and compare it with its checksums
    #[command(after_help = "Examples:\n  \
        wordmover index verify docs.wmi")]
    Verify {
        /// The index
        #[arg(value_name = "INDEX")]
        index: PathBuf,
    },
    /// Write an index anew, without the documents that were removed
    #[command(after_help = "Examples:\n  \
        wordmover index compact docs.wmi")]
    Compact {
        /// The index
        #[arg(value_name = "INDEX")]
        index: PathBuf,
        /// Build a graph as `index build --graph` does; one that is there is built anew anyway
        #[arg(long)]
        graph: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover index build docs.jsonl --id-field id --text-field body -o docs.wmi\n  \
    wordmover search docs.wmi \"The president greets the press\" -k 5\n\n\
    The index is a folder. It holds the texts, and all that a search needs: words, weights,\n\
    word vectors, embeddings and a list of documents for each word. Without --model the\n\
    embedding is fitted on the documents; documents that are added later are embedded with it.\n\
    Documents without ids are known by their number, from 0 on.")]
pub struct IndexBuildArguments {
    /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is standard input
    #[arg(value_name = "INPUT")]
    pub documents: PathBuf,
    /// The index
    #[arg(short, long, value_name = "INDEX")]
    pub output: PathBuf,
    /// Embed with this model instead of fitting one
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Build a graph (HNSW) for `search --by embedding`, which then need not compare all
    /// embeddings; worth it from some 100,000 documents on, and only in programs built with the
    /// cargo feature hnsw
    #[arg(long)]
    pub graph: bool,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub params: ParamArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover index add docs.wmi more.jsonl --id-field id --text-field body\n  \
    wordmover index add docs.wmi changed.jsonl --id-field id --text-field body --replace\n\n\
    All documents are added, or none. An index can be searched meanwhile.")]
pub struct IndexAddArguments {
    /// The index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is standard input
    #[arg(value_name = "INPUT")]
    pub documents: PathBuf,
    /// Documents take the place of those that have the same id
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub input: InputArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover index remove docs.wmi key17 key18\n  \
    wordmover index remove docs.wmi --ids-from gone.txt\n\n\
    All of them are removed, or none. Their room is given back by `wordmover index compact`.")]
pub struct IndexRemoveArguments {
    /// The index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Ids of documents, or their numbers where they have no ids
    #[arg(
        value_name = "ID",
        required_unless_present = "ids_from",
        conflicts_with = "ids_from"
    )]
    pub ids: Vec<String>,
    /// Remove the document of every line of this file; - is standard input
    #[arg(long, value_name = "FILE")]
    pub ids_from: Option<PathBuf>,
}
