"""Features from any distance (D2KE) beside nearest neighbours under the same distance.

    python any_distance.py strings DNA.rda      # splice junctions: edit distance of DNA strings
    python any_distance.py series FOLDER        # FOLDER/NAME_TRAIN.ts and NAME_TEST.ts: warping
    python any_distance.py quick                # made-up strings and series, in seconds

The strings are the Primate splice-junction sequences (3,186 of 60 bases, three classes), which
D2KE reports on, as in the R package mlbench (Debian: r-cran-mlbench; reading needs `pip install
rdata`). The series are those packaged with sktime (`sktime/datasets/data`). Parameters (gamma and
C) are chosen by cross-validation on the training part. Figures are in docs/beyond-words.md.
"""

import pathlib
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from wordmover import D2KE, pairwise


def compare(
    distance: str, train: Any, test: Any, n_features: int, max_length: int
) -> tuple[float, float, float, float]:
    """Accuracies, in per cent, of nearest neighbours and of a linear SVM on D2KE's features."""
    (X, y), (Z, truth) = train, test
    start = time.perf_counter()
    to_train, to_test = pairwise(distance, X, X), pairwise(distance, Z, X)
    neighbors = GridSearchCV(KNeighborsClassifier(metric="precomputed"),
                             {"n_neighbors": [1, 3, 5, 9, 15]}, cv=3).fit(to_train, y)
    by_neighbors = 100 * neighbors.score(to_test, truth)
    middle = time.perf_counter()
    model = D2KE(distance=distance, n_features=n_features, max_length=max_length, gamma=None)
    to_train, to_test = model.fit_transform(X).astype(float), model.transform(Z).astype(float)
    median = float(np.median(to_train))
    best, by_features = -1.0, 0.0
    for scale in [1.0, 3.0]:
        features = D2KE(distance="precomputed", gamma=scale / median)
        svm = make_pipeline(features, StandardScaler(), LinearSVC(dual=False))
        search = GridSearchCV(svm, {"linearsvc__C": [1e-4, 1e-3, 1e-2]}, cv=3)
        search.fit(to_train, y)
        if search.best_score_ > best:
            best, by_features = search.best_score_, 100 * search.score(to_test, truth)
    end = time.perf_counter()
    return by_neighbors, by_features, middle - start, end - middle


def show(name: str, found: tuple[float, float, float, float]) -> None:
    print(f"{name:18} nearest neighbours {found[0]:5.1f} %  D2KE {found[1]:5.1f} %  "
          f"({found[2]:.1f} s, {found[3]:.1f} s)", flush=True)


def splice(path: str) -> tuple[list[str], NDArray[Any]]:
    """The strings and their classes: each base is three indicators, all of them 0 for T."""
    import rdata

    table = rdata.read_rda(path)["DNA"]
    bits = table.iloc[:, :-1].astype(int).to_numpy().reshape(len(table), 60, 3)
    letters = np.array(["A", "C", "G", "T"])
    codes = np.where(bits.any(2), bits.argmax(2), 3)
    return ["".join(row) for row in letters[codes]], table.iloc[:, -1].astype(str).to_numpy()


def series(path: pathlib.Path) -> tuple[list[Any], NDArray[Any]]:
    """Series of a .ts file, with a row of values for each point in time, and their classes."""
    X: list[Any] = []
    y: list[str] = []
    for line in path.read_text().split("@data")[1].split():
        *dimensions, label = line.split(":")
        columns = [[float(x) for x in values.split(",") if x != "NaN"] for values in dimensions]
        X.append(np.array(columns).T)
        y.append(label)
    return X, np.array(y)


def quick() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 2
    strings = ["".join(rng.choice(list("abcd"), 12, p=p)) for p in
               np.array([[.7, .1, .1, .1], [.1, .1, .1, .7]])[labels]]
    waves = [np.sin(np.linspace(0, 6 + 6 * label, 30) + rng.random()) for label in labels]
    objects: list[tuple[str, list[Any]]] = [("edit", strings), ("dtw", waves)]
    for distance, X in objects:
        found = compare(distance, (X[:40], labels[:40]), (X[40:], labels[40:]), 32, 8)
        show(distance, found)
        assert min(found[:2]) > 80


def main() -> None:
    match sys.argv[1:]:
        case ["strings", path]:
            strings, labels = splice(path)
            X, Z, y, truth = train_test_split(strings, labels, test_size=0.3, random_state=0,
                                              stratify=labels)
            show("splice", compare("edit", (X, y), (Z, truth), 1024, 60))
        case ["series", folder, *names]:
            for train in sorted(pathlib.Path(folder).rglob("*_TRAIN.ts")):
                name = train.name.removesuffix("_TRAIN.ts")
                if names and name not in names:
                    continue
                test = train.with_name(f"{name}_TEST.ts")
                show(name, compare("dtw", series(train), series(test), 512, 30))
        case ["quick"]:
            quick()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
