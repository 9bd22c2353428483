//! One test for each way in which a native file can be wrong, and what opening
//! does and does not look at.

use std::fs;

use serde_json::{Value, json};
use tempfile::tempdir;
use wordmover::WordVectors;
use wordmover::vectors::Precision;

use crate::samples::{self, content, message};

/// A native file taken apart, to be put together wrongly.
struct Parts {
    header: Value,
    data: Vec<u8>,
}

impl Parts {
    fn of(precision: Precision) -> Self {
        let bytes = samples::native(precision);
        let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header = serde_json::from_slice(&bytes[8..8 + len]).unwrap();
        Parts {
            header,
            data: bytes[8 + len..].to_vec(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let header = serde_json::to_vec(&self.header).unwrap();
        [
            &(header.len() as u64).to_le_bytes()[..],
            &header,
            &self.data,
        ]
        .concat()
    }

    /// The bytes of a tensor.
    fn tensor(&mut self, name: &str) -> &mut [u8] {
        let offset = |index| self.header[name]["data_offsets"][index].as_u64().unwrap() as usize;
        let range = offset(0)..offset(1);
        &mut self.data[range]
    }

    #[track_caller]
    fn refused(&self, expected: &str) {
        refused(&self.bytes(), expected);
    }
}

/// Refused in memory, from a stream, and from a file.
#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    assert_eq!(
        message(WordVectors::from_bytes(bytes.to_vec(), "file")),
        format!("file: {expected}")
    );
    assert_eq!(message(samples::read(bytes)), format!("file: {expected}"));
    let folder = tempdir().unwrap();
    let path = folder.path().join("vectors");
    fs::write(&path, bytes).unwrap();
    let expected = format!("{}: {expected}", path.display());
    assert_eq!(message(WordVectors::open(&path, None)), expected);
}

#[test]
fn parts_put_together_again_are_accepted() {
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        let vectors = WordVectors::from_bytes(Parts::of(precision).bytes(), "file").unwrap();
        vectors.verify_checksum().unwrap();
        assert_eq!(vectors.precision(), precision);
    }
}

#[test]
fn another_safetensors_reader_finds_the_tensors() {
    let bytes = samples::native(Precision::Int8);
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut names = tensors.names();
    names.sort_unstable();
    assert_eq!(names, ["scales", "vectors", "word_ends", "words"]);
    assert_eq!(tensors.tensor("vectors").unwrap().shape(), [4, 3]);
    assert_eq!(
        tensors.tensor("words").unwrap().data(),
        "thenaïve,日本".as_bytes()
    );
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(n % 8, 0, "tensors begin at a multiple of 8");
}

#[test]
fn something_else_in_safetensors() {
    let mut parts = Parts::of(Precision::F32);
    let expected = "a safetensors file, but not of word vectors: its metadata lacks `format` = `wordmover-vectors`";
    parts.header["__metadata__"]["format"] = json!("pt");
    parts.refused(expected);
    parts.header.as_object_mut().unwrap().remove("__metadata__");
    parts.refused(expected);
}

#[test]
fn metadata() {
    let mut parts = Parts::of(Precision::F32);
    let whole = parts.header["__metadata__"].clone();
    let mut with = |key: &str, value: Option<&str>, expected: &str| {
        let metadata = &mut parts.header["__metadata__"];
        *metadata = whole.clone();
        match value {
            Some(value) => metadata[key] = json!(value),
            None => drop(metadata.as_object_mut().unwrap().remove(key)),
        }
        parts.refused(expected);
    };
    with(
        "version",
        Some("2"),
        "version `2` of the word-vector format is not known, only 1",
    );
    with("version", None, "metadata `version` is missing");
    with("precision", Some("f64"), "metadata `precision` is `f64`");
    with("precision", None, "metadata `precision` is missing");
    with(
        "precision",
        Some("f16"),
        "tensor `vectors` is F32 [4, 3], expected F16 [4, 3]",
    );
    with("checksum", None, "metadata `checksum` is missing");
    with("checksum", Some("0Aff"), "metadata `checksum` is `0Aff`");
    let upper = "A".repeat(64);
    with(
        "checksum",
        Some(&upper),
        &format!("metadata `checksum` is `{}...`", "A".repeat(40)),
    );
}

#[test]
fn missing_tensors() {
    for name in ["vectors", "word_ends", "words", "scales"] {
        let mut parts = Parts::of(Precision::Int8);
        let info = parts.header.as_object_mut().unwrap().remove(name).unwrap();
        parts.header["other"] = info;
        parts.refused(&format!("tensor `{name}` is missing"));
    }
}

#[test]
fn tensors_of_another_type_or_shape() {
    let with = |name: &str, dtype: &str, shape: Value, expected: &str| {
        let mut parts = Parts::of(Precision::Int8);
        parts.header[name]["dtype"] = json!(dtype);
        parts.header[name]["shape"] = shape;
        parts.refused(expected);
    };
    with(
        "vectors",
        "U8",
        json!([4, 3]),
        "tensor `vectors` is U8 [4, 3], expected I8 [4, 3]",
    );
    with(
        "vectors",
        "I8",
        json!([12]),
        "tensor `vectors` is I8 [12], expected I8 [n, dim]",
    );
    with(
        "vectors",
        "I8",
        json!([4, 3, 1]),
        "tensor `vectors` is I8 [4, 3, 1], expected I8 [n, dim]",
    );
    with(
        "vectors",
        "I8",
        json!([3, 4]),
        "tensor `word_ends` is U32 [4], expected U32 [3]",
    );
    with(
        "word_ends",
        "I32",
        json!([4]),
        "tensor `word_ends` is I32 [4], expected U32 [4]",
    );
    with(
        "word_ends",
        "U32",
        json!([2, 2]),
        "tensor `word_ends` is U32 [2, 2], expected U32 [4]",
    );
    with(
        "scales",
        "F16",
        json!([8]),
        "tensor `scales` is F16 [8], expected F32 [4]",
    );
    with(
        "words",
        "I8",
        json!([16]),
        "tensor `words` is I8 [16], expected U8 [bytes]",
    );
    with(
        "words",
        "U8",
        json!([4, 4]),
        "tensor `words` is U8 [4, 4], expected U8 [bytes]",
    );
}

#[test]
fn no_words_or_no_dimension() {
    let bytes = |shape: Value| {
        let mut parts = Parts::of(Precision::F32);
        parts.data.clear();
        for name in ["word_ends", "vectors", "words"] {
            parts.header[name]["data_offsets"] = json!([0, 0]);
            parts.header[name]["shape"] = json!([0]);
        }
        parts.header["vectors"]["shape"] = shape;
        parts
    };
    bytes(json!([0, 3])).refused("it holds no words");
    bytes(json!([3, 0])).refused("the dimension is 0, possible are 1 to 65536");
    bytes(json!([99_999_999_999u64, 0]))
        .refused("entry 4294967296: more than 4294967295 words, or more than 4 GiB of them");
}

#[test]
fn word_ends() {
    let with = |index: usize, end: u32, expected: &str| {
        let mut parts = Parts::of(Precision::F32);
        parts.tensor("word_ends")[4 * index..][..4].copy_from_slice(&end.to_le_bytes());
        parts.refused(expected);
    };
    // The words end at 3, 9, 10 and 16.
    with(0, 0, "entry 1: there is no word");
    with(1, 3, "entry 2: there is no word");
    with(
        1,
        2,
        "entry 2: the word ends at byte 2 of the packed words, outside 3 to 16",
    );
    with(1, 6, "entry 2: the text is not valid UTF-8");
    with(
        3,
        17,
        "entry 4: the word ends at byte 17 of the packed words, outside 10 to 16",
    );
    with(
        3,
        u32::MAX,
        "entry 4: the word ends at byte 4294967295 of the packed words, outside 10 to 16",
    );
    with(3, 13, "the words end at byte 13 of 16 packed bytes");
}

#[test]
fn words_that_are_not_utf8_or_repeated() {
    let mut parts = Parts::of(Precision::F32);
    parts.tensor("words")[9] = 0xff;
    parts.refused("entry 3: the text is not valid UTF-8");
    let mut parts = Parts::of(Precision::F32);
    parts
        .tensor("word_ends")
        .copy_from_slice(&[3, 0, 0, 0, 6, 0, 0, 0, 10, 0, 0, 0, 16, 0, 0, 0]);
    parts.tensor("words")[..10].copy_from_slice(b"thethefour");
    parts.refused("entry 2: the word `the` stands already at entry 1");
}

#[test]
fn scales() {
    for scale in [-1.0, f32::NAN, f32::INFINITY, 1e37] {
        let mut parts = Parts::of(Precision::Int8);
        parts.tensor("scales")[8..12].copy_from_slice(&scale.to_le_bytes());
        parts.refused(&format!("entry 3: {scale} is not a usable row scale"));
    }
}

#[test]
fn a_wrong_size() {
    let bytes = samples::native(Precision::F32);
    let n = bytes.len();
    let expected =
        |found| format!("its safetensors header describes {n} bytes, the file has {found}");
    refused(&bytes[..n - 1], &expected(n - 1));
    refused(&[&bytes[..], b"x"].concat(), &expected(n + 1));
}

#[test]
fn a_header_that_overflows() {
    // Offsets that fit 64 bits, of a file whose length does not.
    let part = (1u64 << 61) - 1;
    let mut header = serde_json::Map::new();
    for index in 0..8 {
        let offsets = [index * part, (index + 1) * part];
        header.insert(
            format!("t{index}"),
            json!({"dtype": "U8", "shape": [part], "data_offsets": offsets}),
        );
    }
    let header = serde_json::to_vec(&Value::Object(header)).unwrap();
    let bytes = [&(header.len() as u64).to_le_bytes()[..], &header].concat();
    let message = message(samples::read(&bytes));
    assert!(
        message.starts_with("file: its safetensors header describes 18446744073709551"),
        "{message}"
    );
}

#[test]
fn a_header_that_is_not_one() {
    let with = |header: &[u8], expected: &str| {
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header].concat();
        refused(
            &bytes,
            &format!("its safetensors header cannot be used: {expected}"),
        );
    };
    with(b"{]", "key must be a string at line 1 column 2");
    with(
        b"{\"a\":1}",
        "invalid type: integer `1`, expected struct TensorInfo at line 1 column 7",
    );
    let mut long = (1u64 << 25).to_le_bytes().to_vec();
    long.push(b'{');
    refused(
        &long,
        "its safetensors header cannot be used: it would be 33554432 bytes long",
    );
}

#[test]
fn bytes_in_memory_must_be_native() {
    let outcome = WordVectors::from_bytes(&b"a"[..], "file");
    assert_eq!(
        message(outcome),
        "file: its safetensors header describes 8 bytes, the file has 1"
    );
    let outcome = WordVectors::from_bytes(samples::glove(), "file");
    assert!(
        message(outcome).starts_with("file: its safetensors header cannot be used: it would be ")
    );
}

#[test]
fn rows_are_not_looked_at_until_they_are_used() {
    let mut parts = Parts::of(Precision::F32);
    parts.tensor("vectors")[12..16].copy_from_slice(&f32::NAN.to_le_bytes());
    let vectors = WordVectors::from_bytes(parts.bytes(), "file").unwrap();
    assert_eq!(
        vectors.checksum(),
        samples::table().checksum(),
        "as the file says"
    );

    let mut row = [0.0; 3];
    vectors.copy_finite_vector(0, &mut row).unwrap();
    assert_eq!(row, [0.5, -1.25, 3.0]);
    let expected = "file: entry 2: `NaN` is not finite in single precision";
    assert_eq!(message(vectors.copy_finite_vector(1, &mut row)), expected);
    assert_eq!(message(vectors.to_native_bytes(Precision::F32)), expected);
    assert_eq!(message(vectors.to_native_bytes(Precision::Int8)), expected);
    assert!(message(vectors.verify_checksum()).starts_with("file: its content has checksum "));
    let near: Vec<u32> = vectors
        .nearest(&[1.0, 0.0, 0.0], 9, &[])
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert!(
        !near.contains(&1),
        "a row that is not finite is near nothing"
    );
    assert_eq!(near.len(), 3);
}

#[test]
fn int8_rows_written_elsewhere_may_hold_minus_128() {
    let mut parts = Parts::of(Precision::Int8);
    parts.tensor("vectors")[0] = 0x80;
    let vectors = WordVectors::from_bytes(parts.bytes(), "file").unwrap();
    let scale = 3.0f32 / 127.0;
    assert_eq!(vectors.vector(0)[0], -128.0 * scale);
    // Quantised anew, that row would have another scale.
    let again = vectors.to_native_bytes(Precision::Int8).unwrap();
    let again = WordVectors::from_bytes(again, "file").unwrap();
    assert_eq!(content(&again), content(&vectors));
}

#[test]
fn a_static_slice_and_a_part_of_something_larger_will_do() {
    struct Part(Vec<u8>);
    impl AsRef<[u8]> for Part {
        fn as_ref(&self) -> &[u8] {
            &self.0[5..]
        }
    }
    // At an odd address, to show that nothing depends on alignment.
    let larger = [b"12345", &samples::native(Precision::F32)[..]].concat();
    let vectors = WordVectors::from_bytes(Part(larger), "part").unwrap();
    assert_eq!(content(&vectors), content(&samples::table()));
    let leaked: &'static [u8] = samples::native(Precision::F16).leak();
    assert_eq!(
        content(&WordVectors::from_bytes(leaked, "static").unwrap()),
        content(&vectors)
    );
}
