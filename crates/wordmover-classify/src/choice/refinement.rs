//! The winner of the race, refined by the machine that the classifier consists of: how heavy its
//! bias is, the exponent of the weights that labels give, and the length of documents.
//!
//! How much such weights can be trusted depends on how many documents they are learnt from and on
//! what the features tell without them. The race sees too few of both to say.

use wordmover::embedding::PostProcessing;

use super::fast::GAMMA;
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
    /// The winner with a heavy bias if that is better beyond doubt, then with the neighbouring
    /// exponent that is better, as long as one is, and then with documents of length 1 if these
    /// are. Of two exponents the higher must be ahead beyond doubt: cross-validation flatters it,
    /// because weights of documents learnt from have seen labels of those held out.
    pub fn refine(
        &mut self,
        winner: Racer,
        mut trial: Trial,
        reporter: &mut Reporter,
    ) -> Result<Refined> {
        let mut exponents = self.params.label_exponents.clone();
        exponents.sort_by(f64::total_cmp);
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
        note(format!("labels^{}", first.label_exponent), &found);
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
        reporter.note(format!(
            "refined with {n_documents} documents, R = {n_features}: {shares}"
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
