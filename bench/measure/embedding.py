"""The whole embedding on real corpora, as the program does it: time by stage and memory.

20NEWS at several numbers of features on one and two threads; TWITTER on one thread beside
the authors' own program on the same work; growth with documents, features and words. The
features are the paper's (--raw), and unknown words are dropped, as the authors' program does.
"""

import json
import subprocess

import environment
from measure.embed import SOLVING, STAGES, Embedded, on_one_and_two

NEWS = ["--raw", "--unknown", "skip", "--d-max", "6", "--min-count", "5"]
TWITTER = ["--raw", "--unknown", "skip", "--features", "256", "--d-max", "9", "--stop-words", "none"]
# Seconds of the authors' program for TWITTER, R 256, D_max 9, one thread of a Zen 3,
# in GNU Octave, and of its loop rewritten in C with the same solver.
AUTHORS, AUTHORS_IN_C = 111, 13.4


def news(program, parameters, run):
    corpus = run.corpus("20news")
    vectors = run.data("vectors", parameters.news_vectors)
    rows = []
    for n_features in parameters.news_features:
        options = ["--vectors", vectors, "--features", n_features, *NEWS]
        for threads, done in enumerate(on_one_and_two(program, corpus, run, options), 1):
            rows.append([n_features, threads, done.seconds, *done.stages.values(),
                         100 * done.solving / done.seconds, done.n_documents / done.seconds,
                         done.peak, done.megabytes])
    run.text(f"20NEWS, {done.n_documents} documents, {parameters.news_vectors}, {' '.join(NEWS)}; "
             "seconds in all and by stage (reading and writing go on beside the others); solving "
             f"is the share of {' and '.join(SOLVING)}. One thread and two give the same bytes:")
    run.table([("R", "d"), ("threads", "d"), ("seconds", ".1f"), *((s, ".2f") for s in STAGES),
               ("solving %", ".0f"), ("documents/s", ".0f"), ("peak MB", ".0f"),
               ("output MB", ".0f")], rows)


def twitter(program, parameters, run):
    vectors = run.scratch / "vectors.safetensors"
    source = run.data("vectors", parameters.twitter_vectors)
    environment.call(program, "vectors", "convert", source, "-o", vectors)
    options = ["--vectors", vectors, "--case", "keep", *TWITTER]
    runs = [Embedded(program, run.corpus("twitter"), run.scratch / "twitter.npy", 1, options)
            for _ in range(parameters.repeats)]
    seconds, solving = (min(getattr(done, name) for done in runs) for name in ("seconds", "solving"))
    run.text(f"TWITTER, {runs[0].n_documents} documents, {parameters.twitter_vectors} (converted), "
             f"{' '.join(TWITTER)}, one thread, fastest of {parameters.repeats}; the authors' program "
             f"took {AUTHORS} s, its loop in C {AUTHORS_IN_C} s (on another machine, a Zen 3):")
    run.table([("", "text"), ("seconds", ".2f"), ("authors / ours", ".0f"), ("in C / ours", ".1f")],
              [[name, taken, AUTHORS / taken, AUTHORS_IN_C / taken] for name, taken in
               (("the whole program", seconds), ("ground costs and transport", solving))])


def scaling(run):
    drawing = [environment.ROOT / "docs" / "cost-scaling.svg"] if run.is_recorded else []
    program = environment.build("wordmover-bench", "cost_scaling")
    series = json.loads(environment.call(program, *drawing, stdout=subprocess.PIPE))
    run.text("Growth of the time with documents, features and distinct words a document (1,024 "
             "documents, 256 features, 64 words where not varied; built-in vectors, one thread); "
             "drawn in docs/cost-scaling.svg:")
    run.table([("varied", "text"), ("value", "d"), ("seconds", ".4f")],
              [[one["name"], value, seconds] for one in series for value, seconds in one["points"]])
    run.text("Slopes of the logarithms: "
             + ", ".join(f"{one['slope']:.3f} for {one['name']}" for one in series) + ".")


def measure(parameters, run):
    program = environment.program()
    news(program, parameters, run)
    twitter(program, parameters, run)
    if parameters.scaling:
        scaling(run)
