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
use wordmover_learn::split::{self, Split};

use crate::cache::{Cache, Key, KeyBuilder};
use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};
use crate::folds::folds;
use crate::learnt_neighbors::{self, LearntSpace};
use crate::params::{KnnParams, Learn, Protocol};
use crate::progress::{Event, Reporter};
use crate::training_documents::{self, TrainingDocuments};

/// Documents whose neighbours are kept together.
const BLOCK: usize = 256;

/// The fast protocol judges K on so many training documents at most, which tells a share of
/// right ones to half a point; all of them vote.
const MOST_JUDGED: usize = 6000;

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
        let judged = judged_rows(params.protocol, &self.labels, seed);
        let name = "neighbours of training documents";
        let found = reporter.time(name, |reporter| {
            let documents: Vec<Document> = judged
                .iter()
                .map(|&row| self.index.documents()[row].clone())
                .collect();
            let fold_of = fold_of(&folds);
            let passed_over = PassedOver {
                own: judged.iter().map(|&row| fold_of[row]).collect(),
                fold_of,
            };
            let k = params.max_k;
            self.neighbors(&documents, k, Some(&passed_over), name, cache, reporter)
        })?;
        // A small corpus has fewer neighbours outside a fold than the greatest K.
        let max_k = found.iter().map(Vec::len).min().unwrap_or(0);
        if max_k == 0 {
            return Err(Error::TooFewDocuments {
                n_documents: self.labels.len(),
                n_folds: folds.len(),
            });
        }
        let mut neighbors = vec![Neighbors::new(); self.labels.len()];
        for (&row, list) in judged.iter().zip(found) {
            neighbors[row] = list;
        }
        let is_judged = |row: &usize| judged.binary_search(row).is_ok();
        let mut folds = folds;
        for fold in &mut folds {
            fold.test.retain(is_judged);
        }
        Ok(knn::choose_k(&neighbors, &self.labels, &folds, max_k)?)
    }

    /// The nearest training documents of each document, but for those passed over.
    pub fn neighbors(
        &self,
        documents: &[Document],
        k: usize,
        passed_over: Option<&PassedOver>,
        stage: &str,
        cache: &Cache,
        reporter: &Reporter,
    ) -> Result<Vec<Neighbors>> {
        let keys = documents
            .chunks(BLOCK)
            .enumerate()
            .map(|(block, documents)| {
                let key = KeyBuilder::new("neighbors-3").bytes(self.key.hash());
                let key = key.with(|hash| hash.documents(self.index.space(), documents));
                let (folds, own) = match passed_over {
                    Some(PassedOver { fold_of, own }) => {
                        (&fold_of[..], &own[block * BLOCK..][..documents.len()])
                    }
                    None => (&[][..], &[][..]),
                };
                let number = |&fold: &usize| fold as u64;
                let key = key.numbers(folds.iter().map(number));
                let key = key.numbers(own.iter().map(number));
                key.numbers([k as u64].into_iter()).finish()
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
            let may_find = |query: usize, document: usize| {
                passed_over.is_none_or(|folds| folds.own[first + query] != folds.fold_of[document])
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

/// The training documents that K is judged on, ascending.
fn judged_rows(protocol: Protocol, labels: &[usize], seed: u64) -> Vec<usize> {
    match protocol {
        Protocol::Fast => split::stratified_sample(labels, MOST_JUDGED, seed),
        Protocol::Paper => (0..labels.len()).collect(),
    }
}

/// The training documents of a query's own fold are not its neighbours.
pub(crate) struct PassedOver {
    /// The fold of every training document.
    fold_of: Vec<usize>,
    /// That of every query.
    own: Vec<usize>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_protocol_judges_k_on_a_part_of_large_corpora() {
        let labels: Vec<usize> = (0..20_000).map(|row| usize::from(row % 100 == 0)).collect();
        let fast = judged_rows(Protocol::Fast, &labels, 7);
        assert_eq!(fast.len(), MOST_JUDGED);
        assert_eq!(fast.iter().filter(|&&row| labels[row] == 1).count(), 60);
        assert_eq!(judged_rows(Protocol::Paper, &labels, 7).len(), 20_000);
        assert_eq!(judged_rows(Protocol::Fast, &labels[..100], 7).len(), 100);
    }
}
