//! The solvers: problems made of the bytes, and answers checked by what proves them.

use std::sync::{Arc, LazyLock};

use wordmover::transport::{
    Certificate, Workspace, cost, relaxed_from_demand, relaxed_from_supply, solve,
};
use wordmover::{Document, Neighbor, WmdIndex, WordVectors, wmd, space::{Normalization, WordSpace}};
use wordmover_learn::{Features, LinearSvm, SvmParams};

use crate::bytes::Bytes;
use crate::outcome;

/// What a certificate may be off by; 1e-13 is the most that was seen.
const TOLERANCE: f64 = 1e-12;

/// A transport problem: ties, few or many sinks, weights over eight digits, any scale, and
/// numbers that must be refused.
pub fn transport(data: &[u8]) -> u64 {
    let mut bytes = Bytes::new(data);
    let kind = bytes.byte() % 6;
    let (n, m) = (1 + bytes.below(48), 1 + bytes.below(48));
    let scale = if kind == 4 {
        10f64.powi(i32::from(bytes.byte()) * 2 - 256)
    } else {
        1.0
    };
    let costs: Vec<f64> = (0..n * m)
        .map(|_| match kind {
            0 | 5 => (bytes.byte() % 4).into(),
            1 => 6.0 * bytes.unit() - 3.0,
            3 if bytes.byte() == 0 => f64::from_bits(bytes.word()),
            _ => scale * bytes.unit(),
        })
        .collect();
    let mut weights = |n: usize| -> Vec<f64> {
        let raw: Vec<f64> = (0..n)
            .map(|_| match kind {
                0 => f64::from(bytes.byte() % 3),
                2 => bytes.unit() * 0.5f64.powi(i32::from(bytes.byte() % 27)),
                3 if bytes.byte() == 0 => f64::from_bits(bytes.word()),
                5 => f64::from(1 + bytes.byte() % 2),
                _ => bytes.unit(),
            })
            .collect();
        let total: f64 = raw.iter().sum();
        if kind == 3 && !(total > 0.0 && total.is_finite()) {
            raw
        } else {
            raw.iter().map(|w| w / total).collect()
        }
    };
    let (supply, demand) = (weights(n), weights(m));
    let mut workspace = Workspace::default();
    let solution = match solve(&costs, &supply, &demand) {
        Ok(solution) => solution,
        Err(error) => {
            assert!(cost(&costs, &supply, &demand, &mut workspace).is_err());
            return outcome::of_error(&error);
        }
    };
    let certificate = Certificate::check(&costs, &supply, &demand, &solution);
    assert!(certificate.holds(TOLERANCE), "{certificate:?}");
    assert_eq!(
        cost(&costs, &supply, &demand, &mut workspace)
            .expect("solved before")
            .to_bits(),
        solution.cost.to_bits()
    );
    let largest = costs
        .iter()
        .fold(0.0, |most: f64, cost| most.max(cost.abs()));
    let slack = TOLERANCE * largest;
    let turned: Vec<f64> = (0..m)
        .flat_map(|j| (0..n).map(move |i| (i, j)))
        .map(|(i, j)| costs[i * m + j])
        .collect();
    let back = cost(&turned, &demand, &supply, &mut workspace).expect("the same problem");
    assert!(
        (back - solution.cost).abs() <= slack,
        "{back} and {}",
        solution.cost
    );
    assert!(relaxed_from_supply(&costs, &supply, m) <= solution.cost + slack);
    assert!(relaxed_from_demand(&costs, &demand) <= solution.cost + slack);
    outcome::of((
        kind,
        outcome::size(n),
        outcome::size(m),
        solution.flows.len() < n.max(m),
    ))
}

const N_WORDS: usize = 96;

/// Words in few dimensions: equal vectors, vectors of length 0, points on a line.
static SPACE: LazyLock<WordSpace> = LazyLock::new(|| {
    let words = (0..N_WORDS).map(|i| format!("w{i}")).collect();
    let matrix = (0..N_WORDS)
        .flat_map(|i| match i % 4 {
            0 => [(i / 4 % 5) as f32, 0.0, 0.0],
            1 => [(i % 7) as f32 * 0.5, (i % 3) as f32, 0.0],
            2 => [0.1 * (i as f32), (i as f32).sin(), (i as f32).cos()],
            _ => [0.0; 3],
        })
        .collect();
    let vectors = WordVectors::from_rows("points", words, matrix, 3).expect("sound vectors");
    WordSpace::new(Arc::new(vectors), Normalization::None, &[]).expect("a space")
});

fn document(bytes: &mut Bytes) -> Document {
    let n = bytes.below(34);
    let mut words: Vec<u32> = (0..n).map(|_| bytes.below(N_WORDS) as u32).collect();
    words.sort_unstable();
    words.dedup();
    let counts: Vec<f64> = words
        .iter()
        .map(|_| f64::from(1 + bytes.byte() % 5))
        .collect();
    let total: f64 = counts.iter().sum();
    let weights = counts.iter().map(|count| count / total);
    Document::from_weights(words.into_iter().zip(weights)).expect("a document")
}

/// Exact search against distances from every document, bit for bit; and what a distance is.
pub fn neighbors(data: &[u8]) -> u64 {
    let mut bytes = Bytes::new(data);
    let k = 1 + bytes.below(5);
    let n_documents = 1 + bytes.below(12);
    let query = document(&mut bytes);
    let documents: Vec<Document> = (0..n_documents).map(|_| document(&mut bytes)).collect();
    let index = WmdIndex::new(SPACE.clone(), documents).expect("an index");
    if query.is_empty() {
        let refused = index.search(&query, k).expect_err("a query without words");
        return outcome::of_error(&refused);
    }
    let found = index.search(&query, k).expect("neighbours");
    let mut all = Vec::new();
    for (index, document) in index.documents().iter().enumerate() {
        if document.is_empty() {
            continue;
        }
        let distance = wmd::distance(&SPACE, &query, document).expect("a distance");
        assert!(distance >= 0.0, "{distance}");
        let back = wmd::distance(&SPACE, document, &query).expect("a distance");
        assert!((distance - back).abs() <= 1e-11, "{distance} and {back}");
        if *document == query {
            assert_eq!(distance, 0.0);
        }
        all.push(Neighbor { index, distance });
    }
    all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    all.truncate(k);
    assert_eq!(found, all);
    outcome::of((k, outcome::size(query.len()), all.len()))
}

/// A linear SVM: no worse than the weights 0, and defined for every row.
pub fn svm(data: &[u8]) -> u64 {
    let mut bytes = Bytes::new(data);
    let (n_rows, n_columns) = (1 + bytes.below(12), 1 + bytes.below(6));
    let kind = bytes.byte() % 4;
    let labels: Vec<usize> = (0..n_rows).map(|_| bytes.below(4)).collect();
    let values: Vec<f32> = (0..n_rows * n_columns)
        .map(|_| match kind {
            0 => f32::from(bytes.byte() % 3),
            1 => f32::from_bits(bytes.word() as u32),
            _ => bytes.unit() as f32,
        })
        .collect();
    let c = 10f64.powi(i32::from(bytes.byte() % 12) - 5);
    let params = SvmParams::default()
        .cost(c)
        .standardize(bytes.byte().is_multiple_of(2));
    let fitted = Features::new(&values, n_columns)
        .and_then(|features| Ok((features, LinearSvm::fit(params, features, &labels)?)));
    match fitted {
        Ok((features, model)) => {
            let limit = c * n_rows as f64 * (1.0 + 1e-9);
            for solution in model.solutions() {
                assert!(
                    solution.objective <= limit,
                    "{} over {limit}",
                    solution.objective
                );
            }
            assert_eq!(model.predict(features).expect("classes").len(), n_rows);
            outcome::of((kind, model.classes().len(), outcome::size(n_columns)))
        }
        Err(error) => outcome::of_error(&error),
    }
}
