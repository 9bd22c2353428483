"""One embedding in every output format."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import SENTENCES

N_FEATURES = 17


def write(wordmover, case, name, *options, texts=None):
    output = case.directory / name
    texts = texts or case.directory / "corpus.txt"
    model = ["--model", case.directory / "model.wme", "--vectors", case.directory / "vectors.txt"]
    wordmover("embed", texts, "-o", output, "--quiet", *model, *options)
    return output


@pytest.fixture
def embedded(wordmover, case):
    """The rows as numpy reads them, and what writes them in other forms."""
    case.fit("--features", N_FEATURES)
    rows = np.load(write(wordmover, case, "rows.npy"))
    return rows, lambda name, *options, **more: write(wordmover, case, name, *options, **more)


def bits(rows):
    return np.asarray(rows, np.float32).view(np.uint32).tolist()


def test_npy(embedded):
    rows, _ = embedded
    assert rows.dtype == np.dtype("<f4") and rows.flags.c_contiguous
    assert rows.shape == (len(SENTENCES), N_FEATURES)
    assert len(np.unique(rows)) > rows.size / 2


def test_parquet(embedded):
    rows, write = embedded
    table = pq.read_table(write("rows.parquet"))
    item = pa.field("element", pa.float32(), nullable=False)
    assert table.schema.remove_metadata() == pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            pa.field("embedding", pa.list_(item, N_FEATURES), nullable=False),
        ]
    )
    assert table["id"].to_pylist() == list(range(len(SENTENCES)))
    assert bits(table["embedding"].to_pylist()) == bits(rows)


def test_json_lines(embedded):
    rows, write = embedded
    lines = [json.loads(line) for line in write("rows.jsonl").read_text().splitlines()]
    assert all(line.keys() == {"id", "embedding"} for line in lines)
    assert [line["id"] for line in lines] == list(range(len(SENTENCES)))
    assert bits([line["embedding"] for line in lines]) == bits(rows)


def test_csv(embedded):
    rows, write = embedded
    with write("rows.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["id"] + [f"f{j}" for j in range(N_FEATURES)]
    assert [line[0] for line in lines] == [str(i) for i in range(len(SENTENCES))]
    assert bits([[float(x) for x in line[1:]] for line in lines]) == bits(rows)


def test_ids_of_the_input_are_kept(embedded, case):
    rows, write = embedded
    ids = [f"№ {i}, “quoted” \"twice\"" for i in range(len(SENTENCES))]
    texts = case.directory / "named.jsonl"
    with texts.open("w") as file:
        for id, text in zip(ids, SENTENCES):
            file.write(json.dumps({"name": id, "body": text}) + "\n")
    options = ["--field", "body", "--id-column", "name"]

    table = pq.read_table(write("named.parquet", *options, texts=texts))
    assert table.schema.field("id") == pa.field("id", pa.string(), nullable=False)
    assert table["id"].to_pylist() == ids
    assert bits(table["embedding"].to_pylist()) == bits(rows)

    with write("named.csv", *options, texts=texts).open(newline="") as file:
        assert [line[0] for line in csv.reader(file)] == ["id", *ids]
    lines = write("out.jsonl", *options, texts=texts).read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids


def test_nan_in_every_format(embedded):
    _, write = embedded
    on_empty = ["--on-empty", "nan"]
    rows = np.load(write("nan.npy", *on_empty))
    empty = np.isnan(rows).all(axis=1)
    assert empty.sum() == 4 and not np.isnan(rows[~empty]).any()
    lists = pq.read_table(write("nan.parquet", *on_empty))["embedding"]
    assert lists.null_count == 0
    np.testing.assert_array_equal(np.array(lists.to_pylist(), np.float32), rows)
    lines = write("nan.jsonl", *on_empty).read_text().splitlines()
    lists = [json.loads(line)["embedding"] for line in lines]
    assert [all(x is None for x in row) for row in lists] == empty.tolist()
    table = np.genfromtxt(write("nan.csv", *on_empty), delimiter=",", names=True)
    assert np.isnan(table["f0"]).tolist() == empty.tolist()
