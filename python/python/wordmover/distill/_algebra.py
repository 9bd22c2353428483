"""The learning itself: averages of word vectors that come near a teacher's sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Matrix = NDArray[np.float32]


def averages(
    bags: list[list[tuple[list[int], float]]], n_columns: int
) -> sparse.csr_array[Any, Any]:
    """One row a sentence: its words' shares, which sum to one.

    A word is its columns and its weight; several columns (the pieces of a word) share the
    weight evenly.
    """
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, bag in enumerate(bags):
        total = sum(weight for _, weight in bag)
        for ids, weight in bag:
            rows += [row] * len(ids)
            columns += ids
            values += [weight / total / len(ids)] * len(ids)
    shape = (len(bags), n_columns)
    return sparse.csr_array((np.array(values, np.float32), (rows, columns)), shape=shape)


def ridge(
    design: sparse.csr_array[Any, Any],
    targets: Matrix,
    prior: Matrix,
    strength: float,
    steps: int = 60,
    progress: Callable[[int], None] = lambda done: None,
) -> Matrix:
    """The W that makes |design W - targets|² + strength |W - prior|² least, by conjugate
    gradients. Columns of W are independent problems with the same matrix, solved at once."""
    transposed = design.T.tocsr()
    change = np.zeros_like(prior)
    residual = transposed @ (targets - design @ prior)
    direction = residual.copy()
    size = first = float(np.vdot(residual, residual))
    for step in range(steps):
        if size <= 1e-10 * first or size == 0:
            break
        image = transposed @ (design @ direction) + np.float32(strength) * direction
        length = np.float32(size / float(np.vdot(direction, image)))
        change += length * direction
        residual -= length * image
        smaller = float(np.vdot(residual, residual))
        direction = residual + np.float32(smaller / size) * direction
        size = smaller
        progress(step + 1)
    return prior + change


def scaled_prior(design: sparse.csr_array[Any, Any], targets: Matrix, prior: Matrix) -> Matrix:
    """`prior` times the one number that brings its averages nearest the targets."""
    found = design @ prior
    norm = float(np.vdot(found, found))
    return prior * np.float32(float(np.vdot(found, targets)) / norm if norm > 0 else 1)


def principal_axes(
    vectors: Matrix, weights: NDArray[np.float64], dim: int
) -> tuple[Matrix, Matrix]:
    """The mean, every word counting the same, and the `dim` principal axes around it, words
    counting by `weights`. Each axis points where its largest coordinate is positive."""
    mean = vectors.mean(axis=0)
    centred = (vectors - mean).astype(np.float64)
    _, axes = np.linalg.eigh((centred * weights[:, None]).T @ centred)
    axes = axes[:, ::-1][:, :dim]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return mean, (axes * np.where(largest < 0, -1, 1)).astype(np.float32)


def mean_cosine(a: Matrix, b: Matrix) -> float:
    """The mean cosine between rows; a row of zeros counts 0."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(np.mean(np.sum(a * b, axis=1) / np.where(lengths > 0, lengths, 1)))
