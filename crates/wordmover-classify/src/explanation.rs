//! Why a text got its class: the words for and against it, and random documents in words.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::Serialize;
use wordmover::document::{Word, WordCounts};
use wordmover_learn::Features;

use crate::classifier::TextClassifier;
use crate::counted_text::CountedText;
use crate::error::Result;
use crate::machine::blocks;

/// Words that are left out in turn, at most: the first of a text.
const MOST_WORDS: usize = 256;

/// Why a text has a class, or has not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// Number of the class that is explained.
    #[serde(skip)]
    pub class: usize,
    /// The distinct words of the text, in lower case: those that speak most for the class
    /// first, those against it last.
    pub words: Vec<WordEffect>,
    /// The random documents nearest to the text; none where meanings are not looked at.
    pub nearest: Vec<NearRandomDocument>,
}

/// What a word does for a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WordEffect {
    /// The word, in lower case.
    pub word: String,
    /// By how much the class' decision value falls if the word is left out of the text.
    pub effect: f64,
}

/// A random document near a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NearRandomDocument {
    /// The words of the training documents nearest to its random words.
    pub words: Vec<String>,
    /// Its Word Mover's Distance from the text.
    pub distance: f64,
    /// The weight of its feature for the class: positive if being near speaks for it.
    pub weight: f64,
}

impl TextClassifier {
    /// Explains the class of a text, or another if one is named. A word's effect is exact: the
    /// text is judged without the word, whether the classifier looks at words, meanings or
    /// both. That takes as many predictions as the text has distinct words (at most 256).
    ///
    /// # Errors
    ///
    /// As [`predict`](Self::predict).
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn explain(
        &self,
        text: &str,
        class: Option<usize>,
        n_nearest: usize,
    ) -> Result<Explanation> {
        let whole = self.count(text);
        let mut words: Vec<&str> = Vec::new();
        for word in whole.words.split(' ').filter(|word| !word.is_empty()) {
            if !words.contains(&word) && words.len() < MOST_WORDS {
                words.push(word);
            }
        }
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let less = words.iter().map(|word| self.without(&whole, word));
        let mut variants: Vec<CountedText> = less.collect();
        variants.insert(0, whole);
        let values = self.values(&variants)?;
        let class = match class {
            Some(class) => class,
            None => self.predict(&[text])?[0].class,
        };
        let value = |row: usize| values[row][class];
        let effects = words.into_iter().enumerate().map(|(i, word)| WordEffect {
            word,
            effect: match value(0) - value(i + 1) {
                // A class without training documents has no values.
                effect if effect.is_finite() => effect,
                _ => 0.0,
            },
        });
        let mut effects: Vec<WordEffect> = effects.collect();
        effects.sort_by(|a, b| b.effect.total_cmp(&a.effect));
        Ok(Explanation {
            class,
            words: effects,
            nearest: self.nearest_random_documents(&variants[0], class, n_nearest)?,
        })
    }

    /// The words that speak most for each class, with their weights: of words and pairs of
    /// words where the classifier looks at them, else of frequent words of the training
    /// documents, each judged as a text of its own.
    ///
    /// # Errors
    ///
    /// As [`predict`](Self::predict).
    pub fn telling_words(&self, n_words: usize) -> Result<Vec<Vec<(String, f64)>>> {
        let (words, values): (Vec<String>, Vec<Vec<f64>>) = match &self.machine.terms {
            Some(terms) => {
                let linear = &self.machine.linear;
                let values = (0..terms.terms().len()).map(|column| {
                    let idf = terms.idf()[column];
                    let weights = linear.column_weights(column).iter();
                    self.by_class(&weights.map(|w| w * idf).collect::<Vec<_>>())
                });
                let words = terms.terms().iter().map(|term| term.to_string());
                (words.collect(), values.collect())
            }
            None => self.frequent_words()?,
        };
        let of_class = |class: usize| {
            let mut ranked: Vec<(usize, f64)> = values
                .iter()
                .map(|values| values[class])
                .enumerate()
                .collect();
            ranked.retain(|(_, value)| value.is_finite() && *value > 0.0);
            ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            ranked.truncate(n_words);
            let named = ranked
                .into_iter()
                .map(|(word, value)| (words[word].clone(), value));
            named.collect()
        };
        Ok((0..self.classes().len()).map(of_class).collect())
    }

    /// The most frequent words of the training documents, and for each the decision values of
    /// a text of it alone, over their mean.
    fn frequent_words(&self) -> Result<(Vec<String>, Vec<Vec<f64>>)> {
        const MOST: usize = 2000;
        let model = self.embedding.documents();
        let mut words = model.words();
        let frequency = |word: u32| model.corpus().frequency(Word::Known(word)).documents;
        words.sort_by_key(|&word| std::cmp::Reverse(frequency(word)));
        words.truncate(MOST);
        let names: Vec<String> = words
            .iter()
            .map(|&word| model.vectors().word(word).to_owned())
            .collect();
        let texts = words.iter().map(|&word| CountedText {
            counts: WordCounts {
                words: vec![(word, 1)],
                n_known: 1,
                ..WordCounts::default()
            },
            ..CountedText::default()
        });
        let mut values = self.values(&texts.collect::<Vec<_>>())?;
        for class in 0..self.classes().len() {
            let mean = values.iter().map(|v| v[class]).sum::<f64>() / values.len().max(1) as f64;
            values.iter_mut().for_each(|values| values[class] -= mean);
        }
        Ok((names, values))
    }

    /// Decision values by class.
    fn values(&self, texts: &[CountedText]) -> Result<Vec<Vec<f64>>> {
        let features = self.features(texts, &|_| ControlFlow::Continue(()))?;
        let meanings = features.meanings.as_deref();
        let meanings = meanings.map(|v| Features::new(v, self.embedding.n_features()));
        let blocks = blocks(features.words.as_ref(), meanings.transpose()?)?;
        let linear = &self.machine.linear;
        let mut values = linear.decision_values(blocks)?;
        let rows = values.chunks_exact_mut(linear.n_machines()).enumerate();
        let by_class = rows.map(|(row, values)| {
            if self.machine.has_meanings() && !features.has_meanings[row] {
                self.without_meanings(values);
            }
            self.by_class(values)
        });
        Ok(by_class.collect())
    }

    /// The text without a word, which is in lower case.
    fn without(&self, text: &CountedText, left_out: &str) -> CountedText {
        let vectors = self.embedding.documents().vectors();
        let is_other = |word: &str| word.to_lowercase() != left_out;
        let mut counts = text.counts.clone();
        counts
            .words
            .retain(|&(word, _)| is_other(vectors.word(word)));
        counts.unknown.retain(|(word, _)| is_other(word));
        let words: Vec<&str> = text.words.split(' ').filter(|w| *w != left_out).collect();
        CountedText {
            counts,
            words: words.join(" ").into(),
            ..CountedText::default()
        }
    }

    fn nearest_random_documents(
        &self,
        text: &CountedText,
        class: usize,
        n: usize,
    ) -> Result<Vec<NearRandomDocument>> {
        let documents = self.documents(std::slice::from_ref(text));
        if n == 0 || !self.machine.has_meanings() || documents[0].is_empty() {
            return Ok(Vec::new());
        }
        let distances = self.embedding.distances(&documents)?;
        let mut ranked: Vec<usize> = (0..distances.len()).collect();
        ranked.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(a.cmp(&b)));
        let linear = &self.machine.linear;
        let near = ranked.into_iter().take(n).map(|j| {
            let weights = linear.column_weights(linear.n_sparse() + j);
            let weight = self.by_class(weights)[class];
            Ok(NearRandomDocument {
                words: self.random_words(j)?,
                distance: distances[j],
                weight: if weight.is_finite() { weight } else { 0.0 },
            })
        });
        near.collect()
    }

    /// For each word of a random document, the nearest word of the training documents.
    fn random_words(&self, j: usize) -> Result<Vec<String>> {
        let (model, space) = (self.embedding.documents(), self.embedding.space());
        let words = model.words();
        let random = self.embedding.random_documents().words(j);
        let dim = space.dim();
        let mut names = Vec::new();
        for random in random.chunks_exact(dim) {
            let squared = words.par_iter().map_init(
                || vec![0.0f32; dim],
                |vector, &word| -> Result<(f64, u32)> {
                    space.copy_vector(Word::Known(word), vector)?;
                    let differences = vector.iter().zip(random).map(|(a, b)| f64::from(a - b));
                    Ok((differences.map(|d| d * d).sum(), word))
                },
            );
            let squared: Vec<(f64, u32)> = squared.collect::<Result<_>>()?;
            let nearest = squared
                .iter()
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            names.extend(nearest.map(|&(_, word)| model.vectors().word(word).to_owned()));
        }
        Ok(names)
    }
}
