//! Averaged word vectors against NumPy (`testdata/sif/make.py`), and at their edges.

use std::sync::Arc;

use serde::Deserialize;
use wordmover::text::{StopWords, Tokenizer};
use wordmover::{
    DocumentModel, Weighting, WordVectors,
    average::AveragedVectors,
    document::{Word, WordCounts, WordProbabilities},
    document_model::{DocumentFitter, DocumentParams},
    similarity::cosine,
    space::{Normalization, UnknownWords},
};

#[derive(Deserialize)]
struct Fixture {
    words: Vec<String>,
    counts: Vec<(String, u64)>,
    vectors: Vec<Vec<f32>>,
    texts: Vec<String>,
    averages: Vec<Vec<f64>>,
    sif: Vec<Vec<f64>>,
}

struct Case {
    fixture: Fixture,
    documents: DocumentModel,
    counts: Vec<WordCounts>,
}

fn case() -> Case {
    let fixture: Fixture = serde_json::from_str(include_str!("../testdata/sif/sif.json")).unwrap();
    let matrix = fixture.vectors.concat();
    let dim = fixture.vectors[0].len();
    let vectors = WordVectors::from_rows("sif", fixture.words.clone(), matrix, dim).unwrap();
    let of_words = fixture.counts.iter().map(|(word, n)| (word.as_str(), *n));
    let probabilities = WordProbabilities::from_counts("fixture", &vectors, of_words);
    let tokenizer = Tokenizer {
        stop_words: StopWords::None,
        ..Tokenizer::default()
    };
    let params = DocumentParams::default()
        .normalization(Normalization::None)
        .unknown(UnknownWords::Skip)
        .tokenizer(tokenizer);
    let fitter = DocumentFitter::new(params.check().unwrap(), Arc::new(vectors));
    let mut fitter = fitter.word_probabilities(Some(probabilities));
    let texts = fixture.texts.iter();
    let counts: Vec<WordCounts> = texts.map(|text| fitter.word_counts(text)).collect();
    counts.iter().for_each(|counts| fitter.observe(counts));
    Case {
        documents: fitter.finish().unwrap(),
        fixture,
        counts,
    }
}

impl Case {
    fn fit(&self, weighting: Weighting, n_components: usize) -> AveragedVectors {
        let documents = Arc::new(self.documents.clone().with_weighting(weighting));
        AveragedVectors::fit(documents, n_components, &self.counts).unwrap()
    }
}

#[test]
fn sif_is_what_numpy_makes_of_it() {
    let case = case();
    for (n_components, expected) in [(0, &case.fixture.averages), (1, &case.fixture.sif)] {
        let rows = case
            .fit(Weighting::Sif, n_components)
            .embed(&case.counts)
            .unwrap();
        let expected = expected.concat();
        assert_eq!(rows.len(), expected.len());
        for (found, due) in rows.iter().zip(expected) {
            // Single precision of the result is all that is lost.
            assert!((f64::from(*found) - due).abs() < 2e-7, "{found} {due}");
        }
    }
}

#[test]
fn plain_and_tfidf_averages_are_sums_over_words() {
    let case = case();
    let plain = case.fit(Weighting::Nbow, 0).embed(&case.counts).unwrap();
    let tfidf = case.fit(Weighting::Tfidf, 0).embed(&case.counts).unwrap();
    for (i, text) in case.fixture.texts.iter().enumerate() {
        let known: Vec<usize> = text
            .split(' ')
            .filter_map(|word| case.fixture.words.iter().position(|w| w == word))
            .collect();
        for k in 0..6 {
            let mean = |weight: &dyn Fn(u32) -> f64| -> f64 {
                let terms = known
                    .iter()
                    .map(|&w| weight(w as u32) * f64::from(case.fixture.vectors[w][k]));
                terms.sum::<f64>() / known.len().max(1) as f64
            };
            let corpus = case.documents.corpus();
            let idf = |word| corpus.inverse_document_frequency(Word::Known(word));
            assert!((f64::from(plain[i * 6 + k]) - mean(&|_| 1.0)).abs() < 1e-6);
            assert!((f64::from(tfidf[i * 6 + k]) - mean(&idf)).abs() < 2e-6);
        }
    }
}

#[test]
fn texts_without_known_words_are_zeros_and_like_nothing() {
    let case = case();
    let rows = case.fit(Weighting::Sif, 1).embed(&case.counts).unwrap();
    let row = |i: usize| &rows[i * 6..][..6];
    let n = case.counts.len();
    assert!(row(n - 1).iter().chain(row(n - 2)).all(|&x| x == 0.0));
    assert_eq!(cosine(row(n - 1), row(n - 2)), 0.0);
    assert_eq!(cosine(row(n - 1), row(0)), 0.0);
    assert_eq!(cosine(row(0), row(0)), 1.0);
    let nothing = AveragedVectors::fit(Arc::new(case.documents.clone()), 1, &[]);
    assert!(nothing.unwrap().embed(&[]).unwrap().is_empty());
}
