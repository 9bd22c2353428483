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
pub struct WordCounts(pub Arc<Vec<wordmover::document::WordCounts>>);

type PyArray<'py, T> = Bound<'py, PyArray1<T>>;

/// The parts of a pickle: word ids, their counts, where each document ends in these; words
/// that the table lacks, their counts, where each document ends in these; and each document's
/// tokens that are known and unknown.
type Parts<'py> = (
    PyArray<'py, u32>,
    PyArray<'py, u32>,
    PyArray<'py, u64>,
    Vec<String>,
    PyArray<'py, u32>,
    PyArray<'py, u64>,
    PyArray<'py, u64>,
    PyArray<'py, u64>,
);

/// Where each document ends if its words are written one after the other.
fn ends_of(lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    let sums = lengths.scan(0, |end, length| {
        *end += length as u64;
        Some(*end)
    });
    sums.collect()
}

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
        let unknown = || all.iter().flat_map(|counts| &counts.unknown);
        let parts = (
            PyArray1::from_iter(py, words().map(|&(word, _)| word)),
            PyArray1::from_iter(py, words().map(|&(_, count)| count)),
            PyArray1::from_vec(py, ends_of(all.iter().map(|counts| counts.words.len()))),
            unknown().map(|(word, _)| String::from(&**word)).collect(),
            PyArray1::from_iter(py, unknown().map(|&(_, count)| count)),
            PyArray1::from_vec(py, ends_of(all.iter().map(|counts| counts.unknown.len()))),
            PyArray1::from_iter(py, all.iter().map(|counts| counts.n_known)),
            PyArray1::from_iter(py, all.iter().map(|counts| counts.n_unknown)),
        );
        Ok((slf.get_type().getattr("_from_parts")?, parts))
    }

    /// What pickles are read with.
    #[staticmethod]
    #[pyo3(signature = (words: "object", counts: "object", ends: "object", unknown: "object", unknown_counts: "object", unknown_ends: "object", n_known: "object", n_unknown: "object") -> "WordCounts")]
    #[expect(clippy::too_many_arguments, reason = "parts of a pickle")]
    fn _from_parts(
        words: PyReadonlyArray1<'_, u32>,
        counts: PyReadonlyArray1<'_, u32>,
        ends: PyReadonlyArray1<'_, u64>,
        unknown: Vec<String>,
        unknown_counts: PyReadonlyArray1<'_, u32>,
        unknown_ends: PyReadonlyArray1<'_, u64>,
        n_known: PyReadonlyArray1<'_, u64>,
        n_unknown: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let unknown: Vec<Box<str>> = unknown.into_iter().map(String::into_boxed_str).collect();
        let words = parts_of(words.as_slice()?, counts.as_slice()?, ends.as_slice()?);
        let unknown = parts_of(
            &unknown,
            unknown_counts.as_slice()?,
            unknown_ends.as_slice()?,
        );
        let (n_known, n_unknown) = (n_known.as_slice()?, n_unknown.as_slice()?);
        let n = n_known.len();
        let (Some(words), Some(unknown)) = (words, unknown) else {
            return Err(PyValueError::new_err("damaged pickle of counted words"));
        };
        if [words.len(), unknown.len(), n_unknown.len()] != [n; 3] {
            return Err(PyValueError::new_err("damaged pickle of counted words"));
        }
        let documents = words.into_iter().zip(unknown).zip(n_known).zip(n_unknown);
        let documents = documents.map(|(((words, unknown), &n_known), &n_unknown)| {
            wordmover::document::WordCounts {
                words,
                unknown,
                n_known,
                n_unknown,
            }
        });
        Ok(WordCounts(Arc::new(documents.collect())))
    }
}

/// Words and counts of each document, which ends where `ends` says.
fn parts_of<W: Clone>(words: &[W], counts: &[u32], ends: &[u64]) -> Option<Vec<Vec<(W, u32)>>> {
    let mut start = 0;
    let documents = ends.iter().map(|&end| {
        let range = start..usize::try_from(end).ok()?;
        start = range.end;
        let words = words.get(range.clone())?.iter().cloned();
        Some(words.zip(counts.get(range)?.iter().copied()).collect())
    });
    let documents: Option<Vec<_>> = documents.collect();
    documents.filter(|_| words.len() == counts.len())
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

/// The words of documents, in order and without stop words, as they would be counted.
#[pyfunction]
#[pyo3(signature = (documents, *, vectors, case, stop_words))]
pub fn words_of(
    documents: &Bound<'_, PyAny>,
    vectors: &Bound<'_, PyWordVectors>,
    case: &str,
    stop_words: &Bound<'_, PyAny>,
) -> PyResult<Vec<Vec<String>>> {
    let tokenizer = choices::tokenizer(case, stop_words)?;
    texts::words_of(documents, &tokenizer, &vectors.get().0)
}

/// The words of a list that are no stop words.
#[pyfunction]
#[pyo3(signature = (words, *, stop_words))]
pub fn without_stop_words(
    words: Vec<String>,
    stop_words: &Bound<'_, PyAny>,
) -> PyResult<Vec<String>> {
    let stop_words = choices::stop_words(stop_words)?;
    let kept = words.into_iter().filter(|word| !stop_words.contains(word));
    Ok(kept.collect())
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
