"""Exact transport: single problems, many at once, and POT's names for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np

from wordmover import _native

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector: TypeAlias = NDArray[np.float64]
    Duals: TypeAlias = tuple[Vector, Vector]


@overload
def transport(
    C: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    normalize: bool = ...,
    return_plan: Literal[False] = ...,
    return_duals: Literal[False] = ...,
) -> float: ...
@overload
def transport(
    C: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    normalize: bool = ...,
    return_plan: Literal[True],
    return_duals: Literal[False] = ...,
) -> tuple[float, Vector]: ...
@overload
def transport(
    C: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    normalize: bool = ...,
    return_plan: Literal[False] = ...,
    return_duals: Literal[True],
) -> tuple[float, Duals]: ...
@overload
def transport(
    C: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    normalize: bool = ...,
    return_plan: Literal[True],
    return_duals: Literal[True],
) -> tuple[float, Vector, Duals]: ...
@overload
def transport(
    C: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    normalize: bool = ...,
    return_plan: bool = ...,
    return_duals: bool = ...,
) -> float | tuple[float, Vector] | tuple[float, Duals] | tuple[float, Vector, Duals]: ...
def transport(
    C: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    normalize: bool = False,
    return_plan: bool = False,
    return_duals: bool = False,
) -> float | tuple[float, Vector] | tuple[float, Duals] | tuple[float, Vector, Duals]:
    """The least cost of moving supplies `a` to demands `b` at costs `C[i, j]`, exactly.

    Parameters
    ----------
    C : array of shape (n_sources, n_sinks)
        Any finite costs.
    a, b : arrays of weights
        They may be zero. The two sides must have the same sum to 1e-9 of it.
    normalize : bool, default False
        Whether to divide each side by its sum, as weights that were computed in single
        precision need. Nothing is rescaled otherwise.
    return_plan, return_duals : bool, default False
        Whether to return the plan and the dual values too.

    Returns
    -------
    cost : float
    plan : array of shape (n_sources, n_sinks)
        Rows sum to `a` and columns to `b`, to 1e-9 of the total where these sums differ.
    (u, v) : arrays
        Dual values, which prove the cost: `u[i] + v[j] <= C[i, j]` everywhere, and
        `u @ a + v @ b` is the cost.

    Examples
    --------
    >>> from wordmover import transport
    >>> transport([[0.0, 1.0], [1.0, 0.0]], [0.25, 0.75], [0.5, 0.5])
    0.25
    >>> cost, plan = transport([[0, 2], [1, 0]], [0.25, 0.75], [0.5, 0.5], return_plan=True)
    >>> plan.tolist()
    [[0.25, 0.0], [0.25, 0.5]]
    """
    costs, supply, demand = _matrix(C), _weights(a, "a", normalize), _weights(b, "b", normalize)
    if not (return_plan or return_duals):
        return _native.transport_cost(costs, supply, demand)
    cost, plan, duals = _native.transport_solution(costs, supply, demand)
    if return_plan and return_duals:
        return cost, plan, duals
    return (cost, plan) if return_plan else (cost, duals)


class PartialPlan(NamedTuple):
    """The cheapest plan that moves part of the mass, and the dual values that prove it.

    `supply_duals` and `demand_duals` are nowhere above 0, `mass_dual + supply_duals[i] +
    demand_duals[j]` nowhere above `C[i, j]`, and `supply_duals @ a + demand_duals @ b +
    mass_dual * mass` is the cost. `unmatched_supply` and `unmatched_demand` are what stays.
    """

    cost: float
    mass: float
    plan: Vector
    unmatched_supply: Vector
    unmatched_demand: Vector
    supply_duals: Vector
    demand_duals: Vector
    mass_dual: float


def partial_transport(
    C: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    mass: float | None = None,
    penalty: float | None = None,
) -> PartialPlan:
    """Moves part of supplies `a` to demands `b` at the least cost, exactly.

    Either `mass` moves, at most the lesser of the two sums, or as much as pays where every unit
    of mass that stays unmatched, on either side, costs `penalty`. The sides need not have the
    same sum. The cost is that of what moves; penalties are not in it.

    Parameters
    ----------
    C : array of shape (n_sources, n_sinks)
    a, b : arrays of weights
    mass, penalty : float or None
        One of the two.

    Returns
    -------
    PartialPlan

    Examples
    --------
    >>> from wordmover import partial_transport
    >>> partial_transport([[1.0, 5.0]], [1.0], [0.5, 0.5], mass=0.5).cost
    0.5
    """
    costs, supply, demand = _matrix(C), _weights(a, "a", False), _weights(b, "b", False)
    cost, moved, plan, (supply_duals, demand_duals, mass_dual) = _native.transport_partial(
        costs, supply, demand, mass=mass, penalty=penalty
    )
    return PartialPlan(
        cost,
        moved,
        plan,
        np.maximum(supply - plan.sum(axis=1), 0.0),
        np.maximum(demand - plan.sum(axis=0), 0.0),
        supply_duals,
        demand_duals,
        mass_dual,
    )


@overload
def transport_batch(
    C: NDArray[Any] | Sequence[ArrayLike],
    a: NDArray[Any] | Sequence[ArrayLike],
    b: NDArray[Any] | Sequence[ArrayLike],
    *,
    normalize: bool = ...,
    return_plan: Literal[False] = ...,
    return_duals: Literal[False] = ...,
    device: str = ...,
) -> Vector: ...
@overload
def transport_batch(
    C: NDArray[Any] | Sequence[ArrayLike],
    a: NDArray[Any] | Sequence[ArrayLike],
    b: NDArray[Any] | Sequence[ArrayLike],
    *,
    normalize: bool = ...,
    return_plan: bool = ...,
    return_duals: bool = ...,
    device: str = ...,
) -> Any: ...
def transport_batch(
    C: NDArray[Any] | Sequence[ArrayLike],
    a: NDArray[Any] | Sequence[ArrayLike],
    b: NDArray[Any] | Sequence[ArrayLike],
    *,
    normalize: bool = False,
    return_plan: bool = False,
    return_duals: bool = False,
    device: str = "cpu",
) -> Any:
    """The costs of many transport problems, on all threads: `transport(C[i], a[i], b[i])`.

    Parameters
    ----------
    C, a, b : arrays of three, two and two dimensions, or lists of arrays
        Arrays for problems of one shape (they are not copied if they are float64 and
        contiguous), lists for any shapes. Weights of one dimension are those of every problem.
    normalize : bool, default False
        Whether to divide each side of each problem by its sum.
    return_plan, return_duals : bool, default False
        Whether to return plans and dual values too.
    device : "cpu", "cuda" or "auto", default "cpu"
        "cuda" solves on a GPU, "auto" if there is one. Every cost is then that of a plan which
        is proven to be optimal to 1e-12 of the largest cost; costs differ from the CPU's in
        their last digits. Problems the GPU does not take go to the CPU. Pays from some 40 x 40
        on, with hundreds of problems.

    Returns
    -------
    costs : array of shape (n_problems,)
    plans : array of shape (n_problems, n_sources, n_sinks), or a list of plans
        With `return_plan`; a list if `C` is one.
    (us, vs) : arrays of shape (n_problems, n_sources) and (n_problems, n_sinks), or lists
        With `return_duals`.

    Examples
    --------
    >>> import numpy as np
    >>> from wordmover import transport_batch
    >>> costs = np.array([[[0.0, 1.0], [1.0, 0.0]], [[2.0, 1.0], [1.0, 2.0]]])
    >>> transport_batch(costs, [0.5, 0.5], [0.5, 0.5]).tolist()
    [0.0, 1.0]
    >>> found, plans = transport_batch(costs, [0.5, 0.5], [0.5, 0.5], return_plan=True)
    >>> plans[1].tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    together: Any = list
    if isinstance(C, np.ndarray):
        costs = np.ascontiguousarray(_real(C, "costs"))
        if costs.ndim != 3:
            raise ValueError(f"costs of many problems have 3 dimensions, these have {costs.ndim}")
        supplies = _stacked_weights(a, "a", len(costs), normalize)
        demands = _stacked_weights(b, "b", len(costs), normalize)
        if not (return_plan or return_duals):
            return _native.transport_stack(costs, supplies, demands, device=device)
        solved = _native.transport_solutions(
            list(costs), list(supplies), list(demands), device=device
        )
        # Of no problem too, the other dimensions are those of the costs.
        together = _stacker(costs.shape)
    else:
        matrices = [_matrix(costs) for costs in C]
        supply_list = _listed_weights(a, "a", len(matrices), normalize)
        demand_list = _listed_weights(b, "b", len(matrices), normalize)
        if not (return_plan or return_duals):
            return _native.transport_list(matrices, supply_list, demand_list, device=device)
        solved = _native.transport_solutions(matrices, supply_list, demand_list, device=device)
    found: tuple[Any, ...] = (np.array([cost for cost, _, _ in solved], dtype=np.float64),)
    if return_plan:
        found += (together([plan for _, plan, _ in solved]),)
    if return_duals:
        us, vs = [u for _, _, (u, _) in solved], [v for _, _, (_, v) in solved]
        found += ((together(us), together(vs)),)
    return found


def _stacker(shape: tuple[int, ...]) -> Any:
    def stack(parts: list[Vector]) -> Vector:
        return np.stack(parts) if parts else np.empty(shape)

    return stack


def emd(
    a: ArrayLike,
    b: ArrayLike,
    M: ArrayLike,
    numItermax: int = 100_000,
    log: bool = False,
    center_dual: bool = True,
    numThreads: int = 1,
    check_marginals: bool = True,
) -> Any:
    """The optimal plan, with the arguments of POT's `ot.emd`.

    Parameters
    ----------
    a, b : arrays of weights
        Empty ones stand for equal weights that sum to 1. As in POT, `b` is scaled to the sum
        of `a`, from which it may differ by 1e-6; `transport` scales nothing.
    M : array of shape (len(a), len(b))
        The costs.
    numItermax, numThreads : int
        Accepted for POT's sake: nothing stops before the optimum. `set_num_threads` has an
        effect on `transport_batch`.
    log : bool, default False
        Whether to return a dict of the cost and the dual values too.
    center_dual : bool, default True
        Whether dual values are shifted so that both sides share the cost evenly.
    check_marginals : bool, default True
        Whether sums that differ by more are refused.

    Returns
    -------
    G : array of shape (len(a), len(b))
    log : dict of `cost`, `u`, `v`, `warning` (None) and `result_code` (1), with `log=True`.

    Examples
    --------
    >>> from wordmover import emd, emd2
    >>> emd([], [], [[0.0, 1.0], [1.0, 0.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    >>> emd2([0.25, 0.75], [0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]])
    0.25
    """
    del numItermax, numThreads
    cost, plan, duals = _pot_problem(a, b, M, check_marginals)
    if not log:
        return plan
    return plan, _log(cost, duals, a, b, plan, center_dual)


def emd2(
    a: ArrayLike,
    b: ArrayLike,
    M: ArrayLike,
    processes: int = 1,
    numItermax: int = 100_000,
    log: bool = False,
    return_matrix: bool = False,
    center_dual: bool = True,
    numThreads: int = 1,
    check_marginals: bool = True,
) -> Any:
    """The optimal cost, with the arguments of POT's `ot.emd2`.

    Parameters
    ----------
    a, b, M, numItermax, log, center_dual, numThreads, check_marginals
        As those of `emd`. With a `b` of two dimensions, each of its columns is a problem.
    processes : int
        Accepted for POT's sake.
    return_matrix : bool, default False
        Whether the dict has the plan as `G`; it comes with the cost also without `log`.

    Returns
    -------
    cost : float, or array of the costs of several problems
    log : dict, with `log` or `return_matrix`; a list of dicts for several problems.

    Examples
    --------
    >>> from wordmover import emd2
    >>> cost, log = emd2([0.25, 0.75], [0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], log=True)
    >>> cost, log["warning"]
    (0.25, None)
    """
    del processes, numItermax, numThreads
    demands = _real(b, "b")
    several = demands.ndim == 2
    columns = list(demands.T) if several else [demands]
    costs, logs = [], []
    for column in columns:
        cost, plan, duals = _pot_problem(a, column, M, check_marginals)
        costs.append(cost)
        if log or return_matrix:
            logs.append(_log(cost, duals, a, column, plan, center_dual))
            if return_matrix:
                logs[-1]["G"] = plan
    if not several:
        return (costs[0], logs[0]) if logs else costs[0]
    return (np.array(costs), logs) if logs else np.array(costs)


def _pot_problem(a: Any, b: Any, M: Any, check_marginals: bool) -> tuple[float, Vector, Duals]:
    costs = _matrix(M)
    supply, demand = _weights(a, "a", False), _weights(b, "b", False)
    supply = supply if len(supply) else np.full(costs.shape[0], 1 / max(1, costs.shape[0]))
    demand = demand if len(demand) else np.full(costs.shape[1], 1 / max(1, costs.shape[1]))
    sums = supply.sum(), demand.sum()
    if check_marginals and not np.isclose(*sums, rtol=1e-7, atol=1e-6):
        raise ValueError(f"a sums to {sums[0]} and b to {sums[1]}: they must have the same sum")
    if sums[1] > 0 and np.isfinite(sums).all():
        demand = demand * (sums[0] / sums[1])
    return _native.transport_solution(costs, supply, demand)


def _log(cost: float, duals: Duals, a: Any, b: Any, plan: Vector, center: bool) -> dict[str, Any]:
    u, v = duals
    if center:
        supply, demand = plan.sum(axis=1), plan.sum(axis=0)
        total = supply.sum() + demand.sum()
        shift = (v @ demand - u @ supply) / total if total > 0 else 0.0
        u, v = u + shift, v - shift
    return {"cost": cost, "u": u, "v": v, "warning": None, "result_code": 1}


def _real(values: Any, name: str) -> Vector:
    """Numbers in double precision; not those that would lose their imaginary part."""
    if np.iscomplexobj(values):
        raise TypeError(f"{name} are complex numbers: they must be real")
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise TypeError(f"{name} have masked values: fill them first")
    return np.asarray(values, dtype=np.float64, order="C")


def _matrix(values: ArrayLike) -> Vector:
    costs = _real(values, "costs")
    if costs.ndim != 2:
        raise ValueError(f"costs have 2 dimensions, these have {costs.ndim}")
    return costs


def _weights(values: ArrayLike, name: str, normalize: bool) -> Vector:
    weights = _real(values, name)
    if weights.ndim != 1:
        raise ValueError(f"{name} has {weights.ndim} dimensions: weights have 1")
    return _normalized(weights, name) if normalize else weights


def _stacked_weights(values: Any, name: str, n: int, normalize: bool) -> Vector:
    weights = _real(values, name)
    if weights.ndim == 1:
        weights = np.broadcast_to(weights, (n, len(weights)))
    if weights.ndim != 2:
        raise ValueError(f"{name} has {weights.ndim} dimensions: weights have 1 or 2")
    return np.ascontiguousarray(_normalized(weights, name) if normalize else weights)


def _listed_weights(values: Any, name: str, n: int, normalize: bool) -> list[Vector]:
    is_array = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype != object
    if is_array or (len(values) > 0 and all(np.ndim(weight) == 0 for weight in values)):
        return [_weights(values, name, normalize)] * n
    return [_weights(weights, name, normalize) for weights in values]


def _normalized(weights: Vector, name: str) -> Vector:
    total = weights.sum(axis=-1, keepdims=True)
    if not np.all((total > 0) & np.isfinite(total)):
        raise ValueError(f"{name} has no positive finite sum to divide by")
    return weights / total
