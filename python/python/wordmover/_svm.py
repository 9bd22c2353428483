"""Linear SVMs as a scikit-learn classifier."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from wordmover._native import fit_svm, fit_svm_of_paper, svm_decision_values
from wordmover._parameters import whole_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class LinearSVM(ClassifierMixin, BaseEstimator):
    """A linear SVM with squared hinge losses, each class against the rest, with the same bits
    on any machine and for any number of threads.

    `LinearSVM.paper(C=...)` is the paper's: LIBLINEAR's `-s 2` without intercept. Features are
    used in single precision, as the embedding gives them.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses against the regulariser.
    fit_intercept : bool, default True
        Whether there is an intercept, regularised like the weights.
    intercept_scaling : float, default 1.0
        Value of the column whose weight is the intercept: the larger, the less it is
        regularised.
    standardize : bool, default False
        Whether columns are shifted and scaled to mean 0 and variance 1 first. The
        coefficients are for columns as they come.
    class_weight : dict, "balanced" or None, default None
        What C is multiplied with for the rows of a class; "balanced": in inverse proportion
        to their number.
    tol : float, default 1e-4
        Greatest duality gap relative to the objective; of the solver "liblinear", how small
        the gradient must be relative to that at 0.
    max_iter : int, default 1000
        Passes over the rows after which fitting ends with a ConvergenceWarning.
    solver : "dual" or "liblinear", default "dual"
        "dual": coordinate descent, and Newton steps where that is slow. "liblinear": the steps
        of LIBLINEAR's `-s 2` to the last bit; takes no weights, and stops where LIBLINEAR
        stops, after 1,000 Newton steps.

    Attributes
    ----------
    classes_ : array
        The classes.
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
        The weights.
    intercept_ : array of shape (n_classes,) or (1,)
        The intercepts.
    n_iter_ : int
        Greatest number of passes over the rows, or of Newton steps.

    Examples
    --------
    >>> from wordmover import LinearSVM
    >>> svm = LinearSVM(C=10.0).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> svm.predict([[0.5], [2.5]]).tolist()
    ['a', 'b']
    >>> LinearSVM.paper(C=1e4).solver
    'liblinear'
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        standardize: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        solver: str = "dual",
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.standardize = standardize
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver

    @classmethod
    def paper(cls, *, C: float = 1.0, tol: float = 1e-4) -> LinearSVM:
        """The paper's machine: LIBLINEAR's `-s 2` without intercept, to the last bit."""
        return cls(C=C, tol=tol, fit_intercept=False, solver="liblinear")

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LinearSVM:
        """Fits on rows of features and their classes; a row counts as often as its weight
        says."""
        rows, labels = validate_data(self, X, y, dtype=np.float32, order="C")
        check_classification_targets(labels)
        self.classes_, classes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"there is one class only, {self.classes_[0]}: two are needed")
        if self.solver not in ("dual", "liblinear"):
            raise ValueError(f"solver is {self.solver!r}: it must be 'dual' or 'liblinear'")
        bias = _number("intercept_scaling", self.intercept_scaling)
        options: dict[str, Any] = {
            "cost": _number("C", self.C),
            "tolerance": _number("tol", self.tol),
            "bias": bias if self.fit_intercept else None,
            "standardize": bool(self.standardize),
        }
        max_iter = whole_number("max_iter", self.max_iter, least=1)
        if self.solver == "liblinear":
            if not (sample_weight is None and self.class_weight is None):
                raise ValueError("the solver 'liblinear' takes no weights: use 'dual'")
            fitted = fit_svm_of_paper(rows, classes.astype(np.int64), **options)
        else:
            row_weights = self._row_weights(sample_weight, rows)
            fitted = fit_svm(
                rows,
                classes.astype(np.int64),
                max_epochs=max_iter,
                row_weights=row_weights,
                class_weights=self._class_weights(labels, classes, row_weights),
                **options,
            )
        self.coef_, self.intercept_, self.n_iter_, converged = fitted
        if not converged:
            warnings.warn(
                "the SVM stopped before it was as good as asked for: max_iter may be too small, "
                "C too large, or tol too small",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _row_weights(self, sample_weight: Any, rows: Any) -> NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64)
        if (weights < 0).any():
            raise ValueError(f"a sample_weight is {weights.min()}: none may be negative")
        return np.ascontiguousarray(weights)

    def _class_weights(
        self,
        labels: NDArray[Any],
        classes: NDArray[np.intp],
        row_weights: NDArray[np.float64] | None,
    ) -> list[tuple[int, float]] | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            sums = np.bincount(classes, weights=row_weights)
            weights = sums.sum() / (len(sums) * np.maximum(sums, np.finfo(float).tiny))
        else:
            weights = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)
        return [(i, float(weight)) for i, weight in enumerate(weights)]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Decision values: a column for each class, or for two classes a single one that is
        positive for the second."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float32, order="C", reset=False)
        values = svm_decision_values(rows, self.coef_, self.intercept_)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each row."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(np.intp)]
        return self.classes_[values.argmax(axis=1)]


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}: it must be a number")
    return float(value)
