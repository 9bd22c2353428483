//! What options can be set to.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Result, bail};
use clap::ValueEnum;
use wordmover::{
    Components, Finish, Gamma, Normalization, RandomWords, Similarity, Weighting,
    WordProbabilities, WordVectors,
};

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
    /// Share of count times a / (a + p), p the word's probability in running text
    Sif,
}

impl WeightsOption {
    pub fn weighting(self) -> Weighting {
        match self {
            WeightsOption::Nbow => Weighting::Nbow,
            WeightsOption::Tfidf => Weighting::Tfidf,
            WeightsOption::Sif => Weighting::Sif,
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
    pub fn random_words(self) -> RandomWords {
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
    pub fn normalization(self) -> Normalization {
        match self {
            NormalizeOption::None => Normalization::None,
            NormalizeOption::Unit => Normalization::Unit,
            NormalizeOption::Center => Normalization::Center,
            NormalizeOption::CenterUnit => Normalization::CenterUnit,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FinishOption {
    /// Nothing: the features of the paper
    Raw,
    /// The mean of the corpus subtracted
    Center,
    /// Centred, then divided by the deviation over the corpus
    Standardize,
}

impl FinishOption {
    pub fn finish(self) -> Finish {
        match self {
            FinishOption::Raw => Finish::Raw,
            FinishOption::Center => Finish::Center,
            FinishOption::Standardize => Finish::Standardize,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchBy {
    /// Exact distances to all: nothing nearer is missed
    Wmd,
    /// Cosines of embeddings first, then exact distances to the best candidates
    Embedding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodOption {
    /// Cosine of Word Mover's Embeddings
    Wme,
    /// Word Mover's Kernel, estimated
    Kernel,
    /// Negative Word Mover's Distance
    Wmd,
    /// Cosine of averaged word vectors
    Average,
    /// Cosine of averages weighted by inverse document frequency
    Tfidf,
    /// Cosine of averages weighted by smooth inverse frequency, first component removed
    Sif,
}

impl MethodOption {
    pub fn similarity(self) -> Similarity {
        match self {
            MethodOption::Wme => Similarity::Wme,
            MethodOption::Kernel => Similarity::Kernel,
            MethodOption::Wmd => Similarity::Wmd,
            MethodOption::Average => Similarity::Average,
            MethodOption::Tfidf => Similarity::Tfidf,
            MethodOption::Sif => Similarity::Sif,
        }
    }
}

/// `keep`, `flatten=K` or `remove=K`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentsOption(pub Components);

impl FromStr for ComponentsOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let components = match text.split_once('=') {
            None if text == "keep" => Some(Components::Keep),
            Some(("flatten", n)) => n.parse().ok().map(Components::Flatten),
            Some(("remove", n)) => n.parse().ok().map(Components::Remove),
            _ => None,
        };
        let expected = || "expected keep, flatten=K or remove=K".to_owned();
        components.map(ComponentsOption).ok_or_else(expected)
    }
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

/// For counts of which none would make no sense.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}
