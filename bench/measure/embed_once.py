"""Embeds a file of texts with a model, as a Python script would: MODEL TEXTS OUTPUT."""

import time

start = time.perf_counter()
import json  # noqa: E402
import sys  # noqa: E402

import numpy as np  # noqa: E402

from wordmover import WordMoversEmbedding  # noqa: E402

imported, imported_cpu = time.perf_counter(), time.process_time()
model, texts, output = sys.argv[1:]
embedding = WordMoversEmbedding.load(model)
with open(texts, encoding="utf-8") as lines:
    texts = lines.read().splitlines()
begun = time.perf_counter()
rows = embedding.encode(texts)
embedded = time.perf_counter()
np.save(output, rows)
end = time.perf_counter()
cpu = time.process_time() - imported_cpu
print(json.dumps([imported - start, embedded - begun, end - imported, cpu]))
