"""Partial transport and bags of vectors beside POT, one thread each, everybody taking turns.

1. `partial_transport` and `ot.partial.partial_wasserstein2` on the same problems.
2. All distances between two lists of sets: `wasserstein_distances`, and a loop of
   `scipy.spatial.distance.cdist` and `ot.emd2`.
3. `WassersteinEmbedding.transform`, and the same loop over its random sets.

Results must agree, or the run fails.
"""

import sys

import numpy as np

from measure.package import problems, timed

TOLERANCE = 1e-9
# Features are of single precision.
FEATURE_TOLERANCE = 1e-5


def check(name, found, expected, tolerance):
    worst = np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1e-3))
    if not worst <= tolerance:
        sys.exit(f"error: {name} differs from POT by {worst}")


def partial(parameters, run):
    import ot
    from wordmover import partial_transport

    rng = np.random.default_rng(run.seed)
    rows = []
    for n, m in parameters.shapes:
        count = int(np.clip(100_000 // (n * m), 4, 512))
        given = list(problems(rng, n, m, count))
        best = {"pot": np.inf, "ours": np.inf}
        for _ in range(parameters.repeats):
            runs = {
                "pot": timed(lambda: [ot.partial.partial_wasserstein2(a, b, C, m=parameters.share)
                                      for C, a, b in given]),
                "ours": timed(lambda: [partial_transport(C, a, b, mass=parameters.share).cost
                                       for C, a, b in given]),
            }
            check(f"{n} x {m}", runs["ours"][1], runs["pot"][1], TOLERANCE)
            for name, (seconds, _) in runs.items():
                best[name] = min(best[name], seconds / count * 1e6)
        rows.append([f"{n} x {m}", best["pot"], best["ours"], best["pot"] / best["ours"]])
    run.text(f"Microseconds a problem of which {parameters.share:.0%} of the mass moves, plan and "
             "dual values included, the best of the repeats:")
    run.table([("problem", "text"), ("ot.partial", ".1f"), ("partial_transport", ".1f"),
               ("ratio", ".1f")], rows)


def by_pot(first, second, metric):
    import ot
    from scipy.spatial.distance import cdist

    weights = {len(points): np.full(len(points), 1 / len(points)) for points in [*first, *second]}
    return [[ot.emd2(weights[len(x)], weights[len(y)], cdist(x, y, metric)) for y in second]
            for x in first]


def sets_of_points(parameters, run):
    import wordmover
    from wordmover import WassersteinEmbedding, wasserstein_distances

    wordmover.set_num_threads(1)
    rng = np.random.default_rng(run.seed)
    sets = [rng.normal(size=(rng.integers(1, 2 * parameters.points), parameters.dim))
            for _ in range(parameters.sets)]
    sets = [points.astype(np.float32).astype(np.float64) for points in sets]
    some = sets[: max(4, parameters.sets // 10)]
    distances, features = [], []
    for metric in parameters.metrics:
        model = WassersteinEmbedding(n_features=parameters.features, metric=metric, gamma=None)
        model.fit(sets)
        _, (_, _, dim, lengths, points) = model._model.__reduce__()
        random = np.split(points.reshape(-1, dim).astype(float), np.cumsum(lengths)[:-1])
        best = dict.fromkeys(["pot", "ours", "loop", "embedding"], np.inf)
        for _ in range(parameters.repeats):
            runs = {
                "pot": timed(lambda: by_pot(some, some, metric)),
                "ours": timed(lambda: wasserstein_distances(some, some, metric=metric)),
                "loop": timed(lambda: by_pot(some, random, metric)),
                "embedding": timed(lambda: model.transform(some)),
            }
            check(metric, runs["ours"][1], runs["pot"][1], TOLERANCE)
            check(metric, runs["embedding"][1], runs["loop"][1], FEATURE_TOLERANCE)
            for name, (seconds, result) in runs.items():
                best[name] = min(best[name], seconds / result.size * 1e6)
        distances.append([metric, best["pot"], best["ours"], best["pot"] / best["ours"]])
        features.append([metric, best["loop"], best["embedding"], best["loop"] / best["embedding"]])
    wordmover.set_num_threads(None)
    about = (f"sets of 1 to {2 * parameters.points - 1} points in {parameters.dim} dimensions, "
             "one thread, the best of the repeats:")
    run.text(f"Microseconds a distance between two sets; {about}")
    columns = [("metric", "text"), ("cdist and ot.emd2", ".1f"), ("ours", ".2f"), ("ratio", ".1f")]
    run.table(columns, distances)
    run.text(f"Microseconds a feature of `WassersteinEmbedding`; {about}")
    run.table(columns, features)


def measure(parameters, run):
    partial(parameters, run)
    sets_of_points(parameters, run)
