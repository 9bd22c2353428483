"""The same numbers and the same files as the program."""

import json

import numpy as np
import pytest

from conftest import HEADLINES, ODD
from wordmover import KNeighborsWMD, WordMoversEmbedding, WordVectors, wmd

#: A text may not hold a line break: the program reads a document a line.
TEXTS = [*HEADLINES, *ODD]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("".join(text + "\n" for text in TEXTS), encoding="utf-8")
    return path


PARAMETERS = [
    ({}, []),
    ({"weights": "tfidf", "n_features": 100, "d_max": 12, "random_state": 7},
     ["--weights", "tfidf", "--features", 100, "--d-max", 12, "--seed", 7]),
    ({"gamma": 0.39, "normalization": "center-unit", "random_words": "gaussian", "n_features": 64},
     ["--gamma", 0.39, "--normalize", "center-unit", "--random-words", "gaussian",
      "--features", 64]),
    ({"gamma": None, "normalization": None, "random_words": "vocabulary", "n_features": 64,
      "stop_words": None, "min_count": 2, "max_words": 3},
     ["--gamma", "none", "--normalize", "none", "--random-words", "vocabulary", "--features", 64,
      "--stop-words", "none", "--min-count", 2, "--max-words", 3]),
    ({"weights": "sif", "post_processing": "raw", "components": "keep", "n_features": 64},
     ["--weights", "sif", "--raw", "--features", 64]),
    ({"post_processing": "unit", "components": "keep", "n_features": 64},
     ["--post-processing", "unit", "--components", "keep", "--features", 64]),
    ({"post_processing": "center", "components": "remove=2", "n_features": 64},
     ["--post-processing", "center", "--components", "remove=2", "--features", 64]),
    ({"normalization": "center", "random_words": "uniform-centered", "n_features": 64,
      "case": "keep", "on_empty": "nan"},
     ["--normalize", "center", "--random-words", "uniform-centered", "--features", 64,
      "--case", "keep", "--on-empty", "nan"]),
]


@pytest.mark.parametrize(("parameters", "options"), PARAMETERS)
def test_fitted_here_or_there_the_bits_are_the_same(program, corpus, tmp_path, parameters, options):
    program("embed", corpus, "-o", tmp_path / "z.npy", "--quiet", *options)
    theirs = np.load(tmp_path / "z.npy")
    estimator = WordMoversEmbedding(**parameters)
    ours = estimator.fit_transform(TEXTS)
    assert ours.dtype == theirs.dtype == np.float32
    assert ours.tobytes() == theirs.tobytes()
    # Without kept distances, in one call and in another.
    assert estimator.encode(TEXTS).tobytes() == theirs.tobytes()


def test_a_model_of_the_program_embeds_the_same_here(program, corpus, tmp_path):
    model = tmp_path / "m.wme"
    program("fit", corpus, "-o", model, "--quiet", "--features", 70, "--weights", "tfidf")
    program("embed", corpus, "--model", model, "-o", tmp_path / "z.npy", "--quiet")
    estimator = WordMoversEmbedding.load(model)
    assert estimator.get_params()["n_features"] == 70
    assert estimator.get_params()["weights"] == "tfidf"
    assert estimator.transform(TEXTS).tobytes() == np.load(tmp_path / "z.npy").tobytes()


def test_a_model_saved_here_is_the_file_of_the_program(program, corpus, tmp_path):
    theirs, ours = tmp_path / "theirs.wme", tmp_path / "ours.wme"
    program("fit", corpus, "-o", theirs, "--quiet", "--seed", 3, "--features", 40)
    WordMoversEmbedding(random_state=3, n_features=40).fit(TEXTS).save(ours)
    assert ours.read_bytes() == theirs.read_bytes()


def test_other_vectors_must_be_given_or_bundled(program, corpus, tmp_path, toy):
    file = tmp_path / "toy.safetensors"
    toy.save(file)
    estimator = WordMoversEmbedding(vectors=file, n_features=30).fit(TEXTS)
    apart, bundled = tmp_path / "apart.wme", tmp_path / "bundled.wme"
    estimator.save(apart)
    estimator.save(bundled, bundle_vectors=True)
    program("embed", corpus, "--model", bundled, "-o", tmp_path / "z.npy", "--quiet")
    expected = np.load(tmp_path / "z.npy").tobytes()
    assert WordMoversEmbedding.load(bundled).transform(TEXTS).tobytes() == expected
    assert WordMoversEmbedding.load(apart, vectors=toy).transform(TEXTS).tobytes() == expected
    with pytest.raises(ValueError, match="fitted with the vectors toy.*must be given"):
        WordMoversEmbedding.load(apart)
    with pytest.raises(ValueError, match="not with minilm-160d"):
        WordMoversEmbedding.load(apart, vectors="builtin")


def test_distances_and_plans_are_those_of_the_program(program):
    a, b = HEADLINES[:2]
    theirs = json.loads(program("distance", a, b, "--json"))
    distance, plan = wmd(a, b, return_plan=True)
    assert distance == theirs["distance"] == wmd(a, b)
    key = {(move["from"], move["to"]): move["mass"] for move in theirs["moves"]}
    assert {(move.source, move.target): move.mass for move in plan} == key


def test_neighbours_are_those_of_the_program(program, corpus):
    query = "The president greets the press in Chicago"
    lines = program("search", corpus, query, "-k", 4, "--json", "--quiet").splitlines()
    theirs = json.loads(lines[0])["neighbors"]
    distances, positions = KNeighborsWMD(n_neighbors=4).fit(TEXTS).kneighbors([query])
    assert distances[0].tolist() == [neighbor["distance"] for neighbor in theirs]
    assert [str(i) for i in positions[0]] == [str(neighbor["id"]) for neighbor in theirs]


def test_vectors_saved_here_open_there(program, tmp_path, toy):
    toy.save(tmp_path / "toy.safetensors", precision="f16")
    again = WordVectors.load(tmp_path / "toy.safetensors")
    assert again.precision == "f16"
    assert again.checksum in program("vectors", "info", tmp_path / "toy.safetensors")
