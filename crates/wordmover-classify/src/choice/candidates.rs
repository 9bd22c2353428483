//! The weighted documents of every way to weigh words that is tried.

use std::collections::HashMap;
use std::sync::Arc;

use wordmover::random_documents::RandomWords;
use wordmover::{DocumentModel, Weighting};

use super::Candidate;
use crate::corpus::LabeledCorpus;
use crate::distances::DistanceTable;
use crate::error::{Error, Result};
use crate::label_weights::{Divergences, FoldedFactors};
use crate::params::WmeParams;
use crate::training_documents::{self, TrainingDocuments};

/// Parts of documents are better if they are not too short: `D_max` of 6 or more.
const LEAST_LANDMARK: usize = 6;

/// The greatest length of random documents with which word weights are compared.
const USUAL_D_MAX: usize = 6;

/// A way to weigh words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    pub weighting: Weighting,
    pub keep_stop_words: bool,
    pub label_exponent: f64,
}

/// Ways to weigh words and to draw random documents, and the training documents of each.
pub(super) struct Candidates<'c> {
    params: &'c WmeParams,
    train: &'c LabeledCorpus,
    models: HashMap<bool, DocumentModel>,
    divergences: HashMap<bool, Divergences<'c>>,
    factors: Vec<((bool, f64), FoldedFactors)>,
    training: Vec<(Weights, Arc<TrainingDocuments>)>,
}

impl<'c> Candidates<'c> {
    /// Counts words as often as stop words are treated.
    pub fn new(params: &'c WmeParams, train: &'c LabeledCorpus) -> Result<Self> {
        let mut candidates = Candidates {
            params,
            train,
            models: HashMap::new(),
            divergences: HashMap::new(),
            factors: Vec::new(),
            training: Vec::new(),
        };
        let mut problem = None;
        for keeps in candidates.uses_of_stop_words() {
            let documents = &params.embedding.documents;
            match training_documents::fit(documents, train, keeps) {
                Ok(model) => drop(candidates.models.insert(keeps, model)),
                // Texts of stop words alone have words if these are kept.
                Err(error @ Error::NoKnownWords { .. }) => problem = Some(error),
                Err(error) => return Err(error),
            }
        }
        match problem {
            Some(problem) if candidates.models.is_empty() => Err(problem),
            _ => Ok(candidates),
        }
    }

    /// A tokenizer that drops nothing keeps stop words, whatever is asked for.
    fn uses_of_stop_words(&self) -> Vec<bool> {
        if self.train.tokenizer().stop_words.is_empty() {
            return vec![true];
        }
        let mut uses = self.params.keep_stop_words.clone();
        uses.dedup();
        uses
    }

    /// Every way to weigh words that the parameters allow.
    pub fn weights(&self) -> Vec<Weights> {
        let mut all = Vec::new();
        for keep_stop_words in self.uses_of_stop_words() {
            if !self.models.contains_key(&keep_stop_words) {
                continue;
            }
            for &weighting in &self.params.weightings {
                let exponents = self.params.label_exponents.iter();
                all.extend(exponents.map(|&label_exponent| Weights {
                    weighting,
                    keep_stop_words,
                    label_exponent,
                }));
            }
        }
        all
    }

    /// Every way to draw random documents that the parameters allow; the usual one first.
    pub fn random_documents(&self) -> Vec<(RandomWords, usize)> {
        let d_maxes = &self.params.d_maxes;
        let mut all = Vec::new();
        for &random_words in &self.params.random_words {
            let is_long = |d_max: &&usize| **d_max >= LEAST_LANDMARK;
            let some_are_long = d_maxes.iter().any(|d_max| is_long(&d_max));
            let short = random_words == RandomWords::Documents && some_are_long;
            let fit = d_maxes.iter().filter(|d_max| !short || is_long(d_max));
            all.extend(fit.map(|&d_max| (random_words, d_max)));
        }
        let usual = all.iter().position(|&(_, d_max)| d_max == USUAL_D_MAX);
        all[..=usual.unwrap_or(0)].rotate_right(1);
        all
    }

    /// The training documents, weighed so.
    pub fn training(&mut self, weights: Weights) -> Result<Arc<TrainingDocuments>> {
        let known = self.training.iter().find(|(known, _)| *known == weights);
        if let Some((_, training)) = known {
            return Ok(training.clone());
        }
        let Weights {
            weighting,
            keep_stop_words,
            label_exponent,
        } = weights;
        self.prepare_factors(keep_stop_words, label_exponent)?;
        let factors = self.factors.iter();
        let mut factors = factors.filter(|(key, _)| *key == (keep_stop_words, label_exponent));
        let training = TrainingDocuments::weighted(
            &self.models[&keep_stop_words],
            weighting,
            factors.next().map(|(_, factors)| factors),
            keep_stop_words,
            self.train,
        )?;
        let training = Arc::new(training);
        self.training.push((weights, training.clone()));
        Ok(training)
    }

    fn prepare_factors(&mut self, keeps: bool, exponent: f64) -> Result<()> {
        let key = (keeps, exponent);
        if exponent == 0.0 || self.factors.iter().any(|(known, _)| *known == key) {
            return Ok(());
        }
        let seed = self.params.embedding.seed;
        if !self.divergences.contains_key(&keeps) {
            let divergences = Divergences::new(self.train, keeps, seed)?;
            self.divergences.insert(keeps, divergences);
        }
        let factors = self.divergences[&keeps].factors(exponent);
        self.factors.push((key, factors));
        Ok(())
    }

    /// The distances of a candidate's documents at some rows of the corpus, without columns
    /// yet; all that have words if no rows are named.
    pub fn table(
        &mut self,
        candidate: &Candidate,
        rows: Option<&[usize]>,
    ) -> Result<DistanceTable> {
        let training = self.training(candidate.weights())?;
        let training = match rows {
            Some(rows) if rows != training.rows => Arc::new(training.select(rows)),
            _ => training,
        };
        let embedding = self.params.embedding.clone();
        let embedding = embedding.random_words(candidate.random_words);
        DistanceTable::new(&embedding.d_max(candidate.d_max), training)
    }
}

impl Candidate {
    pub(super) fn new(weights: Weights, (random_words, d_max): (RandomWords, usize)) -> Self {
        let Weights {
            weighting,
            keep_stop_words,
            label_exponent,
        } = weights;
        Candidate {
            weighting,
            keep_stop_words,
            label_exponent,
            random_words,
            d_max,
        }
    }

    pub(super) fn weights(&self) -> Weights {
        Weights {
            weighting: self.weighting,
            keep_stop_words: self.keep_stop_words,
            label_exponent: self.label_exponent,
        }
    }
}
