"""Cosines of embeddings, as sentence-transformers and MTEB ask for them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def cosines(first: Any, second: Any) -> Any:
    """Of all rows of the first with all of the second."""
    return _as_given(unit_rows(first) @ unit_rows(second).T, first, second)


def cosines_of_pairs(first: Any, second: Any) -> Any:
    """Of the rows with the same number."""
    return _as_given(np.sum(unit_rows(first) * unit_rows(second), axis=1), first, second)


def unit_rows(embeddings: Any) -> NDArray[np.float32]:
    """Rows of length 1; rows of zeros stay."""
    rows = np.atleast_2d(np.asarray(embeddings, dtype=np.float32))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.divide(rows, lengths, dtype=np.float32)


def _as_given(values: NDArray[np.float32], *given: Any) -> Any:
    """Tensors of tensors, arrays of everything else."""
    torch = sys.modules.get("torch")
    if torch is not None and all(isinstance(rows, torch.Tensor) for rows in given):
        return torch.from_numpy(values)
    return values
