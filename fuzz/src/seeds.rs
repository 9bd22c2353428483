//! Valid inputs for every target, from the fixtures or made by the library itself.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use wordmover::text::{StopWords, Tokenizer};
use wordmover::vectors::Precision;
use wordmover::{EmbeddingParams, Weighting, WordMoversEmbedding, WordVectors};
use wordmover_classify::{Cache, LabeledCorpus, Protocol, TextClassifier, WmeParams};

const DIM: usize = 3;
/// The table of `crates/wordmover/tests/vectors/samples.rs`.
const TABLE: [(&str, [f32; DIM]); 4] = [
    ("the", [0.5, -1.25, 3.0]),
    ("naïve", [0.0, 1.0, -2.0]),
    (",", [-0.125, 0.375, 1000.0]),
    ("日本", [1.5, 1.5, 0.0009765625]),
];

/// Models of fastText.
const FASTTEXT: [(&str, &[u8]); 4] = [
    (
        "skipgram",
        include_bytes!("../../crates/wordmover/testdata/fasttext/skipgram.bin"),
    ),
    (
        "cbow",
        include_bytes!("../../crates/wordmover/testdata/fasttext/cbow.bin"),
    ),
    (
        "gensim",
        include_bytes!("../../crates/wordmover/testdata/fasttext/gensim.bin"),
    ),
    (
        "quantised",
        include_bytes!("../../crates/wordmover/testdata/fasttext/supervised.ftz"),
    ),
];

/// Word vectors that models without vectors of their own are given.
pub fn table() -> WordVectors {
    let words = TABLE.map(|(word, _)| word.to_owned()).to_vec();
    let matrix = TABLE.iter().flat_map(|(_, row)| *row).collect();
    WordVectors::from_rows("sample", words, matrix, DIM).expect("sound vectors")
}

/// Seeds of a target by name.
pub fn of(target: &str) -> Vec<(&'static str, Vec<u8>)> {
    match target {
        "vectors" => foreign_vectors(),
        "fasttext" => FASTTEXT.map(|(name, bytes)| (name, bytes.to_vec())).to_vec(),
        "native_vectors" => {
            let mut seeds = [Precision::F32, Precision::F16, Precision::Int8]
                .map(|precision| (precision.as_str(), table().to_native_bytes(precision).expect("bytes")))
                .to_vec();
            let ngrams = WordVectors::read(FASTTEXT[0].1, "ngrams", None).expect("sound vectors");
            seeds.push(("ngrams", ngrams.to_native_bytes(Precision::Int8).expect("bytes")));
            seeds
        }
        "model" => models(),
        "classifier" => vec![("classifier", classifier())],
        "documents" => vec![
            ("text", b"\x00\xef\xbb\xbfone document\r\n\nthe third, caf\xc3\xa9\n".to_vec()),
            ("tsv", b"\x19id\ttext\n1\tone\r\n2\t\"two\n3\tcaf\xc3\xa9\n".to_vec()),
            ("tsv-numbers", b"\x7d1\tone\n2\ttwo\n".to_vec()),
            ("csv", b"\x1aid,text\r\n1,one\r\n2,\"two,\nlines \"\"quoted\"\"\"\r\n3,x\n".to_vec()),
            ("json", b"\x73{\"id\": 1, \"text\": \"one\"}\n{\"id\": \"b\", \"text\": \"caf\\u00e9\"}\n\n".to_vec()),
            ("gzip", [&[2][..], &gzip(b"id,text\n1,one\n")].concat()),
        ],
        "pairs" => vec![
            ("scores", b"\x005.0\ta cat\ta dog\n0\tone\ttwo\n".to_vec()),
            ("csv", b"\x03x,y\n\"a,b\",c\n".to_vec()),
        ],
        "npy" => vec![("rows", npy())],
        "frequencies" => vec![
            ("counts", b"the 100\nna\xc3\xafve 3\n,\t7\n".to_vec()),
            ("gzip", gzip(b"the 1.5\n")),
        ],
        "tokenizer" => vec![
            ("english", "\u{0}The President’s press-conference isn't in Chicago!".into()),
            ("mixed", "\u{3}naïve ΑΣ İstanbul 日本語 e\u{301} 3.14 a_b 👩‍👩‍👧".into()),
        ],
        // Any bytes are a problem.
        _ => (0..6u8).map(|kind| (["a", "b", "c", "d", "e", "f"][usize::from(kind)], vec![kind, 6, 3, kind])).collect(),
    }
}

fn foreign_vectors() -> Vec<(&'static str, Vec<u8>)> {
    let header = format!("{} {DIM}\n", TABLE.len());
    let lines = |end: &str| -> String {
        let line = |(word, [a, b, c]): (&str, [f32; DIM])| format!("{word} {a} {b} {c}{end}\n");
        TABLE.map(line).concat()
    };
    let binary = |newline: &[u8]| {
        let mut bytes = header.clone().into_bytes();
        for (word, row) in TABLE {
            bytes.extend(word.as_bytes());
            bytes.push(b' ');
            bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
            bytes.extend(newline);
        }
        bytes
    };
    vec![
        ("glove", lines("").into_bytes()),
        ("word2vec-text", (header.clone() + &lines("")).into_bytes()),
        ("fasttext", (header.clone() + &lines(" ")).into_bytes()),
        ("word2vec-binary", binary(b"")),
        ("word2vec-newlines", binary(b"\n")),
        ("gzip", gzip(lines("").as_bytes())),
        (
            "native",
            table().to_native_bytes(Precision::F16).expect("bytes"),
        ),
    ]
}

fn models() -> Vec<(&'static str, Vec<u8>)> {
    let fixture = include_bytes!("../../crates/wordmover/testdata/models/version-1.wme");
    let mut models = vec![("version-1", fixture.to_vec())];
    let texts = ["the naïve", "日本 the ,", "naïve naïve 日本"];
    let tokenizer = Tokenizer {
        stop_words: StopWords::None,
        ..Tokenizer::default()
    };
    let params = EmbeddingParams::default()
        .n_features(5)
        .d_max(3)
        .tokenizer(tokenizer);
    for (name, weighting, bundle) in [
        ("tfidf", Weighting::Tfidf, false),
        ("bundled", Weighting::Nbow, true),
    ] {
        let params = params.clone().weighting(weighting);
        let model = WordMoversEmbedding::fit(params, Arc::new(table()), &texts).expect("a model");
        models.push((name, model.to_bytes(bundle).expect("bytes")));
    }
    models
}

fn classifier() -> Vec<u8> {
    let tokenizer = Tokenizer {
        stop_words: StopWords::None,
        ..Tokenizer::default()
    };
    let texts = (0..24).map(|i| match i % 4 {
        0 => ("x", "the the naïve"),
        1 => ("y", "日本 naïve"),
        2 => ("x", "the 日本 the"),
        _ => ("y", "日本"),
    });
    let corpus = LabeledCorpus::from_texts(texts, tokenizer, Arc::new(table())).expect("a corpus");
    let mut params = WmeParams::new(Protocol::Fast);
    params.embedding.n_features = 4;
    params.d_maxes = vec![2];
    let trained = TextClassifier::train(&params, &corpus, &Cache::none(), &|_| {
        ControlFlow::Continue(())
    });
    trained
        .expect("a classifier")
        .0
        .to_bytes(true)
        .expect("bytes")
}

fn npy() -> Vec<u8> {
    let mut header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".to_owned();
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..6).flat_map(|i| (i as f32).to_le_bytes()));
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}
