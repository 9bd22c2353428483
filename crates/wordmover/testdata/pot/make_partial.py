"""Writes `partial.csv`: partial transport problems and their optimal costs by `ot.partial`.

The problems are those of `problems.csv`, their supplies multiplied by a factor so that the two
sides have different sums. Either a mass is moved (`ot.partial.partial_wasserstein`), or unmatched
mass costs a penalty on both sides (`ot.partial.partial_wasserstein_lagrange`, whose parameter is
twice that penalty). Every cost is proved: HiGHS solves the same linear program from scratch, and
the two must agree to 1e-9 of the cost.
"""

import csv
import math
import pathlib
import time

import numpy as np
import ot
import scipy
from ot.partial import partial_wasserstein, partial_wasserstein_lagrange
from scipy.optimize import linprog
from scipy.sparse import coo_array

import problems

N_MASS, N_PENALTY = 1_000, 250
MOST_COSTS = 120 * 40
FACTORS = (1.0, 1.0, 0.5, 3.0)
# `partial_wasserstein_lagrange` refuses sides with a sum above one, also by rounding.
FACTORS_WITH_PENALTY = (1.0, 0.5)
SHARES = (0.05, 0.25, 0.5, 0.8, 0.9, 0.99, 1.0)


def by_highs(costs, supply, demand, mass, penalty):
    """The same program: rows and columns at most the weights, and the mass moved, if given."""
    n, m = costs.shape
    largest = costs.max() or 1.0
    pair = np.arange(n * m)
    rows = np.concatenate([pair // m, n + pair % m])
    at_most = coo_array((np.ones(2 * n * m), (rows, np.concatenate([pair, pair]))))
    objective = costs.ravel() - (2.0 * penalty if penalty is not None else 0.0)
    equal = {} if mass is None else {"A_eq": np.ones((1, n * m)), "b_eq": [mass]}
    result = linprog(
        objective / largest,
        A_ub=at_most.tocsr(),
        b_ub=np.concatenate([supply, demand]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        **equal,
    )
    assert result.status == 0, result.message
    cost = result.fun * largest
    return cost if penalty is None else cost + penalty * (supply.sum() + demand.sum())


def main() -> None:
    here = pathlib.Path(__file__).parent
    started = time.monotonic()
    with (here / "problems.csv").open() as file:
        rows = [row for row in csv.DictReader(file)]
    rows = [row for row in rows if row["kind"] != "far" and int(row["n"]) * int(row["m"]) <= MOST_COSTS]
    stream = problems.Stream(17)
    written, worst = [], 0.0
    while len(written) < N_MASS + N_PENALTY:
        row = rows[stream.below(len(rows))]
        kind, seed, n, m, dim = row["kind"], *(int(row[key]) for key in ("seed", "n", "m", "dim"))
        costs, supply, demand = problems.build(kind, seed, n, m, dim)
        factors = FACTORS if len(written) < N_MASS else FACTORS_WITH_PENALTY
        factor = factors[stream.below(len(factors))]
        supply = supply * factor
        most = min(supply.sum(), demand.sum())
        largest = costs.max()
        if len(written) < N_MASS:
            mass, penalty = most * SHARES[stream.below(len(SHARES))], None
            plan = partial_wasserstein(supply, demand, costs, m=mass)
            cost = math.fsum((plan * costs).ravel().tolist())
        elif max(supply.sum(), demand.sum()) > 1.0:
            continue
        else:
            mass, penalty = None, largest * 0.5 ** (1 + stream.below(5))
            plan = partial_wasserstein_lagrange(supply, demand, costs, reg_m=2.0 * penalty)
            unmatched = supply.sum() + demand.sum() - 2.0 * plan.sum()
            cost = math.fsum((plan * costs).ravel().tolist()) + penalty * unmatched
        proved = by_highs(costs, supply, demand, mass, penalty)
        difference = abs(cost - proved) / max(abs(proved), 1e-3 * largest)
        if not difference <= 1e-9:
            print(f"passed over: {row['id']} mass {mass} penalty {penalty}: POT {cost}, HiGHS {proved}")
            continue
        worst = max(worst, difference)
        amount = ("mass", mass) if penalty is None else ("penalty", penalty)
        written.append((row["id"], factor, amount[0], repr(float(amount[1])), repr(float(cost))))

    with (here / "partial.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "supply_factor", "amount", "value", "cost"])
        writer.writerows(written)
    print(f"POT {ot.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}")
    print(f"{len(written)} problems; POT and HiGHS differ by {worst:.1e} at most")
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
