//! Word weights from labels, in closed form.
//!
//! A word counts the more the further the classes of the documents that hold it are from
//! those of all documents: its factor is the Kullback-Leibler divergence of the former from
//! the latter, over the median of all words, to a power, and within a quarter and four. Two
//! pseudo-counts in the proportions of all documents keep rare words modest. A word that no
//! document holds has factor 1, the median.
//!
//! The words of a training document are weighed without the labels of its own fold, as
//! those of a document to be predicted are. With its own label among them, a word that no
//! other document holds would tell the class of its document.

use std::collections::HashMap;

use rayon::prelude::*;
use wordmover::document::{Word, WordFactors};
use wordmover_learn::split;

use crate::corpus::LabeledCorpus;
use crate::error::Result;

/// Folds of documents whose labels are left out together.
const FOLDS: usize = 5;

/// Weight of the proportions of all documents, in documents.
const PSEUDO_COUNTS: f64 = 2.0;

/// Factors are within these bounds.
const LEAST: f64 = 0.25;
const GREATEST: f64 = 4.0;

/// Factors from all labels, and from those of all folds but one.
pub(crate) struct FoldedFactors {
    pub all: WordFactors,
    pub by_fold: Vec<WordFactors>,
    /// The fold of each document of the corpus.
    pub fold_of: Vec<usize>,
}

/// How far from all documents each word's are, without each fold in turn and with all.
pub(crate) struct Divergences<'c> {
    words: Vec<Word<'c>>,
    /// Over their median, by word; none for a word that no document holds. Last with all.
    parts: Vec<Vec<Option<f64>>>,
    fold_of: Vec<usize>,
}

impl<'c> Divergences<'c> {
    pub fn new(corpus: &'c LabeledCorpus, keeps_stop_words: bool, seed: u64) -> Result<Self> {
        let fold_of = fold_of(corpus, seed)?;
        let counts = corpus.counts(keeps_stop_words);
        let mut numbers: HashMap<Word, usize> = HashMap::new();
        let mut words = Vec::new();
        // Documents that hold each word.
        let mut holders: Vec<Vec<u32>> = Vec::new();
        for (row, counts) in counts.iter().enumerate() {
            for (word, _) in counts.iter() {
                let number = *numbers.entry(word).or_insert(words.len());
                if number == words.len() {
                    words.push(word);
                    holders.push(Vec::new());
                }
                holders[number].push(row as u32);
            }
        }
        let parts = (0..=FOLDS).map(|left_out| {
            let is_seen = |row: usize| fold_of[row] != left_out;
            let prior = Prior::new(corpus, is_seen);
            let divergence = |rows: &Vec<u32>| prior.divergence(corpus, rows, is_seen);
            let mut found: Vec<Option<f64>> = holders.par_iter().map(divergence).collect();
            let mut known: Vec<f64> = found.iter().flatten().copied().collect();
            let middle = known.len() / 2;
            if !known.is_empty() {
                let (_, &mut median, _) = known.select_nth_unstable_by(middle, f64::total_cmp);
                // Where most words say nothing of classes, those that do say much.
                let median = median.max(f64::MIN_POSITIVE);
                found
                    .iter_mut()
                    .flatten()
                    .for_each(|value| *value /= median);
            }
            found
        });
        Ok(Divergences {
            parts: parts.collect(),
            words,
            fold_of,
        })
    }

    /// The factors of an exponent.
    pub fn factors(&self, exponent: f64) -> FoldedFactors {
        let factors = |values: &Vec<Option<f64>>| {
            let mut factors = WordFactors::default();
            for (&word, value) in self.words.iter().zip(values) {
                if let Some(value) = value {
                    let factor = libm::pow(*value, exponent);
                    factors.insert(word, factor.clamp(LEAST, GREATEST));
                }
            }
            factors
        };
        let mut by_fold: Vec<WordFactors> = self.parts.iter().map(factors).collect();
        FoldedFactors {
            all: by_fold.pop().unwrap_or_default(),
            by_fold,
            fold_of: self.fold_of.clone(),
        }
    }
}

/// A document that is alone in its class goes into a fold nevertheless.
fn fold_of(corpus: &LabeledCorpus, seed: u64) -> Result<Vec<usize>> {
    let mut fold_of: Vec<usize> = (0..corpus.len()).map(|row| row % FOLDS).collect();
    let folds = split::spread_folds(corpus.labels(), FOLDS, seed)?;
    for (fold, split) in folds.iter().enumerate() {
        split.test.iter().for_each(|&row| fold_of[row] = fold);
    }
    Ok(fold_of)
}

/// The proportions of the classes among documents seen. A document of several classes
/// counts in parts.
struct Prior {
    shares: Vec<f64>,
}

impl Prior {
    fn new(corpus: &LabeledCorpus, is_seen: impl Fn(usize) -> bool) -> Self {
        let mut shares = vec![0.0; corpus.classes().len()];
        for row in (0..corpus.len()).filter(|&row| is_seen(row)) {
            let classes = corpus.classes_of(row);
            let part = 1.0 / classes.len() as f64;
            classes.iter().for_each(|&class| shares[class] += part);
        }
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total.max(1.0));
        Prior { shares }
    }

    fn divergence(
        &self,
        corpus: &LabeledCorpus,
        holders: &[u32],
        is_seen: impl Fn(usize) -> bool,
    ) -> Option<f64> {
        let mut found: Vec<(usize, f64)> = Vec::new();
        let mut n = 0.0;
        for row in holders
            .iter()
            .map(|&row| row as usize)
            .filter(|&row| is_seen(row))
        {
            n += 1.0;
            let classes = corpus.classes_of(row);
            let part = 1.0 / classes.len() as f64;
            found.extend(classes.iter().map(|&class| (class, part)));
        }
        if n == 0.0 {
            return None;
        }
        // Stable, so that parts are added in the order of the documents.
        found.sort_by_key(|&(class, _)| class);
        let total = n + PSEUDO_COUNTS;
        let (mut divergence, mut rest) = (0.0, 1.0);
        for members in found.chunk_by(|a, b| a.0 == b.0) {
            let prior = self.shares[members[0].0];
            let n_members: f64 = members.iter().map(|(_, part)| part).sum();
            let share = (n_members + PSEUDO_COUNTS * prior) / total;
            divergence += share * libm::log(share / prior);
            rest -= prior;
        }
        // All other classes have nothing but their pseudo-counts.
        let ratio = PSEUDO_COUNTS / total;
        Some((divergence + rest.max(0.0) * ratio * libm::log(ratio)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wordmover::WordVectors;
    use wordmover::text::{StopWords, Tokenizer};

    use super::*;

    fn corpus(texts: &[(&str, &str)]) -> LabeledCorpus {
        let words = ["all", "left", "right", "rare"].map(str::to_owned).to_vec();
        let rows = (0..8).map(|i| i as f32).collect();
        let vectors = WordVectors::from_rows("four", words, rows, 2).unwrap();
        let tokenizer = Tokenizer {
            stop_words: StopWords::None,
            ..Tokenizer::default()
        };
        LabeledCorpus::from_texts(texts.iter().copied(), tokenizer, Arc::new(vectors)).unwrap()
    }

    #[test]
    fn the_divergence_is_the_sum_over_all_classes() {
        let corpus = corpus(&[
            ("x", "all left"),
            ("x", "all left"),
            ("y", "all"),
            ("z", "all"),
        ]);
        let prior = Prior::new(&corpus, |_| true);
        assert_eq!(prior.shares, [0.5, 0.25, 0.25]);
        let found = prior.divergence(&corpus, &[0, 1], |_| true).unwrap();
        let shares = [(2.0 + 1.0) / 4.0, 0.5 / 4.0, 0.5 / 4.0];
        let each = shares.iter().zip(&prior.shares);
        let expected: f64 = each.map(|(p, q): (&f64, &f64)| p * (p / q).ln()).sum();
        assert!((found - expected).abs() < 1e-12);
        assert!(prior.divergence(&corpus, &[0, 1, 2, 3], |_| true).unwrap() < 1e-12);
        assert_eq!(prior.divergence(&corpus, &[0], |_| false), None);
    }

    #[test]
    fn words_of_one_class_weigh_more_and_labels_of_the_own_fold_are_not_used() {
        let mut texts = [("x", "all left"), ("y", "all right")].repeat(20);
        texts.push(("x", "rare"));
        let corpus = corpus(&texts);
        let factors = Divergences::new(&corpus, true, 0).unwrap().factors(1.0);
        let id = |word: &str| Word::Known(corpus.vectors().id(word).unwrap());
        assert_eq!(factors.all.of(id("all")), LEAST);
        // With four words, one of the two that tell is the median.
        assert!(factors.all.of(id("left")) >= 1.0);
        // Only its own document has it.
        let own = factors.fold_of[40];
        assert_eq!(factors.by_fold[own].of(id("rare")), 1.0);
        assert_ne!(factors.all.of(id("rare")), 1.0);
        let none = Divergences::new(&corpus, true, 0).unwrap().factors(0.0);
        assert_eq!(none.all.of(id("left")), 1.0);
    }
}
