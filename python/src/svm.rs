//! The linear SVMs of `wordmover-learn`.

use numpy::PyUntypedArrayMethods;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wordmover_learn::linear::ClassWeights;
use wordmover_learn::{Error, FeatureBlocks, Features, LinearClassifier, LinearParams};
use wordmover_learn::{LinearSvm, Stop, SvmParams, Targets};

use crate::pool::{Monitor, pool, run};

type PyMatrix<'py> = Bound<'py, PyArray2<f64>>;
type PyVector<'py> = Bound<'py, PyArray1<f64>>;

/// A row of weights for each machine, their intercepts, the greatest number of passes or
/// steps, and whether all converged.
type Fitted<'py> = (PyMatrix<'py>, PyVector<'py>, usize, bool);

/// Fits on rows of features and classes numbered from 0, all of which occur. Machine `k` is
/// that of class `k` against the rest, or for two classes the only one, positive for class 1.
#[pyfunction]
#[pyo3(signature = (rows: "numpy.typing.NDArray[numpy.float32]", classes: "numpy.typing.NDArray[numpy.int64]", *, cost, tolerance, max_epochs, bias, standardize, row_weights: "numpy.typing.NDArray[numpy.float64] | None", class_weights) -> "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], int, bool]")]
#[expect(clippy::too_many_arguments, reason = "they are keywords")]
pub fn fit_svm<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f32>,
    classes: PyReadonlyArray1<'py, i64>,
    cost: f64,
    tolerance: f64,
    max_epochs: usize,
    bias: Option<f64>,
    standardize: bool,
    row_weights: Option<PyReadonlyArray1<'py, f64>>,
    class_weights: Option<Vec<(usize, f64)>>,
) -> PyResult<Fitted<'py>> {
    let n_columns = rows.shape()[1];
    // Copies, so that the caller can leave.
    let values = rows.as_slice()?.to_vec();
    let labels = labels_of(&classes)?;
    let row_weights = match &row_weights {
        Some(weights) => Some(weights.as_slice()?.to_vec()),
        None => None,
    };
    let params = LinearParams::default()
        .cost(cost)
        .tolerance(tolerance)
        .max_epochs(max_epochs)
        .bias(bias)
        .standardize(standardize)
        .class_weights(class_weights.map_or(ClassWeights::Equal, ClassWeights::Given));
    let fit = move |monitor: &Monitor| {
        let params = params.check()?;
        let mut targets = Targets::one_each(&labels)?;
        if let Some(weights) = row_weights {
            targets = targets.weighted(&weights)?;
        }
        let features = FeatureBlocks::dense(Features::new(&values, n_columns)?);
        LinearClassifier::fit_with_progress(&params, features, &targets, &|| monitor.advance(0))
    };
    let svm = interruptibly(py, fit)?;
    let n_machines = svm.n_machines();
    // The only machine of two classes speaks for the first.
    let sign = if n_machines == 1 { -1.0 } else { 1.0 };
    let weights = (0..n_machines).flat_map(|machine| svm.weights(machine));
    let weights: Vec<f64> = weights.map(|weight| sign * weight).collect();
    let intercepts = svm.intercepts().iter().map(|intercept| sign * intercept);
    Ok((
        PyArray1::from_vec(py, weights).reshape([n_machines, n_columns])?,
        PyArray1::from_iter(py, intercepts),
        svm.fits().iter().map(|fit| fit.n_epochs).max().unwrap_or(0),
        svm.converged(),
    ))
}

/// [`fit_svm`] with LIBLINEAR's `-s 2` and its bits, which is the paper's machine.
#[pyfunction]
#[pyo3(signature = (rows: "numpy.typing.NDArray[numpy.float32]", classes: "numpy.typing.NDArray[numpy.int64]", *, cost, tolerance, bias, standardize) -> "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], int, bool]")]
pub fn fit_svm_of_paper<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f32>,
    classes: PyReadonlyArray1<'py, i64>,
    cost: f64,
    tolerance: f64,
    bias: Option<f64>,
    standardize: bool,
) -> PyResult<Fitted<'py>> {
    let n_columns = rows.shape()[1];
    let values = rows.as_slice()?.to_vec();
    let labels = labels_of(&classes)?;
    let params = SvmParams::default()
        .cost(cost)
        .tolerance(tolerance)
        .bias(bias)
        .standardize(standardize);
    let fit = move |monitor: &Monitor| {
        let features = Features::new(&values, n_columns)?;
        LinearSvm::fit_with_progress(params, features, &labels, &|| monitor.advance(0))
    };
    let svm = interruptibly(py, fit)?;
    let (mut weights, mut intercepts) = (Vec::new(), Vec::new());
    if svm.n_machines() == 1 {
        let sign = if svm.classes()[0] == 1 { 1.0 } else { -1.0 };
        weights.extend(svm.weights().iter().map(|weight| sign * weight));
        intercepts.push(sign * svm.intercepts()[0]);
    } else {
        for class in 0..svm.n_machines() {
            let machine = svm.classes().iter().position(|&id| id == class);
            let machine = machine.ok_or_else(|| PyValueError::new_err("a class has no rows"))?;
            weights.extend_from_slice(&svm.weights()[machine * n_columns..][..n_columns]);
            intercepts.push(svm.intercepts()[machine]);
        }
    }
    let n_steps = svm
        .solutions()
        .iter()
        .map(|solution| solution.n_newton_steps);
    let converged = svm
        .solutions()
        .iter()
        .all(|s| matches!(s.stop, Stop::Converged));
    Ok((
        PyArray1::from_vec(py, weights).reshape([svm.n_machines(), n_columns])?,
        PyArray1::from_vec(py, intercepts),
        n_steps.max().unwrap_or(0),
        converged,
    ))
}

fn labels_of(classes: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let classes = classes.as_slice()?.iter();
    Ok(classes.map(|&class| class as usize).collect())
}

/// Runs a fit that asks the monitor before every pass over its rows.
fn interruptibly<T: Send + 'static>(
    py: Python<'_>,
    fit: impl FnOnce(&Monitor) -> wordmover_learn::Result<T> + Send + 'static,
) -> PyResult<T> {
    let fitted = run(py, None, move |monitor| match fit(monitor) {
        Err(Error::Interrupted) => Err(wordmover::Error::Interrupted),
        other => Ok(other),
    })?;
    fitted.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Decision values, a row for each row of features and a column for each machine.
#[pyfunction]
#[pyo3(signature = (rows: "numpy.typing.NDArray[numpy.float32]", weights: "numpy.typing.NDArray[numpy.float64]", intercepts: "numpy.typing.NDArray[numpy.float64]") -> "numpy.typing.NDArray[numpy.float64]")]
pub fn svm_decision_values<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f32>,
    weights: PyReadonlyArray2<'py, f64>,
    intercepts: PyReadonlyArray1<'py, f64>,
) -> PyResult<PyMatrix<'py>> {
    let n_machines = intercepts.len();
    let classes = if n_machines == 1 {
        vec![1, 0]
    } else {
        (0..n_machines).collect()
    };
    let n_columns = rows.shape()[1];
    let (rows, weights) = (rows.as_slice()?, weights.as_slice()?.to_vec());
    let intercepts = intercepts.as_slice()?.to_vec();
    let pool = pool(py)?;
    let values = py.detach(|| {
        let svm = LinearSvm::from_parts(classes, weights, intercepts)?;
        pool.install(|| svm.decision_values(Features::new(rows, n_columns)?))
    });
    let values = values.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let n_rows = values.len() / n_machines;
    PyArray1::from_vec(py, values).reshape([n_rows, n_machines])
}
