"""Doc2VecC (Chen, 2017): words are predicted from their neighbours and from a few words of the
document, and a document is the mean of its words' vectors. With a linear SVM.

No kept library has it, so it is written here: continuous bag of words with negative sampling, the
document's part a random share q of its words, each weighing 1 / (q T). Settings are the author's:
window 10, 5 negative samples, 20 passes, words seen 10 times or more.

On a GPU, where CuPy finds one, many documents are read at the same time and update the vectors
without waiting for each other, as the author's program does with threads: the same seed gives
nearly the same vectors there, not the same bits.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from choice import linear, say
from corpus import Outcome, Split
from systems.arrays import arrays

DIMENSION, WINDOW, NEGATIVE, PASSES, MIN_COUNT = 300, 10, 5, 20, 10
RATE, SAMPLE, TABLE = 0.05, 1e-4, 10_000_000
CORRUPTIONS = [0.1, 0.3, 0.5, 0.7, 0.9]
"""Shares of words that are dropped."""


@dataclass
class Text:
    """Documents as numbers of their words, and what training needs to know of the words."""

    words: np.ndarray
    """Of all documents, one after the other."""
    ends: np.ndarray
    """Where each document ends."""
    keep: np.ndarray
    """How likely a place of a word is looked at: frequent words are passed over at times."""
    table: np.ndarray
    """Words as often as they are drawn as negative samples."""
    ids: dict[str, int]

    @classmethod
    def of(cls, documents: list[list[str]]) -> "Text":
        counts: dict[str, int] = {}
        for tokens in documents:
            for token in tokens:
                counts[token] = counts.get(token, 0) + 1
        min_count = MIN_COUNT if len(documents) > 10_000 else 2
        names = sorted((t for t, n in counts.items() if n >= min_count), key=lambda t: (-counts[t], t))
        ids = {name: i for i, name in enumerate(names)}
        bags = [[ids[t] for t in tokens if t in ids] for tokens in documents]
        frequency = np.array([counts[name] for name in names], dtype=float)
        share = frequency / frequency.sum()
        power = frequency**0.75
        times = np.ceil(power / power.sum() * TABLE).astype(int)
        return cls(
            words=np.array([w for bag in bags for w in bag], dtype=np.int32),
            ends=np.cumsum([len(bag) for bag in bags]),
            keep=np.sqrt(SAMPLE / share) + SAMPLE / share,
            table=np.repeat(np.arange(len(names)), times).astype(np.int32),
            ids=ids,
        )


def train(text: Text, corruption: float, seed: int, n_passes: int = PASSES) -> np.ndarray:
    """A vector for every word."""
    random = np.random.default_rng(seed)
    inputs = ((random.random((len(text.ids), DIMENSION)) - 0.5) / DIMENSION).astype(np.float32)
    if arrays() is not np:
        from systems.doc2vecc_gpu import train_passes
    else:
        from systems.doc2vecc_cpu import train_passes
    for number in train_passes(text, inputs, corruption, seed, n_passes):
        say(f"  corruption {corruption}: pass {number + 1} of {n_passes}")
    return inputs


def means(documents: list[list[str]], ids: dict[str, int], vectors: np.ndarray) -> np.ndarray:
    rows = np.zeros((len(documents), DIMENSION), dtype=np.float32)
    for row, tokens in zip(rows, documents):
        known = [ids[t] for t in tokens if t in ids]
        if known:
            row[:] = vectors[known].mean(axis=0)
    return rows


def run(split: Split, documents: list[list[str]]) -> Outcome:
    outcome = Outcome(parameters={"dimension": DIMENSION, "window": WINDOW, "passes": PASSES})
    on_gpu = arrays() is not np
    if on_gpu:
        outcome.parameters["device"] = "cuda"

    with outcome.stage("features"), ThreadPoolExecutor(1 if on_gpu else split.n_threads) as pool:
        text = Text.of(documents)
        vectors = pool.map(lambda corruption: train(text, corruption, split.seed), CORRUPTIONS)
        candidates = {
            f"corruption {corruption}": tuple(means(side.tokens, text.ids, rows) for side in (split.train, split.test))
            for corruption, rows in zip(CORRUPTIONS, vectors)
        }
    linear(split, outcome, candidates)
    return outcome


def transductive(split: Split) -> Outcome:
    """Word vectors of training and test texts."""
    return run(split, split.train.tokens + split.test.tokens)


def inductive(split: Split) -> Outcome:
    """Word vectors of training texts alone."""
    return run(split, split.train.tokens)
