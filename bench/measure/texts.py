"""Texts of about 70 known words, frequent ones more often (Zipf)."""


def make(n, seed):
    import numpy as np

    from wordmover import WordVectors

    words = np.array(WordVectors.builtin().words[200:30_200])
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(10, len(words) + 10)
    lengths = rng.poisson(70, n) + 1
    drawn = rng.choice(words, lengths.sum(), p=share / share.sum())
    return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]
