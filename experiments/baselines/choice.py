"""Parameters chosen by cross-validation on training documents: K of neighbours, C of linear
classifiers."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from corpus import Outcome, Split
from squared_hinge import SquaredHinge

KS = range(1, 22)
"""The paper's."""
CHUNK = 1000
CS = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3]
MANY_DOCUMENTS, FEW_FOLDS = 8000, 3
"""With more training documents than that, so few folds tell one C from another."""
CHOOSING_TOLERANCE = 1e-2
"""LIBLINEAR's own for this machine; scikit-learn's, which the last training has, is 1e-4."""
FEW_COLUMNS = 1024
"""Machines on dense features of no more columns are taken to their minimum."""


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def nearest(distances: np.ndarray) -> np.ndarray:
    """The nearest columns of every row, near first; of equal distances the first column."""
    k = min(KS[-1], distances.shape[1])
    found = np.argpartition(distances, k - 1, axis=1)[:, :k]
    # argpartition breaks ties as it likes: take every column at the k-th distance into account.
    limit = np.take_along_axis(distances, found, axis=1).max(axis=1)
    rows = []
    for row, most in zip(distances, limit):
        columns = np.flatnonzero(row <= most)
        rows.append(columns[np.argsort(row[columns], kind="stable")[:k]])
    return np.array(rows)


def vote(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """The class by every K for each row of neighbours' classes. Without a majority K falls by two."""
    n, k_most = labels.shape
    predicted = np.empty((n, len(KS)), dtype=int)
    counts = np.zeros((n, n_classes), dtype=int)
    for place, k in enumerate(KS):
        if k <= k_most:
            counts[np.arange(n), labels[:, k - 1]] += 1
        most = counts.max(axis=1)
        is_tie = (counts == most[:, None]).sum(axis=1) > 1
        fallback = predicted[:, place - 2] if place >= 2 else labels[:, 0]
        predicted[:, place] = np.where(is_tie, fallback, counts.argmax(axis=1))
    return predicted


Distances = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From rows of one matrix, by number, to rows of another, by number."""


def neighbours(rows: np.ndarray, columns: np.ndarray, distances: Distances) -> np.ndarray:
    found = []
    for start in range(0, len(rows), CHUNK):
        part = distances(rows[start : start + CHUNK], columns)
        found.append(columns[nearest(part)])
    return np.concatenate(found)


def held_out_by_k(split: Split, within: Distances) -> np.ndarray:
    """The accuracy on training documents held out, by K."""
    folds, labels = split.folds, split.train.labels
    correct = np.zeros(len(KS))
    for fold in np.unique(folds):
        rows, columns = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        predicted = vote(labels[neighbours(rows, columns, within)], split.n_classes)
        correct += (predicted == labels[rows, None]).sum(axis=0)
    return correct / len(labels)


def knn(split: Split, outcome: Outcome, candidates: dict[str, tuple[Distances, Distances]]) -> None:
    """Nearest neighbours by one of several distances: `within` the training documents, and from
    test documents `across` to those. The distance and K are chosen."""
    best = (-1.0, "", 0)
    with outcome.stage("choosing"):
        for name, (within, _) in candidates.items():
            accuracies = held_out_by_k(split, within)
            place = int(accuracies.argmax())
            say(f"  {name or 'held out'}: {100 * accuracies[place]:.2f} % with K = {KS[place]}")
            best = max(best, (float(accuracies[place]), name, KS[place]), key=lambda found: found[0])
    outcome.held_out_accuracy, name, k = best
    outcome.parameters |= {"k": k} | ({"chosen": name} if len(candidates) > 1 else {})
    with outcome.stage("prediction"):
        everything = np.arange(len(split.train))
        found = neighbours(np.arange(len(split.test)), everything, candidates[name][1])
        predicted = vote(split.train.labels[found], split.n_classes)[:, KS.index(k)]
    outcome.judge(predicted, split.test.labels)


def euclidean(a, b) -> Distances:
    """Squared Euclidean distances between rows of dense or sparse matrices."""
    from scipy import sparse

    def squares(m):
        return np.asarray(m.multiply(m).sum(axis=1)).ravel() if sparse.issparse(m) else (m * m).sum(axis=1)

    a_squares, b_squares = squares(a), squares(b)

    def distances(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        product = a[rows] @ b[columns].T
        product = product.toarray() if sparse.issparse(product) else product
        return a_squares[rows, None] + b_squares[None, columns] - 2 * product

    return distances


def linear(split: Split, outcome: Outcome, candidates: dict, make=None, cs: list[float] = CS) -> None:
    """A linear classifier on features of one of several kinds; kind and C are chosen. Values of C
    beyond two in a row that did worse are not tried: they take longest."""
    labels = split.train.labels
    folds = split.folds
    if len(labels) > MANY_DOCUMENTS:
        folds = folds % FEW_FOLDS
        outcome.parameters["folds"] = FEW_FOLDS
    if make is None:
        make = machine(split, next(iter(candidates.values()))[0])

    def n_correct(train, c: float, fold: int) -> int:
        inside = folds != fold
        model = make(c, CHOOSING_TOLERANCE).fit(train[inside], labels[inside])
        return int((model.predict(train[~inside]) == labels[~inside]).sum())

    def best_c(name: str, folds_pool: ThreadPoolExecutor) -> tuple[float, str, float]:
        train = candidates[name][0]
        best, n_worse = (-1.0, name, 0.0), 0
        for c in cs:
            if n_worse == 2:
                break
            correct = folds_pool.map(lambda fold: n_correct(train, c, fold), np.unique(folds))
            accuracy = sum(correct) / len(labels)
            say(f"  {name} C = {c:g}: {100 * accuracy:.2f} % held out")
            n_worse = n_worse + 1 if accuracy < best[0] else 0
            best = max(best, (accuracy, name, c), key=lambda found: found[0])
        return best

    # Candidates only wait for their folds, which are as many at a time as there are threads.
    n_waiting = len(candidates) if split.n_threads > 1 else 1
    with (
        outcome.stage("choosing"),
        ThreadPoolExecutor(split.n_threads) as folds_pool,
        ThreadPoolExecutor(n_waiting) as waiting,
    ):
        found = waiting.map(lambda name: best_c(name, folds_pool), candidates)
        best = max(found, key=lambda found: found[0])
    outcome.held_out_accuracy, name, c = best
    outcome.parameters |= {"C": c} | ({"chosen": name} if len(candidates) > 1 else {})
    train, test = candidates[name]
    with outcome.stage("training"):
        model = make(c, None).fit(train, labels)
    with outcome.stage("prediction"):
        predicted = model.predict(test)
    outcome.judge(predicted, split.test.labels)


def machine(split: Split, features) -> Callable:
    """Support vector machines by C and tolerance, for features like these."""
    from sklearn.svm import LinearSVC

    n, d = features.shape
    if isinstance(features, np.ndarray) and d <= FEW_COLUMNS:
        return lambda c, tolerance: SquaredHinge(c)

    def make(c: float, tolerance: float | None):
        return LinearSVC(C=c, tol=tolerance or 1e-4, dual=d > n or "auto", random_state=split.seed)

    return make


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1; zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)
