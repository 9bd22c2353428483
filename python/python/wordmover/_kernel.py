"""The Word Mover's Kernel between documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from wordmover._embedding import WordMoversEmbedding
from wordmover._native import document_kernel
from wordmover._parameters import Document

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KernelMatrix(NamedTuple):
    """Values of the kernel, their standard errors (0 where exact), and whether they are exact.

    Parameters
    ----------
    values, errors : array of shape (n_first, n_second)
    is_exact : bool
    gamma : float

    Examples
    --------
    >>> from wordmover import word_movers_kernel
    >>> texts = ["Obama speaks to the media", "The band gave a concert"]
    >>> kernel = word_movers_kernel(texts, n_features=64, gamma=1.0)
    >>> kernel.values.shape, kernel.is_exact
    ((2, 2), False)
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    is_exact: bool
    gamma: float

    def soft_minimum(self) -> NDArray[np.float64]:
        """-ln(k) / gamma: the length of the way from x to y over a random document, softly the
        least. Never below the Word Mover's Distance where the kernel is exact."""
        return -np.log(self.values) / self.gamma


def word_movers_kernel(
    X: Sequence[Document],
    Y: Sequence[Document] | None = None,
    *,
    embedding: WordMoversEmbedding | None = None,
    **parameters: Any,
) -> KernelMatrix:
    """The kernel of all documents of `X` with those of `Y` (or of `X` again).

    k(x, y) is the mean of exp(-gamma * (WMD(x, omega) + WMD(y, omega))) over random documents
    omega. It is exact, by enumeration, where random words are words of the corpus
    (`random_words="vocabulary"`) and there are at most 16,384 random documents; otherwise it is
    the mean over those of the embedding, and has a standard error.

    Parameters
    ----------
    X, Y : sequence of documents
        As those of WordMoversEmbedding; without `Y`, `X` again.
    embedding : WordMoversEmbedding or None, default None
        A fitted one, whose gamma and random documents are taken. Without it one is fitted on
        `X`.
    **parameters
        Of WordMoversEmbedding, for that one.

    Returns
    -------
    kernel : KernelMatrix

    Examples
    --------
    >>> from wordmover import word_movers_kernel
    >>> texts = ["Obama speaks to the media", "The president greets the press", "A band plays"]
    >>> k = word_movers_kernel(texts, n_features=256, gamma=1.0).values
    >>> bool(k[0, 1] > k[0, 2])
    True
    """
    if embedding is None:
        raw = {"post_processing": "raw", "components": "keep", **parameters}
        embedding = WordMoversEmbedding(**raw).fit(X)
    elif parameters:
        raise TypeError("parameters cannot be given with a fitted embedding")
    check_is_fitted(embedding)
    model = embedding._model
    first = model.bags(model.count_words(X))
    second = first if Y is None else model.bags(model.count_words(Y))
    return KernelMatrix(*document_kernel(model, first, second))


def kernel_matrix(
    X: Sequence[Document],
    Y: Sequence[Document] | None = None,
    *,
    embedding: WordMoversEmbedding | None = None,
    **parameters: Any,
) -> NDArray[np.float64]:
    """The values of `word_movers_kernel`, as `SVC(kernel="precomputed")` takes them.

    Rows are documents to fit on or to predict, columns those that were fitted on.

    Parameters
    ----------
    X, Y, embedding, **parameters
        As those of word_movers_kernel.

    Returns
    -------
    values : array of shape (len(X), len(Y))

    Examples
    --------
    >>> from wordmover import kernel_matrix
    >>> kernel_matrix(["A cat sat on the mat", "A band plays"], n_features=64, gamma=1.0).shape
    (2, 2)
    """
    return word_movers_kernel(X, Y, embedding=embedding, **parameters).values
