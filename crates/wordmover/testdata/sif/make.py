"""Makes sif.json: SIF sentence vectors by NumPy, from the formulas of Arora et al. (2017).

    python make.py > sif.json        (made with Python 3.11, NumPy 2.4.6)

Shares no code with wordmover. Words are single tokens separated by spaces.
"""

import json

import numpy as np

A = 1e-3
DIM = 6

rng = np.random.default_rng(5)
words = [f"w{i}" for i in range(40)]
counts = [int(c) for c in 1e6 / np.arange(1, 41) ** 1.1]
# A direction that all words share, so that there is something to take out.
vectors = (rng.normal(size=(40, DIM)) + [2.0, 0, 0, 1.0, 0, 0]).astype(np.float32)
# Word 39 has no count: its probability is 0 and its weight 1.
counted = list(zip(words, counts))[:39]
total = sum(count for _, count in counted)
probability = dict((word, count / total) for word, count in counted)

ranks = np.arange(40)
zipf = 1 / (ranks + 1.5)
texts = []
for length in [1, 1, 2, 3, 5, 8, 12, 4, 6, 7, 9, 3]:
    texts.append(" ".join(f"w{i}" for i in rng.choice(ranks, length, p=zipf / zipf.sum())))
texts += ["w39 w39 w0", "unknown w3", "unknown", ""]

# The library keeps probabilities in single precision.
weight = {w: A / (A + float(np.float32(probability.get(w, 0.0)))) for w in words}
rows = np.zeros((len(texts), DIM))
for row, text in zip(rows, texts):
    known = [w for w in text.split() if w in weight]
    for word in known:
        row += weight[word] * vectors[words.index(word)].astype(np.float64) / len(known)
first = np.linalg.svd(rows, full_matrices=False)[2][0]
removed = rows - np.outer(rows @ first, first)

print(
    json.dumps(
        {
            "words": words,
            "counts": counted,
            "vectors": [[float(x) for x in row] for row in vectors],
            "texts": texts,
            "averages": rows.tolist(),
            "sif": removed.tolist(),
        },
        indent=None,
        separators=(",", ":"),
    )
)
