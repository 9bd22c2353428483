"""Arrow data, which Spark, Ray and polars speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow

from wordmover._native import Model, embed_column

if TYPE_CHECKING:
    from collections.abc import Callable

    #: A model, which reads texts where they are, or a function of a list of texts.
    Embed = Model | Callable[[list[str]], Any]


def embed_data(embed: Embed, data: Any, *, column: str, output: str) -> Any:
    """Arrow batches, tables or polars frames with the embeddings of one of their columns at
    the end."""
    if isinstance(data, pyarrow.RecordBatch):
        return embed_batch(embed, data, column=column, output=output)
    if isinstance(data, pyarrow.Table):
        _check(data.schema.names, column, output, "table")
        chunks = data.column(column)
        rows = [_embeddings(embed, chunk) for chunk in chunks.chunks]
        rows = rows or [_embeddings(embed, pyarrow.array([], chunks.type))]
        return data.append_column(output, pyarrow.chunked_array(rows))
    if type(data).__module__.startswith("polars.") and hasattr(data, "with_columns"):
        import polars

        _check(data.columns, column, output, "frame")
        embeddings = _embeddings(embed, data.get_column(column).to_arrow())
        added = polars.from_arrow(pyarrow.chunked_array([embeddings]))
        return data.with_columns(added.alias(output))  # type: ignore[union-attr]
    raise TypeError(
        "expected a pyarrow.RecordBatch, pyarrow.Table or polars.DataFrame, "
        f"found {type(data).__name__}"
    )


def embed_batch(
    embed: Embed, batch: pyarrow.RecordBatch, *, column: str, output: str
) -> pyarrow.RecordBatch:
    """The batch with the embeddings of one of its columns at the end."""
    if not isinstance(batch, pyarrow.RecordBatch):
        raise TypeError(f"expected a pyarrow.RecordBatch, found {type(batch).__name__}")
    _check(batch.schema.names, column, output, "batch")
    embeddings = _embeddings(embed, batch.column(column))
    field = pyarrow.field(output, embeddings.type)
    return pyarrow.RecordBatch.from_arrays(
        [*batch.columns, embeddings], schema=batch.schema.append(field)
    )


def _check(names: list[str], column: str, output: str, kind: str) -> None:
    if names.count(column) != 1:
        raise ValueError(f"the {kind} has no single column {column!r}: it has {names}")
    if output in names:
        raise ValueError(f"the {kind} has a column {output!r} already")


def _embeddings(embed: Embed, texts: Any) -> Any:
    if isinstance(texts, pyarrow.ChunkedArray):
        texts = texts.combine_chunks()
    if pyarrow.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    if isinstance(embed, Model):
        return pyarrow.array(embed_column(embed, texts))
    given = texts.to_pylist()
    rows = np.asarray(embed(["" if text is None else text for text in given]), dtype=np.float32)
    item = pyarrow.field("item", pyarrow.float32(), False)
    is_missing = pyarrow.array([text is None for text in given])
    return pyarrow.FixedSizeListArray.from_arrays(
        pyarrow.array(rows.ravel()), type=pyarrow.list_(item, rows.shape[1]), mask=is_missing
    )
