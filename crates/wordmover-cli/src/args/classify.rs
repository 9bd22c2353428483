//! Options of the commands that classify.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use wordmover::{
    EmbeddingParams, Weighting,
    random_documents::RandomWords,
    space::{Normalization, UnknownWords},
};
use wordmover_classify::{
    Cache, ClassWeights, KnnParams, Learn, Method, Protocol, Views, WmeParams,
};

use super::groups::{parameter_error, set};
use super::values::{at_least_one, at_least_two, named};
use super::{
    DeviceArguments, InputArguments, LabeledInputArguments, TextArguments, VectorArguments,
    WritingArguments,
};
use crate::interrupt;
use crate::usage::usage_error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClassifierMethod {
    /// Linear SVM on Word Mover's Embeddings
    Wme,
    /// Votes of nearest neighbours under the Word Mover's Distance
    KnnWmd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolOption {
    /// The whole grid of the paper, LIBLINEAR's SVM, ten folds
    Paper,
    /// Successive halving, standardised features, five folds
    Fast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClassWeightsOption {
    /// Every document counts alike
    Equal,
    /// Documents of rare classes count more, those of frequent ones less
    Balanced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LearnOption {
    /// Weights of words, from the classes of the documents that hold them
    Weights,
    /// A linear map of the word vectors, for --method knn-wmd
    Metric,
    /// Weights and metric, for --method knn-wmd
    Both,
    /// Nothing beside the classifier
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ViewsOption {
    /// Word Mover's Embeddings
    Meanings,
    /// TF-IDF of words and of pairs of neighbouring words
    Words,
    /// Both side by side
    Both,
    /// What is best on training documents held out
    Auto,
}

/// How to learn.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub struct LearningArguments {
    /// How parameters are chosen by cross-validation
    #[arg(long, value_enum, default_value_t = ProtocolOption::Fast, value_name = "PROTOCOL")]
    pub protocol: ProtocolOption,
    /// Keep distances and results in this folder: the same command, run again after an
    /// interrupt, continues where it stopped
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Number of features, R in the paper [default: 1024; 4096 with --protocol paper]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub features: Option<usize>,
    /// Greatest lengths of random documents to choose from, D_max in the paper
    /// [default: 3,6,12; 3,6,...,21 with --protocol paper]
    #[arg(
        long,
        value_name = "D,...",
        value_delimiter = ',',
        value_parser = at_least_one,
        allow_negative_numbers = true
    )]
    pub d_max: Vec<usize>,
    /// Weights of words: nbow, tfidf or sif [default: the better of nbow and tfidf; nbow with
    /// --protocol paper]
    #[arg(long, value_parser = named::<Weighting>(), hide_possible_values = true, value_name = "SCHEME")]
    pub weights: Option<Weighting>,
    /// What the classifier looks at: meanings, words, both, or auto for the best of them
    /// [default: auto; meanings with --protocol paper]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "VIEWS")]
    pub views: Option<ViewsOption>,
    /// Distribution of the random words [default: the better of uniform and documents;
    /// uniform with --protocol paper]
    #[arg(long, value_parser = named::<RandomWords>(), value_name = "DISTRIBUTION")]
    pub random_words: Option<RandomWords>,
    /// What is learnt from labels beside the classifier: weights (of words) or none; with
    /// --method knn-wmd also metric (a linear map of the word vectors) or both
    /// [default: the better; none with --protocol paper or --method knn-wmd]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHAT")]
    pub learn: Option<LearnOption>,
    /// How much documents count: equal, or balanced for classes of unequal size
    #[arg(long, value_enum, default_value_t = ClassWeightsOption::Equal, hide_possible_values = true, value_name = "WEIGHTS")]
    pub class_weights: ClassWeightsOption,
    /// Number of folds of the cross-validation [default: 5; 10 with --protocol paper]
    #[arg(long, value_name = "N", value_parser = at_least_two)]
    pub folds: Option<usize>,
    /// Normalisation of the word vectors [default: unit]
    #[arg(long, value_parser = named::<Normalization>(), value_name = "HOW")]
    pub normalize: Option<Normalization>,
    /// Seed of random documents, folds and splits
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        allow_negative_numbers = true
    )]
    pub seed: u64,
    /// Drop words that occur less often than this in the training documents
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub min_count: u64,
    /// Keep at most this many distinct words of a document, the most frequent
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = at_least_one)]
    pub max_words: usize,
    #[command(flatten)]
    pub text: TextArguments,
}

impl LearningArguments {
    pub fn protocol(&self) -> Protocol {
        match self.protocol {
            ProtocolOption::Paper => Protocol::Paper,
            ProtocolOption::Fast => Protocol::Fast,
        }
    }

    pub fn cache(&self) -> Result<Cache> {
        let Some(folder) = &self.cache else {
            return Ok(Cache::none());
        };
        let cache = Cache::open(folder)?;
        interrupt::wait_for(&cache);
        Ok(cache)
    }

    /// The parameters of a classifier on embeddings.
    pub fn wme(&self) -> Result<WmeParams> {
        let mut params = WmeParams::new(self.protocol());
        self.set_embedding(&mut params.embedding);
        set(&mut params.embedding.n_features, self.features);
        if !self.d_max.is_empty() {
            params.d_maxes.clone_from(&self.d_max);
        }
        if let Some(weights) = self.weights {
            params.weightings = vec![weights];
        }
        if let Some(random_words) = self.random_words {
            params.random_words = vec![random_words];
        }
        if self.text.stop_words.is_some() {
            params.keep_stop_words = vec![false];
        }
        set(&mut params.n_folds, self.folds);
        let is_paper = params.protocol == Protocol::Paper;
        match self.learn {
            Some(LearnOption::Metric | LearnOption::Both) => {
                return Err(usage_error(
                    "a metric is learnt with --method knn-wmd only: it does not help an SVM"
                        .to_owned(),
                ));
            }
            Some(LearnOption::Weights) if is_paper => {
                return Err(usage_error(
                    "--protocol paper learns no weights: leave --learn out".to_owned(),
                ));
            }
            Some(LearnOption::Weights) => params.label_exponents.retain(|&beta| beta > 0.0),
            Some(LearnOption::None) => params.label_exponents = vec![0.0],
            None => {}
        }
        if self.class_weights == ClassWeightsOption::Balanced {
            if is_paper {
                return Err(usage_error(
                    "--protocol paper has equal class weights: leave --class-weights out"
                        .to_owned(),
                ));
            }
            params.class_weights = ClassWeights::Balanced;
        }
        if let Some(views) = self.views {
            if params.protocol == Protocol::Paper && views != ViewsOption::Meanings {
                return Err(usage_error(
                    "--protocol paper has meanings alone: leave --views out".to_owned(),
                ));
            }
            params.views = match views {
                ViewsOption::Meanings => vec![Views::Meanings],
                ViewsOption::Words => vec![Views::Words],
                ViewsOption::Both => vec![Views::Both],
                ViewsOption::Auto => Views::ALL.to_vec(),
            };
        }
        for &d_max in &params.d_maxes {
            let embedding = params.embedding.clone().d_max(d_max);
            embedding.check().map_err(parameter_error)?;
        }
        Ok(params)
    }

    /// The parameters of a classifier by neighbours.
    pub fn knn(&self) -> Result<KnnParams> {
        let given = [
            ("--features", self.features.is_some()),
            ("--d-max", !self.d_max.is_empty()),
            ("--random-words", self.random_words.is_some()),
            ("--views", self.views.is_some()),
            (
                "--class-weights",
                self.class_weights == ClassWeightsOption::Balanced,
            ),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(usage_error(format!(
                "{option} is for --method wme: neighbours need no random documents"
            )));
        }
        let mut params = KnnParams::new(self.protocol());
        params.learn = match self.learn {
            None | Some(LearnOption::None) => Learn::None,
            Some(LearnOption::Weights) => Learn::Weights,
            Some(LearnOption::Metric) => Learn::Metric,
            Some(LearnOption::Both) => Learn::Both,
        };
        if params.learn != Learn::None && params.protocol == Protocol::Paper {
            return Err(usage_error(
                "--protocol paper learns nothing: leave --learn out".to_owned(),
            ));
        }
        if params.learn != Learn::None && self.folds.is_some() {
            return Err(usage_error(
                "--folds is not for --learn: one part of the documents is held out".to_owned(),
            ));
        }
        self.set_embedding(&mut params.embedding);
        set(&mut params.n_folds, self.folds);
        if let Some(weights) = self.weights {
            params.weightings = vec![weights];
        }
        Ok(params)
    }

    /// What becomes of words that the vectors do not know, if the options or the protocol
    /// settle it.
    pub fn unknown(&self) -> Option<UnknownWords> {
        let protocol = match self.protocol() {
            Protocol::Paper => Some(UnknownWords::Skip),
            _ => None,
        };
        self.text.unknown.or(protocol)
    }

    fn set_embedding(&self, embedding: &mut EmbeddingParams) {
        embedding.seed = self.seed;
        embedding.documents.bag.min_count = self.min_count;
        embedding.documents.bag.max_words = self.max_words;
        set(&mut embedding.documents.normalization, self.normalize);
        let unknown = &mut embedding.documents.unknown;
        *unknown = self.text.unknown.or(*unknown);
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover train corpus.tsv --text-column text --label-column label -o topics.wmc \\\n                  \
    --report topics.html\n  \
    wordmover train corpus.jsonl --field body --label-column topic --vectors glove.txt.gz \\\n                  \
    --bundle-vectors --cache cache -o topics.wmc\n\n\
    The classifier is one file: it needs nothing else where the word vectors are the\n\
    built-in ones or bundled, and else the same --vectors. It is a model, too, for\n\
    `wordmover embed` and `wordmover info`.")]
pub struct TrainArguments {
    /// Documents with classes: .tsv, .csv or .jsonl, also .gz, one file or several; - is
    /// standard input
    #[arg(value_name = "CORPUS", required = true)]
    pub documents: Vec<PathBuf>,
    /// The classifier file, .wmc
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Put the word vectors into the file, so that it needs no others
    #[arg(long)]
    pub bundle_vectors: bool,
    /// Print JSON: what was chosen, and everything that was tried
    #[arg(long)]
    pub json: bool,
    /// Write a report with figures, one HTML file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub input: LabeledInputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub learning: LearningArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover predict topics.wmc new.txt -o predictions.csv\n  \
    wordmover predict topics.wmc new.tsv --column text --id-column key -o predictions.jsonl\n  \
    wordmover predict topics.wmc new.txt --probabilities --top 3\n  \
    echo \"A goal in the last minute\" | wordmover predict topics.wmc - --explain\n\n\
    A document without a known word gets the class most frequent in training, and no\n\
    decision values.")]
pub struct PredictArguments {
    /// A classifier that `wordmover train` wrote
    #[arg(value_name = "CLASSIFIER")]
    pub classifier: PathBuf,
    /// Documents: .txt (one a line), .tsv, .csv or .jsonl, also .gz, one file or several; -
    /// is standard input
    #[arg(value_name = "INPUT", required = true)]
    pub documents: Vec<PathBuf>,
    /// Where classes and decision values go: .csv, .parquet or .jsonl; without it, or for
    /// -, JSON lines are printed
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Give the probability of each class, too
    #[arg(long)]
    pub probabilities: bool,
    /// Give the K likeliest classes alone, the likeliest first
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    pub top: Option<usize>,
    /// Say why: the words for and against the class, and the nearest random documents in
    /// words; for JSON lines
    #[arg(long)]
    pub explain: bool,
    /// What stands between the labels of a document in .csv and .parquet files, where the
    /// classifier gives several
    #[arg(long, default_value = ";", value_name = "SEPARATOR")]
    pub label_separator: String,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover evaluate corpus.tsv --text-column text --label-column label --report report.html\n  \
    wordmover evaluate corpus.tsv --column text --label-column label --method knn-wmd --json\n\n\
    Parameters are chosen on the training documents of each split alone. Random splits are\n\
    the same for every method and protocol.")]
pub struct EvaluateArguments {
    /// Documents with classes: .tsv, .csv or .jsonl, also .gz, one file or several; - is
    /// standard input
    #[arg(value_name = "CORPUS", required = true)]
    pub documents: Vec<PathBuf>,
    /// The method to evaluate
    #[arg(long, value_enum, default_value_t = ClassifierMethod::Wme, value_name = "METHOD")]
    pub method: ClassifierMethod,
    /// The column or field that holds train or test; without it, or where it holds - for
    /// all documents, the corpus is split at random
    #[arg(
        long,
        visible_alias = "split-field",
        value_name = "NAME",
        help_heading = "Input"
    )]
    pub split_column: Option<String>,
    /// Number of random splits, 70 % to learn from [default: 5]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub splits: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write a report with figures, one HTML file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub input: LabeledInputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub learning: LearningArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover test topics.wmc labelled.tsv --text-column text --label-column label\n  \
    wordmover test topics.wmc a.jsonl b.jsonl --field body --label-column topic --report t.html\n\n\
    Documents of classes that the classifier does not know are judged, too: wrong.")]
pub struct TestArguments {
    /// A classifier that `wordmover train` wrote
    #[arg(value_name = "CLASSIFIER")]
    pub classifier: PathBuf,
    /// Documents with classes: .tsv, .csv or .jsonl, also .gz, one file or several; - is
    /// standard input
    #[arg(value_name = "CORPUS", required = true)]
    pub documents: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write a report with figures, one HTML file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub input: LabeledInputArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}

impl EvaluateArguments {
    pub fn method(&self) -> Result<Method> {
        Ok(match self.method {
            ClassifierMethod::Wme => Method::Wme(self.learning.wme()?),
            ClassifierMethod::KnnWmd => Method::KnnWmd(self.learning.knn()?),
        })
    }
}
