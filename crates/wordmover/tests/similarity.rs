//! Scores of pairs: defined for every pair of texts, and sensible.

use std::sync::Arc;

use wordmover::{
    EmbeddingParams, Similarity, WordVectors, document::WordProbabilities, similarity::FARTHEST,
};

const ALL: [Similarity; 6] = [
    Similarity::Wme,
    Similarity::Kernel,
    Similarity::Wmd,
    Similarity::Average,
    Similarity::Tfidf,
    Similarity::Sif,
];

fn scores(similarity: Similarity, pairs: &[(&str, &str)]) -> Vec<f64> {
    let vectors = Arc::new(WordVectors::builtin());
    let probabilities = WordProbabilities::builtin(&vectors);
    let params = EmbeddingParams::for_similarity().n_features(128);
    let found = similarity.of_pairs(pairs, &params, &vectors, Some(&probabilities));
    found.unwrap()
}

#[test]
fn every_pair_has_a_defined_score() {
    let pairs = [
        ("A cat sat on the mat", "A cat sat on the mat"),
        (
            "Obama speaks to the media",
            "The president greets the press",
        ),
        ("Obama speaks to the media", "A cat sat on the mat"),
        ("cat", "cat"),
        ("cat", "dog"),
        ("cat", "parliament"),
        ("ᚠᚢᚦ ᚾᚢᚱ", "A cat sat on the mat"),
        ("ᚠᚢᚦ ᚾᚢᚱ", "ᚠᚢᚦ ᚾᚢᚱ"),
        ("", ""),
        ("", "cat"),
    ];
    for similarity in ALL {
        let found = scores(similarity, &pairs);
        let most = found[0];
        let nothing = if similarity == Similarity::Wmd {
            FARTHEST
        } else {
            0.0
        };
        match similarity {
            Similarity::Kernel => assert!(most > 0.0 && most <= 1.0),
            Similarity::Wmd => assert!(most == 0.0 && most.is_sign_positive()),
            // One sum in one order against a square root of squares: exactly 1.
            _ => assert_eq!((most, found[3]), (1.0, 1.0), "{similarity:?}"),
        }
        assert!(found.iter().all(|score| score.is_finite()));
        // Values of the kernel, like raw cosines, hardly differ: no order is promised. Nor
        // by SIF for single words, whose component here is much like one of them.
        if similarity != Similarity::Kernel {
            assert!(found[1] > found[2], "{similarity:?}: {found:?}");
        }
        if ![Similarity::Kernel, Similarity::Sif].contains(&similarity) {
            assert!(found[4] > found[5], "{similarity:?}: {found:?}");
        }
        for undefined in &found[6..] {
            assert_eq!(*undefined, nothing, "{similarity:?}");
        }
    }
}

#[test]
fn one_pair_alone_has_a_score() {
    for similarity in ALL {
        let near = scores(
            similarity,
            &[("A cat sat on the mat", "A dog lay on the rug")],
        );
        assert!(near[0].is_finite(), "{similarity:?}: {near:?}");
        let unknown = scores(similarity, &[("ᚠᚢᚦ", "")]);
        assert_eq!(unknown.len(), 1);
        assert!(scores(similarity, &[]).is_empty());
    }
    // Fitted on two texts, SIF has nothing left of them but noise; WME has.
    let like = |a, b| scores(Similarity::Wme, &[(a, b)])[0];
    let near = like("A cat sat on the mat", "A dog lay on the rug");
    assert!(near > like("A cat sat on the mat", "Parliament passed the budget"));
}

#[test]
fn scores_do_not_depend_on_the_order_of_a_pair() {
    let (a, b) = (
        "Obama speaks to the media",
        "The president greets the press",
    );
    for similarity in ALL {
        let found = scores(similarity, &[(a, b), (b, a)]);
        assert!((found[0] - found[1]).abs() < 1e-12, "{similarity:?}");
    }
}
