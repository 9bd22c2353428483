//! What must hold of every machine, whatever the data.

use proptest::prelude::*;
use wordmover_learn::{Error, Features, LinearSvm, Stop, SvmParams};

#[derive(Debug, Clone)]
struct Data {
    n_columns: usize,
    values: Vec<f32>,
    labels: Vec<usize>,
}

impl Data {
    fn features(&self) -> Features<'_> {
        Features::new(&self.values, self.n_columns).unwrap()
    }
}

/// Rows around the lanes of a panel, two to five classes with ids of any size.
fn data() -> impl Strategy<Value = Data> {
    (6..50usize, 1..20usize, 2..6usize).prop_flat_map(|(n_rows, n_columns, n_classes)| {
        let values = prop::collection::vec(-2.0..2.0f32, n_rows * n_columns);
        let labels = prop::collection::vec(0..n_classes, n_rows);
        (values, labels).prop_map(move |(values, mut labels)| {
            (labels[0], labels[1]) = (0, 1);
            let labels = labels.iter().map(|label| label * 1_000_003).collect();
            Data {
                n_columns,
                values,
                labels,
            }
        })
    })
}

fn tight() -> SvmParams {
    SvmParams::default().tolerance(1e-9)
}

/// Norm of the objective's gradient at the model's weights, and of that at 0.
fn gradient_norms(data: &Data, model: &LinearSvm, machine: usize, cost: f64) -> (f64, f64) {
    let class = model.classes()[machine];
    let weights = &model.weights()[machine * data.n_columns..][..data.n_columns];
    let mut gradient = weights.to_vec();
    let mut at_zero = vec![0.0; data.n_columns];
    for (row, &label) in data.values.chunks_exact(data.n_columns).zip(&data.labels) {
        let sign = if label == class { 1.0 } else { -1.0 };
        let value: f64 = row
            .iter()
            .zip(weights)
            .map(|(&x, w)| f64::from(x) * w)
            .sum();
        let slack = (1.0 - sign * value).max(0.0);
        for (j, &x) in row.iter().enumerate() {
            gradient[j] -= 2.0 * cost * slack * sign * f64::from(x);
            at_zero[j] -= 2.0 * cost * sign * f64::from(x);
        }
    }
    let norm = |g: &[f64]| g.iter().map(|x| x * x).sum::<f64>().sqrt();
    (norm(&gradient), norm(&at_zero))
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + a.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_gradient_vanishes_at_the_solution(data in data(), exponent in -5..4i32) {
        let cost = 10f64.powi(exponent);
        let model = LinearSvm::fit(tight().cost(cost), data.features(), &data.labels).unwrap();
        let params = tight().check().unwrap();
        let costs = [cost / 100.0, cost / 10.0, cost];
        let path = LinearSvm::fit_path(params, &costs, data.features(), &data.labels).unwrap();
        for model in [&model, &path[2]] {
            prop_assert_eq!(model.solutions().len(), model.n_machines());
            for machine in 0..model.n_machines() {
                let (gradient, at_zero) = gradient_norms(&data, model, machine, cost);
                let solution = model.solutions()[machine];
                if solution.stop == Stop::Converged {
                    let rounding = 1e-11 * (1.0 + cost);
                    prop_assert!(gradient <= 1.01e-9 * at_zero + rounding, "{gradient} of {at_zero}");
                } else {
                    // As far as rounding allows. The objective is at most this much above
                    // the least, because its curvature is at least 1.
                    prop_assert!(gradient * gradient / 2.0 <= 1e-6 * solution.objective);
                }
            }
        }
        // The curvature is at least 1, so weights are as far from the best as their gradient is
        // long, and decision values at most the length of a row times that.
        let (cold, warm) = (model.decision_values(data.features()).unwrap(),
                            path[2].decision_values(data.features()).unwrap());
        let n_machines = model.n_machines();
        for (i, (cold, warm)) in cold.iter().zip(&warm).enumerate() {
            let (row, machine) = (i / n_machines, i % n_machines);
            let norm = |model| gradient_norms(&data, model, machine, cost).0;
            let off = norm(&model) + norm(&path[2]);
            let row = &data.values[row * data.n_columns..][..data.n_columns];
            let length = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
            let bound = length * off * (1.0 + 1e-6) + 1e-9 * (1.0 + cold.abs());
            prop_assert!((cold - warm).abs() <= bound, "{cold} {warm}, bound {bound}");
        }
    }

    #[test]
    fn the_order_of_rows_and_the_names_of_classes_do_not_matter(data in data(), seed: u64) {
        let model = LinearSvm::fit(tight(), data.features(), &data.labels).unwrap();
        let values = model.decision_values(data.features()).unwrap();
        let mut order: Vec<usize> = (0..data.labels.len()).collect();
        order.sort_by_key(|&row| (row as u64 ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let permuted = Data {
            values: data.features().gather(&order),
            labels: order.iter().map(|&row| 7_000_000 - data.labels[row]).collect(),
            n_columns: data.n_columns,
        };
        let other = LinearSvm::fit(tight(), permuted.features(), &permuted.labels).unwrap();
        let other_values = other.decision_values(data.features()).unwrap();
        for (machine, &class) in model.classes().iter().enumerate().take(model.n_machines()) {
            let position = other.classes().iter().position(|&c| 7_000_000 - c == class).unwrap();
            // With two classes the machine may be for the other one.
            let (position, sign) = if other.n_machines() == 1 {
                (0, if position == 0 { 1.0 } else { -1.0 })
            } else {
                (position, 1.0)
            };
            let of = |values: &[f64], at: usize, n: usize, sign: f64| -> Vec<f64> {
                values.iter().skip(at).step_by(n).map(|x| sign * x).collect()
            };
            let ours = of(&values, machine, model.n_machines(), 1.0);
            let others = of(&other_values, position, other.n_machines(), sign);
            prop_assert!(close(&ours, &others, 1e-5), "{ours:?} {others:?}");
        }
    }

    #[test]
    fn standardised_columns_are_folded_into_the_weights(mut data in data(), shift in -3.0..3.0f32) {
        // Like embeddings: far from 0, with small differences; and a constant column.
        for row in data.values.chunks_exact_mut(data.n_columns) {
            row.iter_mut().for_each(|x| *x = shift + 0.001 * *x);
            row[0] = 0.1;
        }
        let n = data.labels.len() as f64;
        let mut by_hand = data.clone();
        for column in 0..data.n_columns {
            let of_column = || data.values.iter().skip(column).step_by(data.n_columns);
            let mean = of_column().map(|&x| f64::from(x)).sum::<f64>() / n;
            let square = |x: &f32| (f64::from(*x) - mean).powi(2);
            let deviation = (of_column().map(square).sum::<f64>() / n).sqrt();
            for (i, &x) in of_column().enumerate() {
                let scaled = if column == 0 { 0.0 } else { (f64::from(x) - mean) / deviation };
                by_hand.values[i * data.n_columns + column] = scaled as f32;
            }
        }
        for bias in [None, Some(1.0)] {
            let params = tight().cost(0.1).bias(bias);
            let folded =
                LinearSvm::fit(params.standardize(true), data.features(), &data.labels).unwrap();
            let plain = LinearSvm::fit(params, by_hand.features(), &data.labels).unwrap();
            let (folded_values, plain_values) = (
                folded.decision_values(data.features()).unwrap(),
                plain.decision_values(by_hand.features()).unwrap(),
            );
            prop_assert!(close(&folded_values, &plain_values, 1e-4));
            let of_constant = folded.weights().iter().step_by(data.n_columns);
            prop_assert!(of_constant.clone().all(|&w| w == 0.0));
        }
    }

    #[test]
    fn parts_make_the_same_model(data in data()) {
        let params = SvmParams::default().bias(Some(2.0));
        let model = LinearSvm::fit(params, data.features(), &data.labels).unwrap();
        let again = LinearSvm::from_parts(
            model.classes().to_vec(), model.weights().to_vec(), model.intercepts().to_vec(),
        ).unwrap();
        prop_assert_eq!(
            model.decision_values(data.features()).unwrap(),
            again.decision_values(data.features()).unwrap()
        );
        prop_assert_eq!(
            model.predict(data.features()).unwrap(),
            again.predict(data.features()).unwrap()
        );
    }
}

/// Large enough that products are shared among threads.
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let (n_rows, n_columns) = (1501, 403);
    let mut state = 1u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let labels: Vec<usize> = (0..n_rows).map(|row| row * row % 5).collect();
    let mut values = Vec::new();
    for label in &labels {
        values
            .extend((0..n_columns).map(|j| 0.02 + 0.001 * number() * (1 + (j + label) % 5) as f32));
    }
    let features = Features::new(&values, n_columns).unwrap();
    let fit = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap();
        pool.install(|| {
            let params = SvmParams::default().cost(1e5);
            let checked = params.standardize(true).check().unwrap();
            let mut models =
                LinearSvm::fit_path(checked, &[1e-3, 1e-1, 1e1], features, &labels).unwrap();
            models.push(LinearSvm::fit(params, features, &labels).unwrap());
            let values = models[3].decision_values(features).unwrap();
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let weights: Vec<_> = models.iter().map(|m| bits(m.weights())).collect();
            (weights, bits(&values))
        })
    };
    let one = fit(1);
    assert_eq!(one, fit(2));
    assert_eq!(one, fit(5));
}

#[test]
fn what_cannot_be_learnt_is_refused() {
    let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let features = Features::new(&values, 2).unwrap();
    let fit = |labels: &[usize]| LinearSvm::fit(SvmParams::default(), features, labels);
    let error = fit(&[4, 4, 4]).unwrap_err();
    let expected = "all 3 rows are of class 4: at least two classes are needed";
    assert_eq!(error.to_string(), expected);
    let error = fit(&[0, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "labels, one for each row: 3 expected, 2 found"
    );
    let nothing = Features::new(&[], 2).unwrap();
    let error = LinearSvm::fit(SvmParams::default(), nothing, &[]).unwrap_err();
    assert_eq!(error.to_string(), "there are no rows");

    let broken = [0.0, f32::INFINITY, 2.0, 3.0];
    let broken = Features::new(&broken, 2).unwrap();
    let error = LinearSvm::fit(SvmParams::default(), broken, &[0, 1]).unwrap_err();
    let expected = "row 0, column 1 is inf: only finite numbers can be used";
    assert_eq!(error.to_string(), expected);

    let model = fit(&[0, 1, 0]).unwrap();
    let error = model
        .predict(Features::new(&values, 3).unwrap())
        .unwrap_err();
    assert_eq!(error.to_string(), "columns: 2 expected, 3 found");
    assert!(matches!(
        model.predict(broken),
        Err(Error::NotFinite { .. })
    ));

    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(LinearSvm::fit(SvmParams::default().cost(cost), features, &[0, 1, 0]).is_err());
        let params = SvmParams::default().check().unwrap();
        assert!(LinearSvm::fit_path(params, &[1.0, cost], features, &[0, 1, 0]).is_err());
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(SvmParams::default().tolerance(bad).check().is_err());
        assert!(SvmParams::default().bias(Some(bad)).check().is_err());
    }
    assert!(SvmParams::default().bias(Some(1e300)).check().is_err());
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let make = |classes: &[usize], weights: &[f64], intercepts: &[f64]| {
        LinearSvm::from_parts(classes.to_vec(), weights.to_vec(), intercepts.to_vec())
    };
    assert!(make(&[3, 5], &[1.0, 2.0], &[0.0]).is_ok());
    assert!(make(&[3], &[1.0, 2.0], &[0.0]).is_err());
    assert!(make(&[3, 5], &[1.0, 2.0], &[0.0, 0.0]).is_err());
    assert!(make(&[3, 5, 6], &[1.0, 2.0], &[0.0; 3]).is_err());
    assert!(make(&[3, 5], &[], &[0.0]).is_err());
    assert!(make(&[3, 5], &[1.0, f64::NAN], &[0.0]).is_err());
    assert!(make(&[3, 5], &[1.0, 2.0], &[f64::INFINITY]).is_err());
}

#[test]
fn of_equal_decision_values_the_first_class_wins() {
    let three = LinearSvm::from_parts(vec![9, 4, 6], vec![0.0; 3], vec![1.0, 2.0, 2.0]).unwrap();
    let two = LinearSvm::from_parts(vec![9, 4], vec![1.0], vec![0.0]).unwrap();
    let values = [-1.0, 0.0, 1.0];
    let features = Features::new(&values, 1).unwrap();
    assert_eq!(three.predict(features).unwrap(), [4, 4, 4]);
    // LIBLINEAR's rule: a decision value of 0 is not the first class.
    assert_eq!(two.predict(features).unwrap(), [4, 4, 9]);
}

#[test]
fn features_that_say_nothing_still_give_a_model() {
    let values = [0.0; 8];
    let features = Features::new(&values, 2).unwrap();
    let labels = [0, 1, 1, 2];
    for standardize in [false, true] {
        let params = SvmParams::default().standardize(standardize);
        let model = LinearSvm::fit(params, features, &labels).unwrap();
        assert!(model.weights().iter().all(|&w| w == 0.0));
        assert_eq!(model.predict(features).unwrap(), [0; 4]);
    }
}
