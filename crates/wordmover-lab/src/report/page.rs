//! The report as one page to look at: accuracy against time, curves, a table to sort.
//!
//! `page.html` beside this file draws everything from one JSON object, which is made here.

use anyhow::{Result, ensure};
use serde::Serialize;

use super::Compared;
use super::baselines::{Paper, Systems};
use crate::{baselines, lengths};

const TEMPLATE: &str = include_str!("page.html");
const PLACE: &str = "/*DATA*/null";

/// What the page shows.
#[derive(Serialize)]
struct Data<'r> {
    corpora: Vec<&'r str>,
    systems: Vec<OfSystem<'r>>,
    features: Vec<Curve<'r>>,
    lengths: Vec<Curve<'r>>,
}

/// A system on a corpus. Accuracies are in per cent.
#[derive(Serialize)]
struct OfSystem<'r> {
    corpus: &'r str,
    system: &'r str,
    accuracy: f64,
    splits: usize,
    /// To choose parameters.
    choosing: f64,
    /// To make features, train and predict, parameters given.
    seconds: f64,
    threads: usize,
    paper: Option<f64>,
}

#[derive(Serialize)]
struct Curve<'r> {
    corpus: &'r str,
    /// Abscissa, accuracy on training and on test documents.
    points: Vec<[f64; 3]>,
}

/// The page.
pub fn html(
    paper: &Paper,
    systems: &Systems<'_>,
    others: &[baselines::Record],
    compared: &Compared,
    lengths: &[lengths::Record],
) -> Result<String> {
    let quoted = |corpus: &str, key: &str| {
        let mut tables = paper.table.iter();
        tables.find_map(|table| {
            let column = table.ours.iter().position(|ours| ours == key)?;
            Some(table.quoted(corpus, column)?[0])
        })
    };
    let mut of_systems = Vec::new();
    for record in others {
        let (Some(accuracy), Some(first)) = (
            systems.accuracy(&record.corpus, &record.key),
            record.outcomes.first(),
        ) else {
            continue;
        };
        let of = |stage: &str| first.seconds.get(stage).copied().unwrap_or(0.0);
        of_systems.push(OfSystem {
            corpus: &record.corpus,
            system: &record.system,
            accuracy: 100.0 * accuracy.over.mean(),
            splits: record.outcomes.len(),
            choosing: of("choosing"),
            seconds: of("features") + of("training") + of("prediction"),
            threads: 1,
            paper: quoted(&record.corpus, &record.key),
        });
    }
    for record in compared {
        let corpus = record.corpus.name.as_str();
        let Some(split) = record.splits.first() else {
            continue;
        };
        for (name, n_features) in [("WME, R = 512", 512), ("WME, R = 4096", 4096)] {
            let Some(point) = record.at(n_features).next() else {
                continue;
            };
            let is_most = n_features == record.n_most();
            of_systems.push(OfSystem {
                corpus,
                system: name,
                accuracy: 100.0 * record.accuracy_at(n_features).mean(),
                splits: record.splits.len(),
                choosing: split.choosing_seconds,
                seconds: point.training_seconds + point.prediction_seconds,
                threads: record.environment.threads,
                paper: is_most.then(|| quoted(corpus, "wme")).flatten(),
            });
        }
        if let (Some(knn), Some(accuracy)) = (record.knn().next(), record.knn_accuracy()) {
            of_systems.push(OfSystem {
                corpus,
                system: "KNN-WMD",
                accuracy: 100.0 * accuracy.mean(),
                splits: record.splits.len(),
                choosing: knn.choosing_seconds,
                seconds: knn.prediction_seconds,
                threads: record.environment.threads,
                paper: quoted(corpus, "knn-wmd"),
            });
        }
    }
    let features = compared.iter().map(|record| {
        let points = record.definition.features.iter().map(|&n| {
            let at = |of: &dyn Fn(&wordmover_classify::CurvePoint) -> f64| {
                let (sum, n) = record
                    .at(n)
                    .fold((0.0, 0.0), |(sum, n), point| (sum + of(point), n + 1.0));
                100.0 * sum / f64::max(n, 1.0)
            };
            [
                n as f64,
                at(&|point| point.train_accuracy),
                at(&|point| point.accuracy),
            ]
        });
        Curve {
            corpus: &record.corpus.name,
            points: points.collect(),
        }
    });
    let lengths = lengths.iter().map(|record| {
        let points = record.points.iter().map(|point| {
            let of = &point.point;
            [
                point.d_max as f64,
                100.0 * of.train_accuracy,
                100.0 * of.accuracy,
            ]
        });
        Curve {
            corpus: &record.corpus.name,
            points: points.collect(),
        }
    });
    let data = Data {
        corpora: compared.iter().map(|r| r.corpus.name.as_str()).collect(),
        systems: of_systems,
        features: features.collect(),
        lengths: lengths.collect(),
    };
    ensure!(TEMPLATE.contains(PLACE), "page.html has no place for data");
    // A text in JSON could end the script: `</` can be written otherwise.
    let data = serde_json::to_string(&data)?.replace("</", "<\\/");
    Ok(TEMPLATE.replace(PLACE, &data))
}
