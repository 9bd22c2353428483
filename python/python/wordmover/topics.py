"""A Word Mover's Embedding as BERTopic and KeyBERT take it.

Both need nothing of PyTorch's then: `pip install --no-deps bertopic` or `keybert`, and what
else they import (python/test-topics has the list). examples/topic_models.py uses both.
"""

from __future__ import annotations

from typing import Any

from wordmover._adapters import fitted
from wordmover._embedding import WordMoversEmbedding


def bertopic_backend(embedding: WordMoversEmbedding | None = None) -> Any:
    """BERTopic's `embedding_model`, a `bertopic.backend.BaseEmbedder`.

    Parameters
    ----------
    embedding : WordMoversEmbedding or None, default None
        A fitted embedding; None is the built-in general-purpose model.

    Examples
    --------
    >>> from bertopic import BERTopic  # doctest: +SKIP
    >>> from wordmover.topics import bertopic_backend  # doctest: +SKIP
    >>> model = BERTopic(embedding_model=bertopic_backend())  # doctest: +SKIP
    >>> topics, _ = model.fit_transform(texts)  # doctest: +SKIP
    """
    from bertopic.backend import BaseEmbedder

    return _backend(BaseEmbedder, fitted(embedding))


def keybert_backend(embedding: WordMoversEmbedding | None = None) -> Any:
    """KeyBERT's `model`, a `keybert.backend.BaseEmbedder`.

    Parameters
    ----------
    embedding : WordMoversEmbedding or None, default None
        A fitted embedding; None is the built-in general-purpose model.

    Examples
    --------
    >>> from keybert import KeyBERT  # doctest: +SKIP
    >>> from wordmover.topics import keybert_backend  # doctest: +SKIP
    >>> KeyBERT(model=keybert_backend()).extract_keywords(text)  # doctest: +SKIP
    """
    from keybert.backend import BaseEmbedder

    return _backend(BaseEmbedder, fitted(embedding))


def _backend(base: Any, embedding: WordMoversEmbedding) -> Any:
    """An object of their base class, whose `embed` is all that they call."""

    class Backend(base):
        def embed(self, documents: Any, verbose: bool = False) -> Any:
            return embedding.encode(list(documents), show_progress_bar=verbose)

    return Backend(embedding_model=embedding)
