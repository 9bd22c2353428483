//! Sets of points: the word embedding bit for bit, and what is refused.

use std::sync::Arc;

use proptest::prelude::*;
use wordmover::embedding::Gamma;
use wordmover::names::Named;
use wordmover::points::{PointSetEmbedding, PointSetParams, PointSets, RandomPoints};
use wordmover::random_documents::RandomWords;
use wordmover::space::{Metric, Normalization};
use wordmover::{Document, EmbeddingParams, WordMoversEmbedding, WordVectors};

const TEXTS: [&str; 6] = [
    "Obama speaks to the media in Illinois",
    "The president greets the press in Chicago",
    "The band gave a concert in Japan",
    "a cat sat on the mat, and a cat slept on the other mat",
    "physics",
    "students read books about quantum mechanics",
];

/// The words of documents as points.
fn points_of(model: &WordMoversEmbedding, documents: &[Document]) -> PointSets {
    let mut sets = PointSets::new(model.space().dim()).unwrap();
    for document in documents {
        let points = model.space().gather(document.words()).unwrap();
        sets.push(&points, Some(document.weights())).unwrap();
    }
    sets
}

#[test]
fn words_given_as_points_get_the_word_embedding_bit_for_bit() {
    let vectors = Arc::new(WordVectors::builtin());
    for metric in Metric::ALL.iter().copied() {
        for gamma in [Gamma::Auto, Gamma::Value(0.7), Gamma::None] {
            let mut params = EmbeddingParams::default().n_features(96).gamma(gamma).raw();
            params.documents.metric = metric;
            params.documents.normalization = Normalization::None;
            params.random_words = RandomWords::Uniform;
            let model = WordMoversEmbedding::fit(params, vectors.clone(), &TEXTS).unwrap();
            let documents = TEXTS.map(|text| model.document(&model.word_counts(text)));
            let sets = points_of(&model, &documents);
            let params = PointSetParams {
                n_features: 96,
                gamma,
                metric,
                ..PointSetParams::default()
            };
            let of_points = PointSetEmbedding::fit(params, &sets).unwrap();
            assert_eq!(of_points.random_sets(), model.random_documents());
            assert_eq!(of_points.gamma(), model.gamma());
            let expected = model.embed(&documents).unwrap();
            assert_eq!(
                of_points.transform(&sets).unwrap(),
                expected,
                "{metric} {gamma}"
            );
            let distances = model.distances(&documents).unwrap();
            assert_eq!(of_points.distances(&sets).unwrap(), distances);
        }
    }
}

fn sets(n: usize) -> PointSets {
    let mut sets = PointSets::new(3).unwrap();
    for i in 0..n {
        let n_points = 1 + i % 7;
        let value = |k: usize| ((i * 37 + k * 11) as f32 * 0.7).sin();
        let points: Vec<f32> = (0..3 * n_points).map(value).collect();
        sets.push(&points, None).unwrap();
    }
    sets
}

#[test]
fn a_row_depends_on_its_set_alone() {
    let all = sets(40);
    for random_points in RandomPoints::ALL.iter().copied() {
        let params = PointSetParams {
            n_features: 50,
            random_points,
            ..PointSetParams::default()
        };
        let model = PointSetEmbedding::fit(params, &all).unwrap();
        let rows = model.transform(&all).unwrap();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| model.transform(&all)).unwrap(), rows);
        for set in [0, 17, 39] {
            let mut one = PointSets::new(3).unwrap();
            one.push(all.points(set), None).unwrap();
            let alone = model.transform(&one).unwrap();
            assert_eq!(alone, rows[set * 50..][..50], "{random_points}");
        }
        // Fewer features are the first of more.
        let params = PointSetParams {
            n_features: 20,
            gamma: Gamma::None,
            ..params
        };
        let few = PointSetEmbedding::fit(params, &all).unwrap();
        assert_eq!(few.random_sets().words(19), model.random_sets().words(19));
        let lengths: Vec<u32> = (0..50)
            .map(|j| model.random_sets().document_len(j) as u32)
            .collect();
        let points = (0..50)
            .flat_map(|j| model.random_sets().words(j).to_vec())
            .collect();
        let again =
            PointSetEmbedding::from_parts(*model.params(), model.gamma(), 3, &lengths, points);
        assert_eq!(again.unwrap().transform(&all).unwrap(), rows);
    }
}

#[test]
fn random_points_of_sets_and_samples_are_points_of_the_sets() {
    let all = sets(12);
    let every: Vec<&[f32]> = (0..12)
        .flat_map(|set| all.points(set).chunks_exact(3))
        .collect();
    for random_points in [RandomPoints::Samples, RandomPoints::Sets] {
        let params = PointSetParams {
            n_features: 64,
            random_points,
            ..PointSetParams::default()
        };
        let model = PointSetEmbedding::fit(params, &all).unwrap();
        for j in 0..64 {
            let drawn = model.random_sets().words(j);
            assert!(drawn.chunks_exact(3).all(|point| every.contains(&point)));
            if random_points == RandomPoints::Sets {
                let of_one = (0..12).any(|set| {
                    let points: Vec<&[f32]> = all.points(set).chunks_exact(3).collect();
                    drawn.chunks_exact(3).all(|point| points.contains(&point))
                });
                assert!(of_one);
            }
        }
    }
}

#[test]
fn proportions_of_weights_count_and_zeros_are_left_out() {
    let mut given = PointSets::new(1).unwrap();
    given
        .push(&[1.0, 2.0, 3.0], Some(&[2.0, 0.0, 6.0]))
        .unwrap();
    assert_eq!(
        (given.points(0), given.weights(0)),
        (&[1.0, 3.0][..], &[0.25, 0.75][..])
    );
}

#[test]
fn bad_points_are_refused_with_their_position() {
    assert_eq!(
        PointSets::new(0).unwrap_err().to_string(),
        "points need at least one coordinate"
    );
    let mut sets = PointSets::new(2).unwrap();
    sets.push(&[0.0, 1.0], None).unwrap();
    type Case<'c> = (&'c [f32], Option<&'c [f64]>, &'c str);
    let cases: [Case; 7] = [
        (
            &[1.0],
            None,
            "set 1 has 1 values, which are no whole points of dimension 2",
        ),
        (&[], None, "set 1 has no points"),
        (
            &[0.0, 1.0, 2.0, f32::NAN],
            None,
            "coordinate 1 of point 1 of set 1 is NaN, not finite",
        ),
        (&[0.0, 1.0], Some(&[0.0]), "all weights of set 1 are 0"),
        (
            &[0.0, 1.0],
            Some(&[1.0, 1.0]),
            "set 1 has 1 points and 2 weights",
        ),
        (
            &[0.0, 1.0],
            Some(&[-1.0]),
            "the weight of point 0 of set 1 is -1, not a finite number of at least zero",
        ),
        (
            &[0.0, 1.0],
            Some(&[f64::INFINITY]),
            "the weight of point 0 of set 1 is inf, not a finite number of at least zero",
        ),
    ];
    for (points, weights, message) in cases {
        assert_eq!(sets.push(points, weights).unwrap_err().to_string(), message);
    }
    assert_eq!(sets.len(), 1);
    let params = PointSetParams::default();
    let model = PointSetEmbedding::fit(params, &sets).unwrap();
    let mut others = PointSets::new(3).unwrap();
    others.push(&[0.0; 3], None).unwrap();
    let message = "the points have dimension 3, not 2";
    assert_eq!(model.transform(&others).unwrap_err().to_string(), message);
    assert_eq!(
        sets.distances(&others, Metric::Cosine)
            .unwrap_err()
            .to_string(),
        "the points have dimension 3, not 2"
    );
    let none = PointSets::new(2).unwrap();
    assert!(PointSetEmbedding::fit(params, &none).is_err());
    assert!(model.transform(&none).unwrap().is_empty());
    for bad in [
        PointSetParams {
            n_features: 0,
            ..params
        },
        PointSetParams { d_max: 0, ..params },
        PointSetParams {
            gamma: Gamma::Value(-1.0),
            ..params
        },
    ] {
        assert!(PointSetEmbedding::fit(bad, &sets).is_err(), "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn sets_of_points_never_panic(
        dim in 1..4usize,
        values in prop::collection::vec(prop_oneof![-1e38..1e38f32, Just(0.0), -1.0..1.0f32], 1..24),
    ) {
        let mut sets = PointSets::new(dim).unwrap();
        let whole = values.len() / dim * dim;
        let _ = sets.push(&values[..whole], None);
        let _ = sets.push(&values, None);
        if sets.is_empty() {
            return Ok(());
        }
        for metric in Metric::ALL.iter().copied() {
            let params = PointSetParams { n_features: 4, metric, ..PointSetParams::default() };
            if let Ok(model) = PointSetEmbedding::fit(params, &sets) {
                let _ = model.transform(&sets);
            }
        }
    }
}
