//! A classifier judged on documents with classes.

use std::collections::HashMap;

use serde::Serialize;

use crate::classifier::TextClassifier;
use crate::counted_text::CountedText;
use crate::error::{Error, Result};
use crate::figures::Figures;
use crate::progress::Observer;

/// How good a classifier is on some documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Test {
    /// Names of the classes, by number: the classifier's, and behind them those that only
    /// the documents have.
    #[serde(skip)]
    pub classes: Vec<String>,
    /// How good the predictions are.
    #[serde(flatten)]
    pub figures: Figures,
    /// Documents without a word that the classifier looks at: given the most frequent class.
    pub n_without_words: usize,
    /// Documents of a class that the classifier does not know.
    pub n_of_unknown_classes: usize,
    /// Mean logarithm of one over the probability of the true class, of documents that have
    /// probabilities; none without them, and where a document may have several classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
}

impl TextClassifier {
    /// Predicts documents whose classes are known by name. Unless the classifier gives several
    /// classes to a document, each has one.
    ///
    /// # Errors
    ///
    /// There are no documents, a document has not one class, or as
    /// [`predict_counted`](Self::predict_counted).
    pub fn test(
        &self,
        labeled: &[(Vec<String>, CountedText)],
        observer: &Observer,
    ) -> Result<Test> {
        if labeled.is_empty() {
            let what = "documents";
            return Err(Error::NoDocuments { what });
        }
        let one_each = !self.info().several_labels;
        let mut classes = self.classes().to_vec();
        let n_known = classes.len();
        let mut numbers: HashMap<String, usize> = classes.iter().cloned().zip(0..).collect();
        let mut truth = Vec::with_capacity(labeled.len());
        for (row, (names, _)) in labeled.iter().enumerate() {
            if names.is_empty() {
                return Err(Error::NoLabel { row });
            }
            if one_each && names.len() > 1 {
                return Err(Error::SeveralLabels { row });
            }
            let mut set = Vec::with_capacity(names.len());
            for name in names {
                let number = *numbers.entry(name.clone()).or_insert_with(|| {
                    classes.push(name.clone());
                    classes.len() - 1
                });
                set.push(number);
            }
            set.sort_unstable();
            set.dedup();
            truth.push(set);
        }
        let texts: Vec<CountedText> = labeled.iter().map(|(_, text)| text.clone()).collect();
        let predictions = self.predict_counted(&texts, observer)?;
        let without_words = predictions.iter().filter(|p| p.decision_values.is_none());
        let is_unknown = |set: &&Vec<usize>| set.iter().any(|&class| class >= n_known);
        let losses = predictions
            .iter()
            .zip(&truth)
            .filter_map(|(prediction, truth)| {
                let probabilities = prediction.probabilities.as_ref()?;
                // Never infinite: rounding alone makes a probability 0.
                let p = probabilities.get(truth[0]).copied().unwrap_or(0.0);
                Some(-libm::log(p.max(1e-15)))
            });
        let losses: Vec<f64> = losses.filter(|_| one_each).collect();
        let n_losses = losses.len();
        Ok(Test {
            n_without_words: without_words.count(),
            n_of_unknown_classes: truth.iter().filter(is_unknown).count(),
            log_loss: (n_losses > 0).then(|| losses.iter().sum::<f64>() / n_losses as f64),
            figures: Figures::new(
                truth,
                predictions.into_iter().map(|p| p.classes).collect(),
                one_each,
            )?,
            classes,
        })
    }
}
