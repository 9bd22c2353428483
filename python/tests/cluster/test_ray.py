"""Ray Data: two actors, one of which dies."""

import os
import signal
import tempfile

import numpy as np
import pytest

from conftest import HEADLINES, ODD
from wordmover import WordMoversEmbedding

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

import wordmover.ray  # noqa: E402

TEXTS = [*HEADLINES, *ODD] * 20


@pytest.fixture(scope="module", autouse=True)
def cluster():
    # Of its own, so that it can be removed; and short, since sockets lie in it.
    with tempfile.TemporaryDirectory(prefix="ray-") as folder:
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, _temp_dir=folder)
        yield
        ray.shutdown()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.wme"
    WordMoversEmbedding(n_features=64).fit(HEADLINES).save(path)
    return path


def dataset():
    rows = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]
    return ray.data.from_items(rows, override_num_blocks=10)


def collected(embedded):
    rows = sorted(embedded.take_all(), key=lambda row: row["id"])
    return [row["id"] for row in rows], np.array([row["embedding"] for row in rows], np.float32)


def test_two_actors_give_the_bits_of_one_process(model):
    expected = WordMoversEmbedding.load(model).encode(TEXTS).tobytes()
    embedded = wordmover.ray.embed(
        dataset(), model=model, column="text", concurrency=2, batch_size=33
    )
    ids, rows = collected(embedded)
    assert ids == list(range(len(TEXTS)))
    assert rows.tobytes() == expected


def test_a_killed_actor_loses_and_doubles_nothing(model, tmp_path):
    expected = WordMoversEmbedding.load(model).encode(TEXTS).tobytes()
    flag = tmp_path / "killed"

    # Here, so that it is sent to the actors, which cannot import this file.
    class Dying(wordmover.ray.Embedder):
        """Kills its own process once, in the middle of the work."""

        def __init__(self, *, flag, **options):
            super().__init__(**options)
            self._flag = flag

        def __call__(self, table):
            if 300 in table.column("id").to_pylist():
                try:
                    os.close(os.open(self._flag, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(table)

    embedded = dataset().map_batches(
        Dying, batch_format="pyarrow", batch_size=33, concurrency=2, num_cpus=1,
        fn_constructor_kwargs={"flag": str(flag), "model": str(model), "column": "text"},
    )
    ids, rows = collected(embedded)
    assert flag.exists(), "nobody was killed"
    assert ids == list(range(len(TEXTS)))
    assert rows.tobytes() == expected


def test_an_empty_table_and_a_wrong_column(model):
    import pyarrow

    embedder = wordmover.ray.Embedder(model=str(model), column="text")
    empty = pyarrow.table({"text": pyarrow.array([], pyarrow.string())})
    assert embedder(empty).column_names == ["text", "embedding"]
    with pytest.raises(ValueError, match="no single column 'text'"):
        embedder(pyarrow.table({"words": ["goat"]}))
