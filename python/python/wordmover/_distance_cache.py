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


#: Fewer distances than this are sooner computed than looked up: a service that embeds text by
#: text would keep them all, and never meet one again.
FEWEST = 1 << 13

#: Bytes that may be kept in a process.
LIMIT = int(os.environ.get("WORDMOVER_CACHE_BYTES", 256 << 20))

# No lock, which a fork could leave locked: each step below is one step for the interpreter,
# and two threads at worst compute the same distances twice, or count bytes of an entry that
# has just left, which the next `put` sets right.
_kept: OrderedDict[str, Distances] = OrderedDict()
_n_bytes = 0


def is_worthwhile(n_distances: int) -> bool:
    """Whether so many are kept."""
    return FEWEST <= n_distances <= LIMIT // 4


def get(key: str) -> Any:
    """The distances of that name, or None if they are not kept."""
    try:
        _kept.move_to_end(key)
        return _kept[key]
    except KeyError:
        return None


def put(key: str, distances: Distances) -> None:
    """Keeps distances, in the place of older ones."""
    global _n_bytes
    if distances.nbytes > LIMIT:
        return
    replaced = _kept.pop(key, None)
    _n_bytes += distances.nbytes - (replaced.nbytes if replaced is not None else 0)
    _kept[key] = distances
    while _n_bytes > LIMIT:
        try:
            _, oldest = _kept.popitem(last=False)
        except KeyError:
            _n_bytes = 0
            break
        _n_bytes -= oldest.nbytes


def clear() -> None:
    """Forgets everything."""
    global _n_bytes
    _kept.clear()
    _n_bytes = 0
