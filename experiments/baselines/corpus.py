"""What a system is given, and what it answers."""

import json
import os
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np


@dataclass
class Documents:
    """Documents of one side of a split."""

    texts: list[str]
    """As they are in the corpus."""
    words: list[list[str]]
    """Their words in lower case, stop words among them."""
    tokens: list[list[str]]
    """The words that count: without stop words and rare words."""
    labels: np.ndarray
    """Classes as numbers."""

    def __len__(self) -> int:
        return len(self.texts)


@dataclass
class Split:
    """Training and test documents."""

    train: Documents
    test: Documents
    n_classes: int
    seed: int
    n_folds: int
    vectors: dict[str, str]
    """Files of word vectors by name."""
    n_threads: int = 1
    """For what can be done side by side: folds, candidates. `LAB_THREADS`; times are compared on one."""

    @cached_property
    def folds(self) -> np.ndarray:
        """The fold of every training document, stratified."""
        from sklearn.model_selection import StratifiedKFold

        labels = self.train.labels
        n_folds = max(2, min(self.n_folds, int(np.bincount(labels)[np.unique(labels)].min())))
        folds = np.empty(len(labels), dtype=int)
        cut = StratifiedKFold(n_folds, shuffle=True, random_state=self.seed)
        for fold, (_, held_out) in enumerate(cut.split(labels, labels)):
            folds[held_out] = fold
        return folds


@dataclass
class Outcome:
    """What came out of a system."""

    accuracy: float = float("nan")
    """Share of the test documents."""
    held_out_accuracy: float = float("nan")
    """Of the chosen parameters, on training documents held out."""
    parameters: dict = field(default_factory=dict)
    """Those that were chosen, and those that were given."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall-clock time by stage: features, choosing, training, prediction."""

    @contextmanager
    def stage(self, name: str):
        """Adds the time of what is inside to a stage."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def judge(self, predicted, labels) -> None:
        self.accuracy = float(np.mean(np.asarray(predicted) == np.asarray(labels)))


def read(job: dict) -> Split:
    """The split that a job of the lab describes."""
    rows = [json.loads(line) for line in Path(job["documents"]).read_text(encoding="utf-8").splitlines()]
    names = sorted({row["label"] for row in rows})
    number = {name: i for i, name in enumerate(names)}
    count = Counter(token for i in job["train"] for token in rows[i]["tokens"])
    min_count = job["min_count"]

    def side(ids: list[int]) -> Documents:
        chosen = [rows[i] for i in ids]
        return Documents(
            texts=[row["text"] for row in chosen],
            words=[row["words"] for row in chosen],
            tokens=[[t for t in row["tokens"] if min_count <= 1 or count[t] >= min_count] for row in chosen],
            labels=np.array([number[row["label"]] for row in chosen]),
        )

    return Split(
        train=side(job["train"]),
        test=side(job["test"]),
        n_classes=len(names),
        seed=job["seed"],
        n_folds=job["folds"],
        vectors=job["vectors"],
        n_threads=int(os.environ.get("LAB_THREADS", "1")),
    )
