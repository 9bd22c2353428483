"""Nearest neighbours under the Word Mover's Distance, as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

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
    weights, vectors, normalization, stop_words, case, min_count, max_words, progress
        As those of WordMoversEmbedding. `weights` are those of words, not of votes.

    Attributes
    ----------
    classes_ : array of the classes; only if fitted with `y`.
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        weights: str = "nbow",
        vectors: VectorsLike = "builtin",
        normalization: str | None = "unit",
        stop_words: str | Iterable[str] | None = "smart",
        case: str = "lower",
        min_count: int = 1,
        max_words: int = 500,
        progress: Progress = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.vectors = vectors
        self.normalization = normalization
        self.stop_words = stop_words
        self.case = case
        self.min_count = min_count
        self.max_words = max_words
        self.progress = progress

    def fit(self, X: Iterable[Document], y: ArrayLike | None = None) -> KNeighborsWMD:
        """Takes the corpus to search. Without `y`, only `kneighbors` works."""
        vectors = open_vectors(self.vectors)
        whole_number("n_neighbors", self.n_neighbors, least=1)
        tokenizer: dict[str, Any] = {
            "case": one_name("case", self.case),
            "stop_words": stop_word_list(self.stop_words),
        }
        counts = count_words(X, vectors=vectors, **tokenizer)
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

    def predict(self, X: Iterable[Document]) -> NDArray[Any]:
        """The class of each document.

        A document without a known word has no neighbours: it gets the most frequent class,
        and a warning says how many did.
        """
        check_is_fitted(self)
        if not hasattr(self, "classes_"):
            raise ValueError("fitted without labels: there are no classes to predict")
        queries = self._queries(X)
        k = min(whole_number("n_neighbors", self.n_neighbors, least=1), len(self._counts))
        _, positions = self._search(queries, k)
        n_empty = int(queries.empty.sum())
        if n_empty:
            warnings.warn(
                f"{n_empty} of {len(queries)} documents have no word that the vectors know: "
                "they are given the most frequent class",
                stacklevel=2,
            )
        most_frequent = np.bincount(self._y).argmax()
        votes = np.where(positions < 0, -1, self._y[positions])
        winners = [_winner(row[row >= 0], most_frequent) for row in votes]
        return self.classes_[np.array(winners, dtype=np.intp)]

    def _queries(self, X: Iterable[Document]) -> Bags:
        return self._index.bags(count_words(X, vectors=self._vectors, **self._tokenizer))

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


def _winner(votes: NDArray[np.intp], otherwise: np.intp) -> np.intp:
    """The first of the classes with most votes, which are in order of distance."""
    if len(votes) == 0:
        return otherwise
    counts = np.bincount(votes)
    return votes[counts[votes].argmax()]


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
