//! A corpus on its way to a model: drawing, then scaling by gamma.

use std::sync::Arc;

use pyo3::prelude::*;
use wordmover::{
    EmbeddingParams, Error, Weighting, embedding::PostProcessing, random_documents::RandomWords,
    space::Metric,
};

use crate::choices;
use crate::device;
use crate::errors::{no_words, to_python};
use crate::model::Model;
use crate::pool::run;
use crate::vectors::PyWordVectors;
use crate::words::WordCounts;

/// Counted words and parameters, ready to fit a model.
#[pyclass(frozen, module = "wordmover._native")]
pub struct Fitter {
    fitter: Arc<wordmover::embedding::Fitter>,
    min_count: u64,
}

#[pymethods]
impl Fitter {
    /// Takes note of the corpus.
    #[new]
    #[pyo3(signature = (counts, *, vectors, n_features, d_max, weights, normalization, random_words, metric, post_processing, components, case, stop_words, unknown, min_count, max_words, seed, device))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        py: Python<'_>,
        counts: &Bound<'_, WordCounts>,
        vectors: &Bound<'_, PyWordVectors>,
        n_features: usize,
        d_max: usize,
        weights: &str,
        normalization: Option<&str>,
        random_words: &str,
        metric: &str,
        post_processing: &str,
        components: &str,
        case: &str,
        stop_words: &Bound<'_, PyAny>,
        unknown: Option<&str>,
        min_count: u64,
        max_words: usize,
        seed: u64,
        device: &str,
    ) -> PyResult<Self> {
        let mut params = EmbeddingParams::default()
            .n_features(n_features)
            .d_max(d_max)
            .weighting(choices::named::<Weighting>("weights", weights)?)
            .normalization(choices::normalization(normalization)?)
            .random_words(choices::named::<RandomWords>("random_words", random_words)?)
            .post_processing(choices::named::<PostProcessing>(
                "post_processing",
                post_processing,
            )?)
            .components(choices::components(components)?)
            .tokenizer(choices::tokenizer(case, stop_words)?)
            .seed(seed);
        params.documents.metric = choices::named::<Metric>("metric", metric)?;
        params.documents.unknown = choices::unknown(unknown)?;
        params.documents.bag.min_count = min_count;
        params.documents.bag.max_words = max_words;
        let params = params.check().map_err(to_python)?;
        let device = device::open(device)?;
        let (counts, vectors) = (counts.get().0.clone(), vectors.get().0.clone());
        let fitter = run(py, None, move |_| {
            let mut fitter = wordmover::embedding::Fitter::new(params, vectors).accelerator(device);
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

    /// Names what drawing computes: equal names are equal results. Gamma is not part of it.
    #[getter]
    fn key(&self, py: Python<'_>) -> String {
        py.detach(|| self.fitter.key())
    }

    /// How many distances drawing computes.
    #[getter]
    fn n_distances(&self) -> u64 {
        self.fitter.n_distances()
    }

    /// Draws random documents and computes the distances that fitting needs.
    #[pyo3(signature = (*, progress=None))]
    fn draw(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Drawn> {
        let fitter = self.fitter.clone();
        let drawn = run(py, progress, move |monitor| {
            let fitter = wordmover::embedding::Fitter::clone(&fitter);
            match fitter.draw(&mut |done| monitor.advance(done.distances)) {
                Err(Error::EmptyCorpus { n_documents }) => Ok(Err(n_documents)),
                other => other.map(Ok),
            }
        })?;
        match drawn {
            Ok(drawn) => Ok(Drawn(Arc::new(drawn))),
            Err(n_documents) => Err(no_words(n_documents, self.min_count)),
        }
    }
}

/// An embedding without its gamma.
#[pyclass(frozen, module = "wordmover._native")]
pub struct Drawn(Arc<wordmover::embedding::DrawnEmbedding>);

#[pymethods]
impl Drawn {
    /// The model of a gamma; computes no distance.
    fn scale(&self, py: Python<'_>, gamma: &Bound<'_, PyAny>) -> PyResult<Model> {
        let (drawn, gamma) = (self.0.clone(), choices::gamma(gamma)?);
        let model = run(py, None, move |_| drawn.scale(gamma))?;
        Ok(Model(Arc::new(model)))
    }

    /// Memory it takes, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.n_bytes()
    }
}
