"""Sets of points: exact, as the words' embedding, and what is refused."""

import pickle

import numpy as np
import ot
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks, get_tags

from wordmover import WassersteinEmbedding, wasserstein_distances

METRICS = ["euclidean", "sqeuclidean", "cosine", "cityblock"]


@pytest.fixture
def sets():
    rng = np.random.default_rng(3)
    return [rng.normal(size=(rng.integers(1, 9), 4)).astype(np.float32) for _ in range(30)]


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_pot(sets, metric):
    found = wasserstein_distances(sets[:6], sets[6:12], metric=metric)
    for i, x in enumerate(sets[:6]):
        for j, y in enumerate(sets[6:12]):
            costs = cdist(x.astype(float), y.astype(float), metric)
            a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
            assert found[i, j] == pytest.approx(ot.emd2(a, b, costs), rel=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("random_points", ["uniform", "gaussian", "samples", "sets"])
def test_features_are_of_exact_distances(sets, metric, random_points):
    model = WassersteinEmbedding(n_features=16, metric=metric, random_points=random_points)
    features = model.fit_transform(sets)
    assert features.dtype == np.float32 and features.shape == (30, 16)
    _, (_, gamma, dim, lengths, points) = model._model.__reduce__()
    assert gamma == model.gamma_ and dim == 4
    random = np.split(points.reshape(-1, 4), np.cumsum(lengths)[:-1])
    distances = wasserstein_distances(sets, random, metric=metric)
    expected = np.exp(-model.gamma_ * distances) / 4
    assert features == pytest.approx(expected, rel=1e-5)
    assert (model.transform(sets[7:9]) == features[7:9]).all()


def test_all_forms_of_input_are_the_same(sets):
    model = WassersteinEmbedding(n_features=8).fit(sets)
    expected = model.transform(sets)
    offsets = np.cumsum([0, *map(len, sets)])
    assert (model.transform(np.concatenate(sets), offsets=offsets) == expected).all()
    uniform = [np.full(len(points), 1 / len(points)) for points in sets]
    assert (model.transform(sets, weights=uniform) == expected).all()
    assert (model.transform([points.tolist() for points in sets]) == expected).all()
    same_size = np.stack([points[:1] for points in sets])
    assert (model.transform(same_size) == model.transform(list(same_size))).all()
    # Only proportions count, and a point without weight is none.
    more = [np.vstack([points, [[9, 9, 9, 9]]]) for points in sets]
    weights = [np.append(np.full(len(points), 1.0), 0.0) for points in sets]
    np.testing.assert_allclose(model.transform(more, weights=weights), expected, rtol=1e-6)


def test_arrow_columns_of_lists_are_embedded(sets):
    pyarrow = pytest.importorskip("pyarrow")
    model = WassersteinEmbedding(n_features=8).fit(sets)
    lists = pyarrow.array([points.tolist() for points in sets])
    weights = pyarrow.array([[1.0 / len(points)] * len(points) for points in sets])
    batch = pyarrow.record_batch({"points": lists, "w": weights, "id": list(range(30))})
    for given in [batch, batch.slice(5, 20)]:
        found = model.embed_arrow(given, weights="w")
        assert found.schema.names == ["points", "w", "id", "embedding"]
        rows = np.array(found.column("embedding").to_pylist(), dtype=np.float32)
        first = given.column("id")[0].as_py()
        assert (rows == model.transform(sets[first : first + len(rows)])).all()
    ragged = pyarrow.record_batch({"points": [[[1.0, 2.0]], [[1.0, 2.0], [3.0]]]})
    with pytest.raises(ValueError, match="point 1 of row 1 has 1 coordinates, not 2"):
        model.embed_arrow(ragged)
    with pytest.raises(ValueError, match="row 1 of column 'points' is missing"):
        model.embed_arrow(pyarrow.record_batch({"points": [[[1.0] * 4], None]}))
    with pytest.raises(ValueError, match="no single column 'x'"):
        model.embed_arrow(batch, column="x")
    with pytest.raises(TypeError, match="column 'id' holds int64, not lists"):
        model.embed_arrow(batch, column="id")


def test_it_is_an_estimator(sets):
    model = WassersteinEmbedding(n_features=8, gamma=0.5, random_state=7)
    for check in ["check_estimator_cloneable", "check_estimator_repr", "check_set_params",
                  "check_get_params_invariance", "check_no_attributes_set_in_init",
                  "check_parameters_default_constructible", "check_valid_tag_types"]:
        if hasattr(estimator_checks, check):
            getattr(estimator_checks, check)("WassersteinEmbedding", clone(model))
    with pytest.raises(NotFittedError):
        model.transform(sets)
    features = model.fit(sets, np.arange(30)).transform(sets)
    assert model.n_features_in_ == 4 and model.gamma_ == 0.5
    assert list(model.get_feature_names_out())[0] == "wassersteinembedding0"
    again = pickle.loads(pickle.dumps(model))
    assert (again.transform(sets) == features).all() and again.gamma_ == 0.5
    assert (clone(model).fit_transform(sets) == features).all()
    assert not (clone(model).set_params(random_state=8).fit_transform(sets) == features).all()
    assert make_pipeline(model, StandardScaler()).fit_transform(sets).shape == (30, 8)
    assert get_tags(model).input_tags.three_d_array


@pytest.mark.parametrize(("X", "options", "error", "message"), [
    ([], {}, ValueError, "there are no sets"),
    ([[[1.0, 2.0]], [[1.0, 2.0], [3.0]]], {}, ValueError, "set 1 is no array of real numbers"),
    ([[[1.0]], [[1.0, 2.0]]], {}, ValueError, "points of set 1 have dimension 2, not 1"),
    ([[[1.0]], [1.0]], {}, ValueError, "set 1 has 1 dimensions"),
    ([[[1.0]], np.empty((0, 1))], {}, ValueError, "set 1 has no points"),
    ([[[1.0]], [[0.0], [np.nan]]], {}, ValueError, "coordinate 0 of point 1 of set 1 is NaN"),
    ([[[1.0]], [[1e300]]], {}, ValueError, "coordinate 0 of point 0 of set 1 is inf"),
    ([[["a"]]], {}, ValueError, "set 0 is no array of real numbers"),
    ([[[1j]]], {}, ValueError, "set 0 is no array of real numbers"),
    ([[[1.0]]], {"weights": [[0.0]]}, ValueError, "all weights of set 0 are 0"),
    ([[[1.0]]], {"weights": [[-1.0]]}, ValueError, "weight of point 0 of set 0 is -1"),
    ([[[1.0]]], {"weights": [[1.0, 1.0]]}, ValueError, "set 0 has 1 points and 2 weights"),
    ([[[1.0]]], {"weights": []}, ValueError, "weights of 0 sets for 1 sets"),
    (np.ones((3, 2)), {}, ValueError, "X has 2 dimensions"),
    (np.ones((3, 2)), {"offsets": [0, 4]}, ValueError, "ascend from 0 to the number of points, 3"),
    (np.ones((3, 2)), {"offsets": [0, 2, 1, 3]}, ValueError, "offsets must ascend"),
    (np.ones((3, 2)), {"offsets": [0.5, 3]}, ValueError, "offsets must be integers"),
    (np.ones((3, 2)), {"offsets": [0, 3], "weights": [1.0]}, ValueError, "1 weights for 3 points"),
    ("abc", {}, TypeError, "X is str"),
    (None, {}, TypeError, "X is NoneType"),
])
def test_bad_sets_are_refused_with_their_position(X, options, error, message):
    with pytest.raises(error, match=message):
        WassersteinEmbedding(n_features=4).fit(X, **options)


@pytest.mark.parametrize(("options", "message"), [
    ({"metric": "chebyshev"}, 'metric is "chebyshev": it must be "euclidean"'),
    ({"random_points": "words"}, 'random_points is "words"'),
    ({"n_features": 0}, "n_features is 0"),
    ({"gamma": -1.0}, "gamma is -1"),
])
def test_bad_parameters_are_named(sets, options, message):
    with pytest.raises(ValueError, match=message):
        WassersteinEmbedding(**options).fit(sets)


def test_points_of_another_dimension_are_refused(sets):
    model = WassersteinEmbedding(n_features=4).fit(sets)
    with pytest.raises(ValueError, match="the points have dimension 2, not 4"):
        model.transform([[[1.0, 2.0]]])
