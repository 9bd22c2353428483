"""Averages of pre-trained word vectors with a linear SVM: the paper's table 3.

`nbow` and `tfidf` use Google News, `sif` GloVe 840B, as the paper does; both files are subsets.
"""

import numpy as np

from choice import linear
from corpus import Outcome, Split
from systems.counts import counted

SIF_A = 1e-3


def averages(split: Split, vectors: str, weights) -> tuple[np.ndarray, np.ndarray, float]:
    """Weighted means of the vectors of known words, and the share of words known."""
    from gensim.models import KeyedVectors
    from sklearn.feature_extraction.text import CountVectorizer

    path = split.vectors[vectors]
    binary = ".bin" in path
    table = KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not binary, unicode_errors="ignore")
    known = {word: i for word, i in table.key_to_index.items()}
    vectorizer = CountVectorizer(analyzer=lambda tokens: tokens, vocabulary=known, dtype=np.float64)
    train, test = (vectorizer.transform(side.tokens) for side in (split.train, split.test))
    n_words = sum(map(len, split.train.tokens)) + sum(map(len, split.test.tokens))
    share = (train.sum() + test.sum()) / max(1, n_words)
    scale = weights(train, list(known), table)
    rows = []
    for counts in (train, test):
        lengths = np.asarray(counts.sum(axis=1))
        weighted = counts.multiply(scale[None, :]).tocsr() @ table.vectors.astype(np.float64)
        rows.append(weighted / np.where(lengths > 0, lengths, 1))
    return rows[0], rows[1], float(share)


def run(split: Split, vectors: str, weights, n_components: int = 0) -> Outcome:
    outcome = Outcome(parameters={"vectors": vectors})
    with outcome.stage("features"):
        train, test, known = averages(split, vectors, weights)
        outcome.parameters["known"] = known
        if n_components:
            from sklearn.decomposition import TruncatedSVD

            first = TruncatedSVD(n_components, random_state=split.seed).fit(train).components_
            train, test = (rows - rows @ first.T @ first for rows in (train, test))
    linear(split, outcome, {"": (train, test)}, cs=[1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4])
    return outcome


def nbow(split: Split) -> Outcome:
    return run(split, "Google News", lambda train, words, table: np.ones(len(words)))


def tfidf(split: Split) -> Outcome:
    def weights(train, words, table):
        df = np.asarray((train > 0).sum(axis=0)).ravel()
        return np.log(1 + train.shape[0] / np.maximum(df, 1))

    return run(split, "Google News", weights)


def sif(split: Split) -> Outcome:
    def weights(train, words, table):
        # Words by rank, as vectors are listed by frequency: Zipf's law with Mandelbrot's shift.
        ranks = 1 / (np.arange(len(words)) + 2.7)
        return SIF_A / (SIF_A + ranks / ranks.sum())

    return run(split, "GloVe 840B", weights, n_components=1)
