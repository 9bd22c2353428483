"""What adapters to other packages share."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from wordmover._embedding import WordMoversEmbedding


def fitted(embedding: WordMoversEmbedding | None) -> WordMoversEmbedding:
    """The embedding to use: a fitted one, or the built-in model."""
    if embedding is None:
        return WordMoversEmbedding.pretrained()
    if not isinstance(embedding, WordMoversEmbedding):
        found = type(embedding).__name__
        raise TypeError(f"embedding is {found}: it must be a fitted WordMoversEmbedding or None")
    check_is_fitted(embedding)
    return embedding


def rows_of(
    embedding: WordMoversEmbedding, texts: list[str], normalize: bool
) -> list[list[float]]:
    """Rows of plain numbers."""
    rows: list[list[float]] = embedding.encode(list(texts), normalize_embeddings=normalize).tolist()
    return rows
