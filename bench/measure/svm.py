"""Our linear SVM beside LIBLINEAR, and the paper's grid on TWITTER.

Both sides fit to -s 2 -e 0.0001, in turns; of each side the fastest time counts.
LIBLINEAR's time is that of its call `train`, ours includes copying the features into our
layout. Objectives that differ by more than 1e-6 of their value, or a single prediction that
differs, end the run. Then the search over D_max x 18 gamma x 26 C x 10 folds is timed, with
every binary classifier from 0 (as LIBLINEAR would) and with warm starts. Real features where
there are corpora, random ones of the same character where not.
"""

import gzip
import math
import os
import struct
import sys
import time

import numpy

import environment
from measure.asked import Asked

N_CLASSES = {"twitter": 3, "20news": 20}
GAMMA, D_MAX, EPS, TOLERANCE = 1.12, 6, 1e-4, 1e-6


class Corpus:
    """Distances of documents from random documents, and the documents' classes."""

    def __init__(self, name, n_documents, program, run):
        self.name, self.n_documents, self.program, self.run = name, n_documents, program, run
        self.random = numpy.random.default_rng(run.seed)
        self.path = run.shared / "data" / "classification" / f"{name}.tsv.gz"
        self.is_real = self.path.exists()
        run.facts["data"] = "real" if self.is_real else "random"
        if self.is_real:
            with gzip.open(self.path, "rt") as file:
                lines = [line.split("\t", 2)[:2] for line in file]
            taken = [i for i, (split, _) in enumerate(lines) if split != "test"]
            self.rows = self.random.permutation(taken)[:n_documents]
            classes = sorted({label for _, label in lines})
            self.labels = numpy.array([classes.index(lines[i][1]) for i in self.rows])
        else:
            self.labels = self.random.integers(N_CLASSES[name], size=n_documents)

    def distances(self, n_features, d_max):
        if not self.is_real:
            # Points around the centre of their class; distances differ in the second digit.
            dim, r = 20, self.random
            at = 0.8 * r.normal(size=(N_CLASSES[self.name], dim))[self.labels]
            at += r.normal(size=(self.n_documents, dim))
            other = r.normal(size=(n_features, dim)) * 2
            square = (at**2).sum(1)[:, None] + (other**2).sum(1) - 2 * at @ other.T
            return (1.2 + 0.015 * numpy.sqrt(square.clip(0))).astype(numpy.float32)
        output = self.run.scratch / "distances.npy"
        words = ["--stop-words", "none"] if self.name == "twitter" else []
        environment.call(self.program, "embed", self.path, "--format", "tsv", "--no-header",
                         "--column", "3", "-o", output, "--force", "--quiet", "--gamma", "none",
                         "--raw", "--features", n_features, "--d-max", d_max, *words)
        distances = numpy.load(output)[self.rows].astype(numpy.float32)
        # A document without known words has the row 0; it is infinitely far away.
        distances[(distances == 0).all(axis=1)] = numpy.inf
        return distances


def ours(program, rows, labels, run, threads):
    file = run.scratch / "rows"
    with file.open("wb") as out:
        out.write(struct.pack("<QQ", *rows.shape))
        out.write(labels.astype("<u4").tobytes())
        out.write(rows.astype("<f4").tobytes())
    return Asked(program, file, env={**os.environ, "RAYON_NUM_THREADS": str(threads)})


class Liblinear:
    def __init__(self, features, labels):
        import scipy.sparse
        from liblinear import liblinearutil

        self.library = liblinearutil
        self.features, self.labels = features.astype(numpy.float64), labels
        rows = scipy.sparse.csr_matrix(self.features)
        self.problem = liblinearutil.problem(labels.astype(numpy.float64), rows)

    def fit(self, cost):
        parameters = self.library.parameter(f"-s 2 -e {EPS} -c {cost} -q")
        start = time.perf_counter()
        model = self.library.train(self.problem, parameters)
        seconds = time.perf_counter() - start
        classes = numpy.array(model.get_labels())
        n_columns = self.features.shape[1]
        flat = numpy.ctypeslib.as_array(model.w, shape=(n_columns * len(classes),))
        weights = flat.reshape(n_columns, len(classes))
        values = self.features @ weights
        signs = numpy.where(self.labels[:, None] == classes[None, :], 1.0, -1.0)
        losses = (numpy.maximum(0.0, 1.0 - signs * values) ** 2).sum(axis=0)
        objectives = 0.5 * (weights**2).sum(axis=0) + cost * losses
        return seconds, objectives, classes[values.argmax(axis=1)]


def compare(time_svm, corpus, n_features, parameters, run):
    """Rows of the table: one for each C."""
    distances = corpus.distances(n_features, D_MAX).astype(numpy.float64)
    features = (numpy.exp(-GAMMA * distances) / math.sqrt(n_features)).astype(numpy.float32)
    peer = Liblinear(features, corpus.labels)
    shape = f"{corpus.name} {len(features)}x{n_features}, {N_CLASSES[corpus.name]} classes"
    with ours(time_svm, features, corpus.labels, run, parameters.threads) as our_side:
        for cost in parameters.costs:
            times = []
            for _ in range(parameters.repeats):
                theirs, objectives, classes = peer.fit(cost)
                seconds, _, n_cg, *our_objectives = our_side.ask("fit", cost, EPS)
                our_classes = our_side.numbers()
                times.append((seconds, theirs))
            off = float(max(abs(our_objectives - objectives) / objectives))
            n_other = int((numpy.array(our_classes) != classes).sum())
            if not off <= TOLERANCE or n_other:
                sys.exit(f"error: {shape}, C {cost:g}: an objective differs by {off:.1e} of its "
                         f"value, and {n_other} predictions")
            seconds, theirs = map(min, zip(*times))
            yield [shape, cost, n_cg, seconds, theirs, theirs / seconds, off]


def measure(parameters, run):
    time_svm = environment.build("wordmover-bench", "time_svm")
    program = environment.program()
    rows = []
    for name, n_documents, n_features in parameters.shapes:
        corpus = Corpus(name, n_documents, program, run)
        rows += compare(time_svm, corpus, n_features, parameters, run)
    run.table([("problem", "text"), ("C", "g"), ("CG steps", ".0f"), ("ours s", ".3f"),
               ("LIBLINEAR s", ".3f"), ("LIBLINEAR / ours", ".1f"), ("objectives differ", ".0e")],
              rows)
    run.text(f"gamma {GAMMA}, D_max {D_MAX}, built-in vectors. Least speed-up over LIBLINEAR, "
             f"{parameters.threads} threads against its one: {min(row[5] for row in rows):.1f}. "
             f"The paper's grid on TWITTER (18 gamma x 26 C x 10 folds for each D_max), "
             f"R = {parameters.grid_features}:")
    corpus = Corpus("twitter", parameters.grid_documents, program, run)
    rows = []
    for d_max in parameters.grid_d_max:
        distances = corpus.distances(parameters.grid_features, d_max)
        with ours(time_svm, distances, corpus.labels, run, parameters.threads) as our_side:
            for start in parameters.starts:
                seconds, _, gamma, cost, accuracy = our_side.ask("grid", start)
                rows.append([d_max, start, seconds, gamma, cost, 100 * accuracy])
    run.table([("D_max", "d"), ("starts", "text"), ("seconds", ".1f"), ("best gamma", "g"),
               ("best C", "g"), ("accuracy %", ".1f")], rows)
    for start in parameters.starts:
        total = sum(row[2] for row in rows if row[1] == start)
        run.text(f"All of the grid with {start} starts: {total:.0f} s.")
