"""The embedding: its input, its memory of distances, its files and its refusals."""

import json
import pickle
import struct
import sys
import threading
import time

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone

from conftest import ODD
from wordmover import ModelError, WordMoversEmbedding, WordVectors, set_num_threads
from wordmover import _distance_cache, _native


def test_rows_are_float32_in_order_and_empty_documents_are_zeros(headlines):
    texts = [*headlines, *ODD]
    embedding = WordMoversEmbedding(n_features=50).fit(texts)
    rows = embedding.transform(texts)
    assert rows.shape == (47, 50) and rows.dtype == np.float32 and rows.flags.c_contiguous
    assert [i for i, row in enumerate(rows) if not row.any()] == [40, 41, 42]
    for i in (0, 17, 43):
        assert embedding.transform([texts[i]])[0].tobytes() == rows[i].tobytes()
    assert 0.9 < embedding.known_share_ < 1


def test_unit_rows_are_standardised_ones_of_length_one(headlines, tmp_path):
    standardised = WordMoversEmbedding(n_features=50).fit_transform([*headlines, ""])
    embedding = WordMoversEmbedding(n_features=50, post_processing="unit")
    rows = embedding.fit_transform([*headlines, ""])
    lengths = np.linalg.norm(standardised[:-1], axis=1, keepdims=True)
    np.testing.assert_allclose(rows[:-1], standardised[:-1] / lengths, atol=1e-6)
    assert not rows[-1].any()
    embedding.save(tmp_path / "m.wme")
    loaded = WordMoversEmbedding.load(tmp_path / "m.wme")
    assert loaded.post_processing == "unit"
    assert loaded.transform(headlines).tobytes() == rows[:-1].tobytes()


@pytest.mark.parametrize("container", [
    tuple, np.array, lambda x: np.array(x, dtype=object), pandas.Series, polars.Series, iter,
    lambda x: pandas.Series(x, index=range(5, 45)),
])
def test_any_column_of_texts_will_do(headlines, container):
    expected = WordMoversEmbedding(n_features=20).fit_transform(headlines)
    given = WordMoversEmbedding(n_features=20).fit_transform(container(headlines))
    assert given.tobytes() == expected.tobytes()


def test_words_tokenised_elsewhere(headlines, toy):
    texts = ["cat sea dog", "ship sea", "Honey"]
    words = [text.split() for text in texts]
    embedding = WordMoversEmbedding(vectors=toy, n_features=20, case="keep", stop_words=None)
    expected = embedding.fit_transform(texts)
    assert embedding.fit_transform(words).tobytes() == expected.tobytes()
    mixed = [tuple(words[0]), texts[1], words[2]]
    assert embedding.transform(mixed).tobytes() == expected.tobytes()


def test_another_gamma_computes_no_distance_anew(headlines, monkeypatch):
    """Neither to embed nor to fit; and the bits are those of a process that kept nothing."""
    computed = []

    class Watched:
        """A native object; what computes distances is taken note of."""

        def __init__(self, native):
            self._native = native

        def __getattr__(self, name):
            attribute = getattr(self._native, name)
            if name in ("draw", "distances", "embed"):
                computed.append((type(self._native).__name__, name))
            if name in ("draw", "scale"):
                return lambda *given, **options: Watched(attribute(*given, **options))
            return attribute

    gammas = (2.0, "auto", None, 0.5)
    fresh = {}
    for gamma in gammas:
        _distance_cache.clear()
        embedding = WordMoversEmbedding(n_features=256, gamma=gamma).fit(headlines)
        fresh[gamma] = (pickle.dumps(embedding._model), embedding.encode(headlines).tobytes())

    _distance_cache.clear()
    monkeypatch.setattr("wordmover._embedding.Fitter",
                        lambda *given, **options: Watched(_native.Fitter(*given, **options)))
    embedding = WordMoversEmbedding(n_features=256, gamma=0.7)
    embedding.fit_transform(headlines)
    once = [("Fitter", "draw"), ("Model", "distances")]
    assert computed == once
    for gamma in gammas:
        again = clone(embedding).set_params(gamma=gamma)
        rows = again.fit_transform(headlines).tobytes()
        assert (pickle.dumps(again._model._native), rows) == fresh[gamma]
    assert computed == once
    # Other documents, weights or random documents are other distances.
    embedding.transform(headlines[1:])
    assert computed == once + once[1:]
    embedding.set_params(random_state=1).fit_transform(headlines)
    embedding.set_params(weights="tfidf").fit_transform(headlines)
    embedding.fit_transform(headlines[::-1])
    assert computed == once + once[1:] + 3 * once


def test_single_texts_leave_nothing_behind(headlines):
    """`transform([text])` slowed with every call."""
    embedding = WordMoversEmbedding(n_features=64).fit(headlines)
    before = list(_distance_cache._kept)
    for text in headlines:
        embedding.transform([text])
    assert list(_distance_cache._kept) == before


def test_keeping_more_takes_no_look_at_what_is_kept(monkeypatch):
    class Kept:
        n_looks = 0

        @property
        def nbytes(self):
            Kept.n_looks += 1
            return 8

    for i in range(1000):
        _distance_cache.put(str(i), Kept())
    assert Kept.n_looks <= 4 * 1000


def test_distances_kept_are_bounded(headlines, monkeypatch):
    monkeypatch.setattr(_distance_cache, "FEWEST", 0)
    monkeypatch.setattr(_distance_cache, "LIMIT", 3 * (40 + 256) * 10 * 8)
    for seed in range(5):
        WordMoversEmbedding(n_features=10, random_state=seed).fit_transform(headlines)
        assert 0 < sum(kept.nbytes for kept in _distance_cache._kept.values())
        assert sum(kept.nbytes for kept in _distance_cache._kept.values()) <= _distance_cache.LIMIT
    assert 1 < len(_distance_cache._kept) < 10
    large = WordMoversEmbedding(n_features=500).fit(headlines)
    before = list(_distance_cache._kept)
    assert large.transform(headlines).shape == (40, 500)
    assert list(_distance_cache._kept) == before


def test_any_number_of_threads_gives_the_same_bits(headlines):
    embedding = WordMoversEmbedding(n_features=64).fit(headlines)
    expected = embedding.encode(headlines).tobytes()
    try:
        for n_threads in (1, 2, 3, 8):
            set_num_threads(n_threads)
            assert embedding.encode(headlines).tobytes() == expected
    finally:
        set_num_threads(None)


def test_the_interpreter_goes_on_meanwhile(headlines):
    embedding = WordMoversEmbedding(n_features=512).fit(headlines)
    texts = [" ".join(headlines)] * 1000
    worker = threading.Thread(target=embedding.encode, args=(texts,))
    worker.start()
    n_turns = 0
    while worker.is_alive():
        time.sleep(0.001)
        n_turns += 1
    worker.join()
    assert n_turns > 20


def test_progress_is_told(headlines, capsys):
    heard = []
    embedding = WordMoversEmbedding(n_features=30, progress=lambda *done: heard.append(done))
    embedding.fit_transform(headlines)
    assert heard[-1] == (1200, 1200)
    heard.clear()
    embedding.set_params(random_state=1).fit(headlines)
    assert heard and heard[-1][0] == heard[-1][1]
    embedding.set_params(progress=True).fit_transform(headlines)
    assert "embedding: 100%" in capsys.readouterr().err
    with pytest.raises(TypeError, match="progress is 3"):
        embedding.set_params(progress=3).fit_transform(headlines)

    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        embedding.set_params(progress=fail, random_state=9).fit_transform(headlines)


def test_random_states(headlines):
    def first(random_state):
        embedding = WordMoversEmbedding(n_features=4, random_state=random_state)
        return embedding.fit_transform(headlines[:2]).tobytes()

    assert first(5) == first(np.int32(5)) != first(6)
    assert first(np.random.RandomState(0)) == first(np.random.RandomState(0))
    assert first(np.random.default_rng(0)) == first(np.random.default_rng(0))
    assert first(2**64 - 1)
    np.random.seed(0)
    drawn = first(None)
    assert drawn != first(None)
    np.random.seed(0)
    assert drawn == first(None)


def test_what_to_do_with_empty_documents(headlines):
    texts = [*headlines, "ᚠᚢᚦ", ""]
    nan = WordMoversEmbedding(n_features=8, on_empty="nan").fit_transform(texts)
    assert np.isnan(nan[-2:]).all() and not np.isnan(nan[:-2]).any()
    strict = WordMoversEmbedding(n_features=8, on_empty="error")
    with pytest.raises(ValueError, match="2 of 42 documents .*the first is document 40"):
        strict.fit_transform(texts)
    with pytest.raises(ValueError, match="on_empty is 'skip'"):
        WordMoversEmbedding(on_empty="skip").fit(texts)


def test_models_round_trip(headlines, tmp_path, toy):
    stop_words = ["band", "cat"]
    given = WordMoversEmbedding(
        n_features=33, d_max=3, gamma=0.2, weights="tfidf", normalization="center",
        random_words="gaussian", stop_words=stop_words, case="keep", min_count=1, max_words=9,
        random_state=11,
    ).fit(headlines)
    given.save(tmp_path / "m.wme")
    loaded = WordMoversEmbedding.load(tmp_path / "m.wme")
    # The file holds what None stood for.
    assert loaded.get_params() == given.get_params() | {"unknown": "compose"}
    assert loaded.gamma_ == given.gamma_ == 0.2
    for again in (loaded, pickle.loads(pickle.dumps(given))):
        assert again.transform(headlines).tobytes() == given.transform(headlines).tobytes()
    assert loaded.known_share_ is None
    own = WordMoversEmbedding(vectors=toy, n_features=5).fit(["cat dog", "sea"])
    again = pickle.loads(pickle.dumps(own))
    assert again.transform(["goat"]).tobytes() == own.transform(["goat"]).tobytes()
    assert again.vectors_.checksum == toy.checksum


def test_a_pickle_holds_external_vectors_once(headlines):
    words = sorted({word for text in headlines for word in text.lower().split()})
    matrix = np.random.default_rng(0).normal(size=(len(words), 2000)).astype(np.float32)
    vectors = WordVectors.from_arrays(words, matrix)
    given = WordMoversEmbedding(vectors=vectors, n_features=4, d_max=1).fit(headlines)
    content = pickle.dumps(given)
    assert len(content) < 1.2 * matrix.nbytes
    again = pickle.loads(content)
    assert again.vectors.checksum == vectors.checksum
    assert again.transform(headlines).tobytes() == given.transform(headlines).tobytes()
    assert pickle.loads(pickle.dumps(WordMoversEmbedding(vectors=vectors))).vectors.dim == 2000
    given.set_params(vectors="builtin")
    again = pickle.loads(pickle.dumps(given))
    assert again.vectors_.checksum == vectors.checksum


def test_a_model_from_a_newer_version_is_refused_by_name(headlines, tmp_path):
    path = tmp_path / "m.wme"
    WordMoversEmbedding(n_features=5).fit(headlines).save(path)
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"]["version"] = "99"
    header = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + content[8 + length :])
    with pytest.raises(ModelError, match="model format 99 is newer than 5, the newest"):
        WordMoversEmbedding.load(path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match="damaged"):
        WordMoversEmbedding.load(path)
    with pytest.raises(FileNotFoundError):
        WordMoversEmbedding.load(tmp_path / "none.wme")
    with pytest.raises(FileNotFoundError):
        WordMoversEmbedding(n_features=5).fit(headlines).save(tmp_path / "no" / "m.wme")
    WordVectors.builtin().save(tmp_path / "v.safetensors")
    with pytest.raises(ModelError, match="not a wordmover model"):
        WordMoversEmbedding.load(tmp_path / "v.safetensors")


@pytest.mark.parametrize(("parameters", "error", "words"), [
    ({"n_features": 0}, ValueError, "n_features is 0: it must be at least 1"),
    ({"n_features": -3}, ValueError, "n_features is -3: it must be at least 1"),
    ({"n_features": 2.5}, TypeError, "n_features is 2.5: it must be a whole number"),
    ({"n_features": True}, TypeError, "n_features is True"),
    ({"n_features": 2**21}, ValueError, "n_features is 2097152: it must be between"),
    ({"d_max": 0}, ValueError, "d_max is 0"),
    ({"gamma": 0}, ValueError, "gamma is 0: it must be a positive finite number"),
    ({"gamma": float("nan")}, ValueError, "gamma is NaN"),
    ({"gamma": "scale"}, ValueError, "gamma is 'scale': it must be \"auto\", a positive number"),
    ({"gamma": True}, ValueError, "gamma is True"),
    ({"n_features": 2**70}, ValueError, "less than 2"),
    ({"weights": None}, TypeError, "weights is None: it must be a str"),
    ({"components": 3}, TypeError, "components is 3: it must be a str"),
    ({"normalization": 3}, TypeError, "normalization is 3: it must be a str or None"),
    ({"case": None}, TypeError, "case is None"),
    ({"stop_words": 3}, TypeError, "stop_words is int: it must be .* a list of str"),
    ({"stop_words": iter(["sea"])}, TypeError, "stop_words is list_iterator"),
    ({"weights": "bm25"}, ValueError, 'weights is "bm25": it must be "nbow", "tfidf" or "sif"'),
    ({"normalization": "l1"}, ValueError, 'normalization is "l1": it must be "unit", "center"'),
    ({"random_words": "zipf"}, ValueError, 'random_words is "zipf"'),
    ({"post_processing": "polish"}, ValueError, 'post_processing is "polish"'),
    ({"components": "flatten"}, ValueError, 'components is "flatten"'),
    ({"case": "upper"}, ValueError, 'case is "upper": it must be "lower" or "keep"'),
    ({"stop_words": "french"}, ValueError, 'stop_words is "french"'),
    ({"stop_words": [3]}, TypeError, "stop_words is list: it must be .* a list of str"),
    ({"min_count": 0}, ValueError, "min_count is 0"),
    ({"max_words": 0}, ValueError, "max_words is 0"),
    ({"random_state": -1}, ValueError, "random_state is -1"),
    ({"random_state": 2**64}, ValueError, "from 0 to 2"),
    ({"random_state": "x"}, TypeError, "random_state is 'x'"),
    ({"vectors": None}, TypeError, "vectors is NoneType"),
    ({"vectors": "no-such-file"}, FileNotFoundError, "no-such-file"),
])
def test_bad_parameters_are_named_when_fitting(headlines, parameters, error, words):
    embedding = WordMoversEmbedding(**parameters)
    with pytest.raises(error, match=words):
        embedding.fit(headlines)


BAD_DOCUMENTS = [
    (None, TypeError, "found None"),
    ("one text", TypeError, "found str: put a single document in a list"),
    (b"bytes", TypeError, "found bytes: put a single"),
    (7, TypeError, "found int"),
    ({"a": "goat"}, TypeError, "found dict"),
    ([None], TypeError, "document 0 is None, neither a str nor a list of words"),
    (["goat", float("nan")], TypeError, "document 1 is NaN"),
    (pandas.Series(["goat", None, "sea"]), TypeError, "document 1 is N"),
    ([b"goat"], TypeError, "document 0 is bytes, .*: decode it first"),
    ([["goat", ["sea"]]], TypeError, "word 1 of document 0 is list, not a str"),
    ([["goat", None]], TypeError, "word 1 of document 0 is None"),
    (np.zeros(3), TypeError, "document 0 is .*float"),
    (np.array([["goat"], ["sea"]]), ValueError, "numpy.ndarray of 2 dimensions"),
    (pandas.DataFrame({"text": ["goat"], "n": [1]}), ValueError, "found the columns .*choose one"),
    (polars.DataFrame({"text": ["goat"], "n": [1]}), ValueError, "found the columns .*choose one"),
    (["half a character \ud800"], ValueError, "document 0 holds a lone surrogate"),
]


@pytest.mark.parametrize(("documents", "error", "words"), BAD_DOCUMENTS)
def test_bad_documents_are_refused_in_one_sentence(headlines, documents, error, words):
    embedding = WordMoversEmbedding(n_features=4)
    with pytest.raises(error, match=words):
        embedding.fit(documents)
    embedding.fit(headlines)
    with pytest.raises(error, match=words):
        embedding.transform(documents)


def test_a_corpus_without_words_cannot_be_fitted_on(headlines):
    with pytest.raises(ValueError, match="there is no document to fit on"):
        WordMoversEmbedding().fit([])
    with pytest.raises(ValueError, match="none of the 2 documents has a word that the vectors"):
        WordMoversEmbedding().fit(["", "ᚠᚢᚦ"])
    with pytest.raises(ValueError, match="none of the 40 .* occurs 99 times .min_count."):
        WordMoversEmbedding(min_count=99).fit(headlines)
    assert WordMoversEmbedding(n_features=4).fit(headlines).transform([]).shape == (0, 4)


def test_encode_is_what_users_of_sentence_transformers_expect(headlines):
    embedding = WordMoversEmbedding(n_features=16).fit(headlines)
    rows = embedding.encode(headlines, batch_size=7)
    assert rows.tobytes() == embedding.transform(headlines).tobytes()
    assert embedding.encode(headlines[3]).tobytes() == rows[3].tobytes()
    unit = embedding.encode([*headlines, "ᚠᚢᚦ"], normalize_embeddings=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), [1] * 40 + [0], rtol=1e-6)
    assert embedding.encode([]).shape == (0, 16)
    assert embedding.encode(headlines[3]).shape == (16,)
    assert embedding.encode(headlines[3:4]).shape == (1, 16)
    listed = embedding.encode(headlines, convert_to_numpy=False, show_progress_bar=None)
    assert isinstance(listed, list) and np.array(listed).tobytes() == rows.tobytes()
    assert embedding.encode("", normalize_embeddings=True).tolist() == [0] * 16
    with pytest.raises(ValueError, match="batch_size is 0"):
        embedding.encode(headlines, batch_size=0)
    with pytest.raises(TypeError, match="document 0 is None"):
        embedding.encode([None])


def test_more_documents_than_a_block(headlines):
    embedding = WordMoversEmbedding(n_features=3).fit(headlines)
    texts = headlines * 250
    rows = embedding.encode(texts)
    assert (rows.reshape(250, -1) == rows[:40].reshape(1, -1)).all()


def test_a_missing_package_is_named_with_the_extra_that_has_it(headlines, monkeypatch):
    embedding = WordMoversEmbedding(n_features=4).fit(headlines)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"needs PyTorch: pip install wordmover\[torch\]"):
        embedding.encode("goat", convert_to_tensor=True)
    monkeypatch.delitem(sys.modules, "wordmover._arrow", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"needs pyarrow: pip install wordmover\[arrow\]"):
        embedding.embed_arrow(None)


def test_without_a_gpu_auto_is_the_cpu_and_cuda_an_error(tmp_path):
    texts = ["Obama speaks to the media in Illinois", "The band gave a concert in Japan"]
    expected = WordMoversEmbedding(n_features=32).fit_transform(texts)
    try:
        WordMoversEmbedding(n_features=32, device="cuda").fit(texts)
    except RuntimeError as error:
        assert "CUDA" in str(error) or "GPU" in str(error)
    else:
        pytest.skip("there is a GPU")
    on_auto = WordMoversEmbedding(n_features=32, device="auto").fit(texts)
    assert (on_auto.transform(texts) == expected).all()
    assert (pickle.loads(pickle.dumps(on_auto)).transform(texts) == expected).all()
    on_auto.save(tmp_path / "m.wme")
    loaded = WordMoversEmbedding.load(tmp_path / "m.wme", device="auto")
    assert (loaded.transform(texts) == expected).all()
    with pytest.raises(ValueError, match="device is 'tpu': it must be 'cpu', 'cuda' or 'auto'"):
        WordMoversEmbedding(device="tpu").fit(texts)
