"""From texts to words by scikit-learn's names."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from wordmover import KNeighborsWMD, WordMoversEmbedding, WordVectors

TEXTS = ["The Cat sat near the sea", "A dog, a cat; and honey", "Ship and sea and sea", "bread"]


def small(**parameters):
    return WordMoversEmbedding(n_features=16, **parameters)


def rows_of_words(words, **parameters):
    return small(**parameters).fit_transform(words).tobytes()


def test_the_words_can_be_seen():
    analyze = small().build_analyzer()
    assert analyze("The President’s press-conference isn't on!") == [
        "president", "press", "conference"]
    assert analyze(["As", "they", "are"]) == ["As", "they", "are"]
    assert small(lowercase=False, stop_words=None).build_analyzer()("The Cat") == ["The", "Cat"]


@pytest.mark.parametrize("options", [
    {"token_pattern": r"(?u)\b\w\w+\b", "stop_words": None},
    {"token_pattern": r"(?u)\b\w\w+\b", "stop_words": "english"},
    {"tokenizer": str.split, "stop_words": ["and", "a"]},
    {"preprocessor": lambda text: text.replace(";", ""), "tokenizer": str.split,
     "stop_words": None, "lowercase": False},
])
def test_the_words_are_those_of_a_count_vectorizer(options):
    theirs = CountVectorizer(**{"token_pattern": None, **options}).build_analyzer()
    ours = small(**options).build_analyzer()
    assert [ours(text) for text in TEXTS] == [theirs(text) for text in TEXTS]
    words = [theirs(text) for text in TEXTS]
    # Stop words and case are those of background documents too.
    same = {name: options[name] for name in ("stop_words", "lowercase") if name in options}
    assert small(**options).fit_transform(TEXTS).tobytes() == rows_of_words(words, **same)


@pytest.mark.parametrize("options", [
    {"min_df": 2}, {"max_df": 1}, {"max_df": 0.5}, {"max_features": 3}, {"min_df": 0.5},
    {"vocabulary": ["cat", "sea"]}, {"min_df": 1, "max_df": 1.0, "max_features": 2},
])
def test_the_vocabulary_is_that_of_a_count_vectorizer(options):
    theirs = CountVectorizer(**options).fit(TEXTS)
    ours = small(token_pattern=r"(?u)\b\w\w+\b", stop_words=None, **options).fit(TEXTS)
    assert ours.vocabulary_ == set(theirs.get_feature_names_out())
    words = [[word for word in theirs.build_analyzer()(text) if word in theirs.vocabulary_]
             for text in TEXTS]
    assert ours.transform(TEXTS).tobytes() == rows_of_words(words, stop_words=None)


def test_defaults_keep_to_the_native_side():
    embedding = small().fit(TEXTS)
    assert embedding._analysis is None and embedding.vocabulary_ is None
    same = small(lowercase=True, min_df=1, max_df=1.0).fit(TEXTS)
    assert same.transform(TEXTS).tobytes() == embedding.transform(TEXTS).tobytes()


def test_english_stop_words_are_those_of_scikit_learn():
    rows = small(stop_words="english").fit_transform(TEXTS)
    listed = small(stop_words=list(ENGLISH_STOP_WORDS)).fit_transform(TEXTS)
    assert rows.tobytes() == listed.tobytes()


def test_phrases_with_a_vector_of_their_own():
    words = ["new", "york", "new_york", "new_york_city", "city", "mayor", "in-law"]
    vectors = WordVectors.from_arrays(words, np.eye(len(words)))
    options = {"vectors": vectors, "stop_words": None}
    analyze = small(ngram_range=(1, 3), **options).build_analyzer()
    assert analyze("mayor new york city york") == ["mayor", "new_york_city", "york"]
    pairs = small(ngram_range=(1, 2), **options).build_analyzer()
    assert pairs("New York City") == ["new_york", "city"]
    assert pairs(["in", "law"]) == ["in-law"]


def test_a_model_file_cannot_hold_a_function(tmp_path):
    embedding = small(tokenizer=str.split, min_df=2).fit(TEXTS)
    with pytest.raises(ValueError, match="cannot hold tokenizer, min_df: pickle the estimator"):
        embedding.save(tmp_path / "m.wme")
    again = pickle.loads(pickle.dumps(embedding))
    assert again.transform(TEXTS).tobytes() == embedding.transform(TEXTS).tobytes()
    assert again.vocabulary_ == embedding.vocabulary_ == {"sea"}


def test_neighbours_have_the_same_names():
    options = {"token_pattern": r"[a-z]+", "stop_words": "english", "max_features": 8}
    neighbors = KNeighborsWMD(n_neighbors=1, **options).fit(TEXTS, [0, 1, 2, 3])
    assert neighbors.predict(["THE SHIP"]).tolist() == [2]
    again = pickle.loads(pickle.dumps(neighbors))
    assert again.kneighbors(["ship"])[0] == neighbors.kneighbors(["ship"])[0]


def test_a_grid_search_over_words(headlines, topics):
    pipe = make_pipeline(small(), LogisticRegression())
    grid = {"wordmoversembedding__stop_words": ["smart", "english", None],
            "wordmoversembedding__min_df": [1, 2]}
    search = GridSearchCV(pipe, grid, cv=2).fit(headlines, topics)
    assert len(search.cv_results_["params"]) == 6
    assert clone(search.best_estimator_)


@pytest.mark.parametrize(("parameters", "error", "words"), [
    ({"tokenizer": "split"}, TypeError, "tokenizer is 'split': it must be a function"),
    ({"preprocessor": 3}, TypeError, "preprocessor is 3"),
    ({"token_pattern": "("}, ValueError, "token_pattern is no regular expression"),
    ({"token_pattern": "(a)(b)"}, ValueError, "several groups"),
    ({"token_pattern": 3}, TypeError, "token_pattern is 3"),
    ({"token_pattern": "a", "tokenizer": str.split}, ValueError, "not both"),
    ({"lowercase": "yes"}, TypeError, "lowercase is 'yes': it must be True, False or None"),
    ({"ngram_range": (2, 2)}, ValueError, r"ngram_range is \(2, 2\): phrases begin with"),
    ({"ngram_range": 2}, TypeError, "ngram_range is 2: it must be a pair"),
    ({"min_df": 0}, ValueError, "min_df is 0: it must be at least 1"),
    ({"min_df": 1.5}, ValueError, "min_df is 1.5: a share"),
    ({"max_df": True}, TypeError, "max_df is True"),
    ({"min_df": 3, "max_df": 2}, ValueError, "max_df stands for fewer documents"),
    ({"min_df": 4}, ValueError, "no word remains"),
    ({"max_features": 0}, ValueError, "max_features is 0"),
    ({"vocabulary": []}, ValueError, "vocabulary is empty"),
    ({"vocabulary": "cat"}, TypeError, "vocabulary is str: it must be a list"),
    ({"vocabulary": [3]}, TypeError, "vocabulary holds something else"),
])
def test_bad_parameters_are_named(parameters, error, words):
    with pytest.raises(error, match=words):
        small(**parameters).fit(TEXTS)


def test_a_single_text_is_refused():
    with pytest.raises(TypeError, match="put it in a list"):
        small(tokenizer=str.split).fit("one text")
