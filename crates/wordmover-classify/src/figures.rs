//! How good predictions are, whether a document has one class or several.

use serde::Serialize;
use wordmover_learn::metrics::{ClassFigures, ConfusionMatrix};
use wordmover_learn::multilabel::SetFigures;

use crate::error::Result;

/// How good predictions are. Class numbers are those of the corpus or the classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Figures {
    /// Documents judged.
    pub n_documents: usize,
    /// Share of the documents predicted right: with all their classes and no others.
    pub accuracy: f64,
    /// Over all documents and classes; where every document has one class, the accuracy.
    pub micro_f1: f64,
    /// Mean of the F1 of all classes.
    pub macro_f1: f64,
    /// Precision, recall and F1 of every class that a document has or was given.
    #[serde(skip)]
    pub classes: Vec<ClassFigures>,
    /// Documents by true and predicted class, where every document has one.
    #[serde(skip)]
    pub confusion: Option<ConfusionMatrix>,
}

impl Figures {
    /// Compares the classes that documents have with those they were given.
    ///
    /// # Errors
    ///
    /// If there are no documents, or not as many of either.
    pub(crate) fn new(
        truth: Vec<Vec<usize>>,
        predicted: Vec<Vec<usize>>,
        one_each: bool,
    ) -> Result<Self> {
        let n_documents = truth.len();
        if !one_each {
            let figures = SetFigures::new(&truth, &predicted)?;
            return Ok(Figures {
                n_documents,
                accuracy: figures.subset_accuracy,
                micro_f1: figures.micro_f1,
                macro_f1: figures.macro_f1,
                classes: figures.classes,
                confusion: None,
            });
        }
        let confusion = ConfusionMatrix::new(&truth.concat(), &predicted.concat())?;
        Ok(Figures {
            n_documents,
            accuracy: confusion.accuracy(),
            micro_f1: confusion.accuracy(),
            macro_f1: confusion.macro_f1(),
            classes: confusion.class_figures(),
            confusion: Some(confusion),
        })
    }

    /// What is compared where one figure is wanted: the accuracy, or the micro-averaged F1
    /// where a document may have several classes.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.micro_f1
    }
}
