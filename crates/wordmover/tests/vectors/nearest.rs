//! Nearest words against sorting all of them.

use proptest::prelude::*;
use wordmover::WordVectors;

fn table(matrix: Vec<f32>, dim: usize) -> WordVectors {
    let words = (0..matrix.len() / dim).map(|id| format!("w{id}")).collect();
    WordVectors::from_rows("random", words, matrix, dim).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| f64::from(a) * f64::from(b))
            .sum()
    };
    let norms = dot(a, a).sqrt() * dot(b, b).sqrt();
    if norms == 0.0 { 0.0 } else { dot(a, b) / norms }
}

proptest! {
    #[test]
    fn the_nearest_are_those_of_a_full_sort(
        dim in 1usize..20,
        seed in prop::collection::vec(-3i8..=3, 400),
        k in 0usize..12,
        exclude in prop::collection::vec(0u32..20, 0..4),
    ) {
        // Small integers give many ties and some vectors of zeros.
        let n_words = seed.len() / dim - 1;
        let values: Vec<f32> = seed.iter().map(|&value| f32::from(value)).collect();
        let query = &values[n_words * dim..][..dim];
        let table = table(values[..n_words * dim].to_vec(), dim);
        let mut expected: Vec<(u32, f64)> = (0..n_words as u32)
            .filter(|id| !exclude.contains(id))
            .map(|id| (id, cosine(query, &table.vector(id))))
            .collect();
        expected.sort_by(|a, b| (b.1 as f32 + 0.0).total_cmp(&(a.1 as f32 + 0.0)).then(a.0.cmp(&b.0)));
        expected.truncate(k);
        let got = table.nearest(query, k, &exclude);
        prop_assert_eq!(got.len(), expected.len());
        for ((id, similarity), (expected_id, expected_similarity)) in got.iter().zip(&expected) {
            prop_assert!((f64::from(*similarity) - expected_similarity).abs() < 1e-6);
            // Sums in another order may break a tie; then the similarities agree.
            let itself = cosine(query, &table.vector(*id));
            prop_assert!(id == expected_id || (itself - expected_similarity).abs() < 1e-12);
        }
    }
}

#[test]
fn equals_come_in_the_order_of_their_ids() {
    let n = 5000;
    let table = table([1.0, 0.0].repeat(n), 2);
    let nearest = table.nearest(&[2.0, 0.0], 3, &[0]);
    assert_eq!(nearest, [(1, 1.0), (2, 1.0), (3, 1.0)]);
    assert_eq!(table.nearest(&[0.0, 0.0], 2, &[]), [(0, 0.0), (1, 0.0)]);
    assert_eq!(table.nearest(&[f32::NAN, 0.0], 2, &[]), []);
    assert_eq!(table.nearest(&[1.0, 0.0], n + 10, &[]).len(), n);
}

#[test]
fn the_largest_floats_have_neighbours() {
    let table = table(vec![3e38, 3e38, 3e38, -3e38], 2);
    let nearest = table.nearest(&[3e38, 3e38], 1, &[]);
    assert_eq!(nearest[0].0, 0);
    assert!((nearest[0].1 - 1.0).abs() < 1e-6);
}

#[test]
#[should_panic(expected = "the query has another dimension than the table")]
fn a_query_of_another_dimension_is_a_mistake_of_the_caller() {
    table(vec![1.0, 2.0], 2).nearest(&[1.0], 1, &[]);
}
