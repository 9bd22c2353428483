//! `WordVectors`: the table that gives each word its point in space.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString, PyType};
use wordmover::vectors::Precision;

use crate::errors::to_python;
use crate::pool::{pool, run};
use crate::texts::kind_of;

/// Words and their vectors, all of one dimension. It does not change.
///
/// Made by `WordVectors.builtin()`, `.load(path)`, `.from_arrays(words, matrix)` or
/// `.from_gensim(keyed_vectors)`. `len(vectors)`, `"word" in vectors` and
/// `vectors["word"]` work as expected. Nothing is normalised, lower-cased or repaired.
#[pyclass(frozen, module = "wordmover", name = "WordVectors")]
pub struct PyWordVectors(pub Arc<wordmover::WordVectors>);

#[pymethods]
impl PyWordVectors {
    /// The built-in table: 81,000 words and word pieces in 160 dimensions,
    /// distilled from MiniLM; words that it lacks are composed of pieces.
    #[staticmethod]
    #[pyo3(signature = () -> "WordVectors")]
    fn builtin() -> Self {
        PyWordVectors(Arc::new(wordmover::WordVectors::builtin()))
    }

    /// Opens a file of word vectors: word2vec (binary or text), GloVe, fastText `.vec` and `.bin`, or
    /// our native form, also gzipped, told apart by content. The native form is mapped
    /// into memory and opens in milliseconds.
    ///
    /// `limit`: keep only the first so many words.
    #[staticmethod]
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, limit=None) -> "WordVectors")]
    fn load(py: Python<'_>, path: PathBuf, limit: Option<usize>) -> PyResult<Self> {
        let open = move |_: &_| wordmover::WordVectors::open(&path, limit);
        Ok(PyWordVectors(Arc::new(run(py, None, open)?)))
    }

    /// A table of `words` and a float32 or float64 `matrix` with a row for each.
    #[staticmethod]
    #[pyo3(signature = (words: "collections.abc.Iterable[str]", matrix: "numpy.typing.ArrayLike", *, name="arrays") -> "WordVectors")]
    fn from_arrays(
        words: &Bound<'_, PyAny>,
        matrix: &Bound<'_, PyAny>,
        name: &str,
    ) -> PyResult<Self> {
        let py = words.py();
        if words.is_instance_of::<PyString>() || words.try_iter().is_err() {
            let message = format!("words is {}: it must be a list of str", kind_of(words));
            return Err(PyTypeError::new_err(message));
        }
        let words: Vec<String> = words
            .try_iter()?
            .map(|word| {
                let word = word?;
                word.extract().map_err(|_| {
                    PyTypeError::new_err(format!("a word is {}, not a str", kind_of(&word)))
                })
            })
            .collect::<PyResult<_>>()?;
        let matrix = py
            .import("numpy")?
            .call_method1("asarray", (matrix, "float32"))?;
        let Ok(matrix) = matrix.extract::<PyReadonlyArray2<'_, f32>>() else {
            return Err(PyValueError::new_err(
                "the matrix must have two dimensions: a row for each word",
            ));
        };
        let dim = matrix.shape()[1];
        let values: Vec<f32> = matrix.as_array().iter().copied().collect();
        let table = wordmover::WordVectors::from_rows(name, words, values, dim);
        Ok(PyWordVectors(Arc::new(table.map_err(to_python)?)))
    }

    /// The table of gensim's `KeyedVectors`, or of a model that has them as `.wv`.
    #[staticmethod]
    #[pyo3(signature = (keyed_vectors) -> "WordVectors")]
    fn from_gensim(keyed_vectors: &Bound<'_, PyAny>) -> PyResult<Self> {
        let wv = keyed_vectors.getattr_opt("wv")?;
        let keyed_vectors = wv.as_ref().unwrap_or(keyed_vectors);
        let parts = keyed_vectors
            .getattr("index_to_key")
            .and_then(|words| Ok((words, keyed_vectors.getattr("vectors")?)));
        let Ok((words, matrix)) = parts else {
            return Err(PyTypeError::new_err(format!(
                "expected gensim's KeyedVectors, found {}",
                kind_of(keyed_vectors)
            )));
        };
        Self::from_arrays(&words, &matrix, "gensim")
    }

    /// Writes the native form; `precision` is "f32", "f16" or "int8", and that of the
    /// table if not given.
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, precision=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, precision: Option<&str>) -> PyResult<()> {
        let precision = match precision {
            None => self.0.precision(),
            Some(name) => name
                .parse::<Precision>()
                .map_err(|error| PyValueError::new_err(error.to_string()))?,
        };
        let vectors = self.0.clone();
        run(py, None, move |_| vectors.save(&path, precision))
    }

    /// The number of values in each vector.
    #[getter]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// What the table is called: its file's name, or "minilm-160d-81k".
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// How values are stored: "f32", "f16" or "int8".
    #[getter]
    fn precision(&self) -> &str {
        self.0.precision().as_str()
    }

    /// SHA-256 of words and values.
    #[getter]
    fn checksum(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.checksum().to_owned())
    }

    /// All words, in the order of the file.
    #[getter]
    fn words(&self) -> Vec<&str> {
        self.0.words().collect()
    }

    /// The `k` words of greatest cosine similarity to a word, with that similarity.
    #[pyo3(signature = (word, *, k=10))]
    fn nearest(&self, py: Python<'_>, word: &str, k: usize) -> PyResult<Vec<(String, f32)>> {
        let id = self.id(word)?;
        let vectors = self.0.clone();
        let pool = pool(py)?;
        let nearest = py.detach(|| pool.install(|| vectors.nearest(&vectors.vector(id), k, &[id])));
        let named = nearest
            .into_iter()
            .map(|(id, similarity)| (self.0.word(id).to_owned(), similarity));
        Ok(named.collect())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The words, in the order of the file.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.0.words())?.try_iter()
    }

    fn __contains__(&self, word: &Bound<'_, PyAny>) -> bool {
        word.extract::<&str>()
            .is_ok_and(|word| self.0.id(word).is_some())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, word: &str) -> PyResult<Bound<'py, PyArray1<f32>>> {
        Ok(PyArray1::from_vec(py, self.0.vector(self.id(word)?)))
    }

    fn __repr__(&self) -> String {
        let (name, len, dim) = (self.0.name(), self.0.len(), self.0.dim());
        format!("<WordVectors {name}: {len} x {dim}>")
    }

    /// It never changes, so a copy may be the same.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (_memo, /))]
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Pickles hold the words and values, those of the built-in table its name alone.
    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, vectors) = (slf.py(), slf.get().0.clone());
        let class = slf.get_type();
        if vectors.name() == BUILTIN {
            let builtin = wordmover::WordVectors::builtin();
            if builtin.checksum() == vectors.checksum() {
                let arguments = pyo3::types::PyTuple::empty(py).into_any();
                return Ok((class.getattr("builtin")?, arguments));
            }
        }
        let name = vectors.name().to_owned();
        let precision = vectors.precision();
        let bytes = run(py, None, move |_| vectors.to_native_bytes(precision))?;
        let arguments = (PyBytes::new(py, &bytes), name).into_pyobject(py)?;
        Ok((class.getattr("_from_native_bytes")?, arguments.into_any()))
    }

    /// What pickles are read with.
    #[classmethod]
    #[pyo3(signature = (content, name) -> "WordVectors")]
    fn _from_native_bytes(
        _class: &Bound<'_, PyType>,
        content: &[u8],
        name: &str,
    ) -> PyResult<Self> {
        let table = wordmover::WordVectors::from_bytes(content.to_vec(), name);
        Ok(PyWordVectors(Arc::new(table.map_err(to_python)?)))
    }
}

/// What the built-in table is called.
const BUILTIN: &str = "minilm-160d-81k";

impl PyWordVectors {
    fn id(&self, word: &str) -> PyResult<u32> {
        self.0
            .id(word)
            .ok_or_else(|| PyKeyError::new_err(word.to_owned()))
    }
}
