"""Features of any distance, the ready ones, and what is refused."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.spatial.distance import directed_hausdorff
from sklearn.base import clone

from wordmover import D2KE, kernel_matrix, pairwise, sample_parts, wmd, word_movers_kernel

WORDS = ["anna", "hanna", "bertram", "bert", "ernestine", "ernst", "stine"]


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
    return row[-1]


def warped(a, b):
    table = np.full((len(a) + 1, len(b) + 1), np.inf)
    table[0, 0] = 0
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            least = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
            table[i, j] = least + np.sum((x - y) ** 2)
    return np.sqrt(table[-1, -1])


def test_ready_distances_are_what_they_should():
    found = pairwise("edit", WORDS, ["", "anna", "bärt"])
    assert (found == [[levenshtein(a, b) for b in ["", "anna", "bärt"]] for a in WORDS]).all()
    rng = np.random.default_rng(1)
    series = [rng.normal(size=(rng.integers(2, 9), 2)) for _ in range(8)]
    dtw, sets = pairwise("dtw", series, series), pairwise("hausdorff", series, series)
    for i, x in enumerate(series):
        for j, y in enumerate(series):
            assert dtw[i, j] == pytest.approx(warped(x, y), abs=1e-12)
            both = max(directed_hausdorff(x, y)[0], directed_hausdorff(y, x)[0])
            assert sets[i, j] == pytest.approx(both, abs=1e-12)
    assert pairwise("dtw", [[1, 2, 3]], [[1, 1, 2, 3, 3]]) == 0
    assert pairwise("wmd", ["a cat"], ["a dog"])[0, 0] == wmd("a cat", "a dog")
    assert pairwise("wasserstein", [[[0.0, 0.0]]], [[[3.0, 4.0]]])[0, 0] == 5


def test_features_are_exponentials_of_distances_to_parts_of_objects():
    model = D2KE(n_features=40, max_length=4, random_state=3)
    features = model.fit_transform(WORDS)
    parts = model.random_objects_
    assert all(1 <= len(part) <= 4 and any(part in word for word in WORDS) for part in parts)
    distances = pairwise("edit", WORDS, parts)
    assert model.gamma_ == 1 / np.median(distances)
    np.testing.assert_allclose(features, np.exp(-model.gamma_ * distances) / np.sqrt(40), rtol=1e-6)
    assert (clone(model).fit(WORDS).transform(WORDS) == features).all()
    assert (pickle.loads(pickle.dumps(model)).transform(WORDS) == features).all()
    assert len(model.get_feature_names_out()) == 40


def test_functions_of_pairs_and_of_blocks_and_distances_are_the_same():
    def apart(a, b):
        return abs(len(a) - len(b))

    def block(X, Y):
        return np.abs(np.array([len(x) for x in X])[:, None] - [len(y) for y in Y])

    random = ["a", "abc", "abcdef"]
    expected = D2KE(distance=apart, random_objects=random).fit_transform(WORDS)
    by_block = D2KE(distance=block, random_objects=random, block=True)
    assert (by_block.fit_transform(WORDS) == expected).all()
    given = D2KE(distance="precomputed").fit_transform(block(WORDS, random))
    assert (given == expected).all()
    drawn = D2KE(distance=apart, random_objects=lambda X, n, rng: list(rng.choice(X, n)))
    assert drawn.set_params(n_features=5).fit_transform(WORDS).shape == (7, 5)
    assert (D2KE(distance=apart, random_objects=random, gamma=None).fit_transform(["ab"])
            == [[1, 1, 4]]).all()


def raises(a, b):
    if a == "bertram" and b == "b":
        raise ValueError("no such thing")
    return 1.0


@pytest.mark.parametrize(("options", "X", "error", "message"), [
    ({"distance": raises}, WORDS, RuntimeError,
     "the distance of object 2 to random object 1 has failed: no such thing"),
    ({"distance": lambda a, b: -1.0}, WORDS, ValueError,
     "distance of object 0 to random object 0 is -1.0: it must be a number of at least 0"),
    ({"distance": lambda a, b: np.nan}, WORDS, ValueError, "random object 0 is nan"),
    ({"distance": lambda X, Y: np.ones((1, 1)), "block": True}, WORDS, ValueError,
     r"distances have shape \(1, 1\), not \(7, 2\)"),
    ({"distance": "edit"}, ["a", 3], TypeError, "object 1 is int, not a str"),
    ({"distance": "dtw", "random_objects": [[1.0]]}, [[1.0], []], ValueError, "object 1 is empty"),
    ({"distance": "dtw", "random_objects": [[1.0]]}, [[1.0], [2.0, np.nan]], ValueError,
     "object 1 has a value that is not finite in row 1"),
    ({"distance": "hausdorff", "random_objects": [[[1.0]]]}, [[[1.0]], [[1.0, 2.0]]], ValueError,
     "object 1 has shape"),
    ({"distance": "manhattan"}, WORDS, ValueError, 'distance is "manhattan": it must be one of'),
    ({"distance": 3}, WORDS, TypeError, "distance is 3"),
    ({"gamma": -1}, WORDS, ValueError, "gamma is -1"),
    ({}, [], ValueError, "no object to fit on"),
    ({"random_objects": []}, WORDS, ValueError, "no random objects"),
])
def test_what_has_no_distance_is_refused_with_its_position(options, X, error, message):
    options = {"random_objects": ["a", "b"], **options}
    with pytest.raises(error, match=message):
        D2KE(**options).fit(X)


def test_parts_of_nothing_are_refused():
    with pytest.raises(ValueError, match="all objects are empty"):
        sample_parts(["", ""], 3)


SLOW = """
import time
from wordmover import D2KE
def slow(a, b):
    time.sleep(0.01)
    return 1.0
print("ready", flush=True)
D2KE(distance=slow, n_features=1000).fit(["abc"] * 1000)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_inside_a_function_ends_it_within_a_second():
    child = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=20)
    # A busy machine ends processes late: the limit of one second is for the work.
    assert time.monotonic() - start < 10 and child.returncode != 0


def test_the_kernel_of_documents_is_exact_where_it_can_be_enumerated(headlines, topics):
    from sklearn.svm import SVC

    small = {"random_words": "vocabulary", "d_max": 1, "gamma": 1.0, "n_features": 8}
    found = word_movers_kernel(headlines[:6], **small)
    assert found.is_exact and (found.errors == 0).all()
    assert (found.values == found.values.T).all()
    assert np.linalg.eigvalsh(found.values).min() > -1e-12
    estimated = word_movers_kernel(headlines[:6], gamma=1.0, n_features=256)
    assert not estimated.is_exact and (estimated.errors > 0).all()
    for i in range(3):
        for j in range(i):
            assert found.soft_minimum()[i, j] >= wmd(headlines[i], headlines[j])
    gram = kernel_matrix(headlines, gamma=1.0)
    svm = SVC(kernel="precomputed", C=1e6).fit(gram, topics)
    assert (svm.predict(gram) == topics).all()
    with pytest.raises(ValueError, match="gamma is none"):
        kernel_matrix(headlines, gamma=None)
