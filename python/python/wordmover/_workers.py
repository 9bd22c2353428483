"""What a worker process opens, it opens once."""

from __future__ import annotations

import functools
import os

from wordmover._native import Model, WordVectors


def open_once(model: str, vectors: str | None = None) -> Model:
    """The model of that file; opened anew if the file has changed."""
    return _open(model, _state(model), vectors, None if vectors is None else _state(vectors))


def _state(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=4)
def _open(model: str, _model_state: object, vectors: str | None, _vectors_state: object) -> Model:
    opened = None if vectors is None else WordVectors.load(vectors)
    return Model.open(model, vectors=opened)
