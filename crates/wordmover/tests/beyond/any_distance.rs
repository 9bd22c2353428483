//! Features of any distance: the Word Mover's Embedding among them, and what is refused.

use wordmover::d2ke::{
    D2ke, Distance, WordMoversDistance, dtw, edit_distance, hausdorff, sub_slices, substrings,
};
use wordmover::embedding::Gamma;
use wordmover::{Document, Error, WordMoversEmbedding};

use crate::toy;

#[test]
fn the_distance_of_documents_gives_their_embedding() {
    let params = toy::params().n_features(32).gamma(Gamma::Value(0.7));
    let model = WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap();
    let documents = toy::TEXTS.map(|text| model.document(&model.word_counts(text)));
    // Random documents are of words of the vocabulary: documents themselves.
    let random = (0..32).map(|j| {
        let words = model
            .random_documents()
            .words(j)
            .chunks_exact(2)
            .map(|vector| {
                let at = toy::WORDS.iter().position(|(_, known)| known == vector);
                at.unwrap() as u32
            });
        let n = model.random_documents().document_len(j) as f64;
        Document::from_weights(words.map(|word| (word, 1.0 / n))).unwrap()
    });
    let distance = WordMoversDistance(model.space().clone());
    let same = D2ke::fit(distance, random.collect(), Gamma::Value(0.7), &documents).unwrap();
    let expected = model.embed(&documents).unwrap();
    for (x, y) in same.transform(&documents).unwrap().iter().zip(expected) {
        assert!((x - y).abs() <= 1e-6 * y, "{x} and {y}");
    }
}

#[test]
fn gamma_is_one_over_the_median_unless_given() {
    let numbers: Vec<f64> = (0..10).map(f64::from).collect();
    let apart = |a: &f64, b: &f64| (a - b).abs();
    let fit = |gamma| D2ke::fit(apart, vec![0.0], gamma, &numbers);
    assert_eq!(fit(Gamma::Auto).unwrap().gamma(), Some(1.0 / 5.0));
    assert_eq!(fit(Gamma::None).unwrap().transform(&[3.0]).unwrap(), [3.0]);
    assert!(fit(Gamma::Value(0.0)).is_err());
    assert!(D2ke::fit(apart, vec![], Gamma::Auto, &numbers).is_err());
}

#[test]
fn a_distance_that_is_none_is_refused_with_its_position() {
    for bad in [-1.0, f64::NAN] {
        let distance = move |a: &u32, b: &u32| if (*a, *b) == (7, 3) { bad } else { 1.0 };
        let model = D2ke::fit(distance, vec![2, 3], Gamma::None, &[]).unwrap();
        let message = model.transform(&[5, 6, 7]).unwrap_err().to_string();
        let expected = format!(
            "the distance of object 2 to random object 1 is {bad}: it must be a number of at least 0"
        );
        assert_eq!(message, expected);
    }
    struct Refuses;
    impl Distance<u32> for Refuses {
        fn distance(&self, _: &u32, _: &u32) -> Result<f64, Error> {
            Err(Error::Interrupted)
        }
    }
    let model = D2ke::fit(Refuses, vec![1], Gamma::None, &[]).unwrap();
    assert!(matches!(model.transform(&[1]), Err(Error::Interrupted)));
}

#[test]
fn ready_distances_are_what_they_should() {
    assert_eq!(edit_distance("kitten", "sitting"), 3.0);
    assert_eq!(edit_distance("", "äö"), 2.0);
    // Each value of one series meets its like in the other.
    assert_eq!(
        dtw(&[1.0, 2.0, 3.0], &[1.0, 1.0, 2.0, 2.0, 3.0], 1, None),
        0.0
    );
    assert_eq!(dtw(&[0.0, 0.0], &[3.0, 4.0], 2, None), 5.0);
    assert_eq!(
        dtw(&[0.0, 0.0, 1.0], &[1.0, 0.0, 0.0], 1, Some(0)),
        2f64.sqrt()
    );
    assert_eq!(dtw(&[], &[1.0], 1, None), f64::INFINITY);
    assert_eq!(
        hausdorff(&[0.0, 0.0, 1.0, 0.0], &[0.0, 3.0], 2),
        10f64.sqrt()
    );
    assert_eq!(hausdorff(&[], &[], 1), 0.0);
}

#[test]
fn random_objects_are_parts_of_objects_and_the_first_stay_the_first() {
    let names = ["anna", "", "bertram"];
    let parts = substrings(&names, 200, 3, 5);
    assert!(parts.iter().all(|part| {
        let n = part.chars().count();
        (1..=3).contains(&n) && names.iter().any(|name| name.contains(part.as_str()))
    }));
    assert_eq!(parts[..20], substrings(&names, 20, 3, 5)[..]);
    assert_ne!(parts, substrings(&names, 200, 3, 6));
    assert_eq!(sub_slices(&[vec![1, 2]], 1, 0, 0)[0].len(), 1);
    assert_eq!(substrings(&["", ""], 2, 3, 0), ["", ""]);
}
