"""Real corpora with the program's defaults: finite rows, the same bytes with one and two
threads, time and memory; and one corpus several times over, for which memory must not grow."""

import gzip

import environment
from measure.embed import Embedded, on_one_and_two


def measure(parameters, run):
    program = environment.program()
    rows = []
    for corpus, vectors, n_features in parameters.runs:
        options = ["--features", n_features, "--d-max", "6"]
        if vectors != "builtin":
            options += ["--vectors", run.data("vectors", vectors)]
        for threads, done in enumerate(on_one_and_two(program, run.corpus(corpus), run, options), 1):
            rows.append([corpus, done.n_documents, vectors, n_features, threads, done.seconds,
                         done.n_documents / done.seconds, done.peak])
    run.table([("corpus", "text"), ("documents", "d"), ("vectors", "text"), ("R", "d"),
               ("threads", "d"), ("seconds", ".2f"), ("documents/s", ".0f"), ("peak MB", ".0f")],
              rows)
    run.text("All values are finite, and one thread and two give the same bytes. 20NEWS several "
             f"times over, {parameters.many_features} features:")
    text = gzip.decompress(run.corpus("20news").read_bytes())
    rows = []
    for times in parameters.times:
        path = run.scratch / "many.tsv"
        path.write_bytes(text * times)
        options = ["--features", parameters.many_features, "--d-max", "3"]
        done = Embedded(program, path, run.scratch / "many.npy", 2, options)
        rows.append([done.n_documents, done.peak, done.megabytes])
    run.table([("documents", "d"), ("peak MB", ".0f"), ("output MB", ".0f")], rows)
