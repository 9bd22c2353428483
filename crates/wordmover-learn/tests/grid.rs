//! Grid search on tables of distances.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use wordmover_learn::grid::{self, GridParams, Surface};
use wordmover_learn::split::{Split, k_folds, stratified_k_folds};
use wordmover_learn::{Error, Features, LinearSvm, SvmParams};

const N_ROWS: usize = 90;
const N_COLUMNS: usize = 12;

/// Distances of documents of three classes, which differ by `signal`.
fn table(signal: f32, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut number = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    (0..N_ROWS * N_COLUMNS)
        .map(|i| {
            let (row, column) = (i / N_COLUMNS, i % N_COLUMNS);
            let same = f32::from(u8::from(row % 3 == column % 3));
            1.2 + 0.1 * number() - signal * same
        })
        .collect()
}

fn labels() -> Vec<usize> {
    (0..N_ROWS).map(|row| row % 3 * 10).collect()
}

fn features_of(distances: &[f32], _: usize, gamma: Option<f64>) -> Vec<f32> {
    let feature = |&distance: &f32| match gamma {
        Some(gamma) => (-gamma * f64::from(distance)).exp() as f32,
        None => distance,
    };
    distances.iter().map(feature).collect()
}

fn search(params: &GridParams, tables: &[&[f32]], splits: &[Split]) -> Result<Surface, Error> {
    let tables: Vec<Features> = tables
        .iter()
        .map(|table| Features::new(table, N_COLUMNS).unwrap())
        .collect();
    grid::search(params, &tables, &features_of, &labels(), splits, &|| {
        ControlFlow::Continue(())
    })
}

fn small() -> GridParams {
    GridParams::default()
        .gammas([Some(0.1), Some(1.0), None])
        .costs([1e-2, 1.0, 1e2, 1e4])
}

#[test]
fn the_table_with_the_signal_is_chosen_and_every_point_is_told() {
    let folds = stratified_k_folds(&labels(), 5, 1).unwrap();
    let surface = search(&small(), &[&table(0.0, 1), &table(0.05, 2)], &folds).unwrap();
    assert_eq!(surface.points().len(), 2 * 3 * 4);
    let best = surface.best();
    assert_eq!(best.table, 1);
    assert!(best.accuracy > 0.9, "{best:?}");
    let chance = surface.points()[..12]
        .iter()
        .map(|point| point.accuracy)
        .fold(0.0, f64::max);
    assert!(chance < 0.6, "{chance}");
    // By table, gamma, C.
    let point = surface.points()[12 + 4 + 2];
    assert_eq!((point.table, point.gamma, point.cost), (1, Some(1.0), 1e2));
    for point in surface.points() {
        assert_eq!(point.accuracy, point.n_right as f64 / N_ROWS as f64);
        assert!((0.0..0.5).contains(&point.deviation));
    }
}

#[test]
fn a_point_is_what_machines_on_the_features_give() {
    let distances = table(0.02, 3);
    let all = Features::new(&distances, N_COLUMNS).unwrap();
    let labels = labels();
    let folds = k_folds(N_ROWS, 4, 9).unwrap();
    for (standardize, warm_starts) in [(false, false), (false, true), (true, false), (true, true)] {
        let svm = SvmParams::default().standardize(standardize);
        let params = small().svm(svm).warm_starts(warm_starts);
        let surface = search(&params, &[&distances], &folds).unwrap();
        let mut n_right = [0; 4];
        for fold in &folds {
            let part = |rows: &[usize]| {
                let distances = all.gather(rows);
                features_of(&distances, N_COLUMNS, Some(1.0))
            };
            let (train, test) = (part(&fold.train), part(&fold.test));
            let train = Features::new(&train, N_COLUMNS).unwrap();
            let test = Features::new(&test, N_COLUMNS).unwrap();
            let truth: Vec<usize> = fold.train.iter().map(|&row| labels[row]).collect();
            let path = if warm_starts {
                LinearSvm::fit_path(svm.check().unwrap(), &params.costs, train, &truth).unwrap()
            } else {
                let costs = params.costs.iter();
                costs
                    .map(|&cost| LinearSvm::fit(svm.cost(cost), train, &truth).unwrap())
                    .collect()
            };
            for (n_right, model) in n_right.iter_mut().zip(&path) {
                let predicted = model.predict(test).unwrap();
                let right = predicted
                    .iter()
                    .zip(&fold.test)
                    .filter(|(p, row)| **p == labels[**row]);
                *n_right += right.count() as u64;
            }
        }
        let found: Vec<u64> = surface.points()[4..8]
            .iter()
            .map(|point| point.n_right)
            .collect();
        assert_eq!(found, n_right);
    }
}

#[test]
fn of_equal_points_the_one_with_the_smallest_c_then_gamma_then_table_is_chosen() {
    // The same table twice, so easy that many points are right everywhere.
    let easy = table(0.5, 4);
    let folds = stratified_k_folds(&labels(), 3, 1).unwrap();
    let params = GridParams::default()
        .gammas([Some(1.0), Some(0.1)])
        .costs([1e2, 1e3, 1e4]);
    let surface = search(&params, &[&easy, &easy], &folds).unwrap();
    let all_right = |i: usize| surface.points()[i].n_right == N_ROWS as u64;
    assert!([0, 1, 2, 3, 4, 5].into_iter().all(all_right));
    let best = surface.best();
    assert_eq!((best.table, best.gamma, best.cost), (0, Some(1.0), 1e2));
    let hard_first = search(&params, &[&table(0.0, 1), &easy], &folds).unwrap();
    let best = hard_first.best();
    assert_eq!((best.table, best.gamma, best.cost), (1, Some(1.0), 1e2));
}

#[test]
fn the_number_of_threads_does_not_change_the_surface() {
    let distances = table(0.01, 5);
    let folds = stratified_k_folds(&labels(), 5, 1).unwrap();
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap();
        pool.install(|| search(&small(), &[&distances, &distances], &folds).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn progress_is_told_and_may_break() {
    let distances = table(0.01, 6);
    let tables = [Features::new(&distances, N_COLUMNS).unwrap()];
    let folds = stratified_k_folds(&labels(), 5, 1).unwrap();
    let n_fitted = AtomicU64::new(0);
    let count = |most: u64| {
        n_fitted.store(0, Ordering::Relaxed);
        grid::search(&small(), &tables, &features_of, &labels(), &folds, &|| {
            if n_fitted.fetch_add(1, Ordering::Relaxed) + 1 >= most {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
    };
    assert!(count(u64::MAX).is_ok());
    assert_eq!(n_fitted.load(Ordering::Relaxed), 3 * 4 * 5);
    assert_eq!(count(7).unwrap_err(), Error::Interrupted);
    assert!(n_fitted.load(Ordering::Relaxed) < 3 * 4 * 5);
}

#[test]
fn the_first_columns_are_the_features_of_a_smaller_embedding() {
    let distances = table(0.02, 7);
    let folds = stratified_k_folds(&labels(), 5, 1).unwrap();
    let first: Vec<f32> = distances
        .chunks_exact(N_COLUMNS)
        .flat_map(|row| row[..5].to_vec())
        .collect();
    let on = |table: Features| {
        let quiet = || ControlFlow::Continue(());
        grid::search(&small(), &[table], &features_of, &labels(), &folds, &quiet).unwrap()
    };
    let seen = Features::new(&distances, N_COLUMNS)
        .unwrap()
        .first_columns(5)
        .unwrap();
    assert_eq!(on(seen), on(Features::new(&first, 5).unwrap()));
}

#[test]
fn features_that_are_not_finite_are_named() {
    let mut distances = table(0.01, 8);
    distances[N_COLUMNS + 1] = f32::NAN;
    let folds = stratified_k_folds(&labels(), 5, 1).unwrap();
    let error = search(&small(), &[&distances], &folds).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }), "{error}");
}

#[test]
fn grids_that_cannot_be_searched_are_refused() {
    let distances = table(0.01, 8);
    let folds = stratified_k_folds(&labels(), 5, 1).unwrap();
    let refused = |params: GridParams| search(&params, &[&distances], &folds).is_err();
    assert!(refused(small().gammas([])));
    assert!(refused(small().gammas([Some(0.0)])));
    assert!(refused(small().gammas([Some(f64::NAN)])));
    assert!(refused(small().costs([])));
    assert!(refused(small().costs([1.0, 1.0])));
    assert!(refused(small().costs([2.0, 1.0])));
    assert!(refused(small().costs([1.0, f64::INFINITY])));
    assert!(refused(small().svm(SvmParams::default().tolerance(0.0))));
    assert!(search(&small(), &[], &folds).is_err());
    assert!(search(&small(), &[&distances], &[]).is_err());
    let nothing_held_out = Split {
        train: (0..N_ROWS).collect(),
        test: Vec::new(),
    };
    assert!(search(&small(), &[&distances], &[nothing_held_out]).is_err());
    let outside = Split {
        train: vec![0, 1, 2],
        test: vec![N_ROWS],
    };
    assert!(search(&small(), &[&distances], &[outside]).is_err());
    let one_class = Split {
        train: vec![0, 3, 6],
        test: vec![1],
    };
    let error = search(&small(), &[&distances], &[one_class]).unwrap_err();
    assert_eq!(
        error,
        Error::OneClass {
            class: 0,
            n_rows: 3
        }
    );
    let short = &distances[N_COLUMNS..];
    assert!(search(&small(), &[short], &folds).is_err());
}
