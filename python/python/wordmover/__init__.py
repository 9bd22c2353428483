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
from wordmover._distance import WordMove, pairwise_wmd, wmd
from wordmover._embedding import WordMoversEmbedding
from wordmover._neighbors import KNeighborsWMD
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
    "KNeighborsWMD",
    "LinearSVM",
    "ModelError",
    "PartialPlan",
    "TextClassifier",
    "WordMove",
    "WordMoversEmbedding",
    "WordVectors",
    "emd",
    "emd2",
    "get_num_threads",
    "pairwise_wmd",
    "partial_transport",
    "set_num_threads",
    "transport",
    "transport_batch",
    "wmd",
]
