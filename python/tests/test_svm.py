"""The linear SVM: scikit-learn's whole check suite, and LIBLINEAR's objective."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from wordmover import LinearSVM, WordMoversEmbedding, set_num_threads


@parametrize_with_checks([LinearSVM(), LinearSVM(bias=1.0, standardize=True)])
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_finds_the_optimum_of_liblinear(n_classes):
    rows, labels = load_iris(return_X_y=True)
    kept = labels < n_classes
    rows, labels = rows[kept].astype(np.float32), labels[kept]
    ours = LinearSVM(C=0.5, tol=1e-8, bias=1.0).fit(rows, labels)
    theirs = LinearSVC(C=0.5, tol=1e-10, dual=False, max_iter=100_000).fit(rows, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-6)
    assert ours.predict(rows).tolist() == theirs.predict(rows).tolist()
    exact = rows.astype(float) @ ours.coef_.T + ours.intercept_
    values = ours.decision_function(rows)
    np.testing.assert_allclose(values.reshape(exact.shape), exact, atol=1e-9)


def test_threads_change_no_bit_and_pipelines_work(headlines, topics):
    pipe = make_pipeline(WordMoversEmbedding(n_features=256), LinearSVM(C=0.01, standardize=True))
    assert pipe.fit(headlines[::2], topics[::2]).score(headlines[1::2], topics[1::2]) > 0.4
    expected = pipe[-1].coef_.tobytes()
    try:
        set_num_threads(3)
        assert pipe.fit(headlines[::2], topics[::2])[-1].coef_.tobytes() == expected
    finally:
        set_num_threads(None)


@pytest.mark.parametrize(("parameters", "error", "words"), [
    ({"C": 0}, ValueError, "C is 0: it must be a positive finite number"),
    ({"C": float("nan")}, ValueError, "C is NaN"),
    ({"C": "1"}, TypeError, "C is '1': it must be a number"),
    ({"tol": -1}, ValueError, "tolerance is -1"),
    ({"bias": 0.0}, ValueError, "bias is 0"),
])
def test_bad_parameters_are_named(parameters, error, words):
    with pytest.raises(error, match=words):
        LinearSVM(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="one class only, a: two are needed"):
        LinearSVM().fit([[0.0], [1.0]], ["a", "a"])
