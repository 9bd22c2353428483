//! Counted words, and the weighted bags they become.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wordmover::{Document, DocumentModel};

use crate::choices;
use crate::pool::pool;
use crate::texts;
use crate::vectors::PyWordVectors;

/// The known words of each document of a corpus and how often each occurs.
#[pyclass(frozen, module = "wordmover._native")]
pub struct WordCounts(pub Arc<Vec<wordmover::WordCounts>>);

type PyArray<'py, T> = Bound<'py, PyArray1<T>>;

/// The parts of a pickle: word ids, their counts, where each document ends in these, and
/// each document's tokens that are known and unknown.
type Parts<'py> = (
    PyArray<'py, u32>,
    PyArray<'py, u32>,
    PyArray<'py, u64>,
    PyArray<'py, u64>,
    PyArray<'py, u64>,
);

#[pymethods]
impl WordCounts {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Tokens the vectors know, and tokens they do not.
    #[getter]
    fn n_tokens(&self) -> (u64, u64) {
        let known = self.0.iter().map(|counts| counts.n_known).sum();
        (known, self.0.iter().map(|counts| counts.n_unknown).sum())
    }

    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (py, all) = (slf.py(), &slf.get().0);
        let words = || all.iter().flat_map(|counts| &counts.words);
        let mut end = 0;
        let ends = all.iter().map(|counts| {
            end += counts.words.len() as u64;
            end
        });
        let parts = (
            PyArray1::from_iter(py, words().map(|&(word, _)| word)),
            PyArray1::from_iter(py, words().map(|&(_, count)| count)),
            PyArray1::from_vec(py, ends.collect()),
            PyArray1::from_iter(py, all.iter().map(|counts| counts.n_known)),
            PyArray1::from_iter(py, all.iter().map(|counts| counts.n_unknown)),
        );
        Ok((slf.get_type().getattr("_from_parts")?, parts))
    }

    /// What pickles are read with.
    #[staticmethod]
    #[pyo3(signature = (words: "object", counts: "object", ends: "object", n_known: "object", n_unknown: "object") -> "WordCounts")]
    fn _from_parts(
        words: PyReadonlyArray1<'_, u32>,
        counts: PyReadonlyArray1<'_, u32>,
        ends: PyReadonlyArray1<'_, u64>,
        n_known: PyReadonlyArray1<'_, u64>,
        n_unknown: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let damaged = || PyValueError::new_err("damaged pickle of counted words");
        let (words, counts) = (words.as_slice()?, counts.as_slice()?);
        let (n_known, n_unknown) = (n_known.as_slice()?, n_unknown.as_slice()?);
        let ends = ends.as_slice()?;
        if words.len() != counts.len() || [n_known.len(), n_unknown.len()] != [ends.len(); 2] {
            return Err(damaged());
        }
        let mut start = 0;
        let mut all = Vec::with_capacity(ends.len());
        for (index, &end) in ends.iter().enumerate() {
            let range = start..end as usize;
            let (Some(words), Some(counts)) = (words.get(range.clone()), counts.get(range)) else {
                return Err(damaged());
            };
            all.push(wordmover::WordCounts {
                words: words.iter().copied().zip(counts.iter().copied()).collect(),
                n_known: n_known[index],
                n_unknown: n_unknown[index],
            });
            start = end as usize;
        }
        Ok(WordCounts(Arc::new(all)))
    }
}

/// Counts the words of documents.
#[pyfunction]
#[pyo3(signature = (documents, *, vectors, case, stop_words))]
pub fn count_words(
    documents: &Bound<'_, PyAny>,
    vectors: &Bound<'_, PyWordVectors>,
    case: &str,
    stop_words: &Bound<'_, PyAny>,
) -> PyResult<WordCounts> {
    let tokenizer = choices::tokenizer(case, stop_words)?;
    let counts = texts::count(documents, &tokenizer, &vectors.get().0)?;
    Ok(WordCounts(Arc::new(counts)))
}

/// Weighted bags of words: what the transport needs of documents.
#[pyclass(frozen, module = "wordmover._native")]
pub struct Bags(pub Arc<Vec<Document>>);

impl Bags {
    /// Weighs every document's counts.
    pub fn new(
        py: Python<'_>,
        counts: &Bound<'_, WordCounts>,
        model: &DocumentModel,
    ) -> PyResult<Self> {
        let counts = &counts.get().0;
        let pool = pool(py)?;
        let bags = py.detach(|| pool.install(|| model.documents(counts)));
        Ok(Bags(Arc::new(bags)))
    }
}

#[pymethods]
impl Bags {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Which documents have no word.
    #[getter]
    fn empty<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        PyArray1::from_iter(py, self.0.iter().map(Document::is_empty))
    }
}
