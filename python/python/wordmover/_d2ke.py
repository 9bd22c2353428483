"""Random features from any distance, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wordmover._native import edit_distances, series_distances
from wordmover._parameters import seed_of, whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float64]

READY = ("edit", "dtw", "hausdorff", "wasserstein", "wmd")


class D2KE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Objects of any kind to vectors, from a distance between them (Wu et al., 2018).

    Feature j of an object x is exp(-gamma * d(x, omega_j)) / sqrt(n_features) for random
    objects omega_j. Inner products of these features approximate a positive-definite kernel,
    whatever the distance is.

    Parameters
    ----------
    distance : str or callable, default "edit"
        "edit" (Levenshtein, of str), "dtw" (dynamic time warping, of series with one or more
        values a row), "hausdorff" and "wasserstein" (of sets with a point a row), "wmd" (of
        texts), "precomputed" (X holds the distances to the random objects, a row for each
        object), or a function of two objects that gives a number of at least 0.
    n_features : int, default 256
        Number of random objects; with `random_objects`, their number.
    max_length : int, default 10
        Greatest length of a random object that is drawn: characters, or rows.
    gamma : "auto", float or None, default "auto"
        Scale of the features. "auto" is one over the median distance to the training objects;
        None gives the distances themselves.
    random_objects : list, callable or None, default None
        The random objects; or a function of training objects, their number and a NumPy
        Generator that gives them. None draws runs of elements of training objects
        (`sample_parts`).
    block : bool, default False
        Whether a callable `distance` takes two lists of objects and gives a matrix.
    random_state : int, default 0
        Seed of the random objects. None and NumPy's generators are allowed too.

    Attributes
    ----------
    gamma_ : float or None
        The gamma in use.
    random_objects_ : list
        The random objects in use; None with "precomputed".

    Examples
    --------
    >>> from wordmover import D2KE
    >>> words = ["colour", "color", "neighbour", "neighbor"]
    >>> D2KE(distance="edit", n_features=16).fit_transform(words).shape
    (4, 16)
    """

    def __init__(
        self,
        *,
        distance: str | Callable[..., Any] = "edit",
        n_features: int = 256,
        max_length: int = 10,
        gamma: str | float | None = "auto",
        random_objects: Any = None,
        block: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.distance = distance
        self.n_features = n_features
        self.max_length = max_length
        self.gamma = gamma
        self.random_objects = random_objects
        self.block = block
        self.random_state = random_state

    def fit(self, X: Sequence[Any], y: object = None) -> D2KE:
        """Draws the random objects and settles gamma; `y` is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: Sequence[Any], y: object = None) -> NDArray[np.float32]:
        """Fits and embeds the same objects, whose distances are computed once."""
        return self._features(self._fit(X))

    def transform(self, X: Sequence[Any]) -> NDArray[np.float32]:
        """The features of objects: a row for each, of type float32."""
        check_is_fitted(self)
        return self._features(self._distances(X))

    @property
    def _n_features_out(self) -> int:
        return self._n_random

    def _fit(self, X: Sequence[Any]) -> Matrix:
        gamma: Any = self.gamma
        is_number = isinstance(gamma, (int, float, np.number)) and not isinstance(gamma, bool)
        if not (gamma is None or gamma == "auto" or (is_number and 0 < gamma < np.inf)):
            raise ValueError(f'gamma is {gamma!r}: it must be "auto", a positive number or None')
        if len(X) == 0:
            raise ValueError("there is no object to fit on")
        self.random_objects_ = None
        if not (isinstance(self.distance, str) and self.distance == "precomputed"):
            self.random_objects_ = self._random(X)
            self._n_random = len(self.random_objects_)
        else:
            self._n_random = np.shape(X)[1] if np.ndim(X) == 2 else 0
        if self._n_random == 0:
            raise ValueError("there are no random objects")
        distances = self._distances(X)
        if gamma == "auto":
            median = float(np.median(distances))
            self.gamma_: float | None = 1 / median if 0 < median < np.inf else 1.0
        else:
            self.gamma_ = None if gamma is None else float(gamma)
        return distances

    def _random(self, X: Sequence[Any]) -> list[Any]:
        n = whole_number("n_features", self.n_features, least=1)
        seed = seed_of(self.random_state)
        if self.random_objects is None:
            length = whole_number("max_length", self.max_length, least=1)
            return sample_parts(X, n, max_length=length, random_state=seed)
        if callable(self.random_objects):
            return list(self.random_objects(X, n, np.random.default_rng(seed)))
        return list(self.random_objects)

    def _distances(self, X: Sequence[Any]) -> Matrix:
        if isinstance(self.distance, str) and self.distance == "precomputed":
            distances = np.asarray(X, dtype=np.float64)
        else:
            distances = pairwise(self.distance, X, self.random_objects_ or [], block=self.block)
        expected = (len(X), self._n_random)
        if distances.shape != expected:
            raise ValueError(f"distances have shape {distances.shape}, not {expected}")
        wrong = ~(distances >= 0)
        if wrong.any():
            i, j = (int(k) for k in np.argwhere(wrong)[0])
            raise ValueError(
                f"the distance of object {i} to random object {j} is {distances[i, j]}: "
                "it must be a number of at least 0"
            )
        return distances

    def _features(self, distances: Matrix) -> NDArray[np.float32]:
        if self.gamma_ is None:
            return distances.astype(np.float32)
        scale = 1 / np.sqrt(self._n_random)
        return (np.exp(-self.gamma_ * distances) * scale).astype(np.float32)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "gamma_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.distance == "precomputed"
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def pairwise(
    distance: str | Callable[..., Any],
    X: Sequence[Any],
    Y: Sequence[Any],
    *,
    block: bool = False,
) -> Matrix:
    """Distances between all objects of `X` and `Y`, by one of the ready distances or a function.

    Parameters
    ----------
    distance : str or callable
        As that of D2KE.
    X, Y : sequence
        The objects.
    block : bool, default False
        Whether a callable `distance` takes two lists of objects and gives a matrix.

    Returns
    -------
    distances : array of shape (len(X), len(Y))

    Raises
    ------
    RuntimeError
        If a function fails; it says for which pair.

    Examples
    --------
    >>> from wordmover import pairwise
    >>> pairwise("edit", ["colour"], ["color", "cooler"]).tolist()
    [[1.0, 3.0]]
    """
    if isinstance(distance, str):
        return _ready(distance, X, Y)
    if not callable(distance):
        raise TypeError(f"distance is {distance!r}: it must be a name or a function")
    if block:
        return np.asarray(distance(X, Y), dtype=np.float64)
    distances = np.empty((len(X), len(Y)))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            try:
                distances[i, j] = distance(x, y)
            except Exception as error:
                pair = f"object {i} to random object {j}"
                raise RuntimeError(f"the distance of {pair} has failed: {error}") from error
    return distances


def _ready(name: str, X: Sequence[Any], Y: Sequence[Any]) -> Matrix:
    if name == "edit":
        for side, objects in (("object", X), ("random object", Y)):
            for i, each in enumerate(objects):
                if not isinstance(each, str):
                    raise TypeError(f"{side} {i} is {type(each).__name__}, not a str")
        return edit_distances(list(X), list(Y))
    if name in ("dtw", "hausdorff"):
        first, second = _series(X, "object"), _series(Y, "random object")
        return series_distances(name, *first, *second)
    if name == "wasserstein":
        from wordmover._points import wasserstein_distances

        return wasserstein_distances(X, Y)
    if name == "wmd":
        from wordmover._distance import wmd

        return pairwise(wmd, X, Y)
    names = ", ".join(f'"{known}"' for known in (*READY, "precomputed"))
    raise ValueError(f'distance is "{name}": it must be one of {names} or a function')


def _series(objects: Sequence[Any], side: str) -> tuple[Matrix, NDArray[np.int64]]:
    """Series or sets one after the other, and where each begins."""
    rows: list[Any] = []
    for i, each in enumerate(objects):
        try:
            series = np.asarray(each, dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{side} {i} is no array of numbers") from error
        if series.ndim == 1:
            series = series[:, None]
        if series.ndim != 2 or series.shape[1] != (rows[0].shape[1] if rows else series.shape[1]):
            raise ValueError(f"{side} {i} has shape {series.shape}: not that of the others")
        if len(series) == 0:
            raise ValueError(f"{side} {i} is empty")
        if not np.isfinite(series).all():
            at = int(np.argwhere(~np.isfinite(series))[0][0])
            raise ValueError(f"{side} {i} has a value that is not finite in row {at}")
        rows.append(series)
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.ascontiguousarray(np.concatenate(rows)), offsets


def sample_parts(
    X: Sequence[Any], n: int, *, max_length: int = 10, random_state: Any = 0
) -> list[Any]:
    """Runs of elements of objects, as D2KE draws its random objects.

    Substrings, parts of series, or points of sets that follow each other: an object is drawn,
    then a length, then a place.

    Parameters
    ----------
    X : sequence
        Objects with a length that can be cut.
    n : int
        How many parts.
    max_length : int, default 10
        Greatest length of a part.
    random_state : int, default 0
        Seed. None and NumPy's generators are allowed too.

    Examples
    --------
    >>> from wordmover import sample_parts
    >>> all(part in "colour" for part in sample_parts(["colour"], 5, max_length=3))
    True
    """
    rng = np.random.default_rng(seed_of(random_state))
    objects = [each for each in X if len(each) > 0]
    if not objects:
        raise ValueError("all objects are empty")
    parts = []
    for _ in range(n):
        each = objects[rng.integers(len(objects))]
        length = 1 + int(rng.integers(min(len(each), max_length)))
        start = int(rng.integers(len(each) - length + 1))
        parts.append(each[start : start + length])
    return parts
