//! The built-in table is the one that its README describes, and its words have
//! the neighbours one expects.

use sha2::{Digest, Sha256};
use wordmover::WordVectors;
use wordmover::vectors::Precision;

#[test]
fn the_table_is_the_documented_one() {
    let vectors = WordVectors::builtin();
    assert_eq!((vectors.len(), vectors.dim()), (81_000, 160));
    assert_eq!(vectors.precision(), Precision::Int8);
    assert_eq!(vectors.name(), "minilm-160d-81k");
    assert_eq!(
        vectors.words().take(4).collect::<Vec<_>>(),
        ["the", "of", "and", "to"]
    );
    let probabilities = vectors.probabilities().unwrap();
    assert!(probabilities[0] > 0.02 && probabilities.iter().all(|&p| p > 0.0));
    vectors.verify_checksum().unwrap();

    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/");
    let readme = std::fs::read_to_string(format!("{folder}README.md")).unwrap();
    assert!(readme.contains(vectors.checksum()));
    let file = std::fs::read(format!("{folder}minilm-160d-81k.int8.safetensors")).unwrap();
    assert!(file.len() <= 16_000_000);
    let sha: String = Sha256::digest(&file)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert!(readme.contains(&sha));
}

#[test]
fn neighbours_are_related() {
    let vectors = WordVectors::builtin();
    for (word, expected) in [
        ("king", "monarch"),
        ("paris", "france"),
        ("monday", "tuesday"),
        ("guitar", "guitarist"),
        ("physics", "science"),
        ("three", "third"),
        ("car", "vehicle"),
        ("dog", "puppy"),
        ("doctor", "physician"),
        ("computer", "computing"),
        ("germany", "deutschland"),
        ("football", "soccer"),
        ("january", "february"),
        ("walked", "strolled"),
        ("happy", "cheerful"),
    ] {
        let id = vectors.id(word).unwrap();
        let nearest = vectors.nearest(&vectors.vector(id), 10, &[id]);
        let words: Vec<&str> = nearest.iter().map(|&(id, _)| vectors.word(id)).collect();
        assert!(words.contains(&expected), "{word}: {words:?}");
        assert_eq!(words.len(), 10);
    }
}

/// Words that are not in the table are composed as the teacher's own tokenizer cuts them: the
/// fixture has its cuts, made by `python/distill`, and the first coordinates of the mean.
#[test]
fn words_are_cut_as_the_teacher_cuts_them() {
    let vectors = WordVectors::builtin();
    assert!(vectors.has_subwords());
    let fixture = include_str!("../../testdata/pieces/cuts.tsv");
    let mut vector = vec![0.0; vectors.dim()];
    let mut n = 0;
    for line in fixture.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [word, pieces, values] = fields[..] else {
            panic!("{line:?}")
        };
        if vectors.id(word).is_some() {
            continue;
        }
        n += 1;
        assert_eq!(vectors.composes(word), !pieces.is_empty(), "{word}");
        vectors.compose(word, &mut vector).unwrap();
        for (found, due) in vector.iter().zip(values.split_whitespace()) {
            let due: f32 = due.parse().unwrap();
            assert!((found - due).abs() < 1e-5, "{word}: {found} {due}");
        }
    }
    assert!(n > 100, "{n}");
}

/// A misspelt or invented word has a sane neighbourhood.
#[test]
fn unknown_words_have_sane_neighbours() {
    let vectors = WordVectors::builtin();
    let near = |word: &str| -> Vec<String> {
        let mut vector = vec![0.0; vectors.dim()];
        vectors.compose(word, &mut vector).unwrap();
        let nearest = vectors.nearest(&vector, 10, &[]);
        nearest
            .iter()
            .map(|&(id, _)| vectors.word(id).to_owned())
            .collect()
    };
    for (word, like) in [("unfriendliest", "friend"), ("footballish", "football")] {
        let found = near(word);
        assert!(
            found.iter().any(|near| near.contains(like)),
            "{word}: {found:?}"
        );
    }
}

/// Pairs that people call related, and pairs with the same word that they call
/// less so.
#[test]
fn related_words_are_nearer_than_unrelated_ones() {
    let vectors = WordVectors::builtin();
    let vector = |word: &str| vectors.vector(vectors.id(word).unwrap());
    let cosine = |a: &str, b: &str| {
        let (a, b) = (vector(a), vector(b));
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
    };
    let triples = [
        ("tiger", "lion", "drink"),
        ("tiger", "cat", "planet"),
        ("car", "automobile", "flower"),
        ("train", "car", "cucumber"),
        ("bread", "butter", "stock"),
        ("coffee", "tea", "forest"),
        ("cup", "coffee", "physics"),
        ("money", "cash", "possession"),
        ("bank", "money", "tiger"),
        ("professor", "doctor", "cucumber"),
        ("professor", "student", "ocean"),
        ("king", "queen", "cabbage"),
        ("king", "prince", "bread"),
        ("moon", "planet", "credit"),
        ("football", "basketball", "tennis"),
        ("football", "soccer", "image"),
        ("law", "lawyer", "ocean"),
        ("movie", "star", "potato"),
        ("movie", "theater", "planet"),
        ("physics", "chemistry", "proton"),
        ("physics", "proton", "butter"),
        ("alcohol", "chemistry", "preparation"),
        ("gem", "jewel", "football"),
        ("boy", "lad", "stock"),
        ("coast", "shore", "hill"),
        ("magician", "wizard", "oracle"),
        ("noon", "midday", "string"),
        ("furnace", "stove", "fruit"),
        ("bird", "cock", "crane"),
        ("brother", "monk", "crane"),
        ("journey", "voyage", "smile"),
        ("computer", "keyboard", "jaguar"),
    ];
    let misses: Vec<String> = triples
        .iter()
        .map(|&(word, near, far)| (word, near, cosine(word, near), far, cosine(word, far)))
        .filter(|(_, _, near, _, far)| near <= far)
        .map(|miss| format!("{miss:?}"))
        .collect();
    assert!(
        misses.len() <= 2,
        "{} of {}: {misses:#?}",
        misses.len(),
        triples.len()
    );
}
