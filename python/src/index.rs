//! The search index that is kept in a folder.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wordmover::index::{self, Hit, IndexParams, NewDocument, SearchBy, SearchOptions};
use wordmover::{Error, Result, WordMoversEmbedding};

use crate::choices;
use crate::errors::to_python;
use crate::model::Model;
use crate::pool::{Monitor, run, run_borrowed};
use crate::texts;
use crate::vectors::PyWordVectors;

/// A search index of texts, open.
#[pyclass(frozen, module = "wordmover._native")]
pub struct SearchIndex {
    /// Locked only while attached to the interpreter and never while detaching from it, so that
    /// no child process finds it locked.
    open: Mutex<Arc<index::SearchIndex>>,
    /// Whether its place is nobody's business, in messages too.
    is_temporary: bool,
}

/// Id, text, score; distance, cosine, evidence of words, feedback; shared words.
type Found = (
    String,
    String,
    f64,
    (Option<f64>, Option<f64>, Option<f64>, Option<f64>),
    Vec<String>,
);

#[pymethods]
impl SearchIndex {
    /// Embeds texts by a model and makes their index in a temporary folder.
    #[staticmethod]
    #[pyo3(signature = (path: "str | os.PathLike[str]", model, texts, ids, *, max_words))]
    fn build(
        py: Python<'_>,
        path: PathBuf,
        model: &Bound<'_, Model>,
        texts: &Bound<'_, PyAny>,
        ids: Option<Vec<String>>,
        max_words: usize,
    ) -> PyResult<Self> {
        let documents = documents(texts, ids)?;
        let params = IndexParams::default().max_words(max_words);
        let model = WordMoversEmbedding::clone(&model.get().0);
        let built = run_borrowed(py, |monitor| {
            let progress = &mut |n| monitor.advance(n as u64);
            Ok(index::SearchIndex::build_with(
                &path, &params, model, &documents, progress,
            ))
        })?;
        Ok(SearchIndex {
            open: Mutex::new(Arc::new(built.map_err(of_temporary)?)),
            is_temporary: true,
        })
    }

    /// Opens an index of ours or of the program's.
    #[staticmethod]
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, vectors=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        vectors: Option<&Bound<'_, PyWordVectors>>,
    ) -> PyResult<Self> {
        let vectors = vectors.map(|vectors| vectors.get().0.clone());
        let opened = run(py, None, move |_| index::SearchIndex::open(&path, vectors))?;
        Ok(Self::kept(opened))
    }

    /// The same index in another folder.
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, replace))]
    fn copy_to(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<Self> {
        let index = self.current();
        let copied = run_borrowed(py, |monitor| {
            index.copy_to(&path, replace, &mut |n| monitor.advance(n as u64))
        })?;
        Ok(Self::kept(copied))
    }

    /// Adds texts.
    #[pyo3(signature = (texts, ids, *, replace))]
    fn add(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        ids: Option<Vec<String>>,
        replace: bool,
    ) -> PyResult<()> {
        let documents = documents(texts, ids)?;
        self.change(py, |index, monitor| {
            index.add_with(&documents, replace, &mut |n| monitor.advance(n as u64))
        })
    }

    /// Removes the texts with these ids or numbers.
    fn remove(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<()> {
        self.change(py, |index, _| index.remove(&ids))
    }

    /// Writes all texts anew, without those that were removed.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |index, _| index.compact())
    }

    /// Reads every file to its end and compares it with its checksum.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let index = self.current();
        run(py, None, move |_| index.verify())
    }

    /// The best texts for each query.
    #[pyo3(signature = (queries, *, k, by, n_candidates))]
    fn search(
        &self,
        py: Python<'_>,
        queries: &Bound<'_, PyAny>,
        k: usize,
        by: &str,
        n_candidates: usize,
    ) -> PyResult<Vec<Vec<Found>>> {
        let options = SearchOptions::default()
            .k(k)
            .by(choices::named::<SearchBy>("by", by)?)
            .n_candidates(n_candidates);
        let (index, queries) = (self.current(), texts::kept(queries)?);
        let found = run(py, None, move |monitor| {
            index.search_batch(&queries, &options, &mut |done| {
                monitor.advance(done.queries)
            })
        })?;
        let parts = |hit: Hit| {
            let of = hit.parts;
            let parts = (of.distance, of.cosine, of.words, of.feedback);
            (hit.id, hit.text, hit.score, parts, hit.words)
        };
        let each = found.into_iter();
        Ok(each
            .map(|hits| hits.into_iter().map(parts).collect())
            .collect())
    }

    /// The text with this id or number, if there is one.
    fn text(&self, id: &str) -> PyResult<Option<String>> {
        let index = self.current();
        let text = index.text(id).map_err(to_python)?;
        Ok(text.map(str::to_owned))
    }

    /// The number of texts.
    fn __len__(&self) -> usize {
        self.current().info().documents
    }

    /// Whether texts have ids that they came with, not numbers.
    #[getter]
    fn has_ids(&self) -> bool {
        self.current().info().has_ids
    }

    /// The folder.
    #[getter]
    fn path(&self) -> String {
        self.current().path().display().to_string()
    }

    /// What embeds its texts.
    #[getter]
    fn model(&self) -> Model {
        Model(Arc::new(self.current().model().clone()))
    }
}

impl SearchIndex {
    fn kept(index: index::SearchIndex) -> Self {
        SearchIndex {
            open: Mutex::new(Arc::new(index)),
            is_temporary: false,
        }
    }

    fn current(&self) -> Arc<index::SearchIndex> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone()
    }

    /// Changes the index. Searches that are under way go on with what they have. After an
    /// interrupt, the change was made as a whole or not at all.
    fn change(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut index::SearchIndex, &Monitor) -> Result<()> + Send,
    ) -> PyResult<()> {
        let before = self.current();
        let mut changed = None;
        let done = run_borrowed(py, |monitor| {
            let vectors = before.model().space().vectors().clone();
            let mut index = index::SearchIndex::open(before.path(), Some(vectors))?;
            let done = work(&mut index, monitor);
            changed = done.is_ok().then_some(index);
            Ok(done)
        });
        if let Some(changed) = changed {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have changed it since.
            if changed.info().generation > open.info().generation {
                *open = Arc::new(changed);
            }
        }
        done?.map_err(|error| match self.is_temporary {
            true => of_temporary(error),
            false => to_python(error),
        })
    }
}

/// Without the name of a folder that nobody chose.
fn of_temporary(error: Error) -> PyErr {
    match error {
        Error::InvalidIndex { problem, .. } => PyValueError::new_err(problem.to_string()),
        other => to_python(other),
    }
}

fn documents(texts: &Bound<'_, PyAny>, ids: Option<Vec<String>>) -> PyResult<Vec<NewDocument>> {
    let texts = texts::kept(texts)?;
    let Some(ids) = ids else {
        return Ok(texts.into_iter().map(NewDocument::numbered).collect());
    };
    if ids.len() != texts.len() {
        let (n, m) = (texts.len(), ids.len());
        let message = format!("{n} texts and {m} ids: they must be as many");
        return Err(PyValueError::new_err(message));
    }
    let each = ids.into_iter().zip(texts);
    Ok(each
        .map(|(id, text)| NewDocument::named(id, text))
        .collect())
}
