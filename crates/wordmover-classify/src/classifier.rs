//! The classifier: trained once, kept in one file, applied to any text.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use wordmover::{Document, WordMoversEmbedding, accelerator::Accelerator};
use wordmover_learn::metrics::ConfusionMatrix;
use wordmover_learn::{FeatureBlocks, Features, LinearSvm, metrics};

use crate::cache::Cache;
use crate::choice::{SurfaceRound, WmeChoice, choose, svm};
use crate::corpus::LabeledCorpus;
use crate::counted_text::CountedText;
use crate::error::Result;
use crate::folds::folds;
use crate::held_out;
use crate::machine::{Fit, Machine, WordsMachine};
use crate::params::{Protocol, WmeParams};
use crate::progress::{Event, Observer, Reporter, StageTime};
use crate::view_choice;
use crate::views::ViewPoint;

/// Documents predicted at once: their distances are all the memory it takes.
const BLOCK: usize = 4096;

/// A linear SVM on Word Mover's Embeddings, on words, or on both, with everything a text
/// needs on its way to a class.
///
/// A text without a known word has no Word Mover's Distance to anything. Where words are
/// looked at, they decide alone; if there is none of them either, the text is given the
/// class most frequent in training, and no decision values.
#[derive(Debug, Clone)]
pub struct TextClassifier {
    pub(crate) embedding: WordMoversEmbedding,
    pub(crate) machine: Machine,
    pub(crate) info: ClassifierInfo,
}

/// What there is to know of a classifier without its machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClassifierInfo {
    /// Names of the classes, by number.
    pub classes: Vec<String>,
    /// Number of the class with the most training documents.
    pub most_frequent: usize,
    /// How the parameters were chosen.
    pub protocol: Protocol,
    /// The parameters chosen, and how good they looked on documents held out.
    pub choice: WmeChoice,
    /// Share of the documents learnt from that are predicted right; not in files of the
    /// first releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_accuracy: Option<f64>,
}

/// What was found out while a classifier was trained.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Training {
    /// Documents given.
    pub n_documents: usize,
    /// Those among them that have no known word (where words alone are looked at: no word)
    /// and could not be learnt from.
    pub n_without_words: usize,
    /// The parameters chosen.
    pub choice: WmeChoice,
    /// Everything that was tried.
    pub rounds: Vec<SurfaceRound>,
    /// What was tried of words, and of words and meanings together, and the best of
    /// meanings; nothing where meanings alone are allowed.
    pub views: Vec<ViewPoint>,
    /// Share of the documents learnt from that the classifier predicts right.
    pub train_accuracy: f64,
    /// The same documents by true class and by the class that the parameters chosen
    /// predict while the document's fold is held out; from
    /// [`TextClassifier::train_and_judge`] alone.
    #[serde(skip)]
    pub held_out: Option<ConfusionMatrix>,
    /// What was chosen and why, and what to know of the data.
    pub notes: Vec<String>,
    /// Where the time went.
    pub times: Vec<StageTime>,
}

/// What a classifier says of one document.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// Number of the class; [`TextClassifier::classes`] has its name.
    pub class: usize,
    /// One for each class, the greatest for the class predicted; none for a document
    /// without a word that the classifier looks at.
    pub decision_values: Option<Vec<f64>>,
}

impl TextClassifier {
    /// Chooses parameters by cross-validation and trains on all documents with them.
    ///
    /// # Errors
    ///
    /// A parameter is out of range, the documents cannot be learnt from, the cache
    /// cannot be used, or the observer broke off.
    pub fn train(
        params: &WmeParams,
        train: &LabeledCorpus,
        cache: &Cache,
        observer: &Observer,
    ) -> Result<(Self, Training)> {
        Self::train_and(false, params, train, cache, observer)
    }

    /// As [`train`](Self::train), and finds out which classes are taken for which others
    /// where a document is held out ([`Training::held_out`]): for a machine a fold more.
    ///
    /// # Errors
    ///
    /// As [`train`](Self::train).
    pub fn train_and_judge(
        params: &WmeParams,
        train: &LabeledCorpus,
        cache: &Cache,
        observer: &Observer,
    ) -> Result<(Self, Training)> {
        Self::train_and(true, params, train, cache, observer)
    }

    fn train_and(
        judge: bool,
        params: &WmeParams,
        train: &LabeledCorpus,
        cache: &Cache,
        observer: &Observer,
    ) -> Result<(Self, Training)> {
        params.check()?;
        train.check_classes("training documents")?;
        let mut reporter = Reporter::new(observer);
        let chosen = choose(params, train, cache, &mut reporter)?;
        let choice = chosen.choice.clone();
        let rows = match (&chosen.words, choice.views.have_meanings()) {
            (Some(words), false) => words.rows(),
            _ => chosen.table.training.rows.clone(),
        };
        let labels: Vec<usize> = rows.iter().map(|&row| train.labels()[row]).collect();
        let embedding = chosen.table.embedding(choice.n_features, choice.gamma)?;
        let features = match choice.views.have_meanings() {
            true => embedding.features_of(&chosen.table.rows(choice.n_features))?,
            false => Vec::new(),
        };
        let meanings = Features::new(&features, choice.n_features)?;
        let fit = match chosen.words {
            None => Fit::Meanings {
                params: svm(params.protocol).cost(choice.cost),
                features: meanings,
            },
            Some(view) => Fit::Words {
                params: view_choice::linear()
                    .cost(choice.cost)
                    .dense_weight(choice.meanings_weight.unwrap_or(1.0)),
                words: Box::new(view.features.gather(&rows)),
                terms: Box::new(view.terms),
                meanings: choice.views.have_meanings().then_some(meanings),
            },
        };
        let held_out = match judge {
            true => Some(reporter.time("documents held out", |reporter| {
                // What there is to say of the folds was said.
                let mut silent = Reporter::new(&|_| ControlFlow::Continue(()));
                let seed = params.embedding.seed;
                let folds = folds(params.protocol, &labels, train, seed, &mut silent)?;
                held_out::confusion(&fit, &labels, &folds, reporter)
            })?),
            false => None,
        };
        let (machine, predicted) = reporter.time("fitting", |_| fit.finish(&labels))?;
        let train_accuracy = metrics::accuracy(&labels, &predicted)?;
        let classifier = TextClassifier {
            embedding,
            machine,
            info: ClassifierInfo {
                classes: train.classes().to_vec(),
                most_frequent: train.most_frequent_class(),
                protocol: params.protocol,
                choice: choice.clone(),
                train_accuracy: Some(train_accuracy),
            },
        };
        let training = Training {
            n_documents: train.documents().len(),
            n_without_words: train.documents().len() - labels.len(),
            choice,
            rounds: chosen.rounds,
            views: chosen.views,
            train_accuracy,
            held_out,
            notes: reporter.notes,
            times: reporter.times,
        };
        Ok((classifier, training))
    }

    /// Predicts texts.
    ///
    /// # Errors
    ///
    /// A word vector holds a value that is not finite.
    pub fn predict(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Prediction>> {
        let texts = texts.iter().map(|text| self.count(text.as_ref()));
        self.predict_counted(&texts.collect::<Vec<_>>(), &|_| ControlFlow::Continue(()))
    }

    /// Counts the words of a text.
    #[must_use]
    pub fn count(&self, text: &str) -> CountedText {
        let documents = self.embedding.documents();
        CountedText::from_text(text, documents.tokenizer(), documents.vectors())
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
        let mut predictions = Vec::with_capacity(texts.len());
        for block in texts.chunks(BLOCK) {
            predictions.extend(match &self.machine {
                Machine::Meanings(svm) => self.predict_meanings(svm, block, observer)?,
                Machine::Words(machine) => self.predict_words(machine, block, observer)?,
            });
        }
        Ok(predictions)
    }

    fn predict_meanings(
        &self,
        svm: &LinearSvm,
        texts: &[CountedText],
        observer: &Observer,
    ) -> Result<Vec<Prediction>> {
        let documents = self.documents(texts);
        let features = self.features(&documents, observer)?;
        let features = Features::new(&features, self.embedding.n_features())?;
        let values = svm.decision_values(features)?;
        let rows = values.chunks_exact(svm.n_machines());
        let rows = documents.iter().zip(rows);
        Ok(rows
            .map(|(document, values)| self.prediction((!document.is_empty()).then_some(values)))
            .collect())
    }

    fn predict_words(
        &self,
        machine: &WordsMachine,
        texts: &[CountedText],
        observer: &Observer,
    ) -> Result<Vec<Prediction>> {
        let words: Vec<&str> = texts.iter().map(|text| &*text.words).collect();
        let words = machine.terms.features(&words)?;
        let features;
        let mut has_meanings = vec![false; texts.len()];
        let blocks = match machine.has_meanings() {
            true => {
                let documents = self.documents(texts);
                let n_features = self.embedding.n_features();
                let mut values = self.features(&documents, observer)?;
                for (row, document) in documents.iter().enumerate() {
                    has_meanings[row] = !document.is_empty();
                    if document.is_empty() {
                        values[row * n_features..][..n_features].fill(0.0);
                    }
                }
                features = values;
                FeatureBlocks::both(&words, Features::new(&features, n_features)?)?
            }
            false => FeatureBlocks::sparse(&words),
        };
        let n_machines = machine.linear.n_machines();
        let mut values = machine.linear.decision_values(blocks)?;
        let rows = values.chunks_exact_mut(n_machines).enumerate();
        Ok(rows
            .map(|(row, values)| {
                let has_words = !words.row(row).0.is_empty();
                if !has_words && !has_meanings[row] {
                    return self.prediction(None);
                }
                if !has_meanings[row] {
                    let without = &machine.intercepts_without_meanings;
                    let intercepts = machine.linear.intercepts().iter().zip(without);
                    for (value, (with, without)) in values.iter_mut().zip(intercepts) {
                        *value += without - with;
                    }
                }
                self.prediction(Some(values))
            })
            .collect())
    }

    fn documents(&self, texts: &[CountedText]) -> Vec<Document> {
        let model = self.embedding.documents();
        let documents = texts.par_iter();
        documents.map(|text| model.document(&text.counts)).collect()
    }

    fn features(&self, documents: &[Document], observer: &Observer) -> Result<Vec<f32>> {
        let mut features = vec![0.0; documents.len() * self.embedding.n_features()];
        self.embedding
            .embed_into(documents, &mut features, &mut |done| {
                observer(Event::Steps(done.distances))
            })?;
        Ok(features)
    }

    /// What the values of the machines say; without any, the most frequent class.
    fn prediction(&self, values: Option<&[f64]>) -> Prediction {
        let values = values.map(|values| self.by_class(values));
        Prediction {
            class: values
                .as_deref()
                .map_or(self.info.most_frequent, first_greatest),
            decision_values: values,
        }
    }

    /// Decision values of the machines as one for each class. The one machine of two
    /// classes speaks for both. A class without training documents has none: minus
    /// infinity.
    fn by_class(&self, values: &[f64]) -> Vec<f64> {
        let mut by_class = vec![f64::NEG_INFINITY; self.info.classes.len()];
        match (values, self.machine.classes()) {
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

    /// Names of the classes, by number.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.info.classes
    }

    /// The parameters that were chosen.
    #[must_use]
    pub fn choice(&self) -> &WmeChoice {
        &self.info.choice
    }

    /// How they were chosen.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.info.protocol
    }

    /// All of that, and more.
    #[must_use]
    pub fn info(&self) -> &ClassifierInfo {
        &self.info
    }

    /// The same classifier, with distances to random documents computed by an accelerator.
    #[must_use]
    pub fn with_accelerator(mut self, accelerator: Option<Arc<dyn Accelerator>>) -> Self {
        self.embedding = self.embedding.with_accelerator(accelerator);
        self
    }

    /// The embedding under it.
    #[must_use]
    pub fn embedding(&self) -> &WordMoversEmbedding {
        &self.embedding
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
