//! The race of candidates: ways to weigh words first, then random documents for the best of
//! them, then the best pairs with more features and documents. Candidates are compared by
//! least squares.

use wordmover::embedding::PostProcessing;
use wordmover_learn::{Features, least_squares, split};

use super::candidates::{Candidates, Weights};
use super::fast::GAMMA;
use super::surface::{Racer, Sample, cached};
use super::{Candidate, SurfacePoint, SurfaceRound, percent};
use crate::cache::{Cache, KeyBuilder};
use crate::corpus::LabeledCorpus;
use crate::distances::DistanceTable;
use crate::error::Result;
use crate::params::WmeParams;
use crate::progress::{Event, Reporter};

/// The number of features with which candidates are compared first, and last.
const FIRST_FEATURES: usize = 256;
const LAST_FEATURES: usize = 512;

/// Documents to a feature, at most, where candidates are compared. What matters between them
/// is points, not tenths.
const DOCUMENTS_BY_FEATURE: usize = 5;

/// Ways to weigh words that are tried with all random documents.
const WEIGHTS_KEPT: usize = 2;

/// Candidates that are compared with more features.
const FINALISTS: usize = 3;

/// Values of C for least squares, times the number of features.
const FIRST_COSTS: [f64; 7] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];

/// The same around the best with fewer features.
const LATER_COSTS: [f64; 3] = [0.3, 1.0, 3.0];

/// What all rounds share.
pub(super) struct Race<'a> {
    pub params: &'a WmeParams,
    pub train: &'a LabeledCorpus,
    /// All documents that have words whatever the candidate.
    pub whole: Sample,
    pub labels: Vec<usize>,
    pub cache: &'a Cache,
    pub candidates: Candidates<'a>,
    pub rounds: Vec<SurfaceRound>,
}

/// A candidate with its best point.
struct Ranked {
    racer: Racer,
    best: SurfacePoint,
}

impl Race<'_> {
    /// The winner, and its best point.
    pub fn run(
        &mut self,
        weights: &[Weights],
        reporter: &mut Reporter,
    ) -> Result<(Racer, SurfacePoint)> {
        let n_features = self.params.embedding.n_features;
        let (first, last) = (
            FIRST_FEATURES.min(n_features),
            LAST_FEATURES.min(n_features),
        );
        let sample = self.sample(first * DOCUMENTS_BY_FEATURE);
        let random_documents = self.candidates.random_documents();
        let usual = weights
            .iter()
            .map(|&w| Candidate::new(w, random_documents[0]));
        let usual: Vec<Candidate> = usual.collect();
        let mut ranked = Vec::new();
        if usual.len() > 1 || random_documents.len() > 1 {
            ranked = self.judge_new(&usual, first, &sample, reporter)?;
            note_kept(&ranked, WEIGHTS_KEPT, first, reporter)?;
            ranked.truncate(WEIGHTS_KEPT);
        }
        if random_documents.len() > 1 {
            let kept: Vec<Weights> = ranked.iter().map(|r| r.best.candidate.weights()).collect();
            let others = random_documents[1..].iter();
            let others =
                others.flat_map(|&random| kept.iter().map(move |&w| Candidate::new(w, random)));
            let others: Vec<Candidate> = others.collect();
            ranked.extend(self.judge_new(&others, first, &sample, reporter)?);
            ranked.sort_by(better);
            note_kept(&ranked, FINALISTS, first, reporter)?;
            ranked.truncate(FINALISTS);
        }
        let larger = self.sample(last * DOCUMENTS_BY_FEATURE);
        if ranked.is_empty() {
            ranked = self.judge_new(&usual, last, &larger, reporter)?;
        } else if ranked.len() > 1 && (last > first || larger != sample) {
            ranked = self.judge_again(ranked, last, &larger, reporter)?;
        }
        let Ranked { racer, best } = ranked.swap_remove(0);
        Ok((racer, best))
    }

    /// A candidate's distances of all documents that have words, with one column at least.
    pub fn table_of_all(&mut self, racer: Racer, reporter: &mut Reporter) -> Result<DistanceTable> {
        let Racer {
            candidate,
            mut table,
        } = racer;
        let all = self.candidates.training(candidate.weights())?;
        if table.training.rows != all.rows {
            table = self.candidates.table(&candidate, None)?;
        }
        reporter.time("distances", |reporter| {
            table.extend(1, self.cache, reporter)
        })?;
        Ok(table)
    }

    /// At most about so many documents, in the proportions of the classes, and their folds.
    pub fn sample(&self, n_documents: usize) -> Sample {
        let positions =
            split::stratified_sample(&self.labels, n_documents, self.params.embedding.seed);
        if positions.len() == self.labels.len() {
            return self.whole.clone();
        }
        let labels: Vec<usize> = positions.iter().map(|&at| self.labels[at]).collect();
        let seed = self.params.embedding.seed;
        let folds = split::spread_folds(&labels, self.params.n_folds, seed);
        Sample {
            rows: positions.iter().map(|&at| self.whole.rows[at]).collect(),
            // Two of every class that has them are among the documents.
            folds: folds.unwrap_or_default(),
        }
    }

    fn judge_new(
        &mut self,
        candidates: &[Candidate],
        n_features: usize,
        sample: &Sample,
        reporter: &mut Reporter,
    ) -> Result<Vec<Ranked>> {
        let costs = FIRST_COSTS.map(|cost| cost / n_features as f64);
        let mut racers = Vec::new();
        for &candidate in candidates {
            let table = self.candidates.table(&candidate, Some(&sample.rows))?;
            racers.push((Racer { candidate, table }, costs.to_vec()));
        }
        self.judge(racers, n_features, sample, reporter)
    }

    fn judge_again(
        &mut self,
        ranked: Vec<Ranked>,
        n_features: usize,
        sample: &Sample,
        reporter: &mut Reporter,
    ) -> Result<Vec<Ranked>> {
        let n_before = self
            .rounds
            .last()
            .map_or(n_features, |round| round.n_features);
        let mut racers = Vec::new();
        for Ranked { mut racer, best } in ranked {
            let shrunk = n_before as f64 / n_features as f64;
            let costs = LATER_COSTS.map(|cost| cost * best.cost * shrunk);
            if racer.table.training.rows != sample.rows {
                let table = self
                    .candidates
                    .table(&racer.candidate, Some(&sample.rows))?;
                racer.table = table;
            }
            racers.push((racer, costs.to_vec()));
        }
        self.judge(racers, n_features, sample, reporter)
    }

    /// Judges candidates, each with values of C of its own; the best first.
    fn judge(
        &mut self,
        racers: Vec<(Racer, Vec<f64>)>,
        n_features: usize,
        sample: &Sample,
        reporter: &mut Reporter,
    ) -> Result<Vec<Ranked>> {
        let mut points = Vec::new();
        let mut ranked = Vec::new();
        for (mut racer, costs) in racers {
            reporter.time("distances", |reporter| {
                racer.table.extend(n_features, self.cache, reporter)
            })?;
            let surface = reporter.time("cross-validation", |reporter| {
                self.surface(&mut racer, n_features, sample, &costs, reporter)
            })?;
            let best = surface.iter().min_by(|a, b| order(a, b, n_features));
            let best = best.cloned();
            ranked.extend(best.map(|best| Ranked { racer, best }));
            points.extend(surface);
        }
        ranked.sort_by(better);
        self.rounds.push(SurfaceRound {
            n_features,
            n_documents: sample.rows.len(),
            n_folds: sample.folds.len(),
            points,
        });
        Ok(ranked)
    }

    fn surface(
        &self,
        racer: &mut Racer,
        n_features: usize,
        sample: &Sample,
        costs: &[f64],
        reporter: &Reporter,
    ) -> Result<Vec<SurfacePoint>> {
        let gamma = GAMMA * racer.table.scale();
        let key = KeyBuilder::new("race-1")
            .numbers(costs.iter().map(|cost| cost.to_bits()))
            .numbers([gamma.to_bits()].into_iter());
        let key = sample.content(self.train, key);
        let key = racer.table.content(key, n_features);
        let candidate = racer.candidate;
        let points = cached(self.cache, key, costs.len(), || {
            let n_steps = costs.len() * sample.folds.len();
            let name = format!("race, {candidate}, R = {n_features}");
            reporter.stage(&name, n_steps as u64, "fits")?;
            // Standardised by the search.
            let embedded = racer
                .table
                .features(n_features, gamma, PostProcessing::Raw)?;
            let features = Features::new(&embedded.features, n_features)?;
            let targets = self.train.targets(&sample.rows)?;
            let observer = reporter.observer();
            let step = || observer(Event::Steps(1));
            let found = least_squares::search(costs, features, &targets, &sample.folds, &step)?;
            let points = found.iter().map(|point| SurfacePoint {
                candidate,
                gamma,
                cost: point.cost,
                accuracy: point.score,
                deviation: point.deviation,
            });
            Ok(points.collect())
        })?;
        // Candidates with the same distances share an entry.
        let own = points
            .into_iter()
            .map(|point| SurfacePoint { candidate, ..point });
        Ok(own.collect())
    }
}

/// The greater share of documents right first. Of equal ones that whose C is nearer to the usual
/// one: on few documents many values tie, and the machines that follow are tried around this one.
/// A small C would keep them from telling rare classes.
fn order(a: &SurfacePoint, b: &SurfacePoint, n_features: usize) -> std::cmp::Ordering {
    let from_usual = |point: &SurfacePoint| (point.cost * n_features as f64).ln().abs();
    let right = b.accuracy.total_cmp(&a.accuracy);
    right.then(from_usual(a).total_cmp(&from_usual(b)))
}

/// The greater share of documents right first. Sorting is stable: of equal candidates the
/// first, which is the simpler.
fn better(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    b.best.accuracy.total_cmp(&a.best.accuracy)
}

fn note_kept(
    ranked: &[Ranked],
    n_kept: usize,
    n_features: usize,
    reporter: &mut Reporter,
) -> Result<()> {
    if ranked.len() <= n_kept {
        return Ok(());
    }
    let (kept, dropped) = ranked.split_at(n_kept);
    let name = |ranked: &Ranked| {
        let best = &ranked.best;
        format!("{} ({})", best.candidate, percent(best.accuracy))
    };
    let names: Vec<String> = kept.iter().map(name).collect();
    reporter.note(format!(
        "kept at R = {n_features}: {}; dropped {}, {} at best",
        names.join("; "),
        dropped.len(),
        percent(dropped[0].best.accuracy)
    ))
}
