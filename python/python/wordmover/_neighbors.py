"""Nearest neighbours under the Word Mover's Distance, as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from wordmover._analysis import Analysis, analysis_of, case_of
from wordmover._documents import documents_of
from wordmover._native import Bags, Index, count_words
from wordmover._parameters import (
    Document,
    Progress,
    VectorsLike,
    name_or_none,
    one_name,
    open_vectors,
    reporting,
    stop_word_list,
    whole_number,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class KNeighborsWMD(ClassifierMixin, BaseEstimator):
    """Classifies documents by their nearest neighbours under the exact Word Mover's Distance.

    Lower bounds decide which documents need no exact distance; none of the nearest is
    missed. Most votes win; among classes with equally many the one whose voter is nearest.

    Parameters
    ----------
    n_neighbors : int, default 5
        Number of neighbours that vote.
    votes : "uniform" or "distance", default "uniform"
        Whether neighbours have one vote each, or one over their distance; then those at
        distance 0 outvote all others.
    weights : "nbow", "tfidf" or "sif", default "nbow"
        How a word's count becomes its weight. (Of words, not of votes.)
    vectors, normalization, min_count, max_words, progress
        As those of WordMoversEmbedding.
    stop_words, case, lowercase, preprocessor, tokenizer, token_pattern, ngram_range
        As those of WordMoversEmbedding.
    min_df, max_df, max_features, vocabulary
        As those of WordMoversEmbedding.

    Attributes
    ----------
    classes_ : array
        The classes; only if fitted with `y`.

    Examples
    --------
    >>> from wordmover import KNeighborsWMD
    >>> texts = ["The senate votes on the budget", "A minister resigns over the vote",
    ...          "The band gave a concert in Japan", "The singer records a new album"]
    >>> neighbors = KNeighborsWMD(n_neighbors=1).fit(texts, ["politics"] * 2 + ["music"] * 2)
    >>> neighbors.predict(["The orchestra plays tonight"]).tolist()
    ['music']
    >>> distances, positions = neighbors.kneighbors(["Parliament votes"])
    >>> texts[positions[0, 0]]
    'The senate votes on the budget'
    """

    _analysis: Analysis | None = None

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        votes: str = "uniform",
        weights: str = "nbow",
        vectors: VectorsLike = "builtin",
        normalization: str | None = "unit",
        stop_words: str | Iterable[str] | None = "smart",
        case: str = "lower",
        lowercase: bool | None = None,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        token_pattern: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        vocabulary: Iterable[str] | None = None,
        min_count: int = 1,
        max_words: int = 500,
        progress: Progress = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.votes = votes
        self.weights = weights
        self.vectors = vectors
        self.normalization = normalization
        self.stop_words = stop_words
        self.case = case
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.max_words = max_words
        self.progress = progress

    def fit(self, X: Iterable[Document], y: ArrayLike | None = None) -> KNeighborsWMD:
        """Takes the corpus to search. Without `y`, only `kneighbors` works."""
        vectors = open_vectors(self.vectors)
        whole_number("n_neighbors", self.n_neighbors, least=1)
        tokenizer: dict[str, Any] = {
            "case": case_of(self.case, self.lowercase),
            "stop_words": stop_word_list(self.stop_words),
        }
        analysis = analysis_of(self, vectors)
        documents = documents_of(X) if analysis is None else analysis.fit(X)
        counts = count_words(documents, vectors=vectors, **tokenizer)
        if len(counts) == 0:
            raise ValueError("there is no document to fit on")
        if y is not None:
            labels = column_or_1d(y, warn=True)
            check_classification_targets(labels)
            if len(labels) != len(counts):
                raise ValueError(
                    f"{len(counts)} documents and {len(labels)} labels: they must be as many"
                )
            self.classes_, self._y = np.unique(labels, return_inverse=True)
        elif hasattr(self, "classes_"):
            del self.classes_, self._y
        self._vectors, self._tokenizer, self._counts = vectors, tokenizer, counts
        self._analysis = analysis
        self._rules: dict[str, Any] = {
            "weights": one_name("weights", self.weights),
            "normalization": name_or_none("normalization", self.normalization),
            "min_count": whole_number("min_count", self.min_count, least=1),
            "max_words": whole_number("max_words", self.max_words, least=1),
        }
        self._index = Index(counts, vectors=vectors, **self._rules)
        return self

    @overload
    def kneighbors(
        self,
        X: Iterable[Document] | None = ...,
        n_neighbors: int | None = ...,
        return_distance: Literal[True] = ...,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
    @overload
    def kneighbors(
        self,
        X: Iterable[Document] | None = ...,
        n_neighbors: int | None = ...,
        *,
        return_distance: Literal[False],
    ) -> NDArray[np.int64]: ...
    @overload
    def kneighbors(
        self, X: Iterable[Document] | None, n_neighbors: int | None, return_distance: Literal[False]
    ) -> NDArray[np.int64]: ...
    @overload
    def kneighbors(
        self,
        X: Iterable[Document] | None = ...,
        n_neighbors: int | None = ...,
        return_distance: bool = ...,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | NDArray[np.int64]: ...
    def kneighbors(
        self,
        X: Iterable[Document] | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | NDArray[np.int64]:
        """Distances and positions of the nearest documents, the nearest first.

        Without `X`, of every fitted document, which is not its own neighbour. A document
        without a known word has no neighbours, and is nobody's: where there are too few,
        the distance is infinite and the position -1.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        k = whole_number("n_neighbors", k, least=1)
        n_fitted = len(self._counts) - (X is None)
        if k > n_fitted:
            raise ValueError(f"n_neighbors is {k}: there are only {n_fitted} documents")
        if X is None:
            found = self._search(self._index.bags(self._counts), k + 1)
            distances, positions = _without_self(*found)
        else:
            distances, positions = self._search(self._queries(X), k)
        return (distances, positions) if return_distance else positions

    def kneighbors_graph(
        self,
        X: Iterable[Document] | None = None,
        n_neighbors: int | None = None,
        mode: str = "connectivity",
    ) -> csr_matrix:
        """The graph of nearest neighbours, a sparse matrix with a row for each document of `X`
        and a column for each fitted one.

        Parameters
        ----------
        X, n_neighbors
            As those of `kneighbors`.
        mode : "connectivity" or "distance", default "connectivity"
            Whether edges are ones or distances.
        """
        if mode not in ("connectivity", "distance"):
            raise ValueError(f"mode is {mode!r}: it must be 'connectivity' or 'distance'")
        distances, positions = self.kneighbors(X, n_neighbors)
        is_there = positions >= 0
        values = distances if mode == "distance" else np.ones_like(distances)
        ends = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
        parts = (values[is_there], positions[is_there], ends)
        return csr_matrix(parts, shape=(len(positions), len(self._counts)))

    def predict(self, X: Iterable[Document]) -> NDArray[Any]:
        """The class of each document.

        A document without a known word has no neighbours: it gets the most frequent class,
        and a warning says how many did.
        """
        votes, _, nearest = self._votes(X)
        # Among classes with equally many votes the one whose voter is nearest.
        most = votes.max(axis=1, keepdims=True)
        ranks = np.where(votes == most, nearest, np.inf)
        return self.classes_[ranks.argmin(axis=1)]

    def predict_proba(self, X: Iterable[Document]) -> NDArray[np.float64]:
        """The share of votes of each class; of a document without a known word, the share of
        the fitted documents."""
        votes, _, _ = self._votes(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def _votes(
        self, X: Iterable[Document]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """Votes for each class, the neighbours' positions, and the rank of each class's nearest
        voter."""
        check_is_fitted(self)
        if not hasattr(self, "classes_"):
            raise ValueError("fitted without labels: there are no classes to predict")
        if self.votes not in ("uniform", "distance"):
            raise ValueError(f"votes is {self.votes!r}: it must be 'uniform' or 'distance'")
        queries = self._queries(X)
        k = min(whole_number("n_neighbors", self.n_neighbors, least=1), len(self._counts))
        distances, positions = self._search(queries, k)
        n_empty = int(queries.empty.sum())
        if n_empty:
            warnings.warn(
                f"{n_empty} of {len(queries)} documents have no word that the vectors know: "
                "they are given the most frequent class",
                stacklevel=3,
            )
        weights = (positions >= 0).astype(np.float64)
        if self.votes == "distance":
            is_same = distances == 0
            weights /= np.where(is_same, 1, distances)
            weights = np.where(is_same.any(axis=1, keepdims=True), is_same, weights)
        n_classes = len(self.classes_)
        votes = np.zeros((len(positions), n_classes))
        nearest = np.full((len(positions), n_classes), float(k))
        rows = np.arange(len(positions))
        # The farthest first, so that the nearest voter's rank stays.
        for rank in range(k - 1, -1, -1):
            is_there = positions[:, rank] >= 0
            classes = self._y[positions[is_there, rank]]
            votes[rows[is_there], classes] += weights[is_there, rank]
            nearest[rows[is_there], classes] = rank
        frequencies = np.bincount(self._y, minlength=n_classes)
        votes[votes.sum(axis=1) == 0] = frequencies
        return votes, positions, nearest

    def _queries(self, X: Iterable[Document]) -> Bags:
        documents = documents_of(X) if self._analysis is None else self._analysis(X)
        counts = count_words(documents, vectors=self._vectors, **self._tokenizer)
        return self._index.bags(counts)

    def _search(self, queries: Bags, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        with reporting(self.progress, len(queries), "searching") as report:
            return self._index.search(queries, k=k, progress=report)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_counts")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_counts"):
            self._index = Index(self._counts, vectors=self._vectors, **self._rules)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _without_self(
    distances: NDArray[np.float64], positions: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Takes each document out of its own neighbours. Among many at distance 0 it may not
    be there: then the last goes."""
    n, k = positions.shape
    is_self = positions == np.arange(n)[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    keep = ~is_self
    return distances[keep].reshape(n, k - 1), positions[keep].reshape(n, k - 1)
