//! The classifier: trained once, kept in one file, applied to any text.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use wordmover::{Document, WordCounts, WordMoversEmbedding};
use wordmover_learn::metrics::ConfusionMatrix;
use wordmover_learn::{Features, LinearSvm, metrics};

use crate::cache::Cache;
use crate::choice::{SurfaceRound, WmeChoice, choose, svm};
use crate::corpus::LabeledCorpus;
use crate::error::Result;
use crate::folds::folds;
use crate::held_out;
use crate::params::{Protocol, WmeParams};
use crate::progress::{Event, Observer, Reporter, StageTime};

/// Documents predicted at once: their distances are all the memory it takes.
const BLOCK: usize = 4096;

/// A linear SVM on Word Mover's Embeddings, with everything a text needs on its way to
/// a class.
///
/// A text without a known word has no Word Mover's Distance to anything. It is given
/// the class most frequent in training, and no decision values.
#[derive(Debug, Clone)]
pub struct TextClassifier {
    pub(crate) embedding: WordMoversEmbedding,
    pub(crate) svm: LinearSvm,
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
    /// Those among them that have no known word and could not be learnt from.
    pub n_without_words: usize,
    /// The parameters chosen.
    pub choice: WmeChoice,
    /// Everything that was tried.
    pub rounds: Vec<SurfaceRound>,
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
    /// without a known word.
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
        let choice = chosen.choice;
        let labels = chosen.table.training.labels(train);
        let n_without_words = train.documents().len() - labels.len();
        let distances = chosen.table.rows(choice.n_features);
        let embedding = chosen.table.embedding(choice.n_features, choice.gamma)?;
        let features = embedding.features_of(&distances)?;
        let features = Features::new(&features, choice.n_features)?;
        let svm = svm(params.protocol).cost(choice.cost);
        let held_out = match judge {
            true => Some(reporter.time("documents held out", |reporter| {
                // What there is to say of the folds was said.
                let mut silent = Reporter::new(&|_| ControlFlow::Continue(()));
                let seed = params.embedding.seed;
                let folds = folds(params.protocol, &labels, train, seed, &mut silent)?;
                held_out::confusion(svm, features, &labels, &folds, reporter)
            })?),
            false => None,
        };
        let (classifier, train_accuracy) = reporter.time("fitting", |_| {
            let svm = LinearSvm::fit(svm, features, &labels)?;
            let train_accuracy = metrics::accuracy(&labels, &svm.predict(features)?)?;
            let classifier = TextClassifier {
                embedding,
                svm,
                info: ClassifierInfo {
                    classes: train.classes().to_vec(),
                    most_frequent: train.most_frequent_class(),
                    protocol: params.protocol,
                    choice: choice.clone(),
                    train_accuracy: Some(train_accuracy),
                },
            };
            Ok((classifier, train_accuracy))
        })?;
        let training = Training {
            n_documents: train.documents().len(),
            n_without_words,
            choice,
            rounds: chosen.rounds,
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
        let counts = texts.iter().map(|text| self.word_counts(text.as_ref()));
        self.predict_counts(&counts.collect::<Vec<_>>(), &|_| ControlFlow::Continue(()))
    }

    /// Counts the known words of a text.
    #[must_use]
    pub fn word_counts(&self, text: &str) -> WordCounts {
        self.embedding.word_counts(text)
    }

    /// Predicts counted documents; a step is a distance.
    ///
    /// # Errors
    ///
    /// As [`predict`](Self::predict), or the observer broke off.
    pub fn predict_counts(
        &self,
        counts: &[WordCounts],
        observer: &Observer,
    ) -> Result<Vec<Prediction>> {
        let documents = self.embedding.documents().documents(counts);
        let mut predictions = Vec::with_capacity(documents.len());
        for block in documents.chunks(BLOCK) {
            predictions.extend(self.predict_block(block, observer)?);
        }
        Ok(predictions)
    }

    fn predict_block(
        &self,
        documents: &[Document],
        observer: &Observer,
    ) -> Result<Vec<Prediction>> {
        let n_features = self.embedding.n_features();
        let mut features = vec![0.0; documents.len() * n_features];
        self.embedding
            .embed_into(documents, &mut features, &mut |done| {
                observer(Event::Steps(done.distances))
            })?;
        let features = Features::new(&features, n_features)?;
        let values = self.svm.decision_values(features)?;
        let classes = self.svm.classes_of(&values);
        let rows = values.chunks_exact(self.svm.n_machines());
        let predictions = documents.iter().zip(classes).zip(rows);
        let predictions = predictions.map(|((document, class), values)| {
            if document.is_empty() {
                return Prediction {
                    class: self.info.most_frequent,
                    decision_values: None,
                };
            }
            Prediction {
                class,
                decision_values: Some(self.by_class(values)),
            }
        });
        Ok(predictions.collect())
    }

    /// Decision values of the machines as one for each class. The one machine of two
    /// classes speaks for both. A class without training documents has none: minus
    /// infinity.
    fn by_class(&self, values: &[f64]) -> Vec<f64> {
        let mut by_class = vec![f64::NEG_INFINITY; self.info.classes.len()];
        match (values, self.svm.classes()) {
            (&[value], &[first, second]) => {
                by_class[first] = value;
                by_class[second] = -value;
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

    /// The embedding under it.
    #[must_use]
    pub fn embedding(&self) -> &WordMoversEmbedding {
        &self.embedding
    }
}
