"""Word lists, and words of running text."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray


class DistillError(ValueError):
    """Something the caller can put right; its text is one sentence."""


_ABBREVIATION = r"(?:[^\W\d_]\.){2,}"
_NUMBER = r"\d+(?:[.,]\d+)*(?:[^\W\d_]+)?"
_WORD = r"[^\W_]+(?:'[^\W_]+)*"
_RUN = re.compile(rf"(?:{_ABBREVIATION}|{_NUMBER}|{_WORD})(?:-(?:{_NUMBER}|{_WORD}))*")
# It is no possessive here.
_NOT_POSSESSIVE = frozenset(
    f"{word}'s" for word in "it he she that what there let who where here how".split()
)
_LONGEST_RUN = 4
# The teacher was trained on sentences, and cuts texts that are much longer.
MAX_SENTENCE_WORDS = 40


def words_of(text: str, known: Container[str]) -> list[str]:
    """The words of a text, near enough to those of the library's tokenizer for learning.

    Lower case; abbreviations keep their dots (`u.s.`), numbers their separators, and
    contractions their apostrophe; a possessive `'s` is dropped; a hyphenated form stays
    together where it is `known`.
    """
    words: list[str] = []
    for run in _RUN.findall(text.lower().replace("’", "'")):
        parts = run.split("-")
        start = 0
        while start < len(parts):
            for end in range(min(len(parts), start + _LONGEST_RUN), start, -1):
                form = _without_possessive("-".join(parts[start:end]))
                if end == start + 1 or form in known:
                    words.append(form)
                    start = end
                    break
    return words


def _without_possessive(word: str) -> str:
    if word.endswith("'s") and word not in _NOT_POSSESSIVE:
        return word[:-2]
    return word


def sentences(lines: Iterable[str]) -> Iterator[str]:
    """The lines without blank ones, long ones cut."""
    for line in lines:
        parts = line.split()
        for start in range(0, len(parts), MAX_SENTENCE_WORDS):
            yield " ".join(parts[start : start + MAX_SENTENCE_WORDS])


def read_words(path: str) -> tuple[list[str], NDArray[np.float64] | None]:
    """A word a line, or a word, a tab and its count. Blank lines are skipped."""
    words: dict[str, int] = {}
    counts: list[float] = []
    for number, line in enumerate(read_lines(path), 1):
        line = line.rstrip("\r\n")
        if not line.strip():
            continue
        word, tab, count = line.partition("\t")
        if not word or any(c.isspace() for c in word):
            raise DistillError(f"{path}, line {number}: the word {word!r} contains white space")
        if word in words:
            raise DistillError(
                f"{path}, line {number}: duplicate word {word!r}, first on line {words[word]}"
            )
        words[word] = number
        if tab:
            counts.append(_count(count, path, number))
    if not words:
        raise DistillError(f"{path} holds no words")
    if counts and len(counts) != len(words):
        raise DistillError(f"{path}: some words have a count and some have none")
    return list(words), np.array(counts) if counts else None


def _count(text: str, path: str, number: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        raise DistillError(f"{path}, line {number}: {text!r} is no count")
    return value


def read_lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8") as file:
            yield from file
    except UnicodeDecodeError:
        raise DistillError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise DistillError(f"cannot read {path}: {error.strerror}") from None


def probabilities(
    words: list[str], counts: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Shares of the counts, a word never counted having half a count; without counts,
    Zipf's law for a list in order of frequency."""
    if counts is None or counts.sum() == 0:
        ranks = np.arange(len(words)) + 2.7
        weights: NDArray[np.float64] = np.log1p(1 / ranks)
    else:
        weights = np.maximum(counts, 0.5)
    return weights / weights.sum()
