"""Embeddings of a Spark DataFrame's texts, on its workers."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from wordmover._native import set_num_threads
from wordmover._workers import open_once

if TYPE_CHECKING:
    import pyarrow
    from pyspark import SparkContext
    from pyspark.sql import DataFrame


def embed(
    df: DataFrame,
    *,
    model: str | os.PathLike[str],
    column: str,
    output: str = "embedding",
    vectors: str | os.PathLike[str] | None = None,
    ship_files: bool = True,
) -> DataFrame:
    """The DataFrame with a column of embeddings (array of float) of its texts.

    `model` is a model file, and `vectors` the word vectors it needs if they are neither
    built in nor bundled. They are sent to the workers with the job; with
    `ship_files=False` they are paths that every worker can open. Each worker process
    opens them once and works with as many threads as `spark.task.cpus` says. A missing
    text has a missing embedding; all others have the bits of a single process, wherever
    and however often a task runs.
    """
    from pyspark.sql import types

    schema = df.schema
    if column not in schema.names:
        raise ValueError(f"the DataFrame has no column {column!r}: it has {schema.names}")
    if not isinstance(schema[column].dataType, types.StringType):
        held = schema[column].dataType.simpleString()
        raise TypeError(f"column {column!r} holds {held}, not text")
    if output in schema.names:
        raise ValueError(f"the DataFrame has a column {output!r} already")
    spark = df.sparkSession
    files = [os.fspath(file) for file in (model, vectors) if file is not None]
    if ship_files:
        files = [_ship(spark.sparkContext, file) for file in files]
    n_threads = int(spark.conf.get("spark.task.cpus", "1") or 1)

    def embed_batches(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow
        from pyspark import SparkFiles

        from wordmover._arrow import embed_batch

        set_num_threads(n_threads)
        opened = open_once(*(SparkFiles.get(file) if ship_files else file for file in files))
        for batch in batches:
            batch = embed_batch(opened, batch, column=column, output=output)
            # Spark knows no lists of a fixed size.
            rows = batch.column(output).cast(pyarrow.list_(pyarrow.float32()))
            position = batch.schema.get_field_index(output)
            yield batch.set_column(position, output, rows)

    embeddings = types.ArrayType(types.FloatType(), containsNull=False)
    embedded = types.StructType([*schema.fields, types.StructField(output, embeddings)])
    return df.mapInArrow(embed_batches, embedded)


def _ship(context: SparkContext, path: str) -> str:
    """Sends a file to the workers and says under which name.

    Spark sends a name once, whatever becomes of the file: the name therefore tells the
    content. And it reads the file when a worker asks for it, perhaps long after the caller
    has removed it: therefore a copy, which lasts as long as this process.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    name = f"{digest.hexdigest()[:32]}-{os.path.basename(path)}"
    copy = os.path.join(_copies().name, name)
    if not os.path.exists(copy):
        shutil.copyfile(path, copy)
    context.addFile(copy)
    return name


@functools.cache
def _copies() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="wordmover-")
