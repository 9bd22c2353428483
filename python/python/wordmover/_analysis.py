"""From texts to words as scikit-learn's vectorizers name the steps.

The native side cuts texts into words and drops stop words, faster and without any of this.
What is here happens in Python, only where one of the parameters asks for it: then documents
reach the native side as lists of words, which it takes as they are.
"""

from __future__ import annotations

import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from wordmover._documents import documents_of
from wordmover._native import WordVectors, without_stop_words, words_of
from wordmover._parameters import one_name, stop_word_list, whole_number

#: Between the words of a phrase, in tables of word vectors.
JOINTS = ("_", " ", "-")

#: Parameters that need this module, and the values that do not.
UNUSED: dict[str, Any] = {
    "preprocessor": None,
    "tokenizer": None,
    "token_pattern": None,
    "ngram_range": (1, 1),
    "min_df": 1,
    "max_df": 1.0,
    "max_features": None,
    "vocabulary": None,
}


def case_of(case: str, lowercase: bool | None) -> str:
    """What `case` and scikit-learn's name for it come to."""
    if lowercase is None:
        return one_name("case", case)
    if not isinstance(lowercase, bool):
        raise TypeError(f"lowercase is {lowercase!r}: it must be True, False or None")
    return "lower" if lowercase else "keep"


class Analysis:
    """What an estimator's parameters say about words."""

    def __init__(self, estimator: Any, vectors: WordVectors) -> None:
        self.vectors = vectors
        self.case = case_of(estimator.case, estimator.lowercase)
        self.stop_words = stop_word_list(estimator.stop_words)
        self.preprocessor = _function("preprocessor", estimator.preprocessor)
        self.tokenizer = _function("tokenizer", estimator.tokenizer)
        if estimator.token_pattern is not None:
            if self.tokenizer is not None:
                raise ValueError("give tokenizer or token_pattern, not both")
            self.tokenizer = _pattern(estimator.token_pattern)
        self.longest = _longest_phrase(estimator.ngram_range)
        self.min_df = _frequency("min_df", estimator.min_df)
        self.max_df = _frequency("max_df", estimator.max_df)
        self.max_features = estimator.max_features
        if self.max_features is not None:
            whole_number("max_features", self.max_features, least=1)
        self.vocabulary = _words("vocabulary", estimator.vocabulary)

    def fit(self, documents: Iterable[Any]) -> list[list[str]]:
        """The words of a corpus, after it was settled which to keep."""
        words = self.words(documents)
        if self.vocabulary is None and not self._keeps_all():
            self.vocabulary = self._choose(words)
        return self._kept(words)

    def __call__(self, documents: Iterable[Any]) -> list[list[str]]:
        """The words of other documents."""
        return self._kept(self.words(documents))

    def words(self, documents: Iterable[Any]) -> list[list[str]]:
        """The words of each document, whatever the corpus says of them."""
        read = documents_of(documents)
        if self.preprocessor is not None or self.tokenizer is not None:
            if isinstance(read, (str, bytes)):
                raise TypeError("expected a list of documents, found one: put it in a list")
            read = [self._read(document) for document in read]
        # Lists of words are taken as they are.
        options: dict[str, Any] = {"case": self.case, "stop_words": self.stop_words}
        words = words_of(read, vectors=self.vectors, **options)
        if self.longest > 1:
            words = [self._phrases(document) for document in words]
        return words

    def _read(self, document: Any) -> Any:
        if not isinstance(document, str):
            return document
        text = document if self.preprocessor is None else self.preprocessor(document)
        if self.tokenizer is None:
            return text
        found = list(self.tokenizer(text.lower() if self.case == "lower" else text))
        return without_stop_words(found, stop_words=self.stop_words)

    def _phrases(self, words: list[str]) -> list[str]:
        """Neighbouring words that have one vector together, the longest first."""
        found, i = [], 0
        while i < len(words):
            step = 1
            for n in range(min(self.longest, len(words) - i), 1, -1):
                joined = (joint.join(words[i : i + n]) for joint in JOINTS)
                phrase = next((phrase for phrase in joined if phrase in self.vectors), None)
                if phrase is not None:
                    found.append(phrase)
                    step = n
                    break
            else:
                found.append(words[i])
            i += step
        return found

    def _keeps_all(self) -> bool:
        return _is(self.min_df, 1) and _is(self.max_df, 1.0) and self.max_features is None

    def _choose(self, documents: list[list[str]]) -> frozenset[str]:
        counts: Counter[str] = Counter()
        in_documents: Counter[str] = Counter()
        for words in documents:
            counts.update(words)
            in_documents.update(set(words))
        least = _documents("min_df", self.min_df, len(documents))
        most = _documents("max_df", self.max_df, len(documents))
        if most < least:
            raise ValueError("max_df stands for fewer documents than min_df")
        kept = [word for word, n in in_documents.items() if least <= n <= most]
        if self.max_features is not None:
            kept = sorted(kept, key=lambda word: (-counts[word], word))[: self.max_features]
        if not kept:
            raise ValueError("no word remains: lower min_df or raise max_df")
        return frozenset(kept)

    def _kept(self, documents: list[list[str]]) -> list[list[str]]:
        if self.vocabulary is None:
            return documents
        kept = self.vocabulary
        return [[word for word in words if word in kept] for words in documents]


def asked_for(estimator: Any) -> list[str]:
    """The parameters that need an analysis in Python."""
    return [name for name, unused in UNUSED.items() if not _is(getattr(estimator, name), unused)]


def analysis_of(estimator: Any, vectors: WordVectors) -> Analysis | None:
    """The analysis that parameters ask for; None where the native side does it all."""
    return Analysis(estimator, vectors) if asked_for(estimator) else None


def _is(value: Any, other: Any) -> bool:
    """Whether two values are the same, where 1 document is not a share of 1.0."""
    return type(value) is type(other) and value == other


def _function(name: str, value: Any) -> Callable[[str], Any] | None:
    if value is not None and not callable(value):
        raise TypeError(f"{name} is {value!r}: it must be a function of a text, or None")
    return value


def _pattern(pattern: Any) -> Callable[[str], list[str]]:
    if not isinstance(pattern, str):
        raise TypeError(f"token_pattern is {pattern!r}: it must be a regular expression or None")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"token_pattern is no regular expression: {error}") from error
    if compiled.groups > 1:
        raise ValueError("token_pattern has several groups: it may have one, which is the word")
    return compiled.findall


def _longest_phrase(ngram_range: Any) -> int:
    try:
        shortest, longest = ngram_range
    except (TypeError, ValueError):
        raise TypeError(f"ngram_range is {ngram_range!r}: it must be a pair (1, n)") from None
    if shortest != 1:
        raise ValueError(f"ngram_range is {ngram_range!r}: phrases begin with single words, (1, n)")
    return whole_number("ngram_range", longest, least=1)


def _frequency(name: str, value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}: it must be a number of documents or a share of them")
    if isinstance(value, numbers.Integral):
        return whole_number(name, value, least=1)
    share = float(value)
    if not 0 <= share <= 1:
        raise ValueError(f"{name} is {share}: a share of documents is from 0.0 to 1.0")
    return share


def _documents(name: str, value: int | float, n_documents: int) -> float:
    return value * n_documents if isinstance(value, float) else value


def _words(name: str, value: Any) -> frozenset[str] | None:
    if value is None:
        return None
    if isinstance(value, (str, bytes, Iterator)) or not isinstance(value, (Iterable, Mapping)):
        raise TypeError(f"{name} is {type(value).__name__}: it must be a list of str or None")
    words = frozenset(value)
    if not words:
        raise ValueError(f"{name} is empty")
    if not all(isinstance(word, str) for word in words):
        raise TypeError(f"{name} holds something else than str")
    return words
