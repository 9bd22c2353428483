"""Word Mover's Embedding as a scikit-learn transformer."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wordmover import _distance_cache
from wordmover._analysis import Analysis, analysis_of, asked_for, case_of
from wordmover._cosines import cosines, cosines_of_pairs
from wordmover._distance_cache import FEWEST
from wordmover._documents import documents_of
from wordmover._native import Bags, Fitter, Model, WordCounts, WordVectors, count_words
from wordmover._parameters import (
    Document,
    Progress,
    VectorsLike,
    check_options,
    name_or_none,
    one_name,
    open_vectors,
    reporting,
    seed_of,
    stop_word_list,
    whole_number,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WordMoversEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Texts to vectors by the Word Mover's Embedding.

    Feature j of a document x is exp(-gamma * WMD(x, omega_j)) / sqrt(n_features) for
    random documents omega_j, post-processed so that cosines tell documents apart; WMD is
    exact. With post_processing="raw" and components="keep" these are the features of the
    paper, whose inner products approximate the Word Mover's Kernel. Documents are texts, or lists
    of words that were tokenised elsewhere, which are taken as they are.

    Parameters
    ----------
    n_features : int, default 512
        Number of random documents, R in the paper.
    d_max : int, default 6
        Greatest length of a random document.
    gamma : "auto", float or None, default "auto"
        Scale of the features. "auto" is one over the median distance; None gives the
        distances themselves. Distances are kept (256 MiB of them a process, or
        WORDMOVER_CACHE_BYTES): fitting again with another gamma computes none anew.
    weights : "nbow", "tfidf" or "sif", default "nbow"
        How a word's count becomes its weight.
    vectors : "builtin", path, WordVectors, gensim's KeyedVectors or dict, default "builtin"
        The word vectors.
    normalization : "unit", "center", "center-unit" or None, default "unit"
        What is done to word vectors first.
    random_words : "uniform", "uniform-centered", "gaussian", "vocabulary" or "documents"
        Distribution of the random words; default "uniform", the paper's.
    metric : "euclidean", "sqeuclidean", "cosine" or "cityblock", default "euclidean"
        Ground cost between words.
    post_processing : "standardize", "center", "unit" or "raw", default "standardize"
        Post-processing of the features, by their mean and spread over the corpus; with
        "unit", every row is scaled to length 1 at the end.
    components : "keep", "flatten=K" or "remove=K", default "flatten=3"
        What is done to the first K principal components of the features then: scaled
        down to the strength of the next one, or taken out.
    stop_words : "smart", "english", None or iterable of str, default "smart"
        Words of texts to drop; "english" is scikit-learn's list.
    case : "lower" or "keep", default "lower"
        Whether the words of texts are lower-cased.
    lowercase : bool or None, default None
        scikit-learn's name for `case`, which decides where it is not None.
    preprocessor : callable or None, default None
        Applied to each text first. This and the parameters below are scikit-learn's; they
        work in Python, and a model file cannot hold them (a pickle can).
    tokenizer : callable or None, default None
        Cuts a text into words instead of the Unicode rules. Stop words are dropped afterwards.
    token_pattern : str or None, default None
        A regular expression of words, instead of `tokenizer`.
    ngram_range : tuple (1, n), default (1, 1)
        Up to n neighbouring words that have one vector together, joined by "_", " " or "-",
        are one word.
    min_df, max_df : int or float, default 1 and 1.0
        Words of fewer or more documents of the corpus are dropped: a number of documents, or
        a share of them. So are words that the corpus lacks.
    max_features : int or None, default None
        Only so many words of the corpus are kept, the most frequent.
    vocabulary : iterable of str or None, default None
        Only these words are kept.
    unknown : "compose", "random", "skip" or None, default None
        What becomes of words that the vectors do not know: a vector composed of their parts,
        one of their own from a hash, or nothing. None composes where the vectors have
        subwords, as the built-in ones, and gives each a vector of its own otherwise.
    min_count : int, default 1
        Words that occur less often in the corpus are dropped.
    max_words : int, default 500
        Distinct words of a document to keep, the most frequent.
    on_empty : "zero", "nan" or "error", default "zero"
        What becomes of a document without a known word.
    random_state : int, default 0
        Seed of the random documents; the same seed gives the same bits. None and NumPy's
        generators are allowed too.
    device : "cpu", "cuda" or "auto", default "cpu"
        Where distances to random documents are computed; "auto" is a CUDA GPU where there is
        one. A GPU's distances agree with the CPU's to 1e-6 of their value.
    progress : bool or callable, default False
        True shows a bar (needs tqdm); a function is called with the number of distances
        done and their total.

    Attributes
    ----------
    gamma_ : float or None
        The gamma in use.
    known_share_ : float or None
        Share of the fitted documents' words that the vectors know. Below 0.8, use larger
        vectors. None for models that were loaded: the file does not hold it.
    vectors_ : WordVectors
        The word vectors in use.
    vocabulary_ : frozenset of str or None
        The words that are kept; None where no parameter restricts them.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from wordmover import WordMoversEmbedding
    >>> texts = ["The senate votes on the budget", "A minister resigns over the vote",
    ...          "The band gave a concert in Japan", "The singer records a new album"]
    >>> labels = ["politics", "politics", "music", "music"]
    >>> pipe = make_pipeline(WordMoversEmbedding(), LogisticRegression())
    >>> pipe.fit(texts, labels).predict(["The orchestra plays tonight"]).tolist()
    ['music']

    Documents in any container, cut into words as you like:

    >>> embedding = WordMoversEmbedding(n_features=64, token_pattern=r"[a-z]+",
    ...                                 stop_words="english", min_df=1)
    >>> embedding.fit(texts).transform([["concert", "hall"]]).shape
    (1, 64)
    """

    #: Words are counted by the native side alone, as in models that were loaded.
    _analysis: Analysis | None = None

    def __init__(
        self,
        *,
        n_features: int = 512,
        d_max: int = 6,
        gamma: str | float | None = "auto",
        weights: str = "nbow",
        vectors: VectorsLike = "builtin",
        normalization: str | None = "unit",
        random_words: str = "uniform",
        metric: str = "euclidean",
        post_processing: str = "standardize",
        components: str = "flatten=3",
        stop_words: str | Iterable[str] | None = "smart",
        case: str = "lower",
        lowercase: bool | None = None,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        token_pattern: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        vocabulary: Iterable[str] | None = None,
        unknown: str | None = None,
        min_count: int = 1,
        max_words: int = 500,
        on_empty: str = "zero",
        random_state: Any = 0,
        device: str = "cpu",
        progress: Progress = False,
    ) -> None:
        self.n_features = n_features
        self.d_max = d_max
        self.gamma = gamma
        self.weights = weights
        self.vectors = vectors
        self.normalization = normalization
        self.random_words = random_words
        self.metric = metric
        self.post_processing = post_processing
        self.components = components
        self.stop_words = stop_words
        self.case = case
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.unknown = unknown
        self.min_count = min_count
        self.max_words = max_words
        self.on_empty = on_empty
        self.random_state = random_state
        self.device = device
        self.progress = progress

    def fit(self, X: Iterable[Document], y: object = None) -> WordMoversEmbedding:
        """Draws the random documents and settles gamma; `y` is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: Iterable[Document], y: object = None) -> NDArray[np.float32]:
        """Fits and embeds the same documents, whose words are counted once."""
        return self._embed(self._fit(X))

    def transform(self, X: Iterable[Document]) -> NDArray[np.float32]:
        """Embeds documents: a row for each, of type float32."""
        documents = self._documents(X)
        if self.progress is False and self._is_few(documents):
            return self._embed_few(documents)
        return self._embed(self._model.count_words(documents))

    @overload
    def encode(
        self,
        sentences: str | Iterable[Document],
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        *,
        normalize_embeddings: bool = ...,
        convert_to_numpy: Literal[True] = ...,
        convert_to_tensor: Literal[False] = ...,
        **options: Any,
    ) -> NDArray[np.float32]: ...
    @overload
    def encode(
        self,
        sentences: str | Iterable[Document],
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        *,
        normalize_embeddings: bool = ...,
        convert_to_numpy: bool = ...,
        convert_to_tensor: bool = ...,
        **options: Any,
    ) -> Any: ...
    def encode(
        self,
        sentences: str | Iterable[Document],
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        *,
        normalize_embeddings: bool = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        **options: Any,
    ) -> Any:
        """Embeds as users of sentence-transformers expect: a single text gives a single row.

        Parameters
        ----------
        sentences : str or iterable of documents
        batch_size : int, default 32
            Accepted for their sake: memory does not depend on it, nor does any bit.
        show_progress_bar : bool or None, default None
            Whether to show a bar (needs tqdm).
        normalize_embeddings : bool, default False
            Whether rows get length 1; those of documents without a known word stay zeros.
        convert_to_numpy : bool, default True
            False gives a list of rows.
        convert_to_tensor : bool, default False
            True gives a tensor (needs PyTorch).
        **options
            Their other keywords, where they ask for what is done anyhow: `device` of "cpu",
            `precision` of "float32", `output_value` of "sentence_embedding", no prompt. All
            else is refused by name.

        Examples
        --------
        >>> from wordmover import WordMoversEmbedding
        >>> texts = ["A cat sat on the mat", "A dog lay on the rug", "Stocks fell again"]
        >>> model = WordMoversEmbedding(n_features=256).fit(texts)
        >>> rows = model.encode(texts, normalize_embeddings=True)
        >>> cosines = model.similarity(rows, rows)
        >>> bool(cosines[0, 1] > cosines[0, 2])
        True
        """
        check_options(options)
        whole_number("batch_size", batch_size, least=1)
        is_single = isinstance(sentences, str)
        given: Any = [sentences] if is_single else sentences
        documents = self._documents(given)
        if not show_progress_bar and self._is_few(documents):
            embeddings = self._embed_few(documents)
        else:
            bags = self._bags(self._model.count_words(documents))
            total = len(bags) * self._model.n_features
            with reporting(show_progress_bar or False, total, "encoding") as report:
                embeddings = self._model.embed(bags, progress=report)
            self._mark_empty(embeddings, bags.empty)
        if normalize_embeddings:
            lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
            embeddings /= np.where(lengths == 0, 1, lengths)
        if convert_to_tensor:
            try:
                import torch
            except ImportError as error:
                needed = "convert_to_tensor=True needs PyTorch: pip install wordmover[torch]"
                raise ImportError(needed) from error

            tensor = torch.from_numpy(embeddings)
            return tensor[0] if is_single else tensor
        if is_single:
            return embeddings[0]
        return embeddings if convert_to_numpy else list(embeddings)

    def encode_query(self, sentences: str | Iterable[Document], *given: Any, **options: Any) -> Any:
        """`encode`: queries and documents are embedded alike."""
        return self.encode(sentences, *given, **options)

    def encode_document(
        self, sentences: str | Iterable[Document], *given: Any, **options: Any
    ) -> Any:
        """`encode`: queries and documents are embedded alike."""
        return self.encode(sentences, *given, **options)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosines of all rows of the first with all of the second.

        Of tensors they are a tensor.
        """
        return cosines(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosines of the rows with the same number."""
        return cosines_of_pairs(embeddings1, embeddings2)

    #: What `similarity` computes.
    similarity_fn_name = "cosine"

    def get_sentence_embedding_dimension(self) -> int:
        """The number of features."""
        check_is_fitted(self)
        return self._model.n_features

    def build_analyzer(self) -> Callable[[Document], list[str]]:
        """A function from a document to its words, as they are counted.

        Examples
        --------
        >>> from wordmover import WordMoversEmbedding
        >>> WordMoversEmbedding().build_analyzer()("The press meets the President in Chicago")
        ['press', 'meets', 'president', 'chicago']
        """
        analysis = self._analysis or Analysis(self, open_vectors(self.vectors))
        return lambda document: analysis([document])[0]

    def embed_arrow(self, batch: Any, *, column: str = "text", output: str = "embedding") -> Any:
        """Adds a column of embeddings (fixed-size lists of float32) to Arrow data.

        Texts are read where they are. A missing text has a missing embedding.

        Parameters
        ----------
        batch : pyarrow.RecordBatch, pyarrow.Table or polars.DataFrame
        column : str, default "text"
            The column of texts.
        output : str, default "embedding"
            The name of the new column.

        Returns
        -------
        The same kind of data, with one more column at the end.
        """
        check_is_fitted(self)
        try:
            from wordmover._arrow import embed_data
        except ImportError as error:
            needed = "embed_arrow needs pyarrow: pip install wordmover[arrow]"
            raise ImportError(needed) from error

        embed = self._model if self._analysis is None else self.transform
        return embed_data(embed, batch, column=column, output=output)

    def save(self, path: str | os.PathLike[str], *, bundle_vectors: bool = False) -> None:
        """Writes the model file, which the program reads too.

        A model of other than the built-in vectors holds their checksum, or with
        `bundle_vectors` themselves. What works in Python (`tokenizer`, `min_df` and the like)
        cannot be in the file.
        """
        check_is_fitted(self)
        if self._analysis is not None:
            names = ", ".join(asked_for(self)) or "what was fitted with"
            raise ValueError(f"a model file cannot hold {names}: pickle the estimator instead")
        self._model.save(path, bundle_vectors=bundle_vectors)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        vectors: VectorsLike | None = None,
        device: str = "cpu",
    ) -> WordMoversEmbedding:
        """Reads a model file of ours or of the program's.

        `vectors` are needed if the model was fitted with other than the built-in ones and
        does not bundle them; `device` as for WordMoversEmbedding itself.
        """
        given = None if vectors is None else open_vectors(vectors)
        return cls._of_model(Model.open(path, vectors=given), vectors, device)

    @classmethod
    def pretrained(cls) -> WordMoversEmbedding:
        """The built-in model for English texts of any kind, without fitting.

        It has the parameters that are best for similarity, takes a second to make, and is
        made once in a process. A model that was fitted on texts like yours is better.

        Examples
        --------
        >>> from wordmover import WordMoversEmbedding
        >>> model = WordMoversEmbedding.pretrained()
        >>> rows = model.encode(["A cat sat on the mat", "A dog lay on the rug"])
        >>> rows.shape
        (2, 1024)
        """
        return cls._of_model(_general_purpose(), "builtin")

    @classmethod
    def _of_model(
        cls, model: Model, vectors: VectorsLike | None, device: str = "cpu"
    ) -> WordMoversEmbedding:
        params = {**model.params, "device": device}
        params["vectors"] = model.vectors if vectors is None else vectors
        if vectors is None and model.vectors.checksum == open_vectors("builtin").checksum:
            params["vectors"] = "builtin"
        estimator = cls(**params)
        estimator._model = model if device == "cpu" else model.on_device(device)
        estimator.known_share_ = None
        return estimator

    @property
    def gamma_(self) -> float | None:
        check_is_fitted(self)
        return self._model.gamma

    @property
    def vectors_(self) -> WordVectors:
        check_is_fitted(self)
        return self._model.vectors

    @property
    def vocabulary_(self) -> frozenset[str] | None:
        check_is_fitted(self)
        return None if self._analysis is None else self._analysis.vocabulary

    @property
    def _n_features_out(self) -> int:
        return self._model.n_features

    def _fit(self, X: Iterable[Document]) -> WordCounts:
        vectors = open_vectors(self.vectors)
        if self.on_empty not in ("zero", "nan", "error"):
            raise ValueError(f"on_empty is {self.on_empty!r}: it must be 'zero', 'nan' or 'error'")
        case, stop_words = case_of(self.case, self.lowercase), stop_word_list(self.stop_words)
        analysis = analysis_of(self, vectors)
        documents = documents_of(X) if analysis is None else analysis.fit(X)
        counts = count_words(documents, vectors=vectors, case=case, stop_words=stop_words)
        if len(counts) == 0:
            raise ValueError("there is no document to fit on")
        fitter = Fitter(
            counts,
            vectors=vectors,
            n_features=whole_number("n_features", self.n_features, least=1),
            d_max=whole_number("d_max", self.d_max, least=1),
            weights=one_name("weights", self.weights),
            normalization=name_or_none("normalization", self.normalization),
            random_words=one_name("random_words", self.random_words),
            metric=one_name("metric", self.metric),
            post_processing=one_name("post_processing", self.post_processing),
            components=one_name("components", self.components),
            case=case,
            stop_words=stop_words,
            unknown=name_or_none("unknown", self.unknown),
            min_count=whole_number("min_count", self.min_count, least=1),
            max_words=whole_number("max_words", self.max_words, least=1),
            seed=seed_of(self.random_state),
            device=one_name("device", self.device),
        )
        key = fitter.key
        drawn = _distance_cache.get(key)
        if drawn is None:
            with reporting(self.progress, fitter.n_distances, "fitting") as report:
                drawn = fitter.draw(progress=report)
            _distance_cache.put(key, drawn)
        self._model = drawn.scale(self.gamma)
        self._analysis = analysis
        n_known, n_unknown = counts.n_tokens
        self.known_share_: float | None = n_known / max(1, n_known + n_unknown)
        return counts

    def _documents(self, X: Iterable[Document]) -> Any:
        """Documents as the native side takes them."""
        if not hasattr(self, "_model"):
            check_is_fitted(self)
        return documents_of(X) if self._analysis is None else self._analysis(X)

    def _is_few(self, documents: Any) -> bool:
        """Whether the documents are so few that their distances would not be kept."""
        n = len(documents) if type(documents) is list else FEWEST
        return n * self._model.n_features < FEWEST

    def _embed_few(self, documents: list[Document]) -> NDArray[np.float32]:
        embeddings, empty = self._model.embed_few(documents)
        if True in empty:
            is_empty = np.array(empty)
            self._refuse_empty(is_empty)
            self._mark_empty(embeddings, is_empty)
        return embeddings

    def _bags(self, counts: WordCounts) -> Bags:
        bags = self._model.bags(counts)
        self._refuse_empty(bags.empty)
        return bags

    def _refuse_empty(self, is_empty: NDArray[np.bool_]) -> None:
        if self.on_empty == "error" and is_empty.any():
            first = int(np.flatnonzero(is_empty)[0])
            raise ValueError(
                f"{int(is_empty.sum())} of {len(is_empty)} documents have no word that the "
                f"vectors know; the first is document {first}"
            )

    def _embed(self, counts: WordCounts) -> NDArray[np.float32]:
        model, bags = self._model, self._bags(counts)
        total = len(bags) * model.n_features
        with reporting(self.progress, total, "embedding") as report:
            if not (model.shares_distances and _distance_cache.is_worthwhile(total)):
                embeddings = model.embed(bags, progress=report)
            else:
                key = model.distances_key(bags)
                distances = _distance_cache.get(key)
                if distances is None:
                    distances = model.distances(bags, progress=report)
                    _distance_cache.put(key, distances)
                elif report:
                    report(total)
                embeddings = model.features(distances)
        self._mark_empty(embeddings, bags.empty)
        return embeddings

    def _mark_empty(self, embeddings: NDArray[np.float32], is_empty: NDArray[np.bool_]) -> None:
        if self.on_empty == "nan":
            embeddings[is_empty] = np.nan

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if isinstance(self.vectors, WordVectors) and "_model" in state:
            # Without its vectors, which the parameter holds already, unless it was set anew.
            read, (content, vectors) = self._model.__reduce__()
            if vectors.checksum == self.vectors.checksum:
                vectors = self.vectors
            state = {**state, "_model": None, "_model_parts": (read, content, vectors)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_model_parts" in state:
            read, content, vectors = state["_model_parts"]
            kept = {name: value for name, value in state.items() if name != "_model_parts"}
            state = {**kept, "_model": read(content, vectors)}
        super().__setstate__(state)
        # A pickle holds no device; estimators of before know of none.
        device = self.__dict__.setdefault("device", "cpu")
        if device != "cpu" and "_model" in self.__dict__:
            self._model = self._model.on_device(device)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


@functools.cache
def _general_purpose() -> Model:
    return Model.general_purpose()
