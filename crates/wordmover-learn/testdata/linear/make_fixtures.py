"""Writes problems, and what LIBLINEAR and scikit-learn find for them. See README.md."""

import csv
import math
import random
from pathlib import Path

import numpy
import scipy.sparse
from liblinear.liblinearutil import parameter, problem, train
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

HERE = Path(__file__).parent
COSTS = (1e-2, 1.0, 30.0, 1e3)
BIASES = ("", "1")
DENSE_WEIGHT = 0.5
# Rows of each class, sparse columns, values a row, dense columns.
PROBLEMS = {
    "two-classes": ((40, 30), 60, 8, 0),
    "five-classes": ((30, 25, 20, 15, 10), 80, 10, 0),
    "eleven-classes": ((9,) * 11, 120, 12, 0),
    "more-columns": ((15, 12, 9), 500, 20, 0),
    "one-member": ((30, 19, 1), 50, 6, 0),
    "dense": ((30, 20, 20), 0, 0, 12),
    "both": ((25, 25, 20), 70, 8, 9),
}
GIVEN = {0: 3.0, 1: 0.25}


def counts(rng, sizes, n_columns, n_values):
    """Rows of column counts, with frequent columns, rare ones, and one empty row."""
    labels = [c for c, size in enumerate(sizes) for _ in range(size)]
    rng.shuffle(labels)
    rows = []
    for label in labels:
        row = {}
        for _ in range(n_values if n_columns else 0):
            column = min(int(n_columns * rng.random() ** 2), n_columns - 1)
            if rng.random() < 0.4:
                column = (label * 7 + int(5 * rng.random())) % n_columns
            row[column] = row.get(column, 0) + 1
        rows.append(dict(sorted(row.items())))
    if n_columns:
        rows[3] = {}
    return rows, labels


def matrix(rows, n_columns):
    data = [x for row in rows for x in row.values()]
    indices = [j for row in rows for j in row]
    starts = numpy.cumsum([0] + [len(row) for row in rows])
    return scipy.sparse.csr_matrix((numpy.array(data, float), indices, starts), (len(rows), n_columns))


def dense_block(rng, labels, n_columns):
    centers = [[rng.gauss(0, 1) for _ in range(n_columns)] for _ in set(labels)]
    values = [[0.3 + 0.01 * (c + 1.5 * rng.gauss(0, 1)) for c in centers[label]] for label in labels]
    block = numpy.array(values).reshape(len(labels), n_columns)
    if n_columns:
        block[:, 2] = 0.25
    return block.astype(numpy.float32)


def standardized(block):
    block = block.astype(float)
    deviation = block.std(axis=0)
    deviation[block.min(axis=0) == block.max(axis=0)] = numpy.inf
    return (block - block.mean(axis=0)) / deviation


def fit(features, labels, row_weights, kind, bias, cost):
    """Weights and intercept of each class, by class id; of the first of two."""
    classes = sorted(set(labels))
    if kind == "rows":
        model = LinearSVC(C=cost, dual=False, tol=1e-10, max_iter=100000, fit_intercept=bool(bias))
        model.fit(features, labels, sample_weight=row_weights)
        # With two classes the machine is for the second.
        sign = -1.0 if len(classes) == 2 else 1.0
        weights = sign * model.coef_
        intercepts = sign * model.intercept_ if bias else numpy.zeros(len(weights))
    else:
        options = f"-s 2 -c {cost!r} -e 1e-10 -q" + (f" -B {bias}" if bias else "")
        for label, weight in class_weights(labels, kind).items():
            options += f" -w{label} {weight!r}"
        model = train(problem(labels, features), parameter(options))
        found = model.get_labels()
        columns = features.shape[1]
        n_machines = 1 if len(classes) == 2 else len(classes)
        flat = numpy.array(model.w[: (columns + bool(bias)) * n_machines])
        by_column = flat.reshape(-1, n_machines)
        order = [found.index(c) for c in classes] if n_machines > 1 else [0]
        sign = -1.0 if n_machines == 1 and found[0] != classes[0] else 1.0
        weights = sign * by_column[:columns, order].T
        intercepts = sign * by_column[columns, order] if bias else numpy.zeros(n_machines)
    return weights, intercepts


def class_weights(labels, kind):
    if kind == "balanced":
        classes = sorted(set(labels))
        return {c: len(labels) / (len(classes) * labels.count(c)) for c in classes}
    return GIVEN if kind == "given" else {}


def objective(features, labels, row_weights, kind, cost, label, weights, intercept):
    of_class = class_weights(labels, kind)
    two = len(set(labels)) == 2
    terms = [0.5 * x * x for x in weights] + [0.5 * intercept * intercept]
    values = features @ weights + intercept
    for value, other, row_weight in zip(values, labels, row_weights):
        side = of_class.get(other, 1.0) if other == label or two else 1.0
        margin = value if other == label else -value
        weight = row_weight if kind == "rows" else 1.0
        terms.append(cost * side * weight * max(0.0, 1.0 - margin) ** 2)
    return math.fsum(terms)


def main():
    with (HERE / "fits.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("problem", "weights", "bias", "C", "objectives", "classes"))
        for seed, (name, (sizes, n_columns, n_values, n_dense)) in enumerate(PROBLEMS.items()):
            rng = random.Random(seed)
            rows, labels = counts(rng, sizes, n_columns, n_values)
            row_weights = [rng.choice((0.0, 0.5, 1.0, 1.0, 2.0)) for _ in labels]
            dense = dense_block(rng, labels, n_dense)
            raw = matrix(rows, n_columns)
            sparse = TfidfTransformer(sublinear_tf=True).fit_transform(raw) if n_columns else raw
            write(HERE / f"{name}.tsv", labels, row_weights, raw, sparse, dense)
            block = DENSE_WEIGHT * standardized(dense)
            features = scipy.sparse.csr_matrix(scipy.sparse.hstack([sparse, block]))
            # Rows of weight 0 are left out before columns are standardised.
            kinds = ("", "given", "balanced") + (("rows",) if not n_dense else ())
            for kind in kinds:
                for bias in BIASES:
                    for cost in COSTS:
                        weights, intercepts = fit(features, labels, row_weights, kind, bias, cost)
                        values = features @ weights.T + intercepts
                        pairs = enumerate(zip(weights, intercepts))
                        objectives = [
                            objective(features, labels, row_weights, kind, cost, c, w, b)
                            for c, (w, b) in pairs
                        ]
                        if len(weights) == 1:
                            classes = [0 if value > 0 else 1 for value in values[:, 0]]
                        else:
                            classes = values.argmax(axis=1)
                        table.writerow((
                            name, kind, bias, repr(cost), " ".join(map(repr, map(float, objectives))),
                            " ".join(map(str, classes)),
                        ))


def write(path, labels, row_weights, raw, sparse, dense):
    """Label, weight, columns, counts, TF-IDF and dense values of each row."""
    with path.open("w") as file:
        for i, (label, weight) in enumerate(zip(labels, row_weights)):
            span = slice(raw.indptr[i], raw.indptr[i + 1])
            parts = (raw.indices[span], raw.data[span].astype(int), sparse.data[span], dense[i])
            cells = (" ".join(str(x) for x in part.tolist()) for part in parts)
            file.write("\t".join((str(label), str(weight), *cells)) + "\n")


if __name__ == "__main__":
    main()
