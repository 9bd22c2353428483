//! The text classifier of `wordmover-classify`, and its file.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wordmover_classify::{Cache, CountedText, Error, Event, LabeledCorpus, Protocol};
use wordmover_classify::{TextClassifier, Views, WmeParams};
use wordmover_learn::linear::ClassWeights;

use crate::choices;
use crate::errors::{ModelError, to_python};
use crate::pool::{Monitor, run};
use crate::vectors::PyWordVectors;

/// A trained classifier of texts.
#[pyclass(frozen, module = "wordmover._native")]
pub struct Classifier(Arc<TextClassifier>);

/// The predicted class of each text, decision values and probabilities with a row for each
/// text and a column for each class, and which texts have no word to go by.
type Predictions<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Vec<bool>,
);

#[pymethods]
impl Classifier {
    /// Trains on texts with the names of their classes, and gives what there is to note too.
    #[staticmethod]
    #[pyo3(signature = (texts, labels, *, several_labels, vectors, protocol, views, n_features, case, stop_words, class_weights, is_balanced, n_folds, seed))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn train(
        py: Python<'_>,
        texts: Vec<String>,
        labels: Vec<Vec<String>>,
        several_labels: bool,
        vectors: &Bound<'_, PyWordVectors>,
        protocol: &str,
        views: &str,
        n_features: Option<usize>,
        case: &str,
        stop_words: &Bound<'_, PyAny>,
        class_weights: Option<Vec<(String, f64)>>,
        is_balanced: bool,
        n_folds: Option<usize>,
        seed: u64,
    ) -> PyResult<(Self, Vec<String>)> {
        let protocol = match protocol {
            "fast" => Protocol::Fast,
            "paper" => Protocol::Paper,
            other => return Err(not_one_of("protocol", other, "\"fast\" or \"paper\"")),
        };
        let mut params = WmeParams::new(protocol);
        if views != "auto" {
            let chosen = Views::ALL
                .into_iter()
                .find(|view| view.to_string() == views);
            let names = "\"auto\", \"both\", \"meanings\" or \"words\"";
            params.views = vec![chosen.ok_or_else(|| not_one_of("views", views, names))?];
        }
        let tokenizer = choices::tokenizer(case, stop_words)?;
        params.embedding.documents.tokenizer = tokenizer.clone();
        params.embedding.seed = seed;
        params.embedding.n_features = n_features.unwrap_or(params.embedding.n_features);
        params.n_folds = n_folds.unwrap_or(params.n_folds);
        let vectors = vectors.get().0.clone();
        let trained = run_classify(py, move |monitor| {
            let count = |text: &String| CountedText::from_text(text, &tokenizer, &vectors);
            let labeled = labels.into_iter().zip(texts.iter().map(count));
            let corpus = if several_labels {
                let labeled = labeled.collect();
                LabeledCorpus::with_label_sets(labeled, tokenizer.clone(), vectors.clone())?
            } else {
                let one = labeled.map(|(mut names, text)| (names.pop().unwrap_or_default(), text));
                LabeledCorpus::new(one.collect(), tokenizer.clone(), vectors.clone())?
            };
            if is_balanced {
                params.class_weights = ClassWeights::Balanced;
            } else if let Some(weights) = class_weights {
                let number = |name: &String| corpus.classes().binary_search(name).ok();
                let weights = weights
                    .iter()
                    .filter_map(|(name, weight)| Some((number(name)?, *weight)));
                params.class_weights = ClassWeights::Given(weights.collect());
            }
            let observer = |event: Event<'_>| {
                monitor.advance(match event {
                    Event::Steps(n) => n,
                    _ => 0,
                })
            };
            TextClassifier::train(&params, &corpus, &Cache::none(), &observer)
        })?;
        let (classifier, training) = trained;
        Ok((Classifier(Arc::new(classifier)), training.notes))
    }

    /// Reads a classifier file of ours or of the program's.
    #[staticmethod]
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, vectors=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        vectors: Option<&Bound<'_, PyWordVectors>>,
    ) -> PyResult<Self> {
        let vectors = vectors.map(|vectors| vectors.get().0.clone());
        let classifier = run_classify(py, move |_| TextClassifier::load(&path, vectors))?;
        Ok(Classifier(Arc::new(classifier)))
    }

    /// Writes the classifier file.
    #[pyo3(signature = (path: "str | os.PathLike[str]", *, bundle_vectors))]
    fn save(&self, py: Python<'_>, path: PathBuf, bundle_vectors: bool) -> PyResult<()> {
        let classifier = self.0.clone();
        run_classify(py, move |_| classifier.save(&path, bundle_vectors))
    }

    /// What the classifier says of texts.
    #[pyo3(signature = (texts) -> "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], list[bool]]")]
    fn predict<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Predictions<'py>> {
        let classifier = self.0.clone();
        let n_classes = classifier.classes().len();
        let predictions = run_classify(py, move |monitor| {
            let texts: Vec<_> = texts.iter().map(|text| classifier.count(text)).collect();
            let observer = |event: Event<'_>| {
                monitor.advance(match event {
                    Event::Steps(n) => n,
                    _ => 0,
                })
            };
            classifier.predict_counted(&texts, &observer)
        })?;
        let n_texts = predictions.len();
        let mut values = vec![0.0; n_texts * n_classes];
        let mut probabilities = vec![0.0; n_texts * n_classes];
        for (row, prediction) in predictions.iter().enumerate() {
            let at = row * n_classes..(row + 1) * n_classes;
            if let Some(given) = &prediction.decision_values {
                values[at.clone()].copy_from_slice(given);
            }
            match &prediction.probabilities {
                Some(given) => probabilities[at].copy_from_slice(given),
                None => probabilities[at.start + prediction.class] = 1.0,
            }
        }
        let classes = predictions.iter().map(|prediction| prediction.class as i64);
        Ok((
            PyArray1::from_iter(py, classes),
            PyArray1::from_vec(py, values).reshape([n_texts, n_classes])?,
            PyArray1::from_vec(py, probabilities).reshape([n_texts, n_classes])?,
            predictions
                .iter()
                .map(|prediction| prediction.decision_values.is_none())
                .collect(),
        ))
    }

    /// Names of the classes, by number.
    #[getter]
    fn classes(&self) -> Vec<&str> {
        self.0.classes().iter().map(String::as_str).collect()
    }

    /// Whether a text may have several classes.
    #[getter]
    fn has_several_labels(&self) -> bool {
        self.0.info().several_labels
    }

    /// Whether there are probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.0.has_probabilities()
    }

    /// What was chosen, as JSON.
    #[getter]
    fn choice(&self) -> PyResult<String> {
        let text = serde_json::to_string(self.0.choice());
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The word vectors it was trained with.
    #[getter]
    fn vectors(&self) -> PyWordVectors {
        PyWordVectors(self.0.embedding().space().vectors().clone())
    }

    /// A pickle holds the file and the vectors, which pickle shares with others.
    #[pyo3(signature = () -> "tuple[object, ...]")]
    #[expect(clippy::type_complexity, reason = "what pickle asks for")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, PyWordVectors))> {
        let (py, classifier) = (slf.py(), &slf.get().0);
        let bytes = classifier.to_bytes(false).map_err(of_classify)?;
        let read = slf.get_type().getattr("_from_bytes")?;
        Ok((read, (PyBytes::new(py, &bytes), slf.get().vectors())))
    }

    /// What pickles are read with.
    #[staticmethod]
    #[pyo3(signature = (content, vectors))]
    fn _from_bytes(content: &[u8], vectors: &Bound<'_, PyWordVectors>) -> PyResult<Self> {
        let vectors = Some(vectors.get().0.clone());
        let classifier = TextClassifier::from_bytes(content, "pickle", vectors);
        Ok(Classifier(Arc::new(classifier.map_err(of_classify)?)))
    }
}

fn run_classify<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Monitor) -> wordmover_classify::Result<T> + Send + 'static,
) -> PyResult<T> {
    let done = run(py, None, move |monitor| match work(monitor) {
        Err(Error::Interrupted) => Err(wordmover::Error::Interrupted),
        other => Ok(other),
    })?;
    done.map_err(of_classify)
}

fn of_classify(error: Error) -> PyErr {
    match error {
        Error::Text(error) => to_python(error),
        Error::InvalidClassifier { .. } => ModelError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

fn not_one_of(parameter: &str, given: &str, names: &str) -> PyErr {
    PyValueError::new_err(format!("{parameter} is {given:?}: it must be {names}"))
}
