"""What several estimators do with their parameters."""

from __future__ import annotations

import functools
import numbers
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from wordmover._native import WordVectors

#: A text, or the words of one.
Document: TypeAlias = str | Sequence[str]

#: "builtin", a file, vectors that are open already, gensim's, or a dict of them by word.
VectorsLike: TypeAlias = "str | os.PathLike[str] | WordVectors | Mapping[str, Any] | KeyedVectors"


class KeyedVectors(Protocol):
    """What is needed of gensim's class of that name."""

    @property
    def index_to_key(self) -> list[str]: ...
    @property
    def vectors(self) -> Any: ...

#: False; True for a bar of tqdm's; or a function of what is done and what there is to do.
Progress: TypeAlias = bool | Callable[[int, int], object]


def open_vectors(vectors: VectorsLike) -> WordVectors:
    """The vectors a parameter names. Of files, the one opened last stays open: a grid
    search fits many estimators on the same."""
    if isinstance(vectors, WordVectors):
        return vectors
    if isinstance(vectors, str) and vectors == "builtin":
        return _builtin()
    if isinstance(vectors, (str, os.PathLike)):
        path = os.path.abspath(vectors)
        status = os.stat(path)
        return _load(path, status.st_mtime_ns, status.st_size)
    if isinstance(vectors, Mapping):
        return WordVectors.from_arrays(list(vectors), np.array(list(vectors.values())))
    if hasattr(vectors, "index_to_key") or hasattr(vectors, "wv"):
        return WordVectors.from_gensim(vectors)
    raise TypeError(
        f"vectors is {type(vectors).__name__}: it must be 'builtin', a path, WordVectors, "
        "KeyedVectors or a dict"
    )


@functools.lru_cache(maxsize=1)
def _builtin() -> WordVectors:
    return WordVectors.builtin()


@functools.lru_cache(maxsize=1)
def _load(path: str, _modified: int, _size: int) -> WordVectors:
    return WordVectors.load(path)


def whole_number(name: str, value: Any, *, least: int) -> int:
    """A count, as any kind of integer."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}: it must be a whole number")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} is {number}: it must be at least {least}")
    if number >= 2**63:
        raise ValueError(f"{name} is {number}: it must be less than 2**63")
    return number


def one_name(name: str, value: Any) -> str:
    """A choice by name; which names there are, the native side knows."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: it must be a str")
    return value


def name_or_none(name: str, value: Any) -> str | None:
    """A choice by name, of which None is one."""
    if not (value is None or isinstance(value, str)):
        raise TypeError(f"{name} is {value!r}: it must be a str or None")
    return value


def stop_word_list(stop_words: Any) -> str | list[str] | None:
    """Stop words to use again and again, which rules out iterators."""
    if isinstance(stop_words, str) and stop_words == "english":
        return sorted(ENGLISH_STOP_WORDS)
    if stop_words is None or isinstance(stop_words, str):
        return stop_words
    if not isinstance(stop_words, Iterable) or isinstance(stop_words, (Iterator, bytes)):
        found = type(stop_words).__name__
        names = '"smart", "english", None or a list of str'
        raise TypeError(f"stop_words is {found}: it must be {names}")
    return list(stop_words)


def seed_of(random_state: Any) -> int:
    """A whole number is the seed itself, as the program's --seed. None and NumPy's
    generators give one, as everywhere in scikit-learn."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        seed = int(random_state)
        if not 0 <= seed < 2**64:
            raise ValueError(f"random_state is {seed}: it must be from 0 to 2**64 - 1")
        return seed
    if random_state is None:
        return int(np.random.mtrand._rand.randint(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    raise TypeError(
        f"random_state is {random_state!r}: it must be a whole number, None, "
        "a RandomState or a Generator"
    )


#: Keywords of sentence-transformers' `encode` and the values that change nothing here.
OPTIONS: dict[str, tuple[Any, ...]] = {
    "prompt_name": (None,),
    "prompt": (None,),
    "output_value": ("sentence_embedding",),
    "precision": ("float32",),
    "device": (None, "cpu"),
    "truncate_dim": (None,),
    "pool": (None,),
    "chunk_size": (None,),
    "task": (None,),
}


def check_options(options: Mapping[str, Any]) -> None:
    """Refuses keywords of sentence-transformers that ask for something else than is done."""
    for name, value in options.items():
        if name not in OPTIONS:
            raise TypeError(f"encode() got an unexpected keyword argument {name!r}")
        accepted = OPTIONS[name]
        if not any(value is same or value == same for same in accepted):
            shown = " or ".join(repr(same) for same in accepted)
            raise ValueError(f"{name} is {value!r}: this embedding takes {shown} only")


@contextmanager
def reporting(
    progress: Progress, total: int, label: str
) -> Iterator[Callable[[int], object] | None]:
    """What the native side is to call with the work done so far. `total` is an estimate: a small
    corpus is fitted with background documents beside its own."""
    if progress is False:
        yield None
    elif progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            needed = "progress=True needs tqdm: pip install wordmover[progress]"
            raise ImportError(needed) from error
        with tqdm(total=total, desc=label, unit_scale=True) as bar:
            yield lambda done: bar.update(min(done, total) - bar.n)
    elif callable(progress):
        report = progress
        yield lambda done: report(min(done, total), total)
    else:
        raise TypeError(f"progress is {progress!r}: it must be a bool or a function")
