//! What options can be set to.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use wordmover::names::Named;
use wordmover::{Error, WordVectors, document::WordProbabilities, space::Normalization};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchBy {
    /// Exact distances to all: nothing nearer is missed
    Wmd,
    /// Cosines of embeddings first, then exact distances to the best candidates
    Embedding,
}

/// Where the probabilities of words come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrequencySource {
    Builtin,
    Corpus,
    File(PathBuf),
}

impl FromStr for FrequencySource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "builtin" => FrequencySource::Builtin,
            "corpus" => FrequencySource::Corpus,
            path => FrequencySource::File(path.into()),
        })
    }
}

impl FrequencySource {
    /// The probabilities of the words of `vectors`; nothing if the corpus gives them.
    pub fn open(this: Option<&Self>, vectors: &WordVectors) -> Result<Option<WordProbabilities>> {
        Ok(match this {
            None | Some(FrequencySource::Builtin) => Some(WordProbabilities::builtin(vectors)),
            Some(FrequencySource::Corpus) => None,
            Some(FrequencySource::File(path)) => {
                let probabilities = WordProbabilities::open(path, vectors)?;
                if probabilities.values().iter().all(|&p| p == 0.0) {
                    let (file, name) = (path.display(), vectors.name());
                    bail!("{file} counts no word that {name} knows");
                }
                Some(probabilities)
            }
        })
    }
}

/// One of the values that the library has names for.
pub(super) fn named<T: Named>() -> impl TypedValueParser<Value = T> {
    one_of(T::ALL)
}

/// Two texts alone have no mean to centre by.
pub(super) fn uncentered() -> impl TypedValueParser<Value = Normalization> {
    one_of(&[Normalization::None, Normalization::Unit])
}

fn one_of<T: Named>(values: &'static [T]) -> impl TypedValueParser<Value = T> {
    let offered = values.iter();
    let offered = offered.map(|value| PossibleValue::new(value.name()).help(value.description()));
    PossibleValuesParser::new(offered).map(|name| T::from_name(&name).expect("a name offered"))
}

/// A value that the library reads, such as gamma: its message is the parser's.
pub(super) fn read<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| match error {
        Error::InvalidParameter { requirement, .. } => format!("expected {requirement}"),
        other => other.to_string(),
    })
}

/// For counts of which none would make no sense.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}

/// A part of a whole, and not nothing.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0 and at most 1".to_owned()),
    }
}

pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1e300).contains(&number) => Ok(number),
        _ => Err("expected a number of at least 0".to_owned()),
    }
}

/// For numbers of folds.
pub(super) fn at_least_two(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 1 => Ok(number),
        _ => Err("expected a number of at least 2".to_owned()),
    }
}
