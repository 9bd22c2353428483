"""LIBLINEAR's linear SVM, to the last bit, as a scikit-learn classifier."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from wordmover._native import fit_svm, svm_decision_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class LinearSVM(ClassifierMixin, BaseEstimator):
    """A linear SVM with squared hinge losses, one class against the rest: LIBLINEAR's
    `-s 2`, as the paper uses it, with the same bits on any machine.

    Features are used in single precision, as the embedding gives them.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses against the regulariser.
    tol : float, default 1e-4
        How small the gradient must be, relative to that at 0.
    bias : float or None, default None
        Value of an additional column whose weight is the intercept, regularised like the
        others. None: no intercept, as in the paper.
    standardize : bool, default False
        Whether columns are shifted and scaled to mean 0 and variance 1 first. The
        coefficients are for columns as they come.

    Attributes
    ----------
    classes_ : array of the classes.
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes.
    intercept_ : array of shape (n_classes,) or (1,).
    n_iter_ : greatest number of Newton steps.
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 1e-4,
        bias: float | None = None,
        standardize: bool = False,
    ) -> None:
        self.C = C
        self.tol = tol
        self.bias = bias
        self.standardize = standardize

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearSVM:
        """Fits on rows of features and their classes."""
        rows, labels = validate_data(self, X, y, dtype=np.float32, order="C")
        check_classification_targets(labels)
        self.classes_, classes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"there is one class only, {self.classes_[0]}: two are needed")
        self.coef_, self.intercept_, self.n_iter_, converged = fit_svm(
            rows,
            classes.astype(np.int64),
            cost=_number("C", self.C),
            tolerance=_number("tol", self.tol),
            bias=None if self.bias is None else _number("bias", self.bias),
            standardize=bool(self.standardize),
        )
        if not converged:
            warnings.warn(
                "the SVM stopped before the gradient was as small as asked for: "
                "C may be too large, or tol too small",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

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
