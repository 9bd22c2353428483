//! One small table, written in every format by code that shares nothing with
//! the library.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use wordmover::WordVectors;
use wordmover::vectors::Precision;

pub const DIM: usize = 3;

/// Words of one to many bytes; the values are exact in half precision.
pub const TABLE: [(&str, [f32; DIM]); 4] = [
    ("the", [0.5, -1.25, 3.0]),
    ("naïve", [0.0, 1.0, -2.0]),
    (",", [-0.125, 0.375, 1000.0]),
    ("日本", [1.5, 1.5, 0.0009765625]),
];

pub fn word2vec_binary(newlines: bool) -> Vec<u8> {
    let mut bytes = format!("{} {DIM}\n", TABLE.len()).into_bytes();
    for (word, row) in TABLE {
        bytes.extend(word.as_bytes());
        bytes.push(b' ');
        bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
        if newlines {
            bytes.push(b'\n');
        }
    }
    bytes
}

pub fn glove() -> Vec<u8> {
    lines("")
}

pub fn word2vec_text() -> Vec<u8> {
    [format!("{} {DIM}\n", TABLE.len()).into_bytes(), lines("")].concat()
}

/// fastText ends each line with a space.
pub fn fasttext() -> Vec<u8> {
    [format!("{} {DIM}\n", TABLE.len()).into_bytes(), lines(" ")].concat()
}

/// fastText's model: every n-gram of two characters has the one row [`NGRAM`], and a word's row
/// is such that the mean of it and of the word's n-grams is that of the table, without rounding.
pub fn fasttext_bin() -> Vec<u8> {
    let rows = TABLE.map(|(word, row)| {
        let n = word.chars().count() as f32 + 1.0;
        std::array::from_fn(|k| (n + 1.0) * row[k] - n * NGRAM[k])
    });
    let words = TABLE.map(|(word, _)| word.as_bytes());
    fasttext_model(&words, [2, 2], &rows, &[NGRAM])
}

/// The vector of all n-grams.
pub const NGRAM: [f32; DIM] = [1.0, 0.0, -1.0];

/// A model of fastText with n-grams of the given lengths.
pub fn fasttext_model(
    words: &[&[u8]],
    [least, most]: [i32; 2],
    rows: &[[f32; DIM]],
    ngrams: &[[f32; DIM]],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut ints = |numbers: &[i32]| bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    let (dim, n_words, n_buckets) = (DIM as i32, words.len() as i32, ngrams.len() as i32);
    // Magic number, version; dim, ws, epoch, minCount, neg, wordNgrams; loss, model, bucket,
    // minn, maxn, lrUpdateRate; t of eight bytes; entries, words, labels; tokens and pruned of
    // eight bytes.
    ints(&[793_712_314, 12, dim, 5, 5, 1, 5, 1]);
    ints(&[2, 2, n_buckets, least, most, 100, 0, 0]);
    ints(&[n_words, n_words, 0, 99, 0, -1, -1]);
    for word in words {
        bytes.extend(*word);
        bytes.push(0);
        bytes.extend(7_i64.to_le_bytes());
        bytes.push(0);
    }
    let matrix = |rows: &[[f32; DIM]], bytes: &mut Vec<u8>| {
        bytes.push(0);
        bytes.extend((rows.len() as i64).to_le_bytes());
        bytes.extend((DIM as i64).to_le_bytes());
        bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    };
    matrix(&[rows, ngrams].concat(), &mut bytes);
    matrix(&rows[..1], &mut bytes);
    bytes
}

fn lines(line_end: &str) -> Vec<u8> {
    let line = |(word, [a, b, c]): (&str, [f32; DIM])| format!("{word} {a} {b} {c}{line_end}\n");
    TABLE.map(line).concat().into_bytes()
}

pub fn table() -> WordVectors {
    let words = TABLE.map(|(word, _)| word.to_owned()).to_vec();
    let matrix = TABLE.iter().flat_map(|(_, row)| *row).collect();
    WordVectors::from_rows("sample", words, matrix, DIM).expect("the sample is sound")
}

pub fn native(precision: Precision) -> Vec<u8> {
    table()
        .to_native_bytes(precision)
        .expect("the sample fits every precision")
}

/// Every foreign format, by name.
pub fn foreign() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("word2vec binary with newlines", word2vec_binary(true)),
        ("word2vec binary without newlines", word2vec_binary(false)),
        ("word2vec text", word2vec_text()),
        ("fastText", fasttext()),
        ("GloVe", glove()),
        ("fastText model", fasttext_bin()),
    ]
}

/// Every format, by name; int8 is the only one that is not exact.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = foreign();
    all.push(("native f32", native(Precision::F32)));
    all.push(("native f16", native(Precision::F16)));
    all.push(("native int8", native(Precision::Int8)));
    let ngrams = read(&fasttext_bin()).and_then(|table| table.to_native_bytes(Precision::F32));
    all.push(("native with n-grams", ngrams.expect("the sample is sound")));
    all
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

pub fn read(bytes: &[u8]) -> wordmover::Result<WordVectors> {
    WordVectors::read(bytes, "file", None)
}

/// Words and values, to compare tables with.
pub fn content(vectors: &WordVectors) -> Vec<(String, Vec<f32>)> {
    (0..vectors.len() as u32)
        .map(|id| (vectors.word(id).to_owned(), vectors.vector(id)))
        .collect()
}

/// The message of an error and of its source, as a user sees them.
pub fn message<T>(outcome: wordmover::Result<T>) -> String {
    let Err(error) = outcome else {
        panic!("accepted what should be refused");
    };
    match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
