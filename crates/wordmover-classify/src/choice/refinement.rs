//! The winner of the race, refined by the machine that the classifier consists of: what its random
//! documents are, how heavy its bias is, the exponent of the weights that labels give, and the
//! length of documents.
//!
//! How much such weights can be trusted depends on how many documents they are learnt from and on
//! what the features tell without them, and parts of documents tell the more, beside uniform
//! words, the more of them there are. The race sees too few of both to say.

use wordmover::embedding::PostProcessing;
use wordmover::random_documents::RandomWords;

use super::fast::{GAMMA, VIEW_FEATURES};
use super::race::Race;
use super::surface::{Racer, Sample};
use super::{Candidate, percent};
use crate::error::Result;
use crate::progress::Reporter;
use crate::view_choice::{BIAS, HEAVY_BIAS, Meanings, ViewSearch, ViewSurface};

/// Features as the race takes them.
pub(super) const USUAL: PostProcessing = PostProcessing::Standardize;

/// What the machine says of a candidate.
pub(super) struct Refined {
    pub racer: Racer,
    pub post_processing: PostProcessing,
    pub bias: f64,
    pub found: ViewSurface,
}

/// How the winner is judged.
#[derive(Clone, Copy)]
pub(super) struct Trial<'a> {
    /// The bias of the machines, and the C around which they are tried.
    pub bias: f64,
    pub cost: f64,
    pub sample: &'a Sample,
    pub n_features: usize,
}

impl Race<'_> {
    /// The winner with other random documents if these are better, then with a heavy bias if that
    /// is better beyond doubt, then with the neighbouring exponent that is better, as long as one
    /// is, and then with documents of length 1 if these are. Of two exponents the higher must be
    /// ahead beyond doubt: cross-validation flatters it, because weights of documents learnt from
    /// have seen labels of those held out.
    pub fn refine(
        &mut self,
        winner: Racer,
        mut trial: Trial,
        reporter: &mut Reporter,
    ) -> Result<Refined> {
        let mut exponents = self.params.label_exponents.clone();
        exponents.sort_by(f64::total_cmp);
        let rivals = self.rivals(&winner.candidate);
        let first = winner.candidate;
        let is_lower = |exponent: &f64| *exponent < first.label_exponent;
        let (mut lower, mut higher): (Vec<f64>, Vec<f64>) =
            exponents.into_iter().partition(is_lower);
        lower.reverse();
        higher.retain(|&exponent| exponent > first.label_exponent);

        let mut shares = Vec::new();
        let mut note = |what: String, found: &ViewSurface| {
            shares.push(format!("{what} {}", percent(found.best().accuracy)));
        };
        trial.bias = BIAS;
        let (mut racer, mut found) = self.judged(first, Some(winner), &trial, reporter)?;
        note(first.random_documents(), &found);
        for rival in rivals {
            let (other, others) = self.judged(rival, None, &trial, reporter)?;
            note(rival.random_documents(), &others);
            if self.score(&rival, &others) > self.score(&racer.candidate, &found) {
                (racer, found) = (other, others);
            }
        }
        let first = racer.candidate;
        trial.bias = HEAVY_BIAS;
        let heavy = self.by_machine(&racer, USUAL, &trial, reporter)?;
        note("heavy bias".to_owned(), &heavy);
        match heavy.best().accuracy > found.best().accuracy + found.doubt() {
            true => found = heavy,
            false => trial.bias = BIAS,
        }
        trial.cost = found.best().cost;
        for exponents in [lower, higher] {
            for label_exponent in exponents {
                let candidate = Candidate {
                    label_exponent,
                    ..first
                };
                let (other, others) = self.judged(candidate, None, &trial, reporter)?;
                note(format!("labels^{label_exponent}"), &others);
                let lead = others.best().accuracy - found.best().accuracy;
                let is_better = match label_exponent < racer.candidate.label_exponent {
                    true => -lead <= others.doubt(),
                    false => lead > found.doubt(),
                };
                if !is_better {
                    break;
                }
                (racer, found) = (other, others);
            }
            if racer.candidate != first {
                break;
            }
        }
        let unit = self.by_machine(&racer, PostProcessing::Unit, &trial, reporter)?;
        note("documents of length 1".to_owned(), &unit);
        let n_documents = trial.sample.rows.len();
        let (n_features, shares) = (trial.n_features, shares.join(", "));
        let exponent = first.label_exponent;
        reporter.note(format!(
            "refined with {n_documents} documents, R = {n_features}, from labels^{exponent}: {shares}"
        ))?;
        let is_better = unit.best().accuracy > found.best().accuracy;
        let (post_processing, found) = match is_better {
            true => (PostProcessing::Unit, unit),
            false => (USUAL, found),
        };
        Ok(Refined {
            racer,
            post_processing,
            bias: trial.bias,
            found,
        })
    }

    /// By what random documents are compared. With more features than they are judged with, parts
    /// of documents gain more than others, which must be ahead beyond doubt.
    fn score(&self, candidate: &Candidate, found: &ViewSurface) -> f64 {
        let gains_less = self.params.embedding.n_features > VIEW_FEATURES
            && candidate.random_words != RandomWords::Documents;
        let handicap = if gains_less { found.doubt() } else { 0.0 };
        found.best().accuracy - handicap
    }

    /// For every kind of random words that the winner does not have, its weights with the best
    /// random documents of that kind, as the race saw it with the most features.
    fn rivals(&self, winner: &Candidate) -> Vec<Candidate> {
        let kinds = self.params.random_words.iter();
        let others = kinds.filter(|&&kind| kind != winner.random_words);
        let best = |&kind: &RandomWords| {
            let same = |other: &Candidate| {
                other.random_words == kind && other.weights() == winner.weights()
            };
            let points = self.rounds.iter().flat_map(|round| {
                let points = round.points.iter();
                points.map(|point| (round.n_features, point))
            });
            let points = points.filter(|(_, point)| same(&point.candidate));
            let best = points.min_by(|(m, a), (n, b)| {
                let features = n.cmp(m);
                features.then(b.accuracy.total_cmp(&a.accuracy))
            });
            best.map(|(_, point)| point.candidate)
        };
        others.filter_map(best).collect()
    }

    /// A candidate with its distances, some of which may be known.
    fn judged(
        &mut self,
        candidate: Candidate,
        known: Option<Racer>,
        trial: &Trial,
        reporter: &mut Reporter,
    ) -> Result<(Racer, ViewSurface)> {
        let rows = &trial.sample.rows;
        let known = known.filter(|racer| racer.table.training.rows == *rows);
        let mut racer = match known {
            Some(racer) => racer,
            None => Racer {
                candidate,
                table: self.candidates.table(&candidate, Some(rows))?,
            },
        };
        reporter.time("distances", |reporter| {
            let n_features = trial.n_features;
            racer.table.extend(n_features, self.cache, reporter)
        })?;
        let found = self.by_machine(&racer, USUAL, trial, reporter)?;
        Ok((racer, found))
    }

    fn by_machine(
        &self,
        racer: &Racer,
        how: PostProcessing,
        trial: &Trial,
        reporter: &mut Reporter,
    ) -> Result<ViewSurface> {
        let (table, sample) = (&racer.table, trial.sample);
        let gamma = GAMMA * table.scale();
        let n_features = trial.n_features;
        let embedded = table.features(n_features, gamma, how)?;
        let meanings = Meanings::new(table, embedded, &sample.rows)?;
        let search = ViewSearch {
            train: self.train,
            class_weights: &self.params.class_weights,
            rows: &sample.rows,
            folds: &sample.folds,
            cache: self.cache,
        };
        reporter.time("cross-validation", |reporter| {
            search.meanings(&meanings, trial.bias, trial.cost, reporter)
        })
    }
}
