//! KNN-WMD: classes by the votes of the nearest training documents.
//!
//! K is chosen by cross-validation, for which a training document needs its nearest
//! neighbours outside its own fold. One exact search a document finds them, told to
//! pass over the fold, whatever K. Neighbours are kept in the cache in blocks of
//! documents.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wordmover::{Document, DocumentModel, Weighting, WmdIndex};
use wordmover_learn::knn::{self, KChoice};
use wordmover_learn::split::Split;

use crate::cache::{Cache, Key, KeyBuilder};
use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};
use crate::folds::folds;
use crate::learnt_neighbors::{self, LearntSpace};
use crate::params::{KnnParams, Learn};
use crate::progress::{Event, Reporter};
use crate::training_documents::{self, TrainingDocuments};

/// Documents whose neighbours are kept together.
const BLOCK: usize = 256;

/// The K and weighting chosen, and how good they looked on documents held out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnnChoice {
    /// Weights of words.
    pub weighting: Weighting,
    /// Number of neighbours that vote.
    pub k: usize,
    /// Share of the documents held out that were predicted right.
    pub accuracy: f64,
    /// The space that was learnt from labels, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt: Option<LearntSpace>,
}

/// Accuracy on documents held out, for every K.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnnCurve {
    /// Weights of words.
    pub weighting: Weighting,
    /// Entry `K - 1` belongs to `K`.
    pub accuracies: Vec<f64>,
}

/// Neighbours of one document: positions among the training documents with words.
pub(crate) type Neighbors = Vec<(usize, f64)>;

/// What came of it on some test documents.
pub(crate) struct KnnOutcome {
    pub choice: KnnChoice,
    pub curves: Vec<KnnCurve>,
    pub predicted: Vec<usize>,
    pub n_train_without_words: usize,
    pub n_test_without_words: usize,
}

pub(crate) fn run(
    params: &KnnParams,
    train: &LabeledCorpus,
    test: &LabeledCorpus,
    cache: &Cache,
    reporter: &mut Reporter,
) -> Result<KnnOutcome> {
    params.check()?;
    train.check_classes("training documents")?;
    let mut best: Option<(KnnChoice, Voters)> = None;
    let mut curves = Vec::new();
    if train.label_sets().is_some() {
        return Err(Error::InvalidParameter {
            name: "the number of classes of a document",
            value: "any".to_owned(),
            requirement: "one, with neighbours",
        });
    }
    if params.learn != Learn::None {
        return learnt_neighbors::run(params, train, test, cache, reporter);
    }
    let documents = training_documents::fit(&params.embedding.documents, train, false)?;
    for &weighting in &params.weightings {
        let training = TrainingDocuments::weighted(&documents, weighting, None, false, train)?;
        let voters = Voters::new(training, train, None)?;
        let choice = voters.choose_k(params, train, cache, reporter)?;
        let accuracy = choice.accuracies[choice.k - 1];
        curves.push(KnnCurve {
            weighting,
            accuracies: choice.accuracies,
        });
        if best
            .as_ref()
            .is_none_or(|(best, _)| accuracy > best.accuracy)
        {
            let choice = KnnChoice {
                weighting,
                k: choice.k,
                accuracy,
                learnt: None,
            };
            best = Some((choice, voters));
        }
    }
    let (choice, voters) = best.expect("one weighting at least");
    reporter.note(format!(
        "chose {} and K = {}: {:.2} % of documents held out were right",
        choice.weighting,
        choice.k,
        100.0 * choice.accuracy
    ))?;
    voters.outcome(choice, curves, train, test, cache, reporter)
}

/// The training documents that have words.
pub(crate) struct Voters {
    pub model: Arc<DocumentModel>,
    index: WmdIndex,
    pub labels: Vec<usize>,
    key: Key,
}

impl Voters {
    /// `map` is a learnt metric.
    pub fn new(
        training: TrainingDocuments,
        train: &LabeledCorpus,
        map: Option<Arc<[f32]>>,
    ) -> Result<Self> {
        let labels = training.labels(train);
        let space = training.model.space().clone().with_map(map);
        let key = KeyBuilder::new("voters-2");
        let key = key.with(|hash| hash.documents(&space, &training.documents));
        Ok(Voters {
            index: WmdIndex::new(space, training.documents)?,
            model: training.model,
            labels,
            key: key.finish(),
        })
    }

    /// Classifies the test documents.
    pub fn outcome(
        &self,
        choice: KnnChoice,
        curves: Vec<KnnCurve>,
        train: &LabeledCorpus,
        test: &LabeledCorpus,
        cache: &Cache,
        reporter: &mut Reporter,
    ) -> Result<KnnOutcome> {
        let documents = self.model.documents(test.texts());
        let name = "neighbours of test documents";
        let neighbors = reporter.time(name, |reporter| {
            self.neighbors(&documents, choice.k, None, name, cache, reporter)
        })?;
        Ok(KnnOutcome {
            predicted: self.predict(&neighbors, choice.k, train.most_frequent_class())?,
            choice,
            curves,
            n_train_without_words: train.len() - self.labels.len(),
            n_test_without_words: documents.iter().filter(|bag| bag.is_empty()).count(),
        })
    }

    /// The class that the `k` nearest of each document vote for.
    fn predict(
        &self,
        neighbors: &[Neighbors],
        k: usize,
        most_frequent: usize,
    ) -> Result<Vec<usize>> {
        let class = |neighbors: &Neighbors| match k.min(neighbors.len()) {
            // A document without a known word has no neighbours.
            0 => Ok(most_frequent),
            k => Ok(knn::vote(neighbors, &self.labels, k)?[k - 1]),
        };
        neighbors.iter().map(class).collect()
    }

    fn choose_k(
        &self,
        params: &KnnParams,
        train: &LabeledCorpus,
        cache: &Cache,
        reporter: &mut Reporter,
    ) -> Result<KChoice> {
        let seed = params.embedding.seed;
        let folds = folds(
            params.protocol,
            params.n_folds,
            &self.labels,
            train,
            seed,
            reporter,
        )?;
        let documents = self.index.documents();
        let neighbors = reporter.time("neighbours of training documents", |reporter| {
            let name = "neighbours of training documents";
            let k = params.max_k;
            self.neighbors(documents, k, Some(&folds), name, cache, reporter)
        })?;
        // A small corpus has fewer neighbours outside a fold than the greatest K.
        let max_k = neighbors.iter().map(Vec::len).min().unwrap_or(0);
        if max_k == 0 {
            return Err(Error::TooFewDocuments {
                n_documents: self.labels.len(),
                n_folds: folds.len(),
            });
        }
        Ok(knn::choose_k(&neighbors, &self.labels, &folds, max_k)?)
    }

    /// The nearest training documents of each document, outside its own fold if the
    /// documents are the training documents themselves.
    pub fn neighbors(
        &self,
        documents: &[Document],
        k: usize,
        folds: Option<&[Split]>,
        stage: &str,
        cache: &Cache,
        reporter: &Reporter,
    ) -> Result<Vec<Neighbors>> {
        let fold_of = folds.map(fold_of);
        let keys = documents
            .chunks(BLOCK)
            .enumerate()
            .map(|(block, documents)| {
                let key = KeyBuilder::new("neighbors-2").bytes(self.key.hash());
                let key = key.with(|hash| hash.documents(self.index.space(), documents));
                let excluded = fold_of.as_deref().unwrap_or(&[]);
                let key = key.numbers(excluded.iter().map(|&fold| fold as u64));
                // Where there are folds, a document's own is told by its position.
                let position = if folds.is_some() { block as u64 } else { 0 };
                key.numbers([k as u64, position].into_iter()).finish()
            });
        let keys: Vec<Key> = keys.collect();
        let mut kept = Vec::new();
        let mut n_missing = 0;
        for (key, block) in keys.iter().zip(documents.chunks(BLOCK)) {
            let lists = cache.get(key)?;
            let lists = lists.and_then(|json| serde_json::from_slice::<Vec<Neighbors>>(&json).ok());
            let lists = lists.filter(|lists| lists.len() == block.len());
            n_missing += if lists.is_some() {
                0
            } else {
                block.len() as u64
            };
            kept.push(lists);
        }
        if n_missing > 0 {
            reporter.stage(stage, n_missing, "documents")?;
        }
        let mut all = Vec::with_capacity(documents.len());
        for ((key, block), lists) in keys.iter().zip(documents.chunks(BLOCK)).zip(kept) {
            let first = all.len();
            let may_find = |query: usize, document: usize| match &fold_of {
                Some(fold_of) => fold_of[first + query] != fold_of[document],
                None => true,
            };
            let lists = match lists {
                Some(lists) => lists,
                None => {
                    let lists = self.search(block, k, &may_find, reporter)?;
                    cache.put(key, &serde_json::to_vec(&lists).unwrap_or_default())?;
                    lists
                }
            };
            all.extend(lists);
        }
        Ok(all)
    }

    fn search(
        &self,
        documents: &[Document],
        k: usize,
        may_find: &(dyn Fn(usize, usize) -> bool + Sync),
        reporter: &Reporter,
    ) -> Result<Vec<Neighbors>> {
        let observer = reporter.observer();
        let found = self
            .index
            .search_batch_among(documents, k, may_find, &mut |done| {
                observer(Event::Steps(done.queries))
            })?;
        let pairs = |list: Vec<wordmover::Neighbor>| -> Neighbors {
            let each = list.iter().map(|found| (found.index, found.distance));
            each.collect()
        };
        Ok(found.into_iter().map(pairs).collect())
    }
}

/// The fold in which each document is held out.
fn fold_of(folds: &[Split]) -> Vec<usize> {
    let n_documents = folds.iter().map(|fold| fold.test.len()).sum();
    let mut fold_of = vec![0; n_documents];
    for (fold, split) in folds.iter().enumerate() {
        for &row in &split.test {
            fold_of[row] = fold;
        }
    }
    fold_of
}
