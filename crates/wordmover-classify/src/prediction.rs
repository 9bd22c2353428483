//! What a classifier says of texts.

use std::ops::ControlFlow;

use rayon::prelude::*;
use wordmover::Document;
use wordmover_learn::{Features, SparseRows};

use crate::classifier::TextClassifier;
use crate::counted_text::CountedText;
use crate::error::Result;
use crate::machine::blocks;
use crate::progress::{Event, Observer};

/// Documents predicted at once: their features are all the memory it takes.
const BLOCK: usize = 4096;

/// Features computed at once, at most.
const BLOCK_VALUES: usize = 1 << 25;

/// What a classifier says of one document.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// Number of the class; [`TextClassifier::classes`] has its name. Where a document may
    /// have several, the likeliest.
    pub class: usize,
    /// The classes given: that one, or where a document may have several those of positive
    /// decision values, perhaps none; ascending.
    pub classes: Vec<usize>,
    /// One for each class, the greatest for the class predicted; none for a document
    /// without a word that the classifier looks at.
    pub decision_values: Option<Vec<f64>>,
    /// One for each class; they sum to 1 unless a document may have several. None without
    /// decision values, and for classifiers [without them](TextClassifier::has_probabilities).
    pub probabilities: Option<Vec<f64>>,
}

impl Prediction {
    /// The classes by falling decision values, of equal ones the first; none without values.
    #[must_use]
    pub fn ranked(&self) -> Vec<usize> {
        let values = self.decision_values.as_deref().unwrap_or_default();
        let mut classes: Vec<usize> = (0..values.len()).collect();
        classes.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        classes
    }
}

/// The features of some texts.
pub(crate) struct TextFeatures {
    pub words: Option<SparseRows>,
    /// Row by row, zeros for documents without meanings; none for words alone.
    pub meanings: Option<Vec<f32>>,
    pub has_meanings: Vec<bool>,
}

impl TextClassifier {
    /// Predicts texts.
    ///
    /// # Errors
    ///
    /// A word vector holds a value that is not finite.
    pub fn predict(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Prediction>> {
        let texts = texts.iter().map(|text| self.count(text.as_ref()));
        self.predict_counted(&texts.collect::<Vec<_>>(), &|_| ControlFlow::Continue(()))
    }

    /// Predicts counted texts; a step is a distance.
    ///
    /// # Errors
    ///
    /// As [`predict`](Self::predict), or the observer broke off.
    pub fn predict_counted(
        &self,
        texts: &[CountedText],
        observer: &Observer,
    ) -> Result<Vec<Prediction>> {
        let most = (BLOCK_VALUES / self.embedding.n_features()).clamp(1, BLOCK);
        let mut predictions = Vec::with_capacity(texts.len());
        for block in texts.chunks(most) {
            predictions.extend(self.predict_block(block, observer)?);
        }
        Ok(predictions)
    }

    fn predict_block(&self, texts: &[CountedText], observer: &Observer) -> Result<Vec<Prediction>> {
        let features = self.features(texts, observer)?;
        let n_features = self.embedding.n_features();
        let meanings = features.meanings.as_deref();
        let meanings = meanings.map(|values| Features::new(values, n_features));
        let blocks = blocks(features.words.as_ref(), meanings.transpose()?)?;
        let linear = &self.machine.linear;
        let mut values = linear.decision_values(blocks)?;
        let rows = values.chunks_exact_mut(linear.n_machines()).enumerate();
        let predictions = rows.map(|(row, values)| {
            let words = features.words.as_ref();
            let has_words = words.is_some_and(|words| !words.row(row).0.is_empty());
            let has_meanings = features.has_meanings[row];
            if !has_words && !has_meanings {
                return self.prediction(None);
            }
            if !has_meanings {
                self.without_meanings(values);
            }
            self.prediction(Some(values))
        });
        Ok(predictions.collect())
    }

    /// The features that the classifier looks at.
    pub(crate) fn features(
        &self,
        texts: &[CountedText],
        observer: &Observer,
    ) -> Result<TextFeatures> {
        let words = match &self.machine.terms {
            Some(terms) => {
                let words: Vec<&str> = texts.iter().map(|text| &*text.words).collect();
                Some(terms.features(&words)?)
            }
            None => None,
        };
        let mut has_meanings = vec![false; texts.len()];
        let mut meanings = None;
        if self.machine.has_meanings() {
            let documents = self.documents(texts);
            let n_features = self.embedding.n_features();
            let mut values = vec![0.0; documents.len() * n_features];
            self.embedding
                .embed_into(&documents, &mut values, &mut |done| {
                    observer(Event::Steps(done.distances))
                })?;
            for (row, document) in documents.iter().enumerate() {
                has_meanings[row] = !document.is_empty();
                if document.is_empty() {
                    values[row * n_features..][..n_features].fill(0.0);
                }
            }
            meanings = Some(values);
        }
        Ok(TextFeatures {
            words,
            meanings,
            has_meanings,
        })
    }

    pub(crate) fn documents(&self, texts: &[CountedText]) -> Vec<Document> {
        let model = self.embedding.documents();
        let keeps = model.tokenizer().stop_words.is_empty();
        let documents = texts.par_iter();
        documents
            .map(|text| model.document(text.counts_with(keeps)))
            .collect()
    }

    /// Judges as if the features of meanings were average.
    pub(crate) fn without_meanings(&self, values: &mut [f64]) {
        let without = &self.machine.intercepts_without_meanings;
        let intercepts = self.machine.linear.intercepts().iter().zip(without);
        for (value, (with, without)) in values.iter_mut().zip(intercepts) {
            *value += without - with;
        }
    }

    /// What the values of the machines say; without any, the most frequent class.
    fn prediction(&self, values: Option<&[f64]>) -> Prediction {
        let Some(values) = values else {
            let class = self.info.most_frequent;
            return Prediction {
                class,
                classes: vec![class],
                decision_values: None,
                probabilities: None,
            };
        };
        let by_class = self.by_class(values);
        let class = first_greatest(&by_class);
        let classes = match self.info.several_labels {
            true => (0..by_class.len()).filter(|&c| by_class[c] > 0.0).collect(),
            false => vec![class],
        };
        Prediction {
            class,
            classes,
            probabilities: self.probabilities(values),
            decision_values: Some(by_class),
        }
    }

    /// A class without training documents has probability 0.
    fn probabilities(&self, values: &[f64]) -> Option<Vec<f64>> {
        let found = self.machine.calibration.as_ref()?.probabilities(values);
        let mut by_class = vec![0.0; self.info.classes.len()];
        for (&class, probability) in self.machine.linear.classes().iter().zip(found) {
            by_class[class] = probability;
        }
        Some(by_class)
    }

    /// Decision values of the machines as one for each class. The one machine of two
    /// classes speaks for both. A class without training documents has none: minus
    /// infinity.
    pub(crate) fn by_class(&self, values: &[f64]) -> Vec<f64> {
        let mut by_class = vec![f64::NEG_INFINITY; self.info.classes.len()];
        match (values, self.machine.linear.classes()) {
            (&[value], &[first, second]) => {
                by_class[first] = value;
                // Not the negative of 0, which would read as -0 and be equal all the same.
                by_class[second] = 0.0 - value;
            }
            (values, classes) => {
                for (&class, &value) in classes.iter().zip(values) {
                    by_class[class] = value;
                }
            }
        }
        by_class
    }
}

/// The first of the greatest, as the usual argmax has it: whoever reads a row of decision
/// values finds the class that was predicted.
fn first_greatest(values: &[f64]) -> usize {
    let mut greatest = 0;
    for (i, value) in values.iter().enumerate() {
        if *value > values[greatest] {
            greatest = i;
        }
    }
    greatest
}
