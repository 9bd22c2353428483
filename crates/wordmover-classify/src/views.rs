//! What of a text a classifier looks at.

use serde::{Deserialize, Serialize};

/// The features of a classifier. Meanings tell texts apart that share no word; words tell
/// apart what lies close together in the space of word vectors, such as names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Views {
    /// The Word Mover's Embedding: the paper's classifier.
    #[default]
    Meanings,
    /// TF-IDF of words and of pairs of neighbouring words, stop words among them and
    /// whether the vectors know them or not.
    Words,
    /// Both side by side, with a relative weight.
    Both,
}

impl Views {
    /// All of them, in the order in which the first of equally good ones is chosen: with
    /// both, a text can differ from the training documents in either way.
    pub const ALL: [Views; 3] = [Views::Both, Views::Meanings, Views::Words];

    /// Whether the Word Mover's Embedding is among the features.
    #[must_use]
    pub fn have_meanings(self) -> bool {
        self != Views::Words
    }

    /// Whether words are among the features.
    #[must_use]
    pub fn have_words(self) -> bool {
        self != Views::Meanings
    }
}

impl std::fmt::Display for Views {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Views::Meanings => "meanings",
            Views::Words => "words",
            Views::Both => "both",
        })
    }
}

/// One point of the search for the views.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewPoint {
    /// The features.
    pub views: Views,
    /// What meanings are multiplied by beside words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanings_weight: Option<f64>,
    /// C.
    pub cost: f64,
    /// Share of the documents held out that were predicted right; where a document may have
    /// several classes, the micro-averaged F1.
    pub accuracy: f64,
    /// Standard deviation of the share over the folds.
    pub deviation: f64,
}
