//! What the user types, once, as typed options.

mod classify;
mod defaults;
mod device;
mod groups;
mod index;
mod points;
#[cfg(feature = "serve")]
mod serve;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use wordmover::index::SearchBy;
use wordmover::vectors::Precision;
use wordmover::{
    Similarity, Weighting,
    space::{Metric, Normalization},
};

use crate::output::suffixes;

pub use classify::{
    ClassifierMethod, EvaluateArguments, PredictArguments, TestArguments, TrainArguments,
};
pub use defaults::command;
pub use device::DeviceArguments;
pub use groups::{
    InputArguments, LabeledInputArguments, ParamArguments, TextArguments, VectorArguments,
    WritingArguments, set,
};
pub use index::{IndexAddArguments, IndexBuildArguments, IndexCommand, IndexRemoveArguments};
pub use points::{PointsCommand, PointsEmbedArguments};
#[cfg(feature = "serve")]
pub use serve::{ExplainArguments, LimitArguments, ServeArguments, ServeLog};
pub use values::{FrequencySource, OnEmpty};
use values::{at_least_one, named, not_negative, share, uncentered};

/// Exact Word Mover's Embeddings of documents.
#[derive(Debug, Parser)]
#[command(
    name = "wordmover",
    version,
    after_help = "Word vectors are built in (81,000 English words distilled from MiniLM; others are composed of their parts); --vectors takes others.\n\
                  Exit codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted, 143 terminated."
)]
pub struct Arguments {
    /// The command
    #[command(subcommand)]
    pub command: Command,
    /// Threads to use; all of them if not given. The result is the same
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print results and errors only: no progress bars, no summary, no notes
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Turn documents into vectors
    Embed(EmbedArguments),
    /// Learn a model from a corpus, to embed other documents with the same features
    Fit(FitArguments),
    /// Describe a model or a classifier
    Info(InfoArguments),
    /// Word Mover's Distance between two texts, and which word moves where
    Distance(DistanceArguments),
    /// Show which words of two texts correspond, as a page in one file
    #[cfg(feature = "serve")]
    Explain(ExplainArguments),
    /// Find the documents nearest to a text
    Search(SearchArguments),
    /// Keep an index of documents, to search them without reading them again
    #[command(subcommand)]
    Index(IndexCommand),
    /// Similarity of two texts, or of the texts of many pairs
    Similarity(SimilarityArguments),
    /// Learn to classify texts; parameters are chosen by cross-validation
    Train(Box<TrainArguments>),
    /// Classify texts
    Predict(PredictArguments),
    /// Judge a classifier on documents whose classes are known
    Test(TestArguments),
    /// Measure how well a method classifies texts it has not seen
    Evaluate(Box<EvaluateArguments>),
    /// Serve embeddings, distances and classes over HTTP, and a page to see them
    #[cfg(feature = "serve")]
    Serve(Box<ServeArguments>),
    /// Look at word vectors, or convert them to the form that opens at once
    #[command(subcommand)]
    Vectors(VectorsCommand),
    /// Embed sets of any vectors, such as image patches or tokens
    #[command(subcommand)]
    Points(PointsCommand),
    /// Print completions of the command line for a shell
    Completions(CompletionsArguments),
    /// Write the manual pages
    Man(ManArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover embed docs.txt -o docs.npy\n  \
    wordmover embed docs.tsv --column text -o docs.parquet --features 1024 --weights tfidf\n  \
    wordmover embed new.txt --model model.wme -o new.npy\n  \
    zcat docs.txt.gz | wordmover embed - | head -1\n\n\
    Without --model the embedding is fitted on the documents themselves; embeddings of\n\
    two runs can be compared only if both used one model. In a .csv file, an id that a\n\
    spreadsheet would take for a formula (=, +, - or @ first) gets an apostrophe in front.")]
pub struct EmbedArguments {
    /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is standard input
    #[arg(value_name = "INPUT")]
    pub documents: PathBuf,
    #[arg(short, long, value_name = "FILE", help = format!(
        "Where the vectors go: {}; without it, or for -, JSON lines are printed",
        suffixes(|_| true)
    ))]
    pub output: Option<PathBuf>,
    /// Embed with this model instead of fitting one
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Keep the model that is fitted here
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub save_model: Option<PathBuf>,
    /// The row of a document without a known word
    #[arg(long, value_enum, default_value_t = OnEmpty::Zero, value_name = "WHAT")]
    pub on_empty: OnEmpty,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub params: ParamArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover fit corpus.jsonl --field body --vectors glove.txt.gz -o model.wme\n  \
    wordmover fit corpus.txt -o model.wme && wordmover embed new.txt --model model.wme -o new.npy")]
pub struct FitArguments {
    /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is standard input
    #[arg(value_name = "INPUT")]
    pub documents: PathBuf,
    /// The model file
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Put the word vectors into the model file, so that it needs no others
    #[arg(long)]
    pub bundle_vectors: bool,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub params: ParamArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover info model.wme\n  \
    wordmover info topics.wmc --json")]
pub struct InfoArguments {
    /// A file that `wordmover fit` or `wordmover train` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover distance \"Obama speaks to the media in Illinois\" \\\n                     \
    \"The president greets the press in Chicago\" --explain\n  \
    wordmover distance \"a cat\" \"a dog\" --json --svg plan.svg\n  \
    wordmover distance \"a cat on the mat\" \"a cat\" --mass 0.5 --explain")]
pub struct DistanceArguments {
    /// A text (never a file)
    #[arg(value_name = "TEXT")]
    pub first: String,
    /// Another text
    #[arg(value_name = "TEXT")]
    pub second: String,
    /// Print the transport plan: which word moves where, how much of it, how far
    #[arg(long, conflicts_with = "json")]
    pub explain: bool,
    /// Print JSON: the distance, the moves (mass out of 1, cost the distance between
    /// the two words) and the words the vectors do not know
    #[arg(long)]
    pub json: bool,
    /// Move only this share of the mass, above 0 and at most 1, at the least cost: 0.8 is the
    /// best 80 %. What stays unmatched is listed
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub mass: Option<f64>,
    /// Move as much as pays: mass that stays unmatched costs this much, on either side
    #[arg(long, value_name = "COST", value_parser = not_negative, conflicts_with = "mass", allow_negative_numbers = true)]
    pub penalty: Option<f64>,
    /// Draw the transport plan
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Replace the drawing if it exists
    #[arg(long, requires = "svg")]
    pub force: bool,
    /// Weigh words and normalise vectors as this model does
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Normalisation of the word vectors [default: unit]
    #[arg(long, value_parser = uncentered(), value_name = "HOW")]
    pub normalize: Option<Normalization>,
    /// Ground cost between words [default: euclidean]
    #[arg(long, value_parser = named::<Metric>(), value_name = "METRIC")]
    pub metric: Option<Metric>,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub text: TextArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover search docs.txt \"The president greets the press\" -k 5\n  \
    wordmover search docs.jsonl --field body --id-column key --queries queries.txt --json\n  \
    wordmover fit docs.txt -o m.wme && wordmover embed docs.txt --model m.wme -o docs.npy &&\n  \
    wordmover search docs.txt \"A text\" --by embedding --model m.wme --embeddings docs.npy\n  \
    wordmover index build docs.txt -o docs.wmi && wordmover search docs.wmi \"A text\"\n\n\
    Every distance is exact, and no nearer document is missed unless --by embedding, which\n\
    compares cosines of embeddings first. An index finds by words, embeddings and distances\n\
    together unless told otherwise. Documents without an id are known by their number, from 0 on.\n\
    One without a known word is never found.")]
pub struct SearchArguments {
    /// An index, or documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is
    /// standard input
    #[arg(value_name = "CORPUS")]
    pub documents: PathBuf,
    /// What to look for: a text (never a file)
    #[arg(
        value_name = "TEXT",
        required_unless_present = "queries",
        conflicts_with = "queries"
    )]
    pub query: Option<String>,
    /// Look for every line of this file; - is standard input
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// How many documents to find
    #[arg(short, default_value_t = 10, value_name = "N", value_parser = at_least_one)]
    pub k: usize,
    /// How to find them [default: hybrid in an index, wmd in documents]
    #[arg(long, value_parser = named::<SearchBy>(), value_name = "HOW")]
    pub by: Option<SearchBy>,
    /// With --by embedding: candidates re-ranked by exact distance [default: 100]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub candidates: Option<usize>,
    /// With --by embedding and --model: what `wordmover embed CORPUS --model` wrote to this
    /// .npy file, instead of embedding CORPUS again
    #[arg(long, value_name = "FILE", requires = "model")]
    pub embeddings: Option<PathBuf>,
    /// Print JSON, an object for each query
    #[arg(long)]
    pub json: bool,
    /// Weigh words and normalise vectors as this model does
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Weights of words: nbow (share of the count) or tfidf, with the frequencies of
    /// CORPUS [default: nbow]
    #[arg(long, value_parser = named::<Weighting>(), hide_possible_values = true, value_name = "SCHEME")]
    pub weights: Option<Weighting>,
    /// Normalisation of the word vectors [default: unit]
    #[arg(long, value_parser = uncentered(), value_name = "HOW")]
    pub normalize: Option<Normalization>,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub text: TextArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover similarity \"A cat sat on the mat\" \"A dog lay on the rug\"\n  \
    wordmover similarity pairs.tsv --method sif --json\n\n\
    One argument is a file of pairs, two are texts. A text without a known word has\n\
    similarity 0 to everything (-2 with wmd and wrd). With pairs, the texts of the file are the\n\
    corpus that is fitted on; two texts alone are compared against background documents.\n\
    Of the options below, wmd, wrd, average and tfidf take --stop-words, --case and\n\
    --unknown, wmd also --metric, sif also --frequencies, kernel all but\n\
    --post-processing, --components and --raw.")]
pub struct SimilarityArguments {
    /// A .tsv or .csv file, also .gz, of pairs: two texts a row, or a person's score and
    /// two texts; - is standard input, as .tsv; or else two texts
    #[arg(value_names = ["PAIRS|TEXT", "TEXT"], num_args = 1..=2, required = true)]
    pub inputs: Vec<String>,
    /// How to measure similarity
    #[arg(long, value_parser = named::<Similarity>(), default_value_t = Similarity::Blend, value_name = "METHOD")]
    pub method: Similarity,
    /// The first row of the file is a header
    #[arg(long)]
    pub header: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Embed with this model instead of fitting one, and take the method wme
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub params: ParamArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover completions bash > ~/.local/share/bash-completion/completions/wordmover\n  \
    wordmover completions zsh > ~/.zfunc/_wordmover\n  \
    wordmover completions fish > ~/.config/fish/completions/wordmover.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover man ~/.local/share/man/man1 && man wordmover-embed")]
pub struct ManArguments {
    /// A folder that exists: wordmover.1 and a page for each command are written there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Subcommand)]
pub enum VectorsCommand {
    /// Describe word vectors: number, dimension, precision, checksum
    #[command(after_help = "Examples:\n  \
        wordmover vectors info\n  \
        wordmover vectors info glove.safetensors --verify")]
    Info {
        /// A word-vector file; the built-in vectors if not given
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Read at most the first N words
        #[arg(long, value_name = "N", value_parser = at_least_one)]
        limit: Option<usize>,
        /// Read everything and compare it with the checksum the file states
        #[arg(long)]
        verify: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write word vectors in the native form, which is mapped into memory and opens at once
    #[command(after_help = "Examples:\n  \
        wordmover vectors convert glove.txt.gz --precision f16 -o glove.safetensors")]
    Convert {
        /// word2vec (binary or text), GloVe, fastText .vec and .bin or native; also gzipped
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The native file, .safetensors
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Bits per value: f32 keeps them, f16 halves the size, int8 (with a scale per
        /// word) quarters it
        #[arg(long, default_value_t = Precision::F32, value_name = "f32|f16|int8")]
        precision: Precision,
        /// Keep only the first N words
        #[arg(long, value_name = "N", value_parser = at_least_one)]
        limit: Option<usize>,
        #[command(flatten)]
        writing: WritingArguments,
    },
    /// Which words of a corpus the vectors do not know, the most frequent first
    #[command(after_help = "Examples:\n  \
        wordmover vectors coverage docs.txt\n  \
        wordmover vectors coverage docs.tsv --column text --vectors glove.txt.gz --json")]
    Coverage {
        /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is standard input
        #[arg(value_name = "CORPUS")]
        documents: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        input: InputArguments,
        #[command(flatten)]
        vectors: VectorArguments,
    },
    /// The words nearest to a word, by cosine
    #[command(after_help = "Examples:\n  \
        wordmover vectors nearest guitar -k 4\n  \
        wordmover vectors nearest Paris --vectors news300.safetensors --json")]
    Nearest {
        /// A word, as the vectors spell it
        #[arg(value_name = "WORD")]
        word: String,
        /// How many
        #[arg(short, default_value_t = 10, value_name = "N", value_parser = at_least_one)]
        k: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        vectors: VectorArguments,
    },
}

impl Command {
    /// Whether the command looks after interrupts itself.
    pub fn ends_by_itself(&self) -> bool {
        #[cfg(feature = "serve")]
        return matches!(self, Command::Serve(_));
        #[cfg(not(feature = "serve"))]
        false
    }
}

impl DistanceArguments {
    /// The options that were given although a model settles them.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let normalize = self.normalize.map(|_| "--normalize");
        let metric = self.metric.map(|_| "--metric");
        normalize.into_iter().chain(metric).chain(self.text.given())
    }
}

impl SearchArguments {
    /// The options that were given although a model settles them.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let weights = self.weights.map(|_| "--weights");
        let normalize = self.normalize.map(|_| "--normalize");
        weights
            .into_iter()
            .chain(normalize)
            .chain(self.text.given())
    }

    /// The first option that was given although an index settles it.
    pub fn given_with_index(&self) -> Option<&'static str> {
        let others = [
            ("--model", self.model.is_some()),
            ("--embeddings", self.embeddings.is_some()),
            ("--vectors", self.vectors.vectors.is_some()),
            ("--format", self.input.format.is_some()),
            ("--column", self.input.column.is_some()),
            ("--id-column", self.input.id_column.is_some()),
            ("--no-header", self.input.no_header),
        ];
        let others = others.into_iter().filter(|(_, given)| *given);
        others.map(|(name, _)| name).chain(self.given()).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        command().debug_assert();
    }
}
