"""The native word-vector file, read and written by Python."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from conftest import make_vectors, write_glove
from reader import Vectors, read_safetensors

DIM = 10


@pytest.fixture
def table(tmp_path):
    """Ordinary rows, and some at the edges of what half precision and int8 can hold."""
    vectors = make_vectors(DIM, seed=6)
    rows = vectors.rows
    rows[0] *= 1e-6
    rows[1] *= 1e4
    rows[2] = 0.0
    rows[3] = [1e-45] + [0.0] * 9
    # The scale is exactly 1, and halves show which way they go.
    rows[4] = [127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -127.0, 126.5, 0.25]
    rows[5] = [65504.0, 2.0**-24, 2.0**-25, 2049.0, 2051.0, -65504.0, 1e-8, 3.0, 5e-8, -6.1e-5]
    write_glove(vectors, tmp_path / "vectors.txt")
    return vectors


def convert(wordmover, directory, precision, *options):
    path = directory / f"{precision}.safetensors"
    options = ["-o", path, "--precision", precision, "--force", *options]
    wordmover("vectors", "convert", directory / "vectors.txt", *options)
    return path


def quantized(rows, precision):
    """Stored values and decoded ones, by the page's rules."""
    if precision == "f32":
        return rows, rows
    if precision == "f16":
        stored = rows.astype(np.float16)
        return stored, stored.astype(np.float32)
    scales = np.abs(rows).max(axis=1) / np.float32(127.0)
    with np.errstate(all="ignore"):
        steps = rows / scales[:, None]
    steps = np.where(scales[:, None] > 0.0, steps, 0.0).astype(np.float64)
    stored = (np.sign(steps) * np.floor(np.abs(steps) + 0.5)).clip(-127, 127).astype(np.int8)
    return stored, stored.astype(np.float32) * scales[:, None]


@pytest.mark.parametrize("precision", ["f32", "f16", "int8"])
def test_values_and_checksum(wordmover, tmp_path, table, precision):
    path = convert(wordmover, tmp_path, precision)
    metadata, tensors = read_safetensors(path)
    stored, decoded = quantized(table.rows, precision)
    n_words = len(table.words)
    types = {
        "word_ends": ("uint32", (n_words,)),
        "vectors": (str(stored.dtype), (n_words, DIM)),
        "words": ("uint8", (sum(len(word.encode()) for word in table.words),)),
    }
    if precision == "int8":
        types["scales"] = ("float32", (n_words,))
    assert {name: (str(t.dtype), t.shape) for name, t in tensors.items()} == types
    assert tensors["vectors"].tobytes() == stored.tobytes()

    vectors, _ = Vectors.read(path)
    assert vectors.words == table.words
    assert vectors.rows.tobytes() == decoded.tobytes()
    assert metadata == {
        "format": "wordmover-vectors",
        "version": "1",
        "precision": precision,
        "checksum": vectors.checksum(),
    }
    wordmover("vectors", "info", path, "--verify")


def test_the_checksum_is_that_of_the_text_file(wordmover, tmp_path, table):
    info = wordmover("vectors", "info", tmp_path / "vectors.txt", "--json")
    assert json.loads(info)["checksum"] == table.checksum()
    metadata, _ = read_safetensors(convert(wordmover, tmp_path, "f32"))
    assert metadata["checksum"] == table.checksum()


@pytest.mark.parametrize("precision", ["f16", "int8"])
def test_a_limit_has_a_checksum_of_its_own(wordmover, tmp_path, table, precision):
    path = convert(wordmover, tmp_path, precision)
    info = json.loads(wordmover("vectors", "info", path, "--limit", 9, "--json"))
    whole, _ = Vectors.read(path)
    first = Vectors(whole.words[:9], whole.rows[:9])
    assert (info["words"], info["checksum"]) == (9, first.checksum())


def test_a_file_written_by_another_program_is_read(wordmover, tmp_path, table):
    metadata, tensors = read_safetensors(convert(wordmover, tmp_path, "int8"))
    tensors["vectors"][6, 0] = -128
    path = tmp_path / "ours.safetensors"
    save_file(tensors, path, metadata)
    vectors, _ = Vectors.read(path)
    assert vectors.rows[6, 0] == -128 * tensors["scales"][6]
    # The rows are not what the header states, and that shows only when asked.
    wordmover("vectors", "info", path)
    assert "checksum" in wordmover("vectors", "info", path, "--verify", refused=True)
    save_file(tensors, path, metadata | {"checksum": vectors.checksum()})
    wordmover("vectors", "info", path, "--verify")


def set_metadata(key, value):
    return lambda metadata, tensors: metadata.__setitem__(key, value)


def set_value(name, place, value):
    return lambda metadata, tensors: tensors[name].__setitem__(place, value)


def set_tensor(name, change):
    return lambda metadata, tensors: tensors.__setitem__(name, change(tensors[name]))


def repeat_first_word(metadata, tensors):
    """Two words of one letter, the same."""
    tensors["words"][:2] = ord("x")
    tensors["word_ends"][:2] = [1, 2]


REFUSALS = {
    "format": (set_metadata("format", "other"), "not of word vectors"),
    "version": (set_metadata("version", "0"), "version `0` of the word-vector format"),
    "precision": (set_metadata("precision", "int4"), "metadata `precision`"),
    "checksum": (set_metadata("checksum", "A" * 64), "metadata `checksum`"),
    "type": (set_tensor("vectors", lambda t: t.astype(np.float32)), "tensor `vectors` is F32"),
    "shape": (set_tensor("vectors", lambda t: t.reshape(-1)), "tensor `vectors` is I8"),
    "ends": (set_tensor("word_ends", lambda t: t[:-1].copy()), "tensor `word_ends` is U32"),
    "scales": (set_tensor("scales", lambda t: t[:-1].copy()), "tensor `scales` is F32"),
    "an empty word": (set_value("word_ends", 0, 0), "there is no word"),
    "ends out of order": (set_value("word_ends", 0, 10**6), "the word ends at byte 1000000"),
    "bytes left": (set_tensor("words", lambda t: np.append(t, t[:1])), "the words end at byte"),
    "not UTF-8": (set_value("words", 0, 0xFF), "not valid UTF-8"),
    "a word twice": (repeat_first_word, "stands already"),
    "a scale below 0": (set_value("scales", 0, -1.0), "not a usable row scale"),
    "a scale too large": (set_value("scales", 0, 3e36), "not a usable row scale"),
    "a scale of NaN": (set_value("scales", 0, np.nan), "not a usable row scale"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_file_that_breaks_a_rule_is_refused(wordmover, tmp_path, table, name):
    change, message = REFUSALS[name]
    path = convert(wordmover, tmp_path, "int8")
    metadata, tensors = read_safetensors(path)
    change(metadata, tensors)
    save_file(tensors, path, metadata)
    assert message in wordmover("vectors", "info", path, refused=True)


def test_rows_are_checked_when_they_are_used(wordmover, tmp_path, table):
    path = convert(wordmover, tmp_path, "f32")
    metadata, tensors = read_safetensors(path)
    tensors["vectors"][table.ids["bread"], 3] = np.nan
    save_file(tensors, path, metadata)
    wordmover("distance", "honey", "salt", "--vectors", path)
    assert "finite" in wordmover("distance", "honey", "bread", "--vectors", path, refused=True)


def test_what_half_precision_cannot_hold_is_refused(wordmover, tmp_path):
    rows = np.array([[65520.0, 1.0], [0.0, 1.0]], np.float32)
    write_glove(Vectors(["big", "small"], rows), tmp_path / "vectors.txt")
    output = ["-o", tmp_path / "f16.safetensors"]
    said = wordmover(
        *("vectors", "convert", tmp_path / "vectors.txt", "--precision", "f16", *output),
        refused=True,
    )
    assert "too large for f16" in said
    # Just below, rounding to nearest leads back to the greatest number.
    rows[0, 0] = np.nextafter(np.float32(65520.0), np.float32(0.0))
    write_glove(Vectors(["big", "small"], rows), tmp_path / "vectors.txt")
    assert Vectors.read(convert(wordmover, tmp_path, "f16"))[0].rows[0, 0] == 65504.0
