//! Word Mover's Distance and Embedding with other ground costs than the Euclidean.

use std::sync::Arc;

use proptest::prelude::*;
use wordmover::document::Word;
use wordmover::names::Named;
use wordmover::space::{Metric, Normalization, WordSpace};
use wordmover::transport::Amount;
use wordmover::{
    Document, EmbeddingParams, ModelFile, WmdIndex, WordMoversEmbedding, WordVectors, wmd,
};

use crate::toy;

fn space(metric: Metric) -> WordSpace {
    let words = (0..30).map(|i| format!("w{i}")).collect();
    let matrix = (0..30 * 4).map(|i| ((i * 7919 + i / 5) % 4) as f32 * 0.5 - 1.0);
    let vectors = WordVectors::from_rows("lattice", words, matrix.collect(), 4).unwrap();
    let space = WordSpace::new(Arc::new(vectors), Normalization::None, &[]).unwrap();
    space.with_metric(metric)
}

fn documents() -> impl Strategy<Value = Document> {
    prop::collection::btree_map(0..30u32, 1..5u32, 1..12).prop_map(|counts| {
        let total = f64::from(counts.values().sum::<u32>());
        Document::from_weights(counts.iter().map(|(&w, &n)| (w, f64::from(n) / total))).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn distances_by_every_metric_are_proved_optimal_and_symmetric(
        x in documents(), y in documents(), share in 0.1..1.0f64,
    ) {
        for metric in Metric::ALL.iter().copied() {
            let space = space(metric);
            let plan = wmd::transport(&space, &x, &y).unwrap();
            let certificate = plan.certificate(&space, &x, &y).unwrap();
            prop_assert!(certificate.holds(1e-12), "{metric}: {certificate:?}");
            let distance = wmd::distance(&space, &x, &y).unwrap();
            prop_assert_eq!(plan.distance.to_bits(), distance.to_bits());
            prop_assert_eq!(distance.to_bits(), wmd::distance(&space, &y, &x).unwrap().to_bits());
            prop_assert_eq!(wmd::distance(&space, &x, &x).unwrap(), 0.0);
            let part = wmd::partial_transport(&space, &x, &y, Amount::Mass(share)).unwrap();
            let certificate = part.certificate(&space, &x, &y).unwrap();
            prop_assert!(certificate.holds(1e-12), "{metric}: {certificate:?}");
            prop_assert!(part.distance <= distance + 1e-12);
        }
    }
}

#[test]
fn shared_words_move_where_a_detour_costs_less() {
    // On a line, squared costs: from {0, 1} to {1, 2}, two steps of 1 cost less than one of 2.
    let words = ["a", "b", "c"].map(String::from).to_vec();
    let vectors = WordVectors::from_rows("line", words, vec![0.0, 1.0, 2.0], 1).unwrap();
    let space = WordSpace::new(Arc::new(vectors), Normalization::None, &[]).unwrap();
    let bag = |a, b| Document::from_weights([(a, 0.5), (b, 0.5)]).unwrap();
    let (x, y) = (bag(0, 1), bag(1, 2));
    let distance = |metric| wmd::distance(&space.clone().with_metric(metric), &x, &y).unwrap();
    assert_eq!(distance(Metric::Euclidean), 1.0);
    assert_eq!(distance(Metric::SqEuclidean), 1.0);
    assert_eq!(distance(Metric::Cityblock), 1.0);
}

#[test]
fn the_metric_is_kept_in_the_model_file_and_old_files_have_none() {
    for metric in Metric::ALL.iter().copied() {
        let mut params: EmbeddingParams = toy::params().n_features(16);
        params.documents.metric = metric;
        let model = WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap();
        let bytes = model.to_bytes(false).unwrap();
        let header = String::from_utf8_lossy(&bytes);
        let is_euclidean = metric == Metric::Euclidean;
        // What readers of version 3 can read is of version 3.
        assert_eq!(
            header.contains("\"version\":\"3\""),
            is_euclidean,
            "{metric}"
        );
        assert_eq!(header.contains("metric"), !is_euclidean);
        let file = ModelFile::from_bytes(&bytes, "model").unwrap();
        let again = file.with_vectors(Some(toy::vectors())).unwrap();
        assert_eq!(again.space().metric(), metric);
        assert_eq!(
            again.transform(&toy::TEXTS).unwrap(),
            model.transform(&toy::TEXTS).unwrap()
        );
        assert_eq!(again.params(), model.params());
        let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
        let index = WmdIndex::new(model.space().clone(), documents.to_vec());
        assert_eq!(index.is_ok(), is_euclidean);
    }
}

#[test]
fn metrics_give_other_features_and_other_keys() {
    let mut keys = Vec::new();
    let mut rows = Vec::new();
    for metric in Metric::ALL.iter().copied() {
        let mut params: EmbeddingParams = toy::params().n_features(16);
        params.documents.metric = metric;
        let model = WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap();
        let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
        keys.push(model.distances_key(&documents));
        rows.push(model.distances(&documents).unwrap());
    }
    for i in 0..keys.len() {
        for j in 0..i {
            assert_ne!(keys[i], keys[j]);
            assert_ne!(rows[i], rows[j]);
        }
    }
}

#[test]
fn the_word_rotator_weighs_words_by_the_length_of_their_vectors() {
    let words = ["a", "b", "c"].map(String::from).to_vec();
    let matrix = vec![3.0, 4.0, 0.0, 1.0, 0.0, 0.0];
    let vectors = WordVectors::from_rows("three", words, matrix, 2).unwrap();
    let space = WordSpace::new(Arc::new(vectors), Normalization::None, &[]).unwrap();
    let space = space.with_metric(Metric::Cosine);
    let bag = Document::from_weights([(0, 0.25), (1, 0.25), (2, 0.5)]).unwrap();
    let rotated = wmd::word_rotator_document(&space, &bag).unwrap();
    let expected: Vec<Word> = vec![Word::Known(0), Word::Known(1)];
    assert_eq!(rotated.words().collect::<Vec<_>>(), expected);
    for (weight, expected) in rotated.weights().iter().zip([5.0 / 6.0, 1.0 / 6.0]) {
        assert!((weight - expected).abs() < 1e-15);
    }
    let other = Document::from_weights([(1, 1.0)]).unwrap();
    let distance = wmd::distance(&space, &rotated, &other).unwrap();
    assert!((distance - 5.0 / 6.0 * 0.2).abs() < 1e-7, "{distance}");
}
