//! Sets of points, distances between series and strings, and kernels, as Python gives them.

use std::sync::Arc;

use numpy::PyUntypedArrayMethods;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use wordmover::Error;
use wordmover::d2ke;
use wordmover::embedding::{Gamma, WordMoversKernel};
use wordmover::names::Named;
use wordmover::points::{PointSetEmbedding, PointSetParams, PointSets, RandomPoints};
use wordmover::space::Metric;

use crate::choices;
use crate::errors::to_python;
use crate::model::Model;
use crate::pool::{Monitor, run};
use crate::words::Bags;

type Points<'py> = PyReadonlyArray2<'py, f32>;
type Series<'py> = PyReadonlyArray2<'py, f64>;
type Offsets<'py> = PyReadonlyArray1<'py, i64>;
type Weights<'py> = PyReadonlyArray1<'py, f64>;
type PyMatrix<'py, T> = Bound<'py, PyArray2<T>>;

/// The parts of a pickle: parameters, gamma, dimension, lengths of the random sets, their points.
type Parts<'py> = (
    (
        usize,
        usize,
        Option<f64>,
        bool,
        &'static str,
        &'static str,
        u64,
    ),
    Option<f64>,
    usize,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f32>>,
);

/// Where sets begin and end among points.
fn ranges(offsets: &Offsets<'_>, n_points: usize) -> PyResult<Vec<(usize, usize)>> {
    let offsets = offsets.as_slice()?;
    let fits = offsets.first() == Some(&0)
        && offsets.last() == Some(&(n_points as i64))
        && offsets.is_sorted();
    if !fits {
        return Err(PyValueError::new_err(format!(
            "offsets must ascend from 0 to the number of points, {n_points}"
        )));
    }
    let pairs = offsets.windows(2);
    Ok(pairs
        .map(|pair| (pair[0] as usize, pair[1] as usize))
        .collect())
}

fn sets(
    points: &Points<'_>,
    offsets: &Offsets<'_>,
    weights: Option<&Weights<'_>>,
) -> PyResult<PointSets> {
    let [n_points, dim] = *points.shape() else {
        unreachable!("two dimensions")
    };
    let weights = weights.map(|weights| weights.as_slice()).transpose()?;
    if let Some(weights) = weights
        && weights.len() != n_points
    {
        return Err(PyValueError::new_err(format!(
            "there are {} weights for {n_points} points",
            weights.len()
        )));
    }
    let points = points.as_slice()?;
    let mut sets = PointSets::new(dim).map_err(to_python)?;
    for (start, end) in ranges(offsets, n_points)? {
        let weights = weights.map(|weights| &weights[start..end]);
        let pushed = sets.push(&points[start * dim..end * dim], weights);
        pushed.map_err(to_python)?;
    }
    Ok(sets)
}

/// A matrix with so many columns.
fn matrix<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    shape: [usize; 2],
) -> PyResult<PyMatrix<'_, T>> {
    PyArray1::from_vec(py, values).reshape(shape)
}

/// A fitted embedding of sets of points.
#[pyclass(frozen, module = "wordmover._native")]
pub struct PointModel(Arc<PointSetEmbedding>);

#[pymethods]
impl PointModel {
    /// Draws random sets around the given ones.
    #[staticmethod]
    #[pyo3(signature = (points: "numpy.typing.NDArray[numpy.float32]", offsets: "numpy.typing.NDArray[numpy.int64]", weights: "numpy.typing.NDArray[numpy.float64] | None", *, n_features, d_max, gamma: "object", random_points, metric, seed))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn fit(
        py: Python<'_>,
        points: Points<'_>,
        offsets: Offsets<'_>,
        weights: Option<Weights<'_>>,
        n_features: usize,
        d_max: usize,
        gamma: &Bound<'_, PyAny>,
        random_points: &str,
        metric: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let params = PointSetParams {
            n_features,
            d_max,
            gamma: choices::gamma(gamma)?,
            random_points: choices::named::<RandomPoints>("random_points", random_points)?,
            metric: choices::named::<Metric>("metric", metric)?,
            seed,
        };
        let sets = sets(&points, &offsets, weights.as_ref())?;
        let model = run(py, None, move |monitor| {
            PointSetEmbedding::fit_with(params, &sets, &mut |done| monitor.advance(done.distances))
        })?;
        Ok(PointModel(Arc::new(model)))
    }

    /// The features of sets, a row for each.
    #[pyo3(signature = (points: "numpy.typing.NDArray[numpy.float32]", offsets: "numpy.typing.NDArray[numpy.int64]", weights: "numpy.typing.NDArray[numpy.float64] | None", *, progress=None) -> "numpy.typing.NDArray[numpy.float32]")]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        points: Points<'py>,
        offsets: Offsets<'py>,
        weights: Option<Weights<'py>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyMatrix<'py, f32>> {
        let sets = sets(&points, &offsets, weights.as_ref())?;
        let (model, n) = (self.0.clone(), self.0.n_features());
        let n_sets = sets.len();
        let rows = run(py, progress, move |monitor| {
            let mut out = vec![0.0; n_sets * n];
            let advance = &mut |done: &wordmover::embedding::EmbeddingStatistics| {
                monitor.advance(done.distances)
            };
            model.transform_into(&sets, &mut out, advance)?;
            Ok(out)
        })?;
        matrix(py, rows, [n_sets, n])
    }

    #[getter]
    fn gamma(&self) -> Option<f64> {
        self.0.gamma()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    #[getter]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (py, model) = (slf.py(), &slf.get().0);
        let params = model.params();
        let random = model.random_sets();
        let lengths = (0..random.len()).map(|j| random.document_len(j) as u32);
        let points = (0..random.len()).flat_map(|j| random.words(j)).copied();
        let (given, is_auto) = match params.gamma {
            Gamma::Value(gamma) => (Some(gamma), false),
            Gamma::Auto => (None, true),
            _ => (None, false),
        };
        let params = (
            params.n_features,
            params.d_max,
            given,
            is_auto,
            params.random_points.name(),
            params.metric.name(),
            params.seed,
        );
        let parts = (
            params,
            model.gamma(),
            model.dim(),
            PyArray1::from_iter(py, lengths),
            PyArray1::from_iter(py, points),
        );
        Ok((slf.get_type().getattr("_from_parts")?, parts))
    }

    /// What pickles are read with.
    #[staticmethod]
    #[pyo3(signature = (params: "object", gamma, dim, lengths: "object", points: "object") -> "PointModel")]
    fn _from_parts(
        params: (usize, usize, Option<f64>, bool, String, String, u64),
        gamma: Option<f64>,
        dim: usize,
        lengths: PyReadonlyArray1<'_, u32>,
        points: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Self> {
        let (n_features, d_max, given, is_auto, random_points, metric, seed) = params;
        let params = PointSetParams {
            n_features,
            d_max,
            gamma: match given {
                Some(gamma) => Gamma::Value(gamma),
                None if is_auto => Gamma::Auto,
                None => Gamma::None,
            },
            random_points: choices::named::<RandomPoints>("random_points", &random_points)?,
            metric: choices::named::<Metric>("metric", &metric)?,
            seed,
        };
        let points = points.as_slice()?.to_vec();
        let model = PointSetEmbedding::from_parts(params, gamma, dim, lengths.as_slice()?, points);
        Ok(PointModel(Arc::new(model.map_err(to_python)?)))
    }
}

/// Exact Wasserstein distances between sets of points.
#[pyfunction]
#[pyo3(signature = (points: "numpy.typing.NDArray[numpy.float32]", offsets: "numpy.typing.NDArray[numpy.int64]", weights: "numpy.typing.NDArray[numpy.float64] | None", other_points: "numpy.typing.NDArray[numpy.float32]", other_offsets: "numpy.typing.NDArray[numpy.int64]", other_weights: "numpy.typing.NDArray[numpy.float64] | None", *, metric) -> "numpy.typing.NDArray[numpy.float64]")]
#[expect(clippy::too_many_arguments, reason = "two times three arrays")]
pub fn point_distances<'py>(
    py: Python<'py>,
    points: Points<'py>,
    offsets: Offsets<'py>,
    weights: Option<Weights<'py>>,
    other_points: Points<'py>,
    other_offsets: Offsets<'py>,
    other_weights: Option<Weights<'py>>,
    metric: &str,
) -> PyResult<PyMatrix<'py, f64>> {
    let metric = choices::named::<Metric>("metric", metric)?;
    let first = sets(&points, &offsets, weights.as_ref())?;
    let second = sets(&other_points, &other_offsets, other_weights.as_ref())?;
    let shape = [first.len(), second.len()];
    let values = run(py, None, move |monitor| {
        // A row at a time, so that an interrupt is seen.
        let mut values = Vec::with_capacity(shape[0] * shape[1]);
        for set in 0..first.len() {
            let mut one = PointSets::new(first.dim())?;
            one.push(first.points(set), Some(first.weights(set)))?;
            values.extend(one.distances(&second, metric)?);
            if monitor.advance(1).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(values)
    })?;
    matrix(py, values, shape)
}

/// All distances of first to second objects, row by row; stops when told to.
fn all_distances<'py, A: Sync + Send + 'static, B: Sync + Send + 'static>(
    py: Python<'py>,
    first: Vec<A>,
    second: Vec<B>,
    distance: impl Fn(&A, &B) -> f64 + Send + Sync + 'static,
) -> PyResult<PyMatrix<'py, f64>> {
    let shape = [first.len(), second.len()];
    let values = run(py, None, move |monitor: &Monitor| {
        let row = |a: &A| -> wordmover::Result<Vec<f64>> {
            let row = second.iter().map(|b| match monitor.advance(1).is_break() {
                true => Err(Error::Interrupted),
                false => Ok(distance(a, b)),
            });
            row.collect()
        };
        let rows: Vec<Vec<f64>> = first
            .par_iter()
            .map(row)
            .collect::<wordmover::Result<_>>()?;
        Ok(rows.concat())
    })?;
    matrix(py, values, shape)
}

/// Edit distances between strings.
#[pyfunction]
#[pyo3(signature = (first, second) -> "numpy.typing.NDArray[numpy.float64]")]
pub fn edit_distances<'py>(
    py: Python<'py>,
    first: Vec<String>,
    second: Vec<String>,
) -> PyResult<PyMatrix<'py, f64>> {
    all_distances(py, first, second, |a: &String, b: &String| {
        d2ke::edit_distance(a, b)
    })
}

/// Distances between series or sets of points: dynamic time warping, or Hausdorff's.
#[pyfunction]
#[pyo3(signature = (kind, points: "numpy.typing.NDArray[numpy.float64]", offsets: "numpy.typing.NDArray[numpy.int64]", other_points: "numpy.typing.NDArray[numpy.float64]", other_offsets: "numpy.typing.NDArray[numpy.int64]", *, window=None) -> "numpy.typing.NDArray[numpy.float64]")]
pub fn series_distances<'py>(
    py: Python<'py>,
    kind: &str,
    points: Series<'py>,
    offsets: Offsets<'py>,
    other_points: Series<'py>,
    other_offsets: Offsets<'py>,
    window: Option<usize>,
) -> PyResult<PyMatrix<'py, f64>> {
    let dim = points.shape()[1];
    if other_points.shape()[1] != dim || dim == 0 {
        let message = "both sides need points of the same dimension";
        return Err(PyValueError::new_err(message));
    }
    let cut = |points: &Series<'_>, offsets: &Offsets<'_>| -> PyResult<Vec<Vec<f64>>> {
        let ranges = ranges(offsets, points.shape()[0])?;
        let points = points.as_slice()?;
        let each = ranges.into_iter();
        Ok(each
            .map(|(start, end)| points[start * dim..end * dim].to_vec())
            .collect())
    };
    let (first, second) = (cut(&points, &offsets)?, cut(&other_points, &other_offsets)?);
    match kind {
        "dtw" => all_distances(py, first, second, move |a: &Vec<f64>, b: &Vec<f64>| {
            d2ke::dtw(a, b, dim, window)
        }),
        _ => all_distances(py, first, second, move |a: &Vec<f64>, b: &Vec<f64>| {
            d2ke::hausdorff(a, b, dim)
        }),
    }
}

/// The kernel of a model between documents, its standard errors, whether it is exact, and gamma.
#[pyfunction]
#[pyo3(signature = (model, first, second) -> "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], bool, float]")]
pub fn document_kernel<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    first: &Bound<'py, Bags>,
    second: &Bound<'py, Bags>,
) -> PyResult<(PyMatrix<'py, f64>, PyMatrix<'py, f64>, bool, f64)> {
    let model = model.get().0.clone();
    let (first, second) = (first.get().0.clone(), second.get().0.clone());
    let shape = [first.len(), second.len()];
    let found = run(py, None, move |_| {
        WordMoversKernel::new(&model)?.matrix(&first, &second)
    })?;
    Ok((
        matrix(py, found.values, shape)?,
        matrix(py, found.errors, shape)?,
        found.is_exact,
        found.gamma,
    ))
}
