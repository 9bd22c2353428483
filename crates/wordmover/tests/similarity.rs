//! Scores of pairs: defined for every pair of texts, and sensible.

use std::sync::Arc;

use wordmover::{
    EmbeddingParams, Similarity, Weighting, WordVectors, document::WordProbabilities,
    document_model::DocumentFitter, similarity::FARTHEST, space::Metric, wmd,
};

const ALL: [Similarity; 8] = [
    Similarity::Blend,
    Similarity::Wme,
    Similarity::Kernel,
    Similarity::Wmd,
    Similarity::Wrd,
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
        let nothing = if [Similarity::Wmd, Similarity::Wrd].contains(&similarity) {
            FARTHEST
        } else {
            0.0
        };
        match similarity {
            Similarity::Kernel => assert!(most > 0.0 && most <= 1.0),
            Similarity::Wmd | Similarity::Wrd => assert!(most == 0.0 && most.is_sign_positive()),
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

#[test]
fn a_blend_needs_texts_enough_for_the_component_of_sif() {
    let nouns = [
        "cat",
        "dog",
        "parliament",
        "river",
        "engine",
        "doctor",
        "violin",
        "bread",
    ];
    let verbs = ["sees", "hears", "finds", "leaves"];
    let texts = |n: usize| -> Vec<(String, String)> {
        let text = |i: usize| {
            let (a, v, b) = (nouns[i % 8], verbs[i / 8 % 4], nouns[i / 32 % 8]);
            format!("the {a} {v} a {b} {}", i / 256)
        };
        (0..n).map(|i| (text(2 * i), text(2 * i + 1))).collect()
    };
    let params = EmbeddingParams::for_similarity().documents;
    let params = params.metric(Metric::Cosine).weighting(Weighting::Sif);
    let vectors = Arc::new(WordVectors::builtin());
    let probabilities = WordProbabilities::builtin(&vectors);
    let fitter = DocumentFitter::new(params.check().unwrap(), vectors);
    let mut fitter = fitter.word_probabilities(Some(probabilities));
    fitter.observe(&fitter.word_counts("the corpus of SIF weights does not matter"));
    let model = fitter.finish().unwrap();
    let aligned = |(first, second): (&str, &str)| {
        let (first, second) = (model.document_of(first), model.document_of(second));
        1.0 - wmd::distance(model.space(), &first, &second).unwrap()
    };
    for (n, is_mixed) in [(127, false), (128, true)] {
        let pairs = texts(n);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(a, b)| (&a[..], &b[..])).collect();
        let of = |similarity| scores(similarity, &pairs);
        let (blend, wme, sif) = (
            of(Similarity::Blend),
            of(Similarity::Wme),
            of(Similarity::Sif),
        );
        for i in 0..n {
            let due = match is_mixed {
                true => (2.0 * aligned(pairs[i]) + wme[i] + sif[i]) / 4.0,
                false => (2.0 * aligned(pairs[i]) + wme[i]) / 3.0,
            };
            assert!((blend[i] - due).abs() < 1e-12, "{n} pairs, pair {i}");
        }
    }
}
