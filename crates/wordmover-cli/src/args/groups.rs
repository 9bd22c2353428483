//! Groups of options that several commands share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use wordmover::text::{Case, StopWords, Tokenizer};
use wordmover::{
    EmbeddingParams, Error, Weighting, WordVectors,
    checked::Checked,
    embedding::{Components, Fitter, Gamma, PostProcessing},
    random_documents::RandomWords,
    space::{Metric, Normalization, UnknownWords},
};

use super::values::{FrequencySource, StopWordList, at_least_one, named, read};
use crate::input::{Format, InputOptions, read_text};
use crate::usage::usage_error;

/// Which documents to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// Format of the input, where its suffix does not show it; standard input is text by
    /// default
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The column of a TSV or CSV file, or the field of JSON lines, that holds the text
    #[arg(long, visible_aliases = ["field", "text-column", "text-field"], value_name = "NAME")]
    pub column: Option<String>,
    /// The column or field that holds the documents' ids; row numbers if not given
    #[arg(long, visible_alias = "id-field", value_name = "NAME")]
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
            id_column: self.id_column.clone(),
            label_column: None,
            split_column: None,
            header: !self.no_header,
        }
    }
}

/// Which documents with classes to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct LabeledInputArguments {
    /// Format of the input, where its suffix does not show it
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<LabeledFormat>,
    /// The column of a TSV or CSV file, or the field of JSON lines, that holds the text
    #[arg(long, visible_aliases = ["field", "text-column", "text-field"], value_name = "NAME")]
    pub column: Option<String>,
    /// The column or field that holds the class
    #[arg(long, visible_alias = "label-field", value_name = "NAME")]
    pub label_column: String,
    /// What stands between the classes of a document that has several; without it, every
    /// document has one
    #[arg(long, value_name = "SEPARATOR", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub label_separator: Option<String>,
    /// The TSV or CSV file has no header: columns are numbers from 1
    #[arg(long)]
    pub no_header: bool,
}

/// The formats that have a place for classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabeledFormat {
    /// Columns separated by tabs, without quoting
    Tsv,
    /// Columns separated by commas, quoted as in RFC 4180
    Csv,
    /// One JSON object a line
    #[value(name = "jsonl", alias = "ndjson")]
    JsonLines,
}

impl LabeledFormat {
    fn format(self) -> Format {
        match self {
            LabeledFormat::Tsv => Format::Tsv,
            LabeledFormat::Csv => Format::Csv,
            LabeledFormat::JsonLines => Format::JsonLines,
        }
    }
}

impl LabeledInputArguments {
    pub fn options(&self, split_column: Option<&String>) -> InputOptions {
        InputOptions {
            format: self.format.map(LabeledFormat::format),
            column: self.column.clone(),
            id_column: None,
            label_column: Some(self.label_column.clone()),
            split_column: split_column.cloned(),
            header: !self.no_header,
        }
    }
}

/// Which word vectors to use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Word vectors")]
pub struct VectorArguments {
    /// Word vectors other than the built-in ones: word2vec (binary or text), GloVe,
    /// fastText .vec and .bin or native; also gzipped
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
    /// line
    #[arg(long, value_name = "LIST")]
    pub stop_words: Option<StopWordList>,
    /// lower: lower-case words; keep: leave them, for cased vectors
    #[arg(long, value_parser = named::<Case>(), hide_possible_values = true, value_name = "HOW")]
    pub case: Option<Case>,
    /// Words that the vectors do not know [default: compose where the vectors have subwords,
    /// as the built-in ones, else random]
    #[arg(long, value_parser = named::<UnknownWords>(), value_name = "HOW")]
    pub unknown: Option<UnknownWords>,
}

impl TextArguments {
    /// The tokenizer these options and the defaults describe.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        self.tokenizer_over(Tokenizer::default())
    }

    /// The tokenizer these options describe, and otherwise this one.
    pub fn tokenizer_over(&self, mut tokenizer: Tokenizer) -> Result<Tokenizer> {
        match &self.stop_words {
            None => {}
            Some(StopWordList::Smart) => tokenizer.stop_words = StopWords::Smart,
            Some(StopWordList::None) => tokenizer.stop_words = StopWords::None,
            Some(StopWordList::File(path)) => {
                tokenizer.stop_words = StopWords::from_lines(&read_text(path)?);
                if tokenizer.stop_words.is_empty() {
                    bail!(
                        "{} holds no stop words; to drop none, pass --stop-words none",
                        path.display()
                    );
                }
            }
        }
        tokenizer.case = self.case.unwrap_or(Case::Lower);
        Ok(tokenizer)
    }

    /// Refuses options that mean nothing for these vectors.
    pub fn check_vectors(&self, vectors: &WordVectors) -> Result<()> {
        if self.unknown == Some(UnknownWords::Compose) && !vectors.has_subwords() {
            let name = vectors.name();
            return Err(usage_error(format!(
                "--unknown compose needs parts of words, which {name} does not have; \
                 pass random or skip"
            )));
        }
        Ok(())
    }

    /// The options that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let stop_words = self.stop_words.as_ref().map(|_| "--stop-words");
        let case = self.case.map(|_| "--case");
        let unknown = self.unknown.map(|_| "--unknown");
        stop_words.into_iter().chain(case).chain(unknown)
    }

    /// The file that these options name.
    pub fn file(&self) -> Option<&Path> {
        match &self.stop_words {
            Some(StopWordList::File(path)) => Some(path),
            _ => None,
        }
    }
}

/// What makes an embedding. Not defaults of the parser: a model brings its own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Embedding")]
pub struct ParamArguments {
    /// Number of features, R in the paper
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub features: Option<usize>,
    /// Greatest length of a random document, D_max in the paper
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub d_max: Option<usize>,
    /// Scale of the features: a number, auto (one over the median distance), or none (the
    /// features are the distances)
    #[arg(long, value_name = "GAMMA", allow_negative_numbers = true, value_parser = read::<Gamma>)]
    pub gamma: Option<Gamma>,
    /// Weights of words
    #[arg(long, value_parser = named::<Weighting>(), value_name = "SCHEME")]
    pub weights: Option<Weighting>,
    /// Probabilities of words for --weights sif: builtin (from the rank order of the
    /// built-in words), corpus, or a file with a word and its count a line
    #[arg(long, value_name = "SOURCE")]
    pub frequencies: Option<FrequencySource>,
    /// Distribution of the random words
    #[arg(long, value_parser = named::<RandomWords>(), value_name = "DISTRIBUTION")]
    pub random_words: Option<RandomWords>,
    /// Normalisation of the word vectors
    #[arg(long, value_parser = named::<Normalization>(), value_name = "HOW")]
    pub normalize: Option<Normalization>,
    /// Ground cost between words
    #[arg(long, value_parser = named::<Metric>(), value_name = "METRIC")]
    pub metric: Option<Metric>,
    /// Post-processing of the features
    #[arg(long, alias = "finish", value_parser = named::<PostProcessing>(), value_name = "HOW", conflicts_with = "raw")]
    pub post_processing: Option<PostProcessing>,
    /// The features' first K principal components: keep, flatten=K (scale them down to the
    /// strength of the next) or remove=K
    #[arg(long, value_name = "HOW", conflicts_with = "raw", value_parser = read::<Components>)]
    pub components: Option<Components>,
    /// The features of the paper: --post-processing raw --components keep
    #[arg(long)]
    pub raw: bool,
    /// Seed of the random documents
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Drop words that occur less often than this in the corpus
    #[arg(long, value_name = "N")]
    pub min_count: Option<u64>,
    /// Keep at most this many distinct words of a document, the most frequent
    #[arg(long, value_name = "N")]
    pub max_words: Option<usize>,
    #[command(flatten)]
    pub text: TextArguments,
}

impl ParamArguments {
    /// The parameters these options and the defaults describe.
    pub fn params(&self) -> Result<Checked<EmbeddingParams>> {
        self.params_over(EmbeddingParams::default())
    }

    /// The parameters these options describe, and otherwise these.
    pub fn params_over(&self, mut params: EmbeddingParams) -> Result<Checked<EmbeddingParams>> {
        let documents = &mut params.documents;
        documents.tokenizer = self.text.tokenizer_over(documents.tokenizer.clone())?;
        set(&mut documents.bag.weighting, self.weights);
        set(&mut documents.bag.min_count, self.min_count);
        set(&mut documents.bag.max_words, self.max_words);
        set(&mut documents.normalization, self.normalize);
        set(&mut documents.metric, self.metric);
        documents.unknown = self.text.unknown.or(documents.unknown);
        set(&mut params.n_features, self.features);
        set(&mut params.d_max, self.d_max);
        set(&mut params.gamma, self.gamma);
        set(&mut params.random_words, self.random_words);
        set(&mut params.seed, self.seed);
        set(&mut params.post_processing, self.post_processing);
        set(&mut params.components, self.components);
        if self.raw {
            params = params.raw();
        }
        if self.frequencies.is_some() && params.documents.bag.weighting != Weighting::Sif {
            return Err(usage_error("--frequencies is for --weights sif"));
        }
        params.check().map_err(parameter_error)
    }

    /// A fitter with these parameters, and the probabilities of words they need.
    pub fn fitter(
        &self,
        params: &Checked<EmbeddingParams>,
        vectors: &Arc<WordVectors>,
    ) -> Result<Fitter> {
        self.text.check_vectors(vectors)?;
        let fitter = Fitter::new(params.clone(), vectors.clone());
        Ok(match &self.frequencies {
            None => fitter,
            source => fitter.word_probabilities(FrequencySource::open(source.as_ref(), vectors)?),
        })
    }

    /// The options that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--features", self.features.is_some()),
            ("--d-max", self.d_max.is_some()),
            ("--gamma", self.gamma.is_some()),
            ("--weights", self.weights.is_some()),
            ("--frequencies", self.frequencies.is_some()),
            ("--post-processing", self.post_processing.is_some()),
            ("--components", self.components.is_some()),
            ("--raw", self.raw),
            ("--random-words", self.random_words.is_some()),
            ("--normalize", self.normalize.is_some()),
            ("--metric", self.metric.is_some()),
            ("--seed", self.seed.is_some()),
            ("--min-count", self.min_count.is_some()),
            ("--max-words", self.max_words.is_some()),
        ];
        let given = given.into_iter().filter(|(_, given)| *given);
        given.map(|(name, _)| name).chain(self.text.given())
    }

    /// The files that these options name.
    pub fn files(&self) -> [Option<&Path>; 2] {
        let frequencies = match &self.frequencies {
            Some(FrequencySource::File(path)) => Some(path.as_path()),
            _ => None,
        };
        [frequencies, self.text.file()]
    }
}

/// A parameter out of range is an option wrongly given.
pub fn parameter_error(error: Error) -> anyhow::Error {
    match error {
        Error::InvalidParameter {
            name,
            value,
            requirement,
        } => usage_error(format!(
            "{} is {value}: it must be {requirement}",
            option_of(name)
        )),
        other => other.into(),
    }
}

/// The option that sets a parameter of the library.
fn option_of(parameter: &str) -> String {
    match parameter {
        "n_features" => "--features".to_owned(),
        "n_features times d_max" => "--features times --d-max".to_owned(),
        name => format!("--{}", name.replace('_', "-")),
    }
}

pub fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// How to treat files that exist.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Running")]
pub struct WritingArguments {
    /// Replace the output if it exists
    #[arg(long)]
    pub force: bool,
}
