//! The linear SVM of `wordmover-learn`.

use numpy::PyUntypedArrayMethods;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wordmover_learn::{Features, LinearSvm, Stop, SvmParams};

use crate::pool::{pool, run};

type PyMatrix<'py> = Bound<'py, PyArray2<f64>>;
type PyVector<'py> = Bound<'py, PyArray1<f64>>;

/// Fits on rows of features and classes numbered from 0, all of which occur. Gives a row of
/// weights for each machine, their intercepts, Newton steps, and whether all converged.
/// Machine `k` is that of class `k` against the rest, or for two classes the only one,
/// positive for class 1.
#[pyfunction]
#[pyo3(signature = (rows: "numpy.typing.NDArray[numpy.float32]", classes: "numpy.typing.NDArray[numpy.int64]", *, cost, tolerance, bias, standardize) -> "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], int, bool]")]
pub fn fit_svm<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f32>,
    classes: PyReadonlyArray1<'py, i64>,
    cost: f64,
    tolerance: f64,
    bias: Option<f64>,
    standardize: bool,
) -> PyResult<(PyMatrix<'py>, PyVector<'py>, usize, bool)> {
    let n_columns = rows.shape()[1];
    // Copies, so that the caller can leave.
    let values = rows.as_slice()?.to_vec();
    let labels: Vec<usize> = classes
        .as_slice()?
        .iter()
        .map(|&class| class as usize)
        .collect();
    let params = SvmParams::default()
        .cost(cost)
        .tolerance(tolerance)
        .bias(bias)
        .standardize(standardize);
    let fitted = run(py, None, move |_| {
        let features = Features::new(&values, n_columns);
        Ok(features.and_then(|features| LinearSvm::fit(params, features, &labels)))
    })?;
    let svm = fitted.map_err(|error| PyValueError::new_err(error.to_string()))?;
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
