"""A Word Mover's Embedding as MTEB's evaluator takes it.

>>> mteb.evaluate(MtebEncoder(embedding), tasks)  # doctest: +SKIP

Importing this module needs nothing of MTEB's, and no download.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from wordmover._cosines import cosines, cosines_of_pairs
from wordmover._embedding import WordMoversEmbedding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class MtebEncoder:
    """MTEB's `EncoderProtocol` over a fitted embedding. Similarities are cosines.

    Parameters
    ----------
    embedding : WordMoversEmbedding
        A fitted one, `WordMoversEmbedding.pretrained()` for example.
    name, revision : str
        What MTEB's results call it.

    Examples
    --------
    >>> import mteb  # doctest: +SKIP
    >>> mteb.evaluate(MtebEncoder(WordMoversEmbedding.pretrained()), tasks)  # doctest: +SKIP
    """

    def __init__(
        self, embedding: WordMoversEmbedding, *, name: str = "wordmover/wme", revision: str = "1"
    ) -> None:
        check_is_fitted(embedding)
        self._embedding = embedding
        self._name = name
        self._revision = revision

    def encode(
        self,
        inputs: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: Any = None,
        normalize_embeddings: bool = False,
        **kwargs: Any,
    ) -> NDArray[np.float32]:
        """Embeds the texts of MTEB's batches. Tasks, prompts and devices make no difference:
        the same text has the same embedding."""
        texts = [text for batch in inputs for text in batch["text"]]
        return self._embedding.encode(texts, normalize_embeddings=normalize_embeddings)

    def similarity(self, embeddings1: ArrayLike, embeddings2: ArrayLike) -> NDArray[np.float32]:
        """Cosines of all rows of the first with all of the second; of two single rows a
        single one."""
        similarities: NDArray[np.float32] = cosines(embeddings1, embeddings2)
        is_single = np.ndim(embeddings1) == np.ndim(embeddings2) == 1
        return similarities.reshape(()) if is_single else similarities

    def similarity_pairwise(
        self, embeddings1: ArrayLike, embeddings2: ArrayLike
    ) -> NDArray[np.float32]:
        """Cosines of the rows with the same number."""
        return cosines_of_pairs(embeddings1, embeddings2)

    @property
    def mteb_model_meta(self) -> Any:
        """What MTEB's results say of the model."""
        from mteb.models.model_meta import ModelMeta, ScoringFunction

        described = {
            "name": self._name,
            "revision": self._revision,
            "embed_dim": self._embedding._n_features_out,
            "languages": ["eng-Latn"],
            "framework": ["NumPy"],
            "similarity_fn_name": ScoringFunction.COSINE,
            "use_instructions": False,
        }
        return ModelMeta.create_empty(overwrites=described)
