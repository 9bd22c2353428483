//! The model file: round trips, every way it can be wrong, and bytes at random.

mod toy;

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest, Sha256};
use wordmover::format::Attachment;
use wordmover::text::{StopWords, Tokenizer};
use wordmover::{
    EmbeddingParams, ModelFile, Weighting, WordMoversEmbedding, WordVectors,
    embedding::{Components, Gamma, PostProcessing},
    random_documents::RandomWords,
    space::Normalization,
};

fn model() -> WordMoversEmbedding {
    fitted(
        toy::params()
            .n_features(6)
            .weighting(Weighting::Sif)
            .post_processing(PostProcessing::Standardize)
            .components(Components::Flatten(2)),
    )
}

fn fitted(params: EmbeddingParams) -> WordMoversEmbedding {
    WordMoversEmbedding::fit(params, toy::vectors(), &toy::TEXTS).unwrap()
}

fn read(bytes: &[u8]) -> Result<WordMoversEmbedding, String> {
    ModelFile::from_bytes(bytes, "m.wme")
        .and_then(|file| file.with_vectors(Some(toy::vectors())))
        .map_err(|error| error.to_string())
}

#[test]
fn a_loaded_model_gives_the_same_bits() {
    let custom = Tokenizer {
        stop_words: StopWords::from_lines("b"),
        ..Tokenizer::default()
    };
    for params in [
        toy::params(),
        toy::params()
            .weighting(Weighting::Tfidf)
            .gamma(Gamma::Value(0.1)),
        toy::params()
            .gamma(Gamma::None)
            .normalization(Normalization::CenterUnit)
            .post_processing(PostProcessing::Center),
        toy::params()
            .weighting(Weighting::Sif)
            .post_processing(PostProcessing::Standardize)
            .components(Components::Flatten(3)),
        toy::params().components(Components::Remove(64)),
        toy::params()
            .post_processing(PostProcessing::Unit)
            .components(Components::Flatten(1)),
        toy::params()
            .random_words(RandomWords::Gaussian)
            .tokenizer(custom)
            .seed(u64::MAX),
    ] {
        let model = fitted(params.n_features(30));
        let texts = ["a b e", "d", "c c c b", "x", "A E"];
        let expected = model.transform(&texts).unwrap();
        for bundle in [false, true] {
            let bytes = model.to_bytes(bundle).unwrap();
            let file = ModelFile::from_bytes(&bytes, "m.wme").unwrap();
            assert_eq!(file.has_bundled_vectors(), bundle);
            let vectors = (!bundle).then(toy::vectors);
            let loaded = file.with_vectors(vectors).unwrap();
            assert_eq!(loaded.transform(&texts).unwrap(), expected);
            assert_eq!(loaded.params(), model.params());
            assert!(
                loaded.to_bytes(bundle).unwrap() == bytes,
                "the same model, the same bytes"
            );
        }
    }
}

#[test]
fn what_is_attached_travels_with_the_model_and_does_not_change_it() {
    let attached = |name: &str, values: Vec<f64>| Attachment {
        name: name.to_owned(),
        metadata: format!("{{\"about\": \"{name}\"}}"),
        tensors: vec![("weights".to_owned(), vec![values.len() / 2, 2], values)],
    };
    let attachments = [
        attached("other", vec![1.0, f64::NAN]),
        attached("classifier", vec![0.5, -1e300, 2.0, 0.1]),
    ];
    let model = model();
    let bytes = model.to_bytes_with(true, &attachments).unwrap();
    let file = ModelFile::from_bytes(&bytes, "m.wmc").unwrap();
    assert_eq!(file.attachment("classifier"), Some(&attachments[1]));
    assert!(file.attachment("other").is_some());
    assert_eq!(file.attachment("weights"), None);
    let loaded = file.with_vectors(None).unwrap();
    assert_eq!(
        loaded.to_bytes(true).unwrap(),
        model.to_bytes(true).unwrap()
    );
}

#[test]
fn a_file_of_version_1_gives_what_it_gave() {
    let bytes = include_bytes!("../testdata/models/version-1.wme");
    let file = ModelFile::from_bytes(bytes, "version-1.wme").unwrap();
    assert_eq!(file.params().post_processing, PostProcessing::Raw);
    assert_eq!(file.params().components, Components::Keep);
    let model = file.with_vectors(None).unwrap();
    let z = model.transform(&["a b e", "d", "c c c b"]).unwrap();
    // What the revision that wrote it printed; its ground costs were in double precision.
    let due: [f32; 12] = [
        0.17850119,
        0.11251022,
        0.17507137,
        0.19071084,
        0.15975289,
        0.119600795,
        0.16477548,
        0.28469676,
        0.2404771,
        0.17542423,
        0.17324269,
        0.105055586,
    ];
    for (z, due) in z.iter().zip(due) {
        assert!((z - due).abs() <= 1e-6 * due, "{z}, {due}");
    }
}

#[test]
fn a_file_of_version_2_gives_what_it_gave() {
    let bytes = include_bytes!("../testdata/models/version-2.wme");
    let model = ModelFile::from_bytes(bytes, "version-2.wme").unwrap();
    let model = model.with_vectors(None).unwrap();
    let z = model.transform(&["a b e", "d", "c c c b"]).unwrap();
    // What the revision that wrote it printed, to the bit.
    let due: [f32; 12] = [
        -0.044826888,
        -0.2956268,
        0.053282987,
        0.020950658,
        -0.36492932,
        0.36611855,
        -0.7195993,
        0.6139919,
        0.1775814,
        0.31017795,
        -0.3904176,
        -0.25689822,
    ];
    assert_eq!(z, due);
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let whole = model().to_bytes(true).unwrap();
    let n_bits = 8 * whole.len();
    // Every bit of the header's beginning, and many of the rest.
    for bit in (0..n_bits).filter(|bit| *bit < 4096 || bit % 97 == 0) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&flipped).is_err(), "bit {bit}");
    }
    assert!(read(&whole).is_ok());
}

#[test]
fn a_model_is_saved_whole_and_loaded_from_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.wme");
    model().save(&path, true).unwrap();
    let loaded = WordMoversEmbedding::load(&path, None).unwrap();
    assert_eq!(loaded.n_features(), 6);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let missing = folder.path().join("none.wme");
    let refused = WordMoversEmbedding::load(&missing, None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("cannot read {}", missing.display())
    );
}

#[test]
fn a_model_of_the_builtin_vectors_needs_nothing_else() {
    let vectors = Arc::new(WordVectors::builtin());
    let texts = ["Obama speaks to the media in Illinois"];
    let params = EmbeddingParams::default().n_features(4);
    let model = WordMoversEmbedding::fit(params, vectors, &texts).unwrap();
    let file = ModelFile::from_bytes(&model.to_bytes(false).unwrap(), "m.wme").unwrap();
    let loaded = file.with_vectors(None).unwrap();
    assert_eq!(
        loaded.transform(&texts).unwrap(),
        model.transform(&texts).unwrap()
    );
}

#[test]
fn the_wrong_vectors_are_refused_by_name() {
    let bytes = model().to_bytes(false).unwrap();
    let file = || ModelFile::from_bytes(&bytes, "m.wme").unwrap();
    let needed = "m.wme: the model was fitted with the vectors toy (5 x 2, sha256 ";
    let said = file().with_vectors(None).unwrap_err().to_string();
    assert!(
        said.starts_with(needed) && said.ends_with(": they must be given"),
        "{said}"
    );

    let words = toy::WORDS
        .iter()
        .map(|(word, _)| (*word).to_owned())
        .collect();
    let mut matrix: Vec<f32> = toy::WORDS.iter().flat_map(|(_, vector)| *vector).collect();
    matrix[3] += 1e-6;
    let other = WordVectors::from_rows("other", words, matrix, 2).unwrap();
    let said = file()
        .with_vectors(Some(Arc::new(other)))
        .unwrap_err()
        .to_string();
    assert!(
        said.starts_with(needed) && said.contains("…), not with other (5 x 2"),
        "{said}"
    );
}

/// A model file taken apart.
struct Parts {
    metadata: HashMap<String, String>,
    tensors: HashMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Parts {
    fn of_model() -> Self {
        let bytes = model().to_bytes(false).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = tensors.iter().map(|(name, tensor)| {
            let parts = (
                tensor.dtype(),
                tensor.shape().to_vec(),
                tensor.data().to_vec(),
            );
            (name.to_owned(), parts)
        });
        Parts {
            metadata: header.metadata().clone().unwrap(),
            tensors: tensors.collect(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let views = self.tensors.iter().map(|(name, (dtype, shape, data))| {
            (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
        });
        let bytes = safetensors::serialize(views, Some(self.metadata.clone())).unwrap();
        let has_checksum = self.metadata.contains_key("checksum");
        if has_checksum { sealed(bytes) } else { bytes }
    }

    fn said(&self) -> String {
        read(&self.bytes()).expect_err("a model file that is wrong")
    }
}

/// The file with the checksum of its content: the SHA-256 of the file in which the checksum
/// is 64 zeros.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let entry = b"\"checksum\":\"";
    let found = bytes.windows(entry.len()).position(|part| part == entry);
    let start = found.unwrap() + entry.len();
    bytes[start..start + 64].fill(b'0');
    let digest = Sha256::digest(&bytes);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes[start..start + 64].copy_from_slice(digits.as_bytes());
    bytes
}

/// Changes a sound model and gives what is then said of it.
fn spoiled(change: impl FnOnce(&mut Parts)) -> String {
    let mut parts = Parts::of_model();
    change(&mut parts);
    parts.said()
}

fn with_metadata(key: &str, value: &str) -> String {
    spoiled(|parts| {
        parts.metadata.insert(key.to_owned(), value.to_owned());
    })
}

fn with_data(tensor: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    spoiled(|parts| change(&mut parts.tensors.get_mut(tensor).unwrap().2))
}

#[test]
fn values_that_make_a_feature_overflow_are_an_error_and_not_infinity() {
    let mut parts = Parts::of_model();
    let scales = &mut parts.tensors.get_mut("feature_scales").unwrap().2;
    let huge = 1e300f64.to_le_bytes();
    scales
        .chunks_exact_mut(8)
        .for_each(|scale| scale.copy_from_slice(&huge));
    let model = read(&parts.bytes()).unwrap();
    let error = model.transform(&["a b e", "d"]).unwrap_err().to_string();
    assert!(
        error.contains("is not finite: values of the model are too large"),
        "{error}"
    );
}

#[test]
fn every_defect_has_its_sentence() {
    assert_eq!(
        with_metadata("format", "something"),
        "m.wme: a safetensors file, but not a wordmover model"
    );
    assert_eq!(
        with_metadata("version", "6"),
        "m.wme: model format 6 is newer than 5, the newest this version reads"
    );
    assert_eq!(
        with_metadata("version", "0"),
        "m.wme: damaged model: metadata \"version\" is 0, which never was"
    );
    assert_eq!(
        with_metadata("generator", "dice"),
        "m.wme: damaged model: metadata \"generator\" names the unknown \"dice\""
    );
    assert_eq!(
        with_metadata("gamma", "-1"),
        "m.wme: damaged model: metadata \"gamma\" does not fit the parameters"
    );
    assert!(with_metadata("parameters", "{}").contains("\"parameters\" cannot be read: missing"));
    assert!(with_metadata("n_documents", "-3").contains("metadata \"n_documents\" cannot be read"));
    assert_eq!(
        with_metadata("n_documents", "1"),
        "m.wme: damaged model: tensor \"document_frequencies\" holds an impossible count for \"a\""
    );
    for key in [
        "version",
        "generator",
        "parameters",
        "gamma",
        "n_documents",
        "vectors",
        "word_probabilities",
        "written_by",
        "checksum",
    ] {
        assert_eq!(
            spoiled(|parts| drop(parts.metadata.remove(key))),
            format!("m.wme: damaged model: metadata {key:?} is missing")
        );
    }
    for name in [
        "vocabulary",
        "vocabulary_ends",
        "document_frequencies",
        "occurrences",
        "random_lengths",
        "random_words",
        "feature_means",
        "feature_scales",
        "component_scales",
        "components",
    ] {
        assert_eq!(
            spoiled(|parts| drop(parts.tensors.remove(name))),
            format!("m.wme: damaged model: tensor {name:?} is missing")
        );
    }
    let words = Parts::of_model().tensors["random_words"].1[0];
    assert_eq!(
        spoiled(|parts| parts.tensors.get_mut("random_words").unwrap().1 = vec![2 * words]),
        format!(
            "m.wme: damaged model: tensor \"random_words\" is F32 [{}], not F32 [{words}, 2]",
            2 * words
        )
    );
    assert_eq!(
        with_data("random_words", |data| data[..4]
            .copy_from_slice(&f32::NAN.to_le_bytes())),
        "m.wme: damaged model: tensor \"random_words\" holds a value that is not finite"
    );
    let f64_is = |x: f64| move |data: &mut Vec<u8>| data[..8].copy_from_slice(&x.to_le_bytes());
    for (name, value, reason) in [
        (
            "feature_means",
            f64::NAN,
            "holds a value that is not finite",
        ),
        (
            "feature_scales",
            f64::INFINITY,
            "holds a value that is not finite",
        ),
        ("components", f64::NAN, "holds a value that is not finite"),
        (
            "component_scales",
            1.5,
            "holds a value that is not between 0 and 1",
        ),
        (
            "component_scales",
            -0.5,
            "holds a value that is not between 0 and 1",
        ),
    ] {
        assert_eq!(
            with_data(name, f64_is(value)),
            format!("m.wme: damaged model: tensor {name:?} {reason}")
        );
    }
    for p in [f32::NAN, -0.1, 1.1] {
        assert_eq!(
            with_data("word_probabilities", |data| data[..4]
                .copy_from_slice(&p.to_le_bytes())),
            "m.wme: damaged model: tensor \"word_probabilities\" holds a value that is not between 0 and 1"
        );
    }
    assert_eq!(
        spoiled(|parts| {
            let scales = parts.tensors.get_mut("component_scales").unwrap();
            scales.1 = vec![3];
            scales.2.extend([0; 8]);
        }),
        "m.wme: damaged model: tensor \"component_scales\" holds more than 2 values"
    );
    for length in [0u32, 3, u32::MAX] {
        assert_eq!(
            with_data("random_lengths", |data| data[..4]
                .copy_from_slice(&length.to_le_bytes())),
            "m.wme: damaged model: tensor \"random_lengths\" holds a length that is not between 1 and 2"
        );
    }
    assert_eq!(
        with_data("vocabulary", |data| data[0] = 0xff),
        "m.wme: damaged model: tensor \"vocabulary\" is not UTF-8"
    );
    assert_eq!(
        with_data("vocabulary", |data| data[0] = b'z'),
        "m.wme: damaged model: its vocabulary holds \"z\", which its vectors lack"
    );
    assert_eq!(
        with_data("vocabulary", |data| data[0] = b'b'),
        "m.wme: damaged model: tensor \"vocabulary\" holds a word twice"
    );
    assert_eq!(
        with_data("vocabulary_ends", |data| data[..8]
            .copy_from_slice(&u64::MAX.to_le_bytes())),
        "m.wme: damaged model: tensor \"vocabulary\" has ends out of order"
    );
    assert_eq!(
        with_data("vocabulary_ends", |data| {
            let last = data.len() - 8;
            data[last..].copy_from_slice(&4u64.to_le_bytes());
        }),
        "m.wme: damaged model: tensor \"vocabulary\" has bytes after the last word"
    );
}

#[test]
fn factors_of_words_are_as_many_as_words_and_positive() {
    let with = |values: &[f64]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        let tensor = (Dtype::F64, vec![values.len()], bytes.collect());
        spoiled(|parts| drop(parts.tensors.insert("word_factors".to_owned(), tensor)))
    };
    assert!(
        with(&[1.0; 4]).contains("word_factors"),
        "{}",
        with(&[1.0; 4])
    );
    let not_positive = with(&[1.0, 1.0, 0.0, 1.0, 1.0]);
    assert!(
        not_positive.ends_with("holds a value that is not positive"),
        "{not_positive}"
    );
    let not_finite = with(&[f64::NAN; 5]);
    assert!(
        not_finite.ends_with("holds a value that is not finite"),
        "{not_finite}"
    );
}

#[test]
fn what_is_no_safetensors_file_is_refused() {
    for bytes in [
        &b""[..],
        b"hello",
        &[0xff; 100],
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f4'}",
    ] {
        let said = read(bytes).unwrap_err();
        assert!(
            said.starts_with("m.wme: not a model file, or a damaged one ("),
            "{said}"
        );
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = model().to_bytes(true).unwrap();
    for end in 0..bytes.len() {
        read(&bytes[..end]).expect_err("a truncated file");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_changed_byte_makes_the_reader_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = model().to_bytes(true).unwrap();
        for (index, byte) in changes {
            let n = bytes.len();
            bytes[index.index(n)] = byte;
        }
        // Whatever it still accepts must work.
        if let Ok(file) = ModelFile::from_bytes(&bytes, "m.wme")
            && let Ok(model) = file.with_vectors(None) {
                let _ = model.transform(&["a b c"]);
            }
    }
}
