//! The classifier: trained once, kept in one file, applied to any text.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wordmover::{WordMoversEmbedding, WordVectors, accelerator::Accelerator};
use wordmover_learn::{Features, SvmParams};

use crate::cache::Cache;
use crate::choice::{SurfaceRound, WmeChoice, choose};
use crate::corpus::LabeledCorpus;
use crate::counted_text::CountedText;
use crate::distances::EmbeddedRows;
use crate::error::Result;
use crate::figures::Figures;
use crate::held_out::HeldOut;
use crate::machine::Machine;
use crate::params::{Protocol, WmeParams};
use crate::progress::{Observer, Reporter, StageTime};
use crate::view_choice;
use crate::views::ViewPoint;

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
    /// Whether a document may have any number of classes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several_labels: bool,
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
    /// Everything that was tried of meanings.
    pub rounds: Vec<SurfaceRound>,
    /// What was tried of meanings with the embedding chosen, of words, and of both together;
    /// nothing with the paper's protocol.
    pub views: Vec<ViewPoint>,
    /// Share of the documents learnt from that the classifier predicts right.
    pub train_accuracy: f64,
    /// How good the parameters chosen are on documents of a fold that is held out; none if
    /// nothing could be held out.
    pub held_out: Option<Figures>,
    /// What was chosen and why, and what to know of the data.
    pub notes: Vec<String>,
    /// Where the time went.
    pub times: Vec<StageTime>,
}

impl TextClassifier {
    /// Trains on texts with one class each, without a cache: [`LabeledCorpus::from_texts`],
    /// then [`train`](Self::train).
    ///
    /// # Errors
    ///
    /// As [`train`](Self::train).
    pub fn fit<'t>(
        params: &WmeParams,
        labeled: impl IntoIterator<Item = (&'t str, &'t str)>,
        vectors: Arc<WordVectors>,
    ) -> Result<Self> {
        let tokenizer = params.embedding.documents.tokenizer.clone();
        let corpus = LabeledCorpus::from_texts(labeled, tokenizer, vectors)?;
        let silent: &Observer = &|_| std::ops::ControlFlow::Continue(());
        Ok(Self::train(params, &corpus, &Cache::none(), silent)?.0)
    }

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
        params.check()?;
        train.check_classes("training documents")?;
        let mut reporter = Reporter::new(observer);
        let chosen = choose(params, train, cache, &mut reporter)?;
        let choice = chosen.choice.clone();
        let rows = match (&chosen.words, choice.views.have_meanings()) {
            (Some(words), false) => words.rows(),
            _ => chosen.rows,
        };
        let targets = train.targets(&rows)?;
        let EmbeddedRows {
            embedding,
            features,
        } = chosen.embedded;
        let meanings = match choice.views.have_meanings() {
            true => Some(Features::new(&features, choice.n_features)?),
            false => None,
        };
        let words = chosen
            .words
            .map(|view| (view.features.gather(&rows), view.terms));
        let (machine, values) = reporter.time("fitting", |_| -> Result<_> {
            let mut machine = match (params.protocol, meanings) {
                (Protocol::Paper, Some(meanings)) => {
                    let labels: Vec<usize> = rows.iter().map(|&row| train.labels()[row]).collect();
                    let svm = SvmParams::default().cost(choice.cost);
                    Machine::fit_svm(svm, meanings, &labels)?
                }
                _ => {
                    let bias = choice.bias.unwrap_or(view_choice::BIAS);
                    let linear = view_choice::linear(&params.class_weights, bias);
                    let linear = linear.cost(choice.cost);
                    let linear = linear.dense_weight(choice.meanings_weight.unwrap_or(1.0));
                    let words = words.as_ref().map(|(rows, terms)| (terms.clone(), rows));
                    Machine::fit(linear, words, meanings, &targets)?
                }
            };
            if let Some(held_out) = &chosen.held_out {
                // A class may have no document among those that were judged.
                if held_out.targets.classes() == machine.linear.classes() {
                    machine.calibration = Some(held_out.calibration()?);
                }
            }
            let sparse = words.as_ref().map(|(rows, _)| rows);
            let blocks = crate::machine::blocks(sparse, meanings)?;
            let values = machine.linear.decision_values(blocks)?;
            Ok((machine, values))
        })?;
        let n_learnt = rows.len();
        let learnt = HeldOut {
            targets,
            positions: (0..n_learnt).collect(),
            values,
        };
        let train_accuracy = learnt.figures()?.score();
        let held_out = chosen.held_out.map(|held_out| held_out.figures());
        let classifier = TextClassifier {
            embedding,
            machine,
            info: ClassifierInfo {
                classes: train.classes().to_vec(),
                most_frequent: train.most_frequent_class(),
                several_labels: train.label_sets().is_some(),
                protocol: params.protocol,
                choice: choice.clone(),
                train_accuracy: Some(train_accuracy),
            },
        };
        let training = Training {
            n_documents: train.len(),
            n_without_words: train.len() - n_learnt,
            choice,
            rounds: chosen.rounds,
            views: chosen.views,
            train_accuracy,
            held_out: held_out.transpose()?,
            notes: reporter.notes,
            times: reporter.times,
        };
        Ok((classifier, training))
    }

    /// Counts the words of a text.
    #[must_use]
    pub fn count(&self, text: &str) -> CountedText {
        let documents = self.embedding.documents();
        CountedText::from_text(text, documents.tokenizer(), documents.vectors())
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

    /// Whether predictions have probabilities.
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        self.machine.calibration.is_some()
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
