//! The options of the service and of the page in one file.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DeviceArguments, TextArguments, VectorArguments, WritingArguments};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover serve\n  \
    wordmover serve --model model.wme --classifier topics.wmc --port 9000\n  \
    wordmover serve --host 0.0.0.0 --api-key-file key.txt --log json\n  \
    curl http://127.0.0.1:8080/v1/embeddings -H 'Content-Type: application/json' \\\n       \
    -d '{\"input\": [\"A cat sat on the mat\"]}'\n\n\
    The page is at /, the documentation at /docs. POST /v1/embeddings has OpenAI's form.\n\
    SIGHUP reads the files again, SIGTERM and SIGINT finish what is under way and end the\n\
    service with code 0.")]
pub struct ServeArguments {
    /// A model of `wordmover fit`; without it, the built-in model for texts of any kind
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// A classifier of `wordmover train`, for /v1/classify
    #[arg(long, value_name = "FILE")]
    pub classifier: Option<PathBuf>,
    /// An index of `wordmover index build`, for /v1/search and the map
    #[arg(long, value_name = "INDEX")]
    pub index: Option<PathBuf>,
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub host: IpAddr,
    /// The port to listen on; 0 is any that is free
    #[arg(long, default_value_t = 8080, value_name = "PORT")]
    pub port: u16,
    /// What clients call the model [default: the name of its file]
    #[arg(long, value_name = "NAME")]
    pub model_name: Option<String>,
    /// A file whose only line is the key that clients must send
    #[arg(long, value_name = "FILE")]
    pub api_key_file: Option<PathBuf>,
    /// Serve other machines without a key
    #[arg(long, conflicts_with = "api_key_file")]
    pub no_api_key: bool,
    /// What is logged, on standard error
    #[arg(long, value_enum, default_value_t = ServeLog::Events, value_name = "WHAT")]
    pub log: ServeLog,
    #[command(flatten)]
    pub limits: LimitArguments,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ServeLog {
    /// Start, end, reloads and failures
    Events,
    /// Every request too, a JSON object a line
    Json,
}

/// How much clients may ask for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArguments {
    /// Bytes of a request [default: 8388608]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub max_body: Option<u64>,
    /// Texts of a request [default: 2048]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub max_texts: Option<u64>,
    /// Words of a text [default: 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub max_words: Option<u64>,
    /// Requests that wait or are worked on; more get status 429 [default: 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub queue: Option<u64>,
    /// Seconds a request may take [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    wordmover explain \"Obama speaks to the media in Illinois\" \\\n                    \
    \"The president greets the press in Chicago\" --html plan.html\n\n\
    The file needs nothing else: open it in a browser.")]
pub struct ExplainArguments {
    /// A text (never a file)
    #[arg(value_name = "TEXT")]
    pub first: String,
    /// Another text
    #[arg(value_name = "TEXT")]
    pub second: String,
    /// The page to write
    #[arg(long, value_name = "FILE")]
    pub html: PathBuf,
    /// Weigh words and normalise vectors as this model does
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub vectors: VectorArguments,
    #[command(flatten)]
    pub text: TextArguments,
    #[command(flatten)]
    pub writing: WritingArguments,
}
