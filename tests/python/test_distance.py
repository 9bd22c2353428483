"""`wordmover distance` against POT's exact solver."""

import collections
import json

import numpy as np
import ot
import pytest

from conftest import KNOWN_WORDS, make_vectors, write_glove
from reader import scaled_to_unit

N_PAIRS = 60


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    table = make_vectors(dim=15, seed=4)
    path = tmp_path_factory.mktemp("distance") / "vectors.txt"
    write_glove(table, path)
    return table, path


def nbow(text, table):
    counts = collections.Counter(word for word in text.split() if word in table.ids)
    total = sum(counts.values())
    return {word: count / total for word, count in counts.items()}


def points(bag, table, normalization):
    rows = [[float(x) for x in table.rows[table.ids[word]]] for word in bag]
    return np.array([scaled_to_unit(x) if normalization == "unit" else x for x in rows])


def compare(wordmover, vectors, first, second, normalization):
    table, path = vectors
    options = ["--vectors", path, *KNOWN_WORDS, "--normalize", normalization]
    report = json.loads(wordmover("distance", first, second, "--json", *options))
    x, y = nbow(first, table), nbow(second, table)
    p, q = points(x, table, normalization), points(y, table, normalization)
    costs = np.sqrt(((p[:, None, :] - q[None, :, :]) ** 2).sum(axis=2))
    expected = ot.emd2(np.array(list(x.values())), np.array(list(y.values())), costs)
    assert report["distance"] == pytest.approx(expected, rel=1e-9, abs=1e-14)

    moves = report["moves"]
    for end, bag in (("from", x), ("to", y)):
        moved = collections.Counter()
        for move in moves:
            moved[move[end]] += move["mass"]
        assert dict(moved) == pytest.approx(bag, abs=1e-12)
    assert all(move["mass"] > 0.0 for move in moves)
    assert len({(move["from"], move["to"]) for move in moves}) == len(moves)
    words = list(x), list(y)
    for move in moves:
        cost = costs[words[0].index(move["from"]), words[1].index(move["to"])]
        assert move["cost"] == pytest.approx(cost, rel=1e-12, abs=0)
    total = sum(move["mass"] * move["cost"] for move in moves)
    assert report["distance"] == pytest.approx(total, rel=1e-12, abs=1e-14)
    return report


@pytest.mark.parametrize("normalization", ["none", "unit"])
def test_random_pairs_of_texts_that_share_words(wordmover, vectors, normalization):
    rng = np.random.default_rng(5)
    n_stayed = 0
    for _ in range(N_PAIRS):
        # A pool smaller than the texts: shared and repeated words abound.
        pool = rng.choice(vectors[0].words, rng.integers(2, 25), replace=False)
        first, second = (" ".join(rng.choice(pool, rng.integers(1, 30))) for _ in range(2))
        report = compare(wordmover, vectors, first, second, normalization)
        n_stayed += sum(move["from"] == move["to"] for move in report["moves"])
    assert n_stayed > N_PAIRS


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("bread", "honey"),
        ("bread", "bread"),
        ("bread honey bread", "honey bread bread"),
        ("nil", "nil sea"),
        ("привет état", "naïve"),
        ("sea", " ".join(["sea", "boat", "map", "goat"] * 9)),
    ],
)
def test_small_pairs(wordmover, vectors, first, second):
    report = compare(wordmover, vectors, first, second, "none")
    assert (report["distance"] == 0.0) == (sorted(first.split()) == sorted(second.split()))
    back = compare(wordmover, vectors, second, first, "none")
    assert back["distance"] == report["distance"]


def test_unknown_words_are_named_and_left_out(wordmover, vectors):
    report = compare(wordmover, vectors, "zzyx bread qwrt", "honey zzyx", "none")
    assert report["unknown"] == ["zzyx", "qwrt"]


def test_a_model_settles_weights_and_normalisation(wordmover, case):
    model = case.fit("--features", 1, "--weights", "tfidf", "--normalize", "center-unit")
    first, second = "the goat ate the bread on the hill", "the ship left the hill in winter"
    options = ["--model", case.directory / "model.wme", "--vectors", case.directory / "vectors.txt"]
    report = json.loads(wordmover("distance", first, second, "--json", *options))
    (x, a), (y, b) = model.bag(first, case.vectors), model.bag(second, case.vectors)
    p, q = (np.array([model.normalized(w, case.vectors) for w in words]) for words in (x, y))
    costs = np.sqrt(((p[:, None, :] - q[None, :, :]) ** 2).sum(axis=2))
    assert report["distance"] == pytest.approx(ot.emd2(a, b, costs), rel=1e-9)
