//! Transport problems that Python gives.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use numpy::{PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use wordmover::Error;
use wordmover::transport::{self, Solution, Workspace};
use wordmover_cuda::{BatchStatistics, Device, TransportProblem};

use crate::device;
use crate::distance::amount;
use crate::errors::to_python;
use crate::pool::{run, run_borrowed};

/// Problems with more costs than this take so long that an interrupt must not wait for
/// them; below, handing them to another thread would take longer than solving them.
pub const LONG: usize = 1 << 18;

/// Costs copied between two looks for an interrupt.
const COSTS_AT_ONCE: usize = 1 << 21;

type Matrix<'py> = PyReadonlyArray2<'py, f64>;
type Weights<'py> = PyReadonlyArray1<'py, f64>;
type PyVector<'py> = Bound<'py, PyArray1<f64>>;

/// The optimal cost of one problem.
#[pyfunction]
#[pyo3(signature = (costs: "numpy.typing.NDArray[numpy.float64]", supply: "numpy.typing.NDArray[numpy.float64]", demand: "numpy.typing.NDArray[numpy.float64]", /))]
pub fn transport_cost(
    py: Python<'_>,
    costs: Matrix<'_>,
    supply: Weights<'_>,
    demand: Weights<'_>,
) -> PyResult<f64> {
    check_shape(costs.shape(), supply.len(), demand.len())?;
    let (costs, supply, demand) = (costs.as_slice()?, supply.as_slice()?, demand.as_slice()?);
    if costs.len() > LONG {
        return Ok(solve_long(py, costs, supply, demand)?.cost);
    }
    py.detach(|| transport::cost(costs, supply, demand, &mut Workspace::default()))
        .map_err(|error| to_python(error.into()))
}

/// The optimal cost of one problem, its plan as a matrix, and its dual values.
#[pyfunction]
#[pyo3(signature = (costs: "numpy.typing.NDArray[numpy.float64]", supply: "numpy.typing.NDArray[numpy.float64]", demand: "numpy.typing.NDArray[numpy.float64]", /) -> "tuple[float, numpy.typing.NDArray[numpy.float64], tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]]")]
pub fn transport_solution<'py>(
    py: Python<'py>,
    costs: Matrix<'py>,
    supply: Weights<'py>,
    demand: Weights<'py>,
) -> PyResult<Arrays<'py>> {
    check_shape(costs.shape(), supply.len(), demand.len())?;
    let (costs, supply, demand) = (costs.as_slice()?, supply.as_slice()?, demand.as_slice()?);
    let solution = if costs.len() > LONG {
        solve_long(py, costs, supply, demand)?
    } else {
        py.detach(|| transport::solve(costs, supply, demand))
            .map_err(|error| to_python(error.into()))?
    };
    as_arrays(py, solution, supply.len(), demand.len())
}

/// Cost, plan and dual values of one problem.
type Arrays<'py> = (
    f64,
    Bound<'py, PyArray2<f64>>,
    (PyVector<'py>, PyVector<'py>),
);

fn as_arrays(
    py: Python<'_>,
    solution: Solution,
    n_sources: usize,
    n_sinks: usize,
) -> PyResult<Arrays<'_>> {
    let mut plan = vec![0.0; n_sources * n_sinks];
    for flow in &solution.flows {
        plan[flow.from as usize * n_sinks + flow.to as usize] = flow.mass;
    }
    let plan = PyArray1::from_vec(py, plan).reshape([n_sources, n_sinks])?;
    let duals = (
        PyArray1::from_vec(py, solution.supply_duals),
        PyArray1::from_vec(py, solution.demand_duals),
    );
    Ok((solution.cost, plan, duals))
}

/// Cost, mass, plan, and dual values of sources, sinks and mass.
type PartialPlan<'py> = (
    f64,
    f64,
    Bound<'py, PyArray2<f64>>,
    (PyVector<'py>, PyVector<'py>, f64),
);

/// Partial transport of one problem: cost of the plan, mass moved, plan and dual values.
#[pyfunction]
#[pyo3(signature = (costs: "numpy.typing.NDArray[numpy.float64]", supply: "numpy.typing.NDArray[numpy.float64]", demand: "numpy.typing.NDArray[numpy.float64]", *, mass=None, penalty=None) -> "tuple[float, float, numpy.typing.NDArray[numpy.float64], tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]]")]
pub fn transport_partial<'py>(
    py: Python<'py>,
    costs: Matrix<'py>,
    supply: Weights<'py>,
    demand: Weights<'py>,
    mass: Option<f64>,
    penalty: Option<f64>,
) -> PyResult<PartialPlan<'py>> {
    check_shape(costs.shape(), supply.len(), demand.len())?;
    let amount = amount(mass, penalty)?
        .ok_or_else(|| PyValueError::new_err("partial transport needs a mass or a penalty"))?;
    let (costs, supply, demand) = (costs.as_slice()?, supply.as_slice()?, demand.as_slice()?);
    let (n, m) = (supply.len(), demand.len());
    let solution = if costs.len() > LONG {
        let costs = copied(py, costs)?;
        let (supply, demand) = (supply.to_vec(), demand.to_vec());
        run(py, None, move |monitor| {
            let mut workspace = Workspace::default();
            workspace.stop_when(monitor.flag());
            let workspace = &mut workspace;
            Ok(transport::solve_partial_with(
                &costs, &supply, &demand, amount, workspace,
            )?)
        })?
    } else {
        py.detach(|| transport::solve_partial(costs, supply, demand, amount))
            .map_err(|error| to_python(error.into()))?
    };
    let mut plan = vec![0.0; n * m];
    for flow in &solution.flows {
        plan[flow.from as usize * m + flow.to as usize] = flow.mass;
    }
    let duals = (
        PyArray1::from_vec(py, solution.supply_duals),
        PyArray1::from_vec(py, solution.demand_duals),
        solution.mass_dual,
    );
    let plan = PyArray1::from_vec(py, plan).reshape([n, m])?;
    Ok((solution.cost, solution.mass, plan, duals))
}

/// The optimal costs of problems of one shape: `costs[i]`, `supplies[i]`, `demands[i]`.
#[pyfunction]
#[pyo3(signature = (costs: "numpy.typing.NDArray[numpy.float64]", supplies: "numpy.typing.NDArray[numpy.float64]", demands: "numpy.typing.NDArray[numpy.float64]", /, *, device) -> "numpy.typing.NDArray[numpy.float64]")]
pub fn transport_stack<'py>(
    py: Python<'py>,
    costs: PyReadonlyArray3<'py, f64>,
    supplies: Matrix<'py>,
    demands: Matrix<'py>,
    device: &str,
) -> PyResult<PyVector<'py>> {
    let [n_problems, n_sources, n_sinks] = *costs.shape() else {
        unreachable!("three dimensions")
    };
    if supplies.shape() != [n_problems, n_sources] || demands.shape() != [n_problems, n_sinks] {
        return Err(PyValueError::new_err(format!(
            "costs of shape {:?} do not fit supplies of shape {:?} and demands of shape {:?}",
            costs.shape(),
            supplies.shape(),
            demands.shape()
        )));
    }
    let (costs, supplies, demands) = (costs.as_slice()?, supplies.as_slice()?, demands.as_slice()?);
    let problems: Vec<TransportProblem<'_>> = (0..n_problems)
        .map(|i| TransportProblem {
            costs: &costs[i * n_sources * n_sinks..][..n_sources * n_sinks],
            supply: &supplies[i * n_sources..][..n_sources],
            demand: &demands[i * n_sinks..][..n_sinks],
        })
        .collect();
    solve_all(py, &problems, device)
}

/// The optimal costs of problems of any shapes.
#[pyfunction]
#[pyo3(signature = (costs: "list[numpy.typing.NDArray[numpy.float64]]", supplies: "list[numpy.typing.NDArray[numpy.float64]]", demands: "list[numpy.typing.NDArray[numpy.float64]]", /, *, device) -> "numpy.typing.NDArray[numpy.float64]")]
pub fn transport_list<'py>(
    py: Python<'py>,
    costs: Vec<Matrix<'py>>,
    supplies: Vec<Weights<'py>>,
    demands: Vec<Weights<'py>>,
    device: &str,
) -> PyResult<PyVector<'py>> {
    solve_all(py, &listed(py, &costs, &supplies, &demands)?, device)
}

/// Costs, plans and dual values of problems of any shapes.
#[pyfunction]
#[pyo3(signature = (costs: "list[numpy.typing.NDArray[numpy.float64]]", supplies: "list[numpy.typing.NDArray[numpy.float64]]", demands: "list[numpy.typing.NDArray[numpy.float64]]", /, *, device) -> "list[tuple[float, numpy.typing.NDArray[numpy.float64], tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]]]")]
pub fn transport_solutions<'py>(
    py: Python<'py>,
    costs: Vec<Matrix<'py>>,
    supplies: Vec<Weights<'py>>,
    demands: Vec<Weights<'py>>,
    device: &str,
) -> PyResult<Vec<Arrays<'py>>> {
    let problems = listed(py, &costs, &supplies, &demands)?;
    let solutions = match device::cuda_by_name(device)? {
        Some(device) => on_device(py, &device, &problems, Device::transport_solutions)?,
        None => solve_each(py, &problems, |problem, workspace| {
            let (supply, demand) = (problem.supply, problem.demand);
            Ok(transport::solve_with(
                problem.costs,
                supply,
                demand,
                workspace,
            )?)
        })?,
    };
    let each = solutions.into_iter().zip(&problems);
    each.map(|(solution, problem)| {
        as_arrays(py, solution, problem.supply.len(), problem.demand.len())
    })
    .collect()
}

/// Problems of lists of arrays that fit together.
fn listed<'a>(
    py: Python<'_>,
    costs: &'a [Matrix<'_>],
    supplies: &'a [Weights<'_>],
    demands: &'a [Weights<'_>],
) -> PyResult<Vec<TransportProblem<'a>>> {
    if [supplies.len(), demands.len()] != [costs.len(); 2] {
        return Err(PyValueError::new_err(format!(
            "{} cost matrices, {} supplies and {} demands: they must be as many",
            costs.len(),
            supplies.len(),
            demands.len()
        )));
    }
    let each = costs.iter().zip(supplies).zip(demands).enumerate();
    each.map(|(i, ((costs, supply), demand))| {
        check_shape(costs.shape(), supply.len(), demand.len())
            .map_err(|error| of_problem(py, i, &error))?;
        Ok(TransportProblem {
            costs: costs.as_slice()?,
            supply: supply.as_slice()?,
            demand: demand.as_slice()?,
        })
    })
    .collect()
}

fn solve_all<'py>(
    py: Python<'py>,
    problems: &[TransportProblem<'_>],
    device: &str,
) -> PyResult<PyVector<'py>> {
    let costs = match device::cuda_by_name(device)? {
        Some(device) => on_device(py, &device, problems, Device::transport_costs)?,
        None => solve_each(py, problems, |problem, workspace| {
            let (supply, demand) = (problem.supply, problem.demand);
            Ok(transport::cost(problem.costs, supply, demand, workspace)?)
        })?,
    };
    Ok(PyArray1::from_vec(py, costs))
}

/// What the GPU finds for every problem; an interrupt waits for the part at hand.
fn on_device<T: Send>(
    py: Python<'_>,
    device: &Device,
    problems: &[TransportProblem<'_>],
    solve: impl FnOnce(
        &Device,
        &[TransportProblem<'_>],
        &Arc<AtomicBool>,
    ) -> wordmover_cuda::Result<(Vec<T>, BatchStatistics)>
    + Send,
) -> PyResult<Vec<T>> {
    let solved = run_borrowed(py, |monitor| {
        Ok(match solve(device, problems, &monitor.flag()) {
            Err(wordmover_cuda::Error::Host(error)) => return Err(error),
            solved => solved,
        })
    })?;
    match solved {
        Ok((found, _)) => Ok(found),
        Err(wordmover_cuda::Error::Problem { index, source }) => {
            Err(of_problem(py, index, &to_python(source)))
        }
        Err(error) => Err(device::failed(error)),
    }
}

/// What `solve` finds for every problem, on all threads.
fn solve_each<T: Send>(
    py: Python<'_>,
    problems: &[TransportProblem<'_>],
    solve: impl Fn(&TransportProblem<'_>, &mut Workspace) -> wordmover::Result<T> + Sync,
) -> PyResult<Vec<T>> {
    let solved = run_borrowed(py, |monitor| {
        let workspace = || {
            let mut workspace = Workspace::default();
            workspace.stop_when(monitor.flag());
            workspace
        };
        let solve = |workspace: &mut Workspace, (i, problem): (usize, &TransportProblem<'_>)| {
            let found = solve(problem, workspace).map_err(|error| (i, error))?;
            match monitor.advance(1) {
                ControlFlow::Continue(()) => Ok(found),
                ControlFlow::Break(()) => Err((i, Error::Interrupted)),
            }
        };
        let each = problems.par_iter().enumerate();
        let solved: std::result::Result<Vec<T>, _> = each.map_init(workspace, solve).collect();
        Ok(solved)
    })?;
    solved.map_err(|(i, error)| of_problem(py, i, &to_python(error)))
}

/// Of its own data, so that the caller can leave at once; the solver looks at the flag only
/// when it has begun to improve its plan, seconds after the start of the largest problems.
fn solve_long(py: Python<'_>, costs: &[f64], supply: &[f64], demand: &[f64]) -> PyResult<Solution> {
    let costs = copied(py, costs)?;
    let (supply, demand) = (supply.to_vec(), demand.to_vec());
    run(py, None, move |monitor| {
        let mut workspace = Workspace::default();
        workspace.stop_when(monitor.flag());
        Ok(transport::solve_with(
            &costs,
            &supply,
            &demand,
            &mut workspace,
        )?)
    })
}

fn copied(py: Python<'_>, costs: &[f64]) -> PyResult<Vec<f64>> {
    let mut copied = Vec::with_capacity(costs.len());
    for part in costs.chunks(COSTS_AT_ONCE) {
        // Gigabytes take more than a moment.
        py.detach(|| copied.extend_from_slice(part));
        py.check_signals()?;
    }
    Ok(copied)
}

fn check_shape(costs: &[usize], n_sources: usize, n_sinks: usize) -> PyResult<()> {
    if costs == [n_sources, n_sinks] {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "costs of shape {} x {} do not fit {n_sources} supplies and {n_sinks} demands",
        costs[0], costs[1]
    )))
}

fn of_problem(py: Python<'_>, index: usize, error: &PyErr) -> PyErr {
    PyValueError::new_err(format!("problem {index}: {}", error.value(py)))
}
