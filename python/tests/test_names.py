"""The names of sentence-transformers, gensim and POT."""

import numpy as np
import ot
import pytest

from wordmover import (
    WordMoversEmbedding,
    WordVectors,
    emd,
    emd2,
    pairwise_wmd,
    transport,
    transport_batch,
    wmd,
)


@pytest.fixture(scope="module")
def pretrained():
    return WordMoversEmbedding.pretrained()


def test_a_model_by_name_needs_no_fit(pretrained):
    a, b, c = pretrained.encode([
        "Obama speaks to the media in Illinois", "The president greets the press in Chicago",
        "The band gave a concert in Japan"])
    near, far = pretrained.similarity_pairwise([a, a], [b, c])
    assert near > far + 0.2
    assert pretrained.get_sentence_embedding_dimension() == len(a) == 1024
    again = WordMoversEmbedding.pretrained()
    assert again is not pretrained and again.encode("goat").tobytes() == pretrained.encode(
        "goat").tobytes()
    assert pretrained.vectors == "builtin" and pretrained.known_share_ is None


def test_encode_is_called_as_theirs(pretrained, headlines):
    rows = pretrained.encode(headlines)
    assert pretrained.encode(headlines, 64).tobytes() == rows.tobytes()
    assert pretrained.encode(headlines, 64, False).tobytes() == rows.tobytes()
    for name in ("encode_query", "encode_document"):
        given = getattr(pretrained, name)(headlines, batch_size=8, convert_to_numpy=True)
        assert given.tobytes() == rows.tobytes()
    same = pretrained.encode(headlines, device="cpu", precision="float32", prompt=None,
                             output_value="sentence_embedding", prompt_name=None)
    assert same.tobytes() == rows.tobytes()
    unit = pretrained.encode(headlines, normalize_embeddings=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(pretrained.similarity(rows, rows), unit @ unit.T, atol=1e-5)
    assert pretrained.similarity(rows[0], rows).shape == (1, 40)
    assert pretrained.similarity_fn_name == "cosine"


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"precision": "int8"}, ValueError, "precision is 'int8': this embedding takes 'float32'"),
    ({"device": "cuda"}, ValueError, "device is 'cuda': this embedding takes None or 'cpu'"),
    ({"prompt": "query: "}, ValueError, "prompt is 'query: '"),
    ({"truncate_dim": 64}, ValueError, "truncate_dim is 64"),
    ({"bach_size": 3}, TypeError, "unexpected keyword argument 'bach_size'"),
    ({"batch_size": 0}, ValueError, "batch_size is 0"),
])
def test_what_is_asked_for_in_vain_is_refused_by_name(pretrained, options, error, words):
    with pytest.raises(error, match=words):
        pretrained.encode(["goat"], **options)


def test_single_texts_take_the_short_way(pretrained, headlines):
    """A few texts are embedded in one call to the native side, with the same bits."""
    rows = pretrained.encode(headlines)
    for i in (0, 17):
        assert pretrained.encode(headlines[i]).tobytes() == rows[i].tobytes()
        assert pretrained.transform([headlines[i]]).tobytes() == rows[i].tobytes()
    assert not pretrained.transform([""]).any()
    nan = WordMoversEmbedding(n_features=8, on_empty="nan").fit(headlines)
    assert np.isnan(nan.transform(["", "goat"])).all(axis=1).tolist() == [True, False]
    strict = WordMoversEmbedding(n_features=8, on_empty="error").fit(headlines)
    with pytest.raises(ValueError, match="1 of 1 documents have no word"):
        strict.encode("")


# gensim's


@pytest.fixture(scope="module")
def keyed():
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(50)]
    vectors = models.KeyedVectors(vector_size=7)
    vectors.add_vectors(words, rng.normal(size=(50, 7)).astype(np.float32))
    return vectors


def test_word_vectors_answer_as_gensims(keyed):
    ours = WordVectors.from_gensim(keyed)
    assert ours.index_to_key == keyed.index_to_key and ours.key_to_index == keyed.key_to_index
    assert ours.vector_size == keyed.vector_size == 7
    assert np.array_equal(ours.vectors, keyed.vectors)
    assert np.array_equal(ours[["w3", "w1"]], keyed[["w3", "w1"]])
    assert "w3" in ours and ours.has_index_for("w3") and not ours.has_index_for("w99")
    assert list(ours) == keyed.index_to_key and len(ours) == 50
    np.testing.assert_allclose(ours.get_vector("w2", norm=True), keyed.get_vector("w2", norm=True),
                               rtol=1e-6)
    assert ours.similarity("w1", "w2") == pytest.approx(keyed.similarity("w1", "w2"), abs=1e-6)
    assert ours.distance("w1", "w2") == pytest.approx(keyed.distance("w1", "w2"), abs=1e-6)
    for arguments in [("w1",), (["w1", "w2"], ["w3"]), ([("w1", 0.5), "w9"],), (["w1"], None, 3),
                      (keyed["w4"],), ([keyed["w4"], "w5"],)]:
        _assert_similar(ours.most_similar(*arguments), keyed.most_similar(*arguments))
    _assert_similar(ours.most_similar(positive=["w1"], negative=["w2", "w3"], topn=5),
                    keyed.most_similar(positive=["w1"], negative=["w2", "w3"], topn=5))
    _assert_similar(ours.similar_by_word("w7", 4), keyed.similar_by_word("w7", 4))
    _assert_similar(ours.similar_by_vector(keyed["w7"], 4), keyed.similar_by_vector(keyed["w7"], 4))


def _assert_similar(ours, theirs):
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    np.testing.assert_allclose([x for _, x in ours], [x for _, x in theirs], atol=1e-5)


def test_wmdistance_is_gensims(keyed):
    ours = WordVectors.from_gensim(keyed)
    a, b = ["w1", "w2", "w2", "unknown"], ["w3", "w4", "w1"]
    assert ours.wmdistance(a, b) == pytest.approx(keyed.wmdistance(a, b), abs=1e-6)
    assert ours.wmdistance(a, b, norm=False) == pytest.approx(keyed.wmdistance(a, b, norm=False),
                                                              abs=1e-5)
    assert ours.wmdistance(a, ["unknown"]) == np.inf


def test_word_vectors_refuse_in_one_sentence():
    ours = WordVectors.builtin()
    for word in ("ᚠᚢᚦ", ["goat", "ᚠᚢᚦ"]):
        with pytest.raises(KeyError, match="ᚠᚢᚦ"):
            ours[word]
        with pytest.raises(KeyError, match="ᚠᚢᚦ"):
            ours.most_similar(word)
    with pytest.raises(TypeError, match="a word is int, not a str"):
        ours[3]
    with pytest.raises(ValueError, match="needs a word or vector"):
        ours.most_similar()
    with pytest.raises(ValueError, match="a vector of 2 values, where the words have 160"):
        ours.similar_by_vector([1.0, 2.0])


# POT's


def test_emd_of_a_permutation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    costs = ot.dist(x, x[::-1])
    uniform = ot.unif(30)
    plan = emd(uniform, uniform, costs)
    np.testing.assert_allclose(plan, np.eye(30)[::-1] / 30, atol=1e-15)
    assert emd2([], [], costs) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "cityblock"])
def test_emd_and_emd2_agree_with_pot(metric):
    rng = np.random.default_rng(1)
    a, b = rng.random(20), rng.random(35)
    a, b = a / a.sum(), b / b.sum()
    costs = ot.dist(rng.normal(size=(20, 3)), rng.normal(size=(35, 3)), metric=metric)
    plan, log = emd(a, b, costs, log=True)
    theirs, their_log = ot.emd(a, b, costs, log=True)
    np.testing.assert_allclose(plan.sum(axis=1), a, atol=1e-12)
    if metric != "cityblock":
        # There, several plans are optimal.
        np.testing.assert_allclose(plan, theirs, atol=1e-12)
    assert log["cost"] == pytest.approx(their_log["cost"], rel=1e-12)
    assert log["warning"] is None and set(log) >= {"cost", "u", "v", "warning", "result_code"}
    assert log["u"] @ a + log["v"] @ b == pytest.approx(log["cost"], rel=1e-12)
    # Both sides share the cost evenly, as POT's.
    assert log["u"] @ a == pytest.approx(their_log["u"] @ a, abs=1e-10)
    assert (log["u"][:, None] + log["v"] <= costs + 1e-12).all()
    assert emd2(a, b, costs) == pytest.approx(ot.emd2(a, b, costs), rel=1e-12)
    cost, log = emd2(a, b, costs, log=True, return_matrix=True)
    assert np.array_equal(log["G"], plan) and cost == log["cost"]


def test_emd_in_one_dimension():
    rng = np.random.default_rng(2)
    x, y = np.sort(rng.normal(size=40)), np.sort(rng.normal(size=40))
    costs = np.abs(x[:, None] - y)
    assert emd2([], [], costs) == pytest.approx(np.abs(x - y).mean(), rel=1e-12)


def test_several_histograms_at_once():
    rng = np.random.default_rng(3)
    a, b = np.full(6, 1 / 6), rng.random((6, 4))
    b /= b.sum(axis=0)
    costs = rng.random((6, 6))
    ours = emd2(a, b, costs)
    np.testing.assert_allclose(ours, ot.emd2(a, b, costs), rtol=1e-12)
    several, logs = emd2(a, b, costs, log=True)
    assert several.tolist() == ours.tolist() and len(logs) == 4


def test_marginals():
    """Different sums are refused, weights of zero and float32 are not."""
    with pytest.raises(ValueError, match="they must have the same sum"):
        emd([0.5, 0.5], [0.5, 0.4], np.eye(2))
    unequal = [0.5, 0.5], [0.5, 0.4], np.eye(2)
    assert emd2(*unequal, check_marginals=False) == pytest.approx(
        ot.emd2(*map(np.array, unequal), check_marginals=False))
    assert emd([0, 1], [1, 0], [[1, 2], [3, 4]]).tolist() == [[0, 0], [1, 0]]
    single = np.full(7, 1 / 7, dtype=np.float32)
    other = np.full(9, 1 / 9, dtype=np.float32)
    costs = np.random.default_rng(4).random((7, 9)).astype(np.float32)
    assert emd2(single, other, costs) == pytest.approx(ot.emd2(single, other, costs), rel=1e-5)
    with pytest.raises(ValueError, match="2 dimensions"):
        emd([], [], [1.0, 2.0])


def test_plans_and_duals_of_many_problems():
    rng = np.random.default_rng(5)
    costs, a, b = rng.random((8, 5, 6)), np.full(5, 0.2), np.full(6, 1 / 6)
    values, plans, (us, vs) = transport_batch(costs, a, b, return_plan=True, return_duals=True)
    assert values.tolist() == transport_batch(costs, a, b).tolist()
    assert plans.shape == (8, 5, 6) and us.shape == (8, 5) and vs.shape == (8, 6)
    for i in range(8):
        cost, plan, (u, v) = transport(costs[i], a, b, return_plan=True, return_duals=True)
        assert (cost, plan.tolist()) == (values[i], plans[i].tolist())
        assert (u.tolist(), v.tolist()) == (us[i].tolist(), vs[i].tolist())
    shapes = [(3, 4), (1, 1), (4, 2)]
    listed = [rng.random(shape) for shape in shapes]
    values, plans = transport_batch(listed, [np.full(n, 1 / n) for n, _ in shapes],
                                    [np.full(m, 1 / m) for _, m in shapes], return_plan=True)
    assert isinstance(plans, list) and [plan.shape for plan in plans] == shapes
    empty = transport_batch(np.empty((0, 2, 3)), [0.5, 0.5], np.full(3, 1 / 3), return_duals=True)
    assert empty[0].shape == (0,)


# All pairs


def test_pairwise_distances_are_those_of_pairs(headlines):
    heard = []
    among = pairwise_wmd(headlines[:9], progress=lambda *done: heard.append(done))
    assert np.array_equal(among, among.T) and not among.diagonal().any()
    assert heard[-1] == (36, 36)
    for i, j in ((0, 1), (3, 8), (8, 2)):
        assert among[i, j] == wmd(headlines[i], headlines[j])
    between = pairwise_wmd(headlines[:9], headlines[5:7])
    assert between.shape == (9, 2) and np.array_equal(between, among[:, 5:7])
    with pytest.warns(UserWarning, match="have no word that the vectors know"):
        odd = pairwise_wmd(["goat", "", "sea"])
    assert np.isinf(odd[1, [0, 2]]).all() and odd[1, 1] == 0
    assert pairwise_wmd([]).shape == (0, 0)
