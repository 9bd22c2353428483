"""Exact nearest neighbours under WMD: pairs solved, time, and gensim's time for the pairs.

The nearest training documents of every test document, on one thread; random queries are
compared with a search of every pair, bit for bit. Then gensim's `wmdistance` on 500 random
pairs, which must agree to 1e-6; its time for all pairs is that of these, scaled: the neighbours
that the paper timed, since gensim solves every pair with POT. Beside it the embedding with a
linear machine, with as many features as have the accuracy of the neighbours (experiments).
"""

import json
import subprocess
import sys
import time

import environment

# gensim scales vectors to length 1 in single precision.
TOLERANCE = 1e-6


def gensim_seconds(model, file, passes):
    """Seconds a pair: the fastest pass."""
    pairs = []
    for line in file.read_text().splitlines():
        distance, x, y = line.split("\t")
        pairs.append((float(distance), x.split(), y.split()))
    for distance, x, y in pairs:
        off = abs(model.wmdistance(x, y) - distance)
        if not off <= TOLERANCE * max(distance, 1):
            sys.exit(f"error: a distance of gensim differs from ours by {off:.1e}")
    least = float("inf")
    for _ in range(passes):
        start = time.perf_counter()
        for _, x, y in pairs:
            model.wmdistance(x, y)
        least = min(least, time.perf_counter() - start)
    return least / len(pairs), len(pairs)


def measure(parameters, run):
    from gensim.models import KeyedVectors

    vectors = run.data("vectors", parameters.vectors)
    program = environment.build("wordmover-bench", "knn_corpus")
    model = KeyedVectors.load_word2vec_format(str(vectors), binary=True)
    model.fill_norms()
    pairs = run.scratch / "pairs.tsv"
    for corpus, options in parameters.corpora.items():
        said = environment.call(program, run.corpus(corpus), "--vectors", vectors, "--pairs", pairs,
                                "--verify", parameters.verified, "--features", parameters.features[corpus],
                                *options, stdout=subprocess.PIPE)
        found = json.loads(said)
        pair_seconds, n_pairs = gensim_seconds(model, pairs, parameters.passes)
        brute = found["brute_seconds_a_query"] * found["test"]
        gensim = pair_seconds * found["pairs"]
        run.text(f"{corpus}: {found['train']} training and {found['test']} test documents, "
                 f"{found['words']:.1f} distinct words each, {found['pairs']:,} pairs, "
                 f"{found['k']} neighbours; {100 * found['solved'] / found['pairs']:.2f} % of the "
                 f"pairs solved exactly; {parameters.verified} queries compared with every document "
                 "gave the same neighbours, bit for bit.")
        rows = [["our search", found["seconds"]], ["our distances, all pairs", brute],
                [f"gensim, all pairs (from {n_pairs})", gensim]]
        run.table([("", "text"), ("ms a query", ".2f"), ("seconds in all", ",.1f"),
                   ("times our search", ",.0f")],
                  [[name, 1e3 * seconds / found["test"], seconds, seconds / found["seconds"]]
                   for name, seconds in rows])
        embedded = found["embedded"]
        stages = [embedded[f"{stage}_seconds"] for stage in ("embedding", "fitting", "prediction")]
        whole, predicting = sum(stages), stages[-1]
        run.text(f"The embedding with {parameters.features[corpus]} features and a linear machine: "
                 f"{100 * embedded['accuracy']:.1f} % right ({100 * found['accuracy']:.1f} % by "
                 f"{found['k']} neighbours), {stages[0]:.2f} s to embed the training documents, "
                 f"{stages[1]:.2f} s to fit, {predicting:.2f} s to embed and predict the test "
                 "documents. How many times as long the neighbours of the test documents take:")
        run.table([("", "text"), ("training and predicting", ",.1f"), ("predicting", ",.1f")],
                  [[name, seconds / whole, seconds / predicting] for name, seconds in rows])
        run.text(f"A pair takes gensim {1e6 * pair_seconds:.0f} us, {gensim / brute:.1f} times ours.")
