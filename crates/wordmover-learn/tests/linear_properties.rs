//! What must hold of every linear classifier, whatever the data.

use std::ops::ControlFlow;

use proptest::prelude::*;
use wordmover_learn::linear::{
    ClassWeights, LinearSearchParams, LinearSurface, MachineFit, search,
};
use wordmover_learn::{
    Error, FeatureBlocks, Features, LinearClassifier, LinearParams, LinearSvm, SparseRows,
    SvmParams, Targets, split,
};

/// Rows with many zeros, and classes.
#[derive(Debug, Clone)]
struct Data {
    n_columns: usize,
    values: Vec<f32>,
    labels: Vec<usize>,
}

impl Data {
    fn dense(&self) -> Features<'_> {
        Features::new(&self.values, self.n_columns).unwrap()
    }

    /// Columns from `first` on, and before `last`.
    fn sparse(&self, first: usize, last: usize) -> SparseRows {
        let rows = self.values.chunks_exact(self.n_columns).map(|row| {
            let row = row[first..last].iter().enumerate();
            row.filter(|(_, x)| **x != 0.0)
                .map(|(column, &x)| (column as u32, f64::from(x)))
        });
        SparseRows::from_rows(last - first, rows).unwrap()
    }

    fn targets(&self) -> Targets {
        Targets::one_each(&self.labels).unwrap()
    }
}

fn data() -> impl Strategy<Value = Data> {
    (6..40usize, 2..30usize, 2..12usize).prop_flat_map(|(n_rows, n_columns, n_classes)| {
        let value = prop_oneof![3 => Just(0.0f32), 2 => -2.0..2.0f32];
        let values = prop::collection::vec(value, n_rows * n_columns);
        let labels = prop::collection::vec(0..n_classes, n_rows);
        (values, labels).prop_map(move |(values, mut labels)| {
            (labels[0], labels[1]) = (0, 1);
            Data {
                n_columns,
                values,
                labels,
            }
        })
    })
}

/// The machine without intercept, on columns as they are.
fn plain(cost: f64, tolerance: f64) -> LinearParams {
    let params = LinearParams::default().bias(None).standardize(false);
    params.max_epochs(20_000).cost(cost).tolerance(tolerance)
}

fn fit(params: LinearParams, features: FeatureBlocks, targets: &Targets) -> LinearClassifier {
    LinearClassifier::fit(params, features, targets).unwrap()
}

/// Least objectives by the primal solver, in the order of class ids.
fn least_objectives(data: &Data, cost: f64) -> Vec<f64> {
    let params = SvmParams::default().cost(cost).tolerance(1e-12);
    let model = LinearSvm::fit(params, data.dense(), &data.labels).unwrap();
    let mut by_class: Vec<(usize, f64)> = model
        .classes()
        .iter()
        .copied()
        .zip(model.solutions().iter().map(|solution| solution.objective))
        .collect();
    by_class.sort_by_key(|(class, _)| *class);
    by_class
        .into_iter()
        .map(|(_, objective)| objective)
        .collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let each = a.iter().zip(b);
    a.len() == b.len()
        && each
            .clone()
            .all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + a.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn objectives_are_the_least_and_gaps_are_honest(data in data(), exponent in -3..4i32) {
        let cost = 10f64.powi(exponent);
        let least = least_objectives(&data, cost);
        let sparse = data.sparse(0, data.n_columns);
        let targets = data.targets();
        for features in [FeatureBlocks::sparse(&sparse), FeatureBlocks::dense(data.dense())] {
            for tolerance in [0.3, 1e-2, 1e-8] {
                let model = fit(plain(cost, tolerance), features, &targets);
                prop_assert!(model.converged(), "{:?}", model.fits());
                for (fit, least) in model.fits().iter().zip(&least) {
                    let MachineFit { objective, gap, .. } = fit;
                    prop_assert!(*gap <= tolerance * objective);
                    let rounding = 1e-9 * objective;
                    prop_assert!(objective + rounding >= *least, "{fit:?} {least}");
                    prop_assert!(objective - gap - rounding <= *least, "{fit:?} {least}");
                }
            }
        }
    }

    #[test]
    fn the_objective_is_that_of_the_weights(data in data(), exponent in -2..3i32) {
        let cost = 10f64.powi(exponent);
        let sparse = data.sparse(0, data.n_columns);
        let features = FeatureBlocks::sparse(&sparse);
        let model = fit(plain(cost, 1e-2), features, &data.targets());
        let values = model.decision_values(features).unwrap();
        for (machine, fit) in model.fits().iter().enumerate() {
            let mut objective: f64 = model.weights(machine).map(|w| 0.5 * w * w).sum();
            for (&label, values) in data.labels.iter().zip(values.chunks_exact(model.n_machines())) {
                let sign = if label == model.classes()[machine] { 1.0 } else { -1.0 };
                objective += cost * (1.0 - sign * values[machine]).max(0.0).powi(2);
            }
            prop_assert!((objective - fit.objective).abs() <= 1e-9 * objective);
        }
    }

    #[test]
    fn dense_columns_beside_sparse_ones_are_columns(data in data(), weight in 0.2..3.0f64) {
        let at = data.n_columns / 2;
        let dense: Vec<f32> = data.values.chunks_exact(data.n_columns)
            .flat_map(|row| row[at..].to_vec()).collect();
        let dense = Features::new(&dense, data.n_columns - at).unwrap();
        let first = data.sparse(0, at);
        let both = FeatureBlocks::both(&first, dense).unwrap();
        let targets = data.targets();
        let params = plain(1.0, 1e-10).bias(Some(0.5)).dense_weight(weight);
        let model = fit(params.clone(), both, &targets);
        let rows = data.values.chunks_exact(data.n_columns).map(|row| {
            let weights = (0..data.n_columns).map(|j| if j < at { 1.0 } else { weight });
            let each = row.iter().zip(weights).enumerate();
            each.map(|(j, (&x, weight))| (j as u32, weight * f64::from(x))).collect::<Vec<_>>()
        });
        let all = SparseRows::from_rows(data.n_columns, rows).unwrap();
        let all = FeatureBlocks::sparse(&all);
        let other = fit(params, all, &targets);
        let (found, expected) =
            (model.decision_values(both).unwrap(), other.decision_values(all).unwrap());
        prop_assert!(close(&found, &expected, 1e-3));
        for (a, b) in model.fits().iter().zip(other.fits()) {
            prop_assert!((a.objective - b.objective).abs() <= 1e-9 * a.objective);
        }
    }

    #[test]
    fn a_machine_does_not_depend_on_the_names_and_number_of_the_others(data in data()) {
        let sparse = data.sparse(0, data.n_columns);
        let features = FeatureBlocks::sparse(&sparse);
        let targets = data.targets();
        prop_assume!(targets.classes().len() > 2);
        let params = LinearParams::default().cost(10.0);
        let model = fit(params.clone(), features, &targets);
        let reversed: Vec<usize> = data.labels.iter().map(|label| 1000 - label).collect();
        let other = fit(params.clone(), features, &Targets::one_each(&reversed).unwrap());
        let n = model.n_machines();
        for machine in 0..n {
            prop_assert!(model.weights(machine).eq(other.weights(n - 1 - machine)));
            prop_assert_eq!(model.fits()[machine], other.fits()[n - 1 - machine]);
        }
        // One class each, said as sets.
        let sets: Vec<Vec<usize>> = data.labels.iter().map(|&label| vec![label]).collect();
        let same = fit(params, features, &Targets::any_number(&sets).unwrap());
        prop_assert_eq!(model.fits(), same.fits());
        let values = model.decision_values(features).unwrap();
        prop_assert_eq!(&values, &same.decision_values(features).unwrap());
        let sets = same.predict_sets(features).unwrap();
        for (set, values) in sets.iter().zip(values.chunks_exact(n)) {
            let positive = (0..n).filter(|&m| values[m] > 0.0).map(|m| model.classes()[m]);
            prop_assert!(positive.eq(set.iter().copied()));
        }
    }

    #[test]
    fn a_row_of_weight_two_is_there_twice(data in data(), seed: u64) {
        let weights: Vec<f64> = (0..data.labels.len())
            .map(|row| (seed >> (row % 32) & 1) as f64 + if row < 2 { 1.0 } else { 0.0 })
            .collect();
        let rows: Vec<usize> = (0..data.labels.len())
            .flat_map(|row| std::iter::repeat_n(row, weights[row] as usize)).collect();
        let sparse = data.sparse(0, data.n_columns);
        let params = plain(1.0, 1e-10);
        let features = FeatureBlocks::sparse(&sparse);
        let weighted = fit(params.clone(), features, &data.targets().weighted(&weights).unwrap());
        let again = sparse.gather(&rows);
        let labels: Vec<usize> = rows.iter().map(|&row| data.labels[row]).collect();
        let repeated = fit(params, FeatureBlocks::sparse(&again), &Targets::one_each(&labels).unwrap());
        for (machine, class) in repeated.classes().iter().enumerate().take(repeated.n_machines()) {
            let position = weighted.classes().iter().position(|c| c == class).unwrap();
            if weighted.n_machines() == repeated.n_machines() || repeated.n_machines() > 1 {
                let (a, b) = (weighted.fits()[position].objective, repeated.fits()[machine].objective);
                prop_assert!((a - b).abs() <= 1e-8 * a, "{a} {b}");
            }
        }
    }

    #[test]
    fn cross_validation_judges_the_machines_of_the_training_parts(data in data(), weight in 0.1..1.0f64) {
        let at = data.n_columns / 2;
        let dense: Vec<f32> = data.values.chunks_exact(data.n_columns)
            .flat_map(|row| row[at..].to_vec()).collect();
        let dense = Features::new(&dense, data.n_columns - at).unwrap();
        let sparse = data.sparse(0, at);
        let both = FeatureBlocks::both(&sparse, dense).unwrap();
        let targets = data.targets();
        let folds = split::k_folds(data.labels.len(), 3, 1).unwrap();
        let linear = LinearParams::default().tolerance(1e-10).max_epochs(20_000);
        let params = LinearSearchParams::default().costs([0.5]).dense_weights([weight]);
        let params = params.linear(linear.clone()).check().unwrap();
        let surface = search(&params, both, &targets, &folds, &|_| ControlFlow::Continue(())).unwrap();
        let mut expected = Vec::new();
        let mut n_right = 0;
        for fold in &folds {
            let train_labels: Vec<usize> = fold.train.iter().map(|&row| data.labels[row]).collect();
            let Ok(train_targets) = Targets::one_each(&train_labels) else { return Ok(()) };
            prop_assume!(train_targets.classes() == targets.classes());
            let (train_sparse, train_dense) = (sparse.gather(&fold.train), dense.gather(&fold.train));
            let train_dense = Features::new(&train_dense, dense.n_columns()).unwrap();
            let train = FeatureBlocks::both(&train_sparse, train_dense).unwrap();
            let model = fit(linear.clone().cost(0.5).dense_weight(weight), train, &train_targets);
            let (test_sparse, test_dense) = (sparse.gather(&fold.test), dense.gather(&fold.test));
            let test_dense = Features::new(&test_dense, dense.n_columns()).unwrap();
            let test = FeatureBlocks::both(&test_sparse, test_dense).unwrap();
            expected.extend(model.decision_values(test).unwrap());
            let predicted = model.predict(test).unwrap();
            n_right += predicted.iter().zip(&fold.test).filter(|(p, row)| **p == data.labels[**row]).count();
        }
        prop_assert!(close(surface.held_out_values(), &expected, 1e-6));
        prop_assert!((surface.best().score - n_right as f64 / data.labels.len() as f64).abs() < 1e-12);
        let rows: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
        prop_assert_eq!(surface.held_out_rows(), &rows[..]);
    }
}

/// A made-up corpus: rare words, frequent words, words of a class, and dense columns.
fn corpus(n_rows: usize, n_classes: usize) -> (SparseRows, Vec<f32>, Vec<usize>) {
    let mut state = 7u64;
    let mut number = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 33) as usize) % n
    };
    let (mut rows, mut dense, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n_rows {
        let label = number(n_classes);
        let mut columns: Vec<u32> = (0..12).map(|_| number(30) as u32).collect();
        columns.extend((0..5).map(|_| (30 + label * 3 + number(7)) as u32));
        columns.extend((0..4).map(|_| (100 + number(400)) as u32));
        columns.sort_unstable();
        columns.dedup();
        let length = (columns.len() as f64).sqrt();
        rows.push(
            columns
                .into_iter()
                .map(|column| (column, 1.0 / length))
                .collect::<Vec<_>>(),
        );
        dense.extend((0..9).map(|j| (number(100) + 9 * ((j + label) % 4)) as f32));
        labels.push(label);
    }
    (SparseRows::from_rows(500, rows).unwrap(), dense, labels)
}

fn choose(features: FeatureBlocks, targets: &Targets, labels: &[usize]) -> LinearSurface {
    let folds = split::k_folds(labels.len(), 4, 1).unwrap();
    let params = LinearSearchParams::default()
        .costs([0.1, 1.0, 100.0])
        .dense_weights([0.1, 0.5]);
    search(&params.check().unwrap(), features, targets, &folds, &|_| {
        ControlFlow::Continue(())
    })
    .unwrap()
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let (sparse, dense, labels) = corpus(700, 13);
    let features = FeatureBlocks::both(&sparse, Features::new(&dense, 9).unwrap()).unwrap();
    let targets = Targets::one_each(&labels).unwrap();
    let with = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap();
        pool.install(|| {
            let params = LinearParams::default().cost(300.0).dense_weight(0.3);
            let params = params.class_weights(ClassWeights::Balanced).tolerance(1e-6);
            let model = fit(params, features, &targets);
            (model, choose(features, &targets, &labels))
        })
    };
    let one = with(1);
    assert!(one.0.converged());
    assert!(
        one.0.fits().iter().any(|fit| fit.n_epochs > 20),
        "no Newton steps were needed"
    );
    for n_threads in [2, 3, 16] {
        assert_eq!(one, with(n_threads), "{n_threads} threads");
    }
}

#[test]
fn what_was_learnt_is_found_again() {
    let (sparse, dense, labels) = corpus(400, 5);
    let dense = Features::new(&dense, 9).unwrap();
    let features = FeatureBlocks::both(&sparse, dense).unwrap();
    let targets = Targets::one_each(&labels).unwrap();
    let surface = choose(features, &targets, &labels);
    assert_eq!(surface.points().len(), 6);
    assert!(surface.best().score > 0.8, "{:?}", surface.best());
    assert!(
        surface
            .points()
            .iter()
            .all(|point| point.score <= surface.best().score)
    );
    let n_unfinished: usize = surface
        .points()
        .iter()
        .map(|point| point.n_unfinished)
        .sum();
    assert_eq!(n_unfinished, 0);
    let model = fit(LinearParams::default(), features, &targets);
    let parts = (0..509).flat_map(|column| model.column_weights(column).to_vec());
    let again = LinearClassifier::from_parts(
        model.classes().to_vec(),
        true,
        (500, 9),
        parts.collect(),
        model.intercepts().to_vec(),
    )
    .unwrap();
    assert_eq!(
        again.decision_values(features).unwrap(),
        model.decision_values(features).unwrap()
    );
    assert_eq!(
        again.predict(features).unwrap(),
        model.predict(features).unwrap()
    );
}

/// More features than documents, as they come out of an embedding.
#[test]
fn wide_standardised_rows_have_the_objective_of_the_primal_solver() {
    let (n_rows, n_columns) = (90, 2500);
    let mut state = 3u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let labels: Vec<usize> = (0..n_rows).map(|row| row * row % 7 % 3).collect();
    let mut values = Vec::new();
    for label in &labels {
        values
            .extend((0..n_columns).map(|j| 0.02 + 0.001 * number() * (1 + (j + label) % 3) as f32));
    }
    let features = Features::new(&values, n_columns).unwrap();
    let targets = Targets::one_each(&labels).unwrap();
    for cost in [1e-5, 1e-3, 1e-1] {
        let params = SvmParams::default()
            .cost(cost)
            .standardize(true)
            .bias(Some(1.0));
        let primal = LinearSvm::fit(params.tolerance(1e-9), features, &labels).unwrap();
        let params = LinearParams::default().cost(cost).tolerance(1e-8);
        let dual = fit(params, FeatureBlocks::dense(features), &targets);
        assert!(dual.converged());
        for (machine, fit) in dual.fits().iter().enumerate() {
            let class = dual.classes()[machine];
            let position = primal.classes().iter().position(|&c| c == class).unwrap();
            let expected = primal.solutions()[position].objective;
            let difference = (fit.objective - expected).abs();
            assert!(
                difference <= 1e-6 * expected,
                "C = {cost}: {fit:?} {expected}"
            );
        }
    }
}

#[test]
fn a_machine_that_stops_early_says_so() {
    let (sparse, _, labels) = corpus(200, 4);
    let features = FeatureBlocks::sparse(&sparse);
    let params = LinearParams::default().cost(1e3).tolerance(1e-9);
    let targets = Targets::one_each(&labels).unwrap();
    for max_epochs in [1, 5, 25] {
        let model = fit(params.clone().max_epochs(max_epochs), features, &targets);
        assert!(!model.converged());
        assert!(
            model
                .fits()
                .iter()
                .all(|fit| fit.gap > 0.0 && fit.n_epochs >= max_epochs)
        );
    }
    assert!(fit(params.max_epochs(100_000), features, &targets).converged());
}

#[test]
fn a_search_can_be_interrupted_and_counts_its_machines() {
    let (sparse, _, labels) = corpus(120, 3);
    let features = FeatureBlocks::sparse(&sparse);
    let targets = Targets::one_each(&labels).unwrap();
    let folds = split::k_folds(labels.len(), 3, 1).unwrap();
    let params = LinearSearchParams::default()
        .costs([1.0, 2.0])
        .check()
        .unwrap();
    let count = std::sync::atomic::AtomicU64::new(0);
    let go_on = |n: u64| {
        count.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    search(&params, features, &targets, &folds, &go_on).unwrap();
    assert_eq!(count.into_inner(), 2 * 3 * 3);
    let stop = |_| ControlFlow::Break(());
    let error = search(&params, features, &targets, &folds, &stop).unwrap_err();
    assert_eq!(error, Error::Interrupted);
}

#[test]
fn a_class_may_be_missing_from_a_training_part_and_texts_may_be_empty() {
    // The only row of class 2 is held out once; every other row is empty.
    let rows = (0..12).map(|row| {
        if row % 2 == 0 {
            vec![(row % 4, 1.0)]
        } else {
            vec![]
        }
    });
    let sparse = SparseRows::from_rows(5, rows).unwrap();
    let labels: Vec<usize> = (0..12)
        .map(|row| if row == 6 { 2 } else { row % 2 })
        .collect();
    let targets = Targets::one_each(&labels).unwrap();
    let folds = split::k_folds(12, 3, 1).unwrap();
    let params = LinearSearchParams::default().check().unwrap();
    let go_on = |_| ControlFlow::Continue(());
    let surface = search(
        &params,
        FeatureBlocks::sparse(&sparse),
        &targets,
        &folds,
        &go_on,
    )
    .unwrap();
    assert!(
        surface
            .held_out_values()
            .iter()
            .all(|value| value.is_finite())
    );
    let model = fit(
        LinearParams::default(),
        FeatureBlocks::sparse(&sparse),
        &targets,
    );
    assert!(model.converged());
}

#[test]
fn what_cannot_be_learnt_is_refused() {
    let sparse = SparseRows::from_rows(2, [vec![(0, 1.0)], vec![(1, 1.0)], vec![]]).unwrap();
    let features = FeatureBlocks::sparse(&sparse);
    let refused = |params: LinearParams, labels: &[usize]| {
        let targets = Targets::one_each(labels)?;
        LinearClassifier::fit(params, features, &targets)
    };
    let defaults = LinearParams::default;
    assert!(refused(defaults(), &[0, 1, 1]).is_ok());
    assert!(refused(defaults(), &[0, 1]).is_err());
    assert!(refused(defaults(), &[1, 1, 1]).is_err());
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(defaults().cost(wrong), &[0, 1, 1]).is_err());
        assert!(refused(defaults().tolerance(wrong), &[0, 1, 1]).is_err());
        assert!(refused(defaults().bias(Some(wrong)), &[0, 1, 1]).is_err());
        assert!(refused(defaults().dense_weight(wrong), &[0, 1, 1]).is_err());
        let weights = ClassWeights::Given(vec![(1, wrong)]);
        assert!(refused(defaults().class_weights(weights), &[0, 1, 1]).is_err());
    }
    assert!(refused(defaults().max_epochs(0), &[0, 1, 1]).is_err());
    let unknown = ClassWeights::Given(vec![(7, 2.0)]);
    let error = refused(defaults().class_weights(unknown), &[0, 1, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a class with a weight is 7: it must be one of the classes"
    );
    let twice = ClassWeights::Given(vec![(1, 2.0), (1, 3.0)]);
    assert!(refused(defaults().class_weights(twice), &[0, 1, 1]).is_err());
    let nothing = Targets::one_each(&[0, 1, 1])
        .unwrap()
        .weighted(&[0.0; 3])
        .unwrap();
    assert!(LinearClassifier::fit(defaults(), features, &nothing).is_err());

    let search_params = LinearSearchParams::default;
    assert!(search_params().costs([]).check().is_err());
    assert!(search_params().costs([2.0, 1.0]).check().is_err());
    assert!(search_params().dense_weights([]).check().is_err());
    assert!(search_params().dense_weights([f64::NAN]).check().is_err());
    let dense = [0.0, f32::NAN, 1.0];
    let dense = Features::new(&dense, 1).unwrap();
    assert!(FeatureBlocks::both(&sparse, Features::new(&[1.0], 1).unwrap()).is_err());
    let targets = Targets::one_each(&[0, 1, 1]).unwrap();
    assert!(LinearClassifier::fit(defaults(), FeatureBlocks::dense(dense), &targets).is_err());
    let model = LinearClassifier::fit(defaults(), features, &targets).unwrap();
    let other = SparseRows::from_rows(3, [vec![]]).unwrap();
    assert!(model.predict(FeatureBlocks::sparse(&other)).is_err());
}
