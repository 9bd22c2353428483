"""Spark: two worker processes of a local cluster, one of which is killed."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from conftest import HEADLINES, ODD
from wordmover import WordMoversEmbedding

pyspark = pytest.importorskip("pyspark")

import wordmover.spark  # noqa: E402

TEXTS = [*HEADLINES, *ODD] * 40


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """Two workers, each a Java process of its own with Python processes of its own."""
    os.environ.setdefault("SPARK_HOME", str(pathlib.Path(pyspark.__file__).parent))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    folder = tmp_path_factory.mktemp("spark")
    session = (
        pyspark.sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("wordmover tests")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(folder))
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    application = session.sparkContext.applicationId
    yield session
    session.stop()
    # Workers of a local cluster leave what they were sent with the package.
    shutil.rmtree(pathlib.Path(os.environ["SPARK_HOME"]) / "work" / application)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.wme"
    WordMoversEmbedding(n_features=64).fit(HEADLINES).save(path)
    return path


def frame(spark, texts, n_partitions=8):
    rows = list(enumerate(texts))
    return spark.createDataFrame(rows, "id long, text string").repartition(n_partitions)


def collected(df):
    """Ids and embeddings in the order of the ids; every row exactly once."""
    rows = sorted(df.select("id", "embedding").collect())
    return [row.id for row in rows], [row.embedding for row in rows]


def as_bytes(rows):
    return np.array(rows, dtype=np.float32).tobytes()


def test_two_workers_give_the_bits_of_one_process(spark, model):
    expected = WordMoversEmbedding.load(model).encode(TEXTS).tobytes()
    embedded = wordmover.spark.embed(frame(spark, TEXTS), model=model, column="text")
    assert embedded.columns == ["id", "text", "embedding"]
    ids, rows = collected(embedded)
    assert ids == list(range(len(TEXTS)))
    assert as_bytes(rows) == expected
    # A path that every worker can open needs no sending.
    shared = wordmover.spark.embed(
        frame(spark, TEXTS[:50]), model=model, column="text", ship_files=False
    )
    assert as_bytes(collected(shared)[1]) == expected[: 50 * 64 * 4]


def test_missing_texts(spark, model):
    df = spark.createDataFrame([(0, "goat"), (1, None)], "id long, text string")
    rows = collected(wordmover.spark.embed(df, model=model, column="text"))[1]
    assert len(rows[0]) == 64 and rows[1] is None


def test_vectors_are_sent_too(spark, tmp_path, toy):
    toy.save(tmp_path / "toy.safetensors")
    fitted = WordMoversEmbedding(vectors=toy, n_features=9).fit(["cat dog", "sea"])
    fitted.save(tmp_path / "toy.wme")
    embedded = wordmover.spark.embed(
        frame(spark, ["cat", "ship sea"], 2), model=tmp_path / "toy.wme", column="text",
        vectors=tmp_path / "toy.safetensors",
    )
    assert as_bytes(collected(embedded)[1]) == fitted.encode(["cat", "ship sea"]).tobytes()


def test_a_model_that_was_replaced_is_not_taken_for_the_old_one(spark, tmp_path):
    path = tmp_path / "m.wme"
    for ship_files in (True, False):
        for seed in (1, 2):
            fitted = WordMoversEmbedding(n_features=5, random_state=seed).fit(HEADLINES)
            fitted.save(path)
            df = frame(spark, HEADLINES[:6], 2)
            embedded = wordmover.spark.embed(df, model=path, column="text", ship_files=ship_files)
            if ship_files:
                path.unlink()
            assert as_bytes(collected(embedded)[1]) == fitted.encode(HEADLINES[:6]).tobytes()


def test_a_killed_worker_loses_and_doubles_nothing(spark, model, tmp_path):
    """In the middle of the job one Java process with its Python processes is killed."""
    expected = WordMoversEmbedding.load(model).encode(TEXTS).tobytes()
    killed = tmp_path / "killed"
    record = tmp_path / "tasks"
    record.mkdir()

    def work_and_die(batches):
        """Passes batches on; kills the executor once, in the middle of a task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        (record / f"{context.partitionId()}-{context.attemptNumber()}-{os.getpid()}").touch()
        for n, batch in enumerate(batches):
            if context.partitionId() == 5 and n == 1:
                try:
                    killed.touch(exist_ok=False)
                except FileExistsError:
                    pass
                else:
                    java = os.getppid()
                    while "java" not in pathlib.Path(f"/proc/{java}/cmdline").read_text():
                        status = pathlib.Path(f"/proc/{java}/stat").read_text()
                        java = int(status.rpartition(")")[2].split()[1])
                    os.kill(java, 9)
                    time.sleep(60)
            yield batch

    source = frame(spark, TEXTS)
    passed = source.mapInArrow(work_and_die, source.schema)
    ids, rows = collected(wordmover.spark.embed(passed, model=model, column="text"))
    assert killed.exists(), "nobody was killed"
    attempts = [name.name.split("-") for name in record.iterdir()]
    assert any(partition == "5" and int(attempt) > 0 for partition, attempt, _ in attempts)
    assert len({process for _, _, process in attempts}) >= 3
    assert ids == list(range(len(TEXTS)))
    assert as_bytes(rows) == expected
    print("\n(partition, attempt, process):", sorted(map(tuple, attempts)))


def test_what_is_refused(spark, model, tmp_path):
    df = frame(spark, ["goat"])
    with pytest.raises(ValueError, match="no column 'words'"):
        wordmover.spark.embed(df, model=model, column="words")
    with pytest.raises(TypeError, match="column 'id' holds bigint, not text"):
        wordmover.spark.embed(df, model=model, column="id")
    with pytest.raises(ValueError, match="a column 'id' already"):
        wordmover.spark.embed(df, model=model, column="text", output="id")
    with pytest.raises(FileNotFoundError):
        wordmover.spark.embed(df, model=tmp_path / "none.wme", column="text")


def test_the_example(spark):
    example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "spark_job.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "MASTER": "local[2]"}, check=False)
    assert done.returncode == 0, done.stderr
    assert "40 documents embedded" in done.stdout
