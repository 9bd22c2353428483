"""Writes the word-vector file: docs/vectors-format.md of the repository describes it."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float32]


def quantize(matrix: ArrayLike) -> tuple[NDArray[np.int8], Matrix]:
    """Rows as int8 with one scale each: `matrix` is about `q * scale[:, None]`."""
    rows = np.asarray(matrix, np.float32)
    scales = np.abs(rows).max(axis=1, initial=0) / np.float32(127)
    unit = np.where(scales > 0, scales, np.float32(1))[:, None]
    quotient = rows / unit
    # Halves away from zero, as the library rounds.
    q = np.trunc(quotient + np.copysign(np.float32(0.5), quotient))
    return q.astype(np.int8), scales.astype("<f4")


def decode(q: NDArray[np.int8], scales: Matrix) -> Matrix:
    """The rows again."""
    return np.asarray(q.astype(np.float32) * scales[:, None], np.float32)


def checksum(words: Sequence[str], rows: Matrix, ids: Sequence[int] = ()) -> str:
    """The content checksum: dimension, number, words, decoded values, then `ids`."""
    digest = hashlib.sha256(struct.pack("<QQ", rows.shape[1], len(words)))
    for word in words:
        encoded = word.encode()
        digest.update(struct.pack("<I", len(encoded)) + encoded)
    digest.update(np.ascontiguousarray(rows, "<f4").tobytes())
    digest.update(np.asarray(ids, "<u4").tobytes())
    return digest.hexdigest()


def pack(words: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """The words' bytes without separators, and where each ends."""
    encoded = [word.encode() for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.uint64).astype("<u4")
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def write_vectors(
    path: str,
    words: Sequence[str],
    matrix: ArrayLike,
    precision: str = "int8",
    probabilities: ArrayLike | None = None,
    pieces: tuple[Sequence[str], ArrayLike, Sequence[int]] | None = None,
) -> None:
    """Writes words and rows, and, where given, the words' probabilities and the pieces
    that unknown words are composed of: `pieces` is (names, rows, ids of words that are
    pieces, too). The file appears in one step, once complete."""
    metadata = {"format": "wordmover-vectors", "version": "1", "precision": precision}
    tensors: dict[str, NDArray[Any]] = {}
    rows = _table(tensors, ("words", "word_ends", "vectors", "scales"), words, matrix, precision)
    metadata["checksum"] = checksum(words, rows)
    if probabilities is not None:
        tensors["probabilities"] = np.asarray(probabilities, "<f4")
    if pieces is not None:
        names, piece_matrix, ids = pieces
        tensors["piece_words"] = np.asarray(ids, "<u4")
        labels = ("pieces", "piece_ends", "piece_vectors", "piece_scales")
        rows = _table(tensors, labels, names, piece_matrix, precision)
        metadata["pieces_checksum"] = checksum(names, rows, ids)
    aside = f"{path}.unfinished-{os.getpid()}"
    try:
        with open(aside, "wb") as file:
            _write_container(file, metadata, tensors)
        os.replace(aside, path)
    except BaseException:
        if os.path.exists(aside):
            os.remove(aside)
        raise


def _table(
    tensors: dict[str, NDArray[Any]],
    labels: tuple[str, str, str, str],
    words: Sequence[str],
    matrix: ArrayLike,
    precision: str,
) -> Matrix:
    """Adds the tensors of one table and returns its rows as they will be read."""
    packed, ends, rows, scales = labels
    tensors[packed], tensors[ends] = pack(words)
    if precision == "int8":
        tensors[rows], tensors[scales] = quantize(matrix)
        return decode(tensors[rows], tensors[scales])
    tensors[rows] = np.asarray(matrix, {"f32": "<f4", "f16": "<f2"}[precision])
    return tensors[rows].astype(np.float32)


def _write_container(
    file: BinaryIO, metadata: dict[str, str], tensors: dict[str, NDArray[Any]]
) -> None:
    names = {"u4": "U32", "f4": "F32", "f2": "F16", "i1": "I8", "u1": "U8"}
    # Wide types first, so that every tensor is aligned.
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": metadata}
    offset = 0
    for name in order:
        tensor = tensors[name]
        end = offset + tensor.nbytes
        header[name] = {
            "dtype": names[tensor.dtype.str[1:]],
            "shape": list(tensor.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for name in order:
        file.write(np.ascontiguousarray(tensors[name]).tobytes())
