"""Decision values recomputed from the classifier file with POT's exact solver."""

import json

import numpy as np
import pytest

from conftest import KNOWN_WORDS, NEW_SENTENCES, SENTENCES, write_texts
from reader import Classifier, Model

TOPICS = {
    "kitchen": {"bread", "honey", "salt", "cook", "baker", "flour"},
    "sea": {"sea", "boat", "sailor", "harbour", "storm", "lighthouse", "captain"},
}

#: Neither kind of text without a known word, and texts of words that no class has alone.
TEXTS = [*SENTENCES, *NEW_SENTENCES]


def topic(text):
    for name, words in TOPICS.items():
        if words & set(text.split()):
            return name
    return "hill"


class Trained:
    """A classifier of the case's corpus, and what the program predicts with it."""

    def __init__(self, wordmover, case, labels, *options):
        self._wordmover, self._case = wordmover, case
        rows = [f"{label}\t{text}\n" for label, text in zip(labels, case.texts) if text]
        corpus = case.directory / "labelled.tsv"
        corpus.write_text("label\ttext\n" + "".join(rows))
        self.path = case.directory / "topics.wmc"
        columns = ["--text-column", "text", "--label-column", "label"]
        vectors = ["--vectors", case.directory / "vectors.txt", *KNOWN_WORDS]
        wordmover("train", corpus, "-o", self.path, "--quiet", *columns, *vectors, *options)
        self.file = Classifier(self.path)

    def predict(self, texts):
        path = self._case.directory / "texts.txt"
        write_texts(texts, path)
        vectors = ["--vectors", self._case.directory / "vectors.txt"]
        printed = self._wordmover("predict", self.path, path, "-o", "-", "--quiet", *vectors)
        return [json.loads(line) for line in printed.splitlines()]


OPTIONS = {
    "fast": ["--features", 32, "--seed", 3, "--views", "meanings"],
    "paper": ["--features", 24, "--protocol", "paper", "--d-max", "2,5", "--weights", "tfidf"],
    "other words": ["--features", 32, "--normalize", "center", "--random-words", "gaussian",
                    "--d-max", "4", "--weights", "sif", "--min-count", "2", "--views", "meanings"],
}


def feature_errors(file, case):
    """By how much the program's features may differ from those of exact distances."""
    raw = file.raw_features(TEXTS, case.vectors)
    # Distances agree to 2e-7 and are rounded to 6e-8; the exponential multiplies that by
    # gamma times the distance; then the features are rounded.
    exponent = -np.log(np.where(raw > 0, raw * np.sqrt(raw.shape[1]), 1))
    errors = raw * (3e-7 * exponent + 1.2e-7)
    how = file.parameters["post_processing"]
    if how == "raw":
        return errors
    errors = errors * file.tensors["feature_scales"]
    features = np.abs(file.features(TEXTS, case.vectors))
    if how == "unit":
        rows = (raw - file.tensors["feature_means"]) * file.tensors["feature_scales"]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        # A length is off by at most the length of the errors.
        off = np.linalg.norm(errors, axis=1, keepdims=True)
        errors = (errors + features * off) / np.where(lengths > 0, lengths, 1)
    return errors + 1.2e-7 * features


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", OPTIONS)
def test_decision_values_are_those_of_an_exact_solver(wordmover, case, name, n_classes):
    labels = [topic(text) for text in case.texts]
    if n_classes == 2:
        labels = ["sea" if label == "sea" else "land" for label in labels]
    trained = Trained(wordmover, case, labels, *OPTIONS[name])
    file = trained.file
    n_features, choice = file.parameters["n_features"], file.attached["choice"]
    assert (choice["n_features"], choice["gamma"]) == (n_features, file.gamma)
    assert sorted(file.classes) == sorted(set(labels))
    n_machines = 1 if n_classes == 2 else 3
    assert file.weights.dtype == file.intercepts.dtype == np.float64
    assert file.weights.shape == (n_machines, n_features)
    assert file.intercepts.shape == (n_machines,)

    found = trained.predict(TEXTS)
    expected = file.predictions(TEXTS, case.vectors)
    errors = feature_errors(file, case)
    n_empty = n_clear = 0
    for row, (label, values), error in zip(found, expected, errors, strict=True):
        if values is None:
            assert (row["label"], row["decision_values"]) == (label, None)
            n_empty += 1
            continue
        tolerance = (np.abs(file.weights) @ error).max()
        assert row["decision_values"].keys() == values.keys()
        for name_of_class, value in values.items():
            assert abs(row["decision_values"][name_of_class] - value) <= tolerance
        first, second = sorted(values.values())[:-3:-1]
        if first - second > 2 * tolerance:
            assert row["label"] == label
            n_clear += 1
    # Two blank lines, two of unknown words, two more among the new; "cheese" is rare.
    assert n_empty == (7 if name == "other words" else 6)
    assert n_clear > 35


def test_the_model_within_is_an_embedding(wordmover, case):
    trained = Trained(wordmover, case, [topic(text) for text in case.texts], *OPTIONS["fast"])
    parameters = trained.file.parameters
    assert parameters["post_processing"] in ("standardize", "unit")
    assert parameters["components"] == "keep"
    output = case.directory / "rows.npy"
    write_texts(TEXTS, case.directory / "texts.txt")
    vectors = ["--vectors", case.directory / "vectors.txt"]
    model = ["--model", trained.path]
    wordmover("embed", case.directory / "texts.txt", "-o", output, "--quiet", *model, *vectors)
    expected = Model(trained.path).features(TEXTS, case.vectors)
    assert (np.abs(np.load(output) - expected) <= feature_errors(trained.file, case)).all()
