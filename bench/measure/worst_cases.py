"""Families of costs and masses that may be hard for a solver, each beside all others.

Every kind of costs comes with every kind of masses on both sides. Of each the fastest of several
passes counts, so this compares families, not machines. The run fails if a family takes more
than `most` times the median of all families of its shape.
"""

import math
import random
import statistics
import sys
from array import array

import environment
from measure import problems
from measure.asked import Asked


# An interruption may spoil one turn of a family, hardly all.
TURNS = 4


def sphere(rng, n, dim):
    points = [[rng.gauss(0, 1) for _ in range(dim)] for _ in range(n)]
    return [[x / math.hypot(*point) for x in point] for point in points]


def distances(rng, n, m, dim):
    to = sphere(rng, m, dim)
    return [[math.dist(x, y) for y in to] for x in sphere(rng, n, dim)]


def line(n):
    return [(i + 0.5) / n for i in range(n)]


def table(n, m, cost):
    """Costs by places from 0 to 1."""
    return [[cost(x, y) for y in line(m)] for x in line(n)]


COSTS = {
    "words": lambda rng, n, m: distances(rng, n, m, 50),
    "plane": lambda rng, n, m: distances(rng, n, m, 3),
    "uniform": lambda rng, n, m: [[rng.random() for _ in range(m)] for _ in range(n)],
    "few values": lambda rng, n, m: [[rng.randrange(4) for _ in range(m)] for _ in range(n)],
    "equal": lambda rng, n, m: table(n, m, lambda x, y: 1.0),
    "outliers": lambda rng, n, m: [
        [rng.random() * (1e6 if rng.random() < 0.02 else 1) for _ in range(m)] for _ in range(n)],
    "powers": lambda rng, n, m: [[rng.random() ** 30 for _ in range(m)] for _ in range(n)],
    "sums": lambda rng, n, m: table(n, m, lambda x, y: x + y),
    "Monge": lambda rng, n, m: table(n, m, lambda x, y: (x - y) ** 2),
    "anti-Monge": lambda rng, n, m: table(n, m, lambda x, y: x * y),
    "line": lambda rng, n, m: table(n, m, lambda x, y: abs(x - y)),
    "anti-line": lambda rng, n, m: table(n, m, lambda x, y: -abs(x - y)),
    "steep anti-Monge": lambda rng, n, m: table(n, m, lambda x, y: math.exp(5 * (x + y))),
    "rows shuffled": lambda rng, n, m: rng.sample(table(n, m, lambda x, y: x * y), n),
}
MASSES = {
    "equal": lambda rng, n: [1.0] * n,
    "counts": problems.counts,
    "uniform": lambda rng, n: [0.01 + rng.random() for _ in range(n)],
    "exponential": lambda rng, n: [max(0.8 ** i, 1e-12) for i in range(n)],
    "heavy tail": lambda rng, n: [min(rng.paretovariate(0.5), 1e6) for _ in range(n)],
    "one": lambda rng, n: [1.0] + [1e-9] * (n - 1),
}


def normalised(masses):
    total = sum(masses)
    return array("d", (mass / total for mass in masses))


def families():
    for costs in COSTS:
        for masses in MASSES:
            yield f"{costs} costs, {masses} masses", costs, masses, masses
    # Sources of one kind, sinks of another.
    for costs in COSTS:
        for masses in ("exponential", "heavy tail"):
            yield f"{costs} costs, {masses} and equal masses", costs, masses, "equal"
            yield f"{costs} costs, equal and {masses} masses", costs, "equal", masses


def measure(parameters, run):
    program = environment.build("wordmover-bench", "time_solver")
    rows, failed = [], []
    for shape in parameters.shapes:
        n, m = map(int, shape.split("x"))
        made, names = [], []
        for name, costs, supply, demand in families():
            rng = random.Random(f"{run.seed} {shape} {name}")
            for _ in range(parameters.problems):
                flat = array("d", (c for row in COSTS[costs](rng, n, m) for c in row))
                made.append((flat, normalised(MASSES[supply](rng, n)),
                             normalised(MASSES[demand](rng, m))))
            names.append(name)
        file = run.scratch / "problems"
        problems.write(file, made)
        with Asked(program, "transport", file) as ours:
            for _ in made:
                ours.line()
            turns = [ours.ask(parameters.seconds, len(names)) for _ in range(TURNS)]
        times = map(min, zip(*turns))
        times = [time / parameters.problems * 1e6 for time in times]
        median = statistics.median(times)
        order = sorted(range(len(names)), key=times.__getitem__, reverse=True)
        for rank, i in enumerate(order[:3]):
            rows.append([shape if rank == 0 else "", median if rank == 0 else None, names[i],
                         times[i], times[i] / median])
            if times[i] > parameters.most * median:
                failed.append(f"{shape}, {names[i]}: {times[i] / median:.1f} times the median")
        print(f"{shape}: {rows[-3][2:]}", file=sys.stderr)
    run.text(f"{len(list(families()))} families a shape; the three that take longest:")
    run.table([("shape", "text"), ("median us", ".2f"), ("family", "text"), ("us", ".2f"),
               ("of the median", ".1f")], rows)
    if failed:
        sys.exit("error: above the bound: " + "; ".join(failed))
