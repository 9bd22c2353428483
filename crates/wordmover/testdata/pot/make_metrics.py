"""Writes `metrics.csv`: optimal costs by POT with other ground metrics than the Euclidean.

The points are those of problems of `problems.csv`, rounded to single precision; the costs are
those of SciPy's `cdist`. Every optimal cost is proved as in `make_fixtures.py`.
"""

import csv
import pathlib
import time

import numpy as np
import ot
import scipy
from scipy.spatial.distance import cdist

import problems
from make_fixtures import OPTIMAL, solve_with_highs, solve_with_pot
from problems import Problem

METRICS = ("euclidean", "sqeuclidean", "cosine", "cityblock")
KINDS = ("uniform", "weights", "ties", "shared", "duplicates", "pairs", "unit")
N_EACH = 100
MOST_COSTS = 120 * 40


def main() -> None:
    here = pathlib.Path(__file__).parent
    started = time.monotonic()
    with (here / "problems.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] in KINDS]
    rows = [row for row in rows if int(row["n"]) * int(row["m"]) <= MOST_COSTS]
    stream = problems.Stream(18)
    written = []
    for metric in METRICS:
        n_found = 0
        while n_found < N_EACH:
            row = rows[stream.below(len(rows))]
            sizes = [int(row[key]) for key in ("seed", "n", "m", "dim")]
            a, b, supply, demand = problems.parts(row["kind"], *sizes)
            a, b = (x.astype(np.float32).astype(np.float64) for x in (a, b))
            if metric == "cosine" and not (a.any(axis=1).all() and b.any(axis=1).all()):
                continue  # SciPy has no cosine with a vector of zeros.
            costs = cdist(a, b, metric)
            problem = Problem(costs, problems.normalised(supply), problems.normalised(demand))
            if costs.max() < 1e-12:
                continue
            proof, code = solve_with_pot(problem)
            if code != OPTIMAL or not proof.holds(costs.max()):
                proof = solve_with_highs(problem)
                if not proof.holds(costs.max()):
                    print(f"passed over: {row['id']} {metric}: {proof}")
                    continue
            cost = proof.cost if proof.cost > 1e-14 * costs.max() else 0.0
            written.append((row["id"], metric, repr(float(cost))))
            n_found += 1
    with (here / "metrics.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "metric", "cost"])
        writer.writerows(written)
    print(f"POT {ot.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}")
    print(f"{len(written)} problems, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
