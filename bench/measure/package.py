"""The Python package: calls of `transport` beside POT's, and what Python costs beside the
program, everybody taking turns.

1. One problem a call: `wordmover.transport` and `ot.emd2`, one thread.
2. Many problems: one call of `transport_batch` and a loop over `ot.emd2`.
3. Documents with a model: the program, and Python doing the same (open the model, read the
   texts, embed, write the matrix). The bytes must be equal.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import environment
from measure import texts

TOLERANCE = 1e-9


def problems(rng, n, m, count):
    for _ in range(count):
        x, y = (v / np.linalg.norm(v, axis=1, keepdims=True)
                for v in (rng.normal(size=(n, 50)), rng.normal(size=(m, 50))))
        a, b = (w / w.sum() for w in (rng.integers(1, 5, n).astype(float), np.ones(m)))
        yield np.sqrt(np.maximum(0, 2 - 2 * x @ y.T)), a, b


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, np.asarray(result)


def solves(parameters, run):
    import ot
    import wordmover
    from wordmover import transport, transport_batch

    rng = np.random.default_rng(run.seed)
    rows = []
    for n, m in parameters.shapes:
        count = int(np.clip(400_000 // (n * m), 32, parameters.problems))
        given = list(problems(rng, n, m, count))
        stacked = [np.stack(part) for part in zip(*given)]
        best = dict.fromkeys(["pot", "ours", "batch", "threads"], np.inf)
        for _ in range(parameters.repeats):
            wordmover.set_num_threads(1)
            runs = {
                "pot": timed(lambda: [ot.emd2(a, b, C, numItermax=1_000_000) for C, a, b in given]),
                "ours": timed(lambda: [transport(C, a, b) for C, a, b in given]),
                "batch": timed(lambda: transport_batch(*stacked)),
            }
            wordmover.set_num_threads(None)
            runs["threads"] = timed(lambda: transport_batch(*stacked))
            for name, (seconds, costs) in runs.items():
                best[name] = min(best[name], seconds / count * 1e6)
                worst = np.max(np.abs(costs - runs["pot"][1]))
                if worst > TOLERANCE:
                    sys.exit(f"error: {name} differs from POT by {worst} at {n} x {m}")
        rows.append([f"{n} x {m}", best["pot"], best["ours"], best["pot"] / best["ours"],
                     best["batch"], best["pot"] / best["batch"], best["threads"]])
    run.text("Microseconds a problem, the best of the repeats; random points in 50 dimensions:")
    run.table([("problem", "text"), ("ot.emd2", ".1f"), ("transport", ".1f"), ("ratio", ".1f"),
               ("transport_batch", ".2f"), ("ratio", ".1f"),
               (f"{wordmover.get_num_threads()} threads", ".2f")], rows)


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def documents(parameters, run):
    program = environment.program()
    corpus, model = run.scratch / "texts.txt", run.scratch / "m.wme"
    corpus.write_text("\n".join(texts.make(parameters.documents, run.seed)) + "\n", encoding="utf-8")
    environment.call(program, "fit", corpus, "-o", model, "--quiet")
    script = Path(__file__).parent / "embed_once.py"
    outputs = [run.scratch / name for name in ("p.npy", "q.npy")]
    theirs, ours = [], []
    for _ in range(parameters.repeats):
        start, used = time.perf_counter(), cpu_of_children()
        environment.call(program, "embed", corpus, "--model", model, "-o", outputs[0], "--quiet",
                         "--force")
        theirs.append((time.perf_counter() - start, cpu_of_children() - used))
        said = environment.call(sys.executable, script, model, corpus, outputs[1],
                                stdout=subprocess.PIPE)
        ours.append(json.loads(said))
    # Headers may differ.
    size = parameters.documents * 512 * 4
    if outputs[0].read_bytes()[-size:] != outputs[1].read_bytes()[-size:]:
        sys.exit("error: Python and the program wrote other bytes")
    best, best_cpu = (min(column) for column in zip(*theirs))
    imports, embed, whole, cpu = (min(column) for column in zip(*ours))
    run.text(f"{parameters.documents} documents, 512 features, the best of {parameters.repeats} "
             "turns. On a machine with other work, CPU seconds say more. The bytes are equal.")
    run.table([("", "text"), ("seconds", ".2f"), ("overhead", "+.1%"), ("CPU seconds", ".2f"),
               ("overhead", "+.1%")], [
        ["the program, from start to end", best, None, best_cpu, None],
        ["Python after imports: open, read, embed, write", whole, whole / best - 1, cpu,
         cpu / best_cpu - 1],
        ["of which embedding", embed, None, None, None],
        ["imports (NumPy, scikit-learn, wordmover)", imports, None, None, None],
    ])


def measure(parameters, run):
    solves(parameters, run)
    documents(parameters, run)
