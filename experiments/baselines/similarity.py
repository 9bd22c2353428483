"""Scores of sentence pairs by pre-trained sentence vectors: similarity.py ENCODER FILES.json OUTCOME.json

The files are the lab's, score and two texts a line. The outcome has the cosines of every file and
the texts that were encoded a second, on one thread; every distinct text is encoded once.
"""

import json
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
sys.path.insert(0, str(Path(__file__).parent))

from choice import say  # noqa: E402
from encoders import ENCODERS  # noqa: E402
from run import versions  # noqa: E402


def main() -> None:
    name, files, output = sys.argv[1:]
    files = json.loads(Path(files).read_text(encoding="utf-8"))
    encode = ENCODERS[name]()
    encode(["a text to warm up with"])
    cosines, n_texts, seconds = {}, 0, 0.0
    for file, path in files.items():
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        pairs = [line.split("\t")[1:3] for line in lines if line]
        place = {text: i for i, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
        start = time.perf_counter()
        rows = encode(place)
        seconds += time.perf_counter() - start
        n_texts += len(place)
        cosines[file] = [float(rows[place[a]] @ rows[place[b]]) for a, b in pairs]
        say(f"  {name}: {file}")
    found = {"cosines": cosines, "texts_per_second": n_texts / seconds, "versions": versions()}
    aside = Path(output).with_suffix(".part")
    aside.write_text(json.dumps(found), encoding="utf-8")
    aside.rename(output)


if __name__ == "__main__":
    main()
