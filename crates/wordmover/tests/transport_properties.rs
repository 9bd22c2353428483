//! Properties of the exact solver: proved optimal, symmetric, bounded below.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use wordmover::transport::{
    Amount, Certificate, Workspace, cost, relaxed_from_demand, relaxed_from_supply, solve,
    solve_partial,
};

/// A problem: costs, supplies and demands of total one.
fn problems(max: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>)> {
    problems_of(1..=max)
}

/// The same with so many sources, and so many sinks.
fn problems_of(
    sizes: RangeInclusive<usize>,
) -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>)> {
    (sizes.clone(), sizes, 0..4u8).prop_flat_map(|(n, m, kind)| {
        // Few distinct costs make ties; so do few distinct weights.
        let cost = match kind {
            0 => (0..4u8).prop_map(f64::from).boxed(),
            1 => (-3.0..3.0f64).boxed(),
            _ => (0.0..1.0f64).boxed(),
        };
        let weight = match kind {
            0 => (0..3u8).prop_map(f64::from).boxed(),
            2 => (0..27i32, 0.5..1.0f64)
                .prop_map(|(k, u)| u * 0.5f64.powi(k))
                .boxed(),
            _ => (0.0..1.0f64).boxed(),
        };
        (
            prop::collection::vec(cost, n * m),
            weights(weight.clone(), n),
            weights(weight, m),
        )
    })
}

fn weights(weight: BoxedStrategy<f64>, n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(weight, n)
        .prop_filter("some mass", |w| w.iter().sum::<f64>() > 0.0)
        .prop_map(|w| {
            let total: f64 = w.iter().sum();
            w.iter().map(|x| x / total).collect()
        })
}

fn transposed(costs: &[f64], n: usize, m: usize) -> Vec<f64> {
    (0..m)
        .flat_map(|j| (0..n).map(move |i| costs[i * m + j]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5000) })]

    #[test]
    fn every_answer_is_proved_optimal((costs, supply, demand) in problems(24)) {
        let solution = solve(&costs, &supply, &demand).unwrap();
        let certificate = Certificate::check(&costs, &supply, &demand, &solution);
        prop_assert!(certificate.holds(1e-12), "{certificate:?}");
    }

    #[test]
    fn every_part_of_the_mass_is_moved_at_a_cost_proved_optimal(
        (costs, supply, demand) in problems(20),
        share in prop_oneof![0.001..1.0f64, Just(1.0), Just(0.5)],
        factor in prop_oneof![0.1..10.0f64, Just(1.0)],
        penalty in 0.0..2.0f64,
    ) {
        let supply: Vec<f64> = supply.iter().map(|w| w * factor).collect();
        let most = supply.iter().sum::<f64>().min(demand.iter().sum());
        let plan = solve_partial(&costs, &supply, &demand, Amount::Mass(share * most)).unwrap();
        let certificate = plan.certificate(&costs, &supply, &demand);
        prop_assert!(certificate.holds(1e-12), "{certificate:?}");
        let plan = solve_partial(&costs, &supply, &demand, Amount::Penalty(penalty)).unwrap();
        let certificate = plan.certificate(&costs, &supply, &demand);
        prop_assert!(certificate.holds(1e-12), "{certificate:?}");
        // The same mass without a penalty costs the same.
        if plan.mass > 1e-6 {
            let same = solve_partial(&costs, &supply, &demand, Amount::Mass(plan.mass)).unwrap();
            prop_assert!((same.cost - plan.cost).abs() <= 1e-11, "{} {}", same.cost, plan.cost);
        }
    }

    #[test]
    fn a_certificate_of_part_of_the_mass_finds_what_is_wrong(
        (costs, supply, demand) in problems(8),
        by in 0.01..1.0f64,
    ) {
        let plan = solve_partial(&costs, &supply, &demand, Amount::Mass(0.5)).unwrap();
        let holds = |change: fn(&mut wordmover::transport::PartialSolution, f64)| {
            let mut plan = plan.clone();
            change(&mut plan, by);
            plan.certificate(&costs, &supply, &demand).holds(1e-6)
        };
        prop_assert!(holds(|_, _| ()));
        prop_assert!(!holds(|plan, by| plan.cost += by));
        prop_assert!(!holds(|plan, by| plan.mass += by));
        prop_assert!(!holds(|plan, by| plan.mass_dual += by));
        prop_assert!(!holds(|plan, by| plan.flows[0].mass += by));
        prop_assert!(!holds(|plan, by| plan.unmatched_supply[0] += by));
        prop_assert!(!holds(|plan, by| plan.supply_duals[0] += 1e3 * by));
        prop_assert!(!holds(|plan, _| plan.flows[0].mass = f64::NAN));
    }

    #[test]
    fn all_of_the_mass_is_the_balanced_problem((costs, supply, demand) in problems(16)) {
        let plan = solve_partial(&costs, &supply, &demand, Amount::Mass(1.0)).unwrap();
        let whole = solve(&costs, &supply, &demand).unwrap();
        prop_assert!((plan.cost - whole.cost).abs() <= 1e-12);
    }

    #[test]
    fn the_cost_alone_is_that_of_the_solution(
        first in problems(16),
        second in problems(16),
    ) {
        let mut workspace = Workspace::default();
        for (costs, supply, demand) in [first, second] {
            let alone = cost(&costs, &supply, &demand, &mut workspace).unwrap();
            prop_assert_eq!(alone, solve(&costs, &supply, &demand).unwrap().cost);
        }
    }

    #[test]
    fn exchanging_the_sides_keeps_the_cost((costs, supply, demand) in problems(16)) {
        let there = solve(&costs, &supply, &demand).unwrap().cost;
        let back = transposed(&costs, supply.len(), demand.len());
        let back = solve(&back, &demand, &supply).unwrap().cost;
        prop_assert!((there - back).abs() <= 1e-12 * (1.0 + there.abs()));
    }

    #[test]
    fn relaxed_costs_are_lower_bounds((costs, supply, demand) in problems(16)) {
        let exact = solve(&costs, &supply, &demand).unwrap().cost;
        let slack = 1e-12 * (1.0 + exact.abs());
        prop_assert!(relaxed_from_supply(&costs, &supply, demand.len()) <= exact + slack);
        prop_assert!(relaxed_from_demand(&costs, &demand) <= exact + slack);
    }

    #[test]
    fn on_a_line_the_cost_is_the_area_between_the_distribution_functions(
        points in prop::collection::vec((0.0..10.0f64, 0.01..1.0f64, 0.01..1.0f64), 1..30),
    ) {
        let mut points = points;
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let normalised = |w: Vec<f64>| -> Vec<f64> {
            let total: f64 = w.iter().sum();
            w.iter().map(|x| x / total).collect()
        };
        let supply = normalised(points.iter().map(|p| p.1).collect());
        let demand = normalised(points.iter().map(|p| p.2).collect());
        let costs: Vec<f64> = points
            .iter()
            .flat_map(|a| points.iter().map(move |b| (a.0 - b.0).abs()))
            .collect();
        let (mut area, mut difference) = (0.0, 0.0f64);
        for (k, pair) in points.windows(2).enumerate() {
            difference += supply[k] - demand[k];
            area += difference.abs() * (pair[1].0 - pair[0].0);
        }
        let cost = solve(&costs, &supply, &demand).unwrap().cost;
        prop_assert!((cost - area).abs() <= 1e-10, "{cost} and {area}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Pairs of documents whose tree is kept in sets of arcs, and a little beyond.
    #[test]
    fn every_answer_for_short_documents_is_proved_optimal(
        (costs, supply, demand) in problems_of(25..=66),
    ) {
        let solution = solve(&costs, &supply, &demand).unwrap();
        let certificate = Certificate::check(&costs, &supply, &demand, &solution);
        prop_assert!(certificate.holds(1e-12), "{certificate:?}");
    }
}

#[test]
fn a_wrong_plan_does_not_pass_as_optimal() {
    let (costs, supply, demand) = ([0.0, 1.0, 1.0, 0.0], [0.5, 0.5], [0.5, 0.5]);
    let right = solve(&costs, &supply, &demand).unwrap();
    let check = |solution| Certificate::check(&costs, &supply, &demand, &solution).holds(1e-9);
    assert!(check(right.clone()));

    let mut crossed = right.clone();
    for flow in &mut crossed.flows {
        flow.to = 1 - flow.to;
    }
    crossed.cost = 1.0;
    assert!(!check(crossed), "a feasible plan that costs too much");
    let mut short = right.clone();
    short.flows.pop();
    assert!(!check(short), "a plan that forgets a source");
    let mut greedy = right.clone();
    greedy.supply_duals[0] += 0.1;
    assert!(!check(greedy), "dual values above the costs");
    let mut lying = right.clone();
    lying.cost += 0.1;
    assert!(!check(lying), "a cost that is not the plan's");
    let mut unnumbered = right;
    unnumbered.demand_duals[0] = f64::NAN;
    assert!(!check(unnumbered), "dual values that are not numbers");
}

#[test]
fn bad_problems_are_refused_in_one_sentence() {
    let say = |costs: &[f64], supply: &[f64], demand: &[f64]| {
        solve(costs, supply, demand).unwrap_err().to_string()
    };
    assert_eq!(
        say(&[1.0], &[1.0], &[0.5, 0.5]),
        "expected 2 costs for 1 supplies and 2 demands, found 1"
    );
    assert_eq!(
        say(&[1.0, f64::NAN], &[1.0], &[0.5, 0.5]),
        "the cost from source 0 to sink 1 is NaN, not a number of size up to 1e300"
    );
    assert_eq!(
        say(&[1.0, 1.0], &[1.0], &[1.5, -0.5]),
        "demand 1 is -0.5, not a finite number of at least zero"
    );
    assert_eq!(
        say(&[1.0, 1.0], &[f64::INFINITY], &[0.5, 0.5]),
        "supply 0 is inf, not a finite number of at least zero"
    );
    assert_eq!(
        say(&[1.0, 1.0], &[1.0], &[0.5, 0.4]),
        "supplies sum to 1 and demands to 0.9: they must be equal"
    );
    for (costs, supply, demand) in [
        (&[][..], &[][..], &[][..]),
        (&[][..], &[][..], &[1.0][..]),
        (&[1.0][..], &[0.0][..], &[0.0][..]),
    ] {
        assert_eq!(
            say(costs, supply, demand),
            "a transport problem needs at least one positive supply and one positive demand"
        );
    }
}

/// A fixed generator for problems too many or too large for random cases.
fn uniforms(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// With many equal costs and masses of very different size, augmenting along any
/// shortest path did not end, and neither did counting rounding errors as lengths.
#[test]
fn ties_and_crumbs_do_not_keep_the_solver_busy() {
    let mut uniform = uniforms(3);
    for case in 0..20_000 {
        let (n, m) = (2 + case % 15, 2 + case / 15 % 15);
        let costs: Vec<f64> = (0..n * m)
            .map(|_| (uniform() * 4.0).floor() / if case % 2 == 0 { 1.0 } else { 3.0 })
            .collect();
        let mut weights = |n: usize| {
            let weight = |_| (0.5 + uniform()) * 0.5f64.powi((uniform() * 27.0) as i32);
            normalised((0..n).map(weight).collect())
        };
        let (supply, demand) = (weights(n), weights(m));
        let solution = solve(&costs, &supply, &demand).unwrap();
        let certificate = Certificate::check(&costs, &supply, &demand, &solution);
        assert!(certificate.holds(1e-12), "{n} x {m}: {certificate:?}");
    }
}

#[test]
fn large_problems_are_solved_exactly() {
    let mut uniform = uniforms(7);
    for (n, m) in [(500, 500), (500, 21), (37, 400), (1000, 3)] {
        let costs: Vec<f64> = (0..n * m).map(|_| uniform()).collect();
        let mut weights = |n: usize| normalised((0..n).map(|_| uniform() + 1e-6).collect());
        let (supply, demand) = (weights(n), weights(m));
        let solution = solve(&costs, &supply, &demand).unwrap();
        let certificate = Certificate::check(&costs, &supply, &demand, &solution);
        assert!(certificate.holds(1e-12), "{n} x {m}: {certificate:?}");
    }
}

/// The largest problems there are tests for; one of documents' words takes a twentieth of a second.
#[test]
fn two_thousand_sources_and_sinks_are_solved_exactly() {
    let n = 2000;
    let mut uniform = uniforms(17);
    let mut points = || -> Vec<[f64; 3]> {
        let mut point = || [uniform(), uniform(), uniform()];
        (0..n).map(|_| point()).collect()
    };
    let (from, to) = (points(), points());
    let distance = |x: &[f64; 3], y: &[f64; 3]| {
        let squares = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y));
        squares.sum::<f64>().sqrt()
    };
    let costs: Vec<f64> = from
        .iter()
        .flat_map(|x| to.iter().map(move |y| distance(x, y)))
        .collect();
    let mut counts = || normalised((0..n).map(|_| (1.0 / (uniform() + 0.2)).ceil()).collect());
    let (supply, demand) = (counts(), counts());
    let solution = solve(&costs, &supply, &demand).unwrap();
    let certificate = Certificate::check(&costs, &supply, &demand, &solution);
    assert!(certificate.holds(1e-11), "{certificate:?}");
}

/// What pairs of documents are solved by, on costs and masses of all kinds: those that tie, those
/// that 16 bits cannot tell apart, and those for which no plan is near the optimum at the start.
#[test]
fn costs_and_masses_of_every_kind_are_certified_for_pairs() {
    let mut uniform = uniforms(19);
    let shapes = [
        (25, 25),
        (26, 41),
        (40, 40),
        (64, 64),
        (65, 64),
        (64, 65),
        (72, 72),
        (131, 128),
        (30, 170),
    ];
    for (n, m) in shapes {
        for kind in 0..66 {
            let (cost_kind, mass_kind) = (kind % 11, kind / 11);
            let (x, y): (Vec<f64>, Vec<f64>) = (
                (0..n).map(|_| uniform()).collect(),
                (0..m).map(|_| uniform()).collect(),
            );
            let mut cost = |i: usize, k: usize| match cost_kind {
                0 => (uniform() * 4.0).floor(),
                1 => 1.0 + 1e-9 * uniform(),
                2 => uniform() - 0.5,
                3 => 1e-304 * uniform(),
                4 => 1e299 * (uniform() - 0.5),
                5 => 1.0,
                // A few costs beyond all others.
                6 => uniform() * if uniform() < 0.02 { 1e9 } else { 1.0 },
                // Points on a line; the same the other way round.
                7 => (x[i] - y[k]).abs(),
                8 => x[i] * y[k],
                9 => 1.0 + 1e-13 * uniform(),
                _ => uniform().powi(40),
            };
            let costs: Vec<f64> = (0..n * m).map(|at| cost(at / m, at % m)).collect();
            let mut masses = |n: usize| {
                let mut mass = |i: usize| match mass_kind {
                    0 => 1.0,
                    1 => (1.0 + 3.0 * uniform()).floor(),
                    2 => 0.1 + uniform(),
                    3 => 0.9f64.powi(i as i32),
                    4 => 1e-7 + uniform().powi(20),
                    _ => {
                        if i == 0 {
                            1.0
                        } else {
                            1e-9
                        }
                    }
                };
                normalised((0..n).map(&mut mass).collect())
            };
            let (supply, demand) = (masses(n), masses(m));
            for is_turned in [false, true] {
                let (costs, supply, demand) = match is_turned {
                    true => (transposed(&costs, n, m), &demand, &supply),
                    false => (costs.clone(), &supply, &demand),
                };
                let solution = solve(&costs, supply, demand).unwrap();
                let certificate = Certificate::check(&costs, supply, demand, &solution);
                let holds = certificate.holds(1e-12);
                assert!(holds, "{n} x {m}, {cost_kind} {mass_kind}: {certificate:?}");
            }
        }
    }
}

/// Problems that the graph of sinks would augment for long, and hands over.
#[test]
fn what_takes_one_solver_long_is_certified_by_another() {
    for (n, m) in [(72, 21), (500, 21), (150, 12), (400, 6)] {
        let at = |i: usize, n: usize| (i as f64 + 0.5) / n as f64;
        let anti_monge = |i: usize, k: usize| (5.0 * (at(i, n) + at(k, m))).exp();
        let monge = |i: usize, k: usize| (at(i, n) - at(k, m)).powi(2);
        let one = |n: usize| -> Vec<f64> {
            normalised((0..n).map(|i| if i == 0 { 1.0 } else { 1e-9 }).collect())
        };
        let exponential = |n: usize| -> Vec<f64> {
            normalised((0..n).map(|i| 0.8f64.powi(i as i32).max(1e-12)).collect())
        };
        let problems: [(Vec<f64>, Vec<f64>, Vec<f64>); 2] = [
            (
                (0..n * m).map(|at| monge(at / m, at % m)).collect(),
                one(n),
                one(m),
            ),
            (
                (0..n * m).map(|at| anti_monge(at / m, at % m)).collect(),
                vec![1.0 / n as f64; n],
                exponential(m),
            ),
        ];
        for (costs, supply, demand) in &problems {
            let solution = solve(costs, supply, demand).unwrap();
            let certificate = Certificate::check(costs, supply, demand, &solution);
            assert!(certificate.holds(1e-12), "{n} x {m}: {certificate:?}");
            let turned = transposed(costs, n, m);
            let mut workspace = Workspace::default();
            let other = cost(&turned, demand, supply, &mut workspace).unwrap();
            assert!((other - solution.cost).abs() <= 1e-11 * solution.cost.abs().max(1.0));
        }
    }
}

/// Shapes on both sides of every choice between solvers, both ways round; with ties, and with
/// demands so uneven that what was guessed of them is wrong.
#[test]
fn every_solver_is_certified_where_another_takes_over() {
    let mut uniform = uniforms(11);
    let shapes = [
        (3, 3),
        (16, 3),
        (17, 3),
        (18, 3),
        (72, 3),
        (301, 3),
        (4, 4),
        (15, 4),
        (16, 4),
        (31, 4),
        (32, 4),
        (23, 6),
        (24, 6),
        (49, 6),
        (197, 6),
        (47, 12),
        (48, 12),
        (98, 12),
        (40, 24),
        (41, 24),
        (195, 24),
        (26, 25),
    ];
    for round in 0..48 {
        for (n, m) in shapes {
            let mut cost = || match round % 6 {
                0 => (uniform() * 4.0).floor(),
                1 => 1.0 + 1e-3 * uniform(),
                2 => uniform() - 0.5,
                3 => 1e-304 * uniform(),
                4 => 1e299 * uniform(),
                _ => 1.0,
            };
            let costs: Vec<f64> = (0..n * m).map(|_| cost()).collect();
            let supply = normalised((0..n).map(|_| 0.1 + uniform()).collect());
            let power = [1, 8][round / 6 % 2];
            let demand = normalised((0..m).map(|_| 1e-6 + uniform().powi(power)).collect());
            for is_turned in [false, true] {
                let (costs, supply, demand) = match is_turned {
                    true => (transposed(&costs, n, m), &demand, &supply),
                    false => (costs.clone(), &supply, &demand),
                };
                let solution = solve(&costs, supply, demand).unwrap();
                let certificate = Certificate::check(&costs, supply, demand, &solution);
                assert!(certificate.holds(1e-12), "{n} x {m}: {certificate:?}");
            }
        }
    }
}

/// Sums of differences gave -4e-14 of the largest cost where the optimum is zero.
#[test]
fn costs_are_sums_over_the_plan_and_never_negative() {
    let mut uniform = uniforms(13);
    let mut workspace = Workspace::default();
    for (n, m) in [
        (9, 1),
        (40, 2),
        (10, 3),
        (72, 3),
        (10, 6),
        (72, 6),
        (40, 21),
        (195, 24),
        (60, 40),
    ] {
        for round in 0..40 {
            // Every source lies on a sink, which wants what it has.
            let sinks: Vec<f64> = (0..m).map(|_| uniform()).collect();
            let places: Vec<usize> = (0..n)
                .map(|i| {
                    if i < m {
                        i
                    } else {
                        (uniform() * m as f64) as usize
                    }
                })
                .collect();
            let costs: Vec<f64> = places
                .iter()
                .flat_map(|&place| sinks.iter().map(move |x| (x - place as f64).abs()))
                .collect();
            let costs: Vec<f64> = match round % 2 {
                0 => places
                    .iter()
                    .flat_map(|&place| {
                        let at = sinks[place];
                        sinks.iter().map(move |x| (x - at).abs())
                    })
                    .collect(),
                _ => costs,
            };
            let supply = normalised((0..n).map(|_| 0.1 + uniform()).collect());
            let mut demand = vec![0.0; m];
            for (place, mass) in places.iter().zip(&supply) {
                demand[*place] += mass;
            }
            let solution = solve(&costs, &supply, &demand).unwrap();
            assert!(solution.cost >= 0.0, "{n} x {m}: {:e}", solution.cost);
            if round % 2 == 0 {
                assert!(solution.cost <= 1e-13, "{n} x {m}: {:e}", solution.cost);
            }
            let arcs = solution.flows.iter();
            let sum: f64 = arcs
                .map(|flow| flow.mass * costs[flow.from as usize * m + flow.to as usize])
                .sum();
            assert!((solution.cost - sum).abs() <= 1e-13 * sum, "{n} x {m}");
            let alone = cost(&costs, &supply, &demand, &mut workspace).unwrap();
            assert_eq!(alone.to_bits(), solution.cost.to_bits(), "{n} x {m}");
        }
    }
}

/// Masses so small that the grid below them is subnormal, or they are themselves.
#[test]
fn masses_of_any_size_are_moved() {
    let mut uniform = uniforms(19);
    for (n, m) in [
        (40, 2),
        (10, 3),
        (72, 3),
        (10, 6),
        (72, 6),
        (40, 21),
        (35, 35),
    ] {
        for scale in [1e-310, 1e-300, 1e-200, 1e100] {
            let costs: Vec<f64> = (0..n * m).map(|_| uniform()).collect();
            let mut weights = |n: usize| -> Vec<f64> {
                let weights = normalised((0..n).map(|_| uniform().powi(6) + 1e-9).collect());
                weights.iter().map(|weight| scale * weight).collect()
            };
            let (supply, demand) = (weights(n), weights(m));
            let solution = solve(&costs, &supply, &demand).unwrap();
            let certificate = Certificate::check(&costs, &supply, &demand, &solution);
            assert!(
                certificate.holds(1e-12),
                "{n} x {m} of {scale:e}: {certificate:?}"
            );
        }
    }
}

#[test]
fn a_mass_that_cannot_move_is_refused() {
    let solve = |amount| solve_partial(&[1.0, 2.0], &[0.5], &[0.5, 0.25], amount);
    let message = |amount| solve(amount).unwrap_err().to_string();
    for mass in [0.0, -1.0, 0.51, f64::NAN, f64::INFINITY] {
        let expected = format!(
            "the mass to move is {mass}: it must be above 0 and at most 0.5, the lesser side"
        );
        assert_eq!(message(Amount::Mass(mass)), expected);
    }
    assert!(solve(Amount::Mass(0.5 + 1e-12)).is_ok());
    assert_eq!(
        message(Amount::Penalty(-1.0)),
        "the penalty of unmatched mass is -1, not a number between 0 and 1e300"
    );
    assert!(solve_partial(&[], &[], &[], Amount::Mass(1.0)).is_err());
    assert!(solve_partial(&[f64::NAN], &[1.0], &[1.0], Amount::Mass(1.0)).is_err());
}
