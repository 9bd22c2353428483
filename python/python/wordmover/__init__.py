"""Word Mover's Embedding and exact Word Mover's Distance.

>>> from wordmover import WordMoversEmbedding
>>> texts = ["Obama speaks to the media in Illinois", "The band gave a concert in Japan"]
>>> WordMoversEmbedding(n_features=64).fit_transform(texts).shape
(2, 64)

The numbers are those of the program `wordmover`, bit for bit, at any number of threads.
"""

from importlib.metadata import version as _version

try:
    import numpy as _numpy  # noqa: F401

    from wordmover._native import ModelError, WordVectors, get_num_threads, set_num_threads
except ImportError as _error:
    _reasons = ("more than once per process", "subinterpreter")
    if any(_reason in str(_error) for _reason in _reasons):
        raise ImportError(
            "wordmover cannot be used in a subinterpreter: like NumPy, it belongs to one "
            "interpreter of a process"
        ) from _error
    raise

from wordmover._classifier import TextClassifier
from wordmover._d2ke import D2KE, pairwise, sample_parts
from wordmover._distance import WordMove, pairwise_wmd, wmd
from wordmover._embedding import WordMoversEmbedding
from wordmover._index import Hit, WmdIndex
from wordmover._kernel import KernelMatrix, kernel_matrix, word_movers_kernel
from wordmover._neighbors import KNeighborsWMD
from wordmover._points import WassersteinEmbedding, wasserstein_distances
from wordmover._svm import LinearSVM
from wordmover._transport import (
    PartialPlan,
    emd,
    emd2,
    partial_transport,
    transport,
    transport_batch,
)

__version__ = _version("wordmover")

__all__ = [
    "D2KE",
    "Hit",
    "KNeighborsWMD",
    "KernelMatrix",
    "LinearSVM",
    "ModelError",
    "PartialPlan",
    "TextClassifier",
    "WassersteinEmbedding",
    "WmdIndex",
    "WordMove",
    "WordMoversEmbedding",
    "WordVectors",
    "emd",
    "emd2",
    "get_num_threads",
    "kernel_matrix",
    "pairwise",
    "pairwise_wmd",
    "partial_transport",
    "sample_parts",
    "set_num_threads",
    "transport",
    "transport_batch",
    "wasserstein_distances",
    "wmd",
    "word_movers_kernel",
]
