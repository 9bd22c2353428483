"""Our estimators as scikit-learn's tools meet them.

scikit-learn's check suite is made for matrices: of estimators on texts it runs the checks
that need no data (used here), and skips the others. What those would ask is asked below.
"""

import inspect
import pickle

import joblib
import numpy as np
import pandas
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.fixes import parse_version

from wordmover import KNeighborsWMD, WordMoversEmbedding

SMALL = {WordMoversEmbedding: {"n_features": 12}, KNeighborsWMD: {"n_neighbors": 3}}

WITHOUT_DATA = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.fixture(params=SMALL, ids=lambda estimator: estimator.__name__)
def estimator(request):
    return request.param(**SMALL[request.param])


def answer(estimator, texts):
    method = "transform" if hasattr(estimator, "transform") else "predict"
    return getattr(estimator, method)(texts)


@pytest.mark.parametrize("check", WITHOUT_DATA)
def test_checks_of_scikit_learn_that_need_no_data(estimator, check):
    function = getattr(estimator_checks, check, None)
    if function is None:
        pytest.skip("another version of scikit-learn")
    function(type(estimator).__name__, clone(estimator))


def test_tags_say_that_input_is_text(estimator):
    tags = get_tags(estimator)
    assert tags.input_tags.string and not tags.input_tags.two_d_array


def test_parameters_are_keywords(estimator):
    parameters = list(inspect.signature(type(estimator)).parameters.values())
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    documented = type(estimator).__doc__
    assert all(parameter.name in documented for parameter in parameters)


def test_an_unfitted_estimator_says_so(estimator, headlines):
    with pytest.raises(NotFittedError):
        answer(estimator, headlines)


def test_fitting_gives_the_estimator_and_leaves_its_parameters(estimator, headlines, topics):
    before = estimator.get_params()
    assert estimator.fit(headlines, topics) is estimator
    assert estimator.get_params() == before


def test_fitting_again_forgets_the_first_time(estimator, headlines, topics):
    expected = answer(clone(estimator).fit(headlines, topics), headlines)
    estimator.fit(headlines[::2], topics[::2])
    again = answer(estimator.fit(headlines, topics), headlines)
    assert again.tolist() == expected.tolist()


def test_rows_do_not_depend_on_each_other(estimator, headlines, topics):
    estimator.fit(headlines, topics)
    expected = answer(estimator, headlines)
    order = np.random.default_rng(0).permutation(len(headlines))
    shuffled = answer(estimator, [headlines[i] for i in order])
    assert shuffled.tolist() == expected[order].tolist()
    one_by_one = np.concatenate([answer(estimator, [text]) for text in headlines])
    assert one_by_one.tolist() == expected.tolist()


def test_input_is_left_alone(estimator, headlines, topics):
    texts = np.array(headlines, dtype=object)
    texts.flags.writeable = False
    labels = topics.copy()
    labels.flags.writeable = False
    estimator.fit(texts, labels)
    answer(estimator, texts)
    assert texts.tolist() == headlines


def test_pickles_and_joblib_files(estimator, headlines, topics, tmp_path):
    estimator.fit(headlines, topics)
    expected = answer(estimator, headlines).tolist()
    assert answer(pickle.loads(pickle.dumps(estimator)), headlines).tolist() == expected
    joblib.dump(estimator, tmp_path / "e.joblib", compress=3)
    assert answer(joblib.load(tmp_path / "e.joblib"), headlines).tolist() == expected
    assert pickle.loads(pickle.dumps(clone(estimator))).get_params() == estimator.get_params()


def test_clones_share_vectors_and_nothing_fitted(estimator, toy):
    estimator.set_params(vectors=toy).fit(["cat dog", "sea", "goat"], [0, 1, 1])
    other = clone(estimator)
    assert other.vectors is toy
    with pytest.raises(NotFittedError):
        answer(other, ["cat"])


def test_labels_must_fit(headlines, topics):
    with pytest.raises(ValueError, match="40 documents and 39 labels"):
        KNeighborsWMD().fit(headlines, topics[:-1])


def test_output_containers(headlines):
    polars = pytest.importorskip("polars")
    embedding = WordMoversEmbedding(n_features=3)
    names = ["wordmoversembedding0", "wordmoversembedding1", "wordmoversembedding2"]
    expected = embedding.fit_transform(headlines)
    assert embedding.get_feature_names_out().tolist() == names
    series = pandas.Series(headlines, index=range(100, 140))
    frame = embedding.set_output(transform="pandas").fit_transform(series)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == names
    # Before, scikit-learn kept the index of frames only.
    if parse_version(sklearn.__version__) >= parse_version("1.7"):
        assert list(frame.index) == list(series.index)
    assert frame.to_numpy().tolist() == expected.tolist()
    frame = embedding.set_output(transform="polars").transform(headlines)
    assert isinstance(frame, polars.DataFrame) and frame.columns == names
    assert isinstance(clone(embedding).fit(headlines).transform(headlines), polars.DataFrame)
    assert isinstance(embedding.set_output(transform="default").transform(headlines), np.ndarray)


def test_pipelines_classify(headlines, topics):
    pipe = make_pipeline(WordMoversEmbedding(n_features=128), StandardScaler(), LinearSVC())
    assert cross_val_score(pipe, headlines, topics, cv=4).mean() > 0.5
    pipe = make_pipeline(make_union(WordMoversEmbedding(n_features=8),
                                    WordMoversEmbedding(n_features=8, d_max=2)),
                         LogisticRegression())
    assert pipe.fit(headlines, topics).predict(headlines[:3]).shape == (3,)
    names = make_union(WordMoversEmbedding(n_features=2)).fit(headlines).get_feature_names_out()
    assert names[0] == "wordmoversembedding__wordmoversembedding0"


def test_columns_of_a_frame(headlines):
    frame = pandas.DataFrame({"title": headlines, "n": range(40)})
    columns = ColumnTransformer([("title", WordMoversEmbedding(n_features=5), "title")],
                                remainder="passthrough")
    assert columns.fit_transform(frame).shape == (40, 6)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_with_memory(headlines, topics, tmp_path, n_jobs):
    pipe = make_pipeline(WordMoversEmbedding(n_features=32), StandardScaler(),
                         LinearSVC(), memory=str(tmp_path))
    grid = {"wordmoversembedding__gamma": [0.3, "auto", None], "linearsvc__C": [0.01, 1]}
    search = GridSearchCV(pipe, grid, cv=2, n_jobs=n_jobs, error_score="raise")
    search.fit(headlines, topics)
    assert search.best_score_ > 0.3
    assert (tmp_path / "joblib").exists()
    assert search.predict(headlines).shape == (40,)
