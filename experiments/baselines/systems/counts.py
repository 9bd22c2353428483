"""Nearest neighbours of counted words.

The paper's three take rows as they are and Euclidean distances, as Kusner et al. (2015) do. The
other two scale rows to sum 1 and take the sum of absolute differences: Sato et al. (2022) found
that this alone makes them competitive with the Word Mover's Distance.
"""

import numba
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from choice import euclidean, knn
from corpus import Outcome, Split

OKAPI = [(1.2, 0.75), (1.2, 1.0), (2.0, 0.75), (2.0, 1.0)]
"""k1 and b of Okapi's weights. Kusner et al. do not say theirs, and it matters: on BBCSPORT the
first gives 71 %, the last 84 %."""


def counted(split: Split) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Counts of words; words that only test documents have are dropped."""
    vectorizer = CountVectorizer(analyzer=lambda tokens: tokens, dtype=np.float64)
    train = vectorizer.fit_transform(split.train.tokens)
    return train, vectorizer.transform(split.test.tokens)


def idf_of(train: sparse.csr_matrix) -> np.ndarray:
    df = np.asarray((train > 0).sum(axis=0)).ravel()
    return np.log(train.shape[0] / df)


def bow(split: Split) -> Outcome:
    outcome = Outcome()
    with outcome.stage("features"):
        train, test = counted(split)
    knn(split, outcome, {"": (euclidean(train, train), euclidean(test, train))})
    return outcome


def tfidf(split: Split) -> Outcome:
    outcome = Outcome()
    with outcome.stage("features"):
        train, test = counted(split)
        weights = sparse.diags(idf_of(train))
        train, test = (train @ weights).tocsr(), (test @ weights).tocsr()
    knn(split, outcome, {"": (euclidean(train, train), euclidean(test, train))})
    return outcome


def okapi(counts: sparse.csr_matrix, idf: np.ndarray, mean_length: float, k1: float, b: float):
    """Okapi's weight of every word of every document."""
    rows = counts.tocoo()
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    damping = k1 * (1 - b + b * lengths[rows.row] / mean_length)
    values = idf[rows.col] * rows.data * (k1 + 1) / (rows.data + damping)
    return sparse.csr_matrix((values, (rows.row, rows.col)), counts.shape)


def bm25(split: Split) -> Outcome:
    # bm25s ranks documents for a query; neighbours by distance need the weighted rows.
    outcome = Outcome()
    candidates = {}
    with outcome.stage("features"):
        train, test = counted(split)
        df = np.asarray((train > 0).sum(axis=0)).ravel()
        idf = np.log((train.shape[0] - df + 0.5) / (df + 0.5))
        mean_length = train.sum() / train.shape[0]
        for k1, b in OKAPI:
            rows, queries = (okapi(counts, idf, mean_length, k1, b) for counts in (train, test))
            candidates[f"k1 = {k1}, b = {b}"] = (euclidean(rows, rows), euclidean(queries, rows))
    knn(split, outcome, candidates)
    return outcome


@numba.njit(cache=True)
def overlaps(indptr, indices, data, postings, documents, values, out):  # pragma: no cover
    """Sums of the smaller of two weights, over shared words: rows by documents."""
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            word, weight = indices[place], data[place]
            for posting in range(postings[word], postings[word + 1]):
                out[row, documents[posting]] += min(weight, values[posting])


def l1(a: sparse.csr_matrix, b: sparse.csr_matrix):
    """Sums of absolute differences between rows of non-negative matrices."""
    a_sums, b_sums = (np.asarray(m.sum(axis=1)).ravel() for m in (a, b))
    kept = {}

    def distances(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        key = (len(columns), int(columns[0]), int(columns[-1]), int(columns.sum()))
        if kept.get("key") != key:
            kept.update(key=key, lists=b[columns].tocsc())
        part, lists = a[rows], kept["lists"]
        out = np.zeros((len(rows), len(columns)))
        overlaps(part.indptr, part.indices, part.data, lists.indptr, lists.indices, lists.data, out)
        return a_sums[rows, None] + b_sums[None, columns] - 2 * out

    return distances


def shares(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    sums = np.asarray(rows.sum(axis=1)).ravel()
    return (sparse.diags(1 / np.where(sums > 0, sums, 1)) @ rows).tocsr()


def bow_l1(split: Split) -> Outcome:
    outcome = Outcome()
    with outcome.stage("features"):
        train, test = map(shares, counted(split))
    knn(split, outcome, {"": (l1(train, train), l1(test, train))})
    return outcome


def tfidf_l1(split: Split) -> Outcome:
    outcome = Outcome()
    with outcome.stage("features"):
        train, test = counted(split)
        weights = sparse.diags(idf_of(train))
        train, test = shares((train @ weights).tocsr()), shares((test @ weights).tocsr())
    knn(split, outcome, {"": (l1(train, train), l1(test, train))})
    return outcome
