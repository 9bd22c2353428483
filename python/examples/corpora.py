"""Texts for the examples: forty headlines of this repository, and larger corpora if you have
them as files NAME.tsv.gz with lines "split<TAB>label<TAB>text" in a folder (--data)."""

import argparse
import gzip
import pathlib
import random

HEADLINES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "headlines.txt"
TOPICS = ["politics", "business", "sport", "science", "culture"]

Texts = tuple[list[str], list[str]]


def arguments(description: str, **others: int | str) -> argparse.Namespace:
    """The command line: --data, and what else an example takes (a name and its default)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=pathlib.Path, help="folder of NAME.tsv.gz")
    for name, default in others.items():
        parser.add_argument(f"--{name}", default=default, type=type(default))
    return parser.parse_args()


def headlines() -> Texts:
    """Eight headlines of each of five topics."""
    texts = HEADLINES.read_text(encoding="utf-8").splitlines()
    return texts, [TOPICS[i // 8] for i in range(len(texts))]


def corpus(folder: pathlib.Path | None, name: str) -> tuple[Texts, Texts] | None:
    """Training and test texts with their labels: those of the corpus, or else 70 % and 30 % at
    random. None, and a word about it, where the corpus is not there."""
    path = None if folder is None else folder / f"{name}.tsv.gz"
    if path is None or not path.is_file():
        print(f"\n{name}: skipped (give the folder that holds {name}.tsv.gz by --data)")
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 2) for line in file]
    train = [row for row in rows if row[0] == "train"]
    test = [row for row in rows if row[0] == "test"]
    if not train:
        random.Random(0).shuffle(rows)
        n = round(0.7 * len(rows))
        train, test = rows[:n], rows[n:]
    return _columns(train), _columns(test)


def _columns(rows: list[list[str]]) -> Texts:
    return [text for _, _, text in rows], [label for _, label, _ in rows]
