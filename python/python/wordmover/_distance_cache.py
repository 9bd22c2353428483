"""Distances that were computed before.

They do not depend on gamma, which is what a grid search varies most; and a grid search
clones its estimators, so an estimator's own memory would not do. Rows are kept by
the content they belong to, the oldest leave first, and what would not fit is not kept.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Any, Protocol


class Distances(Protocol):
    """An array of them, or what the native side keeps."""

    @property
    def nbytes(self) -> int: ...


#: Bytes that may be kept in a process.
LIMIT = int(os.environ.get("WORDMOVER_CACHE_BYTES", 256 << 20))

# No lock, which a fork could leave locked: each step below is one step for the interpreter,
# and two threads at worst compute the same distances twice.
_kept: OrderedDict[str, Distances] = OrderedDict()


def is_worthwhile(n_distances: int) -> bool:
    """Whether so many may be kept."""
    return n_distances * 8 <= LIMIT


def get(key: str) -> Any:
    """The distances of that name, or None if they are not kept."""
    distances = _kept.pop(key, None)
    if distances is not None:
        _kept[key] = distances
    return distances


def put(key: str, distances: Distances) -> None:
    """Keeps distances, in the place of older ones."""
    if distances.nbytes > LIMIT:
        return
    _kept[key] = distances
    while sum(kept.nbytes for kept in list(_kept.values())) > LIMIT:
        try:
            _kept.popitem(last=False)
        except KeyError:
            break


def clear() -> None:
    """Forgets everything."""
    _kept.clear()
