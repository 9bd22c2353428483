"""The sentence transformer whose sentence vectors are learnt from."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._words import DistillError

Matrix = NDArray[np.float32]


class Teacher(Protocol):
    """What `distill` asks of a teacher."""

    def encode(self, texts: list[str]) -> Matrix:
        """One unit-length row a text."""

    @property
    def pieces(self) -> list[str]:
        """Its word pieces, those inside a word beginning with `##`; none if it has others."""

    def encode_pieces(self) -> Matrix:
        """One row a piece."""

    def cut(self, word: str) -> list[str]:
        """The pieces of a word."""


class SentenceTransformerTeacher:
    """A model of the package sentence-transformers."""

    def __init__(self, name: str, device: str | None = None, batch_size: int = 256) -> None:
        is_local = os.path.exists(name)
        if is_local:
            _check_folder(name)
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise DistillError(
                "distilling needs sentence-transformers: pip install 'wordmover[distill]'"
            ) from None
        try:
            self._model: Any = SentenceTransformer(
                name, device=device, local_files_only=is_local
            )
        except Exception as error:
            reason = str(error).strip().split("\n")[0]
            raise DistillError(f"cannot load the sentence transformer {name}: {reason}") from error
        self._model.eval()
        self._batch_size = batch_size
        tokenizer = getattr(self._model, "tokenizer", None)
        self._tokenizer = getattr(tokenizer, "backend_tokenizer", None)
        self._piece_ids = self._find_pieces()

    def encode(self, texts: list[str]) -> Matrix:
        rows = self._model.encode(
            texts,
            batch_size=self._batch_size,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(rows, np.float32)

    @property
    def pieces(self) -> list[str]:
        return list(self._piece_ids)

    def encode_pieces(self) -> Matrix:
        import torch

        tokenizer, rows = self._model.tokenizer, []
        ids = list(self._piece_ids.values())
        for start in range(0, len(ids), 1024):
            batch = [
                [tokenizer.cls_token_id, piece, tokenizer.sep_token_id]
                for piece in ids[start : start + 1024]
            ]
            features = {"input_ids": torch.tensor(batch, device=self._model.device)}
            features["attention_mask"] = torch.ones_like(features["input_ids"])
            with torch.no_grad():
                rows.append(self._model(features)["sentence_embedding"].float().cpu().numpy())
        found = np.vstack(rows)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def cut(self, word: str) -> list[str]:
        assert self._tokenizer is not None
        tokens = self._tokenizer.encode(word, add_special_tokens=False).tokens
        return [token for token in tokens if token in self._piece_ids]

    def _find_pieces(self) -> dict[str, int]:
        """Pieces and their ids, if the tokenizer cuts as docs/vectors-format.md says."""
        if self._tokenizer is None or type(self._tokenizer.model).__name__ != "WordPiece":
            return {}
        plain, accented = (self._tokenizer.encode(word).tokens for word in ("cafe", "CAFÉ"))
        if plain != accented:
            return {}
        special = set(self._model.tokenizer.all_special_tokens)
        vocabulary = sorted(self._tokenizer.get_vocab().items(), key=lambda item: item[1])
        return {
            piece: index
            for piece, index in vocabulary
            if piece not in special and not piece.startswith("[unused")
        }


def _check_folder(name: str) -> None:
    """Refuses what is no teacher before anything large is imported."""
    if not os.path.isfile(os.path.join(name, "config.json")):
        raise DistillError(f"{name} is no sentence transformer: it has no file config.json")
    if not any(file.endswith((".safetensors", ".bin")) for file in os.listdir(name)):
        raise DistillError(f"{name} is no sentence transformer: it has no weights")
