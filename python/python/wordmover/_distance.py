"""Exact distances and transport plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np

from wordmover import _native
from wordmover._parameters import (
    Document,
    VectorsLike,
    name_or_none,
    one_name,
    open_vectors,
    stop_word_list,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Vector: TypeAlias = NDArray[np.float64]
    Duals: TypeAlias = tuple[Vector, Vector]


class WordMove(NamedTuple):
    """Mass that moves from a word of the first document to a word of the second."""

    source: str
    target: str
    mass: float
    cost: float


@overload
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = ...,
    normalization: str | None = ...,
    stop_words: str | Iterable[str] | None = ...,
    case: str = ...,
    mass: float | None = ...,
    penalty: float | None = ...,
    return_plan: Literal[False] = ...,
) -> float: ...
@overload
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = ...,
    normalization: str | None = ...,
    stop_words: str | Iterable[str] | None = ...,
    case: str = ...,
    mass: float | None = ...,
    penalty: float | None = ...,
    return_plan: Literal[True],
) -> tuple[float, list[WordMove]]: ...
@overload
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = ...,
    normalization: str | None = ...,
    stop_words: str | Iterable[str] | None = ...,
    case: str = ...,
    mass: float | None = ...,
    penalty: float | None = ...,
    return_plan: bool,
) -> float | tuple[float, list[WordMove]]: ...
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = "builtin",
    normalization: str | None = "unit",
    stop_words: str | Iterable[str] | None = "smart",
    case: str = "lower",
    mass: float | None = None,
    penalty: float | None = None,
    return_plan: bool = False,
) -> float | tuple[float, list[WordMove]]:
    """The exact Word Mover's Distance between two documents.

    A document is a text, a list of words, or a dict of words to weights that sum to one.
    `normalization` is "unit" or None. With `return_plan` also returns the moves of an
    optimal plan: their masses sum to one, and mass times cost to the distance.

    For texts of which only a part is alike, `mass` moves no more than this share of both
    documents, at the least cost: `mass=0.8` is the cost of the best 80 %. Or else `penalty` is
    what a unit of mass costs that stays unmatched, on either side, and as much moves as pays;
    the distance then includes the penalties.

    A document without a known word has no distance: ValueError.
    """
    distance, moves = _native.word_movers_distance(
        a,
        b,
        vectors=open_vectors(vectors),
        normalization=name_or_none("normalization", normalization),
        case=one_name("case", case),
        stop_words=stop_word_list(stop_words),
        mass=mass,
        penalty=penalty,
        return_plan=return_plan,
    )
    if moves is None:
        return distance
    return distance, [WordMove(*move) for move in moves]


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

    Any finite costs will do. Weights may be zero; the two sides must have the same sum to
    1e-9 of it. Nothing is rescaled unless `normalize` asks to divide each side by its sum,
    as weights that were computed in single precision need.

    Returns the cost, and on request the plan (a matrix whose rows sum to `a` and columns to
    `b`, to 1e-9 of the total where these sums differ) and dual values `(u, v)`, which prove it:
    `u[i] + v[j] <= C[i, j]` everywhere, and `u @ a + v @ b` is the cost.
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


def transport_batch(
    C: NDArray[Any] | Sequence[ArrayLike],
    a: NDArray[Any] | Sequence[ArrayLike],
    b: NDArray[Any] | Sequence[ArrayLike],
    *,
    normalize: bool = False,
) -> Vector:
    """The costs of many transport problems, on all threads: `transport(C[i], a[i], b[i])`.

    Give arrays of three, two and two dimensions for problems of one shape (they are not
    copied if they are float64 and contiguous), or lists of arrays for any shapes. Weights
    of one dimension are those of every problem.
    """
    if isinstance(C, np.ndarray):
        costs = np.ascontiguousarray(_real(C, "costs"))
        if costs.ndim != 3:
            raise ValueError(f"costs of many problems have 3 dimensions, these have {costs.ndim}")
        return _native.transport_stack(
            costs,
            _stacked_weights(a, "a", len(costs), normalize),
            _stacked_weights(b, "b", len(costs), normalize),
        )
    matrices = [_matrix(costs) for costs in C]
    return _native.transport_list(
        matrices,
        _listed_weights(a, "a", len(matrices), normalize),
        _listed_weights(b, "b", len(matrices), normalize),
    )


def _real(values: Any, name: str) -> Vector:
    """Numbers in double precision; not those that would lose their imaginary part."""
    if np.iscomplexobj(values):
        raise TypeError(f"{name} are complex numbers: they must be real")
    if np.ma.is_masked(values):
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
