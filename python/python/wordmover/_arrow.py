"""Batches of Arrow data, which Spark and Ray speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow

from wordmover._native import embed_column

if TYPE_CHECKING:
    from wordmover._native import Model


def embed_batch(
    model: Model, batch: pyarrow.RecordBatch, *, column: str, output: str
) -> pyarrow.RecordBatch:
    """The batch with the embeddings of one of its columns at the end."""
    if not isinstance(batch, pyarrow.RecordBatch):
        raise TypeError(f"expected a pyarrow.RecordBatch, found {type(batch).__name__}")
    names = batch.schema.names
    if names.count(column) != 1:
        raise ValueError(f"the batch has no single column {column!r}: it has {names}")
    if output in names:
        raise ValueError(f"the batch has a column {output!r} already")
    texts = batch.column(column)
    if pyarrow.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    embeddings = pyarrow.array(embed_column(model, texts))
    field = pyarrow.field(output, embeddings.type)
    return pyarrow.RecordBatch.from_arrays(
        [*batch.columns, embeddings], schema=batch.schema.append(field)
    )
