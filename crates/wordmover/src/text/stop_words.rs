//! Words too common to carry meaning.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

/// The SMART system's list (Buckley et al., 1995), which the paper uses.
static SMART: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("smart.txt").lines().collect());

/// Which words a tokenizer drops.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopWords {
    /// Nothing is dropped.
    None,
    /// The 571 stop words of the SMART system; the paper's choice.
    #[default]
    Smart,
    /// These words, compared after lower-casing if the tokenizer lower-cases.
    Custom(BTreeSet<String>),
}

impl StopWords {
    /// A list of one's own, one word a line; blank lines are skipped.
    #[must_use]
    pub fn from_lines(lines: &str) -> Self {
        let words = lines.lines().map(str::trim).filter(|word| !word.is_empty());
        StopWords::Custom(words.map(str::to_owned).collect())
    }

    /// Whether the list holds `word`.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        match self {
            StopWords::None => false,
            StopWords::Smart => SMART.contains(word),
            StopWords::Custom(words) => words.contains(word),
        }
    }

    /// How many words the list holds.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            StopWords::None => 0,
            StopWords::Smart => SMART.len(),
            StopWords::Custom(words) => words.len(),
        }
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
