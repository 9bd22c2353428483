//! The checksum is that of the content, whatever the file.

use sha2::{Digest, Sha256};
use wordmover::WordVectors;
use wordmover::vectors::Precision;

use crate::samples::{self, content, read};

/// As documented, written down a second time.
fn by_the_book(vectors: &WordVectors) -> String {
    let content = content(vectors);
    let mut bytes = (vectors.dim() as u64).to_le_bytes().to_vec();
    bytes.extend((content.len() as u64).to_le_bytes());
    for (word, _) in &content {
        bytes.extend((word.len() as u32).to_le_bytes());
        bytes.extend(word.as_bytes());
    }
    for value in content.iter().flat_map(|(_, row)| row) {
        bytes.extend(value.to_le_bytes());
    }
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Computed with Python's hashlib and struct from the sample's words and values.
const SAMPLE: &str = "0ffbd8563b3a42d455f0e2c29ad692fc636e536d8970eb8b87c0e1ce8fc89098";

#[test]
fn every_exact_format_has_the_same_checksum() {
    for (format, bytes) in samples::all() {
        let vectors = read(&bytes).unwrap();
        assert_eq!(vectors.checksum(), by_the_book(&vectors), "{format}");
        vectors.verify_checksum().unwrap();
        assert_eq!(
            vectors.checksum() == SAMPLE,
            format != "native int8",
            "{format}"
        );
    }
}

#[test]
fn the_stored_checksum_does_not_outlive_a_limit() {
    let bytes = samples::native(Precision::F32);
    let limited = WordVectors::read(&bytes[..], "file", Some(2)).unwrap();
    assert_ne!(limited.checksum(), SAMPLE);
    assert_eq!(limited.checksum(), by_the_book(&limited));
    let text = WordVectors::read(&samples::glove()[..], "file", Some(2)).unwrap();
    assert_eq!(limited.checksum(), text.checksum());
    let whole = WordVectors::read(&bytes[..], "file", Some(4)).unwrap();
    assert_eq!(whole.checksum(), SAMPLE);
}

#[test]
fn every_bit_of_content_counts() {
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        let bytes = samples::native(precision);
        let header_len = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        for position in header_len..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            if let Ok(vectors) = WordVectors::from_bytes(damaged, "file") {
                assert!(
                    vectors.verify_checksum().is_err(),
                    "{precision}, byte {position}"
                );
            }
        }
    }
}

#[test]
fn the_checksum_says_what_was_found() {
    let mut bytes = samples::native(Precision::F32);
    let position = bytes.len() - 16 - 1;
    bytes[position] ^= 1;
    let vectors = WordVectors::from_bytes(bytes, "file").unwrap();
    let expected = format!(
        "file: its content has checksum {}, its header says {SAMPLE}",
        by_the_book(&vectors)
    );
    assert_eq!(samples::message(vectors.verify_checksum()), expected);
}
