//! What the user types, once, as typed options.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use wordmover::text::{Case, StopWords, Tokenizer};
use wordmover::vectors::Precision;
use wordmover::{
    CheckedParams, EmbeddingParams, Error, Gamma, Normalization, RandomWords, Weighting,
    WordVectors,
};

use crate::input::{Format, InputOptions};
use crate::usage::usage_error;

/// Exact Word Mover's Embeddings of documents.
#[derive(Debug, Parser)]
#[command(
    name = "wordmover",
    version,
    after_help = "Word vectors are built in (80,000 English words of GloVe 6B); --vectors takes others.\n\
                  Exit codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted."
)]
pub struct Arguments {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
    /// Threads to use; all of them if not given. The result is the same
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Turn documents into vectors
    Embed(EmbedArguments),
    /// Learn a model from a corpus, to embed other documents with the same features
    Fit(FitArguments),
    /// Describe a model file
    Info(InfoArguments),
    /// Word Mover's Distance between two texts, and which word moves where
    Distance(DistanceArguments),
    /// Find the documents nearest to a text under the Word Mover's Distance, exactly
    Search(SearchArguments),
    /// Look at word vectors, or convert them to the form that opens at once
    #[command(subcommand)]
    Vectors(VectorsCommand),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover embed docs.txt -o docs.npy\n  \
    wordmover embed docs.tsv --column text -o docs.parquet --features 1024 --weights tfidf\n  \
    wordmover embed new.txt --model model.wme -o new.npy\n  \
    zcat docs.txt.gz | wordmover embed - -o - | head -1\n\n\
    Without --model the embedding is fitted on the documents themselves; embeddings of\n\
    two runs can be compared only if both used one model.")]
pub struct EmbedArguments {
    /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is standard input
    #[arg(value_name = "INPUT")]
    pub documents: PathBuf,
    /// Where the vectors go: .npy, .parquet, .jsonl or .csv; - prints JSON lines
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
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
    pub params: ParamArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Args)]
pub struct InfoArguments {
    /// The model file
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
    wordmover distance \"a cat\" \"a dog\" --json --svg plan.svg")]
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
    /// Draw the transport plan
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Replace the drawing if it exists
    #[arg(long, requires = "svg")]
    pub force: bool,
    /// Weigh words and normalise vectors as this model does
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// What is done to word vectors first [default: unit]
    #[arg(long, value_name = "HOW")]
    pub normalize: Option<DistanceNormalization>,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub text: TextArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover search docs.txt \"The president greets the press\" -k 5\n  \
    wordmover search docs.jsonl --field body --id-column key --queries queries.txt --json\n\n\
    Every distance is exact, and no nearer document is missed. Documents without an id are\n\
    known by their number, from 0 on. One without a known word is never found.")]
pub struct SearchArguments {
    /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz; - is standard input
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
    /// Print JSON, an object for each query
    #[arg(long)]
    pub json: bool,
    /// Weigh words and normalise vectors as this model does
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Weights of words: nbow (share of the count) or tfidf, with the frequencies of
    /// CORPUS [default: nbow]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "SCHEME")]
    pub weights: Option<WeightsOption>,
    /// What is done to word vectors first [default: unit]
    #[arg(long, value_name = "HOW")]
    pub normalize: Option<DistanceNormalization>,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub text: TextArguments,
    /// No progress bar and no summary
    #[arg(short, long, help_heading = "Running")]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub enum VectorsCommand {
    /// Describe word vectors: number, dimension, precision, checksum
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
    #[command(after_help = "Example:\n  \
        wordmover vectors convert glove.txt.gz --precision f16 -o glove.safetensors")]
    Convert {
        /// word2vec (binary or text), GloVe, fastText .vec or native; also gzipped
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
    /// The words nearest to a word, by cosine
    Nearest {
        /// A word, as the vectors spell it
        #[arg(value_name = "WORD")]
        word: String,
        /// How many
        #[arg(short, default_value_t = 10, value_name = "N")]
        k: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        vectors: VectorArguments,
    },
}

/// Which documents to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// The input's format, if its suffix does not tell; - is text unless told
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The column of a TSV or CSV file that holds the text
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    /// The field of JSON lines that holds the text
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// The column or field that holds the documents' ids; row numbers if not given
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// The TSV or CSV file has no header: columns are numbers from 1
    #[arg(long)]
    pub no_header: bool,
}

impl InputArguments {
    pub fn options(&self) -> InputOptions {
        InputOptions {
            format: self.format,
            column: self.column.clone(),
            field: self.field.clone(),
            id_column: self.id_column.clone(),
            header: !self.no_header,
        }
    }
}

/// Which word vectors to use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Word vectors")]
pub struct VectorArguments {
    /// Word vectors other than the built-in ones: word2vec (binary or text), GloVe,
    /// fastText .vec or native; also gzipped
    #[arg(long, value_name = "FILE")]
    pub vectors: Option<PathBuf>,
    /// Use only the first N words of --vectors
    #[arg(long, value_name = "N", requires = "vectors", value_parser = at_least_one)]
    pub limit: Option<usize>,
}

impl VectorArguments {
    /// The vectors named, or else the built-in ones.
    pub fn open(&self) -> Result<Arc<WordVectors>> {
        Ok(self
            .open_named()?
            .unwrap_or_else(|| Arc::new(WordVectors::builtin())))
    }

    /// The vectors named, if any.
    pub fn open_named(&self) -> Result<Option<Arc<WordVectors>>> {
        let open = |path: &PathBuf| WordVectors::open(path, self.limit).map(Arc::new);
        Ok(self.vectors.as_ref().map(open).transpose()?)
    }
}

/// How texts become words.
#[derive(Debug, Args)]
#[command(next_help_heading = "Text")]
pub struct TextArguments {
    /// Words to drop: smart (the 571 of the SMART system), none, or a file, one word a
    /// line [default: smart]
    #[arg(long, value_name = "LIST")]
    pub stop_words: Option<StopWordList>,
    /// lower: lower-case words; keep: leave them, for cased vectors [default: lower]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "HOW")]
    pub case: Option<CaseOption>,
}

impl TextArguments {
    /// The tokenizer these options and the defaults describe.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        let mut tokenizer = Tokenizer::default();
        match &self.stop_words {
            None => {}
            Some(StopWordList::Smart) => tokenizer.stop_words = StopWords::Smart,
            Some(StopWordList::None) => tokenizer.stop_words = StopWords::None,
            Some(StopWordList::File(path)) => {
                let lines = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                tokenizer.stop_words = StopWords::from_lines(&lines);
            }
        }
        match self.case {
            None | Some(CaseOption::Lower) => tokenizer.case = Case::Lower,
            Some(CaseOption::Keep) => tokenizer.case = Case::Keep,
        }
        Ok(tokenizer)
    }

    fn first_given(&self) -> Option<&'static str> {
        let stop_words = self.stop_words.as_ref().map(|_| "--stop-words");
        stop_words.or(self.case.map(|_| "--case"))
    }
}

/// What makes an embedding. Not defaults of the parser: a model brings its own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Embedding")]
pub struct ParamArguments {
    /// Number of features, R in the paper [default: 512]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub features: Option<usize>,
    /// Greatest length of a random document, D_max in the paper [default: 6]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub d_max: Option<usize>,
    /// Scale of the features: a number, auto (one over the median distance), or none (the
    /// features are the distances) [default: auto]
    #[arg(long, value_name = "GAMMA", allow_negative_numbers = true)]
    pub gamma: Option<GammaOption>,
    /// Weights of words: nbow (share of the count) or tfidf [default: nbow]
    #[arg(long, value_enum, value_name = "SCHEME")]
    pub weights: Option<WeightsOption>,
    /// Distribution of the random words [default: uniform]
    #[arg(long, value_enum, value_name = "DISTRIBUTION")]
    pub random_words: Option<RandomWordsOption>,
    /// What is done to word vectors first [default: unit]
    #[arg(long, value_enum, value_name = "HOW")]
    pub normalize: Option<NormalizeOption>,
    /// Seed of the random documents [default: 0]
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Drop words that occur less often than this in the corpus [default: 1]
    #[arg(long, value_name = "N")]
    pub min_count: Option<u64>,
    /// Keep at most this many distinct words of a document, the most frequent [default: 500]
    #[arg(long, value_name = "N")]
    pub max_words: Option<usize>,
    #[command(flatten)]
    pub text: TextArguments,
}

impl ParamArguments {
    /// The parameters these options and the defaults describe.
    pub fn params(&self) -> Result<CheckedParams> {
        let mut params = EmbeddingParams::default().tokenizer(self.text.tokenizer()?);
        set(&mut params.n_features, self.features);
        set(&mut params.d_max, self.d_max);
        set(&mut params.gamma, self.gamma.map(|gamma| gamma.0));
        set(
            &mut params.bag.weighting,
            self.weights.map(WeightsOption::weighting),
        );
        set(
            &mut params.random_words,
            self.random_words.map(RandomWordsOption::random_words),
        );
        set(
            &mut params.normalization,
            self.normalize.map(NormalizeOption::normalization),
        );
        set(&mut params.seed, self.seed);
        set(&mut params.bag.min_count, self.min_count);
        set(&mut params.bag.max_words, self.max_words);
        params.check().map_err(|error| match error {
            Error::InvalidParameter {
                name,
                value,
                requirement,
            } => usage_error(format!(
                "{} is {value}: it must be {requirement}",
                option_of(name)
            )),
            other => other.into(),
        })
    }

    /// An option that was given although a model settles it.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--features", self.features.is_some()),
            ("--d-max", self.d_max.is_some()),
            ("--gamma", self.gamma.is_some()),
            ("--weights", self.weights.is_some()),
            ("--random-words", self.random_words.is_some()),
            ("--normalize", self.normalize.is_some()),
            ("--seed", self.seed.is_some()),
            ("--min-count", self.min_count.is_some()),
            ("--max-words", self.max_words.is_some()),
        ];
        let own = given
            .into_iter()
            .find_map(|(name, given)| given.then_some(name));
        own.or_else(|| self.text.first_given())
    }
}

impl DistanceArguments {
    /// An option that was given although a model settles it.
    pub fn first_given(&self) -> Option<&'static str> {
        self.normalize
            .map(|_| "--normalize")
            .or_else(|| self.text.first_given())
    }
}

/// The option that sets a parameter of the library.
fn option_of(parameter: &str) -> String {
    match parameter {
        "n_features" => "--features".to_owned(),
        name => format!("--{}", name.replace('_', "-")),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}

impl SearchArguments {
    /// An option that was given although a model settles it.
    pub fn first_given(&self) -> Option<&'static str> {
        let weights = self.weights.map(|_| "--weights");
        weights
            .or(self.normalize.map(|_| "--normalize"))
            .or_else(|| self.text.first_given())
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// How to treat files and the terminal.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Running")]
pub struct WritingArguments {
    /// Replace the output if it exists
    #[arg(long)]
    pub force: bool,
    /// No progress bars and no summary
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnEmpty {
    /// All zeros, the limit of features far from everything
    Zero,
    /// All NaN
    Nan,
    /// Refuse the input
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopWordList {
    Smart,
    None,
    File(PathBuf),
}

impl FromStr for StopWordList {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "smart" => StopWordList::Smart,
            "none" => StopWordList::None,
            path => StopWordList::File(path.into()),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaOption(pub Gamma);

impl FromStr for GammaOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(GammaOption(Gamma::Auto)),
            "none" => Ok(GammaOption(Gamma::None)),
            number => match number.parse::<f64>() {
                Ok(value) if value.is_finite() && value > 0.0 => {
                    Ok(GammaOption(Gamma::Value(value)))
                }
                _ => Err("expected auto, none or a positive number".to_owned()),
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CaseOption {
    Lower,
    Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WeightsOption {
    /// Share of the count
    Nbow,
    /// Share of count times ln(1 + N / df)
    Tfidf,
}

impl WeightsOption {
    pub fn weighting(self) -> Weighting {
        match self {
            WeightsOption::Nbow => Weighting::Nbow,
            WeightsOption::Tfidf => Weighting::Tfidf,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RandomWordsOption {
    /// Coordinates between the extremes of the corpus' word vectors (the paper's)
    Uniform,
    /// The same spread around the mean of the corpus' word vectors
    UniformCentered,
    /// Normal, with the corpus' mean and deviation of each coordinate
    Gaussian,
    /// Words of the corpus
    Vocabulary,
}

impl RandomWordsOption {
    fn random_words(self) -> RandomWords {
        match self {
            RandomWordsOption::Uniform => RandomWords::Uniform,
            RandomWordsOption::UniformCentered => RandomWords::UniformCentered,
            RandomWordsOption::Gaussian => RandomWords::Gaussian,
            RandomWordsOption::Vocabulary => RandomWords::Vocabulary,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NormalizeOption {
    /// Nothing
    None,
    /// Scaled to length 1
    Unit,
    /// The mean of the corpus' words subtracted
    Center,
    /// Centred, then scaled to length 1
    CenterUnit,
}

impl NormalizeOption {
    fn normalization(self) -> Normalization {
        match self {
            NormalizeOption::None => Normalization::None,
            NormalizeOption::Unit => Normalization::Unit,
            NormalizeOption::Center => Normalization::Center,
            NormalizeOption::CenterUnit => Normalization::CenterUnit,
        }
    }
}

/// Two texts alone have no mean to centre by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceNormalization {
    /// Nothing
    None,
    /// Scaled to length 1
    Unit,
}

impl DistanceNormalization {
    pub fn normalization(self) -> Normalization {
        match self {
            DistanceNormalization::None => Normalization::None,
            DistanceNormalization::Unit => Normalization::Unit,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_defaults_said_in_the_help_are_the_library_s() {
        let help = Arguments::command()
            .find_subcommand_mut("embed")
            .unwrap()
            .render_help()
            .to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let params = EmbeddingParams::default();
        for (option, default) in [
            ("--features <R>", params.n_features.to_string()),
            ("--d-max <D>", params.d_max.to_string()),
            ("--seed <SEED>", params.seed.to_string()),
            ("--min-count <N>", params.bag.min_count.to_string()),
            ("--max-words <N>", params.bag.max_words.to_string()),
        ] {
            let about = help.split(option).nth(1).unwrap();
            let said = about
                .split("[default: ")
                .nth(1)
                .unwrap()
                .split(']')
                .next()
                .unwrap();
            assert_eq!(said, default, "{option}");
        }
        assert_eq!(params.gamma, Gamma::Auto);
        assert_eq!(params.bag.weighting, Weighting::Nbow);
        assert_eq!(params.random_words, RandomWords::Uniform);
        assert_eq!(params.normalization, Normalization::Unit);
    }
}
