//! The paper's protocol: the whole grid with few features, then C once more with all.

use wordmover::content_hash::ContentHash;
use wordmover::embedding::PostProcessing;
use wordmover_learn::grid::{self, GridParams};
use wordmover_learn::{Features, SvmParams};

use super::candidates::Candidates;
use super::surface::{Racer, Sample, cached, order};
use super::{Candidate, Chosen, SurfacePoint, SurfaceRound, WmeChoice, percent};
use crate::cache::{Cache, KeyBuilder};
use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};
use crate::folds::folds;
use crate::held_out::HeldOut;
use crate::params::{Protocol, WmeParams};
use crate::progress::{Event, Reporter};
use crate::views::Views;

/// The number of features at which the grid is searched.
const FIRST_FEATURES: usize = 256;

pub(super) fn choose(
    params: &WmeParams,
    train: &LabeledCorpus,
    cache: &Cache,
    reporter: &mut Reporter,
) -> Result<Chosen> {
    if train.label_sets().is_some() {
        return Err(Error::InvalidParameter {
            name: "the number of classes of a document",
            value: "any".to_owned(),
            requirement: "one, with the paper's protocol",
        });
    }
    let mut candidates = reporter.time("counting words", |_| Candidates::new(params, train))?;
    let mut racers = Vec::new();
    for weights in candidates.weights() {
        let mut random_documents = candidates.random_documents();
        random_documents.sort_by_key(|&(_, d_max)| d_max);
        for random_documents in random_documents {
            let candidate = Candidate::new(weights, random_documents);
            let table = candidates.table(&candidate, None)?;
            racers.push(Racer { candidate, table });
        }
    }
    // Which documents have words does not depend on the candidate.
    let rows = racers[0].table.training.rows.clone();
    let labels = racers[0].table.training.labels(train);
    let seed = params.embedding.seed;
    let protocol = Protocol::Paper;
    let folds = folds(protocol, params.n_folds, &labels, train, seed, reporter)?;
    let mut search = Search {
        train,
        labels,
        sample: Sample { rows, folds },
        cache,
        rounds: Vec::new(),
    };
    let n_features = params.embedding.n_features;
    let first = FIRST_FEATURES.min(n_features);
    let (winner, mut best) = search.judge(&mut racers, first, &GridParams::default(), reporter)?;
    let mut winner = vec![racers.swap_remove(winner)];
    if first < n_features {
        reporter.note(format!(
            "{} and gamma = {} are best at R = {first}: {} of documents held out were right",
            winner[0].candidate,
            best.gamma,
            percent(best.accuracy)
        ))?;
        let grid = GridParams::default().gammas([Some(best.gamma)]);
        best = search.judge(&mut winner, n_features, &grid, reporter)?.1;
    }
    let mut table = winner.remove(0).table;
    reporter.note(format!(
        "chose {}, gamma = {:.4}, C = {:.3e}: {} of documents held out were right",
        best.candidate,
        best.gamma,
        best.cost,
        percent(best.accuracy)
    ))?;
    let raw = PostProcessing::Raw;
    let embedded = reporter.time("distances", |reporter| {
        table.take_features(n_features, best.gamma, raw, cache, reporter)
    })?;
    let held_out = reporter.time("documents held out", |reporter| {
        let features = Features::new(&embedded.features, n_features)?;
        let svm = SvmParams::default().cost(best.cost);
        let sample = &search.sample;
        HeldOut::of_svm(svm, features, &search.labels, &sample.folds, reporter)
    })?;
    Ok(Chosen {
        choice: WmeChoice {
            views: Views::Meanings,
            meanings_weight: None,
            candidate: best.candidate,
            post_processing: raw,
            bias: None,
            n_features,
            gamma: best.gamma,
            cost: best.cost,
            accuracy: best.accuracy,
            deviation: best.deviation,
        },
        rounds: search.rounds,
        views: Vec::new(),
        rows: search.sample.rows,
        embedded,
        words: None,
        held_out: Some(held_out),
    })
}

/// What both rounds share.
struct Search<'a> {
    train: &'a LabeledCorpus,
    labels: Vec<usize>,
    sample: Sample,
    cache: &'a Cache,
    rounds: Vec<SurfaceRound>,
}

impl Search<'_> {
    /// Judges candidates at a number of features. Returns the position of the best, and its
    /// best point.
    fn judge(
        &mut self,
        racers: &mut [Racer],
        n_features: usize,
        grid: &GridParams,
        reporter: &mut Reporter,
    ) -> Result<(usize, SurfacePoint)> {
        let mut points = Vec::new();
        let mut best: Option<(usize, SurfacePoint)> = None;
        for (position, racer) in racers.iter_mut().enumerate() {
            reporter.time("distances", |reporter| {
                racer.table.extend(n_features, self.cache, reporter)
            })?;
            let surface = reporter.time("cross-validation", |reporter| {
                self.surface(racer, n_features, grid, reporter)
            })?;
            for point in &surface {
                // Of equal candidates the first.
                if best
                    .as_ref()
                    .is_none_or(|(_, best)| order(point, best).is_lt())
                {
                    best = Some((position, point.clone()));
                }
            }
            points.extend(surface);
        }
        self.rounds.push(SurfaceRound {
            n_features,
            n_documents: self.sample.rows.len(),
            n_folds: self.sample.folds.len(),
            points,
        });
        Ok(best.expect("one candidate with one point at least"))
    }

    /// Every gamma and C of the grid on one candidate.
    fn surface(
        &self,
        racer: &Racer,
        n_features: usize,
        grid: &GridParams,
        reporter: &Reporter,
    ) -> Result<Vec<SurfacePoint>> {
        let key = KeyBuilder::new("surface-4").with(|hash| hash_grid(hash, grid));
        let key = self.sample.content(self.train, key);
        let key = racer.table.content(key, n_features);
        let n_points = grid.gammas.len() * grid.costs.len();
        let points = cached(self.cache, key, n_points, || {
            let folds = &self.sample.folds;
            let name = format!("cross-validation, {}, R = {n_features}", racer.candidate);
            reporter.stage(&name, (n_points * folds.len()) as u64, "machines")?;
            let observer = reporter.observer();
            let distances = racer.table.rows(n_features);
            let table = Features::new(&distances, n_features)?;
            let features = &wordmover::embedding::raw_features;
            let surface = grid::search(grid, &[table], features, &self.labels, folds, &|| {
                observer(Event::Steps(1))
            })?;
            let points = surface.points().iter().map(|point| SurfacePoint {
                candidate: racer.candidate,
                gamma: point.gamma.unwrap_or(f64::NAN),
                cost: point.cost,
                accuracy: point.accuracy,
                deviation: point.deviation,
            });
            Ok(points.collect())
        })?;
        // Candidates with the same distances share an entry.
        let candidate = racer.candidate;
        let own = points
            .into_iter()
            .map(|point| SurfacePoint { candidate, ..point });
        Ok(own.collect())
    }
}

/// All that the grid settles of a surface.
fn hash_grid(hash: ContentHash, grid: &GridParams) -> ContentHash {
    let bits = |x: Option<f64>| x.map_or(u64::MAX, f64::to_bits);
    let svm = &grid.svm;
    hash.numbers(grid.gammas.iter().map(|&gamma| bits(gamma)))
        .numbers(grid.costs.iter().map(|cost| cost.to_bits()))
        .numbers([svm.tolerance.to_bits(), bits(svm.bias)].into_iter())
        .json(&(svm.standardize, grid.warm_starts))
}
