"""Documents in the containers that people keep them in."""

import types

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.compose import ColumnTransformer

from wordmover import KNeighborsWMD, WordMoversEmbedding, pairwise_wmd


def embed(documents):
    return WordMoversEmbedding(n_features=12).fit_transform(documents).tobytes()


class Stream:
    def __init__(self, values):
        self._values = pyarrow.chunked_array([values[:5], values[5:]])

    def __arrow_c_stream__(self, requested_schema=None):
        return self._values.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("container", [
    pyarrow.array,
    lambda x: pyarrow.array(x, pyarrow.large_string()),
    lambda x: pyarrow.array(x).dictionary_encode(),
    lambda x: pyarrow.chunked_array([x[:7], x[7:]]),
    lambda x: pyarrow.table({"text": x}),
    lambda x: pyarrow.record_batch({"text": x}),
    lambda x: polars.Series(x),
    lambda x: polars.DataFrame({"text": x}),
    lambda x: pandas.DataFrame({"text": x}),
    lambda x: pandas.Series(x, dtype="string"),
    lambda x: pandas.Series(x, dtype=pandas.ArrowDtype(pyarrow.string())),
    lambda x: pandas.Categorical(x),
    lambda x: (text for text in x),
    lambda x: dict.fromkeys(x).keys(),
    lambda x: list(pyarrow.array(x)),
    Stream,
    *([lambda x: pyarrow.array(x, pyarrow.string_view())] if hasattr(pyarrow, "string_view")
      else []),
])
def test_columns_of_texts(headlines, container):
    assert embed(container(headlines)) == embed(headlines)


@pytest.mark.parametrize("container", [
    pyarrow.array,
    lambda x: pyarrow.array(x, pyarrow.large_list(pyarrow.string())),
    polars.Series,
    pandas.Series,
    lambda x: [np.array(words) for words in x],
    lambda x: [np.array(words, dtype=object) for words in x],
    lambda x: [pandas.Series(words) for words in x],
    lambda x: [polars.Series(words) for words in x],
    lambda x: [pyarrow.array(words) for words in x],
    lambda x: list(pyarrow.array(x)),
    lambda x: polars.DataFrame({"words": x}),
])
def test_columns_of_words(headlines, container):
    words = [text.lower().split() for text in headlines]
    assert embed(container(words)) == embed(words)


def test_a_column_transformer_hands_frames_over(headlines):
    frame = pandas.DataFrame({"text": headlines, "n": range(40)})
    columns = ColumnTransformer([("wme", WordMoversEmbedding(n_features=12), ["text"])])
    assert columns.fit_transform(frame).astype(np.float32).tobytes() == embed(headlines)


def test_a_frame_of_several_columns_is_refused():
    for frame in (pandas.DataFrame({"a": ["x"], "b": ["y"]}),
                  polars.DataFrame({"a": ["x"], "b": ["y"]}),
                  pyarrow.table({"a": ["x"], "b": ["y"]})):
        with pytest.raises(ValueError, match=r"found the columns \['a', 'b'\]: choose one"):
            embed(frame)


def test_missing_texts_are_named():
    for column in (pyarrow.array(["goat", None]), polars.Series(["goat", None])):
        with pytest.raises(TypeError, match="document 1 is None"):
            embed(column)


class Token:
    def __init__(self, text):
        self.text = text
        self.is_space = text.isspace()
        self.is_punct = text in ".,!"


class Doc:
    """As spaCy's, of which only this is needed."""

    def __init__(self, words):
        self._tokens = [Token(word) for word in words]

    def __iter__(self):
        return iter(self._tokens)


Doc.__module__ = "spacy.tokens.doc"


def test_documents_of_spacy():
    docs = [Doc(["The", "President", "speaks", ".", " "]), Doc(["A", "Band", "plays", "!"])]
    words = [["president", "speaks"], ["band", "plays"]]
    assert embed(docs) == embed(words)
    cased = WordMoversEmbedding(n_features=8, case="keep", stop_words=None)
    assert cased.build_analyzer()(docs[0]) == ["The", "President", "speaks"]


def test_spacy_itself():
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("en")
    texts = ["The President speaks.", "A band plays!"]
    assert embed(nlp.pipe(texts)) == embed([["president", "speaks"], ["band", "plays"]])


def test_neighbours_and_distances_take_them_too(headlines):
    frame = polars.DataFrame({"text": headlines})
    neighbors = KNeighborsWMD(n_neighbors=2).fit(frame)
    assert neighbors.kneighbors(pyarrow.array(headlines[:1]))[1][0, 0] == 0
    assert pairwise_wmd(pyarrow.array(headlines[:3])).shape == (3, 3)


def test_vectors_of_gensim_and_of_a_dict(headlines):
    words = sorted({word for text in headlines for word in text.lower().split()})
    matrix = np.random.default_rng(0).normal(size=(len(words), 5)).astype(np.float32)
    by_word = dict(zip(words, matrix))
    keyed = types.SimpleNamespace(index_to_key=words, vectors=matrix)
    options = {"n_features": 6, "d_max": 2}
    rows = WordMoversEmbedding(vectors=by_word, **options).fit_transform(headlines)
    again = WordMoversEmbedding(vectors=keyed, **options).fit_transform(headlines)
    assert rows.tobytes() == again.tobytes()
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    real = models.KeyedVectors(vector_size=5)
    real.add_vectors(words, matrix)
    again = WordMoversEmbedding(vectors=real, **options).fit_transform(headlines)
    assert rows.tobytes() == again.tobytes()
