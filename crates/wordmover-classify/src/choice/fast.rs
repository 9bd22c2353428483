//! The fast protocol: candidates race by least squares, then views are compared by SVMs.
//!
//! Ways to weigh words are compared first, with the usual random documents, then random
//! documents for the best of these, then the best pairs with more features and documents.
//! Least squares need one factorisation for all classes, so the race costs little more than
//! its distances. The winner's C, words alone, and both side by side are judged by the SVMs
//! that the classifier consists of.

use wordmover_learn::{Features, least_squares, split};

use super::candidates::{Candidates, Weights};
use super::surface::{Racer, Sample, cached, order};
use super::{Candidate, Chosen, SurfacePoint, SurfaceRound, WmeChoice, percent};
use crate::cache::{Cache, KeyBuilder};
use crate::corpus::LabeledCorpus;
use crate::distances::DistanceTable;
use crate::error::Result;
use crate::folds::spread_folds;
use crate::params::WmeParams;
use crate::progress::{Event, Reporter};
use crate::view_choice::{self, Meanings, ViewSearch, WordsView};
use crate::views::{ViewPoint, Views};

/// The number of features with which candidates are compared first, and last.
const FIRST_FEATURES: usize = 256;
const LAST_FEATURES: usize = 512;

/// Documents to a feature, at most, where candidates are compared.
const DOCUMENTS_BY_FEATURE: usize = 8;

/// Ways to weigh words that are tried with all random documents.
const WEIGHTS_KEPT: usize = 2;

/// Candidates that are compared with more features.
const FINALISTS: usize = 4;

/// The number of features with which views are compared; with more, C is adapted last.
const VIEW_FEATURES: usize = 1024;

/// Documents by which views are compared, at most.
const VIEW_DOCUMENTS: usize = 16_384;

/// Gamma, in units of one over the median distance. Standardised features hardly depend on
/// it: 2 and 8 differed by 0.3 points at most on OHSUMED and 20NEWS.
const GAMMA: f64 = 4.0;

/// Values of C for least squares, times the number of features.
const FIRST_COSTS: [f64; 7] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// The same around the best with fewer features.
const LATER_COSTS: [f64; 3] = [0.3, 1.0, 3.0];

/// C of meanings, times the number of features, where nothing can be held out.
const DEFAULT_COST: f64 = 1.0;

pub(super) fn choose(
    params: &WmeParams,
    train: &LabeledCorpus,
    cache: &Cache,
    reporter: &mut Reporter,
) -> Result<Chosen> {
    let mut candidates = reporter.time("counting words", |_| Candidates::new(params, train))?;
    let view = match params.views == [Views::Meanings] {
        true => None,
        false => Some(reporter.time("counting words", |_| WordsView::fit(train))?),
    };
    if params.views == [Views::Words] {
        return choose_words(params, candidates, view, train, cache, reporter);
    }
    let (weights, rows) = reporter.time("weighing words", |_| common_rows(&mut candidates))?;
    let labels: Vec<usize> = rows.iter().map(|&row| train.labels()[row]).collect();
    check_classes(&rows, train)?;
    let seed = params.embedding.seed;
    let folds = spread_folds(params.n_folds, &labels, train, seed, reporter)?;
    let Some(folds) = folds else {
        return without_folds(params, candidates, weights[0], view, reporter);
    };
    let whole = Sample { rows, folds };
    let mut race = Race {
        params,
        train,
        whole,
        labels,
        cache,
        candidates,
        rounds: Vec::new(),
    };
    let (best, mut table) = race.run(&weights, reporter)?;
    let gamma = GAMMA * table.scale();
    let n_features = params.embedding.n_features;
    let n_compared = n_features.min(VIEW_FEATURES);
    let sample = race.sample(VIEW_DOCUMENTS);
    reporter.time("distances", |reporter| {
        table.extend(n_compared, cache, reporter)
    })?;

    let search = ViewSearch {
        train,
        class_weights: &params.class_weights,
        rows: &sample.rows,
        folds: &sample.folds,
        cache,
    };
    let is_all = n_compared == n_features;
    let features = table.features(n_compared, gamma, is_all);
    let mut meanings = Meanings::new(&table, features, n_compared, gamma, &sample.rows)?;
    let found = reporter.time("cross-validation", |reporter| -> Result<_> {
        let n_judged = race.rounds.last().map_or(n_compared, |round| round.n_features);
        let ls_cost = best.cost * (n_judged as f64 / n_compared as f64);
        let mut found = vec![search.meanings(&meanings, ls_cost, reporter)?];
        if let Some(view) = &view {
            let words = search.words(view, reporter)?;
            if params.views.contains(&Views::Both) {
                let costs = (found[0].best().cost, words.best().cost);
                found.push(search.both(&meanings, view, costs, reporter)?);
            }
            found.push(words);
        }
        Ok(found)
    })?;
    let mut points: Vec<ViewPoint> = found.iter().flat_map(|s| s.points.clone()).collect();
    let mut chosen = view_choice::choose(&params.views, found, reporter)?;
    if chosen.best().views.have_meanings() && !is_all {
        reporter.time("distances", |reporter| {
            table.extend(n_features, cache, reporter)
        })?;
        drop(meanings);
        let features = table.features(n_features, gamma, true);
        meanings = Meanings::new(&table, features, n_features, gamma, &sample.rows)?;
        chosen = reporter.time("cross-validation", |reporter| {
            let shrunk = n_compared as f64 / n_features as f64;
            let words = view.as_ref().filter(|_| chosen.best().views.have_words());
            search.with_all_features(&meanings, words, chosen.best(), shrunk, reporter)
        })?;
        points.extend(chosen.points.clone());
    }
    let point = chosen.best().clone();
    let view = view.filter(|_| point.views.have_words());
    Ok(Chosen {
        choice: WmeChoice {
            views: point.views,
            meanings_weight: point.meanings_weight,
            candidate: best.candidate,
            n_features,
            gamma,
            cost: point.cost,
            accuracy: point.accuracy,
            deviation: point.deviation,
        },
        rounds: race.rounds,
        views: points,
        features: meanings.into_features(),
        table,
        words: view,
        held_out: Some(chosen.held_out),
    })
}

/// Ways to weigh words, and the documents that have words by all of them. What leaves no
/// document with a word is not tried, if something else does.
fn common_rows(candidates: &mut Candidates) -> Result<(Vec<Weights>, Vec<usize>)> {
    let mut weights = candidates.weights();
    let mut rows = candidates.training(weights[0])?.rows.clone();
    for &other in &weights[1..] {
        let others = candidates.training(other)?.rows.clone();
        let both = rows.iter().filter(|row| others.binary_search(row).is_ok());
        let both: Vec<usize> = both.copied().collect();
        if both.is_empty() {
            weights = vec![other];
            rows = others;
            break;
        }
        rows = both;
    }
    Ok((weights, rows))
}

/// Refuses documents with words that are all of one class.
fn check_classes(rows: &[usize], train: &LabeledCorpus) -> Result<()> {
    train.select(rows).check_classes("training documents with known words")
}

/// What all rounds share.
struct Race<'a> {
    params: &'a WmeParams,
    train: &'a LabeledCorpus,
    /// All documents that have words whatever the candidate.
    whole: Sample,
    labels: Vec<usize>,
    cache: &'a Cache,
    candidates: Candidates<'a>,
    rounds: Vec<SurfaceRound>,
}

/// A candidate with its best point.
struct Ranked {
    racer: Racer,
    best: SurfacePoint,
}

impl Race<'_> {
    /// The best point of the winner, and the winner's distances of all documents, without
    /// all columns yet.
    fn run(
        &mut self,
        weights: &[Weights],
        reporter: &mut Reporter,
    ) -> Result<(SurfacePoint, DistanceTable)> {
        let n_features = self.params.embedding.n_features;
        let (first, last) = (
            FIRST_FEATURES.min(n_features),
            LAST_FEATURES.min(n_features),
        );
        let sample = self.sample(first * DOCUMENTS_BY_FEATURE);
        let random_documents = self.candidates.random_documents();
        let usual = weights.iter().map(|&w| Candidate::new(w, random_documents[0]));
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
            // Stable: of equal candidates the first.
            ranked.sort_by(|a, b| order(&a.best, &b.best));
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
        reporter.note(format!("chose {}", best.candidate))?;
        let all = self.candidates.training(best.candidate.weights())?;
        let table = match racer.table.training.rows == all.rows {
            true => racer.table,
            false => {
                let mut table = self.candidates.table(&best.candidate, None)?;
                reporter.time("distances", |reporter| {
                    table.extend(last, self.cache, reporter)
                })?;
                table
            }
        };
        Ok((best, table))
    }

    /// At most about so many documents, in the proportions of the classes, and their folds.
    fn sample(&self, n_documents: usize) -> Sample {
        let positions = split::stratified_sample(
            &self.labels,
            n_documents,
            self.params.embedding.seed,
        );
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
        let n_before = self.rounds.last().map_or(n_features, |round| round.n_features);
        let mut racers = Vec::new();
        for Ranked { mut racer, best } in ranked {
            let shrunk = n_before as f64 / n_features as f64;
            let costs = LATER_COSTS.map(|cost| cost * best.cost * shrunk);
            if racer.table.training.rows != sample.rows {
                let table = self.candidates.table(&racer.candidate, Some(&sample.rows))?;
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
            let best = surface.iter().min_by(|a, b| order(a, b)).cloned();
            ranked.extend(best.map(|best| Ranked { racer, best }));
            points.extend(surface);
        }
        ranked.sort_by(|a, b| order(&a.best, &b.best));
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
            let features = racer.table.features(n_features, gamma, false);
            let features = Features::new(&features, n_features)?;
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
        let own = points.into_iter().map(|point| SurfacePoint { candidate, ..point });
        Ok(own.collect())
    }
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
    let names = |ranked: &[Ranked]| ranked.iter().map(name).collect::<Vec<_>>().join("; ");
    reporter.note(format!(
        "kept at R = {n_features}: {}; dropped: {}",
        names(kept),
        names(dropped)
    ))
}

/// Words alone: no distances are needed. The embedding that the file holds is that of the
/// first candidate.
fn choose_words(
    params: &WmeParams,
    candidates: Candidates,
    view: Option<WordsView>,
    train: &LabeledCorpus,
    cache: &Cache,
    reporter: &mut Reporter,
) -> Result<Chosen> {
    let weights = candidates.weights()[0];
    let Some(words) = &view else {
        return without_folds(params, candidates, weights, view, reporter);
    };
    let rows = words.rows();
    train.select(&rows).check_classes("training documents with words")?;
    let labels: Vec<usize> = rows.iter().map(|&row| train.labels()[row]).collect();
    let seed = params.embedding.seed;
    let Some(folds) = spread_folds(params.n_folds, &labels, train, seed, reporter)? else {
        return without_folds(params, candidates, weights, view, reporter);
    };
    let search = ViewSearch {
        train,
        class_weights: &params.class_weights,
        rows: &rows,
        folds: &folds,
        cache,
    };
    let found = reporter.time("cross-validation", |reporter| search.words(words, reporter))?;
    let points = found.points.clone();
    let found = view_choice::choose(&params.views, vec![found], reporter)?;
    let mut chosen = without_folds_silently(params, candidates, weights, view)?;
    let best = found.best();
    chosen.choice.cost = best.cost;
    chosen.choice.accuracy = best.accuracy;
    chosen.choice.deviation = best.deviation;
    chosen.views = points;
    chosen.held_out = Some(found.held_out);
    Ok(chosen)
}

/// Every class has one document: there is nothing to hold out, and parameters are usual ones.
fn without_folds(
    params: &WmeParams,
    candidates: Candidates,
    weights: Weights,
    view: Option<WordsView>,
    reporter: &mut Reporter,
) -> Result<Chosen> {
    let mut chosen = without_folds_silently(params, candidates, weights, view)?;
    if chosen.choice.views.have_meanings() {
        let n_features = chosen.choice.n_features;
        reporter.time("distances", |reporter| {
            chosen.table.extend(n_features, &Cache::none(), reporter)
        })?;
        let gamma = GAMMA * chosen.table.scale();
        chosen.choice.gamma = gamma;
        chosen.features = chosen.table.features(n_features, gamma, true);
    }
    reporter.note(
        "no class has two training documents: none can be held out, and the parameters are          the usual ones, not chosen"
            .to_owned(),
    )?;
    Ok(chosen)
}

fn without_folds_silently(
    params: &WmeParams,
    mut candidates: Candidates,
    weights: Weights,
    view: Option<WordsView>,
) -> Result<Chosen> {
    let candidate = Candidate::new(weights, candidates.random_documents()[0]);
    let n_features = params.embedding.n_features;
    let views = Views::ALL.into_iter().find(|views| params.views.contains(views));
    let views = views.unwrap_or_default();
    let cost = match views {
        Views::Meanings => DEFAULT_COST / n_features as f64,
        _ => 1.0,
    };
    let weight = (DEFAULT_COST / n_features as f64).sqrt();
    Ok(Chosen {
        choice: WmeChoice {
            views,
            meanings_weight: (views == Views::Both).then_some(weight),
            candidate,
            n_features,
            gamma: GAMMA,
            cost,
            accuracy: 0.0,
            deviation: 0.0,
        },
        rounds: Vec::new(),
        views: Vec::new(),
        features: Vec::new(),
        table: candidates.table(&candidate, None)?,
        words: view.filter(|_| views.have_words()),
        held_out: None,
    })
}
