"""Marginalised stacked denoising autoencoders (Chen et al., 2012), in the form for many dimensions.

The first layer predicts the most frequent words, 0.2 of all as the paper's appendix says, from
blocks of words that are dropped with some probability; expectations over the dropping are taken in
closed form, W = P (Q + lambda I)^-1. Predictions of all blocks are averaged and squashed. Further
layers do the same with all of their input at once. Rows of all layers stand side by side.
"""

import numpy as np

from choice import euclidean, knn, say
from corpus import Outcome, Split
from systems.counts import counted

SHARE = 0.2
LAYERS = 3
NOISES = [0.5, 0.7, 0.9]
LAMBDA = 1e-5


def mapping(source: np.ndarray, target: np.ndarray, noise: float) -> np.ndarray:
    """The map from a row with a 1 behind it to the target, expected over the dropping of values."""
    keep = np.append(np.full(source.shape[1], 1 - noise), 1.0)
    rows = np.hstack([source, np.ones((len(source), 1))])
    scatter = rows.T @ rows
    expected = scatter * np.outer(keep, keep)
    np.fill_diagonal(expected, keep * np.diag(scatter))
    expected[np.diag_indices_from(expected)] += LAMBDA
    cross = (target.T @ rows) * keep
    return np.linalg.solve(expected, cross.T).T


def msda(split: Split) -> Outcome:
    outcome = Outcome(parameters={"layers": LAYERS, "share": SHARE, "lambda": LAMBDA})
    n_train = len(split.train)
    candidates = {}
    with outcome.stage("features"):
        train, test = counted(split)
        counts = np.vstack([train.toarray(), test.toarray()]).astype(np.float32)
        frequent = np.argsort(-counts.sum(axis=0), kind="stable")
        n_kept = max(1, round(SHARE * counts.shape[1]))
        target = counts[:, frequent[:n_kept]]
        order = np.random.default_rng(split.seed).permutation(counts.shape[1])
        blocks = np.array_split(order, max(1, round(1 / SHARE)))
        for noise in NOISES:
            hidden = np.zeros_like(target)
            for i, block in enumerate(blocks):
                source = counts[:, block]
                w = mapping(source, target, noise)
                hidden += source @ w[:, :-1].T + w[:, -1]
                say(f"  noise {noise}: block {i + 1} of {len(blocks)}")
            layers = [target, np.tanh(hidden / len(blocks))]
            for _ in range(LAYERS - 1):
                w = mapping(layers[-1], layers[-1], noise)
                layers.append(np.tanh(layers[-1] @ w[:, :-1].T + w[:, -1]))
            rows = np.hstack(layers[1:])
            x, y = rows[:n_train], rows[n_train:]
            candidates[f"noise {noise}"] = (euclidean(x, x), euclidean(y, x))
    knn(split, outcome, candidates)
    return outcome
