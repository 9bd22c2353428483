//! Classifiers and TF-IDF against LIBLINEAR and scikit-learn: every row of
//! `testdata/linear`.

use std::path::PathBuf;

use wordmover_learn::linear::ClassWeights;
use wordmover_learn::{
    FeatureBlocks, Features, LinearClassifier, LinearParams, SparseRows, Targets, TfIdf,
};

struct Problem {
    labels: Vec<usize>,
    row_weights: Vec<f64>,
    counts: SparseRows,
    sparse: SparseRows,
    n_dense: usize,
    dense: Vec<f32>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/linear")
}

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>>(cell: &str) -> Vec<T> {
    cell.split_whitespace()
        .map(|x| x.parse().unwrap())
        .collect()
}

fn read(name: &str) -> Problem {
    let text = std::fs::read_to_string(folder().join(format!("{name}.tsv"))).unwrap();
    let mut counts: Vec<Vec<(u32, f64)>> = Vec::new();
    let mut sparse: Vec<Vec<(u32, f64)>> = Vec::new();
    let (mut labels, mut row_weights, mut dense) = (vec![], vec![], vec![]);
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        labels.push(cells[0].parse().unwrap());
        row_weights.push(cells[1].parse().unwrap());
        let columns: Vec<u32> = numbers(cells[2]);
        let with = |cell| columns.iter().copied().zip(numbers(cell)).collect();
        counts.push(with(cells[3]));
        sparse.push(with(cells[4]));
        dense.extend(numbers::<f32>(cells[5]));
    }
    let last = sparse.iter().flatten().map(|&(column, _)| column).max();
    let n_columns = last.map_or(0, |last| last as usize + 1);
    Problem {
        n_dense: dense.len() / labels.len(),
        labels,
        row_weights,
        counts: SparseRows::from_rows(n_columns, counts).unwrap(),
        sparse: SparseRows::from_rows(n_columns, sparse).unwrap(),
        dense,
    }
}

impl Problem {
    fn features(&self) -> FeatureBlocks<'_> {
        if self.n_dense == 0 {
            return FeatureBlocks::sparse(&self.sparse);
        }
        let dense = Features::new(&self.dense, self.n_dense).unwrap();
        if self.sparse.n_columns() == 0 {
            return FeatureBlocks::dense(dense);
        }
        FeatureBlocks::both(&self.sparse, dense).unwrap()
    }
}

#[test]
fn objectives_and_predictions_are_those_of_liblinear() {
    let mut reader = csv::Reader::from_path(folder().join("fits.csv")).unwrap();
    let mut n_fits = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let [name, weights, bias, cost, objectives, classes] =
            std::array::from_fn(|cell| record.get(cell).unwrap());
        let problem = read(name);
        let mut targets = Targets::one_each(&problem.labels).unwrap();
        let mut params = LinearParams::default()
            .cost(cost.parse().unwrap())
            .bias(bias.parse().ok())
            .dense_weight(0.5)
            .max_epochs(100_000)
            .tolerance(1e-9);
        match weights {
            "given" => {
                let given = vec![(0, 3.0), (1, 0.25)];
                params = params.class_weights(ClassWeights::Given(given));
            }
            "balanced" => params = params.class_weights(ClassWeights::Balanced),
            "rows" => targets = targets.weighted(&problem.row_weights).unwrap(),
            _ => {}
        }
        let model = LinearClassifier::fit(params, problem.features(), &targets).unwrap();
        let objectives: Vec<f64> = numbers(objectives);
        let key = format!("{name} {weights} {bias} {cost}");
        assert!(model.converged(), "{key}: {:?}", model.fits());
        assert_eq!(model.fits().len(), objectives.len(), "{key}");
        for (fit, expected) in model.fits().iter().zip(objectives) {
            let difference = (fit.objective - expected).abs();
            assert!(difference <= 1e-6 * expected, "{key}: {fit:?} {expected}");
        }
        let predicted = model.predict(problem.features()).unwrap();
        assert_eq!(predicted, numbers::<usize>(classes), "{key}");
        n_fits += 1;
    }
    assert_eq!(n_fits, 208);
}

#[test]
fn tf_idf_is_that_of_scikit_learn() {
    for name in ["two-classes", "eleven-classes", "more-columns", "both"] {
        let problem = read(name);
        let tf_idf = TfIdf::fit(&problem.counts).unwrap();
        let features = tf_idf.transform(&problem.counts).unwrap();
        for row in 0..features.n_rows() {
            let (found, expected) = (features.row(row), problem.sparse.row(row));
            assert_eq!(found.0, expected.0);
            for (found, expected) in found.1.iter().zip(expected.1) {
                assert!((found - expected).abs() <= 1e-14, "{found} {expected}");
            }
        }
        let again = TfIdf::from_parts(tf_idf.idf().to_vec()).unwrap();
        assert_eq!(again, tf_idf);
    }
}
