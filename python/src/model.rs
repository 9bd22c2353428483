//! The fitted embedding.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use wordmover::float_environment::IeeeArithmetic;
use wordmover::names::Named;
use wordmover::text::StopWords;
use wordmover::{ModelFile, WordMoversEmbedding, document::Document, embedding::Gamma};

use crate::choices;
use crate::device;
use crate::errors::to_python;
use crate::pool::{pool, run};
use crate::texts;
use crate::vectors::PyWordVectors;
use crate::words::{Bags, WordCounts};

/// A single document with at most so many features is embedded sooner than a thread wakes up.
const FEATURES_ON_CALLER: usize = 32;

/// A fitted Word Mover's Embedding.
#[pyclass(frozen, module = "wordmover._native")]
pub struct Model(pub Arc<WordMoversEmbedding>);

/// A matrix with a row for each document.
fn matrix<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    n_columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let n_rows = values.len() / n_columns;
    PyArray1::from_vec(py, values).reshape([n_rows, n_columns])
}

#[pymethods]
impl Model {
    /// Reads a model file and joins it with its word vectors.
    #[staticmethod]
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, vectors=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        vectors: Option<&Bound<'_, PyWordVectors>>,
    ) -> PyResult<Self> {
        let vectors = vectors.map(|vectors| vectors.get().0.clone());
        let model = run(py, None, move |_| {
            ModelFile::open(&path)?.with_vectors(vectors)
        })?;
        Ok(Model(Arc::new(model)))
    }

    /// The built-in model for English texts of any kind.
    #[staticmethod]
    fn general_purpose(py: Python<'_>) -> PyResult<Self> {
        let model = run(py, None, |_| WordMoversEmbedding::general_purpose())?;
        Ok(Model(Arc::new(model)))
    }

    /// The same model with its distances computed on "cpu", "cuda" or "auto".
    fn on_device(&self, device: &str) -> PyResult<Self> {
        let model = WordMoversEmbedding::clone(&self.0);
        Ok(Model(Arc::new(
            model.with_accelerator(device::open(device)?),
        )))
    }

    /// Writes the model file.
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, bundle_vectors))]
    fn save(&self, py: Python<'_>, path: PathBuf, bundle_vectors: bool) -> PyResult<()> {
        let model = self.0.clone();
        run(py, None, move |_| model.save(&path, bundle_vectors))
    }

    /// A pickle holds the model file and the vectors, which pickle shares with others.
    #[pyo3(signature = () -> "tuple[object, ...]")]
    #[expect(clippy::type_complexity, reason = "what pickle asks for")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, PyWordVectors))> {
        let (py, model) = (slf.py(), &slf.get().0);
        let vectors = PyWordVectors(model.space().vectors().clone());
        let bytes = model.to_bytes(false).map_err(to_python)?;
        let read = slf.get_type().getattr("_from_bytes")?;
        Ok((read, (PyBytes::new(py, &bytes), vectors)))
    }

    /// What pickles are read with.
    #[staticmethod]
    #[pyo3(signature = (content, vectors))]
    fn _from_bytes(content: &[u8], vectors: &Bound<'_, PyWordVectors>) -> PyResult<Self> {
        let file = ModelFile::from_bytes(content, "pickle").map_err(to_python)?;
        let model = file.with_vectors(Some(vectors.get().0.clone()));
        Ok(Model(Arc::new(model.map_err(to_python)?)))
    }

    /// Counts the known words of documents as the model was fitted to.
    fn count_words(&self, documents: &Bound<'_, PyAny>) -> PyResult<WordCounts> {
        let (tokenizer, vectors) = (self.0.documents().tokenizer(), self.0.documents().vectors());
        Ok(WordCounts(Arc::new(texts::count(
            documents, tokenizer, vectors,
        )?)))
    }

    /// Weighs counted words as the model was fitted to.
    fn bags(&self, py: Python<'_>, counts: &Bound<'_, WordCounts>) -> PyResult<Bags> {
        Bags::new(py, counts, self.0.documents())
    }

    /// Embeddings of few documents, a row for each, and whether each has no known word: one
    /// trip to the threads instead of four. Too short for an interrupt to matter.
    #[pyo3(signature = (documents) -> "tuple[numpy.typing.NDArray[numpy.float32], list[bool]]")]
    fn embed_few<'py>(
        &self,
        documents: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, Vec<bool>)> {
        let (py, model) = (documents.py(), &self.0);
        let counts = texts::count_few(
            documents,
            model.documents().tokenizer(),
            model.documents().vectors(),
        )?;
        let is_cpu = model.space().accelerator().is_none();
        let embedded = match &counts[..] {
            [counts] if is_cpu && model.n_features() <= FEATURES_ON_CALLER => py.detach(|| {
                let _ieee = IeeeArithmetic::enter();
                let bag = model.document(counts);
                Ok((model.embed_one(&bag)?, vec![bag.is_empty()]))
            }),
            _ => {
                let pool = pool(py)?;
                py.detach(|| {
                    pool.install(|| {
                        let bags = model.documents().documents(&counts);
                        let values = model.embed(&bags)?;
                        Ok((values, bags.iter().map(Document::is_empty).collect()))
                    })
                })
            }
        };
        let (values, empty) = embedded.map_err(to_python)?;
        Ok((matrix(py, values, model.n_features())?, empty))
    }

    /// Embeddings, a row for each bag.
    #[pyo3(signature = (bags, *, progress=None) -> "numpy.typing.NDArray[numpy.float32]")]
    fn embed<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, Bags>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (model, bags) = (self.0.clone(), bags.get().0.clone());
        let n_features = model.n_features();
        let values = run(py, progress, move |monitor| {
            let mut out = vec![0.0; bags.len() * n_features];
            model.embed_into(&bags, &mut out, &mut |done| monitor.advance(done.distances))?;
            Ok(out)
        })?;
        matrix(py, values, n_features)
    }

    /// Distances to the random documents, a row for each bag; infinite for empty bags.
    #[pyo3(signature = (bags, *, progress=None) -> "numpy.typing.NDArray[numpy.float32]")]
    fn distances<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, Bags>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (model, bags) = (self.0.clone(), bags.get().0.clone());
        let n_features = model.n_features();
        let values = run(py, progress, move |monitor| {
            let mut out = vec![0.0; bags.len() * n_features];
            model.distances_into(&bags, 0..n_features, &mut out, &mut |done| {
                monitor.advance(done.distances)
            })?;
            Ok(out)
        })?;
        matrix(py, values, n_features)
    }

    /// The embeddings that distances of this model make.
    #[pyo3(signature = (distances: "numpy.typing.NDArray[numpy.float32]") -> "numpy.typing.NDArray[numpy.float32]")]
    fn features<'py>(
        &self,
        py: Python<'py>,
        distances: PyReadonlyArray2<'py, f32>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let n_features = self.n_features();
        if distances.shape()[1] != n_features {
            return Err(PyValueError::new_err("distances of another model"));
        }
        let values = distances.as_slice()?;
        let (pool, model) = (pool(py)?, &self.0);
        let features = py.detach(|| pool.install(|| model.features_of(values)));
        matrix(py, features.map_err(to_python)?, n_features)
    }

    /// Names the distances from these bags to this model's random documents: equal names
    /// are equal distances. Gamma has no part in it.
    fn distances_key(&self, py: Python<'_>, bags: &Bound<'_, Bags>) -> String {
        let (model, bags) = (&self.0, &bags.get().0);
        py.detach(|| model.distances_key(bags))
    }

    /// Whether features are made of the distances that can be kept; not so for models of
    /// the first file versions.
    #[getter]
    fn shares_distances(&self) -> bool {
        self.0.shares_distances()
    }

    /// Number of features.
    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    /// The settled gamma; None if the features are distances.
    #[getter]
    fn gamma(&self) -> Option<f64> {
        self.0.gamma()
    }

    /// The word vectors it was fitted with.
    #[getter]
    fn vectors(&self) -> PyWordVectors {
        PyWordVectors(self.0.space().vectors().clone())
    }

    /// The parameters it was fitted with, as the estimator names them.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = self.0.params();
        let dict = PyDict::new(py);
        dict.set_item("n_features", params.n_features)?;
        dict.set_item("d_max", params.d_max)?;
        match params.gamma {
            Gamma::Value(gamma) => dict.set_item("gamma", gamma)?,
            Gamma::Auto => dict.set_item("gamma", "auto")?,
            _ => dict.set_item("gamma", py.None())?,
        }
        let documents = &params.documents;
        dict.set_item("weights", documents.bag.weighting.name())?;
        let normalization = choices::name_of_normalization(documents.normalization);
        dict.set_item("normalization", normalization)?;
        dict.set_item("metric", documents.metric.name())?;
        dict.set_item("random_words", params.random_words.name())?;
        dict.set_item("post_processing", params.post_processing.name())?;
        dict.set_item("components", params.components.to_string())?;
        dict.set_item("case", documents.tokenizer.case.name())?;
        match &documents.tokenizer.stop_words {
            StopWords::Smart => dict.set_item("stop_words", "smart")?,
            StopWords::Custom(words) => dict.set_item("stop_words", Vec::from_iter(words))?,
            _ => dict.set_item("stop_words", py.None())?,
        }
        let unknown = self.0.space().unknown();
        dict.set_item("unknown", unknown.name())?;
        dict.set_item("min_count", documents.bag.min_count)?;
        dict.set_item("max_words", documents.bag.max_words)?;
        dict.set_item("random_state", params.seed)?;
        Ok(dict)
    }
}
