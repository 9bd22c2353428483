"""Writes machines.csv: what LIBLINEAR finds for the problems of problems.py."""

import csv
import math
import struct
from pathlib import Path

from liblinear.liblinearutil import parameter, predict, problem, train

import problems

COSTS = (1e-5, 1e-3, 1e-1, 1.0, 1e1, 1e2, 3e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
TOLERANCES = (1e-4, 1e-8)
HEAD = ("problem", "checksum", "bias", "C", "tolerance", "objectives", "weights", "classes")


def main():
    with (Path(__file__).parent / "machines.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEAD)
        for name in problems.PROBLEMS:
            rows, labels = problems.make(name)
            for bias in ("", "1"):
                for cost in COSTS:
                    for tolerance in TOLERANCES:
                        result = fit(rows, labels, bias, cost, tolerance)
                        key = f"{problems.checksum(rows, labels):016x}"
                        table.writerow((name, key, bias, repr(cost), repr(tolerance), *result))


def fit(rows, labels, bias, cost, tolerance):
    n_columns = len(rows[0])
    nodes = [{j + 1: x for j, x in enumerate(row) if x != 0.0} for row in rows]
    options = f"-s 2 -e {tolerance!r} -c {cost!r} -q" + (f" -B {bias}" if bias else "")
    model = train(problem([float(c) for c in labels], nodes), parameter(options))
    classes = model.get_labels()
    n_machines = 1 if len(classes) == 2 else len(classes)
    n_weights = (n_columns + bool(bias)) * n_machines
    flat = model.w[:n_weights]
    weights = [flat[machine::n_machines] for machine in range(n_machines)]
    inputs = [row + ([float(bias)] if bias else []) for row in rows]
    objectives = []
    for machine, w in enumerate(weights):
        terms = [0.5 * x * x for x in w]
        for row, label in zip(inputs, labels):
            margin = math.fsum(x * y for x, y in zip(row, w))
            margin = margin if label == classes[machine] else -margin
            terms.append(cost * max(0.0, 1.0 - margin) ** 2)
        objectives.append(math.fsum(terms))
    data = struct.pack(f"<{n_weights}d", *(x for w in weights for x in w))
    found, _, _ = predict([], nodes, model, "-q")
    return (
        " ".join(map(repr, objectives)),
        f"{problems.fnv1a(data):016x}",
        "".join(str(int(c)) for c in found),
    )


if __name__ == "__main__":
    main()
