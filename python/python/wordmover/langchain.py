"""A Word Mover's Embedding as LangChain takes it: `pip install wordmover[langchain]`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

try:
    from langchain_core.embeddings import Embeddings
except ImportError as error:
    needed = "wordmover.langchain needs langchain-core: pip install wordmover[langchain]"
    raise ImportError(needed) from error

from wordmover._adapters import fitted, rows_of
from wordmover._embedding import WordMoversEmbedding


class WordMoversEmbeddings(Embeddings):
    """LangChain's `Embeddings` over a fitted embedding.

    Parameters
    ----------
    embedding : WordMoversEmbedding or None, default None
        A fitted embedding; None is the built-in general-purpose model,
        `WordMoversEmbedding.pretrained()`.
    normalize : bool, default True
        Whether rows have length 1, as vector stores expect for cosines.

    Examples
    --------
    >>> from langchain_core.vectorstores import InMemoryVectorStore  # doctest: +SKIP
    >>> from wordmover.langchain import WordMoversEmbeddings  # doctest: +SKIP
    >>> store = InMemoryVectorStore.from_texts(texts, WordMoversEmbeddings())  # doctest: +SKIP
    >>> store.similarity_search("The president greets the press", k=3)  # doctest: +SKIP
    """

    def __init__(
        self, embedding: WordMoversEmbedding | None = None, *, normalize: bool = True
    ) -> None:
        self.embedding = fitted(embedding)
        self.normalize = normalize

    @classmethod
    def from_texts(cls, texts: Iterable[str], **parameters: Any) -> WordMoversEmbeddings:
        """Fits an embedding of these parameters on texts of your own."""
        return cls(WordMoversEmbedding(**parameters).fit(texts))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A row of numbers for each text."""
        return rows_of(self.embedding, texts, self.normalize)

    def embed_query(self, text: str) -> list[float]:
        """The row of one text, the same as among documents."""
        return rows_of(self.embedding, [text], self.normalize)[0]
