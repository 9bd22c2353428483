//! A corpus on its way to a model, and the distances that any gamma needs.

use std::sync::Arc;

use pyo3::prelude::*;
use wordmover::{EmbeddingParams, Error};

use crate::choices;
use crate::errors::{no_words, to_python};
use crate::model::Model;
use crate::pool::run;
use crate::vectors::PyWordVectors;
use crate::words::WordCounts;

/// Counted words and parameters, ready to fit a model.
#[pyclass(frozen, module = "wordmover._native")]
pub struct Fitter {
    fitter: Arc<wordmover::Fitter>,
    min_count: u64,
}

#[pymethods]
impl Fitter {
    /// Takes note of the corpus.
    #[new]
    #[pyo3(signature = (counts, *, vectors, n_features, d_max, gamma, weights, normalization, random_words, finish, components, case, stop_words, min_count, max_words, seed))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        py: Python<'_>,
        counts: &Bound<'_, WordCounts>,
        vectors: &Bound<'_, PyWordVectors>,
        n_features: usize,
        d_max: usize,
        gamma: &Bound<'_, PyAny>,
        weights: &str,
        normalization: Option<&str>,
        random_words: &str,
        finish: &str,
        components: &str,
        case: &str,
        stop_words: &Bound<'_, PyAny>,
        min_count: u64,
        max_words: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let mut params = EmbeddingParams::default()
            .n_features(n_features)
            .d_max(d_max)
            .gamma(choices::gamma(gamma)?)
            .weighting(choices::weighting(weights)?)
            .normalization(choices::normalization(normalization)?)
            .random_words(choices::random_words(random_words)?)
            .finish(choices::finish(finish)?)
            .components(choices::components(components)?)
            .tokenizer(choices::tokenizer(case, stop_words)?)
            .seed(seed);
        params.bag.min_count = min_count;
        params.bag.max_words = max_words;
        let params = params.check().map_err(to_python)?;
        let (counts, vectors) = (counts.get().0.clone(), vectors.get().0.clone());
        let fitter = run(py, None, move |_| {
            let mut fitter = wordmover::Fitter::new(params, vectors);
            for counts in counts.iter() {
                fitter.observe(counts);
            }
            Ok(fitter)
        })?;
        Ok(Fitter {
            fitter: Arc::new(fitter),
            min_count,
        })
    }

    /// Names the distances that fitting computes: equal names are equal distances. Gamma
    /// has no part in it.
    #[getter]
    fn distances_key(&self, py: Python<'_>) -> String {
        py.detach(|| self.fitter.distances_key())
    }

    /// Computes the distances that fitting needs.
    fn distances(&self, py: Python<'_>) -> PyResult<FitDistances> {
        let fitter = self.fitter.clone();
        let distances = run(py, None, move |monitor| {
            match fitter.distances(&mut |done| monitor.advance(done.distances)) {
                Err(Error::EmptyCorpus { n_documents }) => Ok(Err(n_documents)),
                other => other.map(Ok),
            }
        })?;
        match distances {
            Ok(distances) => Ok(FitDistances(Arc::new(distances))),
            Err(n_documents) => Err(no_words(n_documents, self.min_count)),
        }
    }

    /// The model; computes no distance.
    fn finish(&self, py: Python<'_>, distances: &Bound<'_, FitDistances>) -> PyResult<Model> {
        let (fitter, distances) = (self.fitter.clone(), distances.get().0.clone());
        let model = run(py, None, move |_| {
            wordmover::Fitter::clone(&fitter).finish_with(&distances)
        })?;
        Ok(Model(Arc::new(model)))
    }
}

/// The distances that fitting computes.
#[pyclass(frozen, module = "wordmover._native")]
pub struct FitDistances(Arc<wordmover::FitDistances>);

#[pymethods]
impl FitDistances {
    /// Memory they take, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.n_bytes()
    }
}
