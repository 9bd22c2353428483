"""Our linear classifier on TF-IDF beside LIBLINEAR's dual coordinate descent.

Takes the training documents of 20NEWS, makes TF-IDF of words with scikit-learn (sublinear),
and lets LIBLINEAR (-s 1 -B 1) and ours solve for the same C in turns, one thread each. Both
go until the sum of the objectives is within 1e-6 of the least, which is LIBLINEAR's with
-e 1e-6: LIBLINEAR with the largest -e, ours with the largest tolerance among powers of ten
that do. Of each side the least processor time counts. Ends with an error if ours does not get
there.
"""

import gzip
import os
import resource
import struct
import sys
from pathlib import Path

import numpy
from liblinear import liblinearutil
from sklearn.feature_extraction.text import TfidfVectorizer

import environment
from measure.asked import Asked

STEPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
WITHIN = 1e-6


def largest(objective, least):
    return next((step for step in STEPS if objective(step) <= least * (1 + WITHIN)), None)


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    rows = [row for row in rows if row[0] == "train"]
    classes = sorted({row[1] for row in rows})
    labels = numpy.array([classes.index(row[1]) for row in rows], dtype="<u4")
    features = TfidfVectorizer(sublinear_tf=True).fit_transform(row[2] for row in rows)
    features.sort_indices()
    return features, labels


def write(path, features, labels):
    with path.open("wb") as file:
        file.write(struct.pack("<4Q", *features.shape, features.nnz, 0))
        file.write(features.indptr.astype("<u8").tobytes())
        file.write(features.data.astype("<f8").tobytes())
        file.write(features.indices.astype("<u4").tobytes())
        file.write(labels.tobytes())


class Liblinear:
    def __init__(self, features, labels):
        self.features, self.labels = features, labels
        self.problem = liblinearutil.problem(labels.astype(float), features, bias=1)

    def fit(self, cost, eps):
        """Processor time and the sum of the objectives."""
        parameters = liblinearutil.parameter(f"-s 1 -c {cost!r} -e {eps!r} -B 1 -q")
        start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        model = liblinearutil.train(self.problem, parameters)
        seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - start
        classes = model.get_labels()
        n_columns = self.features.shape[1]
        weights = numpy.array(model.w[: (n_columns + 1) * len(classes)])
        weights = weights.reshape(n_columns + 1, len(classes))
        values = self.features @ weights[:-1] + weights[-1]
        signs = numpy.where(self.labels[:, None] == numpy.array(classes)[None], 1.0, -1.0)
        slacks = numpy.maximum(0.0, 1.0 - signs * values)
        return seconds, 0.5 * (weights**2).sum() + cost * (slacks**2).sum()


class Ours(Asked):
    def processor_time(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) / os.sysconf("SC_CLK_TCK")

    def fit(self, cost, tolerance):
        """Processor time and the sum of the objectives."""
        start = self.processor_time()
        print("fit words 1 1", repr(cost), repr(tolerance), file=self.process.stdin, flush=True)
        answer = self.line().split()
        return self.processor_time() - start, float(answer[3])


def measure(parameters, run):
    program = environment.build("wordmover-bench", "time_linear")
    features, labels = read(run.corpus("20news"))
    path = run.scratch / "features.bin"
    write(path, features, labels)
    peer, rows = Liblinear(features, labels), []
    with Ours(program, path, env={**os.environ, "RAYON_NUM_THREADS": "1"}) as ours:
        for cost in parameters.costs:
            _, least = peer.fit(cost, 1e-6)
            eps = largest(lambda step: peer.fit(cost, step)[1], least)
            tolerance = largest(lambda step: ours.fit(cost, step)[1], least)
            if eps is None or tolerance is None:
                sys.exit(f"error: C = {cost}: no step got within {WITHIN} of {least}")
            turns = [(peer.fit(cost, eps)[0], ours.fit(cost, tolerance)[0])
                     for _ in range(parameters.repeats)]
            theirs, mine = (min(times) for times in zip(*turns))
            rows.append([cost, eps, theirs, tolerance, mine, theirs / mine])
    run.text(f"{features.shape[0]} documents, {features.shape[1]} words, {features.nnz} values, "
             f"{len(set(labels))} classes; sums of objectives within {WITHIN:g} of the least:")
    run.table([("C", "g"), ("LIBLINEAR -e", "g"), ("processor s", ".2f"),
               ("our tolerance", "g"), ("processor s", ".2f"), ("LIBLINEAR / ours", ".1f")], rows)
