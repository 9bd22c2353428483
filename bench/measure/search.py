"""Search by embedding beside exact search: recall of the nearest, and time a query.

Test documents against all training documents, one thread, built-in vectors: candidates by
cosine, then exact distances with pruning. A document as near as the last of the exact ones
counts as found. Times are those of the processor.
"""

import json
import os
import subprocess

import environment


def measure(parameters, run):
    program = environment.build("wordmover-bench", "search_recall")
    said = environment.call(program, run.corpus(parameters.corpus), parameters.every,
                            ",".join(map(str, parameters.features)), stdout=subprocess.PIPE,
                            env={**os.environ, **environment.ONE_THREAD})
    found = json.loads(said)
    run.text(f"{parameters.corpus}: {found['documents']} documents, {found['queries']} queries, "
             f"{found['k']} neighbours.")
    run.table([("features", "text"), ("candidates", "text"), (f"recall@{found['k']}", ".4f"),
               ("solved a query", ".1f"), ("ms a query", ".2f")], found["rows"])
