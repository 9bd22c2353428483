//! Words, meanings or both: the last step of the fast protocol.
//!
//! Words alone are judged first, along a path of C; then both, around the best C of either.
//! Rows and folds are those with which the best meanings were judged, so that the three
//! accuracies can be compared.

use wordmover_learn::linear::{LinearSearchParams, search};
use wordmover_learn::split::Split;
use wordmover_learn::{FeatureBlocks, Features, LinearParams, SparseRows, Targets};

use crate::cache::{Cache, KeyBuilder};
use crate::corpus::LabeledCorpus;
use crate::distances::DistanceTable;
use crate::error::{Error, Result};
use crate::progress::{Event, Reporter};
use crate::terms::Terms;
use crate::views::{ViewPoint, Views};

/// Values of C for words alone, whose rows have length 1.
const WORDS_COSTS: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];

/// For both, values of C in units of the best for words. Two views need less of each.
const BOTH_COSTS: [f64; 2] = [0.3, 1.0];

/// For both, squared weights of meanings in units of the one with which the best C for
/// meanings is the best C for words.
const BOTH_WEIGHTS: [f64; 4] = [0.1, 0.3, 1.0, 3.0];

/// Where machines stop that are only compared: an objective at most this share above the
/// least.
const TOLERANCE: f64 = 0.01;

/// The machine on words, or on words and meanings.
pub(crate) fn linear() -> LinearParams {
    LinearParams::default().standardize(true).bias(Some(1.0))
}

/// The terms of the training documents, and the features of all of these.
pub(crate) struct WordsView {
    pub terms: Terms,
    pub features: SparseRows,
}

impl WordsView {
    pub fn fit(train: &LabeledCorpus) -> Result<Self> {
        let documents = train.words();
        let Some(terms) = Terms::fit(&documents)? else {
            let n_documents = documents.len();
            return Err(Error::NoWords { n_documents });
        };
        let features = terms.features(&documents)?;
        Ok(WordsView { terms, features })
    }

    /// Positions of the documents that have a term.
    pub fn rows(&self) -> Vec<usize> {
        let rows = 0..self.features.n_rows();
        rows.filter(|&row| !self.features.row(row).0.is_empty())
            .collect()
    }
}

/// Documents to judge by: their positions in the corpus, their classes, and folds that
/// count positions among them.
pub(crate) struct JudgedRows<'a> {
    pub corpus: Vec<usize>,
    pub labels: Vec<usize>,
    pub folds: &'a [Split],
}

/// The meanings beside the words.
pub(crate) struct Meanings<'a> {
    pub table: &'a DistanceTable,
    /// Which rows of the table are judged by.
    pub rows: &'a [usize],
    pub n_features: usize,
    pub gamma: f64,
    /// The best C for them alone.
    pub cost: f64,
}

/// Judges views on some documents.
pub(crate) struct ViewSearch<'a> {
    pub train: &'a LabeledCorpus,
    pub words: &'a WordsView,
    pub rows: JudgedRows<'a>,
    pub cache: &'a Cache,
}

impl ViewSearch<'_> {
    /// Words alone.
    pub fn words(&self, reporter: &Reporter) -> Result<Vec<ViewPoint>> {
        let params = LinearSearchParams::default().costs(WORDS_COSTS);
        let key = KeyBuilder::new("words-1");
        self.surface(Views::Words, key, params, reporter, &|| Ok(None))
    }

    /// Both, where `words_cost` is the best C for words alone.
    pub fn both(
        &self,
        meanings: &Meanings,
        words_cost: f64,
        reporter: &Reporter,
    ) -> Result<Vec<ViewPoint>> {
        let unit = meanings.cost / words_cost;
        let params = LinearSearchParams::default()
            .costs(BOTH_COSTS.map(|cost| cost * words_cost))
            .dense_weights(BOTH_WEIGHTS.map(|square| (square * unit).sqrt()));
        let key = KeyBuilder::new("both-1").numbers([meanings.gamma.to_bits()].into_iter());
        let key = key.numbers(meanings.rows.iter().map(|&row| row as u64));
        let key = meanings.table.content(key, meanings.n_features);
        self.surface(Views::Both, key, params, reporter, &|| {
            let distances = meanings.table.rows(meanings.n_features);
            let distances = Features::new(&distances, meanings.n_features)?;
            let distances = distances.gather(meanings.rows);
            Ok(Some((
                wordmover::embedding::raw_features(
                    &distances,
                    meanings.n_features,
                    Some(meanings.gamma),
                ),
                meanings.n_features,
            )))
        })
    }

    /// Every point of a search, from the cache if it is there.
    fn surface(
        &self,
        views: Views,
        key: KeyBuilder,
        params: LinearSearchParams,
        reporter: &Reporter,
        meanings: &dyn Fn() -> Result<Option<(Vec<f32>, usize)>>,
    ) -> Result<Vec<ViewPoint>> {
        let rows = &self.rows;
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let key = key
            .with(|hash| hash.json(&(bits(&params.costs), bits(&params.dense_weights))))
            .numbers([TOLERANCE.to_bits()].into_iter())
            .numbers(rows.corpus.iter().map(|&row| row as u64))
            .numbers(rows.labels.iter().map(|&label| label as u64));
        let key = rows.folds.iter().fold(key, |key, fold| {
            key.numbers(fold.test.iter().map(|&row| row as u64))
        });
        // Terms and their frequencies are those of all training documents.
        let words = self.train.words().into_iter();
        let key = words.fold(key, |key, words| key.bytes(words.as_bytes()));
        let key = key.finish();
        let n_points = params.costs.len() * params.dense_weights.len();
        let kept = self.cache.get(&key)?;
        let kept = kept.and_then(|json| serde_json::from_slice::<Vec<ViewPoint>>(&json).ok());
        if let Some(points) = kept.filter(|points| points.len() == n_points) {
            return Ok(points);
        }

        let targets = Targets::one_each(&rows.labels)?;
        let n_machines = n_points * rows.folds.len() * targets.n_machines();
        let name = format!("cross-validation, {}", name(views));
        reporter.stage(&name, n_machines as u64, "machines")?;
        let sparse = self.words.features.gather(&rows.corpus);
        let meanings = meanings()?;
        let blocks = match &meanings {
            Some((values, n)) => FeatureBlocks::both(&sparse, Features::new(values, *n)?)?,
            None => FeatureBlocks::sparse(&sparse),
        };
        let params = params.linear(linear().tolerance(TOLERANCE)).check()?;
        let observer = reporter.observer();
        let surface = search(&params, blocks, &targets, rows.folds, &|n| {
            observer(Event::Steps(n))
        })?;
        let n_judged = surface.held_out_rows().len() as f64;
        let points = surface.points().iter().map(|point| ViewPoint {
            views,
            meanings_weight: meanings.is_some().then_some(point.dense_weight),
            cost: point.cost,
            n_right: (point.score * n_judged).round() as u64,
            accuracy: point.score,
            deviation: point.deviation,
        });
        let points: Vec<ViewPoint> = points.collect();
        self.cache
            .put(&key, &serde_json::to_vec(&points).unwrap_or_default())?;
        Ok(points)
    }
}

fn name(views: Views) -> &'static str {
    match views {
        Views::Meanings => "meanings",
        Views::Words => "words",
        Views::Both => "words and meanings",
    }
}

/// The best point: the most documents right, then the smallest C, then the smallest weight.
pub(crate) fn best(points: &[ViewPoint]) -> Option<&ViewPoint> {
    points.iter().min_by(|a, b| {
        let right = b.n_right.cmp(&a.n_right);
        let cost = right.then(a.cost.total_cmp(&b.cost));
        let weight = |point: &ViewPoint| point.meanings_weight.unwrap_or_default();
        cost.then(weight(a).total_cmp(&weight(b)))
    })
}
