//! Words, meanings or both: the last step of the fast protocol.
//!
//! Meanings and words are judged alone first, each along a path of C; then both, around the
//! best C of either. Rows and folds are the same, so that the three can be compared.

use wordmover_learn::linear::{ClassWeights, LinearSearchParams, search};
use wordmover_learn::split::Split;
use wordmover_learn::{Features, LinearParams, SparseRows};

use crate::cache::{Cache, KeyBuilder};
use crate::choice::sample_content;
use crate::corpus::LabeledCorpus;
use crate::distances::{DistanceTable, EmbeddedRows};
use crate::error::{Error, Result};
use crate::held_out::HeldOut;
use crate::machine::blocks;
use crate::progress::{Event, Reporter};
use crate::terms::Terms;
use crate::views::{ViewPoint, Views};

/// Values of C for meanings alone, in units of the best for least squares.
const MEANINGS_COSTS: [f64; 3] = [0.3, 1.0, 3.0];

/// Values of C for words alone, whose rows have length 1.
const WORDS_COSTS: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];

/// For both, values of C in units of the best for words. Two views need less of each.
const BOTH_COSTS: [f64; 2] = [0.3, 1.0];

/// For both, squared weights of meanings in units of the one with which the best C for
/// meanings is the best C for words.
const BOTH_WEIGHTS: [f64; 3] = [0.2, 0.7, 2.5];

/// With all features, squared weights of meanings (or C, for meanings alone) in units of
/// those found with fewer. The best C stays or grows: with 4,096 of them, three
/// times that of 1,024 is 0.6 points better on training documents of 20NEWS held out, and
/// worse on those of OHSUMED.
const LAST_SCALES: [f64; 2] = [1.0, 3.0];

/// From a squared weight, or a C of meanings alone, to the next one beyond the ends of those.
const STEP: f64 = 3.0;

/// Steps beyond an end, at most.
const MOST_STEPS: usize = 4;

/// The bias beside rows that are about as long. It is hardly regularised.
pub(crate) const BIAS: f64 = 1.0;

/// A bias that costs so much that it is hardly used, so that frequent classes are not preferred:
/// as much as one of 1 beside standardised features that are not divided by the square root of
/// their number, 1,024.
pub(crate) const HEAVY_BIAS: f64 = 1.0 / 32.0;

/// Where machines stop that are only compared: an objective at most this share above the
/// least.
const TOLERANCE: f64 = 0.01;

/// The machine of the fast protocol. The embedding has standardised its features.
pub(crate) fn linear(class_weights: &ClassWeights, bias: f64) -> LinearParams {
    LinearParams::default()
        .standardize(false)
        .bias(Some(bias))
        .class_weights(class_weights.clone())
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

/// The features of meanings of all documents of a table, some of which are judged by.
pub(crate) struct Meanings {
    embedded: EmbeddedRows,
    /// Rows of the features that are judged by; all if not given.
    judged: Option<Vec<usize>>,
    /// What the features depend on.
    content: [u8; 32],
}

impl Meanings {
    /// `judged` are positions in the corpus, which ascend and are among the table's.
    pub fn new(table: &DistanceTable, embedded: EmbeddedRows, judged: &[usize]) -> Result<Self> {
        let rows = &table.training.rows;
        let position = |row: &usize| rows.partition_point(|other| other < row);
        let embedding = &embedded.embedding;
        let n_features = embedding.n_features();
        let key = KeyBuilder::new("meanings-2")
            .with(|hash| hash.json(&embedding.params().post_processing))
            .with(|hash| hash.json(&embedding.gamma().map(f64::to_bits)));
        let key = key.numbers(judged.iter().map(|&row| row as u64));
        let content = *table.content(key, n_features).finish().hash();
        Ok(Meanings {
            embedded,
            judged: (rows != judged).then(|| judged.iter().map(position).collect()),
            content,
        })
    }

    fn n_features(&self) -> usize {
        self.embedded.embedding.n_features()
    }

    fn judged(&self) -> Result<std::borrow::Cow<'_, [f32]>> {
        Ok(match &self.judged {
            None => self.embedded.features.as_slice().into(),
            Some(rows) => Features::new(&self.embedded.features, self.n_features())?
                .gather(rows)
                .into(),
        })
    }

    pub fn into_embedded(self) -> EmbeddedRows {
        self.embedded
    }
}

/// All points of a search over one view, and what the best says of documents held out.
pub(crate) struct ViewSurface {
    pub points: Vec<ViewPoint>,
    best: usize,
    pub held_out: HeldOut,
}

impl ViewSurface {
    /// The greatest share right; of equal ones the smallest C, then the smallest weight.
    pub fn best(&self) -> &ViewPoint {
        &self.points[self.best]
    }

    /// With more points of the same view.
    fn with(mut self, more: ViewSurface) -> Self {
        if more.best().accuracy > self.best().accuracy {
            self.best = self.points.len() + more.best;
            self.held_out = more.held_out;
        }
        self.points.extend(more.points);
        self
    }

    /// A lead by which what is judged like this is not yet the better.
    pub fn doubt(&self) -> f64 {
        let accuracy = self.best().accuracy;
        let n_held_out = self.held_out.positions.len().max(1) as f64;
        DOUBT * (accuracy * (1.0 - accuracy) / n_held_out).sqrt()
    }
}

/// What a machine looks at.
#[derive(Clone, Copy)]
struct View<'a> {
    meanings: Option<&'a Meanings>,
    words: Option<&'a WordsView>,
    bias: f64,
}

impl View<'_> {
    fn views(&self) -> Views {
        match (self.meanings, self.words) {
            (Some(_), Some(_)) => Views::Both,
            (None, Some(_)) => Views::Words,
            _ => Views::Meanings,
        }
    }
}

/// Leads that say nothing, in standard errors of a share right.
const DOUBT: f64 = 0.5;

/// Takes the best of the views allowed; both unless another is ahead of it beyond doubt, because
/// on other documents two views have less to lose than one; of equal ones meanings.
pub(crate) fn choose(
    allowed: &[Views],
    mut found: Vec<ViewSurface>,
    reporter: &mut Reporter,
) -> Result<ViewSurface> {
    found.retain(|surface| allowed.contains(&surface.best().views));
    let rank = |surface: &ViewSurface| Views::ALL.iter().position(|v| *v == surface.best().views);
    let score = |surface: &ViewSurface| {
        let accuracy = surface.best().accuracy;
        match surface.best().views {
            Views::Both => accuracy,
            _ => accuracy - surface.doubt(),
        }
    };
    found.sort_by(|a, b| {
        let order = score(b).total_cmp(&score(a));
        order.then(rank(a).cmp(&rank(b)))
    });
    let shares = found.iter().map(|surface| {
        let point = surface.best();
        let weight = point.meanings_weight;
        let weight = weight.map_or(String::new(), |w| format!(", weight of meanings = {w:.3e}"));
        let (views, share) = (point.views, 100.0 * point.accuracy);
        format!("{views} {share:.2} % (C = {:.3e}{weight})", point.cost)
    });
    let shares = shares.collect::<Vec<_>>().join(", ");
    let best = found.into_iter().next().ok_or(Error::InvalidParameter {
        name: "the list of views",
        value: "empty".to_owned(),
        requirement: "one at least",
    })?;
    reporter.note(format!("chose the view {}: {shares}", best.best().views))?;
    Ok(best)
}

/// Judges views on some documents.
pub(crate) struct ViewSearch<'a> {
    pub train: &'a LabeledCorpus,
    pub class_weights: &'a ClassWeights,
    /// Positions in the corpus.
    pub rows: &'a [usize],
    /// They count positions among the rows.
    pub folds: &'a [Split],
    pub cache: &'a Cache,
}

impl ViewSearch<'_> {
    /// Meanings alone, around some C.
    pub fn meanings(
        &self,
        meanings: &Meanings,
        bias: f64,
        cost: f64,
        reporter: &Reporter,
    ) -> Result<ViewSurface> {
        let view = View {
            meanings: Some(meanings),
            words: None,
            bias,
        };
        let params = LinearSearchParams::default().costs(MEANINGS_COSTS.map(|c| c * cost));
        let found = self.surface(view, params, reporter)?;
        self.beyond_ends(found, view, &[STEP, 1.0 / STEP], reporter)
    }

    /// Words alone.
    pub fn words(&self, words: &WordsView, reporter: &Reporter) -> Result<ViewSurface> {
        let view = View {
            meanings: None,
            words: Some(words),
            bias: BIAS,
        };
        let params = LinearSearchParams::default().costs(WORDS_COSTS);
        self.surface(view, params, reporter)
    }

    /// Both, around the best C for meanings and for words.
    pub fn both(
        &self,
        meanings: &Meanings,
        words: &WordsView,
        costs: (f64, f64),
        reporter: &Reporter,
    ) -> Result<ViewSurface> {
        let view = View {
            meanings: Some(meanings),
            words: Some(words),
            bias: BIAS,
        };
        let unit = costs.0 / costs.1;
        let params = LinearSearchParams::default()
            .costs(BOTH_COSTS.map(|cost| cost * costs.1))
            .dense_weights(BOTH_WEIGHTS.map(|square| (square * unit).sqrt()));
        let found = self.surface(view, params, reporter)?;
        self.beyond_ends(found, view, &[1.0 / STEP, STEP], reporter)
    }

    /// The best point with fewer features, and with more weight of meanings.
    pub fn with_all_features(
        &self,
        meanings: &Meanings,
        words: Option<&WordsView>,
        bias: f64,
        best: &ViewPoint,
        reporter: &Reporter,
    ) -> Result<ViewSurface> {
        let view = View {
            meanings: Some(meanings),
            words,
            bias,
        };
        let found = self.surface(view, around(best, &LAST_SCALES), reporter)?;
        self.beyond_ends(found, view, &[STEP], reporter)
    }

    /// Goes on by each of some factors beyond what was tried, as long as the best point is the
    /// last in that direction.
    fn beyond_ends(
        &self,
        mut found: ViewSurface,
        view: View,
        factors: &[f64],
        reporter: &Reporter,
    ) -> Result<ViewSurface> {
        let place = |point: &ViewPoint| point.meanings_weight.unwrap_or(point.cost);
        for &factor in factors {
            for _ in 0..MOST_STEPS {
                let best = found.best();
                let is_beyond = |point| (place(point) - place(best)) * (factor - 1.0) > 0.0;
                if found.points.iter().any(is_beyond) {
                    break;
                }
                let params = around(best, &[factor]);
                found = found.with(self.surface(view, params, reporter)?);
            }
        }
        Ok(found)
    }

    /// Every point of a search, from the cache if it is there.
    fn surface(
        &self,
        view: View,
        params: LinearSearchParams,
        reporter: &Reporter,
    ) -> Result<ViewSurface> {
        let (views, bias) = (view.views(), view.bias);
        let View {
            meanings, words, ..
        } = view;
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let key = KeyBuilder::new("view-4")
            .with(|hash| hash.json(&(bits(&params.costs), bits(&params.dense_weights))))
            .with(|hash| hash.json(&class_weights_content(self.class_weights)))
            .numbers([TOLERANCE.to_bits(), bias.to_bits()].into_iter());
        let mut key = sample_content(self.rows, self.folds, self.train, key);
        if let Some(meanings) = meanings {
            key = key.bytes(&meanings.content);
        }
        if words.is_some() {
            // Terms and their frequencies are those of all training documents.
            let words = self.train.words().into_iter();
            key = words.fold(key, |key, words| key.bytes(words.as_bytes()));
        }
        let key = key.finish();
        let targets = self.train.targets(self.rows)?;
        let held_out_rows: Vec<usize> = self.folds.iter().flat_map(|f| f.test.clone()).collect();
        let n_points = params.costs.len() * params.dense_weights.len();
        let n_values = held_out_rows.len() * targets.n_machines();
        let kept = self.cache.get(&key)?;
        let kept = kept.and_then(|bytes| decode(&bytes, n_points, n_values));
        let (points, values) = match kept {
            Some(kept) => kept,
            None => {
                let n_machines = n_points * self.folds.len() * targets.n_machines();
                let name = format!("cross-validation, {}", name(views));
                reporter.stage(&name, n_machines as u64, "machines")?;
                let sparse = words.map(|words| words.features.gather(self.rows));
                let dense = meanings.map(Meanings::judged).transpose()?;
                let n = meanings.map_or(1, Meanings::n_features);
                let dense = dense.as_deref().map(|values| Features::new(values, n));
                let blocks = blocks(sparse.as_ref(), dense.transpose()?)?;
                let linear = linear(self.class_weights, bias).tolerance(TOLERANCE);
                let params = params.linear(linear).check()?;
                let observer = reporter.observer();
                let surface = search(&params, blocks, &targets, self.folds, &|n| {
                    observer(Event::Steps(n))
                })?;
                let points = surface.points().iter().map(|point| ViewPoint {
                    views,
                    meanings_weight: (views == Views::Both).then_some(point.dense_weight),
                    cost: point.cost,
                    accuracy: point.score,
                    deviation: point.deviation,
                });
                let found: (Vec<ViewPoint>, _) =
                    (points.collect(), surface.held_out_values().to_vec());
                self.cache.put(&key, &encode(&found.0, &found.1))?;
                found
            }
        };
        Ok(ViewSurface {
            best: best(&points),
            points,
            held_out: HeldOut {
                targets,
                positions: held_out_rows,
                values,
            },
        })
    }
}

/// Factors of the squared weight of meanings, or of C where there is none.
fn around(point: &ViewPoint, factors: &[f64]) -> LinearSearchParams {
    let params = LinearSearchParams::default();
    let times = |of: &dyn Fn(&f64) -> f64| factors.iter().map(of).collect::<Vec<f64>>();
    match point.meanings_weight {
        None => params.costs(times(&|factor| factor * point.cost)),
        Some(weight) => params
            .costs([point.cost])
            .dense_weights(times(&|square| weight * square.sqrt())),
    }
}

/// What settles class weights.
fn class_weights_content(weights: &ClassWeights) -> (&'static str, Vec<(usize, u64)>) {
    match weights {
        ClassWeights::Given(given) => {
            let bits = given
                .iter()
                .map(|&(class, weight)| (class, weight.to_bits()));
            ("given", bits.collect())
        }
        ClassWeights::Balanced => ("balanced", Vec::new()),
        _ => ("equal", Vec::new()),
    }
}

fn name(views: Views) -> &'static str {
    match views {
        Views::Meanings => "meanings",
        Views::Words => "words",
        Views::Both => "words and meanings",
    }
}

/// The best point, by the rule of the search itself.
fn best(points: &[ViewPoint]) -> usize {
    let mut best = 0;
    for (i, point) in points.iter().enumerate() {
        let other = &points[best];
        let is_better = point.accuracy > other.accuracy
            || (point.accuracy == other.accuracy && point.cost < other.cost);
        if is_better {
            best = i;
        }
    }
    best
}

/// The length of the points as JSON, the points, and the decision values.
fn encode(points: &[ViewPoint], values: &[f64]) -> Vec<u8> {
    let json = serde_json::to_vec(points).unwrap_or_default();
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend(json);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// What was encoded, if it is as much as it should be.
fn decode(bytes: &[u8], n_points: usize, n_values: usize) -> Option<(Vec<ViewPoint>, Vec<f64>)> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (json, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
    let points: Vec<ViewPoint> = serde_json::from_slice(json).ok()?;
    let (values, rest) = rest.as_chunks::<8>();
    let fits = points.len() == n_points && values.len() == n_values && rest.is_empty();
    let values = values.iter().map(|value| f64::from_le_bytes(*value));
    fits.then(|| (points, values.collect()))
}
