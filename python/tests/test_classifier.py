"""The classifier of texts, and its file."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from wordmover import ModelError, TextClassifier, WordMoversEmbedding


@pytest.fixture(scope="module")
def fitted():
    from conftest import HEADLINES, TOPICS

    return TextClassifier(n_features=64).fit(HEADLINES, TOPICS)


def test_it_learns_what_it_is_shown(fitted, headlines, topics):
    assert fitted.classes_.tolist() == sorted(set(topics))
    assert fitted.score(headlines, topics) > 0.9
    assert fitted.predict(["The president greets the press in Chicago"]).tolist() == ["politics"]
    assert fitted.choice_["views"] in ("both", "meanings", "words")
    assert 0 < fitted.choice_["accuracy"] <= 1


def test_probabilities_and_decision_values(fitted, headlines):
    shares, values = fitted.predict_proba(headlines), fitted.decision_function(headlines)
    assert shares.shape == values.shape == (40, 5)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    predicted = fitted.predict(headlines)
    assert (fitted.classes_[values.argmax(axis=1)] == predicted).all()


def test_files_go_to_the_program_and_back(fitted, headlines, tmp_path, program):
    fitted.save(tmp_path / "c.wmc")
    again = TextClassifier.load(tmp_path / "c.wmc")
    assert again.predict(headlines).tolist() == fitted.predict(headlines).tolist()
    assert again.decision_function(headlines).tobytes() == fitted.decision_function(
        headlines).tobytes()
    for other in (pickle.loads(pickle.dumps(fitted)), pickle.loads(pickle.dumps(again))):
        assert other.predict_proba(headlines).tobytes() == fitted.predict_proba(
            headlines).tobytes()
    (tmp_path / "t.txt").write_text("\n".join(headlines), encoding="utf-8")
    program("predict", tmp_path / "c.wmc", tmp_path / "t.txt", "-o", tmp_path / "p.csv", "-q")
    lines = (tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()
    column = lines[0].split(",").index("label") if "label" in lines[0].split(",") else 1
    assert [line.split(",")[column] for line in lines[1:]] == fitted.predict(headlines).tolist()
    WordMoversEmbedding(n_features=4).fit(headlines).save(tmp_path / "m.wme")
    with pytest.raises(ModelError, match="without a classifier"):
        TextClassifier.load(tmp_path / "m.wme")
    with pytest.raises(FileNotFoundError):
        TextClassifier.load(tmp_path / "none.wmc")


def test_two_classes_that_are_numbers(headlines):
    y = np.repeat([10, 9], 20)
    classifier = TextClassifier(n_features=32, views="words").fit(headlines, y)
    assert classifier.classes_.tolist() == [9, 10]
    values = classifier.decision_function(headlines)
    assert values.shape == (40,)
    assert (np.where(values > 0, 10, 9) == classifier.predict(headlines)).all()
    shares = classifier.predict_proba(headlines)
    assert shares.shape == (40, 2) and classifier.score(headlines, y) > 0.9
    assert ((shares[:, 1] > 0.5) == (values > 0)).mean() > 0.8


def test_several_classes_a_text(headlines):
    y = np.zeros((40, 2), dtype=int)
    y[:20, 0] = 1
    y[10:30, 1] = 1
    y[30:, 0] = 1
    classifier = TextClassifier(n_features=32, views="words").fit(headlines, y)
    predicted = classifier.predict(headlines)
    assert predicted.shape == (40, 2) and (predicted == y).mean() > 0.9


def test_a_grid_search(headlines, topics):
    search = GridSearchCV(TextClassifier(n_features=16), {"views": ["words", "meanings"]}, cv=2)
    search.fit(headlines, topics)
    assert search.best_params_["views"] in ("words", "meanings")
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


def test_class_weights(headlines, topics):
    y = np.where(topics == "sport", "sport", "other")
    texts = headlines
    for class_weight in ("balanced", {"sport": 3.0}):
        options = {"n_features": 16, "views": "words", "class_weight": class_weight}
        assert TextClassifier(**options).fit(texts, y).score(texts, y) > 0.8


def test_texts_without_words(fitted):
    with pytest.warns(UserWarning, match="1 of 2 texts have no word to go by"):
        classes = fitted.predict(["", "election"])
    assert classes[0] in fitted.classes_
    assert fitted.predict_proba([""]).max() == 1


@pytest.mark.parametrize(("parameters", "error", "words"), [
    ({"views": "letters"}, ValueError, 'views is "letters": it must be "auto", "both"'),
    ({"protocol": "slow"}, ValueError, 'protocol is "slow": it must be "fast" or "paper"'),
    ({"n_features": 0}, ValueError, "n_features is 0"),
    ({"class_weight": "fair"}, ValueError, "class_weight is 'fair'"),
    ({"class_weight": {"love": 2}}, ValueError, r"classes that do not occur: \['love'\]"),
    ({"cv": 1}, ValueError, "cv is 1"),
])
def test_bad_parameters_are_named(headlines, topics, parameters, error, words):
    with pytest.raises(error, match=words):
        TextClassifier(**parameters).fit(headlines, topics)


def test_bad_documents_and_labels(headlines, topics):
    with pytest.raises(ValueError, match="40 texts and 3 labels"):
        TextClassifier().fit(headlines, topics[:3])
    with pytest.raises(ValueError, match="at least two are needed"):
        TextClassifier().fit(headlines, ["a"] * 40)
    with pytest.raises(TypeError, match="document 1 is NoneType"):
        TextClassifier().fit(["goat", None], ["a", "b"])
    with pytest.raises(TypeError, match="put a single text in a list"):
        TextClassifier().fit("goat", ["a"])
    with pytest.raises(NotFittedError):
        TextClassifier().predict(["goat"])
