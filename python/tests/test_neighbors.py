"""Nearest neighbours against a comparison with every document."""

import warnings

import pickle

import numpy as np
import pytest

from conftest import ODD
from wordmover import KNeighborsWMD, wmd


def test_neighbours_are_those_of_brute_force(headlines):
    queries = headlines[::5]
    distances, positions = KNeighborsWMD(n_neighbors=6).fit(headlines).kneighbors(queries)
    every = np.array([[wmd(query, text) for text in headlines] for query in queries])
    order = np.argsort(every, axis=1, kind="stable")[:, :6]
    assert positions.tolist() == order.tolist()
    assert distances.tolist() == np.take_along_axis(every, order, axis=1).tolist()


def test_nobody_is_their_own_neighbour(headlines):
    texts = [*headlines[:10], headlines[0], headlines[0]]
    model = KNeighborsWMD(n_neighbors=2).fit(texts)
    distances, positions = model.kneighbors()
    assert not (positions == np.arange(12)[:, None]).any()
    assert positions[0].tolist() == [10, 11] and distances[0].tolist() == [0, 0]
    assert positions[11].tolist() == [0, 10]
    assert model.kneighbors(n_neighbors=11, return_distance=False).shape == (12, 11)


def test_classes_and_scores(headlines, topics):
    model = KNeighborsWMD(n_neighbors=3).fit(headlines[::2], topics[::2])
    assert model.classes_.tolist() == sorted(set(topics))
    assert model.score(headlines[1::2], topics[1::2]) > 0.4
    exact = KNeighborsWMD(n_neighbors=1).fit(headlines, topics)
    assert exact.score(headlines, topics) == 1


def test_the_nearest_decides_a_tie(toy):
    texts, labels = [["cat"], ["dog"], ["sea"], ["sea"]], ["a", "b", "b", "a"]
    model = KNeighborsWMD(n_neighbors=2, vectors=toy).fit(texts, labels)
    for text, label in zip(texts[:3], labels):
        assert model.predict([text]).tolist() == [label]
    assert KNeighborsWMD(n_neighbors=2, vectors=toy).fit(
        texts, [1, 2, 2, 1]).predict([["cat"]]).dtype.kind == "i"


def test_documents_without_words_have_no_neighbours(headlines, topics):
    model = KNeighborsWMD(n_neighbors=2).fit([*headlines, ""], [*topics, "sport"])
    distances, positions = model.kneighbors(ODD[:2])
    assert np.isinf(distances).all() and (positions == -1).all()
    with pytest.warns(UserWarning, match="2 of 3 documents have no word"):
        assert model.predict([ODD[0], headlines[8], ODD[1]]).tolist() == [
            "sport", "business", "sport"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(headlines)
    assert 40 not in model.kneighbors(headlines)[1]
    # More neighbours than there are documents with words.
    few = KNeighborsWMD(n_neighbors=3).fit(["goat", "", "sea"], [0, 1, 1])
    assert few.kneighbors(["goat"])[1].tolist() == [[0, 2, -1]]


def test_idf_weights_come_from_the_corpus(headlines):
    plain = KNeighborsWMD().fit(headlines).kneighbors(headlines[:1])[0]
    tfidf = KNeighborsWMD(weights="tfidf").fit(headlines).kneighbors(headlines[:1])[0]
    assert plain[0, 0] == tfidf[0, 0] == 0
    assert (plain != tfidf).any()
    centred = KNeighborsWMD(normalization="center").fit(headlines).kneighbors(headlines[:1])[0]
    assert (centred != plain).any()


def test_what_is_refused(headlines, topics):
    model = KNeighborsWMD().fit(headlines)
    with pytest.raises(ValueError, match="fitted without labels"):
        model.predict(headlines)
    with pytest.raises(ValueError, match="n_neighbors is 41: there are only 40"):
        model.kneighbors(headlines, n_neighbors=41)
    with pytest.raises(ValueError, match="n_neighbors is 0"):
        model.kneighbors(headlines, n_neighbors=0)
    with pytest.raises(ValueError, match="n_neighbors is 0"):
        KNeighborsWMD(n_neighbors=0).fit(headlines)
    with pytest.raises(ValueError, match="no document"):
        KNeighborsWMD().fit([])
    with pytest.raises(ValueError, match="none of the 1 documents"):
        KNeighborsWMD().fit([""])
    with pytest.raises(TypeError, match="document 0 is None"):
        model.kneighbors([None])
    with pytest.raises(ValueError, match="1d"):
        KNeighborsWMD().fit(headlines, np.zeros((40, 2)))


@pytest.mark.parametrize(("labels", "words"), [
    ([np.nan] * 40, "NaN"),
    ([None] * 40, "Unknown label type"),
    (np.linspace(0, 1, 40), "continuous"),
])
def test_labels_that_are_no_classes_are_refused(headlines, labels, words):
    with pytest.raises(ValueError, match=words):
        KNeighborsWMD().fit(headlines, labels)


def test_parameters_set_after_fitting_wait_for_the_next_fit(headlines, topics):
    """Queries are read as the corpus was, also by a pickle's."""
    neighbors = KNeighborsWMD(stop_words=["goat"]).fit(headlines, topics)
    expected = neighbors.kneighbors(["the goat at sea", "Election"])[0].tolist()
    neighbors.set_params(stop_words=None, case="keep", weights="tfidf", max_words=1)
    for each in (neighbors, pickle.loads(pickle.dumps(neighbors))):
        assert each.kneighbors(["the goat at sea", "Election"])[0].tolist() == expected


def test_votes_become_probabilities(headlines, topics):
    neighbors = KNeighborsWMD(n_neighbors=5).fit(headlines, topics)
    shares = neighbors.predict_proba(headlines)
    assert shares.shape == (40, 5)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert set(np.round(shares * 5, 9).ravel()) <= {0, 1, 2, 3, 4, 5}
    _, positions = neighbors.kneighbors(headlines)
    for share, row in zip(shares, positions):
        expected = [(topics[row] == topic).mean() for topic in neighbors.classes_]
        np.testing.assert_allclose(share, expected)
    assert (shares.max(axis=1) == shares[np.arange(40), [
        list(neighbors.classes_).index(label) for label in neighbors.predict(headlines)]]).all()


def test_votes_by_distance(headlines, topics):
    neighbors = KNeighborsWMD(n_neighbors=5, votes="distance").fit(headlines, topics)
    # Each is its own neighbour, at distance 0, and outvotes all others.
    assert neighbors.predict(headlines).tolist() == topics.tolist()
    query = ["The president greets the press in Chicago"]
    distances, positions = neighbors.kneighbors(query)
    weights = 1 / distances[0]
    expected = [weights[topics[positions[0]] == topic].sum() for topic in neighbors.classes_]
    np.testing.assert_allclose(neighbors.predict_proba(query)[0], expected / weights.sum())
    with pytest.raises(ValueError, match="votes is 'ranked': it must be 'uniform' or 'distance'"):
        neighbors.set_params(votes="ranked").predict(query)


def test_texts_without_words_have_the_shares_of_the_corpus(headlines, topics):
    neighbors = KNeighborsWMD().fit(headlines[:12], topics[:12])
    with pytest.warns(UserWarning, match="1 of 2 documents have no word"):
        shares = neighbors.predict_proba(["", "election"])
    assert shares[0].tolist() == pytest.approx([4 / 12, 8 / 12])


def test_the_graph_of_neighbours(headlines):
    neighbors = KNeighborsWMD(n_neighbors=3).fit([*headlines, ""])
    graph = neighbors.kneighbors_graph()
    assert graph.shape == (41, 41) and graph[:40].sum() == 120 and graph[40].nnz == 0
    assert not graph.diagonal().any()
    distances, positions = neighbors.kneighbors(headlines[:2])
    graph = neighbors.kneighbors_graph(headlines[:2], mode="distance")
    assert graph[0, positions[0, 2]] == distances[0, 2]
    with pytest.raises(ValueError, match="mode is 'weights'"):
        neighbors.kneighbors_graph(mode="weights")
