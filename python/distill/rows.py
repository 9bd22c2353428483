"""Rows of text to learn from, as ragged arrays of strings' ids."""

import numpy as np


class Strings:
    """Every distinct string of the text, with an id; the vocabulary comes first."""

    def __init__(self, words):
        self.list = list(words)
        self.ids = {word: i for i, word in enumerate(words)}

    def id(self, word):
        if word not in self.ids:
            self.ids[word] = len(self.list)
            self.list.append(word)
        return self.ids[word]


def gather(values, starts, lengths):
    """The ranges [start, start + length) of `values`, one after the other."""
    ends = np.cumsum(lengths)
    index = np.arange(ends[-1] if len(ends) else 0)
    return values[index + np.repeat(starts - (ends - lengths), lengths)]


def windows(rng, text, low, high, n):
    """Starts and lengths of `n` windows of `low` to `high` words."""
    lengths = rng.integers(low, high + 1, size=n)
    starts = rng.integers(0, len(text) - high, size=n)
    return starts, lengths


def with_guests(rng, text, guests):
    """For each guest a short window in which it takes the place of a word."""
    starts, lengths = windows(rng, text, 3, 10, len(guests))
    flat = gather(text, starts, lengths).copy()
    flat[np.cumsum(lengths) - lengths + rng.integers(0, lengths)] = guests
    return flat, lengths


def perturbed(rng, text, starts, lengths):
    """For each window a near relative: words dropped, words exchanged for others of the
    text, or the window moved by half its length."""
    kind = rng.integers(0, 3, size=len(starts))
    moved = np.minimum(starts + np.where(kind == 2, lengths // 2 + 1, 0), len(text) - lengths)
    flat = gather(text, moved, lengths).copy()
    row = np.repeat(np.arange(len(starts)), lengths)
    rate = rng.uniform(0.1, 0.5, size=len(starts))
    change = rng.random(len(flat)) < rate[row]
    exchange = change & (kind[row] == 1)
    flat[exchange] = text[rng.integers(0, len(text), size=exchange.sum())]
    keep = ~(change & (kind[row] == 0))
    keep[np.cumsum(lengths) - lengths] = True
    return flat[keep], np.bincount(row[keep], minlength=len(starts))


def text_rows(rng, text, counts, n_words):
    """Windows long and short; windows with a rare word put in, so that every word of the
    vocabulary is seen; words of the vocabulary in twos; near relatives of short windows.

    Returns the strings of all rows, the rows' lengths, and how many rows at the beginning
    are plain text.
    """
    long = windows(rng, text, 5, 35, 900_000)
    short = windows(rng, text, 3, 14, 1_200_000)
    rare = np.flatnonzero(counts[:n_words] < 60)
    guests = np.repeat(rare, np.clip(18 - counts[rare] // 4, 4, 18))
    rng.shuffle(guests)
    guest_flat, guest_lengths = with_guests(rng, text, guests)
    pairs = rng.integers(0, n_words, size=(200_000, 2)).astype(np.int32)
    half = len(short[1]) // 2
    near_flat, near_lengths = perturbed(rng, text, short[0][:half], short[1][:half])
    flat = [gather(text, *long), gather(text, *short), guest_flat, pairs.reshape(-1), near_flat]
    lengths = [long[1], short[1], guest_lengths, np.full(len(pairs), 2), near_lengths]
    return np.concatenate(flat), np.concatenate(lengths), len(long[1]) + len(short[1])
