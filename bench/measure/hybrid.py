"""Precision at 10 by label: TF-IDF, embeddings, exact distances, and `wordmover search` on an
index.

Random training documents are the index, and each of them a query; a query's own document is
left out of what is found. TF-IDF is scikit-learn's with sublinear counts and English stop words,
compared by cosines; embeddings are those of `wordmover embed` with its defaults, compared by
cosines. A document of several classes stands in OHSUMED once for each.
"""

import gzip
import json
import random
import subprocess
import time

import environment

K = 10
BY = ("hybrid", "embedding", "wmd")


def documents(run, corpus, n):
    """Labels and texts of random training documents."""
    lines = gzip.decompress(run.corpus(corpus).read_bytes()).decode().splitlines()
    fields = [line.split("\t", 2) for line in lines]
    chosen = [(label, text) for split, label, text in fields if split in ("train", "-")]
    random.Random(run.seed).shuffle(chosen)
    return [*zip(*chosen[:n])]


def precision(labels, found):
    """Share of the first ten with the label of the query; `found` has a list for each query."""
    shares = []
    for query, best in enumerate(found):
        others = [i for i in best if i != query][:K]
        shares.append(sum(labels[i] == labels[query] for i in others) / K)
    return sum(shares) / len(shares)


def by_cosines(rows, n):
    """The documents most like each of the first `n`."""
    import numpy as np

    found = []
    for start in range(0, n, 500):
        cosines = rows[start:min(start + 500, n)] @ rows.T
        cosines = cosines.toarray() if hasattr(cosines, "toarray") else cosines
        best = np.argpartition(-cosines, K + 1, axis=1)[:, :K + 1]
        order = np.argsort(-np.take_along_axis(cosines, best, axis=1), axis=1)
        found.extend(np.take_along_axis(best, order, axis=1).tolist())
    return found


def by_program(program, index, queries, by):
    said = environment.call(program, "search", index, "--queries", queries, "-k", K + 1, "--by", by,
                            "--json", "-q", stdout=subprocess.PIPE)
    answers = map(json.loads, said.splitlines())
    return [[neighbor["id"] for neighbor in answer["neighbors"]] for answer in answers]


def measure(parameters, run):
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    program = environment.program()
    rows, times = [], []
    for corpus in parameters.corpora:
        labels, texts = documents(run, corpus, parameters.documents)
        # One document a line, whatever the splitting of lines takes for one.
        texts = [" ".join(text.split()) for text in texts]
        file, index = run.scratch / f"{corpus}.txt", run.scratch / f"{corpus}.wmi"
        file.write_text("".join(text + "\n" for text in texts))
        embeddings = run.scratch / f"{corpus}.npy"
        environment.call(program, "embed", file, "-o", embeddings, "-q")
        environment.call(program, "index", "build", file, "-o", index, "-q")
        n = min(parameters.queries, len(texts))
        queries = run.scratch / "queries.txt"
        queries.write_text("".join(text + "\n" for text in texts[:n]))

        words = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(texts)
        features = np.load(embeddings)
        features /= np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-9)
        row = [corpus, len(texts), n, precision(labels, by_cosines(words, n)),
               precision(labels, by_cosines(features, n))]
        seconds = []
        for by in BY:
            start = time.perf_counter()
            row.append(precision(labels, by_program(program, index, queries, by)))
            seconds.append(1000 * (time.perf_counter() - start) / n)
        rows.append(row)
        times.append([corpus, *seconds])
    run.text("Precision at 10:")
    run.table([("corpus", "text"), ("documents", "d"), ("queries", "d"), ("TF-IDF", ".4f"),
               ("cosines of embeddings", ".4f"), *((f"`--by {by}`", ".4f") for by in BY)], rows)
    run.text("Milliseconds a query on one thread, the start of the program and its output in them:")
    run.table([("corpus", "text"), *((f"`--by {by}`", ".2f") for by in BY)], times)
