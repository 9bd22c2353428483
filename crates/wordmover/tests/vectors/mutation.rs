//! Whatever the bytes: no panic, no large allocation, and no cut file taken
//! for a whole one.

use proptest::prelude::*;
use wordmover::vectors::Precision;
use wordmover::{Result, WordVectors};

use crate::allocations::largest_during;
use crate::samples::{self, content, gzip, read};

/// For inputs of some hundred bytes: buffers of fixed size, and no more.
const MAX_ALLOCATION: usize = 1 << 20;

/// Reads bytes in every way there is, uses the table if there is one, and
/// returns what reading as a stream gave.
#[track_caller]
fn survive(bytes: &[u8]) -> Result<WordVectors> {
    let (streamed, largest) = largest_during(|| {
        let in_memory = WordVectors::from_bytes(bytes.to_vec(), "file");
        let limited = WordVectors::read(bytes, "file", Some(2));
        let streamed = read(bytes);
        for vectors in [&in_memory, &limited, &streamed].into_iter().flatten() {
            exercise(vectors);
        }
        if let Err(error) = &streamed {
            let message = error.to_string();
            assert!(
                message.starts_with("file: ") && !message.ends_with('.'),
                "{message}"
            );
        }
        streamed
    });
    assert!(
        largest <= MAX_ALLOCATION,
        "{largest} bytes at once for a file of {}",
        bytes.len()
    );
    streamed
}

fn exercise(vectors: &WordVectors) {
    assert!(!vectors.is_empty());
    for (id, word) in vectors.words().enumerate() {
        assert!(!word.is_empty());
        assert_eq!(vectors.id(word), Some(id as u32));
    }
    let row = vectors.vector(0);
    vectors.nearest(&row, 1, &[]);
    let _ = vectors.verify_checksum();
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        let _ = vectors.to_native_bytes(precision);
    }
}

#[test]
fn a_file_cut_anywhere_is_never_taken_for_a_whole_one() {
    for (format, bytes) in samples::all() {
        let whole = content(&read(&bytes).unwrap());
        for len in 0..bytes.len() {
            let Ok(vectors) = survive(&bytes[..len]) else {
                continue;
            };
            let is_complete = content(&vectors) == whole;
            match format {
                // Nothing says how many words there should be; but each is whole.
                "GloVe" => assert_eq!(content(&vectors), whole[..vectors.len()], "{format}, {len}"),
                // The newline after the last entry is optional.
                "word2vec binary with newlines" => assert!(is_complete, "{format}, {len}"),
                _ => panic!("{format}: accepted {len} of {} bytes", bytes.len()),
            }
        }
    }
}

#[test]
fn a_gzipped_file_cut_anywhere_is_never_accepted() {
    for (format, bytes) in samples::all() {
        let packed = gzip(&bytes);
        for len in 0..packed.len() {
            assert!(survive(&packed[..len]).is_err(), "{format}, {len}");
        }
    }
}

#[test]
fn no_single_byte_changed_does_harm() {
    for (_, bytes) in samples::all() {
        for position in 0..bytes.len() {
            for value in [
                0,
                1,
                b' ',
                b'\n',
                b'0',
                b'9',
                b'{',
                0x7f,
                0x80,
                0xff,
                bytes[position] ^ 1,
            ] {
                let mut changed = bytes.clone();
                changed[position] = value;
                let _ = survive(&changed);
            }
        }
    }
}

#[test]
fn absurd_headers_reserve_nothing() {
    for header in ["4294967295 65536\n", "4294967295 1\n", "1 65536\n"] {
        assert!(survive(header.as_bytes()).is_err());
        assert!(survive(&[header.as_bytes(), b"the 1"].concat()).is_err());
        assert!(survive(&[header.as_bytes(), b"the \0\0\0\0\0\0"].concat()).is_err());
    }
    let header =
        br#"{"vectors":{"dtype":"F32","shape":[4000000000,100],"data_offsets":[0,1600000000000]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header, b"1234"].concat();
    assert!(survive(&bytes).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = survive(&bytes);
    }

    #[test]
    fn arbitrary_text(text in "[ab 0-9.\\-e\t\r\n]{0,60}") {
        let _ = survive(text.as_bytes());
    }

    #[test]
    fn arbitrary_bytes_after_a_header(
        count in 0u64..5,
        dim in 0usize..4,
        rest in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let _ = survive(&[format!("{count} {dim}\n").as_bytes(), &rest].concat());
    }

    #[test]
    fn mutated_files(
        which in any::<prop::sample::Index>(),
        packed in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
    ) {
        let all = samples::all();
        let mut bytes = which.get(&all).1.clone();
        if packed {
            bytes = gzip(&bytes);
        }
        for (position, value, kind) in edits {
            let position = position.index(bytes.len());
            match kind {
                0 => bytes[position] = value,
                1 => bytes.insert(position, value),
                _ => drop(bytes.remove(position)),
            }
        }
        let _ = survive(&bytes);
    }
}
