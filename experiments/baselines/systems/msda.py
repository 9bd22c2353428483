"""Marginalised stacked denoising autoencoders (Chen et al., 2012), in the form for many dimensions.

The first layer predicts the most frequent words, 0.2 of all as the paper's appendix says, from
blocks of words that are dropped with some probability; expectations over the dropping are taken in
closed form, W = P (Q + lambda I)^-1. Predictions of all blocks are averaged and squashed. Further
layers do the same with all of their input at once. Rows of all layers stand side by side.
"""

import numpy as np

from choice import Distances, euclidean, knn, say
from corpus import Outcome, Split
from systems.arrays import arrays
from systems.counts import counted

SHARE = 0.2
LAYERS = 3
NOISES = [0.5, 0.7, 0.9]
LAMBDA = 1e-5


def mapping(xp, source, target, noise: float):
    """The map from a row with a 1 behind it to the target, expected over the dropping of values."""
    keep = xp.append(xp.full(source.shape[1], 1 - noise), 1.0)
    rows = xp.hstack([source, xp.ones((len(source), 1))])
    scatter = rows.T @ rows
    expected = scatter * xp.outer(keep, keep)
    xp.fill_diagonal(expected, keep * xp.diag(scatter) + LAMBDA)
    cross = (target.T @ rows) * keep
    return xp.linalg.solve(expected, cross.T).T


def distances(xp, a, b) -> Distances:
    """Squared Euclidean distances between rows; all at once on a GPU."""
    if xp is np:
        return euclidean(a, b)
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :]
    squared = (squares - 2 * (a @ b.T)).get()
    return lambda rows, columns: squared[np.ix_(rows, columns)]


def msda(split: Split) -> Outcome:
    outcome = Outcome(parameters={"layers": LAYERS, "share": SHARE, "lambda": LAMBDA})
    xp = arrays()
    if xp is not np:
        outcome.parameters["device"] = "cuda"
    n_train = len(split.train)
    candidates = {}
    with outcome.stage("features"):
        train, test = counted(split)
        counts = np.vstack([train.toarray(), test.toarray()]).astype(np.float32)
        frequent = np.argsort(-counts.sum(axis=0), kind="stable")
        n_kept = max(1, round(SHARE * counts.shape[1]))
        target = xp.asarray(counts[:, frequent[:n_kept]])
        order = np.random.default_rng(split.seed).permutation(counts.shape[1])
        blocks = np.array_split(order, max(1, round(1 / SHARE)))
        for noise in NOISES:
            hidden = xp.zeros_like(target)
            for i, block in enumerate(blocks):
                source = xp.asarray(counts[:, block])
                w = mapping(xp, source, target, noise)
                hidden += source @ w[:, :-1].T + w[:, -1]
                say(f"  noise {noise}: block {i + 1} of {len(blocks)}")
            layers = [target, xp.tanh(hidden / len(blocks))]
            for _ in range(LAYERS - 1):
                w = mapping(xp, layers[-1], layers[-1], noise)
                layers.append(xp.tanh(layers[-1] @ w[:, :-1].T + w[:, -1]))
            rows = xp.hstack(layers[1:])
            x, y = rows[:n_train], rows[n_train:]
            candidates[f"noise {noise}"] = (distances(xp, x, x), distances(xp, y, x))
    knn(split, outcome, candidates)
    return outcome
