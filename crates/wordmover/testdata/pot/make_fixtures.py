"""Writes `problems.csv`: transport problems and their optimal costs by POT.

No cost is taken on trust. POT's duals are turned into a feasible dual solution
and its objective compared with the cost of POT's plan: where the two agree and
the plan has the right marginals, the cost is proved optimal whatever the solver
did. Where they do not, HiGHS solves the problem again and has to pass the same
test; if it fails too, nothing is written.
"""

import argparse
import collections
import csv
import math
import pathlib
import time
from typing import NamedTuple

import numpy as np
import ot
import scipy
from ot.lp import emd_wrap
from scipy.optimize import linprog
from scipy.sparse import coo_array

import problems
from problems import Problem

# Relative to the cost. Rounding in the duals is relative to the largest cost,
# and no optimum but zero lies below SMALLEST_RATIO of that.
GAP_TOLERANCE = 1e-12
MARGINAL_TOLERANCE = 1e-14
SMALLEST_RATIO = 1e-3
# Plans this cheap, relative to the largest cost, are zero up to the rounding of the weights.
ZERO_RATIO = 1e-14
MAX_PIVOTS = 100_000_000
OPTIMAL = 1


class Row(NamedTuple):
    id: str
    kind: str
    seed: int
    n: int
    m: int
    dim: int


class Proof(NamedTuple):
    cost: float
    gap: float
    marginal_error: float

    def holds(self, largest: float) -> bool:
        if self.marginal_error > MARGINAL_TOLERANCE:
            return False
        if self.cost <= ZERO_RATIO * largest:
            return True
        return abs(self.gap) <= GAP_TOLERANCE * self.cost


# Sizes beyond the schedule, after all others, so that those keep their seeds.
LARGE = [(1000, 1000, 50), (2000, 2000, 10), (2000, 2000, 50), (2000, 21, 50)]


def schedule() -> list[Row]:
    """The sizes. They are stored in the file, so only the problems themselves need rebuilding."""
    stream = problems.Stream(2024)

    def between(low: int, high: int) -> int:
        return low + stream.below(high - low + 1)

    def pick(choices):
        return choices[stream.below(len(choices))]

    def document() -> int:
        """A count of distinct words: mostly short, up to 120."""
        return between(1, 40) if stream.below(2) else between(1, 120)

    def other_side() -> int:
        """A random document or an ordinary one."""
        return between(1, 21) if stream.below(2) else document()

    sizes: dict[str, list[tuple[int, int, int]]] = {kind: [] for kind in problems.KINDS}

    # Every m meets one point, as few points as itself, and the longest document.
    for m in range(1, 22):
        for n in (1, 2, m, 120, 500):
            sizes["uniform"].append((n, m, pick([1, 2, 3, 10, 50])))
    for i in range(1_260):
        r = stream.below(20)
        n = between(1, 40) if r < 8 else between(1, 120) if r < 17 else between(121, 500)
        sizes["uniform"].append((n, 1 + i % 21, pick([1, 2, 3, 5, 10, 20, 50, 100])))
    for _ in range(260):
        sizes["weights"].append((document(), other_side(), pick([1, 2, 3, 10, 50])))
    for _ in range(260):
        sizes["ties"].append((document(), other_side(), between(1, 6)))
    for i in range(260):
        n = document()
        sizes["shared"].append((n, n if i % 3 == 0 else document(), pick([1, 2, 3, 10, 50])))
    for _ in range(160):
        sizes["duplicates"].append((document(), other_side(), pick([1, 2, 3, 10, 50])))
    for _ in range(160):
        sizes["pairs"].append((document(), document(), pick([1, 2, 3, 10, 50])))
    for n, m in [
        (120, 120), (200, 200), (300, 300), (400, 400), (500, 500), (500, 37), (37, 500),
        (500, 120), (120, 500), (250, 200), (200, 450), (333, 222), (222, 333), (500, 1), (1, 500),
    ]:
        sizes["pairs"].append((n, m, pick([2, 10, 50])))
    for _ in range(140):
        sizes["unit"].append((document(), other_side(), between(50, 100)))
    for _ in range(180):
        sizes["zeros"].append((document(), other_side(), pick([1, 2, 3, 10, 50])))
    for _ in range(150):
        sizes["far"].append((document(), other_side(), pick([1, 2, 3, 10, 50])))

    rows = []
    for kind in problems.KINDS:
        for i, (n, m, dim) in enumerate(sizes[kind]):
            rows.append(Row(f"{kind}-{i:04}", kind, len(rows) + 1, n, m, dim))
    for i, (n, m, dim) in enumerate(LARGE, start=len(sizes["pairs"])):
        rows.append(Row(f"pairs-{i:04}", "pairs", len(rows) + 1, n, m, dim))
    return rows


def prove(problem: Problem, plan: np.ndarray, demand_duals: np.ndarray) -> Proof:
    """The plan's cost, and how far it is from a dual bound made of the demand's duals.

    Only the sinks with demand count: a dual for any other can be chosen afterwards.
    The supply's duals are the largest which these allow, so the bound is feasible
    by construction. One constant is moved between the sides so that the rounding of
    the weights' sums meets small duals.
    """
    costs, supply, demand = problem
    used = demand > 0.0
    v = demand_duals[used] - np.median(demand_duals[used])
    u = (costs[:, used] - v[None, :]).min(axis=1)
    bound = math.fsum((supply * u).tolist() + (demand[used] * v).tolist())
    cost = math.fsum((plan * costs).ravel().tolist())
    error = max(
        max(abs(math.fsum(line) - weight) for line, weight in zip(lines.tolist(), weights.tolist()))
        for lines, weights in ((plan, supply), (plan.T, demand))
    )
    if plan.min() < 0.0:
        error = math.inf
    return Proof(cost, cost - bound, error)


def solve_with_pot(problem: Problem) -> tuple[Proof, int]:
    """POT's network simplex by its thin entry: `ot.emd` would rescale the demand."""
    costs, supply, demand = (np.ascontiguousarray(x).copy() for x in problem)
    plan, _, _, demand_duals, code = emd_wrap.emd_c(supply, demand, costs, MAX_PIVOTS, 1)
    return prove(problem, plan, demand_duals), code


def solve_with_highs(problem: Problem) -> Proof:
    """The linear program, scaled so that HiGHS's absolute tolerances are small against it."""
    costs, supply, demand = problem
    n, m = costs.shape
    mass = 1.0 / min(supply[supply > 0.0].min(), demand[demand > 0.0].min())
    largest = costs.max()
    pair = np.arange(n * m)
    rows = np.concatenate([pair // m, n + pair % m])
    matrix = coo_array((np.ones(2 * n * m), (rows, np.concatenate([pair, pair]))))
    result = linprog(
        costs.ravel() / largest,
        A_eq=matrix.tocsr(),
        b_eq=np.concatenate([supply, demand]) * mass,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise RuntimeError(result.message)
    plan = np.maximum(result.x.reshape(n, m) / mass, 0.0)
    return prove(problem, plan, result.eqlin.marginals[n:] * largest)


def check_arithmetic(rows: list[Row]) -> None:
    """Vectorised and one-by-one ground costs have the same bits, on some rows of every kind."""
    for kind in problems.KINDS:
        for row in [row for row in rows if row.kind == kind][:20]:
            a, b, _, _ = problems.parts(*row[1:])
            fast, slow = problems.ground_costs(a, b), problems.ground_costs_one_by_one(a, b)
            assert fast.tobytes() == slow.tobytes(), row.id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    here = pathlib.Path(__file__).parent
    parser.add_argument("--output", type=pathlib.Path, default=here / "problems.csv")
    output = parser.parse_args().output

    started = time.monotonic()
    rows = schedule()
    check_arithmetic(rows)
    written, uncertified = [], []
    worst_gap = worst_marginal = 0.0
    smallest_ratio = math.inf
    codes: collections.Counter[int] = collections.Counter()
    kinds: collections.Counter[str] = collections.Counter()
    n_zero = 0
    for row in rows:
        problem = problems.build(*row[1:])
        largest = float(problem.costs.max())
        proof, code = solve_with_pot(problem)
        codes[code] += 1
        if code != OPTIMAL or not proof.holds(largest):
            by_pot, proof = proof, solve_with_highs(problem)
            if not proof.holds(largest):
                raise RuntimeError(f"{row}: POT {by_pot}, HiGHS {proof}")
            uncertified.append((row, by_pot, proof))
        cost = proof.cost
        if cost <= ZERO_RATIO * largest:
            cost = 0.0
            n_zero += 1
        else:
            worst_gap = max(worst_gap, abs(proof.gap) / cost)
            smallest_ratio = min(smallest_ratio, cost / largest)
        worst_marginal = max(worst_marginal, proof.marginal_error)
        kinds[row.kind] += 1
        written.append((*row, repr(float(cost)), f"{problems.checksum(problem):016x}"))
    assert smallest_ratio >= SMALLEST_RATIO, smallest_ratio

    with output.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Row._fields, "cost", "checksum"])
        writer.writerows(written)

    print(f"POT {ot.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}")
    print(f"{len(written)} problems: {dict(kinds)}; {n_zero} of cost zero")
    print(f"POT's result codes: {dict(codes)}")
    print(f"largest relative gap {worst_gap:.1e}, largest marginal error {worst_marginal:.1e}")
    print(f"smallest cost but zero, relative to the largest ground cost: {smallest_ratio:.1e}")
    print(f"{len(uncertified)} not certified by POT's own duals, settled by HiGHS")
    for row, by_pot, proof in uncertified:
        difference = (by_pot.cost - proof.cost) / proof.cost
        print(
            f"  {row.id} {row.n}x{row.m}: relative gap {by_pot.gap / by_pot.cost:.1e}"
            f" (HiGHS {proof.gap / proof.cost:.1e}), cost above the optimum by {difference:.1e}"
        )
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
