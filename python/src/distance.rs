//! The Word Mover's Distance of two documents, and nearest neighbours under it.

use std::ops::ControlFlow;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use wordmover::space::{Metric, UnknownWords};
use wordmover::transport::Amount;
use wordmover::{
    Document, DocumentModel, Error, Weighting, WmdIndex,
    document_model::{DocumentFitter, DocumentParams},
    wmd,
};

use crate::choices;
use crate::errors::{no_words, to_python};
use crate::pool::run;
use crate::texts;
use crate::transport::LONG;
use crate::vectors::PyWordVectors;
use crate::words::{Bags, WordCounts};

/// Word, word, mass and cost.
type Move = (String, String, f64, f64);

type PyMatrix<'py, T> = Bound<'py, PyArray2<T>>;

/// The distance of two documents, and its plan if asked for.
#[pyfunction]
#[pyo3(signature = (a, b, *, vectors, normalization, metric, case, stop_words, mass, penalty, return_plan))]
#[expect(clippy::too_many_arguments, reason = "they are keywords")]
pub fn word_movers_distance(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    vectors: &Bound<'_, PyWordVectors>,
    normalization: Option<&str>,
    metric: &str,
    case: &str,
    stop_words: &Bound<'_, PyAny>,
    mass: Option<f64>,
    penalty: Option<f64>,
    return_plan: bool,
) -> PyResult<(f64, Option<Vec<Move>>)> {
    let amount = amount(mass, penalty)?;
    let vectors = &vectors.get().0;
    let params = DocumentParams::default()
        .tokenizer(choices::tokenizer(case, stop_words)?)
        .normalization(choices::uncentered(normalization)?)
        .metric(choices::named::<Metric>("metric", metric)?);
    let model = every_word(params, vectors)?;
    let bag = |document: &Bound<'_, PyAny>, index, name| {
        let bag = match document.cast::<PyDict>() {
            Ok(weights) => weighted(weights, vectors)?,
            Err(_) => {
                let counts = texts::count_one(document, index, model.tokenizer(), vectors)?;
                model.document(&counts)
            }
        };
        if bag.is_empty() {
            let message = format!("{name} has no word that the vectors know: it has no distance");
            return Err(PyValueError::new_err(message));
        }
        Ok(bag)
    };
    let (a, b) = (
        bag(a, 0, "the first document")?,
        bag(b, 1, "the second document")?,
    );
    let space = model.space().clone();
    let is_long = a.len().saturating_mul(b.len()) > LONG;
    if !return_plan {
        let solve = move || match amount {
            None => wmd::distance(&space, &a, &b),
            Some(amount) => Ok(wmd::partial_transport(&space, &a, &b, amount)?.distance),
        };
        let distance = if is_long {
            run(py, None, move |_| solve())?
        } else {
            py.detach(solve).map_err(to_python)?
        };
        return Ok((distance, None));
    }
    let texts = [&a, &b].map(|document| -> Vec<String> {
        let words = document.words().map(|word| word.text(vectors).to_owned());
        words.collect()
    });
    let solve = move || match amount {
        None => wmd::transport(&space, &a, &b).map(|plan| (plan.distance, plan.moves)),
        Some(amount) => {
            wmd::partial_transport(&space, &a, &b, amount).map(|plan| (plan.distance, plan.moves))
        }
    };
    let (distance, moves) = if is_long {
        run(py, None, move |_| solve())?
    } else {
        py.detach(solve).map_err(to_python)?
    };
    let named = moves.iter().map(|step| {
        let [from, to] = [&texts[0][step.from as usize], &texts[1][step.to as usize]];
        (from.clone(), to.clone(), step.mass, step.cost)
    });
    Ok((distance, Some(named.collect())))
}

/// How much of the mass moves, unless it is all of it.
pub fn amount(mass: Option<f64>, penalty: Option<f64>) -> PyResult<Option<Amount>> {
    match (mass, penalty) {
        (Some(_), Some(_)) => Err(PyValueError::new_err(
            "mass and penalty cannot be given together",
        )),
        (Some(mass), None) => Ok(Some(Amount::Mass(mass))),
        (None, penalty) => Ok(penalty.map(Amount::Penalty)),
    }
}

/// The distance of two lists of words, of which vectors know some.
pub fn distance_of_words(
    py: Python<'_>,
    vectors: &Arc<wordmover::WordVectors>,
    a: &[String],
    b: &[String],
    norm: bool,
) -> PyResult<f64> {
    let normalization = choices::uncentered(norm.then_some("unit"))?;
    // gensim drops words that it does not know.
    let params = DocumentParams::default().unknown(UnknownWords::Skip);
    let model = every_word(params.normalization(normalization), vectors)?;
    let [a, b] = [a, b].map(|words| {
        let words = words.iter().map(String::as_str);
        model.document(&wordmover::document::WordCounts::from_tokens(
            words, vectors,
        ))
    });
    let space = model.space().clone();
    if a.len().saturating_mul(b.len()) > LONG {
        return run(py, None, move |_| wmd::distance(&space, &a, &b));
    }
    py.detach(|| wmd::distance(&space, &a, &b))
        .map_err(to_python)
}

/// Documents by themselves, with all their words.
fn every_word(
    mut params: DocumentParams,
    vectors: &Arc<wordmover::WordVectors>,
) -> PyResult<DocumentModel> {
    params.bag.max_words = 1 << 24;
    DocumentModel::without_corpus(params, vectors.clone()).map_err(to_python)
}

/// All distances between documents, a row for each of the first and a column for each of the
/// second; without second ones among the first, each pair computed once. Infinite where a
/// document has no known word.
#[pyfunction]
#[pyo3(signature = (first, second=None, *, vectors, normalization, progress=None) -> "numpy.typing.NDArray[numpy.float64]")]
pub fn pairwise_distances<'py>(
    py: Python<'py>,
    first: &Bound<'py, WordCounts>,
    second: Option<&Bound<'py, WordCounts>>,
    vectors: &Bound<'py, PyWordVectors>,
    normalization: Option<&str>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<PyMatrix<'py, f64>> {
    let params = DocumentParams::default().normalization(choices::uncentered(normalization)?);
    let model = every_word(params, &vectors.get().0)?;
    let (first, second) = (
        first.get().0.clone(),
        second.map(|counts| counts.get().0.clone()),
    );
    let n_columns = second.as_ref().map_or(first.len(), |second| second.len());
    let n_rows = first.len();
    let values = run(py, progress, move |monitor| {
        let rows = model.documents(&first);
        let columns = second.map(|second| model.documents(&second));
        let is_symmetric = columns.is_none();
        let columns = columns.as_deref().unwrap_or(&rows);
        let distance = |row: usize, column: usize| {
            if rows[row].is_empty() || columns[column].is_empty() {
                return Ok(f64::INFINITY);
            }
            let distance = wmd::distance(model.space(), &rows[row], &columns[column])?;
            match monitor.advance(1) {
                ControlFlow::Continue(()) => Ok(distance),
                ControlFlow::Break(()) => Err(Error::Interrupted),
            }
        };
        let mut values = vec![0.0; n_rows * n_columns];
        let each = values.par_chunks_mut(n_columns.max(1)).enumerate();
        each.try_for_each(|(row, values)| {
            let begin = if is_symmetric { row + 1 } else { 0 };
            let rest = values[begin..].par_iter_mut().enumerate();
            rest.try_for_each(|(i, value)| {
                *value = distance(row, begin + i)?;
                Ok::<(), Error>(())
            })
        })?;
        if is_symmetric {
            for row in 0..n_rows {
                for column in 0..row {
                    values[row * n_columns + column] = values[column * n_columns + row];
                }
            }
        }
        Ok(values)
    })?;
    PyArray1::from_vec(py, values).reshape([n_rows, n_columns])
}

/// A bag whose weights the caller has chosen; unknown words may not be among them, since
/// leaving them out would change the others' shares.
fn weighted(weights: &Bound<'_, PyDict>, vectors: &wordmover::WordVectors) -> PyResult<Document> {
    let mut words = Vec::with_capacity(weights.len());
    for (word, weight) in weights {
        let Ok(word) = word.extract::<String>() else {
            let message = format!("a weighted word is {}, not a str", texts::kind_of(&word));
            return Err(PyTypeError::new_err(message));
        };
        let Some(id) = vectors.id(&word) else {
            let message = format!("the vectors do not know the weighted word {word:?}");
            return Err(PyValueError::new_err(message));
        };
        let Ok(number) = weight.extract::<f64>() else {
            let kind = texts::kind_of(&weight);
            let message = format!("the weight of {word:?} is {kind}, not a number");
            return Err(PyTypeError::new_err(message));
        };
        if !(number >= 0.0 && number.is_finite()) {
            let message =
                format!("the weight of {word:?} is {number}, not a finite number of at least zero");
            return Err(PyValueError::new_err(message));
        }
        words.push((id, number));
    }
    Document::from_weights(words).map_err(to_python)
}

/// A corpus to search for nearest neighbours.
#[pyclass(frozen, module = "wordmover._native")]
pub struct Index {
    index: Arc<WmdIndex>,
    model: Arc<DocumentModel>,
}

#[pymethods]
impl Index {
    /// Weighs the documents and gathers their words' vectors.
    #[new]
    #[pyo3(signature = (counts, *, vectors, weights, normalization, min_count, max_words))]
    fn new(
        py: Python<'_>,
        counts: &Bound<'_, WordCounts>,
        vectors: &Bound<'_, PyWordVectors>,
        weights: &str,
        normalization: Option<&str>,
        min_count: u64,
        max_words: usize,
    ) -> PyResult<Self> {
        let mut params = DocumentParams::default()
            .weighting(choices::named::<Weighting>("weights", weights)?)
            .normalization(choices::normalization(normalization)?);
        params.bag.min_count = min_count;
        params.bag.max_words = max_words;
        let params = params.check().map_err(to_python)?;
        let vectors = vectors.get().0.clone();
        let counts = counts.get().0.clone();
        let built = run(py, None, move |_| {
            // SIF weights take the probabilities of the corpus.
            let mut fitter = DocumentFitter::new(params, vectors).word_probabilities(None);
            counts.iter().for_each(|counts| fitter.observe(counts));
            let model = match fitter.finish() {
                Err(Error::EmptyCorpus { n_documents }) => return Ok(Err(n_documents)),
                model => model?,
            };
            let index = WmdIndex::new(model.space().clone(), model.documents(&counts))?;
            Ok(Ok((index, model)))
        })?;
        let (index, model) = built.map_err(|n_documents| no_words(n_documents, min_count))?;
        Ok(Index {
            index: Arc::new(index),
            model: Arc::new(model),
        })
    }

    /// Weighs other documents as those of the corpus.
    fn bags(&self, py: Python<'_>, counts: &Bound<'_, WordCounts>) -> PyResult<Bags> {
        Bags::new(py, counts, &self.model)
    }

    /// Distances and positions of the `k` nearest documents of each query, the nearest
    /// first; where there are fewer, infinity and -1.
    #[pyo3(signature = (queries, *, k, progress=None) -> "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]")]
    fn search<'py>(
        &self,
        py: Python<'py>,
        queries: &Bound<'py, Bags>,
        k: usize,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(PyMatrix<'py, f64>, PyMatrix<'py, i64>)> {
        let (index, queries) = (self.index.clone(), queries.get().0.clone());
        let n_queries = queries.len();
        let found = run(py, progress, move |monitor| {
            let advance: &mut dyn FnMut(&_) -> ControlFlow<()> =
                &mut |done: &wordmover::neighbors::SearchStatistics| monitor.advance(done.queries);
            index.search_batch(&queries, k, advance)
        })?;
        let mut distances = vec![f64::INFINITY; n_queries * k];
        let mut positions = vec![-1; n_queries * k];
        for (query, neighbors) in found.iter().enumerate() {
            for (rank, neighbor) in neighbors.iter().enumerate() {
                distances[query * k + rank] = neighbor.distance;
                positions[query * k + rank] = neighbor.index as i64;
            }
        }
        let distances = PyArray1::from_vec(py, distances).reshape([n_queries, k])?;
        Ok((
            distances,
            PyArray1::from_vec(py, positions).reshape([n_queries, k])?,
        ))
    }
}
