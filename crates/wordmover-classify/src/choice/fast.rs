//! The fast protocol: candidates race by least squares, then views are compared by SVMs.
//!
//! Ways to weigh words are compared first, with the usual random documents, then random
//! documents for the best of these, then the best pairs with more features and documents.
//! Least squares need one factorisation for all classes, so the race costs little more than
//! its distances. The winner is [refined](super::refinement), and its C, words alone, and both
//! side by side are judged, by the SVMs that the classifier consists of.

use wordmover::embedding::PostProcessing;

use super::candidates::{Candidates, Weights};
use super::race::Race;
use super::refinement::{Refined, Trial, USUAL};
use super::surface::Sample;
use super::{Candidate, Chosen, WmeChoice};
use crate::cache::Cache;
use crate::corpus::LabeledCorpus;
use crate::error::Result;
use crate::folds::spread_folds;
use crate::params::WmeParams;
use crate::progress::Reporter;
use crate::view_choice::{self, BIAS, Meanings, ViewSearch, WordsView};
use crate::views::{ViewPoint, Views};

/// The number of features with which views are compared; with more, C is adapted last.
pub(super) const VIEW_FEATURES: usize = 1024;

/// Documents by which views are compared, at most.
const VIEW_DOCUMENTS: usize = 16_384;

/// So many documents held out are enough to refine the winner and to compare views: further folds
/// are not judged.
const HELD_OUT: usize = 3000;

/// Gamma, in units of one over the median distance. Standardised features hardly depend on
/// it: 2 and 8 differed by 0.3 points at most on OHSUMED and 20NEWS.
pub(super) const GAMMA: f64 = 4.0;

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
    let (winner, best) = race.run(&weights, reporter)?;
    let n_features = params.embedding.n_features;
    let n_compared = n_features.min(VIEW_FEATURES);
    let n_judged = race
        .rounds
        .last()
        .map_or(n_compared, |round| round.n_features);
    // Rows have length 1, or about that, however many the features.
    let cost = best.cost * n_judged as f64;
    let mut sample = race.sample(VIEW_DOCUMENTS);
    if params.n_folds == params.protocol.n_folds() {
        keep_enough(&mut sample);
    }
    let trial = Trial {
        bias: BIAS,
        cost,
        sample: &sample,
        n_features: n_compared,
    };
    let refined = race.refine(winner, trial, reporter)?;
    let Refined {
        racer,
        post_processing,
        bias,
        found,
    } = refined;
    let candidate = racer.candidate;
    let heavy = if bias == BIAS { "" } else { ", a heavy bias" };
    let length = match post_processing {
        PostProcessing::Unit => ", documents of length 1",
        _ => "",
    };
    reporter.note(format!("chose {candidate}{heavy}{length}"))?;
    let cost = found.best().cost;
    let mut table = race.table_of_all(racer, reporter)?;
    // Features of some of the documents are standardised by these.
    let refined = Some(found).filter(|_| table.training.rows == sample.rows);
    let gamma = GAMMA * table.scale();
    // The documents of all candidates but the best are not needed any more.
    let rounds = std::mem::take(&mut race.rounds);
    drop(race);
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
    let embedded = match is_all {
        true => table.take_features(n_compared, gamma, post_processing, cache, reporter)?,
        false => table.features(n_compared, gamma, post_processing)?,
    };
    let mut meanings = Meanings::new(&table, embedded, &sample.rows)?;
    let found = reporter.time("cross-validation", |reporter| -> Result<_> {
        let mut found = vec![match refined {
            Some(refined) => refined,
            None => search.meanings(&meanings, bias, cost, reporter)?,
        }];
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
        drop(meanings);
        let embedded = reporter.time("distances", |reporter| {
            table.take_features(n_features, gamma, post_processing, cache, reporter)
        })?;
        meanings = Meanings::new(&table, embedded, &sample.rows)?;
        chosen = reporter.time("cross-validation", |reporter| {
            let words = view.as_ref().filter(|_| chosen.best().views.have_words());
            let bias = bias_of(chosen.best().views, bias);
            search.with_all_features(&meanings, words, bias, chosen.best(), reporter)
        })?;
        points.extend(chosen.points.clone());
    }
    let point = chosen.best().clone();
    let bias = bias_of(point.views, bias);
    let view = view.filter(|_| point.views.have_words());
    Ok(Chosen {
        choice: WmeChoice {
            views: point.views,
            meanings_weight: point.meanings_weight,
            candidate,
            post_processing,
            bias: Some(bias),
            n_features,
            gamma,
            cost: point.cost,
            accuracy: point.accuracy,
            deviation: point.deviation,
        },
        rounds,
        views: points,
        rows: table.training.rows.clone(),
        embedded: meanings.into_embedded(),
        words: view,
        held_out: Some(chosen.held_out),
    })
}

/// Beside words, whose rows have length 1, a bias has no reason to be heavy.
fn bias_of(views: Views, of_meanings: f64) -> f64 {
    match views {
        Views::Meanings => of_meanings,
        _ => BIAS,
    }
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

/// The first folds, two at least, that hold enough documents. Each is still learnt without
/// itself alone.
fn keep_enough(sample: &mut Sample) {
    let mut n_held_out = 0;
    let enough = sample.folds.iter().position(|fold| {
        n_held_out += fold.test.len();
        n_held_out >= HELD_OUT
    });
    if let Some(last) = enough {
        sample.folds.truncate((last + 1).max(2));
    }
}

/// Refuses documents with words that are all of one class.
fn check_classes(rows: &[usize], train: &LabeledCorpus) -> Result<()> {
    train
        .select(rows)
        .check_classes("training documents with known words")
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
    train
        .select(&rows)
        .check_classes("training documents with words")?;
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
    let mut chosen = without_folds_silently(params, candidates, weights, view, reporter)?;
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
    let chosen = without_folds_silently(params, candidates, weights, view, reporter)?;
    reporter.note(
        "no class has two training documents: none can be held out, and the parameters are \
         the usual ones, not chosen"
            .to_owned(),
    )?;
    Ok(chosen)
}

fn without_folds_silently(
    params: &WmeParams,
    mut candidates: Candidates,
    weights: Weights,
    view: Option<WordsView>,
    reporter: &mut Reporter,
) -> Result<Chosen> {
    let candidate = Candidate::new(weights, candidates.random_documents()[0]);
    let n_features = params.embedding.n_features;
    let views = Views::ALL
        .into_iter()
        .find(|views| params.views.contains(views));
    let views = views.unwrap_or_default();
    let mut table = candidates.table(&candidate, None)?;
    let (mut gamma, none) = (GAMMA, Cache::none());
    let embedded = match views.have_meanings() {
        false => table.without_features(n_features, gamma)?,
        true => reporter.time("distances", |reporter| {
            table.extend(1, &none, reporter)?;
            gamma *= table.scale();
            table.take_features(n_features, gamma, USUAL, &none, reporter)
        })?,
    };
    Ok(Chosen {
        choice: WmeChoice {
            views,
            meanings_weight: (views == Views::Both).then_some(1.0),
            candidate,
            post_processing: USUAL,
            bias: Some(BIAS),
            n_features,
            gamma,
            cost: 1.0,
            accuracy: 0.0,
            deviation: 0.0,
        },
        rounds: Vec::new(),
        views: Vec::new(),
        rows: table.training.rows.clone(),
        embedded,
        words: view.filter(|_| views.have_words()),
        held_out: None,
    })
}
