"""Transport problems rebuilt bit for bit from (kind, seed, n, m, dim).

The same generator is written in Rust in `tests/pot/generator.rs`; the checksum
column of `problems.csv` holds the two together. To make that possible every
operation here is an integer operation or one correctly rounded f64 addition,
subtraction, multiplication, division or square root, in an order which is part
of the definition. Reductions are therefore sequential: no `np.sum` (pairwise)
and no built-in `sum` (compensated since Python 3.12).
"""

import math
from typing import NamedTuple

import numpy as np

KINDS = ("uniform", "weights", "ties", "shared", "duplicates", "pairs", "unit", "zeros", "far")

# Occurrences of a word in a document: mostly one, seldom many.
COUNTS = np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 9], dtype=np.float64)


class Problem(NamedTuple):
    costs: np.ndarray  # n x m, row-major
    supply: np.ndarray  # n
    demand: np.ndarray  # m


class Stream:
    """SplitMix64. The k-th state is seed + k * gamma, hence the vectorised form."""

    def __init__(self, seed: int):
        self.seed = np.uint64(seed)
        self.n_drawn = 0

    def take(self, count: int) -> np.ndarray:
        """The next `count` outputs."""
        first = self.n_drawn + 1
        self.n_drawn += count
        steps = np.arange(first, first + count, dtype=np.uint64)
        z = self.seed + steps * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    def below(self, bound: int) -> int:
        return int(self.take(1)[0]) % bound


def unit_interval(draws: np.ndarray) -> np.ndarray:
    return (draws >> np.uint64(11)).astype(np.float64) * 2.0**-53


def cube(stream: Stream, n: int, dim: int) -> np.ndarray:
    """Points with coordinates in [-1, 1)."""
    return (2.0 * unit_interval(stream.take(n * dim)) - 1.0).reshape(n, dim)


def lattice(stream: Stream, n: int, dim: int, side: int) -> np.ndarray:
    return (stream.take(n * dim) % np.uint64(side)).astype(np.float64).reshape(n, dim)


def sphere(stream: Stream, n: int, dim: int) -> np.ndarray:
    """Points of the cube scaled to unit length."""
    points = cube(stream, n, dim)
    squares = np.zeros(n)
    for k in range(dim):
        squares = squares + points[:, k] * points[:, k]
    return points / np.sqrt(squares)[:, None]


def repeated(stream: Stream, n: int, dim: int) -> np.ndarray:
    """Points drawn with replacement from at most (n + 1) / 2 distinct ones."""
    n_distinct = 1 + stream.below((n + 1) // 2)
    pool = cube(stream, n_distinct, dim)
    return pool[(stream.take(n) % np.uint64(n_distinct)).astype(np.int64)]


def counts(stream: Stream, n: int) -> np.ndarray:
    return COUNTS[(stream.take(n) % np.uint64(16)).astype(np.int64)]


def powers(stream: Stream, n: int) -> np.ndarray:
    """Weights u * 2^-k with u in [1/2, 1) and k in 0..=27."""
    draws = stream.take(2 * n).reshape(n, 2)
    mantissa = 0.5 + 0.5 * unit_interval(draws[:, 0])
    exponent = (draws[:, 1] % np.uint64(28)).astype(np.int64)
    return mantissa / (np.int64(1) << exponent).astype(np.float64)


def some_zero(stream: Stream, n: int) -> np.ndarray:
    """Counts of which about a third, but never all, are zero."""
    draws = stream.take(2 * n).reshape(n, 2)
    weights = COUNTS[(draws[:, 0] % np.uint64(16)).astype(np.int64)]
    weights[draws[:, 1] % np.uint64(3) == 0] = 0.0
    kept = stream.below(n)
    if weights[kept] == 0.0:
        weights[kept] = 1.0
    return weights


def near_and_far(stream: Stream, n: int) -> np.ndarray:
    return np.where(stream.take(n) % np.uint64(2) == 0, 1e-6, 1e6)


def shared(stream: Stream, n: int, m: int, dim: int):
    """Two documents of which the second repeats some points of the first.

    One problem in four repeats the counts too: where n = m the documents are
    then the same and the optimum is zero. One in four repeats the points only.
    """
    variant = stream.below(4)
    least = min(n, m)
    n_shared = least if variant < 2 else stream.below(least + 1)
    a = cube(stream, n, dim)
    b = np.concatenate([a[:n_shared], cube(stream, m - n_shared, dim)])
    supply = counts(stream, n)
    if variant == 0:
        demand = np.concatenate([supply[:n_shared], counts(stream, m - n_shared)])
    else:
        demand = counts(stream, m)
    order = list(range(m))
    for j in range(m - 1, 0, -1):
        other = stream.below(j + 1)
        order[j], order[other] = order[other], order[j]
    return a, b[order], supply, demand[order]


def parts(kind: str, seed: int, n: int, m: int, dim: int):
    """Points and unnormalised weights. The order of the draws is part of the definition."""
    stream = Stream(seed)
    if kind == "uniform":
        a, b = cube(stream, n, dim), cube(stream, m, dim)
        supply, demand = counts(stream, n), np.ones(m)
    elif kind == "weights":
        a, b = cube(stream, n, dim), cube(stream, m, dim)
        supply, demand = powers(stream, n), powers(stream, m)
    elif kind == "ties":
        side = 2 + stream.below(3)
        a, b = lattice(stream, n, dim, side), lattice(stream, m, dim, side)
        supply, demand = counts(stream, n), counts(stream, m)
    elif kind == "shared":
        a, b, supply, demand = shared(stream, n, m, dim)
    elif kind == "duplicates":
        a, b = repeated(stream, n, dim), repeated(stream, m, dim)
        supply, demand = counts(stream, n), counts(stream, m)
    elif kind == "pairs":
        a, b = cube(stream, n, dim), cube(stream, m, dim)
        supply, demand = counts(stream, n), counts(stream, m)
    elif kind == "unit":
        equal = stream.below(2) == 0
        a, b = sphere(stream, n, dim), sphere(stream, m, dim)
        supply = counts(stream, n)
        demand = np.ones(m) if equal else counts(stream, m)
    elif kind == "zeros":
        a, b = cube(stream, n, dim), cube(stream, m, dim)
        supply, demand = some_zero(stream, n), some_zero(stream, m)
    elif kind == "far":
        variant = stream.below(3)
        a, b = cube(stream, n, dim), cube(stream, m, dim)
        if variant == 2:
            a = a * near_and_far(stream, n)[:, None]
            b = b * near_and_far(stream, m)[:, None]
        else:
            scale = 1e-6 if variant == 0 else 1e6
            a, b = a * scale, b * scale
        supply, demand = counts(stream, n), counts(stream, m)
    else:
        raise ValueError(f"no such kind: {kind}")
    return a, b, supply, demand


def normalised(weights: np.ndarray) -> np.ndarray:
    total = 0.0
    for weight in weights.tolist():
        total += weight
    return weights / total


def ground_costs(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Euclidean distances, squares added in the order of the coordinates."""
    squares = np.zeros((len(a), len(b)))
    for k in range(a.shape[1]):
        difference = a[:, k, None] - b[None, :, k]
        squares = squares + difference * difference
    return np.sqrt(squares)


def ground_costs_one_by_one(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`ground_costs` in plain Python floats, to show that NumPy neither fuses nor reorders."""
    rows_a, rows_b = a.tolist(), b.tolist()
    costs = np.empty((len(rows_a), len(rows_b)))
    for i, x in enumerate(rows_a):
        for j, y in enumerate(rows_b):
            square = 0.0
            for x_k, y_k in zip(x, y):
                square += (x_k - y_k) * (x_k - y_k)
            costs[i, j] = math.sqrt(square)
    return costs


def build(kind: str, seed: int, n: int, m: int, dim: int) -> Problem:
    a, b, supply, demand = parts(kind, seed, n, m, dim)
    return Problem(ground_costs(a, b), normalised(supply), normalised(demand))


def checksum(problem: Problem) -> int:
    """64-bit FNV-1a over the little-endian bytes of costs, supply and demand."""
    state = 0xCBF29CE484222325
    for values in problem:
        for byte in np.ascontiguousarray(values, dtype="<f8").tobytes():
            state = ((state ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return state
