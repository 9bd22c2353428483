"""A search index of texts that is kept in a folder."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, NamedTuple, overload

from sklearn.base import clone

from wordmover._analysis import asked_for
from wordmover._documents import documents_of
from wordmover._embedding import WordMoversEmbedding
from wordmover._native import SearchIndex
from wordmover._parameters import VectorsLike, one_name, open_vectors, whole_number

#: Distinct words of a text that count, if nobody says otherwise: all of them.
ALL_WORDS = 1 << 24


class Hit(NamedTuple):
    """A text that was found; what the search did not need is None.

    Attributes
    ----------
    id : str or int
        Its id, or its number where texts have no ids.
    text : str
    score : float
        What hits are ordered by, greatest first: minus the distance, or with "hybrid" the sum
        of `word_score`, `cosine`, four times `feedback`, and three times the share of the mean
        distance of the texts compared by which `distance` is below it.
    distance : float or None
        The exact Word Mover's Distance.
    cosine : float or None
        The cosine of the embeddings of query and text.
    word_score : float or None
        Evidence of common words (BM25), 1 for the mean of the ten best texts after the first.
    feedback : float or None
        The cosine of its embedding and the mean of those of the five best texts.
    words : list of str
        Words of the query that the text has.
    """

    id: str | int
    text: str
    score: float
    distance: float | None
    cosine: float | None
    word_score: float | None
    feedback: float | None
    words: list[str]


class WmdIndex:
    """A search index of texts: by Word Mover's Distance, by embeddings, or by words,
    embeddings and distances together.

    It is the index of `wordmover index build`, a folder of files that are mapped into memory.
    Until it is saved it is in a temporary folder, which goes when it goes. From then on, and
    after `load`, `add` and `remove` change its folder at once and as a whole; the program and
    other processes may search it meanwhile, and one at a time may change it.

    Parameters
    ----------
    texts : iterable of str
        The texts, which are kept in the index.
    ids : iterable of str or None, default None
        What they are known by; None gives them numbers from 0 on.
    embedding : WordMoversEmbedding or None, default None
        What embeds texts, and how texts become words and words weights. One that is fitted is
        used as it is; others are fitted on the texts. None is `WordMoversEmbedding()`.
    max_words : int or None, default None
        Distinct words of a text that count, the most frequent. None: all of them, or as many as
        the `embedding` that is given says.

    Attributes
    ----------
    path : str or None
        Its folder; None until it is saved.
    embedding : WordMoversEmbedding
        What embeds texts; it stays when texts are added.

    Examples
    --------
    >>> import os, tempfile
    >>> from wordmover import WmdIndex
    >>> index = WmdIndex(["The band gave a concert in Japan", "Obama speaks to the media"],
    ...                  ids=["music", "politics"])
    >>> [hit.id for hit in index.search("The president greets the press", k=1)]
    ['politics']
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index.save(os.path.join(folder, "docs.wmi"))
    ...     index.add(["Shares fall in Tokyo"], ids=["markets"])
    ...     again = WmdIndex.load(os.path.join(folder, "docs.wmi"))
    ...     again.search("Losses at the stock exchange", k=1, by="wmd")[0].text
    'Shares fall in Tokyo'
    """

    def __init__(
        self,
        texts: Iterable[str],
        ids: Iterable[str] | None = None,
        *,
        embedding: WordMoversEmbedding | None = None,
        max_words: int | None = None,
    ) -> None:
        texts, ids = _listed(documents_of(texts)), _named(ids)
        if embedding is None:
            n_words, model = ALL_WORDS, WordMoversEmbedding()
        elif isinstance(embedding, WordMoversEmbedding):
            n_words = whole_number("max_words", embedding.max_words, least=1)
            model = embedding
        else:
            found = type(embedding).__name__
            raise TypeError(f"embedding is {found}: it must be a WordMoversEmbedding or None")
        if max_words is not None:
            n_words = whole_number("max_words", max_words, least=1)
        others = asked_for(model)
        if others or model._analysis is not None:
            raise ValueError(f"an index cannot hold {', '.join(others) or 'what works in Python'}")
        if not model.__sklearn_is_fitted__():
            model = clone(model).fit(texts)
        folder = tempfile.mkdtemp(prefix="wordmover-")
        self._temporary: Any = weakref.finalize(self, _remove, folder, os.getpid())
        path = os.path.join(folder, "index")
        self._index = SearchIndex.build(path, model._model, texts, ids, max_words=n_words)

    @overload
    def search(  # type: ignore[overload-overlap]
        self, queries: str, k: int = ..., *, by: str = ..., n_candidates: int = ...
    ) -> list[Hit]: ...
    @overload
    def search(
        self, queries: Iterable[str], k: int = ..., *, by: str = ..., n_candidates: int = ...
    ) -> list[list[Hit]]: ...
    def search(
        self, queries: Any, k: int = 10, *, by: str = "hybrid", n_candidates: int = 100
    ) -> Any:
        """The best texts for a query, the best first; for several queries a list of them each.

        Parameters
        ----------
        queries : str or iterable of str
        k : int, default 10
            How many texts to find. Fewer are found where there are fewer, and none for a query
            without words to go by.
        by : "hybrid", "wmd" or "embedding", default "hybrid"
            By words, embeddings and distances together; by Word Mover's Distance, exactly; or
            by exact distance among the texts whose embeddings are most alike.
        n_candidates : int, default 100
            With "embedding", how many texts are compared by exact distance.

        Returns
        -------
        list of Hit, or a list of such lists
        """
        is_single = isinstance(queries, str)
        found = self._index.search(
            [queries] if is_single else documents_of(queries),
            k=whole_number("k", k, least=1),
            by=one_name("by", by),
            n_candidates=whole_number("n_candidates", n_candidates, least=1),
        )
        known_by: Any = str if self._index.has_ids else int
        answers = [
            [Hit(known_by(id_), text, score, *parts, words) for id_, text, score, parts, words
             in hits]
            for hits in found
        ]
        return answers[0] if is_single else answers

    def add(
        self, texts: Iterable[str], ids: Iterable[str] | None = None, *, replace: bool = False
    ) -> None:
        """Adds texts, all of them or, if an exception is raised, none.

        Parameters
        ----------
        texts : iterable of str
        ids : iterable of str or None, default None
            What they are known by, if the index has ids.
        replace : bool, default False
            Whether texts may take the place of those with the same id.
        """
        self._index.add(documents_of(texts), _named(ids), replace=replace)

    def remove(self, ids: str | int | Iterable[str] | Iterable[int]) -> None:
        """Removes the text with an id or number, or those with several of them."""
        self._index.remove(self._keys(ids))

    def compact(self) -> None:
        """Writes all texts anew, without those that were removed. Answers stay the same."""
        self._index.compact()

    def verify(self) -> None:
        """Reads every file to its end and raises ValueError if one is damaged."""
        self._index.verify()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the index to a folder, which `wordmover search` and `wordmover serve` read too.

        From then on that folder is the index: what is added or removed is written there at once.

        Parameters
        ----------
        path : str or path
            The folder to make.
        overwrite : bool, default False
            Whether an index that is there is replaced. Anything else never is.
        """
        if self.path is not None and os.path.exists(path) and os.path.samefile(path, self.path):
            return
        self._index = self._index.copy_to(os.fspath(path), replace=overwrite)
        if self._temporary is not None:
            self._temporary()
            self._temporary = None

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, vectors: VectorsLike | None = None
    ) -> WmdIndex:
        """Opens an index of ours or of the program's.

        Parameters
        ----------
        path : str or path
            Its folder.
        vectors : VectorsLike or None, default None
            The word vectors, where they are open already. An index holds its own.
        """
        given = None if vectors is None else open_vectors(vectors)
        index = cls.__new__(cls)
        index._index = SearchIndex.open(os.fspath(path), vectors=given)
        index._temporary = None
        return index

    @property
    def path(self) -> str | None:
        return None if self._temporary is not None else self._index.path

    @property
    def embedding(self) -> WordMoversEmbedding:
        return WordMoversEmbedding._of_model(self._index.model, None)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, id_: object) -> bool:
        return isinstance(id_, (str, int)) and self._text(id_) is not None

    def __getitem__(self, id_: str | int) -> str:
        """The text with an id or number."""
        text = self._text(id_)
        if text is None:
            raise KeyError(id_)
        return text

    def __repr__(self) -> str:
        place = "not saved" if self.path is None else repr(self.path)
        return f"<WmdIndex of {len(self)} texts, {place}>"

    def __reduce__(self) -> Any:
        """A pickle holds where the index is."""
        if self.path is None:
            raise TypeError("save the index first: a pickle holds only where it is")
        return type(self).load, (os.path.abspath(self.path),)

    def _text(self, id_: str | int) -> str | None:
        [key] = self._keys(id_)
        return self._index.text(key)

    def _keys(self, ids: Any) -> list[str]:
        """Ids as the index has them; numbers where it has none."""
        kind, name = (str, "an id (str)") if self._index.has_ids else (Integral, "a number (int)")
        given = [ids] if isinstance(ids, (str, Integral)) else _ids(ids)
        for id_ in given:
            if not isinstance(id_, kind) or isinstance(id_, bool):
                raise TypeError(f"{id_!r} is not {name}, which is what the index knows texts by")
        return [str(id_) for id_ in given]


def _named(ids: Any) -> list[str] | None:
    """Ids that new texts come with."""
    if ids is None:
        return None
    given = _ids(ids)
    for i, id_ in enumerate(given):
        if not isinstance(id_, str):
            raise TypeError(f"id {i} is {type(id_).__name__}, not a str")
    return given


def _ids(ids: Any) -> list[Any]:
    given = _listed(documents_of(ids))
    if not isinstance(given, list):
        raise TypeError(f"expected a list of ids, found {type(ids).__name__}")
    return given


def _listed(values: Any) -> Any:
    """A list of what may be iterated over once only. A text or a dict is no list of texts, as
    the native side says."""
    is_none = isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable)
    return values if is_none else list(values)


def _remove(folder: str, process: int) -> None:
    """Removes a temporary folder, unless a fork of its owner goes."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
