"""The Word Mover's Distance of two documents."""

import numpy as np
import pytest

from wordmover import WordMove, transport, wmd

A, B = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"


def test_the_plan_adds_up():
    distance, plan = wmd(A, B, return_plan=True)
    assert distance == wmd(A, B) == wmd(B, A)
    assert all(isinstance(move, WordMove) for move in plan)
    assert sum(move.mass for move in plan) == pytest.approx(1, abs=1e-15)
    assert sum(move.mass * move.cost for move in plan) == pytest.approx(distance, abs=1e-15)
    assert ("obama", "president") in {(move.source, move.target) for move in plan}


def test_a_document_is_nowhere_but_where_it_is():
    assert wmd(A, A) == 0
    assert wmd("goat goat sea", ["sea", "goat", "goat"]) == 0


def test_words_are_taken_as_they_are_and_weights_as_given(toy):
    vectors = np.stack([toy[word] for word in ["cat", "dog", "Honey"]]).astype(float)
    costs = np.linalg.norm(vectors[:2, None] - vectors[None, 2:], axis=-1)
    expected = transport(costs, [0.25, 0.75], [1.0])
    options = {"vectors": toy, "normalization": None}
    words = wmd(["cat", "dog", "dog", "dog"], ["Honey"], **options)
    assert words == pytest.approx(expected, abs=1e-12)
    assert wmd({"cat": 0.25, "dog": 0.75}, {"Honey": 1.0}, **options) == words
    # A text is lower-cased; then its word is unknown and has a vector of its own.
    unknown = wmd("cat", "Honey", **options)
    assert unknown == wmd("cat", ["honey"], **options) != wmd("cat", ["Honey"], **options)
    assert wmd("cat dog dog dog", "Honey", case="keep", **options) == words


@pytest.mark.parametrize(("a", "error", "words"), [
    ("", ValueError, "first document has no word that the vectors know"),
    ([], ValueError, "first document has no word"),
    ({}, ValueError, "first document has no word"),
    ({"goat": 0.7}, ValueError, "sum to 0.7, not to 1"),
    ({"goat": np.nan, "sea": 1}, ValueError, "NaN, not a finite number"),
    ({"goat": 0.5, "ᚠᚢᚦ": 0.5}, ValueError, "do not know the weighted word \"ᚠᚢᚦ\""),
    ({3: 1.0}, TypeError, "a weighted word is int, not a str"),
    ({"goat": "1"}, TypeError, 'the weight of "goat" is str, not a number'),
    ({"goat": 2, "sea": -1}, ValueError, 'the weight of "sea" is -1'),
    (None, TypeError, "document 0 is None"),
    (float("nan"), TypeError, "document 0 is NaN"),
    (b"goat", TypeError, "bytes.*decode it first"),
    ([["goat"]], TypeError, "word 0 of document 0 is list"),
])
def test_what_has_no_distance_is_refused(a, error, words):
    with pytest.raises(error, match=words):
        wmd(a, "goat")


def test_bad_choices_are_named():
    with pytest.raises(ValueError, match='normalization is "center": it must be "unit" or None'):
        wmd(A, B, normalization="center")
    with pytest.raises(ValueError, match='stop_words is "dumb": it must be "smart", "english" or'):
        wmd(A, B, stop_words="dumb")
    with pytest.raises(TypeError, match="vectors is int"):
        wmd(A, B, vectors=3)
    with pytest.raises(TypeError):
        wmd(A, B, "builtin")


def test_the_best_part_of_the_mass_moves():
    first, second = "goat sea quiet", "goat sea harbour"
    whole = wmd(first, second)
    distance, plan = wmd(first, second, mass=0.8, return_plan=True)
    assert distance == wmd(second, first, mass=0.8) < whole
    assert sum(move.mass for move in plan) == pytest.approx(0.8, abs=1e-15)
    assert wmd(first, second, mass=2 / 3) == pytest.approx(0, abs=1e-15)
    assert wmd(first, second, mass=1) == pytest.approx(whole, abs=1e-12)
    # Nothing else moves where unmatched mass is cheap.
    assert wmd(first, second, penalty=0.01) == pytest.approx(2 / 3 * 0.01, abs=1e-12)
    assert wmd(first, second, penalty=9) == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize(("options", "message"), [
    ({"mass": 0}, "the mass to move is 0: it must be above 0 and at most 1"),
    ({"mass": 1.5}, "the mass to move is 1.5"),
    ({"mass": float("nan")}, "the mass to move is NaN"),
    ({"penalty": -1}, "the penalty of unmatched mass is -1"),
    ({"mass": 0.5, "penalty": 1}, "mass and penalty cannot be given together"),
])
def test_impossible_parts_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        wmd(A, B, **options)
