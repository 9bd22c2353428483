"""The built-in vectors: opening them, embedding with them and with GloVe at the same number of
features, and what they add to the wheel."""

import subprocess
import sys
from pathlib import Path

import environment
from measure.embed import Embedded

LIMITS = {"opening": 10.0, "documents": 0.9, "wheel": 30.0}
"""Milliseconds at most; share of GloVe's documents a second at least; megabytes at most."""


def opening(parameters, run):
    """Milliseconds of `WordVectors::builtin`, which a program of ours measures in one process."""
    said = environment.call(environment.build("wordmover-bench", "open_vectors"), parameters.opens,
                            stdout=subprocess.PIPE)
    milliseconds = sorted(float(line) for line in said.split())
    run.text(f"Opening the built-in set, {len(milliseconds)} times in one process, milliseconds "
             f"(the bar is {LIMITS['opening']:.0f}):")
    run.table([("first quarter", ".2f"), ("median", ".2f"), ("most", ".2f")],
              [[milliseconds[len(milliseconds) // 4], milliseconds[len(milliseconds) // 2],
                milliseconds[-1]]])


def embedding(parameters, run):
    """Documents a second of ground costs and transport, on one thread, the best of some turns."""
    program = environment.program()
    # Mapped, as the built-in set is: reading a foreign file is no part of this.
    glove = run.scratch / "glove.safetensors"
    environment.call(program, "vectors", "convert", run.data("vectors", parameters.glove), "-o", glove,
                     "--precision", "int8", "--quiet")
    rows = []
    for name in parameters.corpora:
        best = {}
        for _ in range(parameters.repeats):
            for kind, options in (("built-in", []), ("GloVe", ["--vectors", glove, "--unknown", "skip"])):
                options = ["--features", parameters.features, *options]
                done = Embedded(program, run.corpus(name), run.scratch / "out.npy", 1, options)
                speed = done.n_documents / (done.solving + done.stages["counting words"])
                best[kind] = max(best.get(kind, 0.0), speed)
        rows.append([name, best["built-in"], best["GloVe"], best["built-in"] / best["GloVe"]])
    run.text(f"Documents a second on one thread, {parameters.features} features: counting words, "
             "ground costs and transport. The built-in set has 160 dimensions and composes unknown "
             f"words, GloVe 6B has 100 and drops them (the bar is {LIMITS['documents']:.0%} of it):")
    run.table([("corpus", "text"), ("built-in", ".0f"), ("GloVe 6B", ".0f"), ("ratio", ".2f")], rows)


def wheel(run):
    # The environment of this benchmark has built it.
    path = next((Path(sys.prefix) / "wheels").iterdir())
    megabytes = path.stat().st_size / 1e6
    run.text(f"The wheel, megabytes (the bar is {LIMITS['wheel']:.0f}):")
    run.table([("file", "text"), ("size", ".1f")], [[path.name, megabytes]])


def measure(parameters, run):
    opening(parameters, run)
    embedding(parameters, run)
    wheel(run)
