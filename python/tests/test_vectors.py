"""Word vectors from files, arrays and gensim."""

import copy
import pickle
import types

import numpy as np
import pytest

from wordmover import WordVectors


def test_the_built_in_table():
    vectors = WordVectors.builtin()
    assert (len(vectors), vectors.dim, vectors.name) == (81_000, 160, "minilm-160d-81k")
    assert "guitar" in vectors and "Guitar" not in vectors and 3 not in vectors
    assert vectors["guitar"].dtype == np.float32
    assert "guitars" in [word for word, _ in vectors.nearest("guitar", k=5)]
    assert repr(vectors) == "<WordVectors minilm-160d-81k: 81000 x 160>"
    assert list(vectors) == vectors.words
    with pytest.raises(KeyError, match="ᚠᚢᚦ"):
        vectors["ᚠᚢᚦ"]


def test_arrays_round_trip(tmp_path):
    matrix = np.arange(6, dtype=np.float64).reshape(2, 3)
    vectors = WordVectors.from_arrays(["b", "a"], np.asfortranarray(matrix))
    assert vectors.words == ["b", "a"]
    assert vectors["a"].tolist() == [3, 4, 5]
    vectors.save(tmp_path / "v.safetensors")
    again = WordVectors.load(tmp_path / "v.safetensors")
    assert again.checksum == vectors.checksum
    assert WordVectors.load(tmp_path / "v.safetensors", limit=1).words == ["b"]


def test_gensim_like_vectors(tmp_path):
    keyed = types.SimpleNamespace(index_to_key=["x", "y"], vectors=np.eye(2, dtype=np.float32))
    assert WordVectors.from_gensim(keyed).words == ["x", "y"]
    assert WordVectors.from_gensim(types.SimpleNamespace(wv=keyed))["y"].tolist() == [0, 1]
    with pytest.raises(TypeError, match="expected gensim's KeyedVectors, found int"):
        WordVectors.from_gensim(3)


def test_gensim_itself(tmp_path):
    models = pytest.importorskip("gensim.models")
    keyed = models.KeyedVectors(vector_size=3)
    keyed.add_vectors(["cat", "dog"], np.arange(6, dtype=np.float32).reshape(2, 3))
    ours = WordVectors.from_gensim(keyed)
    assert ours.words == ["cat", "dog"]
    assert ours["dog"].tolist() == [3, 4, 5]
    keyed.save_word2vec_format(tmp_path / "w2v.bin", binary=True)
    assert WordVectors.load(tmp_path / "w2v.bin").checksum == ours.checksum


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies(toy, protocol):
    again = pickle.loads(pickle.dumps(toy, protocol))
    assert (again.checksum, again.name, again.precision) == (toy.checksum, toy.name, "f32")
    assert copy.deepcopy(toy) is toy and copy.copy(toy) is toy
    builtin = pickle.dumps(WordVectors.builtin(), protocol)
    assert len(builtin) < 200
    assert pickle.loads(builtin).checksum == WordVectors.builtin().checksum


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize(("words", "matrix", "error", "message"), [
    (["a", "a"], np.eye(2), ValueError, "the word `a` stands already"),
    (["a"], np.eye(2), ValueError, "1 .*2"),
    ([], np.empty((0, 2)), ValueError, "no word"),
    (["a"], [[np.nan]], ValueError, "NaN"),
    (["a"], [[1e300]], ValueError, "inf"),
    (["a"], [1.0], ValueError, "two dimensions"),
    (["a"], None, ValueError, "two dimensions"),
    ([b"a"], [[1.0]], TypeError, "a word is bytes"),
    ([None], [[1.0]], TypeError, "a word is None"),
    (None, [[1.0]], TypeError, "words is None: it must be a list of str"),
    ("ab", np.eye(2), TypeError, "words is str: it must be a list"),
])
def test_bad_arrays_are_refused(words, matrix, error, message):
    with pytest.raises(error, match=message):
        WordVectors.from_arrays(words, matrix)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        WordVectors.load(tmp_path / "none.txt")
    assert error.value.filename == str(tmp_path / "none.txt")
    with pytest.raises(IsADirectoryError):
        WordVectors.load(tmp_path)
    (tmp_path / "bad.txt").write_text("cat 1 2\ndog 3\n")
    with pytest.raises(ValueError, match="bad.txt.*line 2"):
        WordVectors.load(tmp_path / "bad.txt")
    with pytest.raises(ValueError, match="limit|at least"):
        WordVectors.load(tmp_path / "bad.txt", limit=0)
    with pytest.raises(FileNotFoundError):
        WordVectors.builtin().save(tmp_path / "no" / "such" / "folder")
    with pytest.raises(ValueError, match="f64"):
        WordVectors.builtin().save(tmp_path / "v", precision="f64")
