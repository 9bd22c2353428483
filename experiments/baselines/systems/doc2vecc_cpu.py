"""Training of Doc2VecC on one core: documents one after the other, the same bits for the same seed."""

from collections.abc import Iterator

import numba
import numpy as np

from systems.doc2vecc import NEGATIVE, RATE, WINDOW, Text


@numba.njit(fastmath=True, nogil=True)
def add(to, weight, row):  # pragma: no cover
    """Adds a multiple of a row, without an array in between."""
    for c in range(len(to)):
        to[c] += weight * row[c]


@numba.njit(fastmath=True, nogil=True)
def train_pass(words, ends, keep, table, inputs, outputs, q, rate, least, done, total, seed):  # pragma: no cover
    """One pass over all documents; returns how many words were read so far."""
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
            alpha = max(rate * (1 - (done + length * place / n) / total), least)
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
        done += length
        start = end
    return done


def train_passes(text: Text, inputs: np.ndarray, corruption: float, seed: int, n_passes: int) -> Iterator[int]:
    """Changes the vectors in place; yields the number of every pass when it is done."""
    outputs = np.zeros_like(inputs)
    total, done = n_passes * len(text.words), 0
    for number in range(n_passes):
        done = train_pass(
            text.words, text.ends, text.keep, text.table, inputs, outputs, 1 - corruption,
            RATE, RATE * 1e-4, done, total, seed * 1000 + number,
        )
        yield number
