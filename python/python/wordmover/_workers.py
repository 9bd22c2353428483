"""What a worker process opens, it opens once."""

from __future__ import annotations

import functools

from wordmover._native import Model, WordVectors


@functools.lru_cache(maxsize=4)
def open_once(model: str, vectors: str | None = None) -> Model:
    """The model of that file, which does not change while workers use it."""
    opened = None if vectors is None else WordVectors.load(vectors)
    return Model.open(model, vectors=opened)
