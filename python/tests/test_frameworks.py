"""Adapters in the hands of the packages they are for, whose own base classes take part. They
are skipped where a package is missing (tests/requirements-frameworks.txt)."""

import asyncio

import numpy as np
import pytest

from wordmover import WordMoversEmbedding

QUERY = "The president greets the press in Chicago"


@pytest.fixture(scope="module")
def embedding():
    return WordMoversEmbedding.pretrained()


def test_langchain(embedding, headlines):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    from wordmover.langchain import WordMoversEmbeddings

    adapter = WordMoversEmbeddings()
    assert isinstance(adapter, Embeddings)
    rows = adapter.embed_documents(headlines)
    expected = embedding.encode(headlines, normalize_embeddings=True)
    assert rows == expected.tolist()
    assert adapter.embed_query(headlines[3]) == rows[3]
    assert asyncio.run(adapter.aembed_query(headlines[3])) == rows[3]
    assert asyncio.run(adapter.aembed_documents(headlines[:2])) == rows[:2]
    store = InMemoryVectorStore.from_texts(headlines, adapter)
    assert store.similarity_search(QUERY, k=1)[0].page_content == headlines[0]
    own = WordMoversEmbeddings.from_texts(headlines, n_features=16)
    assert len(own.embed_query("goat")) == 16
    with pytest.raises(TypeError, match="embedding is str: it must be a fitted"):
        WordMoversEmbeddings("all-MiniLM-L6-v2")


def test_llama_index(embedding, headlines):
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.schema import TextNode

    from wordmover.llama_index import WordMoversEmbeddings

    adapter = WordMoversEmbeddings(embed_batch_size=8)
    assert isinstance(adapter, BaseEmbedding)
    rows = adapter.get_text_embedding_batch(headlines)
    np.testing.assert_array_equal(rows, embedding.encode(headlines, normalize_embeddings=True))
    assert adapter.get_text_embedding(headlines[3]) == rows[3]
    query = adapter.get_query_embedding(QUERY)
    assert asyncio.run(adapter.aget_query_embedding(QUERY)) == query
    assert np.argmax([adapter.similarity(query, row) for row in rows]) == 0
    nodes = adapter([TextNode(text=headlines[0])])
    assert nodes[0].embedding == rows[0]


def test_keybert():
    keybert = pytest.importorskip("keybert", reason="keybert is not installed")
    from wordmover.topics import keybert_backend

    model = keybert.KeyBERT(model=keybert_backend())
    text = "The president meets the press in Chicago after the senate has passed the budget"
    found = model.extract_keywords(text, top_n=3)
    assert len(found) == 3 and all(isinstance(word, str) for word, _ in found)


def test_bertopic(headlines):
    pytest.importorskip("bertopic", reason="bertopic is not installed")
    from bertopic.backend import BaseEmbedder

    from wordmover.topics import bertopic_backend

    backend = bertopic_backend()
    assert isinstance(backend, BaseEmbedder)
    assert backend.embed_documents(headlines).shape == (40, 1024)


def test_what_their_base_class_calls(embedding, headlines):
    """`embed(documents, verbose)` is all that BERTopic and KeyBERT call, with lists or arrays."""
    from wordmover.topics import _backend

    class BaseEmbedder:
        def __init__(self, embedding_model=None, word_embedding_model=None):
            self.embedding_model = embedding_model

        def embed_documents(self, document, verbose=False):
            return self.embed(document, verbose)

    backend = _backend(BaseEmbedder, embedding)
    rows = backend.embed_documents(np.array(headlines))
    assert rows.tobytes() == embedding.encode(headlines).tobytes()


def test_missing_packages_are_named(monkeypatch):
    import sys

    for module, package in (("langchain", "langchain_core"), ("llama_index", "llama_index")):
        monkeypatch.delitem(sys.modules, f"wordmover.{module}", raising=False)
        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=r"pip install wordmover\[" + module[:5]):
            __import__(f"wordmover.{module}")
