//! `WordVectors`: the table that gives each word its point in space.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple, PyType};
use wordmover::vectors::Precision;

use crate::errors::to_python;
use crate::pool::{pool, run};
use crate::texts::kind_of;

/// Words and their vectors, all of one dimension. It does not change.
///
/// Made by `WordVectors.builtin()`, `.load(path)`, `.from_arrays(words, matrix)` or
/// `.from_gensim(keyed_vectors)`. `len(vectors)`, `"word" in vectors` and
/// `vectors["word"]` work as expected, and so do gensim's names: `most_similar`,
/// `key_to_index`, `index_to_key`, `vectors`, `similarity`, `wmdistance`. Nothing is
/// normalised, lower-cased or repaired.
///
/// Examples
/// --------
/// >>> from wordmover import WordVectors
/// >>> vectors = WordVectors.from_arrays(["cat", "dog"], [[1.0, 0.0], [0.0, 1.0]])
/// >>> vectors["dog"].tolist(), "cat" in vectors, len(vectors)
/// ([0.0, 1.0], True, 2)
/// >>> builtin = WordVectors.builtin()
/// >>> "guitars" in [word for word, _ in builtin.most_similar("guitar", topn=5)]
/// True
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

    /// Opens a file of word vectors: word2vec (binary or text), GloVe, fastText `.vec` or
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
        self.nearest_to(py, self.0.vector(id), k, vec![id])
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

    /// The vector of a word, or of a list of words a matrix with a row for each.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        word: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(word) = word.cast::<PyString>() {
            let row = self.0.vector(self.id(word.to_str()?)?);
            return Ok(PyArray1::from_vec(py, row).into_any());
        }
        if !(word.is_instance_of::<PyList>() || word.is_instance_of::<PyTuple>()) {
            let message = format!("a word is {}, not a str", kind_of(word));
            return Err(PyTypeError::new_err(message));
        }
        let mut rows = Vec::new();
        for word in word.try_iter()? {
            let word = word?;
            let Ok(word) = word.cast::<PyString>() else {
                let message = format!("a word is {}, not a str", kind_of(&word));
                return Err(PyTypeError::new_err(message));
            };
            rows.extend(self.0.vector(self.id(word.to_str()?)?));
        }
        let n_rows = rows.len() / self.0.dim();
        let rows = PyArray1::from_vec(py, rows).reshape([n_rows, self.0.dim()])?;
        Ok(rows.into_any())
    }

    /// gensim's name for `words`.
    #[getter]
    fn index_to_key(&self) -> Vec<&str> {
        self.words()
    }

    /// Positions of the words in `words`.
    #[getter]
    fn key_to_index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let positions = PyDict::new(py);
        for (position, word) in self.0.words().enumerate() {
            positions.set_item(word, position)?;
        }
        Ok(positions)
    }

    /// All vectors: a matrix of float32 with a row for each of `words`, made anew.
    #[getter]
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (n_rows, dim) = (self.0.len(), self.0.dim());
        let values = py.detach(|| {
            let mut values = vec![0.0; n_rows * dim];
            for (id, row) in (0..).zip(values.chunks_exact_mut(dim)) {
                self.0.copy_vector(id, row);
            }
            values
        });
        PyArray1::from_vec(py, values).reshape([n_rows, dim])
    }

    /// gensim's name for `dim`.
    #[getter]
    fn vector_size(&self) -> usize {
        self.0.dim()
    }

    /// Whether the word has a vector.
    fn has_index_for(&self, key: &Bound<'_, PyAny>) -> bool {
        self.__contains__(key)
    }

    /// The vector of a word; with `norm` at length 1.
    #[pyo3(signature = (key, norm=false) -> "numpy.typing.NDArray[numpy.float32]")]
    fn get_vector<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        norm: bool,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let id = self.id(key)?;
        let row = if norm {
            self.unit(id)
        } else {
            self.0.vector(id)
        };
        Ok(PyArray1::from_vec(py, row))
    }

    /// The cosine of two words.
    fn similarity(&self, w1: &str, w2: &str) -> PyResult<f32> {
        let (a, b) = (self.unit(self.id(w1)?), self.unit(self.id(w2)?));
        Ok(a.iter().zip(&b).map(|(x, y)| x * y).sum())
    }

    /// One less the cosine of two words.
    fn distance(&self, w1: &str, w2: &str) -> PyResult<f32> {
        Ok(1.0 - self.similarity(w1, w2)?)
    }

    /// The `topn` words most similar to the sum of `positive` words less `negative` ones, with
    /// their cosines. Each is a word, which counts at length 1, a vector, which counts as it
    /// is, or a pair of either and a weight. The words themselves are left out.
    #[pyo3(signature = (positive: "object"=None, negative: "object"=None, topn=10))]
    fn most_similar(
        &self,
        py: Python<'_>,
        positive: Option<&Bound<'_, PyAny>>,
        negative: Option<&Bound<'_, PyAny>>,
        topn: usize,
    ) -> PyResult<Vec<(String, f32)>> {
        let mut query = vec![0.0; self.0.dim()];
        let mut excluded = Vec::new();
        for (keys, sign) in [(positive, 1.0), (negative, -1.0)] {
            let Some(keys) = keys else { continue };
            if keys.is_instance_of::<PyString>() || keys.getattr_opt("ndim")?.is_some() {
                self.add_key(keys, sign, &mut query, &mut excluded)?;
                continue;
            }
            for key in keys.try_iter()? {
                self.add_key(&key?, sign, &mut query, &mut excluded)?;
            }
        }
        if query.iter().all(|&value| value == 0.0) {
            let message = "most_similar needs a word or vector other than zero";
            return Err(PyValueError::new_err(message));
        }
        self.nearest_to(py, query, topn, excluded)
    }

    /// The `topn` words most similar to a word, with their cosines.
    #[pyo3(signature = (key, topn=10))]
    fn similar_by_word(
        &self,
        py: Python<'_>,
        key: &str,
        topn: usize,
    ) -> PyResult<Vec<(String, f32)>> {
        self.nearest(py, key, topn)
    }

    /// The `topn` words most similar to a vector, with their cosines.
    #[pyo3(signature = (vector: "numpy.typing.ArrayLike", topn=10))]
    fn similar_by_vector(
        &self,
        vector: &Bound<'_, PyAny>,
        topn: usize,
    ) -> PyResult<Vec<(String, f32)>> {
        self.nearest_to(vector.py(), self.row_of(vector)?, topn, Vec::new())
    }

    /// The exact Word Mover's Distance of two lists of words, by vectors of length 1 unless
    /// `norm` is false; infinite if one has no known word. `wordmover.wmd` takes texts.
    #[pyo3(signature = (document1: "collections.abc.Sequence[str]", document2: "collections.abc.Sequence[str]", norm=true))]
    fn wmdistance(
        slf: &Bound<'_, Self>,
        document1: Vec<String>,
        document2: Vec<String>,
        norm: bool,
    ) -> PyResult<f64> {
        let vectors = &slf.get().0;
        let is_empty = |words: &[String]| words.iter().all(|word| vectors.id(word).is_none());
        if is_empty(&document1) || is_empty(&document2) {
            return Ok(f64::INFINITY);
        }
        crate::distance::distance_of_words(slf.py(), vectors, &document1, &document2, norm)
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
    /// Adds a word, a vector, or a pair of either and a weight to a query.
    fn add_key(
        &self,
        key: &Bound<'_, PyAny>,
        sign: f64,
        query: &mut [f32],
        excluded: &mut Vec<u32>,
    ) -> PyResult<()> {
        let pair = key.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
        let (key, weight) = match pair {
            Some(pair) if pair.get_item(1)?.cast::<PyString>().is_err() => (
                pair.get_item(0)?,
                sign * pair.get_item(1)?.extract::<f64>()?,
            ),
            _ => (key.clone(), sign),
        };
        let row = if let Ok(word) = key.cast::<PyString>() {
            let id = self.id(word.to_str()?)?;
            excluded.push(id);
            self.unit(id)
        } else {
            self.row_of(&key)?
        };
        for (sum, value) in query.iter_mut().zip(row) {
            *sum += (weight * f64::from(value)) as f32;
        }
        Ok(())
    }

    /// A vector of the table's dimension.
    fn row_of(&self, values: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
        let row: Vec<f32> = values.extract().map_err(|_| {
            let found = kind_of(values);
            PyTypeError::new_err(format!("expected a word or a vector, found {found}"))
        })?;
        if row.len() != self.0.dim() {
            return Err(PyValueError::new_err(format!(
                "a vector of {} values, where the words have {}",
                row.len(),
                self.0.dim()
            )));
        }
        Ok(row)
    }

    fn unit(&self, id: u32) -> Vec<f32> {
        let mut row = self.0.vector(id);
        to_unit_length(&mut row);
        row
    }

    fn nearest_to(
        &self,
        py: Python<'_>,
        query: Vec<f32>,
        k: usize,
        excluded: Vec<u32>,
    ) -> PyResult<Vec<(String, f32)>> {
        let (vectors, pool) = (&self.0, pool(py)?);
        let nearest = py.detach(|| pool.install(|| vectors.nearest(&query, k, &excluded)));
        let named = nearest
            .into_iter()
            .map(|(id, similarity)| (vectors.word(id).to_owned(), similarity));
        Ok(named.collect())
    }

    fn id(&self, word: &str) -> PyResult<u32> {
        self.0
            .id(word)
            .ok_or_else(|| PyKeyError::new_err(word.to_owned()))
    }
}

/// Divides a vector by its length; one of zeros stays.
fn to_unit_length(row: &mut [f32]) {
    let squares = row.iter().map(|&value| f64::from(value) * f64::from(value));
    let length = squares.sum::<f64>().sqrt();
    if length > 0.0 {
        for value in row {
            *value = (f64::from(*value) / length) as f32;
        }
    }
}
