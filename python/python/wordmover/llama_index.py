"""A Word Mover's Embedding as LlamaIndex takes it: `pip install wordmover[llama-index]`."""

from __future__ import annotations

from typing import Any

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr
except ImportError as error:
    needed = "wordmover.llama_index needs llama-index-core: pip install wordmover[llama-index]"
    raise ImportError(needed) from error

from wordmover._adapters import fitted, rows_of
from wordmover._embedding import WordMoversEmbedding


class WordMoversEmbeddings(BaseEmbedding):
    """LlamaIndex's `BaseEmbedding` over a fitted embedding.

    Parameters
    ----------
    embedding : WordMoversEmbedding or None, default None
        A fitted embedding; None is the built-in general-purpose model,
        `WordMoversEmbedding.pretrained()`.
    normalize : bool, default True
        Whether rows have length 1.
    **settings
        Those of `BaseEmbedding`, such as `embed_batch_size`.

    Examples
    --------
    >>> from llama_index.core import Settings  # doctest: +SKIP
    >>> from wordmover.llama_index import WordMoversEmbeddings  # doctest: +SKIP
    >>> Settings.embed_model = WordMoversEmbeddings()  # doctest: +SKIP
    """

    _embedding: WordMoversEmbedding = PrivateAttr()
    _normalize: bool = PrivateAttr()

    def __init__(
        self,
        embedding: WordMoversEmbedding | None = None,
        *,
        normalize: bool = True,
        **settings: Any,
    ) -> None:
        settings.setdefault("model_name", "wordmover")
        super().__init__(**settings)
        self._embedding = fitted(embedding)
        self._normalize = normalize

    @classmethod
    def class_name(cls) -> str:
        """What LlamaIndex calls it in files."""
        return "WordMoversEmbeddings"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return rows_of(self._embedding, texts, self._normalize)

    def _get_text_embedding(self, text: str) -> list[float]:
        return rows_of(self._embedding, [text], self._normalize)[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return rows_of(self._embedding, [query], self._normalize)[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)
