"""What one would take today: words and a linear SVM, fastText, and pre-trained sentence vectors with
a logistic regression."""

import numpy as np

from choice import linear, say
from corpus import Documents, Outcome, Split

BUCKETS = 200_000
# Corpora of fewer training documents may need more passes.
FEW_DOCUMENTS = 5000


def fasttext_choices(n_documents: int) -> list[dict]:
    epochs = (25, 100) if n_documents < FEW_DOCUMENTS else (25,)
    return [{"lr": lr, "wordNgrams": n, "epoch": e} for e in epochs for n in (1, 2) for lr in (0.3, 1.0)]


def tfidf_svm(split: Split) -> Outcome:
    """TF-IDF of words, or of words and pairs of neighbours, all words counting; a linear SVM."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    outcome = Outcome()
    candidates = {}
    with outcome.stage("features"):
        for name, most in (("words", 1), ("words and pairs", 2)):
            def analyze(words: list[str], most: int = most) -> list[str]:
                pairs = [f"{a} {b}" for a, b in zip(words, words[1:])] if most == 2 else []
                return words + pairs

            vectorizer = TfidfVectorizer(analyzer=analyze, sublinear_tf=True, dtype=np.float64)
            candidates[name] = (vectorizer.fit_transform(split.train.words), vectorizer.transform(split.test.words))
    linear(split, outcome, candidates, cs=[0.03, 0.1, 0.3, 1.0, 3.0, 10.0])
    return outcome


def fasttext(split: Split) -> Outcome:
    """fastText's classifier; rate, epochs and n-grams of words are chosen on a tenth of the training
    documents held out."""
    import tempfile
    from pathlib import Path

    import fasttext as library

    outcome = Outcome(parameters={"dimension": 100, "buckets": BUCKETS})

    def write(path: Path, documents: Documents, chosen: np.ndarray) -> str:
        # In any order but that of the corpus, which may be class by class: fastText goes through the
        # lines as they come, and would remember the last class alone.
        chosen = np.random.default_rng(split.seed).permutation(chosen)
        lines = (f"__label__{documents.labels[i]} {' '.join(documents.words[i])}" for i in chosen)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    def fit(path: str, options: dict):
        return library.train_supervised(
            path, dim=100, bucket=BUCKETS, thread=1, seed=split.seed, verbose=0, **options
        )

    def predict(model, documents: Documents, chosen: np.ndarray) -> np.ndarray:
        # Through the module below: its own `predict` needs an old NumPy.
        found = []
        for i in chosen:
            best = model.f.predict(" ".join(documents.words[i]) + "\n", 1, 0.0, "strict")
            found.append(int(best[0][1].removeprefix("__label__")) if best else 0)
        return np.array(found)

    with tempfile.TemporaryDirectory() as folder, outcome.stage("choosing"):
        inside, held_out = np.flatnonzero(split.folds != 0), np.flatnonzero(split.folds == 0)
        path = write(Path(folder) / "inside.txt", split.train, inside)
        best = (-1.0, {})
        for options in fasttext_choices(len(split.train)):
            predicted = predict(fit(path, options), split.train, held_out)
            accuracy = float(np.mean(predicted == split.train.labels[held_out]))
            say(f"  {options}: {100 * accuracy:.2f} % held out")
            best = max(best, (accuracy, options), key=lambda found: found[0])
    outcome.held_out_accuracy, options = best
    outcome.parameters |= options
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "train.txt", split.train, np.arange(len(split.train)))
        with outcome.stage("training"):
            model = fit(path, options)
    with outcome.stage("prediction"):
        predicted = predict(model, split.test, np.arange(len(split.test)))
    outcome.judge(predicted, split.test.labels)
    return outcome


def with_regression(split: Split, encode) -> Outcome:
    from sklearn.linear_model import LogisticRegression

    outcome = Outcome()
    with outcome.stage("features"):
        train, test = encode(split.train.texts), encode(split.test.texts)
    make = lambda c, _tolerance: LogisticRegression(C=c, max_iter=2000)
    linear(split, outcome, {"": (train, test)}, make=make, cs=[1.0, 10.0, 100.0, 1000.0])
    return outcome


def wordllama(split: Split) -> Outcome:
    from encoders import wordllama as encoder

    return with_regression(split, encoder())


def minilm(split: Split) -> Outcome:
    """On a GPU where there is one: its seconds are then not those of a core."""
    import torch
    from encoders import minilm as encoder

    device = "cuda" if torch.cuda.is_available() else "cpu"
    outcome = with_regression(split, encoder(device))
    outcome.parameters["device"] = device
    return outcome
