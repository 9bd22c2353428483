"""Features recomputed from the model file with POT's exact solver."""

import itertools

import numpy as np
import pytest

from conftest import KNOWN_WORDS, NEW_SENTENCES, SENTENCES, Case, make_vectors

TEXTS = SENTENCES + NEW_SENTENCES


def assert_features(case, model, texts):
    found = case.embed(texts)
    assert found.dtype == np.float32
    expected = model.features(texts, case.vectors)
    # Distances agree to 2e-7; the exponential multiplies that by gamma times the distance,
    # and the post-processing by the size of a raw feature over its spread.
    raw = model.raw_features(texts, case.vectors)
    exponent = np.zeros_like(raw)
    if model.gamma is not None:
        scaled = raw * np.sqrt(raw.shape[1])
        exponent = -np.log(scaled, where=raw > 0, out=exponent)
    tolerance = 2e-7 * (1 + exponent) * raw
    if model.parameters["post_processing"] in ("standardize", "unit"):
        tolerance = tolerance * model.tensors["feature_scales"]
    # What a component takes away can leave little: then its rounding is what remains.
    if model.parameters["components"] != "keep":
        tolerance = tolerance.max() + 1e-6 * np.abs(expected).max()
    difference = np.abs(found - expected)
    assert (difference <= tolerance + 2e-7 * np.abs(expected)).all(), difference.max()
    empty = [not model.bag(text, case.vectors)[0] for text in texts]
    assert (found[empty] == 0.0).all()
    return empty


@pytest.mark.parametrize("normalization", ["none", "unit", "center", "center-unit"])
@pytest.mark.parametrize("weights", ["nbow", "tfidf", "sif"])
@pytest.mark.parametrize("gamma", ["0.7", "none"])
def test_features_are_those_of_an_exact_solver(case, weights, normalization, gamma):
    model = case.fit(
        *("--features", 24, "--weights", weights, "--normalize", normalization),
        *("--gamma", gamma, "--d-max", 7, "--raw"),
    )
    assert model.gamma == (None if gamma == "none" else 0.7)
    empty = assert_features(case, model, TEXTS)
    # Two blank lines, one of unknown words and one without letters; among the new, two.
    assert sum(empty) == 6


@pytest.mark.parametrize("normalization", ["none", "unit"])
def test_unknown_words_have_vectors_drawn_from_a_hash(case, normalization):
    options = ["--unknown", "random", "--normalize", normalization, "--weights", "tfidf"]
    model = case.fit("--features", 24, "--gamma", "0.7", "--raw", *options)
    assert model.parameters["unknown"] == "random"
    # What is left are blank lines and such without letters.
    assert sum(assert_features(case, model, TEXTS)) < 6


@pytest.mark.parametrize("post_processing", ["raw", "center", "standardize", "unit"])
@pytest.mark.parametrize("components", ["flatten=3", "remove=2"])
def test_post_processed_features_and_how_they_were_fitted(case, post_processing, components):
    options = ["--post-processing", post_processing, "--components", components, "--seed", 4]
    model = case.fit("--features", 24, *options)
    assert_features(case, model, TEXTS)
    # Distances agree to 2e-7.
    means, scales, directions, kept = model.fitted_post_processing(case.texts, case.vectors)
    if post_processing != "raw":
        np.testing.assert_allclose(model.tensors["feature_means"], means, rtol=1e-6)
    if post_processing in ("standardize", "unit"):
        np.testing.assert_allclose(model.tensors["feature_scales"], scales, rtol=1e-5)
    np.testing.assert_allclose(model.tensors["component_scales"], kept, rtol=1e-5)
    for found, expected in zip(model.tensors["components"], directions, strict=True):
        assert found[np.argmax(np.abs(found))] > 0
        assert abs(found @ expected) == pytest.approx(1, abs=1e-6)


def test_word_frequencies_come_from_a_file_or_the_corpus(case):
    (case.directory / "counts.txt").write_text("the 60\nsea 5\nelsewhere 35\n")
    options = ["--features", 8, "--weights", "sif", "--raw", "--gamma", 1]
    model = case.fit(*options, "--frequencies", case.directory / "counts.txt")
    assert model.metadata["word_probabilities"] == "counts.txt"
    assert model.probability("the", case.vectors) == pytest.approx(0.6)
    assert model.probability("goat", case.vectors) == 0
    assert_features(case, model, TEXTS)
    model = case.fit(*options, "--frequencies", "corpus")
    assert "word_probabilities" not in model.tensors
    assert_features(case, model, TEXTS)


@pytest.mark.parametrize("distribution", ["uniform-centered", "gaussian", "vocabulary"])
def test_other_random_words(case, distribution):
    options = ["--features", 24, "--random-words", distribution, "--normalize", "none"]
    assert_features(case, case.fit(*options, "--gamma", 0.3), TEXTS)


def test_rare_words_are_dropped_and_long_documents_cut(case):
    options = ["--features", 24, "--min-count", 3, "--max-words", 3, "--weights", "tfidf"]
    model = case.fit(*options, "--gamma", 2)
    lengths = [len(model.bag(text, case.vectors)[0]) for text in TEXTS]
    assert max(lengths) == 3
    assert model.bag("lighthouse music cheese", case.vectors)[0] == ["lighthouse"]
    assert_features(case, model, TEXTS)


@pytest.mark.parametrize(("dim", "d_max"), [(8, 1), (20, 15)])
def test_other_dimensions_and_lengths(wordmover, tmp_path, dim, d_max):
    case = Case(wordmover, tmp_path, make_vectors(dim, seed=dim), SENTENCES)
    model = case.fit("--features", 16, "--d-max", d_max, "--normalize", "center", "--gamma", 0.2)
    assert_features(case, model, TEXTS)


def test_documents_without_words_can_be_nan(case):
    case.fit("--features", 4)
    rows = case.embed(["bread", "", "zzyx"], "--on-empty", "nan")
    assert np.isfinite(rows[0]).all() and np.isnan(rows[1:]).all()


@pytest.mark.parametrize("options", [[], ["--min-count", 3, "--weights", "tfidf"]])
def test_auto_gamma_is_one_over_the_median(case, options):
    model = case.fit("--features", 5, "--seed", 3, *options)
    assert model.parameters["gamma"] == "auto"
    expected = model.auto_gamma(case.texts, case.vectors)
    assert model.gamma == pytest.approx(expected, rel=5e-7)


def test_auto_gamma_of_a_large_corpus_uses_a_sample(wordmover, tmp_path):
    """More than 256 documents, so that some are replaced; blank ones do not count."""
    rng = np.random.default_rng(2)
    vectors = make_vectors(dim=8, seed=2)
    # The first documents are short and the later ones long, so that it matters
    # which are in the sample.
    lengths = itertools.chain([1] * 250, [0] * 10, [9] * 200)
    texts = [" ".join(rng.choice(vectors.words, n)) for n in lengths]
    case = Case(wordmover, tmp_path, vectors, texts)
    model = case.fit("--features", 2, "--seed", 11, "--normalize", "none")
    assert model.gamma == pytest.approx(model.auto_gamma(texts, vectors), rel=5e-7)


def test_fitting_and_embedding_at_once_gives_the_same_bits(wordmover, case):
    case.fit("--features", 50)
    rows = case.embed(SENTENCES)
    options = ["--vectors", case.directory / "vectors.txt", *KNOWN_WORDS]
    output = case.directory / "at-once.npy"
    wordmover("embed", case.directory / "corpus.txt", "-o", output, "--features", 50, *options)
    np.testing.assert_array_equal(np.load(output), rows)
