"""Nearest neighbours in spaces of topics: LSI and LDA."""

from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from choice import euclidean, knn, say, unit
from corpus import Outcome, Split
from systems.counts import counted, idf_of

LSI_DIMENSIONS = [25, 50, 100, 200, 400]
LDA_TOPICS = [25, 50, 100, 200]
BURN_IN, ITERATIONS = 100, 1000
"""The paper's appendix."""


def lsi(split: Split) -> Outcome:
    """Counts, or counts damped and weighted as TF-IDF, projected on their singular vectors; rows of
    length 1. Weights, dimension and K are chosen."""
    from scipy import sparse
    from sklearn.decomposition import TruncatedSVD

    outcome = Outcome()
    candidates = {}
    with outcome.stage("features"):
        train, test = counted(split)
        weights = sparse.diags(idf_of(train))
        rows = {
            "counts": (train, test),
            "log tf-idf": tuple((m.log1p() @ weights).tocsr() for m in (train, test)),
        }
        for name, (a, b) in rows.items():
            most = min(LSI_DIMENSIONS[-1], min(a.shape) - 1)
            svd = TruncatedSVD(most, random_state=split.seed)
            a, b = svd.fit_transform(a), svd.transform(b)
            for d in [d for d in LSI_DIMENSIONS if d <= most] or [most]:
                x, y = unit(a[:, :d]), unit(b[:, :d])
                candidates[f"{name}, {d} dimensions"] = (euclidean(x, x), euclidean(y, x))
    knn(split, outcome, candidates)
    return outcome


def lda(split: Split) -> Outcome:
    """Collapsed Gibbs sampling on training and test documents, as in the paper; neighbours by
    Hellinger's distance between shares of topics. The number of topics and K are chosen."""
    outcome = Outcome(parameters={"burn_in": BURN_IN, "iterations": ITERATIONS})
    n_train = len(split.train)
    # Processes: tomotopy keeps the interpreter to itself while it trains.
    with outcome.stage("features"), ProcessPoolExecutor(split.n_threads) as pool:
        # The most topics first, which take longest.
        found = pool.map(partial(shares_of_topics, split), LDA_TOPICS[::-1])
        candidates = {}
        for n_topics, shares in reversed(list(zip(LDA_TOPICS[::-1], found))):
            rows = np.sqrt(shares)
            x, y = rows[:n_train], rows[n_train:]
            candidates[f"{n_topics} topics"] = (euclidean(x, x), euclidean(y, x))
    knn(split, outcome, candidates)
    return outcome


def shares_of_topics(split: Split, n_topics: int) -> np.ndarray:
    """Of training documents, then of test documents."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, alpha=50 / n_topics, eta=200 / 10_000, seed=split.seed)
    documents = split.train.tokens + split.test.tokens
    for tokens in filter(None, documents):
        model.add_doc(tokens)
    model.burn_in = BURN_IN
    for done in range(0, ITERATIONS, 100):
        model.train(100, workers=1)
        say(f"  {n_topics} topics: {done + 100} of {ITERATIONS} iterations")
    even = np.full(n_topics, 1 / n_topics)
    # In the order in which they were added; tomotopy 0.14.0 finds none by its number.
    kept = iter(model.docs)
    return np.array([next(kept).get_topic_dist() if tokens else even for tokens in documents])
