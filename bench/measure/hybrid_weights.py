"""The weights of hybrid search, chosen on labels of some corpora to be judged on others
(`bench/run hybrid`).

The score of `crates/wordmover/src/index/hybrid.rs` is computed here again, with scikit-learn's
counts for the words, for every combination of BM25's constants, the weight of the cosine, the
number of documents that stand for what is looked for, and the weight of the cosine with their
mean. Random training documents are the index, some of them the queries. A combination's value
is its precision at 10, averaged over the corpora; all are listed that come within a point of
the best.

Then the weight of the exact distance, with all others as they are: the program says what the
scores of the documents it compares are made of, and these are ordered anew with other weights.
"""

import itertools
import json
import subprocess

import environment
from measure.hybrid import K, documents, precision

# As in hybrid.rs.
REFERENCE, REORDERED, COMPARED, FEEDBACK_WEIGHT = 10, 1000, 50, 4.0


def bm25(counts, n_queries, saturation, length_share):
    """By query and document; 1 is the mean of the ten best after the first."""
    import numpy as np
    import scipy.sparse as sparse

    lengths = np.asarray(counts.sum(axis=1)).ravel()
    df = np.asarray((counts > 0).sum(axis=0)).ravel()
    idf = np.log1p((len(lengths) - df + 0.5) / (df + 0.5))
    entries = counts.tocoo()
    penalty = saturation * (1 - length_share + length_share * lengths / lengths.mean())
    share = entries.data * (saturation + 1) / (entries.data + penalty[entries.row])
    weights = sparse.csr_matrix((share, (entries.row, entries.col)), counts.shape)
    queries = counts[:n_queries].astype(float)
    queries.data = 1 + np.log(queries.data)
    evidence = (queries.multiply(idf).tocsr() @ weights.T).toarray().astype(np.float32)
    best = -np.sort(-evidence, axis=1)[:, 1:REFERENCE + 1]
    return evidence / np.maximum(best.mean(axis=1, keepdims=True), 1e-9)


def top(scores, n):
    import numpy as np

    n = min(n, scores.shape[1] - 1)
    best = np.argpartition(-scores, n, axis=1)[:, :n]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)


def values(parameters, labels, counts, features):
    """Precision at 10 of every combination."""
    import numpy as np

    n = min(parameters.queries, len(labels))
    cosines = features[:n] @ features.T
    for saturation, length_share in itertools.product(parameters.saturation, parameters.length_share):
        evidence = bm25(counts, n, saturation, length_share)
        for weight in parameters.cosine_weight:
            first = evidence + weight * cosines
            candidates = top(first, REORDERED)
            scores = np.take_along_axis(first, candidates, axis=1)
            for n_feedback in parameters.feedback:
                means = features[candidates[:, :n_feedback]].mean(axis=1)
                means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
                feedback = np.take_along_axis(means @ features.T, candidates, axis=1)
                for feedback_weight in parameters.feedback_weight:
                    order = top(scores + feedback_weight * feedback, K + 1)
                    found = np.take_along_axis(candidates, order, axis=1).tolist()
                    chosen = (saturation, length_share, weight, n_feedback, feedback_weight)
                    yield chosen, precision(labels, found)


def distance_values(parameters, run, program, corpus):
    """Precision at 10 of every weight of the distance."""
    labels, texts = documents(run, corpus, parameters.documents)
    texts = [" ".join(text.split()) for text in texts]
    file, index, queries = (run.scratch / f"{corpus}{end}" for end in (".txt", ".wmi", ".queries"))
    file.write_text("".join(text + "\n" for text in texts))
    queries.write_text("".join(text + "\n" for text in texts[:parameters.distance_queries]))
    environment.call(program, "index", "build", file, "-o", index, "-q")
    said = environment.call(program, "search", index, "--queries", queries, "-k", COMPARED, "--json", "-q",
                            stdout=subprocess.PIPE)
    answers = [json.loads(line)["neighbors"] for line in said.splitlines()]

    def order(hits, weight):
        compared = [hit["distance"] for hit in hits if "distance" in hit]
        mean = sum(compared) / max(len(compared), 1)

        def score(hit):
            parts = hit["parts"]
            nearer = 1 - hit["distance"] / mean if "distance" in hit and mean > 0 else 0.0
            return ((parts["words"] or 0.0) + (parts["cosine"] or 0.0)
                    + FEEDBACK_WEIGHT * (parts["feedback"] or 0.0) + weight * nearer)

        return [hit["id"] for hit in sorted(hits, key=score, reverse=True)]

    return [precision(labels, [order(hits, weight) for hits in answers]) for weight in parameters.distance_weight]


def measure(parameters, run):
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    program = environment.program()
    stop_words = run.data("data", "stop_words_smart.txt").read_text().split()
    found = {}
    for corpus in parameters.corpora:
        labels, texts = documents(run, corpus, parameters.documents)
        texts = [" ".join(text.split()) for text in texts]
        file, embeddings = run.scratch / f"{corpus}.txt", run.scratch / f"{corpus}.npy"
        file.write_text("".join(text + "\n" for text in texts))
        environment.call(program, "embed", file, "-o", embeddings, "-q")
        features = np.load(embeddings)
        features /= np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-9)
        counts = CountVectorizer(stop_words=stop_words).fit_transform(texts).tocsr()
        for chosen, value in values(parameters, labels, counts, features):
            found.setdefault(chosen, []).append(value)
    rows = [[*chosen, *value, sum(value) / len(value)] for chosen, value in found.items()]
    rows.sort(key=lambda row: -row[-1])
    run.text(f"{len(rows)} combinations; those within a point of the best mean:")
    run.table([("k1", "g"), ("b", "g"), ("cosine", "g"), ("feedback of", "d"), ("feedback", "g"),
               *((corpus, ".4f") for corpus in parameters.corpora), ("mean", ".4f")],
              [row for row in rows if row[-1] >= rows[0][-1] - 0.01][:parameters.listed])
    values_by_corpus = [distance_values(parameters, run, program, corpus) for corpus in parameters.distance_corpora]
    run.text("The weight of the distance:")
    run.table([("distance", "g"), *((corpus, ".4f") for corpus in parameters.distance_corpora), ("mean", ".4f")],
              [[weight, *values, sum(values) / len(values)]
               for weight, *values in zip(parameters.distance_weight, *values_by_corpus)])
