"""The random documents follow from the seed, the vocabulary and the vectors."""

import json

import numpy as np
import pytest

from chacha8 import Stream, block
from conftest import NEW_SENTENCES, SENTENCES, Case, make_vectors, write_texts
from reader import Model

NORMALIZATIONS = ["none", "unit", "center", "center-unit"]


def assert_drawn(model, vectors):
    n_features = model.parameters["n_features"]
    documents = model.draw(vectors, n_features)
    lengths = [len(document) for document in documents]
    assert model.tensors["random_lengths"].tolist() == lengths
    words = np.array([word for document in documents for word in document], np.float32)
    found = model.tensors["random_words"]
    assert found.shape == (sum(lengths), vectors.dim)
    if model.parameters["random_words"] == "gaussian":
        # Logarithm and cosine may differ in the last bit of f64.
        np.testing.assert_allclose(found, words, rtol=1e-6, atol=1e-9)
    else:
        np.testing.assert_array_equal(found.view(np.uint32), words.view(np.uint32))


def test_our_chacha8_is_chacha8():
    # Key, counter and nonce all zero: a published test vector.
    expected = (
        "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
        "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
    )
    assert np.array(block(bytes(32), 0, 0), "<u4").tobytes().hex() == expected


def test_our_draws_are_those_of_the_page():
    stream = Stream(7, 3)
    assert stream.uniform() == 0.6629217734268726
    assert stream.below(1000) == 504
    assert stream.normal() == pytest.approx(1.5723425728118112, rel=1e-15)
    assert [stream.uniform(), stream.uniform()] == [0.0014952113273849488, 0.6368686005444216]


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("distribution", ["uniform", "uniform-centered", "gaussian", "vocabulary"])
def test_random_words_follow_from_the_seed(case, distribution, normalization):
    model = case.fit(
        *("--features", 40, "--seed", 7, "--gamma", 1),
        *("--random-words", distribution, "--normalize", normalization),
    )
    assert_drawn(model, case.vectors)
    if normalization in ("center", "center-unit"):
        assert model.tensors["center"].tolist() == model.center(case.vectors)
    else:
        assert "center" not in model.tensors


@pytest.mark.parametrize("seed", [0, 2**53 + 1, 2**64 - 1])
@pytest.mark.parametrize("d_max", [1, 21])
def test_any_seed_and_length(case, seed, d_max):
    model = case.fit("--features", 30, "--seed", seed, "--d-max", d_max, "--gamma", "none")
    assert (model.parameters["seed"], model.parameters["d_max"]) == (seed, d_max)
    assert_drawn(model, case.vectors)


def test_rare_words_are_not_drawn_around(case):
    options = ["--features", 30, "--min-count", 4, "--normalize", "center-unit", "--gamma", 1]
    model = case.fit(*options, "--random-words", "vocabulary")
    assert 1 < len(model.drawn_words()) < len(model.vocabulary)
    assert model.tensors["center"].tolist() == model.center(case.vectors)
    assert_drawn(model, case.vectors)


def test_random_words_of_the_corpus_are_those_words(wordmover, tmp_path):
    """Scaled once: in three dimensions a second time would show."""
    case = Case(wordmover, tmp_path, make_vectors(dim=3, seed=3), SENTENCES)
    model = case.fit("--features", 300, "--d-max", 1, "--random-words", "vocabulary", "--gamma", 1)
    assert_drawn(model, case.vectors)
    words = {tuple(model.normalized(word, case.vectors)) for word in model.vocabulary}
    assert all(tuple(row) in words for row in model.tensors["random_words"].tolist())


def test_the_first_random_documents_do_not_depend_on_their_number(case):
    few = case.fit("--features", 11).tensors
    many = case.fit("--features", 50).tensors
    n_words = few["random_words"].shape[0]
    np.testing.assert_array_equal(few["random_lengths"], many["random_lengths"][:11])
    np.testing.assert_array_equal(few["random_words"], many["random_words"][:n_words])


def test_a_bundled_model_needs_nothing_else(wordmover, tmp_path):
    """Built-in vectors, from the model file alone to random documents and features."""
    write_texts(SENTENCES, tmp_path / "corpus.txt")
    write_texts(NEW_SENTENCES, tmp_path / "new.txt")
    options = ["--features", 12, "--normalize", "center-unit", "--random-words", "uniform-centered"]
    options += ["--stop-words", "none", "--weights", "tfidf", "--bundle-vectors"]
    wordmover("fit", tmp_path / "corpus.txt", "-o", tmp_path / "model.wme", *options)
    model = Model(tmp_path / "model.wme")
    vectors, metadata = model.bundled_vectors(tmp_path / "vectors.safetensors")
    assert metadata["precision"] == "int8"
    identity = (len(vectors.words), vectors.dim, vectors.checksum())
    assert identity == tuple(model.identity[key] for key in ("words", "dim", "checksum"))
    assert model.tensors["center"].tolist() == model.center(vectors)
    assert_drawn(model, vectors)
    # Words that the table lacks are composed of pieces.
    assert model.parameters["unknown"] == "compose" and model.unknown_words
    assert model.gamma == pytest.approx(model.auto_gamma(SENTENCES, vectors), rel=5e-7)

    output = tmp_path / "new.npy"
    wordmover("embed", tmp_path / "new.txt", "--model", tmp_path / "model.wme", "-o", output)
    features = model.features(NEW_SENTENCES, vectors)
    np.testing.assert_allclose(np.load(output), features, rtol=1e-5, atol=1e-5)


def test_the_program_states_what_the_file_states(wordmover, case):
    model = case.fit("--features", 9, "--gamma", 0.5)
    info = json.loads(wordmover("info", case.directory / "model.wme", "--json"))
    assert info["parameters"] == model.parameters
    assert info["random_words"] == model.tensors["random_words"].shape[0]
    assert info["vectors"] == model.identity | {"bundled": False}
