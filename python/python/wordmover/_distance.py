"""Exact Word Mover's Distances."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from wordmover import _native
from wordmover._documents import documents_of
from wordmover._parameters import (
    Document,
    Progress,
    VectorsLike,
    name_or_none,
    one_name,
    open_vectors,
    reporting,
    stop_word_list,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WordMove(NamedTuple):
    """Mass that moves from a word of the first document to a word of the second."""

    source: str
    target: str
    mass: float
    cost: float


@overload
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = ...,
    normalization: str | None = ...,
    metric: str = ...,
    stop_words: str | Iterable[str] | None = ...,
    case: str = ...,
    mass: float | None = ...,
    penalty: float | None = ...,
    return_plan: Literal[False] = ...,
) -> float: ...
@overload
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = ...,
    normalization: str | None = ...,
    metric: str = ...,
    stop_words: str | Iterable[str] | None = ...,
    case: str = ...,
    mass: float | None = ...,
    penalty: float | None = ...,
    return_plan: Literal[True],
) -> tuple[float, list[WordMove]]: ...
@overload
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = ...,
    normalization: str | None = ...,
    metric: str = ...,
    stop_words: str | Iterable[str] | None = ...,
    case: str = ...,
    mass: float | None = ...,
    penalty: float | None = ...,
    return_plan: bool,
) -> float | tuple[float, list[WordMove]]: ...
def wmd(
    a: Document | Mapping[str, float],
    b: Document | Mapping[str, float],
    *,
    vectors: VectorsLike = "builtin",
    normalization: str | None = "unit",
    metric: str = "euclidean",
    stop_words: str | Iterable[str] | None = "smart",
    case: str = "lower",
    mass: float | None = None,
    penalty: float | None = None,
    return_plan: bool = False,
) -> float | tuple[float, list[WordMove]]:
    """The exact Word Mover's Distance between two documents.

    Parameters
    ----------
    a, b : str, list of str, or dict of words to weights that sum to one
    vectors, stop_words, case
        As those of WordMoversEmbedding.
    normalization : "unit" or None, default "unit"
        What is done to word vectors first.
    metric : "euclidean", "sqeuclidean", "cosine" or "cityblock", default "euclidean"
        The ground cost between words.
    mass : float or None, default None
        For texts of which only a part is alike: moves no more than this share of both
        documents, at the least cost. `mass=0.8` is the cost of the best 80 %.
    penalty : float or None, default None
        Or else what a unit of mass costs that stays unmatched, on either side: as much moves as
        pays, and the distance includes the penalties.
    return_plan : bool, default False
        Whether to return the moves of an optimal plan too.

    Returns
    -------
    distance : float
    plan : list of WordMove
        Masses sum to one, and mass times cost to the distance. `wordmover.plot.plan` draws it.

    Raises
    ------
    ValueError
        If a document has no known word: it has no distance.

    Examples
    --------
    >>> from wordmover import wmd
    >>> a, b = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"
    >>> round(wmd(a, b), 4)
    0.9769
    >>> distance, plan = wmd(a, b, return_plan=True)
    >>> [(move.source, move.target) for move in plan if move.source == "media"]
    [('media', 'press')]
    """
    distance, moves = _native.word_movers_distance(
        a,
        b,
        vectors=open_vectors(vectors),
        normalization=name_or_none("normalization", normalization),
        metric=one_name("metric", metric),
        case=one_name("case", case),
        stop_words=stop_word_list(stop_words),
        mass=mass,
        penalty=penalty,
        return_plan=return_plan,
    )
    if moves is None:
        return distance
    return distance, [WordMove(*move) for move in moves]


def pairwise_wmd(
    X: Iterable[Document],
    Y: Iterable[Document] | None = None,
    *,
    vectors: VectorsLike = "builtin",
    normalization: str | None = "unit",
    stop_words: str | Iterable[str] | None = "smart",
    case: str = "lower",
    progress: Progress = False,
) -> NDArray[np.float64]:
    """All exact Word Mover's Distances between documents, on all threads.

    Parameters
    ----------
    X, Y : iterables of documents
        Without `Y` the distances among `X`, each pair computed once.
    vectors, normalization, stop_words, case
        As those of `wmd`.
    progress : bool or callable, default False
        True shows a bar (needs tqdm); a function is called with the number of distances done
        and their total.

    Returns
    -------
    distances : array of shape (len(X), len(Y))
        Each is that of `wmd`, so the matrix among `X` is symmetric to the last bit, and
        scikit-learn's `metric="precomputed"` takes it. A document without a known word is
        infinitely far from all others, with a warning.

    Examples
    --------
    >>> from wordmover import pairwise_wmd
    >>> texts = ["A cat sat on the mat", "A dog lay on the rug", "Stocks fell again"]
    >>> distances = pairwise_wmd(texts)
    >>> distances.shape, bool(distances[0, 1] < distances[0, 2])
    ((3, 3), True)
    """
    opened = open_vectors(vectors)
    words: dict[str, Any] = {
        "vectors": opened,
        "case": one_name("case", case),
        "stop_words": stop_word_list(stop_words),
    }
    first = _native.count_words(documents_of(X), **words)
    second = None if Y is None else _native.count_words(documents_of(Y), **words)
    n, m = len(first), len(first if second is None else second)
    total = n * (n - 1) // 2 if second is None else n * m
    with reporting(progress, total, "distances") as report:
        distances = _native.pairwise_distances(
            first,
            second,
            vectors=opened,
            normalization=name_or_none("normalization", normalization),
            progress=report,
        )
    if np.isinf(distances).any():
        message = "some documents have no word that the vectors know: their distances are infinite"
        warnings.warn(message, stacklevel=2)
    return distances
