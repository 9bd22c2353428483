//! The Word Mover's Distance of two documents, and nearest neighbours under it.

use std::ops::ControlFlow;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use wordmover::document::CorpusCounts;
use wordmover::{BagRules, Document, WmdIndex, WordSpace, wmd};

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
#[pyo3(signature = (a, b, *, vectors, normalization, case, stop_words, return_plan))]
#[expect(clippy::too_many_arguments, reason = "they are keywords")]
pub fn word_movers_distance(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    vectors: &Bound<'_, PyWordVectors>,
    normalization: Option<&str>,
    case: &str,
    stop_words: &Bound<'_, PyAny>,
    return_plan: bool,
) -> PyResult<(f64, Option<Vec<Move>>)> {
    let vectors = &vectors.get().0;
    let tokenizer = choices::tokenizer(case, stop_words)?;
    let bag = |document: &Bound<'_, PyAny>, index, name| {
        let bag = match document.cast::<PyDict>() {
            Ok(weights) => weighted(weights, vectors)?,
            Err(_) => Document::nbow(&texts::count_one(document, index, &tokenizer, vectors)?),
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
    let normalization = choices::uncentered(normalization)?;
    let space = WordSpace::new(vectors.clone(), normalization, &[]).map_err(to_python)?;
    let is_long = a.len().saturating_mul(b.len()) > LONG;
    if !return_plan {
        let solve = move || wmd::distance(&space, &a, &b);
        let distance = if is_long {
            run(py, None, move |_| solve())?
        } else {
            py.detach(solve).map_err(to_python)?
        };
        return Ok((distance, None));
    }
    let solve = move || wmd::transport(&space, &a, &b);
    let plan = if is_long {
        run(py, None, move |_| solve())?
    } else {
        py.detach(solve).map_err(to_python)?
    };
    let named = plan.moves.iter().map(|step| {
        let word = |id| vectors.word(id).to_owned();
        (word(step.from), word(step.to), step.mass, step.cost)
    });
    Ok((plan.distance, Some(named.collect())))
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
    corpus: CorpusCounts,
    rules: BagRules,
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
        if max_words == 0 {
            return Err(PyValueError::new_err(
                "max_words is 0: it must be at least 1",
            ));
        }
        let rules = BagRules {
            weighting: choices::weighting(weights)?,
            min_count,
            max_words,
        };
        let normalization = choices::normalization(normalization)?;
        let mut corpus = CorpusCounts::default();
        for counts in counts.get().0.iter() {
            corpus.observe(counts);
        }
        let bags = Bags::new(py, counts, &corpus, &rules)?.0;
        if bags.iter().all(Document::is_empty) {
            let n_documents = bags.len() as u64;
            return Err(no_words(n_documents, min_count));
        }
        let vectors = vectors.get().0.clone();
        let mut words = corpus.words();
        words.retain(|&word| corpus.frequency(word).occurrences >= min_count);
        let index = run(py, None, move |_| {
            let space = WordSpace::new(vectors, normalization, &words)?;
            WmdIndex::new(space, Arc::unwrap_or_clone(bags))
        })?;
        Ok(Index {
            index: Arc::new(index),
            corpus,
            rules,
        })
    }

    /// Weighs other documents as those of the corpus.
    fn bags(&self, py: Python<'_>, counts: &Bound<'_, WordCounts>) -> PyResult<Bags> {
        Bags::new(py, counts, &self.corpus, &self.rules)
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
                &mut |done: &wordmover::SearchStatistics| monitor.advance(done.queries);
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
