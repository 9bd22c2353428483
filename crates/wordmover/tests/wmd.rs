//! Word Mover's Distance between documents: a metric, proved optimal.

use std::sync::Arc;

use proptest::prelude::*;
use wordmover::{
    Document, Error, WordVectors,
    document::Word,
    space::{Normalization, WordSpace},
    transport::Amount,
    wmd,
};

const N_WORDS: usize = 30;
const DIM: usize = 4;

/// Vectors on a small lattice, so that some words have the same vector.
fn space() -> WordSpace {
    let words = (0..N_WORDS).map(|i| format!("w{i}")).collect();
    let matrix = (0..N_WORDS * DIM)
        .map(|i| ((i * 7919 + i / 5) % 4) as f32 * 0.5 - 1.0)
        .collect();
    let vectors = WordVectors::from_rows("lattice", words, matrix, DIM).unwrap();
    WordSpace::new(Arc::new(vectors), Normalization::None, &[]).unwrap()
}

fn documents() -> impl Strategy<Value = Document> {
    prop::collection::btree_map(0..N_WORDS as u32, 1..5u32, 1..12).prop_map(|counts| {
        let total: u32 = counts.values().sum();
        let weights = counts
            .iter()
            .map(|(&w, &n)| (w, f64::from(n) / f64::from(total)));
        Document::from_weights(weights).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn plans_are_proved_optimal_with_shared_words(x in documents(), y in documents()) {
        let space = space();
        let plan = wmd::transport(&space, &x, &y).unwrap();
        let certificate = plan.certificate(&space, &x, &y).unwrap();
        prop_assert!(certificate.holds(1e-12), "{certificate:?}");
        for step in &plan.moves {
            if x.word(step.from as usize) == y.word(step.to as usize) {
                prop_assert_eq!(step.cost, 0.0);
            }
        }
    }

    #[test]
    fn part_of_the_mass_moves_at_a_cost_proved_optimal(
        x in documents(), y in documents(), share in 0.01..1.0f64,
    ) {
        let space = space();
        let whole = wmd::distance(&space, &x, &y).unwrap();
        for amount in [Amount::Mass(share), Amount::Mass(1.0), Amount::Penalty(share)] {
            let plan = wmd::partial_transport(&space, &x, &y, amount).unwrap();
            let certificate = plan.certificate(&space, &x, &y).unwrap();
            prop_assert!(certificate.holds(1e-12), "{certificate:?}");
            let back = wmd::partial_transport(&space, &y, &x, amount).unwrap();
            prop_assert_eq!(plan.distance.to_bits(), back.distance.to_bits());
            prop_assert_eq!(&plan.first_unmatched, &back.second_unmatched);
            prop_assert!(plan.distance <= whole + 1e-12);
        }
        let all = wmd::partial_transport(&space, &x, &y, Amount::Mass(1.0)).unwrap();
        prop_assert!((all.distance - whole).abs() <= 1e-12);
        let same = wmd::partial_transport(&space, &x, &x, Amount::Mass(share)).unwrap();
        prop_assert_eq!(same.distance, 0.0);
    }

    #[test]
    fn the_distance_is_symmetric_to_the_last_bit(x in documents(), y in documents()) {
        let space = space();
        let there = wmd::distance(&space, &x, &y).unwrap();
        prop_assert_eq!(there.to_bits(), wmd::distance(&space, &y, &x).unwrap().to_bits());
        prop_assert_eq!(there, wmd::transport(&space, &y, &x).unwrap().distance);
    }

    #[test]
    fn a_document_is_at_distance_zero_from_itself(x in documents()) {
        prop_assert_eq!(wmd::distance(&space(), &x, &x.clone()).unwrap(), 0.0);
    }

    #[test]
    fn the_triangle_inequality_holds(x in documents(), y in documents(), z in documents()) {
        let space = space();
        let d = |a, b| wmd::distance(&space, a, b).unwrap();
        prop_assert!(d(&x, &z) <= d(&x, &y) + d(&y, &z) + 1e-12);
    }

    #[test]
    fn centroid_and_relaxed_distances_are_lower_bounds(x in documents(), y in documents()) {
        let space = space();
        let exact = wmd::distance(&space, &x, &y).unwrap() + 1e-12;
        prop_assert!(wmd::word_centroid_distance(&space, &x, &y).unwrap() <= exact);
        let (from_x, from_y) = wmd::relaxed_distances(&space, &x, &y).unwrap();
        prop_assert!(from_x <= exact && from_y <= exact);
    }
}

#[test]
fn one_word_documents_are_as_far_apart_as_their_words() {
    let space = space();
    let one = |word| Document::from_weights([(word, 1.0)]).unwrap();
    let vectors = space.gather([3, 11].map(Word::Known).into_iter()).unwrap();
    let squared: f32 = (0..DIM)
        .map(|k| (vectors[k] - vectors[DIM + k]).powi(2))
        .sum();
    assert_eq!(
        wmd::distance(&space, &one(3), &one(11)).unwrap(),
        f64::from(squared).sqrt()
    );
}

#[test]
fn a_nearly_identical_pair_has_a_tiny_exact_distance() {
    // The shared mass is taken out first, so the rest keeps its digits.
    let space = space();
    let shift = 1e-8;
    let x = Document::from_weights([(1, 0.5), (2, 0.5)]).unwrap();
    let y = Document::from_weights([(1, 0.5 - shift), (2, 0.5 + shift)]).unwrap();
    let one = |word| Document::from_weights([(word, 1.0)]).unwrap();
    let apart = wmd::distance(&space, &one(1), &one(2)).unwrap();
    let distance = wmd::distance(&space, &x, &y).unwrap();
    assert!(
        (distance / (apart * shift) - 1.0).abs() < 1e-7,
        "{distance}"
    );
}

#[test]
fn a_document_without_words_has_no_distance() {
    let (space, empty) = (space(), Document::default());
    let x = Document::from_weights([(1, 1.0)]).unwrap();
    assert!(matches!(
        wmd::distance(&space, &x, &empty),
        Err(Error::EmptyDocument)
    ));
    assert!(matches!(
        wmd::transport(&space, &empty, &x),
        Err(Error::EmptyDocument)
    ));
    assert!(matches!(
        wmd::relaxed_distances(&space, &empty, &x),
        Err(Error::EmptyDocument)
    ));
}
