"""Transport against POT, its proofs, and what is refused."""

import numpy as np
import ot
import pytest

from wordmover import partial_transport, transport, transport_batch

TOLERANCE = 1e-9


def weights(rng, n):
    mass = rng.random(n) + 1e-3
    return mass / mass.sum()


def random_problem(rng, n, m):
    points = rng.normal(size=(n, 5)), rng.normal(size=(m, 5))
    return ot.dist(*points, metric="euclidean"), weights(rng, n), weights(rng, m)


def tied_problem(rng, n, m):
    costs = rng.integers(0, 3, size=(n, m)).astype(float)
    return costs, np.full(n, 1 / n), np.full(m, 1 / m)


def sparse_problem(rng, n, m):
    costs, a, b = random_problem(rng, n + 1, m + 1)
    a[rng.random(n + 1) < 0.4] = 0
    b[rng.random(m + 1) < 0.4] = 0
    a[0] += 0.5
    b[0] += 0.5
    return costs, a / a.sum(), b / b.sum()


def same_points(rng, n, _):
    points = rng.normal(size=(n, 3))
    return ot.dist(points, points, metric="euclidean"), weights(rng, n), weights(rng, n)


def wide_weights(rng, n, m):
    costs, _, _ = random_problem(rng, n, m)
    a, b = 10.0 ** rng.uniform(-8, 0, n), 10.0 ** rng.uniform(-8, 0, m)
    return costs, a / a.sum(), b / b.sum()


def negative_costs(rng, n, m):
    costs, a, b = random_problem(rng, n, m)
    return costs - 3, a, b


KINDS = [random_problem, tied_problem, sparse_problem, same_points, wide_weights, negative_costs]
SHAPES = [(1, 1), (1, 7), (7, 1), (2, 2), (10, 3), (72, 6), (6, 72), (40, 40), (120, 90)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_costs_are_those_of_pot(kind, shape):
    rng = np.random.default_rng([KINDS.index(kind), *shape])
    for _ in range(5):
        costs, a, b = kind(rng, *shape)
        theirs = ot.emd2(a, b, costs, numItermax=1_000_000)
        assert abs(transport(costs, a, b) - theirs) <= TOLERANCE * max(1, abs(theirs))


@pytest.mark.parametrize("kind", KINDS)
def test_plans_and_duals_prove_the_cost(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for shape in SHAPES:
        costs, a, b = kind(rng, *shape)
        cost, plan, (u, v) = transport(costs, a, b, return_plan=True, return_duals=True)
        assert plan.shape == costs.shape
        assert (plan >= 0).all()
        np.testing.assert_allclose(plan.sum(axis=1), a, atol=1e-12)
        np.testing.assert_allclose(plan.sum(axis=0), b, atol=1e-12)
        assert (u[:, None] + v <= costs + 1e-12).all()
        assert cost == pytest.approx((plan * costs).sum(), abs=1e-12)
        assert cost == pytest.approx(u @ a + v @ b, abs=1e-12)
        assert cost == transport(costs, a, b)
        assert transport(costs, a, b, return_plan=True)[1].tobytes() == plan.tobytes()
        assert transport(costs, a, b, return_duals=True)[1][0].tobytes() == u.tobytes()


def test_single_precision_is_taken_as_it_is():
    rng = np.random.default_rng(5)
    costs, a, b = (values.astype(np.float32) for values in random_problem(rng, 72, 6))
    # What POT users meet as "infeasible": sums that differ in the eighth digit.
    assert abs(a.astype(float).sum() - b.astype(float).sum()) > 1e-9
    with pytest.raises(ValueError, match="supplies sum to .* and demands to .*normalize=True"):
        transport(costs, a, b)
    a64, b64 = a.astype(float), b.astype(float)
    theirs = ot.emd2(a64 / a64.sum(), b64 / b64.sum(), costs.astype(float))
    assert transport(costs, a, b, normalize=True) == pytest.approx(theirs, abs=TOLERANCE)
    halves = np.full(2, 0.5, np.float32)
    tie = np.array([[0, 1], [1, 0]], np.float32)
    assert transport(tie, halves, halves) == 0.0


def test_layout_does_not_matter():
    rng = np.random.default_rng(6)
    costs, a, b = random_problem(rng, 30, 8)
    expected = transport(costs, a, b)
    assert transport(np.asfortranarray(costs), a, b) == expected
    assert transport(np.repeat(costs, 2, axis=0)[::2], np.repeat(a, 2)[::2], b) == expected
    assert transport(costs.tolist(), a.tolist(), tuple(b)) == expected
    assert transport(np.array([[3]]), [2], [2]) == 6.0


def test_batches_are_single_problems():
    rng = np.random.default_rng(7)
    problems = [random_problem(rng, 20, 5) for _ in range(200)]
    one_by_one = [transport(*problem) for problem in problems]
    stacked = [np.stack(part) for part in zip(*problems)]
    assert transport_batch(*stacked).tolist() == one_by_one
    assert transport_batch(*map(list, zip(*problems))).tolist() == one_by_one
    ragged = [random_problem(rng, n, m) for n, m in SHAPES]
    expected = [transport(*problem) for problem in ragged]
    assert transport_batch(*map(list, zip(*ragged))).tolist() == expected
    shared = transport_batch(stacked[0], problems[0][1], problems[0][2])
    listed = transport_batch(list(stacked[0]), problems[0][1], problems[0][2])
    assert shared.tolist() == listed.tolist()
    assert shared[3] == transport(problems[3][0], problems[0][1], problems[0][2])
    assert transport_batch(np.empty((0, 2, 2)), np.empty((0, 2)), np.empty((0, 2))).shape == (0,)
    assert transport_batch([], [], []).shape == (0,)


HALVES = [0.5, 0.5]
GOOD = [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(("costs", "a", "b", "words"), [
    (GOOD, HALVES, [0.5, 0.6], "supplies sum to 1 and demands to 1.1"),
    (GOOD, HALVES, [1.5, -0.5], "demand 1 is -0.5"),
    (GOOD, [np.nan, 1], HALVES, "supply 0 is NaN"),
    (GOOD, [0, 0], [0, 0], "at least one positive supply"),
    ([[0, np.nan], [1, 0]], HALVES, HALVES, "from source 0 to sink 1 is NaN"),
    ([[0, np.inf], [1, 0]], HALVES, HALVES, "is inf"),
    (GOOD, [1.0], HALVES, "2 x 2 do not fit 1 supplies and 2 demands"),
    ([0.0, 1.0], HALVES, HALVES, "costs have 2 dimensions, these have 1"),
    (GOOD, [HALVES], HALVES, "a has 2 dimensions"),
    (GOOD, HALVES, None, "b has 0 dimensions"),
    (None, HALVES, HALVES, "costs have 2 dimensions"),
    (GOOD, ["x", "y"], HALVES, "could not convert"),
    ([[0.0, 1.0], [1.0]], HALVES, HALVES, "inhomogeneous"),
    (np.empty((0, 0)), [], [], "at least one positive supply"),
])
def test_bad_problems_are_refused_in_one_sentence(costs, a, b, words):
    with pytest.raises(ValueError, match=words):
        transport(costs, a, b)


def test_bad_batches_name_their_problem():
    costs = np.zeros((3, 2, 2))
    weights = np.full((3, 2), 0.5)
    wrong = weights.copy()
    wrong[2, 0] = 0.7
    with pytest.raises(ValueError, match="problem 2: supplies sum to"):
        transport_batch(costs, wrong, weights)
    with pytest.raises(ValueError, match="problem 1: costs of shape 2 x 2 do not fit 3"):
        transport_batch(list(costs), [HALVES, [0.2, 0.3, 0.5], HALVES], list(weights))
    with pytest.raises(ValueError, match="3 cost matrices, 2 supplies"):
        transport_batch(list(costs), [HALVES] * 2, list(weights))
    with pytest.raises(ValueError, match="do not fit supplies of shape"):
        transport_batch(costs, weights[:2], weights)
    with pytest.raises(ValueError, match="3 dimensions"):
        transport_batch(costs[0], weights, weights)
    with pytest.raises(ValueError, match="no positive finite sum"):
        transport_batch(costs, weights * 0, weights, normalize=True)


def test_complex_numbers_are_refused():
    half = [0.5, 0.5]
    with pytest.raises(TypeError, match="costs are complex numbers: they must be real"):
        transport(np.eye(2) * 1j, half, half)
    with pytest.raises(TypeError, match="b are complex"):
        transport(np.eye(2), half, np.array(half) + 0j)
    with pytest.raises(TypeError, match="costs are complex"):
        transport_batch(np.ones((3, 2, 2)) * 1j, half, half)


def test_masked_values_are_refused():
    half = [0.5, 0.5]
    masked = np.ma.masked_array(np.eye(2), mask=[[True, False], [False, False]])
    with pytest.raises(TypeError, match="costs have masked values: fill them first"):
        transport(masked, half, half)
    assert transport(np.ma.masked_array(np.eye(2)), half, half) == 0


def test_a_list_of_weights_may_be_shared():
    costs = [np.eye(2), 2 - np.eye(2)]
    shared = transport_batch(costs, [0.5, 0.5], [0.25, 0.75]).tolist()
    assert shared == [transport(cost, [0.5, 0.5], [0.25, 0.75]) for cost in costs]


def test_a_cost_that_is_too_large_is_said_in_few_digits():
    with pytest.raises(ValueError, match="the cost from source 0 to sink 0 is 1e301, not") as error:
        transport([[1e301]], [1], [1])
    assert len(str(error.value)) < 120


def test_plans_sum_to_the_weights_as_far_as_their_sums_agree():
    rng = np.random.default_rng(5)
    a, b = rng.random(30), rng.random(40)
    a, b = a / a.sum(), b / b.sum() * (1 + 9e-10)
    _, plan = transport(rng.random((30, 40)), a, b, return_plan=True)
    assert abs(plan.sum(axis=1) - a).max() < 1.1e-9
    assert abs(plan.sum(axis=0) - b).max() < 1.1e-9


@pytest.mark.parametrize("kind", [random_problem, tied_problem, sparse_problem, wide_weights])
def test_partial_transport_is_that_of_pot_and_proved(kind):
    rng = np.random.default_rng(5)
    for n, m in SHAPES:
        costs, a, b = kind(rng, n, m)
        for share in [0.1, 0.8]:
            found = partial_transport(costs, 2 * a, b, mass=share)
            expected = ot.partial.partial_wasserstein2(2 * a, b, costs, m=share)
            assert found.cost == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE * costs.max())
            assert found.plan.sum() == pytest.approx(share, abs=1e-12)
            kept = found.plan.sum(axis=1) + found.unmatched_supply
            assert kept == pytest.approx(2 * a, abs=1e-12)
            assert max(found.supply_duals.max(), found.demand_duals.max()) <= 0
            duals = found.supply_duals[:, None] + found.demand_duals + found.mass_dual
            assert (duals <= costs + 1e-12 * costs.max()).all()
            worth = found.supply_duals @ (2 * a) + found.demand_duals @ b + found.mass_dual * share
            assert worth == pytest.approx(found.cost, abs=1e-12 * costs.max())


def test_a_penalty_says_how_much_moves():
    costs = np.array([[1.0, 5.0]])
    found = partial_transport(costs, [1.0], [0.5, 0.5], penalty=2.0)
    assert (found.cost, found.mass, found.mass_dual) == (0.5, 0.5, 4.0)
    with pytest.raises(ValueError, match="needs a mass or a penalty"):
        partial_transport(costs, [1.0], [0.5, 0.5])
    with pytest.raises(ValueError, match="the cost from source 0 to sink 1 is NaN"):
        partial_transport([[1.0, np.nan]], [1.0], [0.5, 0.5], mass=0.5)


def test_a_batch_on_a_gpu_has_the_costs_of_the_cpu():
    random = np.random.default_rng(3)
    costs = random.random((20, 12, 9))
    supplies = random.dirichlet(np.ones(12), 20)
    demands = random.dirichlet(np.ones(9), 20)
    expected = transport_batch(costs, supplies, demands)
    try:
        found = transport_batch(costs, supplies, demands, device="cuda")
    except RuntimeError as error:
        assert "CUDA" in str(error) or "GPU" in str(error)
        found = transport_batch(costs, supplies, demands, device="auto")
        assert (found == expected).all()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    listed = transport_batch(list(costs), list(supplies), list(demands), device="auto")
    assert (listed == found).all()
    found, plans, (us, vs) = transport_batch(
        costs, supplies, demands, return_plan=True, return_duals=True, device="auto"
    )
    np.testing.assert_allclose((plans * costs).sum((1, 2)), expected, rtol=1e-12)
    np.testing.assert_allclose(plans.sum(2), supplies, atol=1e-15)
    np.testing.assert_allclose((us * supplies).sum(1) + (vs * demands).sum(1), expected, rtol=1e-12)
    assert (us[:, :, None] + vs[:, None] <= costs + 1e-12).all()
    wrong = costs.copy()
    wrong[7, 0, 0] = np.nan
    with pytest.raises(ValueError, match="^problem 7: "):
        transport_batch(wrong, supplies, demands, device="auto")
    for given in costs, list(costs):
        with pytest.raises(ValueError, match="device is 'tpu': it must be 'cpu', 'cuda' or 'auto'"):
            transport_batch(given, list(supplies), list(demands), device="tpu")
