"""A classifier of texts by words and meanings, as a scikit-learn classifier."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from wordmover._documents import documents_of
from wordmover._native import Classifier
from wordmover._parameters import (
    Document,
    VectorsLike,
    one_name,
    open_vectors,
    seed_of,
    stop_word_list,
    whole_number,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class TextClassifier(ClassifierMixin, BaseEstimator):
    """Classifies texts by their words (TF-IDF), their meanings (Word Mover's Embedding) or
    both, whichever is best in cross-validation on the training texts.

    It is the classifier of `wordmover train`, with the same file. Weights of words, random
    documents, gamma and C are chosen by cross-validation too, so there is little to set.

    Parameters
    ----------
    views : "auto", "both", "meanings" or "words", default "auto"
        What to look at; "auto" chooses.
    n_features : int or None, default None
        Number of random documents; None: 1,024, or 4,096 with the paper's protocol.
    protocol : "fast" or "paper", default "fast"
        How parameters are chosen.
    vectors, stop_words, case
        As those of WordMoversEmbedding. Whether stop words are dropped at all is chosen.
    class_weight : dict, "balanced" or None, default None
        How much more texts of some classes count.
    cv : int or None, default None
        Number of folds; None: as the protocol says, 5 or 10.
    random_state : int, default 0
        Seed of random documents and folds; the same seed gives the same bits.

    Attributes
    ----------
    classes_ : array
        The classes; of a classifier that was loaded, their names.
    choice_ : dict
        The parameters that were chosen, and their accuracy in cross-validation.
    notes_ : list of str
        What was chosen and why, and what to know of the data.

    Examples
    --------
    >>> from wordmover import TextClassifier
    >>> texts = ["The senate votes on the budget", "A minister resigns over the vote",
    ...          "The president meets the press", "The band gave a concert in Japan",
    ...          "The singer records a new album", "An orchestra plays Mozart"]
    >>> labels = ["politics"] * 3 + ["music"] * 3
    >>> classifier = TextClassifier(views="meanings", n_features=64).fit(texts, labels)
    >>> classifier.predict(["A new song by the band"]).tolist()
    ['music']
    """

    def __init__(
        self,
        *,
        views: str = "auto",
        n_features: int | None = None,
        protocol: str = "fast",
        vectors: VectorsLike = "builtin",
        stop_words: str | Iterable[str] | None = "smart",
        case: str = "lower",
        class_weight: Mapping[Any, float] | str | None = None,
        cv: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.views = views
        self.n_features = n_features
        self.protocol = protocol
        self.vectors = vectors
        self.stop_words = stop_words
        self.case = case
        self.class_weight = class_weight
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Iterable[Document], y: ArrayLike) -> TextClassifier:
        """Chooses parameters by cross-validation and trains on all texts.

        Parameters
        ----------
        X : iterable of texts
        y : array of classes, or a matrix of zeros and ones
            A matrix has a column for each class: then a text may have any number of them.
        """
        texts = _texts(X)
        labels, several = self._labels(y, len(texts))
        n_features = None
        if self.n_features is not None:
            n_features = whole_number("n_features", self.n_features, least=1)
        n_folds = None if self.cv is None else whole_number("cv", self.cv, least=2)
        self._classifier, self.notes_ = Classifier.train(
            texts,
            labels,
            several_labels=several,
            vectors=open_vectors(self.vectors),
            protocol=one_name("protocol", self.protocol),
            views=one_name("views", self.views),
            n_features=n_features,
            case=one_name("case", self.case),
            stop_words=stop_word_list(self.stop_words),
            class_weights=self._class_weights(),
            is_balanced=isinstance(self.class_weight, str),
            n_folds=n_folds,
            seed=seed_of(self.random_state),
        )
        # The classifier has its classes in the order of their names.
        positions = {str(label): i for i, label in enumerate(self.classes_)}
        self._order = np.array([positions[name] for name in self._classifier.classes])
        return self

    def predict(self, X: Iterable[Document]) -> NDArray[Any]:
        """The class of each text, or with several classes a text a matrix of zeros and ones.

        A text without a word to go by gets the most frequent class, with a warning.
        """
        classes, values, _, empty = self._predictions(X)
        if any(empty):
            warnings.warn(
                f"{sum(empty)} of {len(empty)} texts have no word to go by: they are given the "
                "most frequent class",
                stacklevel=2,
            )
        if self._classifier.has_several_labels:
            return (self._in_order(values) > 0).astype(np.int64)
        return self.classes_[self._order[classes]]

    def predict_proba(self, X: Iterable[Document]) -> NDArray[np.float64]:
        """The probability of each class, calibrated on folds held out; a column for each class.

        Of a text without a word to go by, 1 for the most frequent class.
        """
        check_is_fitted(self)
        if not self._classifier.has_probabilities:
            raise AttributeError("this classifier has no probabilities: train it with 'fast'")
        return self._in_order(self._predictions(X)[2])

    def decision_function(self, X: Iterable[Document]) -> NDArray[np.float64]:
        """Decision values: a column for each class, or for two classes a single one that is
        positive for the second."""
        values = self._in_order(self._predictions(X)[1])
        is_single = len(self.classes_) == 2 and not self._classifier.has_several_labels
        return values[:, 1] if is_single else values

    def save(self, path: str | os.PathLike[str], *, bundle_vectors: bool = False) -> None:
        """Writes the classifier file, which `wordmover predict` reads too.

        Classes are kept by name: those of numbers are text when loaded.
        """
        check_is_fitted(self)
        self._classifier.save(path, bundle_vectors=bundle_vectors)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, vectors: VectorsLike | None = None
    ) -> TextClassifier:
        """Reads a classifier file of ours or of `wordmover train`.

        `vectors` are needed if it was trained with other than the built-in ones and does not
        bundle them.
        """
        given = None if vectors is None else open_vectors(vectors)
        classifier = cls() if vectors is None else cls(vectors=vectors)
        classifier._classifier = Classifier.open(path, vectors=given)
        classifier.classes_ = np.array(classifier._classifier.classes)
        classifier._order = np.arange(len(classifier.classes_))
        classifier.notes_ = []
        return classifier

    @property
    def choice_(self) -> dict[str, Any]:
        check_is_fitted(self)
        chosen: dict[str, Any] = json.loads(self._classifier.choice)
        return chosen

    def _labels(self, y: Any, n_texts: int) -> tuple[list[list[str]], bool]:
        check_classification_targets(y)
        matrix = np.asarray(y)
        several = matrix.ndim == 2 and matrix.shape[1] > 1
        if several:
            if not np.isin(matrix, (0, 1)).all():
                raise ValueError("y is a matrix: it must hold zeros and ones only")
            self.classes_: NDArray[Any] = np.arange(matrix.shape[1])
            labels = [[str(i) for i in np.flatnonzero(row)] for row in matrix]
        else:
            column = column_or_1d(y, warn=True)
            self.classes_ = np.unique(column)
            labels = [[str(label)] for label in column]
        if len({str(label) for label in self.classes_}) < len(self.classes_):
            raise ValueError("two classes have the same name")
        if len(labels) != n_texts:
            raise ValueError(f"{n_texts} texts and {len(labels)} labels: they must be as many")
        return labels, several

    def _class_weights(self) -> list[tuple[str, float]] | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            if self.class_weight != "balanced":
                raise ValueError(
                    f"class_weight is {self.class_weight!r}: it must be 'balanced', a dict or None"
                )
            return None
        known = {str(label) for label in self.classes_}
        weights = [(str(label), float(weight)) for label, weight in self.class_weight.items()]
        unknown = [label for label, _ in weights if label not in known]
        if unknown:
            raise ValueError(f"class_weight names classes that do not occur: {unknown}")
        return weights

    def _predictions(self, X: Iterable[Document]) -> Any:
        check_is_fitted(self)
        return self._classifier.predict(_texts(X))

    def _in_order(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns of the native side's classes in the order of `classes_`. Of classes that
        no text has, there are none."""
        ordered = np.zeros((len(columns), len(self.classes_)))
        ordered[:, self._order] = columns
        return ordered

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_classifier")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _texts(X: Any) -> list[str]:
    """Texts; words that were cut elsewhere are put together again."""
    documents = documents_of(X)
    if isinstance(documents, (str, bytes, Mapping)):
        found = type(documents).__name__
        raise TypeError(f"expected a list of texts, found {found}: put a single text in a list")
    texts = []
    for i, document in enumerate(documents):
        if isinstance(document, (list, tuple)) and all(isinstance(word, str) for word in document):
            document = " ".join(document)
        if not isinstance(document, str):
            raise TypeError(f"document {i} is {type(document).__name__}, neither a str nor words")
        texts.append(document)
    return texts
