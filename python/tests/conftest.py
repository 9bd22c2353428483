"""Texts, small word vectors and the program, for all tests."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

from wordmover import WordVectors, _distance_cache

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: Forty headlines, eight of each of five topics.
HEADLINES = (ROOT / "examples" / "headlines.txt").read_text(encoding="utf-8").splitlines()
TOPICS = np.repeat(["politics", "business", "sport", "science", "culture"], 8)

#: No word, unknown words, one word, a repeated word, letters beyond ASCII.
ODD = ["", " \t", "ᚠᚢᚦ ᚾᚢᚱ", "goat", "goat goat sea", "naïve café — 42!", "sea ᚠᚢᚦ"]


@pytest.fixture
def headlines():
    return list(HEADLINES)


@pytest.fixture
def topics():
    return TOPICS.copy()


@pytest.fixture
def toy():
    """Vectors of a few words, in three dimensions."""
    words = ["cat", "dog", "goat", "sea", "ship", "bread", "Honey"]
    matrix = np.random.default_rng(1).normal(size=(len(words), 3)).astype(np.float32)
    return WordVectors.from_arrays(words, matrix, name="toy")


@pytest.fixture(autouse=True)
def no_kept_distances():
    """Every test computes its own."""
    _distance_cache.clear()


@pytest.fixture(scope="session")
def program():
    """Runs the program `wordmover`."""
    path = pathlib.Path(os.environ.get("WORDMOVER_BIN") or ROOT / "target" / "debug" / "wordmover")
    if not path.is_file():
        pytest.exit(f"no program at {path}: build it, or name it in WORDMOVER_BIN", returncode=1)
    path = path.resolve()

    def run(*arguments, **options):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, check=False, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
