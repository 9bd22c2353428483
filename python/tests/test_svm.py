"""The linear SVMs: scikit-learn's whole check suite, and LIBLINEAR's objective."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from wordmover import LinearSVM, WordMoversEmbedding, set_num_threads


CHECKED = [
    LinearSVM(tol=1e-14),
    LinearSVM(standardize=True, tol=1e-14),
    LinearSVM.paper(),
]


def expected_failures(estimator):
    if estimator.solver == "liblinear":
        return {name: "takes no weights" for name in (
            "check_class_weight_classifiers", "check_sample_weights_pandas_series",
            "check_sample_weights_not_an_array", "check_sample_weights_list",
            "check_sample_weights_shape", "check_sample_weights_not_overwritten",
            "check_sample_weight_equivalence_on_dense_data",
            "check_all_zero_sample_weights_error", "check_classifiers_one_label_sample_weights",
        )}
    why = "columns are standardised without weights" if estimator.standardize else (
        "equal to 3e-8, where 1e-9 is asked for: rows are visited in another order")
    return {"check_sample_weight_equivalence_on_dense_data": why}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("solver", "tol"), [("dual", 1e-13), ("liblinear", 1e-8)])
def test_it_finds_the_optimum_of_liblinear(n_classes, solver, tol):
    rows, labels = load_iris(return_X_y=True)
    kept = labels < n_classes
    rows, labels = rows[kept].astype(np.float32), labels[kept]
    ours = LinearSVM(C=0.5, tol=tol, solver=solver).fit(rows, labels)
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
    ({"C": 0}, ValueError, "C is 0: it must be a positive number"),
    ({"C": float("nan")}, ValueError, "C is NaN"),
    ({"C": "1"}, TypeError, "C is '1': it must be a number"),
    ({"tol": -1}, ValueError, "tolerance is -1"),
    ({"intercept_scaling": 0.0}, ValueError, "bias is 0"),
    ({"max_iter": 0}, ValueError, "max_iter is 0"),
    ({"solver": "sgd"}, ValueError, "solver is 'sgd': it must be 'dual' or 'liblinear'"),
    ({"class_weight": "fair"}, ValueError, "fair"),
    ({"solver": "liblinear", "class_weight": "balanced"}, ValueError, "takes no weights"),
])
def test_bad_parameters_are_named(parameters, error, words):
    with pytest.raises(error, match=words):
        LinearSVM(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_an_intercept_is_fitted_by_default_and_the_paper_has_none():
    rows, labels = load_iris(return_X_y=True)
    rows = (rows + 40).astype(np.float32)
    default, paper = LinearSVM().fit(rows, labels), LinearSVM.paper().fit(rows, labels)
    assert default.intercept_.all() and not paper.intercept_.any()
    theirs = LinearSVC(fit_intercept=False, dual=False).fit(rows, labels)
    assert paper.predict(rows).tolist() == theirs.predict(rows).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_those_of_liblinear(n_classes):
    rows, labels = make_classification(300, 8, n_informative=6, n_classes=n_classes,
                                       weights=[0.7, 0.2], random_state=3)
    rows = rows.astype(np.float32)
    weights = np.random.default_rng(0).integers(0, 4, len(rows)).astype(float)
    for class_weight in (None, "balanced", {0: 0.3, 1: 5.0}):
        ours = LinearSVM(class_weight=class_weight, tol=1e-13).fit(rows, labels, weights)
        theirs = LinearSVC(class_weight=class_weight, dual=False, tol=1e-10, max_iter=10**5)
        theirs.fit(rows, labels, weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="a sample_weight is -1"):
        LinearSVM().fit(rows, labels, -np.ones(len(rows)))


def test_too_few_iterations_warn():
    rows, labels = make_classification(200, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter may be too small"):
        assert LinearSVM(C=100, max_iter=1).fit(rows, labels).n_iter_ == 1


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="one class only, a: two are needed"):
        LinearSVM().fit([[0.0], [1.0]], ["a", "a"])
