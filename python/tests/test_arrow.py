"""Arrow batches."""

import polars
import pyarrow
import pytest

from conftest import ODD
from wordmover import WordMoversEmbedding


@pytest.fixture
def embedding(headlines):
    return WordMoversEmbedding(n_features=6).fit(headlines)


@pytest.mark.parametrize("kind", [
    pyarrow.string(), pyarrow.large_string(),
    pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    # Not in the oldest versions we take.
    *([pyarrow.string_view()] if hasattr(pyarrow, "string_view") else []),
])
def test_every_layout_of_strings(embedding, headlines, kind):
    texts = [*headlines, *ODD]
    column = pyarrow.array(texts).cast(kind)
    batch = pyarrow.record_batch({"id": range(47), "text": column})
    embedded = embedding.embed_arrow(batch)
    assert embedded.schema.names == ["id", "text", "embedding"]
    assert embedded.column("text").equals(column)
    rows = embedded.column("embedding")
    assert rows.type == pyarrow.list_(pyarrow.field("item", pyarrow.float32(), False), 6)
    values = rows.flatten().to_numpy(zero_copy_only=True)
    assert values.tobytes() == embedding.encode(texts).tobytes()
    embedded.validate(full=True)


def test_missing_texts_have_missing_embeddings(embedding, headlines):
    batch = pyarrow.record_batch({"t": ["x", None, headlines[0], None, ""]})
    rows = embedding.embed_arrow(batch, column="t", output="z").column("z")
    assert rows.is_null().to_pylist() == [False, True, False, True, False]
    assert rows[2].as_py() == embedding.encode(headlines[0]).tolist()
    nothing = pyarrow.record_batch({"t": pyarrow.nulls(2)})
    assert embedding.embed_arrow(nothing, column="t").column("embedding").null_count == 2


def test_slices_and_empty_batches(embedding, headlines):
    batch = pyarrow.record_batch({"text": [None, *headlines]}).slice(5, 7)
    rows = embedding.embed_arrow(batch).column("embedding")
    assert rows.to_pylist() == embedding.encode(headlines[4:11]).tolist()
    assert embedding.embed_arrow(batch.slice(0, 0)).num_rows == 0


def test_what_is_refused(embedding):
    batch = pyarrow.record_batch({"text": ["goat"], "n": [1]})
    with pytest.raises(ValueError, match="no single column 'words': it has"):
        embedding.embed_arrow(batch, column="words")
    with pytest.raises(TypeError, match="expected a column of strings, found one of Int64"):
        embedding.embed_arrow(batch, column="n")
    with pytest.raises(ValueError, match="a column 'n' already"):
        embedding.embed_arrow(batch, output="n")
    with pytest.raises(TypeError, match="expected a pyarrow.RecordBatch, .*, found dict"):
        embedding.embed_arrow({"text": ["goat"]})
    lists = pyarrow.record_batch({"text": [["goat"]]})
    with pytest.raises(TypeError, match="column of strings, found one of List"):
        embedding.embed_arrow(lists)


def test_tables_and_frames(embedding, headlines):
    texts = [*headlines[:5], None]
    expected = embedding.encode(headlines[:5]).tolist() + [None]
    table = pyarrow.table({"id": range(6), "text": texts})
    chunked = pyarrow.concat_tables([table.slice(0, 2), table.slice(2)])
    for given in (table, chunked):
        embedded = embedding.embed_arrow(given)
        assert embedded.schema.names == ["id", "text", "embedding"]
        assert embedded.column("embedding").to_pylist() == expected
    assert embedding.embed_arrow(table.slice(0, 0)).num_rows == 0
    frame = embedding.embed_arrow(polars.DataFrame({"id": range(6), "text": texts}))
    assert frame.columns == ["id", "text", "embedding"]
    assert [row if row is None else list(row) for row in frame["embedding"]] == expected
    with pytest.raises(ValueError, match="the frame has a column 'id' already"):
        embedding.embed_arrow(polars.DataFrame({"id": [1], "text": ["x"]}), output="id")


def test_words_cut_in_python_count_too(headlines):
    embedding = WordMoversEmbedding(n_features=6, token_pattern="[a-z]+").fit(headlines)
    rows = embedding.embed_arrow(pyarrow.record_batch({"text": [headlines[0], None]}))
    assert rows.column("embedding").to_pylist() == [embedding.encode(headlines[0]).tolist(), None]
