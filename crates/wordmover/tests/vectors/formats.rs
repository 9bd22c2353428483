//! Every format gives the same table, plain or gzipped, whole or limited.

use std::fs;
use std::io::Read;
use std::path::Path;

use tempfile::tempdir;
use wordmover::WordVectors;
use wordmover::vectors::Precision;

use crate::samples::{self, content, gzip, message, read};

#[test]
fn every_exact_format_gives_the_same_table() {
    let expected = content(&samples::table());
    for (format, bytes) in samples::all() {
        if format == "native int8" {
            continue;
        }
        let vectors = read(&bytes).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!(content(&vectors), expected, "{format}");
        assert_eq!(
            (vectors.len(), vectors.dim(), vectors.name()),
            (4, 3, "file"),
            "{format}"
        );
        assert_eq!(vectors.id("日本"), Some(3), "{format}");
        assert_eq!(vectors.id("The"), None, "{format}");
    }
}

#[test]
fn gzipped_files_are_unpacked_also_in_several_members() {
    for (format, bytes) in samples::all() {
        let plain = content(&read(&bytes).unwrap());
        assert_eq!(content(&read(&gzip(&bytes)).unwrap()), plain, "{format}");
        let (front, back) = bytes.split_at(bytes.len() / 2);
        let members = [gzip(front), gzip(back)].concat();
        assert_eq!(
            content(&read(&members).unwrap()),
            plain,
            "{format} in two members"
        );
    }
}

#[test]
fn files_are_opened_by_content_whatever_their_name() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("vectors.jpeg");
    for (format, bytes) in samples::all() {
        for bytes in [gzip(&bytes), bytes] {
            fs::write(&path, &bytes).unwrap();
            let vectors = WordVectors::open(&path, None).unwrap();
            assert_eq!(
                content(&vectors),
                content(&read(&bytes).unwrap()),
                "{format}"
            );
            assert_eq!(vectors.name(), "vectors.jpeg", "{format}");
        }
    }
}

#[test]
fn a_limit_keeps_the_first_words() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("vectors");
    for (format, bytes) in samples::all() {
        let whole = content(&read(&bytes).unwrap());
        fs::write(&path, &bytes).unwrap();
        for limit in 1..6 {
            let kept = &whole[..limit.min(4)];
            let streamed = WordVectors::read(&bytes[..], "file", Some(limit)).unwrap();
            assert_eq!(content(&streamed), kept, "{format}, limit {limit}");
            let opened = WordVectors::open(&path, Some(limit)).unwrap();
            assert_eq!(content(&opened), kept, "{format}, limit {limit}");
            assert_eq!(
                opened.id("日本").is_some(),
                limit >= 4,
                "{format}, limit {limit}"
            );
        }
        let nothing = WordVectors::read(&bytes[..], "file", Some(0));
        assert_eq!(
            message(nothing),
            "file: a limit of 0 words leaves nothing to read"
        );
        let nothing = WordVectors::open(&path, Some(0));
        assert!(message(nothing).ends_with(": a limit of 0 words leaves nothing to read"));
    }
}

#[test]
fn what_follows_the_limit_is_not_looked_at() {
    for text in [
        "a 1 2\nb 3 4\nc 5",
        "3 2\na 1 2\nb 3 4\na x\n",
        "9 2\na 1 2\nb 3 4\n",
    ] {
        let vectors = WordVectors::read(text.as_bytes(), "file", Some(2)).unwrap();
        assert_eq!(vectors.words().collect::<Vec<_>>(), ["a", "b"]);
    }
    for mut bytes in [
        samples::word2vec_binary(true),
        samples::word2vec_binary(false),
    ] {
        bytes.truncate(bytes.len() - 3);
        assert_eq!(
            WordVectors::read(&bytes[..], "file", Some(3))
                .unwrap()
                .len(),
            3
        );
    }
    // Neither is a broken disk.
    let broken = samples::glove();
    let reader = (&broken[..]).chain(BrokenDisk);
    assert_eq!(WordVectors::read(reader, "file", Some(4)).unwrap().len(), 4);
}

struct BrokenDisk;

impl Read for BrokenDisk {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("broken"))
    }
}

#[test]
fn a_read_error_is_reported_as_such() {
    let outcome = WordVectors::read(BrokenDisk, "file", None);
    assert!(matches!(outcome, Err(wordmover::Error::Read { .. })));
    assert_eq!(message(outcome), "cannot read file: broken");
}

#[test]
fn lines_may_end_and_separate_as_other_programs_write_them() {
    let expected = content(&read(b"a 1 2\nb 3 4\n").unwrap());
    for text in [
        "a 1 2\r\nb 3 4\r\n",
        "a\t1\t2\nb 3 4  \n",
        "a 1 2 \nb 3 4 \n",
        "a 1 2\nb 3 4\n\n \n",
        "\u{feff}a 1 2\nb 3 4\n",
        "2 2\na 1 2\nb 3 4\n\n",
        "2 2 \r\na 1.0 2e0\r\nb +3 .4e1\r\n",
        "\u{feff}2 2\na 1 2\nb 3 4\n",
    ] {
        let vectors = read(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(content(&vectors), expected, "{text:?}");
    }
}

#[test]
fn words_with_inner_spaces_are_read_once_the_dimension_is_known() {
    let vectors = read(b"the 1 2\n. . . 3 4\nat name@domain.com 5 6\n").unwrap();
    assert_eq!(
        vectors.words().collect::<Vec<_>>(),
        ["the", ". . .", "at name@domain.com"]
    );
    let vectors = read(b"1 2\n. . . 3 4\n").unwrap();
    assert_eq!(vectors.words().collect::<Vec<_>>(), [". . ."]);
}

#[test]
fn words_may_look_like_numbers_or_hold_other_spaces() {
    let vectors = read("1 0.5 2\nnan 3 4\n\u{a0} 5 6\n\u{85} 7 8\n".as_bytes()).unwrap();
    assert_eq!(
        vectors.words().collect::<Vec<_>>(),
        ["1", "nan", "\u{a0}", "\u{85}"]
    );
}

#[test]
fn a_dimension_of_one_needs_a_header() {
    let vectors = read(b"2 1\na 5\nb 6\n").unwrap();
    assert_eq!(vectors.dim(), 1);
    let mut binary = b"1 1\na ".to_vec();
    binary.extend(0.5f32.to_le_bytes());
    assert_eq!(read(&binary).unwrap().vector(0), [0.5]);
}

#[test]
fn vectors_longer_than_a_buffer_are_read() {
    let dim = 40_000;
    let row: Vec<f32> = (0..dim).map(|i| i as f32 / 64.0).collect();
    let text: String = row.iter().map(|value| format!(" {value}")).collect();
    let text = format!("wide{text}\nwider{text}\n");
    let vectors = read(text.as_bytes()).unwrap();
    assert_eq!((vectors.len(), vectors.vector(1)), (2, row.clone()));
    let mut binary = format!("2 {dim}\n").into_bytes();
    for word in ["wide ", "wider "] {
        binary.extend(word.as_bytes());
        binary.extend(row.iter().flat_map(|value| value.to_le_bytes()));
    }
    assert_eq!(content(&read(&binary).unwrap()), content(&vectors));
}

#[test]
fn saving_and_opening_gives_the_table_back() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("vectors.safetensors");
    let table = samples::table();
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        table.save(&path, precision).unwrap();
        let opened = WordVectors::open(&path, None).unwrap();
        assert_eq!(opened.precision(), precision);
        opened.verify_checksum().unwrap();
        assert_eq!(
            fs::read(&path).unwrap(),
            samples::native(precision),
            "the same bytes each time"
        );
        if precision != Precision::Int8 {
            assert_eq!(content(&opened), content(&table));
        }
        // Over the file that is mapped: it is replaced, not overwritten.
        let before = content(&opened);
        opened.save(&path, precision).unwrap();
        assert_eq!(content(&opened), before);
        assert_eq!(
            fs::read(&path).unwrap(),
            samples::native(precision),
            "no further loss"
        );
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left aside");
}

#[cfg(unix)]
#[test]
fn a_saved_file_has_the_permissions_of_an_ordinary_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempdir().unwrap();
    let (saved, ordinary) = (folder.path().join("saved"), folder.path().join("ordinary"));
    samples::table().save(&saved, Precision::F32).unwrap();
    fs::write(&ordinary, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&saved), mode(&ordinary));
}

#[cfg(unix)]
#[test]
fn a_pipe_can_be_opened() {
    let folder = tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no mkfifo here");
        return;
    }
    for (format, bytes) in samples::all() {
        let expected = content(&read(&bytes).unwrap());
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::write(pipe, bytes)
        });
        let vectors = WordVectors::open(&pipe, None).unwrap();
        writer.join().unwrap().unwrap();
        assert_eq!(content(&vectors), expected, "{format}");
    }
}

#[test]
fn tables_can_be_shared_among_threads() {
    fn assert_shareable<T: Send + Sync + 'static>() {}
    assert_shareable::<WordVectors>();
}
