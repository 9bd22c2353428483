"""Classify texts: an embedding and a linear SVM, with parameters chosen by cross-validation.

Run it as it is, on the headlines of this repository, or with a file of lines
"label<TAB>text": python classification.py [FILE]
"""

import pathlib
import sys
import tempfile

from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from wordmover import KNeighborsWMD, LinearSVM, WordMoversEmbedding

HEADLINES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "headlines.txt"
TOPICS = ["politics", "business", "sport", "science", "culture"]


def read(path: str | None) -> tuple[list[str], list[str]]:
    if path is None:
        texts = HEADLINES.read_text(encoding="utf-8").splitlines()
        return texts, [TOPICS[i // 8] for i in range(len(texts))]
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t", 1) for line in lines]
    return [text for _, text in rows], [label for label, _ in rows]


def main() -> None:
    texts, labels = read(sys.argv[1] if len(sys.argv) > 1 else None)
    train, test, train_labels, test_labels = train_test_split(
        texts, labels, test_size=0.3, random_state=0, stratify=labels
    )
    with tempfile.TemporaryDirectory() as memory:
        pipe = make_pipeline(
            WordMoversEmbedding(n_features=1024, weights="tfidf"),
            LinearSVM(),
            memory=memory,
        )
        # Distances are computed once for each fold and d_max; gamma and C cost nothing.
        grid = {
            "wordmoversembedding__d_max": [3, 6],
            "wordmoversembedding__gamma": [0.5, "auto", 2.0],
            "linearsvm__C": [0.1, 1.0, 10.0],
        }
        search = GridSearchCV(pipe, grid, cv=3)
        search.fit(train, train_labels)
        print("chosen:", search.best_params_)
        print(f"embedding and SVM: {search.score(test, test_labels):.1%} of {len(test)} right")

    neighbors = KNeighborsWMD(n_neighbors=3).fit(train, train_labels)
    print(f"nearest neighbours: {neighbors.score(test, test_labels):.1%} right")


if __name__ == "__main__":
    main()
