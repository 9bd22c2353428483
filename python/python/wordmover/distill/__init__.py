"""Word vectors distilled from a sentence transformer.

>>> distill(SentenceTransformerTeacher("all-MiniLM-L6-v2"), words)  # doctest: +SKIP

The teacher encodes every word by itself. With text, the vectors are then learnt: the
teacher encodes its sentences, and each word's vector is moved so that the SIF-weighted
average of a sentence's words comes near the teacher's vector of the sentence (ridge
regression around the start). Word pieces are learnt in the same problem, a share of the
occurrences of rare words standing as their pieces, so that the mean of its pieces is a
good vector for a word that is not in the list.

`python -m wordmover.distill` is the program. Needs the extra `wordmover[distill]` for
`SentenceTransformerTeacher`, and nothing more than NumPy and SciPy for the rest.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ._algebra import averages, mean_cosine, principal_axes, ridge, scaled_prior
from ._file import write_vectors
from ._teacher import SentenceTransformerTeacher, Teacher
from ._words import DistillError, probabilities, read_lines, read_words, sentences, words_of

__all__ = [
    "DistillError",
    "Distilled",
    "SentenceTransformerTeacher",
    "Teacher",
    "distill",
    "read_lines",
    "read_words",
]

Matrix = NDArray[np.float32]
# Called with what is being done, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

# The weight of a word is A / (A + p), p its probability.
SIF_A = 1e-3
# The share of their occurrences in which words this rare stand as their pieces.
AS_PIECES = ((1e-5, 0.3), (1e-4, 0.1), (1.0, 0.02))
# One sentence in so many is kept to measure by.
HELD_OUT = 50
CHUNK = 512


@dataclasses.dataclass(frozen=True)
class Distilled:
    """Words and vectors, and the pieces that unknown words are composed of."""

    words: list[str]
    vectors: Matrix
    probabilities: NDArray[np.float64]
    pieces: list[str]
    piece_vectors: Matrix
    # The words that are pieces, too.
    piece_words: list[int]
    # Mean cosine between the averages of words and the teacher, on sentences not learnt
    # from, before and after learning; none without text.
    cosines: tuple[float, float] | None

    def save(self, path: str, precision: str = "int8") -> None:
        """Writes the word-vector file."""
        pieces = (self.pieces, self.piece_vectors, self.piece_words) if self.pieces else None
        write_vectors(path, self.words, self.vectors, precision, self.probabilities, pieces)


def distill(
    teacher: Teacher,
    words: list[str],
    *,
    counts: NDArray[np.float64] | None = None,
    text: Iterable[str] | None = None,
    dim: int = 160,
    strength: float = 0.1,
    with_pieces: bool = True,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> Distilled:
    """Distils vectors of `words`, most frequent first unless there are `counts`.

    `text` is lines to learn from; `strength` holds the learnt vectors near their start.
    Vectors have `dim` components, or as many as the teacher if that is less.
    """
    if not words:
        raise DistillError("there are no words to distil")
    if dim < 1:
        raise DistillError(f"the dimension must be at least 1, not {dim}")
    if not 0 < strength < float("inf"):
        raise DistillError(f"the strength must be a positive number, not {strength}")
    start = _encode(teacher, words, "words", progress)
    if not np.isfinite(start).all():
        raise DistillError("the teacher gave a vector that is not finite")
    start -= start.mean(axis=0)
    index = {word: i for i, word in enumerate(words)}
    pieces = teacher.pieces if with_pieces else []
    if pieces:
        own = teacher.encode_pieces()
        own -= own.mean(axis=0)
        piece_words = [index[piece] for piece in pieces if piece in index]
        kept = [i for i, piece in enumerate(pieces) if piece not in index]
        pieces, start = [pieces[i] for i in kept], np.vstack([start, own[kept]])
    else:
        piece_words = []
    cosines = None
    if text is None:
        p, learnt = probabilities(words, counts), start
    else:
        column = {**index, **{piece: len(words) + i for i, piece in enumerate(pieces)}}
        p, learnt, cosines = _learn(
            teacher, words, column, counts, list(sentences(text)), start, strength, seed,
            bool(pieces or piece_words), progress,
        )  # fmt: skip
    n = len(words)
    mean, axes = principal_axes(learnt[:n], np.sqrt(p), dim)
    reduced = np.asarray((learnt - mean) @ axes, np.float32)
    return Distilled(words, reduced[:n], p, pieces, reduced[n:], sorted(piece_words), cosines)


def _learn(
    teacher: Teacher,
    words: list[str],
    column: dict[str, int],
    counts: NDArray[np.float64] | None,
    lines: list[str],
    start: Matrix,
    strength: float,
    seed: int,
    has_pieces: bool,
    progress: Progress,
) -> tuple[NDArray[np.float64], Matrix, tuple[float, float]]:
    index = dict(zip(words, range(len(words))))
    tokens = [words_of(line, index) for line in lines]
    if counts is None:
        seen = Counter(word for line in tokens for word in line)
        counts = np.array([seen[word] for word in words], np.float64)
    p = probabilities(words, counts)
    weights = SIF_A / (SIF_A + p)
    rng = np.random.default_rng(seed)
    shares = np.select([p < limit for limit, _ in AS_PIECES], [share for _, share in AS_PIECES])
    cuts: dict[str, list[int]] = {}

    def columns(word: str) -> list[int]:
        i = index.get(word)
        if i is not None and not (has_pieces and rng.random() < shares[i]):
            return [i]
        if not has_pieces:
            return []
        if word not in cuts:
            cuts[word] = [column[piece] for piece in teacher.cut(word)]
        return cuts[word] or ([] if i is None else [i])

    bags, kept = [], []
    for line, text in zip(tokens, lines):
        weighed = [(columns(w), weights[index[w]] if w in index else 1.0) for w in line]
        bag = [(ids, float(weight)) for ids, weight in weighed if ids]
        if len(bag) >= 2:
            bags.append(bag)
            kept.append(text)
    if len(kept) < 2 * HELD_OUT:
        raise DistillError(
            f"the text has {len(kept)} sentences with two known words or more; "
            f"learning needs at least {2 * HELD_OUT}"
        )
    targets = _encode(teacher, kept, "sentences", progress)
    held = np.arange(len(kept)) % HELD_OUT == HELD_OUT - 1
    targets -= targets[~held].mean(axis=0)
    design = averages(bags, len(start))
    train, test = design[~held], design[held]
    prior = scaled_prior(train, targets[~held], start)
    steps = 60
    learnt = ridge(
        train, targets[~held], prior, strength, steps,
        lambda done: progress("learning", done, steps),
    )  # fmt: skip
    before, after = (mean_cosine(test @ w, targets[held]) for w in (prior, learnt))
    return p, learnt, (before, after)


def _encode(teacher: Teacher, texts: list[str], what: str, progress: Progress) -> Matrix:
    """Encodes texts of like lengths together, which pads them least."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    out: Matrix | None = None
    for at in range(0, len(texts), CHUNK):
        chosen = order[at : at + CHUNK]
        rows = teacher.encode([texts[i] for i in chosen])
        if out is None:
            out = np.empty((len(texts), rows.shape[1]), np.float32)
        out[chosen] = rows
        progress(f"encoding {what}", min(at + CHUNK, len(texts)), len(texts))
    assert out is not None
    return out
