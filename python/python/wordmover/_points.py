"""Bags of any vectors as a scikit-learn transformer, and exact distances between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wordmover._native import PointModel, point_distances
from wordmover._parameters import Progress, one_name, reporting, seed_of, whole_number

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import ArrayLike, NDArray

    #: Sets of points: a list of arrays with a point a row, an array of three dimensions, or one
    #: array with a point a row whose sets are told apart by offsets.
    PointSets: TypeAlias = Sequence[ArrayLike] | NDArray[Any]
    Weights: TypeAlias = Sequence[ArrayLike] | NDArray[Any] | None


class FlatSets(NamedTuple):
    """Sets one after the other, as the native side takes them."""

    points: NDArray[np.float32]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] | None

    @property
    def n_sets(self) -> int:
        return len(self.offsets) - 1


class WassersteinEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Weighted sets of vectors to vectors, by the features of the Word Mover's Embedding.

    Feature j of a set x is exp(-gamma * W(x, omega_j)) / sqrt(n_features) for random sets
    omega_j, where W is the exact Wasserstein distance. Inner products of these features
    approximate a positive-definite kernel. There is no post-processing.

    Sets are given as a list of arrays, each with a point a row; as an array of three dimensions,
    where all sets have the same number of points; or as one array with a point a row and
    `offsets`, where set i is rows `offsets[i]` to `offsets[i + 1]`. Points become float32.
    Weights, if given, are a list of arrays beside the list, or one array beside one. Only their
    proportions count; those that sum to one are taken as they are. An empty set, a value
    that is not finite or a set without weight is a ValueError that says where.

    Parameters
    ----------
    n_features : int, default 512
        Number of random sets, R in the paper.
    d_max : int, default 6
        Greatest number of points of a random set.
    gamma : "auto", float or None, default "auto"
        Scale of the features. "auto" is one over the median distance; None gives the
        distances themselves.
    random_points : "uniform", "gaussian", "samples" or "sets", default "uniform"
        Random points: uniform between the extremes of all coordinates, normal with mean and
        deviation of each coordinate, points of the training sets, or all of one random set from
        one training set.
    metric : "euclidean", "sqeuclidean", "cosine" or "cityblock", default "euclidean"
        Ground cost between points.
    random_state : int, default 0
        Seed of the random sets; the same seed gives the same bits. None and NumPy's
        generators are allowed too.
    progress : bool or callable, default False
        True shows a bar (needs tqdm); a function is called with the number of distances
        done and their total.

    Attributes
    ----------
    gamma_ : float or None
        The gamma in use.
    n_features_in_ : int
        Dimension of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from wordmover import WassersteinEmbedding
    >>> sets = [np.zeros((3, 2)), np.ones((5, 2)), np.arange(4.0).reshape(2, 2)]
    >>> WassersteinEmbedding(n_features=16).fit_transform(sets).shape
    (3, 16)
    """

    def __init__(
        self,
        *,
        n_features: int = 512,
        d_max: int = 6,
        gamma: str | float | None = "auto",
        random_points: str = "uniform",
        metric: str = "euclidean",
        random_state: Any = 0,
        progress: Progress = False,
    ) -> None:
        self.n_features = n_features
        self.d_max = d_max
        self.gamma = gamma
        self.random_points = random_points
        self.metric = metric
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: PointSets,
        y: object = None,
        *,
        offsets: ArrayLike | None = None,
        weights: Weights = None,
    ) -> WassersteinEmbedding:
        """Draws the random sets and settles gamma; `y` is ignored."""
        self._fit(flat_sets(X, offsets, weights))
        return self

    def fit_transform(
        self,
        X: PointSets,
        y: object = None,
        *,
        offsets: ArrayLike | None = None,
        weights: Weights = None,
    ) -> NDArray[np.float32]:
        """Fits and embeds the same sets."""
        sets = flat_sets(X, offsets, weights)
        self._fit(sets)
        return self._embed(sets)

    def transform(
        self, X: PointSets, *, offsets: ArrayLike | None = None, weights: Weights = None
    ) -> NDArray[np.float32]:
        """Embeds sets: a row for each, of type float32."""
        check_is_fitted(self)
        return self._embed(flat_sets(X, offsets, weights))

    def embed_arrow(
        self,
        batch: pyarrow.RecordBatch,
        *,
        column: str = "points",
        weights: str | None = None,
        output: str = "embedding",
    ) -> pyarrow.RecordBatch:
        """Adds a column of embeddings (fixed-size lists of float32) to an Arrow batch.

        The column holds a list of points a row, each a list of numbers; `weights` names a column
        with a list of as many numbers. Parquet files are read with pyarrow.
        """
        check_is_fitted(self)
        try:
            import pyarrow
        except ImportError as error:
            needed = "embed_arrow needs pyarrow: pip install wordmover[arrow]"
            raise ImportError(needed) from error
        if output in batch.schema.names:
            raise ValueError(f"the batch has a column {output!r} already")
        sets = _sets_of_lists(batch, column, weights)
        rows = self._embed(sets)
        values = pyarrow.array(rows.ravel())
        embeddings = pyarrow.FixedSizeListArray.from_arrays(values, rows.shape[1])
        field = pyarrow.field(output, embeddings.type)
        return pyarrow.RecordBatch.from_arrays(
            [*batch.columns, embeddings], schema=batch.schema.append(field)
        )

    @property
    def gamma_(self) -> float | None:
        check_is_fitted(self)
        return self._model.gamma

    @property
    def _n_features_out(self) -> int:
        return self._model.n_features

    def _fit(self, sets: FlatSets) -> None:
        self._model = PointModel.fit(
            *sets,
            n_features=whole_number("n_features", self.n_features, least=1),
            d_max=whole_number("d_max", self.d_max, least=1),
            gamma=self.gamma,
            random_points=one_name("random_points", self.random_points),
            metric=one_name("metric", self.metric),
            seed=seed_of(self.random_state),
        )
        self.n_features_in_ = self._model.dim

    def _embed(self, sets: FlatSets) -> NDArray[np.float32]:
        total = sets.n_sets * self._model.n_features
        with reporting(self.progress, total, "embedding") as report:
            return self._model.transform(*sets, progress=report)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def wasserstein_distances(
    X: PointSets,
    Y: PointSets | None = None,
    *,
    metric: str = "euclidean",
    weights: Weights = None,
    other_weights: Weights = None,
) -> NDArray[np.float64]:
    """Exact Wasserstein distances between all sets of `X` and of `Y` (or of `X` again).

    Parameters
    ----------
    X, Y : sets of points
        As those of WassersteinEmbedding.
    metric : "euclidean", "sqeuclidean", "cosine" or "cityblock", default "euclidean"
        Ground cost between points.
    weights, other_weights : as those of WassersteinEmbedding
        Weights of the points of `X` and of `Y`.

    Returns
    -------
    distances : array of shape (n_first, n_second)

    Examples
    --------
    >>> import numpy as np
    >>> from wordmover import wasserstein_distances
    >>> wasserstein_distances([np.zeros((3, 2))], [np.full((2, 2), [3.0, 4.0])]).tolist()
    [[5.0]]
    """
    first = flat_sets(X, None, weights)
    second = first if Y is None else flat_sets(Y, None, other_weights)
    return point_distances(*first, *second, metric=one_name("metric", metric))


def flat_sets(X: Any, offsets: Any, weights: Any) -> FlatSets:
    """Sets of any of the three forms, one after the other."""
    if offsets is not None:
        points = _points(X, "X")
        ends = np.asarray(offsets)
        if ends.ndim != 1 or not np.issubdtype(ends.dtype, np.integer):
            raise ValueError("offsets must be integers in one dimension")
        flat = None if weights is None else _weights(weights, "weights")
        return FlatSets(points, np.ascontiguousarray(ends, dtype=np.int64), flat)
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim != 3:
        raise ValueError(
            f"X has {X.ndim} dimensions: give a list of arrays, an array of three dimensions, or "
            "one of two dimensions with offsets"
        )
    if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
        raise TypeError(f"X is {type(X).__name__}: it must be sets of points")
    arrays = [_points(points, f"set {i}") for i, points in enumerate(X)]
    if not arrays:
        raise ValueError("there are no sets")
    for i, points in enumerate(arrays):
        if points.shape[1] != arrays[0].shape[1]:
            dim, expected = points.shape[1], arrays[0].shape[1]
            raise ValueError(f"the points of set {i} have dimension {dim}, not {expected}")
    flat = None
    if weights is not None:
        listed = [_weights(each, f"the weights of set {i}") for i, each in enumerate(weights)]
        if len(listed) != len(arrays):
            raise ValueError(f"there are weights of {len(listed)} sets for {len(arrays)} sets")
        for i, (points, each) in enumerate(zip(arrays, listed)):
            if len(points) != len(each):
                raise ValueError(f"set {i} has {len(points)} points and {len(each)} weights")
        flat = np.concatenate(listed)
    ends = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
    return FlatSets(np.concatenate(arrays), ends, flat)


def _points(values: Any, name: str) -> NDArray[np.float32]:
    try:
        points = np.asarray(values)
        if points.dtype == object or np.iscomplexobj(points):
            raise ValueError
        with np.errstate(over="ignore"):
            points = np.ascontiguousarray(points, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is no array of real numbers with a point a row") from error
    if points.ndim != 2:
        raise ValueError(f"{name} has {points.ndim} dimensions: points are rows of two")
    return points


def _weights(values: Any, name: str) -> NDArray[np.float64]:
    try:
        weights = np.ascontiguousarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} are no real numbers") from error
    if weights.ndim != 1:
        raise ValueError(f"{name} have {weights.ndim} dimensions: weights have 1")
    return weights


def _sets_of_lists(batch: Any, column: str, weights: str | None) -> FlatSets:
    """A column of lists of points, without a Python object a point."""
    import pyarrow

    def lists(name: str) -> Any:
        if batch.schema.names.count(name) != 1:
            names = batch.schema.names
            raise ValueError(f"the batch has no single column {name!r}: it has {names}")
        found = batch.column(name)
        types = pyarrow.types
        if not (types.is_list(found.type) or types.is_large_list(found.type)):
            raise TypeError(f"column {name!r} holds {found.type}, not lists")
        if found.null_count:
            row = found.is_null().to_pylist().index(True)
            raise ValueError(f"row {row} of column {name!r} is missing")
        return found

    sets = lists(column)
    inner = sets.flatten()
    offsets = np.asarray(sets.offsets, dtype=np.int64)
    offsets = offsets - offsets[0]
    if inner.null_count:
        raise ValueError(f"column {column!r} has missing points")
    if pyarrow.types.is_fixed_size_list(inner.type):
        dim = inner.type.list_size
    else:
        lengths = np.diff(np.asarray(inner.offsets, dtype=np.int64))
        if len(lengths) and (lengths != lengths[0]).any():
            point = int(np.flatnonzero(lengths != lengths[0])[0])
            row = int(np.searchsorted(offsets, point, side="right")) - 1
            raise ValueError(
                f"point {point - int(offsets[row])} of row {row} has {lengths[point]} "
                f"coordinates, not {lengths[0]}"
            )
        dim = int(lengths[0]) if len(lengths) else 1
    values = np.asarray(inner.flatten())
    flat = None
    if weights is not None:
        found = lists(weights)
        ends = np.asarray(found.offsets, dtype=np.int64)
        if (ends - ends[0] != offsets).any():
            row = int(np.flatnonzero(np.diff(ends) != np.diff(offsets))[0])
            raise ValueError(f"row {row} has other numbers of points and of weights")
        flat = _weights(np.asarray(found.flatten()), "weights")
    return FlatSets(_points(values.reshape(-1, dim), f"column {column!r}"), offsets, flat)
