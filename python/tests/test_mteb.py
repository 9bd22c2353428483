"""The adapter for MTEB, called as its evaluators call it. MTEB itself, which is large, takes
part in python/test-mteb."""

import inspect
import sys
import types

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from wordmover import WordMoversEmbedding
from wordmover.mteb import MtebEncoder


@pytest.fixture
def encoder(headlines):
    return MtebEncoder(WordMoversEmbedding(n_features=8).fit(headlines))


def test_batches_become_rows(encoder, headlines):
    loader = [{"text": headlines[:3], "id": ["a", "b", "c"]}, {"text": headlines[3:5]}]
    rows = encoder.encode(loader, task_metadata=object(), hf_split="test", hf_subset="default",
                          prompt_type=None, batch_size=32, show_progress_bar=False)
    assert rows.shape == (5, 8) and rows.dtype == np.float32
    again = encoder.encode([{"text": headlines[3:5]}], task_metadata=None, hf_split="test",
                           hf_subset="default")
    assert again.tobytes() == rows[3:].tobytes()


def test_similarities_are_cosines(encoder):
    a, b = np.array([[1, 0], [3, 4], [0, 0]]), np.array([[2, 0], [0, 5]])
    np.testing.assert_allclose(encoder.similarity(a, b), [[1, 0], [0.6, 0.8], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(encoder.similarity_pairwise(a[:2], b), [1, 0.8], rtol=1e-6)
    assert encoder.similarity(a[:1], b[0]).shape == (1, 1)
    # MTEB's evaluator of summaries makes a float of what two single rows give.
    assert float(encoder.similarity(a[1], b[0])) == pytest.approx(0.6)


def test_the_signature_is_that_of_the_protocol():
    """`EncoderProtocol` of MTEB 2: inputs, then these keywords."""
    parameters = inspect.signature(MtebEncoder.encode).parameters
    assert list(parameters)[:2] == ["self", "inputs"]
    keywords = {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert {"task_metadata", "hf_split", "hf_subset", "prompt_type"} <= keywords
    assert any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    assert all(hasattr(MtebEncoder, name) for name in (
        "similarity", "similarity_pairwise", "mteb_model_meta"))


def test_the_description_names_the_dimension(encoder, monkeypatch):
    class ModelMeta:
        @staticmethod
        def create_empty(overwrites):
            return types.SimpleNamespace(**overwrites)

    module = types.ModuleType("mteb.models.model_meta")
    module.ModelMeta = ModelMeta
    module.ScoringFunction = types.SimpleNamespace(COSINE="cosine")
    for name in ("mteb", "mteb.models"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "mteb.models.model_meta", module)
    meta = encoder.mteb_model_meta
    assert (meta.name, meta.embed_dim) == ("wordmover/wme", 8)


def test_an_embedding_must_be_fitted_first():
    with pytest.raises(NotFittedError):
        MtebEncoder(WordMoversEmbedding())
