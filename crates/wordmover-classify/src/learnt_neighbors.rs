//! KNN-WMD in a space that is learnt from labels.
//!
//! Weighting, the closed-form label weights to start from, the number of steps and K are all
//! chosen on one part of the training documents that nothing is learnt from. Then the same is
//! learnt from all of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wordmover::{DocumentModel, Weighting};
use wordmover_learn::knn;
use wordmover_learn::split;

use crate::cache::Cache;
use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};
use crate::knn::{KnnChoice, KnnCurve, KnnOutcome, Voters};
use crate::label_weights::{Divergences, FoldedFactors};
use crate::learnt_space::{Learner, STEPS_A_ROUND};
use crate::params::KnnParams;
use crate::progress::{Event, Reporter};
use crate::training_documents::{self, TrainingDocuments};

/// Share of the documents that is held out, but about so many at most: judging takes an exact
/// search each.
const HELD_OUT_SHARE: f64 = 1.0 / 6.0;
const MOST_HELD_OUT: f64 = 600.0;

/// Rounds of steps; after each, documents held out are judged.
const ROUNDS: usize = 6;

/// Exponents of the closed-form label weights to start from.
const EXPONENTS: [f64; 3] = [0.0, 0.5, 1.0];

/// Which space was learnt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LearntSpace {
    /// Exponent of the closed-form label weights at the start; 0 is none.
    pub label_exponent: f64,
    /// Steps along the gradient from there.
    pub n_steps: usize,
}

/// What the choice was made by.
struct Judged {
    weighting: Weighting,
    exponent: f64,
    n_rounds: usize,
    /// Of each K.
    accuracies: Vec<f64>,
}

impl Judged {
    /// The best K, the smallest of equal ones, and its accuracy: the mean with the two K before
    /// and after, since few documents are held out and the best of many is lucky.
    fn best(&self) -> (usize, f64) {
        let n = self.accuracies.len();
        let mean = |i: usize| {
            let near = &self.accuracies[i.saturating_sub(2)..(i + 3).min(n)];
            near.iter().sum::<f64>() / near.len() as f64
        };
        (0..n).fold((1, -1.0), |best, i| match mean(i) > best.1 {
            true => (i + 1, mean(i)),
            false => best,
        })
    }
}

pub(crate) fn run(
    params: &KnnParams,
    train: &LabeledCorpus,
    test: &LabeledCorpus,
    cache: &Cache,
    reporter: &mut Reporter,
) -> Result<KnnOutcome> {
    let judged = choose(params, train, cache, reporter)?;
    let (k, accuracy) = judged.best();
    let n_steps = judged.n_rounds * STEPS_A_ROUND;
    let choice = KnnChoice {
        weighting: judged.weighting,
        k,
        accuracy,
        learnt: Some(LearntSpace {
            label_exponent: judged.exponent,
            n_steps,
        }),
    };
    reporter.note(format!(
        "chose {}, labels^{}, {n_steps} steps and K = {k}: {:.2} % of documents held out were right",
        judged.weighting,
        judged.exponent,
        100.0 * accuracy
    ))?;

    let all = Part::new(params, train)?;
    let start = all.divergences.factors(judged.exponent);
    let training = all.documents(judged.weighting, &start)?;
    let labels = training.labels(train);
    let voters = match judged.n_rounds {
        0 => Voters::new(training, train, None)?,
        _ => {
            let space = training.model.space();
            let seed = params.embedding.seed;
            let mut learner =
                Learner::new(space, &training.documents, &labels, params.learn, seed)?;
            steps(&mut learner, n_steps, reporter)?;
            all.voters(&judged, &start, &learner)?
        }
    };
    let curves = vec![KnnCurve {
        weighting: judged.weighting,
        accuracies: judged.accuracies,
    }];
    voters.outcome(choice, curves, train, test, cache, reporter)
}

/// Tries starts, then steps from the best of them, on documents held out.
fn choose(
    params: &KnnParams,
    train: &LabeledCorpus,
    cache: &Cache,
    reporter: &mut Reporter,
) -> Result<Judged> {
    let seed = params.embedding.seed;
    let held_out = HELD_OUT_SHARE.min(MOST_HELD_OUT / train.len() as f64);
    // Every class keeps a document to learn from.
    let splits = split::stratified_random_splits(train.labels(), 1.0 - held_out, 1, seed)?;
    let (learnt_from, judged_on) = (
        train.select(&splits[0].train),
        train.select(&splits[0].test),
    );
    let part = Part::new(params, &learnt_from)?;

    let judge = |voters: &Voters, reporter: &mut Reporter| -> Result<Vec<f64>> {
        let documents = voters.model.documents(judged_on.texts());
        let max_k = params.max_k.min(voters.labels.len());
        let name = "neighbours of documents held out";
        let neighbors = reporter.time(name, |reporter| {
            voters.neighbors(&documents, max_k, None, name, cache, reporter)
        })?;
        let mut n_right = vec![0usize; max_k];
        for (list, &label) in neighbors.iter().zip(judged_on.labels()) {
            // A document without a known word has no neighbours.
            if list.len() < max_k {
                continue;
            }
            let votes = knn::vote(list, &voters.labels, max_k)?;
            for (n_right, vote) in n_right.iter_mut().zip(votes) {
                *n_right += usize::from(vote == label);
            }
        }
        let share = |n: usize| n as f64 / judged_on.len() as f64;
        Ok(n_right.into_iter().map(share).collect())
    };

    let mut best: Option<Judged> = None;
    let exponents = match params.learn.has_weights() {
        true => &EXPONENTS[..],
        false => &EXPONENTS[..1],
    };
    for &weighting in &params.weightings {
        for &exponent in exponents {
            let training = part.documents(weighting, &part.divergences.factors(exponent))?;
            let voters = Voters::new(training, &learnt_from, None)?;
            let tried = Judged {
                weighting,
                exponent,
                n_rounds: 0,
                accuracies: judge(&voters, reporter)?,
            };
            if best
                .as_ref()
                .is_none_or(|best| tried.best().1 > best.best().1)
            {
                best = Some(tried);
            }
        }
    }
    let mut best = best.ok_or(Error::NoDocuments { what: "weightings" })?;

    let start = part.divergences.factors(best.exponent);
    let training = part.documents(best.weighting, &start)?;
    let labels = training.labels(&learnt_from);
    let space = training.model.space();
    let mut learner = Learner::new(space, &training.documents, &labels, params.learn, seed)?;
    for n_rounds in 1..=ROUNDS {
        let loss = steps(&mut learner, STEPS_A_ROUND, reporter)?;
        let voters = part.voters(&best, &start, &learner)?;
        let tried = Judged {
            weighting: best.weighting,
            exponent: best.exponent,
            n_rounds,
            accuracies: judge(&voters, reporter)?,
        };
        let (before, now) = (best.best().1, tried.best().1);
        reporter.note(format!(
            "after {} steps: loss {loss:.4}, {:.2} % of documents held out right",
            n_rounds * STEPS_A_ROUND,
            100.0 * now
        ))?;
        if now > before {
            best = tried;
        }
    }
    Ok(best)
}

/// Takes steps; gives the mean loss.
fn steps(learner: &mut Learner, n_steps: usize, reporter: &mut Reporter) -> Result<f64> {
    reporter.time("learning the space", |reporter| {
        reporter.stage("learning the space", n_steps as u64, "steps")?;
        let mut total = 0.0;
        for _ in 0..n_steps {
            total += learner.step()?;
            reporter.tell(Event::Steps(1))?;
        }
        Ok(total / n_steps as f64)
    })
}

/// Documents that are learnt from.
struct Part<'c> {
    corpus: &'c LabeledCorpus,
    model: DocumentModel,
    divergences: Divergences<'c>,
}

impl<'c> Part<'c> {
    fn new(params: &KnnParams, corpus: &'c LabeledCorpus) -> Result<Self> {
        Ok(Part {
            corpus,
            model: training_documents::fit(&params.embedding.documents, corpus, false)?,
            divergences: Divergences::new(corpus, false, params.embedding.seed)?,
        })
    }

    fn documents(
        &self,
        weighting: Weighting,
        factors: &FoldedFactors,
    ) -> Result<TrainingDocuments> {
        TrainingDocuments::weighted(&self.model, weighting, Some(factors), false, self.corpus)
    }

    /// The voters in the space as learnt so far.
    fn voters(&self, judged: &Judged, start: &FoldedFactors, learner: &Learner) -> Result<Voters> {
        let learnt = |factors| learner.factors(factors);
        let factors = FoldedFactors {
            all: learnt(&start.all),
            by_fold: start.by_fold.iter().map(learnt).collect(),
            fold_of: start.fold_of.clone(),
        };
        let map: Option<Arc<[f32]>> = learner.map().map(Into::into);
        Voters::new(
            self.documents(judged.weighting, &factors)?,
            self.corpus,
            map,
        )
    }
}
