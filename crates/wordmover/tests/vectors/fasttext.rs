//! Models of fastText: vectors as fastText itself gives them, and one test for each rejection.

use wordmover::WordVectors;
use wordmover::vectors::Precision;

use crate::samples::{self, DIM, NGRAM, TABLE, fasttext_bin, fasttext_model, message, read};

/// Where the numbers of a header begin.
const VERSION: usize = 4;
const DIMENSION: usize = 8;
const MODEL: usize = 36;
const BUCKETS: usize = 40;
const LEAST: usize = 44;
const MOST: usize = 48;
const ENTRIES: usize = 64;
const WORDS: usize = 68;
const LABELS: usize = 72;
const PRUNED: usize = 84;
const FIRST_WORD: usize = 92;

/// Every vector of a fixture, of words that the model knows and of others. See
/// `testdata/fasttext/make.py`.
#[track_caller]
fn agrees(model: &[u8], vectors: &str, has_ngrams: bool) {
    let table = read(model).unwrap();
    assert_eq!(table.has_subwords(), has_ngrams);
    let mut values = vec![0.0; table.dim()];
    let mut n_unknown = 0;
    for line in vectors.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [word, is_known, due] = fields[..] else {
            panic!("{line:?}");
        };
        let due: Vec<f32> = due.split(' ').map(|x| x.parse().unwrap()).collect();
        match table.id(word) {
            Some(id) => table.copy_vector(id, &mut values),
            None => {
                n_unknown += 1;
                let is_composed = due.iter().any(|&x| x != 0.0);
                assert_eq!(table.composes(word), is_composed, "{word}");
                table.compose(word, &mut values).unwrap();
            }
        }
        assert_eq!(table.id(word).is_some(), is_known == "1", "{word}");
        let longest = due.iter().fold(0.0, |longest: f32, x| longest.max(x.abs()));
        for (x, due) in values.iter().zip(&due) {
            assert!(
                (x - due).abs() <= 1e-6 * longest,
                "{word}: {values:?}, {due}"
            );
        }
    }
    assert!(n_unknown > 8, "{n_unknown}");
}

#[test]
fn vectors_are_those_of_fasttext() {
    let model = include_bytes!("../../testdata/fasttext/skipgram.bin");
    agrees(
        model,
        include_str!("../../testdata/fasttext/skipgram.tsv"),
        true,
    );
    let model = include_bytes!("../../testdata/fasttext/cbow.bin");
    agrees(
        model,
        include_str!("../../testdata/fasttext/cbow.tsv"),
        false,
    );
}

#[test]
fn a_model_written_by_gensim_is_read_as_gensim_reads_it() {
    let model = include_bytes!("../../testdata/fasttext/gensim.bin");
    agrees(
        model,
        include_str!("../../testdata/fasttext/gensim.tsv"),
        true,
    );
}

#[test]
fn ngrams_survive_the_native_form() {
    let table = read(&fasttext_bin()).unwrap();
    let compose = |table: &WordVectors| {
        let mut values = [0.0; DIM];
        table.compose("unknown", &mut values).unwrap();
        values
    };
    assert_eq!(compose(&table), NGRAM);
    table.verify_checksum().unwrap();
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        let bytes = table.to_native_bytes(precision).unwrap();
        let again = WordVectors::from_bytes(bytes.clone(), "file").unwrap();
        assert!(again.has_subwords());
        assert_eq!(compose(&again), NGRAM, "{precision}");
        again.verify_checksum().unwrap();
        assert_eq!(again.to_native_bytes(precision).unwrap(), bytes);
    }
    let bytes = table.to_native_bytes(Precision::F32).unwrap();
    let again = WordVectors::from_bytes(bytes, "file").unwrap();
    assert_eq!(again.subwords_checksum(), table.subwords_checksum());
    let limited = WordVectors::read(&fasttext_bin()[..], "file", Some(2)).unwrap();
    assert_eq!((limited.len(), compose(&limited)), (2, NGRAM));
}

#[test]
fn words_that_are_no_utf8_are_passed_over() {
    let rows = [[1.0; DIM], [2.0; DIM], [3.0; DIM]];
    let model = fasttext_model(&[b"a", b"\xff\xfe", b"c"], [0, 0], &rows, &[]);
    let table = read(&model).unwrap();
    assert_eq!(table.words().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(table.vector(1), [3.0; DIM]);
    assert!(!table.has_subwords());
    let model = fasttext_model(&[b"\xff"], [0, 0], &rows[..1], &[]);
    assert_eq!(message(read(&model)), "file: it holds no words");
}

/// The sample with a number of its header changed.
fn with(at: usize, number: i32) -> Vec<u8> {
    let mut bytes = fasttext_bin();
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    bytes
}

#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    assert_eq!(message(read(bytes)), format!("file: {expected}"));
    let packed = samples::gzip(bytes);
    assert_eq!(message(read(&packed)), format!("file: {expected}"));
}

#[test]
fn classifiers_and_quantised_models() {
    let supervised = "a fastText classifier, which has no vectors of words on their own; \
                      train with `fasttext skipgram` or `fasttext cbow`";
    refused(
        include_bytes!("../../testdata/fasttext/supervised.bin"),
        supervised,
    );
    refused(
        include_bytes!("../../testdata/fasttext/supervised.ftz"),
        supervised,
    );
    refused(&with(LABELS, 1), supervised);
    let quantized = "a quantised fastText model (.ftz), of which the vectors cannot be had; \
                     use its .bin or .vec";
    refused(&with(PRUNED, 5), quantized);
    let mut bytes = fasttext_bin();
    let words: usize = TABLE.iter().map(|(word, _)| word.len() + 10).sum();
    bytes[FIRST_WORD + words] = 1;
    refused(&bytes, quantized);
    bytes[FIRST_WORD + words] = 7;
    refused(
        &bytes,
        "not a usable fastText model: its mark of quantisation is 7, possible is 0 to 1",
    );
}

#[test]
fn absurd_numbers() {
    for (at, number, field, possible) in [
        (VERSION, 10, "version", "11 to 12"),
        (VERSION, -1, "version", "11 to 12"),
        (MODEL, 0, "model", "1 to 2"),
        (DIMENSION, 0, "dimension", "1 to 65536"),
        (DIMENSION, 65_537, "dimension", "1 to 65536"),
        (DIMENSION, -3, "dimension", "1 to 65536"),
        (WORDS, -4, "number of words", "0 to 2147483647"),
        (ENTRIES, 5, "number of entries", "4"),
        (LEAST, -1, "length of the shortest n-gram", "0 to 64"),
        (MOST, 65, "length of the longest n-gram", "0 to 64"),
        (BUCKETS, 0, "number of n-grams", "1 to 4294967291"),
        (BUCKETS, -1, "number of n-grams", "1 to 4294967291"),
    ] {
        let expected =
            format!("not a usable fastText model: its {field} is {number}, possible is {possible}");
        refused(&with(at, number), &expected);
    }
    refused(&with(WORDS, 0), "it holds no words");
    let mut bytes = fasttext_bin();
    bytes[FIRST_WORD + 3 + 9] = 1;
    refused(
        &bytes,
        "not a usable fastText model: its kind of an entry is 1, possible is 0 to 0",
    );
}

#[test]
fn matrices_that_do_not_fit() {
    refused(
        &with(BUCKETS, 3),
        "its input matrix has 5 rows of 3 values where the header asks for 7 rows of 3",
    );
    refused(
        &with(DIMENSION, 2),
        "its input matrix has 5 rows of 3 values where the header asks for 5 rows of 2",
    );
}

#[test]
fn damaged_rows_and_words() {
    let rows = [[1.0; DIM], [f32::NAN; DIM]];
    let model = fasttext_model(&[b"a", b"b"], [0, 0], &rows, &[]);
    refused(&model, "byte 143: `NaN` is not finite in single precision");
    let model = fasttext_model(
        &[b"a", b"b"],
        [1, 2],
        &[[1.0; DIM]; 2],
        &[[f32::INFINITY; DIM]],
    );
    refused(&model, "byte 155: `inf` is not finite in single precision");
    let rows = [[1.0; DIM]; 2];
    let model = fasttext_model(&[b"a", b"a"], [0, 0], &rows, &[]);
    refused(&model, "byte 103: the word `a` stands already at entry 1");
    let model = fasttext_model(&[b"a", b""], [0, 0], &rows, &[]);
    refused(&model, "byte 103: there is no word");
    let long = vec![b'a'; (1 << 16) + 1];
    let model = fasttext_model(&[b"a", &long], [0, 0], &rows, &[]);
    refused(&model, "byte 103: the word is longer than 65536 bytes");
}

#[test]
fn too_short_and_too_long() {
    let mut bytes = fasttext_bin();
    refused(
        &bytes[..30],
        "byte 30: the file ends inside a fastText model",
    );
    let len = bytes.len();
    let expected = format!("byte {}: the file ends inside a fastText model", len - 1);
    refused(&bytes[..len - 1], &expected);
    bytes.push(0);
    let expected = format!("byte {len}: the file goes on after the fastText model");
    refused(&bytes, &expected);
}
