"""Doc2VecC (Chen, 2017): words are predicted from their neighbours and from a few words of the
document, and a document is the mean of its words' vectors. With a linear SVM.

No kept library has it, so it is written here: continuous bag of words with negative sampling, the
document's part a random share q of its words, each weighing 1 / (q T). Settings are the author's:
window 10, 5 negative samples, 20 passes, words seen 10 times or more.
"""

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from choice import linear, say
from corpus import Outcome, Split

DIMENSION, WINDOW, NEGATIVE, PASSES, MIN_COUNT = 300, 10, 5, 20, 10
RATE, SAMPLE, TABLE = 0.05, 1e-4, 10_000_000
CORRUPTIONS = [0.1, 0.3, 0.5, 0.7, 0.9]
"""Shares of words that are dropped."""


@numba.njit(fastmath=True, nogil=True)
def add(to, weight, row):  # pragma: no cover
    """Adds a multiple of a row, without an array in between."""
    for c in range(len(to)):
        to[c] += weight * row[c]


@numba.njit(fastmath=True, nogil=True)
def train_pass(words, ends, keep, table, inputs, outputs, q, rate, least, done, total, seed):  # pragma: no cover
    """One pass over all documents; returns how many words were seen so far."""
    np.random.seed(seed)
    dim = inputs.shape[1]
    one = np.float32(1.0)
    hidden, error = np.zeros(dim, np.float32), np.zeros(dim, np.float32)
    start = 0
    to_next = 1.0 / np.log(1.0 - q)
    for d in range(len(ends)):
        end = ends[d]
        length = end - start
        sampled = np.empty(length, np.int32)
        # The words of the document that are frequent enough to be seen now.
        sentence = np.empty(length, np.int32)
        n = 0
        for place in range(start, end):
            if keep[words[place]] >= 1.0 or np.random.random() < keep[words[place]]:
                sentence[n] = words[place]
                n += 1
        for place in range(n):
            alpha = max(rate * (1 - (done + place) / total), least)
            hidden[:] = 0
            error[:] = 0
            reach = np.random.randint(1, WINDOW + 1)
            first, last = max(0, place - reach), min(n, place + reach + 1)
            n_context = last - first - 1
            for other in range(first, last):
                if other != place:
                    add(hidden, one, inputs[sentence[other]])
            # The document: each of its words with probability q, weighing 1 / (q T). The distance
            # to the next one that stays is geometric, so that the others cost nothing.
            n_sampled = 0
            other = start + int(np.log(1.0 - np.random.random()) * to_next)
            while other < end:
                sampled[n_sampled] = words[other]
                n_sampled += 1
                other += 1 + int(np.log(1.0 - np.random.random()) * to_next)
            weight = np.float32(1.0 / (q * length))
            for k in range(n_sampled):
                add(hidden, weight, inputs[sampled[k]])
            share = np.float32(1.0 / (n_context + 1))
            hidden *= share
            for k in range(NEGATIVE + 1):
                if k == 0:
                    target, label = sentence[place], 1.0
                else:
                    target, label = table[np.random.randint(len(table))], 0.0
                    if target == sentence[place]:
                        continue
                row = outputs[target]
                dot = np.float32(0.0)
                for c in range(dim):
                    dot += hidden[c] * row[c]
                dot = min(max(dot, np.float32(-30.0)), np.float32(30.0))
                step = np.float32((label - 1.0 / (1.0 + np.exp(-dot))) * alpha)
                add(error, step, row)
                add(row, step, hidden)
            error *= share
            for other in range(first, last):
                if other != place:
                    add(inputs[sentence[other]], one, error)
            for k in range(n_sampled):
                add(inputs[sampled[k]], weight, error)
        done += n
        start = end
    return done


def embed(split: Split, texts: list[list[str]], corruption: float) -> tuple[np.ndarray, np.ndarray]:
    """Means of word vectors learnt on `texts`, of training and test documents."""
    counts: dict[str, int] = {}
    for tokens in texts:
        for token in tokens:
            counts[token] = counts.get(token, 0) + 1
    min_count = MIN_COUNT if len(texts) > 10_000 else 2
    names = sorted((t for t, n in counts.items() if n >= min_count), key=lambda t: (-counts[t], t))
    ids = {name: i for i, name in enumerate(names)}
    bags = [[ids[t] for t in tokens if t in ids] for tokens in texts]
    words = np.array([w for bag in bags for w in bag], dtype=np.int32)
    ends = np.cumsum([len(bag) for bag in bags])
    frequency = np.array([counts[name] for name in names], dtype=float)
    share = frequency / frequency.sum()
    keep = np.sqrt(SAMPLE / share) + SAMPLE / share
    power = frequency**0.75
    table = np.repeat(np.arange(len(names)), np.ceil(power / power.sum() * TABLE).astype(int)).astype(np.int32)
    random = np.random.default_rng(split.seed)
    inputs = ((random.random((len(names), DIMENSION)) - 0.5) / DIMENSION).astype(np.float32)
    outputs = np.zeros_like(inputs)
    total, done = PASSES * len(words), 0
    for number in range(PASSES):
        seed = split.seed * 1000 + number
        done = train_pass(words, ends, keep, table, inputs, outputs, 1 - corruption, RATE, RATE * 1e-4, done, total, seed)
        say(f"  corruption {corruption}: pass {number + 1} of {PASSES}")

    def means(documents: list[list[str]]) -> np.ndarray:
        rows = np.zeros((len(documents), DIMENSION), dtype=np.float32)
        for row, tokens in zip(rows, documents):
            known = [ids[t] for t in tokens if t in ids]
            if known:
                row[:] = inputs[known].mean(axis=0)
        return rows

    return means(split.train.tokens), means(split.test.tokens)


def run(split: Split, texts: list[list[str]]) -> Outcome:
    outcome = Outcome(parameters={"dimension": DIMENSION, "window": WINDOW, "passes": PASSES})
    with outcome.stage("features"), ThreadPoolExecutor(split.n_threads) as pool:
        embedded = pool.map(lambda corruption: embed(split, texts, corruption), CORRUPTIONS)
        candidates = {f"corruption {c}": rows for c, rows in zip(CORRUPTIONS, embedded)}
    linear(split, outcome, candidates)
    return outcome


def transductive(split: Split) -> Outcome:
    """Word vectors of training and test texts."""
    return run(split, split.train.tokens + split.test.tokens)


def inductive(split: Split) -> Outcome:
    """Word vectors of training texts alone."""
    return run(split, split.train.tokens)
