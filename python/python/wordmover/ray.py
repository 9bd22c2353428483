"""Embeddings of a Ray Dataset's texts, on its workers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pyarrow

from wordmover._arrow import embed_batch
from wordmover._native import set_num_threads
from wordmover._workers import open_once

if TYPE_CHECKING:
    from ray.data import Dataset


class Embedder:
    """The class for `Dataset.map_batches`: an actor opens the model once.

    >>> ds.map_batches(  # doctest: +SKIP
    ...     Embedder, batch_format="pyarrow", concurrency=2, num_cpus=1,
    ...     fn_constructor_kwargs={"model": "news.wme", "column": "text"})
    """

    def __init__(
        self,
        *,
        model: str,
        column: str,
        output: str = "embedding",
        vectors: str | None = None,
        n_threads: int = 1,
    ) -> None:
        set_num_threads(n_threads)
        self._model = open_once(model, vectors)
        self._column = column
        self._output = output

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        """The table with a column of embeddings."""
        [batch] = table.combine_chunks().to_batches() or [
            pyarrow.RecordBatch.from_pylist([], schema=table.schema)
        ]
        batch = embed_batch(self._model, batch, column=self._column, output=self._output)
        return pyarrow.Table.from_batches([batch])


def embed(
    dataset: Dataset,
    *,
    model: str | os.PathLike[str],
    column: str,
    output: str = "embedding",
    vectors: str | os.PathLike[str] | None = None,
    concurrency: int | tuple[int, int] = 1,
    num_cpus: int = 1,
    **map_batches_options: Any,
) -> Dataset:
    """The dataset with a column of embeddings of its texts.

    `model` and `vectors` are paths that every worker can open. `concurrency` actors of
    `num_cpus` threads each do the work; what else `Dataset.map_batches` takes may be given.
    """
    arguments = {
        "model": os.fspath(model),
        "column": column,
        "output": output,
        "vectors": None if vectors is None else os.fspath(vectors),
        "n_threads": num_cpus,
    }
    return dataset.map_batches(
        Embedder,
        batch_format="pyarrow",
        concurrency=concurrency,
        num_cpus=num_cpus,
        fn_constructor_kwargs=arguments,
        **map_batches_options,
    )
