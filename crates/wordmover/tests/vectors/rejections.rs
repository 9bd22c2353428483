//! One test for each way in which a foreign file or a caller's table can be
//! wrong, with the whole message.

use tempfile::tempdir;
use wordmover::vectors::Precision;
use wordmover::{Error, WordVectors};

use crate::samples::{self, gzip, message, read};

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, expected: &str) {
    let bytes = bytes.as_ref();
    assert_eq!(message(read(bytes)), format!("file: {expected}"));
    assert_eq!(
        message(read(&gzip(bytes))),
        format!("file: {expected}"),
        "gzipped"
    );
}

/// A binary file of dimension 2 with the given entries.
fn binary(header: &str, entries: &[(&[u8], [f32; 2])]) -> Vec<u8> {
    let mut bytes = header.as_bytes().to_vec();
    for (word, row) in entries {
        bytes.extend(*word);
        bytes.push(b' ');
        bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes
}

const UNRECOGNIZED: &str = "not a known word-vector format: the first line is neither \
     `COUNT DIMENSION` nor a word followed by at least two numbers";

#[test]
fn an_empty_file() {
    refused("", "it holds no words");
    refused("\u{feff}", "it holds no words");
}

#[test]
fn something_else() {
    for bytes in [
        &b"\n"[..],
        b"Dear Sir or Madam\n",
        b"the\n",
        b"the 0.1\n",
        b"the 0.1 x\n",
        b"the  1 2\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"PK\x03\x04",
        b"\xff\xfet\0h\0e\0",
        b"4 2.0\n",
        b"-4 2\n",
        b". . . 1 2\n",
        b"{\"the\": [1, 2]}\n",
    ] {
        refused(bytes, UNRECOGNIZED);
    }
    refused(vec![b'x'; (1 << 24) + 1], UNRECOGNIZED);
}

#[test]
fn a_missing_file_and_a_folder() {
    let folder = tempdir().unwrap();
    let missing = folder.path().join("missing.txt");
    let outcome = WordVectors::open(&missing, None);
    assert!(matches!(outcome, Err(Error::Read { .. })));
    assert!(message(outcome).starts_with(&format!("cannot read {}: ", missing.display())));
    let outcome = WordVectors::open(folder.path(), None);
    assert!(matches!(outcome, Err(Error::Read { .. })));
    let expected = format!("cannot read {}: is a directory", folder.path().display());
    assert_eq!(message(outcome), expected);
}

#[test]
fn a_file_is_named_by_its_whole_path() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("glove.txt");
    std::fs::write(&path, "a 1 2\nb 3\n").unwrap();
    let expected = format!(
        "{}: line 2: expected 2 numbers after the word, found 1",
        path.display()
    );
    assert_eq!(message(WordVectors::open(&path, None)), expected);
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("nowhere").join("vectors");
    let outcome = samples::table().save(&path, Precision::F32);
    assert!(matches!(outcome, Err(Error::Write { .. })));
    assert!(message(outcome).starts_with(&format!("cannot write {}: ", path.display())));
}

#[test]
fn absurd_headers() {
    for (count, dim) in [
        ("1000000000000", "2"),
        ("4294967296", "2"),
        ("3", "1000000000"),
        ("3", "65537"),
        ("0", "2"),
        ("3", "0"),
        ("0", "0"),
        ("99999999999999999999999999", "2"),
        ("3", "99999999999999999999999999"),
    ] {
        let expected = format!(
            "line 1: the header promises {count} words of dimension {dim}, \
             possible are 1 to 4294967295 words of dimension 1 to 65536"
        );
        refused(format!("{count} {dim}\nthe 1 2\n"), &expected);
    }
    let wide = format!("the{}\n", " 1".repeat(65_537));
    refused(wide, "the dimension is 65537, possible are 1 to 65536");
}

#[test]
fn fewer_words_than_promised() {
    refused(
        "3 2\na 1 2\n",
        "line 3: the file ends after 1 of the 3 words that its header promises",
    );
    refused(
        "3 2\n",
        "line 2: the file ends after 0 of the 3 words that its header promises",
    );
    refused(
        "1 2",
        "line 2: the file ends after 0 of the 1 word that its header promises",
    );
    refused(
        "4294967295 65536\n",
        "line 2: the file ends after 0 of the 4294967295 words that its header promises",
    );
    let one = binary("2 2\n", &[(b"a", [0.5, 1.0])]);
    refused(
        &one,
        "byte 14: the file ends after 1 of the 2 words that its header promises",
    );
    refused(
        [&one[..], b"bc"].concat(),
        "byte 16: the file ends after 1 of the 2 words that its header promises",
    );
    refused(
        [&one[..], b"bc \0\0\0"].concat(),
        "byte 20: the file ends after 1 of the 2 words that its header promises",
    );
    refused(
        &one[..12],
        "byte 12: the file ends after 0 of the 2 words that its header promises",
    );
}

#[test]
fn more_words_than_promised() {
    refused(
        "1 2\na 1 2\nb 3 4\n",
        "line 3: the file goes on after the 1 word that its header promises",
    );
    let two = binary("1 2\n", &[(b"a", [0.5, 1.0]), (b"b", [0.5, 1.0])]);
    refused(
        &two,
        "byte 14: the file goes on after the 1 word that its header promises",
    );
}

#[test]
fn a_first_entry_that_fits_text_and_binary() {
    // Text `a 1 2`, or binary `a` with the values `1 2\n` and `\0\0\0\0`.
    refused(
        b"1 2\na 1 2\n\0\0\0\0",
        "byte 4: the first word fits both the text and the binary word2vec format",
    );
}

#[test]
fn a_repeated_word() {
    refused(
        "a 1 2\nb 3 4\na 5 6\n",
        "line 3: the word `a` stands already at line 1",
    );
    refused(
        "3 2\na 1 2\nb 3 4\nb 5 6\n",
        "line 4: the word `b` stands already at line 3",
    );
    let bytes = binary(
        "3 2\n",
        &[(b"a", [0.5, 1.0]), (b"b", [0.5, 1.0]), (b"a", [0.5, 1.0])],
    );
    refused(&bytes, "byte 24: the word `a` stands already at entry 1");
}

#[test]
fn a_wrong_number_of_values() {
    refused(
        "a 1 2 3\nb 1 2\n",
        "line 2: expected 3 numbers after the word, found 2",
    );
    refused(
        "a 1 2 3\nb 1 2 3 4\n",
        "line 2: expected 3 numbers after the word, found 4",
    );
    refused(
        "a 1 2\nb\n",
        "line 2: expected 2 numbers after the word, found 0",
    );
    refused(
        "2 3\na 1 2\nb 1 2\n",
        "line 2: expected 3 numbers after the word, found 2",
    );
    refused(
        "2 1\na 1 2\nb 1 2\n",
        "line 2: expected 1 number after the word, found 2",
    );
    refused(
        "5 3\nthe 0.1\n",
        "line 2: expected 3 numbers after the word, found 1",
    );
}

#[test]
fn not_a_number() {
    refused("a 1 2\nb 1 two\n", "line 2: `two` is not a number");
    refused("a 1 2\nb 1 0x2\n", "line 2: `0x2` is not a number");
    refused("a 1 2\nb 1,5 2\n", "line 2: `1,5` is not a number");
    refused("a 1 2\nb 1 \u{7}\n", "line 2: `\\u{7}` is not a number");
    refused("a 1 2 3\nnew york 1 2\n", "line 2: `york` is not a number");
}

#[test]
fn not_finite() {
    for value in ["NaN", "nan", "inf", "-inf", "infinity", "1e400", "-1e39"] {
        refused(
            format!("a 1 2\nb 1 {value}\n"),
            &format!("line 2: `{value}` is not finite in single precision"),
        );
        refused(
            format!("a 1 {value}\n"),
            &format!("line 1: `{value}` is not finite in single precision"),
        );
        refused(
            format!("1 2\na 1 {value}\n"),
            &format!("line 2: `{value}` is not finite in single precision"),
        );
    }
    let bytes = binary("2 2\n", &[(b"a", [0.5, 1.0]), (b"b", [0.5, f32::NAN])]);
    refused(&bytes, "byte 20: `NaN` is not finite in single precision");
    let bytes = binary("1 2\n", &[(b"a", [f32::NEG_INFINITY, 0.0])]);
    refused(&bytes, "byte 6: `-inf` is not finite in single precision");
}

#[test]
fn not_utf8() {
    refused(b"caf\xe9 1 2\n", "line 1: the text is not valid UTF-8");
    refused(
        b"a 1 2\ncaf\xe9 1 2\n",
        "line 2: the text is not valid UTF-8",
    );
    refused(b"1 2\ncaf\xe9 1 2\n", "line 2: the text is not valid UTF-8");
    let bytes = binary("2 2\n", &[(b"a", [0.5, 1.0]), (b"caf\xe9", [0.5, 1.0])]);
    refused(&bytes, "byte 14: the text is not valid UTF-8");
    let bytes = binary("1 2\n", &[(b"caf\xe9", [0.5, 1.0])]);
    refused(&bytes, "byte 4: the text is not valid UTF-8");
}

#[test]
fn an_empty_word() {
    refused(" 1 2\n", "line 1: there is no word");
    refused("a 1 2\n 1 2\n", "line 2: there is no word");
    refused("1 2\n 1 2\n", "line 2: there is no word");
    let bytes = binary("2 2\n", &[(b"a", [0.5, 1.0]), (b"", [0.5, 1.0])]);
    refused(&bytes, "byte 14: there is no word");
    let bytes = binary("1 2\n", &[(b"", [0.5, 1.0])]);
    refused(&bytes, "byte 4: there is no word");
}

#[test]
fn doubled_separators() {
    refused(
        "a 1 2\nb 1  2\n",
        "line 2: two separators stand side by side",
    );
    refused(
        "a 1 2\nb  1 2\n",
        "line 2: two separators stand side by side",
    );
    refused("a 1 2\nb c\td 1 2\n", "line 2: a word holds a tab");
}

#[test]
fn an_empty_line_before_the_last_word() {
    refused("a 1 2\n\nb 1 2\n", "line 2: the line is empty");
    refused("2 2\na 1 2\n \n\nb 1 2\n", "line 3: the line is empty");
}

#[test]
fn a_last_line_without_end() {
    let expected = "the file ends inside the line, so its last number may be cut short";
    refused("a 1 2\nb 1 2", &format!("line 2: {expected}"));
    refused("a 1 2", &format!("line 1: {expected}"));
    refused("1 2\na 1 2", &format!("line 2: {expected}"));
}

#[test]
fn endless_lines_and_words() {
    let line = [b"a 1 2\nb 1 2", &b"0".repeat(1 << 24)[..]].concat();
    refused(&line, "line 2: the line is longer than 16777216 bytes");
    let mut bytes = binary("2 2\n", &[(b"a", [0.5, 1.0])]);
    bytes.extend(b"x".repeat(65_537));
    refused(&bytes, "byte 14: the word is longer than 65536 bytes");
}

#[test]
fn long_and_odd_fields_are_shortened_and_escaped() {
    let field = "x".repeat(100);
    let expected = format!("line 2: `{}...` is not a number", "x".repeat(40));
    refused(format!("a 1 2\nb 1 {field}\n"), &expected);
}

#[test]
fn damaged_gzip() {
    let packed = gzip(&samples::word2vec_binary(true));
    for len in 2..packed.len() {
        let message = message(read(&packed[..len]));
        assert!(
            message.starts_with("file: its gzip compression is damaged: "),
            "{len}: {message}"
        );
    }
    let mut flipped = packed.clone();
    let checksum_at = packed.len() - 8;
    flipped[checksum_at] ^= 1;
    let damaged = message(read(&flipped));
    assert!(
        damaged.starts_with("file: its gzip compression is damaged: "),
        "{damaged}"
    );
    let trailing = [&packed[..], b"garbage"].concat();
    let damaged = message(read(&trailing));
    assert!(
        damaged.starts_with("file: its gzip compression is damaged: "),
        "{damaged}"
    );
}

#[test]
fn gzip_within_gzip() {
    assert_eq!(
        message(read(&gzip(&gzip(b"a 1 2\n")))),
        format!("file: {UNRECOGNIZED}")
    );
}

#[test]
fn rows_given_by_a_caller() {
    let refused = |words: &[&str], matrix: &[f32], dim, expected: &str| {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        let outcome = WordVectors::from_rows("mine", words, matrix.to_vec(), dim);
        assert_eq!(message(outcome), format!("mine: {expected}"));
    };
    refused(&[], &[], 2, "it holds no words");
    refused(
        &["a"],
        &[],
        0,
        "the dimension is 0, possible are 1 to 65536",
    );
    refused(
        &["a"],
        &[],
        65_537,
        "the dimension is 65537, possible are 1 to 65536",
    );
    refused(
        &["a", "b"],
        &[1.0; 3],
        2,
        "2 words of dimension 2 need 4 values, not 3",
    );
    refused(
        &["a"],
        &[1.0; 3],
        2,
        "1 word of dimension 2 need 2 values, not 3",
    );
    refused(&["a", ""], &[1.0; 4], 2, "entry 2: there is no word");
    refused(
        &["a", "b", "a"],
        &[1.0; 3],
        1,
        "entry 3: the word `a` stands already at entry 1",
    );
    refused(
        &["a", "b"],
        &[1.0, f32::NAN],
        1,
        "entry 2: `NaN` is not finite in single precision",
    );
    refused(
        &["a"],
        &[f32::INFINITY, 1.0],
        2,
        "entry 1: `inf` is not finite in single precision",
    );
}

#[test]
fn values_too_large_for_a_precision() {
    let table = WordVectors::from_rows("big", vec!["huge".into()], vec![1.0, -3.4e38], 2).unwrap();
    assert_eq!(
        message(table.to_native_bytes(Precision::F16)),
        "big: the vector of `huge` holds -340000000000000000000000000000000000000, too large for f16"
    );
    assert_eq!(
        message(table.to_native_bytes(Precision::Int8)),
        "big: the vector of `huge` holds -340000000000000000000000000000000000000, too large for int8"
    );
    assert!(table.to_native_bytes(Precision::F32).is_ok());
}
