//! Arbitrary and damaged files: every reader ends, without a panic, in documents or one error.

use std::io::Cursor;

use proptest::prelude::*;

use super::documents::{DocumentText, Documents};
use super::format::Format;
use super::options::InputOptions;
use super::source::Source;

fn read(format: Format, options: &InputOptions, bytes: &[u8]) -> anyhow::Result<Vec<DocumentText>> {
    let source = Source::from_bytes("docs".to_string(), Box::new(Cursor::new(bytes.to_vec())))?;
    Documents::new(source, format, options)?.collect()
}

/// Options that fit the valid files below, with and without a header and ids.
fn options_of(format: Format) -> Vec<InputOptions> {
    let some = |name: &str| Some(name.to_string());
    match format {
        Format::Text => vec![InputOptions::default()],
        Format::Tsv | Format::Csv => vec![
            InputOptions {
                column: some("text"),
                id_column: some("id"),
                ..Default::default()
            },
            InputOptions {
                column: some("2"),
                header: false,
                ..Default::default()
            },
            InputOptions::default(),
        ],
        Format::JsonLines => vec![
            InputOptions {
                column: some("text"),
                id_column: some("id"),
                ..Default::default()
            },
            InputOptions {
                column: some("text"),
                ..Default::default()
            },
        ],
    }
}

fn valid_file(format: Format) -> &'static [u8] {
    match format {
        Format::Text => "\u{feff}one document\r\n\nthe third, caf\u{e9}\n".as_bytes(),
        Format::Tsv => "id\ttext\n1\tone\r\n2\t\"two\n3\tcaf\u{e9}\n".as_bytes(),
        Format::Csv => {
            "id,text\r\n1,one\r\n2,\"two,\nlines \"\"quoted\"\"\"\r\n3,caf\u{e9}\n".as_bytes()
        }
        Format::JsonLines => {
            "{\"id\": 1, \"text\": \"one\"}\n{\"id\": \"b\", \"text\": \"caf\\u00e9\"}\n\n"
                .as_bytes()
        }
    }
}

const FORMATS: [Format; 4] = [Format::Text, Format::Tsv, Format::Csv, Format::JsonLines];

/// Newlines ended, plus a last line that is not.
fn count_lines(bytes: &[u8]) -> usize {
    let n_ended = bytes.iter().filter(|&&byte| byte == b'\n').count();
    n_ended + usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))
}

/// Bytes rich in those the readers care about.
fn telling_bytes() -> impl Strategy<Value = Vec<u8>> {
    let telling = proptest::sample::select(
        b"\n\n\r\t,,\"\"{}[]:\\a1 \xc3\xa9\xff\x1f\x8b\xef\xbb\xbf".to_vec(),
    );
    proptest::collection::vec(prop_oneof![4 => telling, 1 => any::<u8>()], 0..200)
}

/// A valid file with bytes changed, inserted and removed, perhaps cut short.
fn damaged(format: Format) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..3u8, telling_bytes());
    (
        proptest::collection::vec(change, 1..4),
        any::<prop::sample::Index>(),
        any::<bool>(),
    )
        .prop_map(move |(changes, cut, is_cut)| {
            let mut bytes = valid_file(format).to_vec();
            for (place, kind, inserted) in changes {
                let place = place.index(bytes.len() + 1);
                let byte = inserted.first().copied().unwrap_or(b'"');
                match kind {
                    0 if place < bytes.len() => bytes[place] = byte,
                    1 if place < bytes.len() => {
                        bytes.remove(place);
                    }
                    _ => {
                        bytes.splice(place..place, inserted);
                    }
                }
            }
            if is_cut {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            bytes
        })
}

fn any_format_damaged() -> impl Strategy<Value = (Format, Vec<u8>)> {
    proptest::sample::select(FORMATS.to_vec())
        .prop_flat_map(|format| (Just(format), damaged(format)))
}

#[test]
fn the_files_to_damage_are_valid() {
    for (format, n_documents) in FORMATS.into_iter().zip([3, 3, 3, 2]) {
        let documents = read(format, &options_of(format)[0], valid_file(format)).unwrap();
        assert_eq!(documents.len(), n_documents, "{format:?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop_oneof![telling_bytes(), proptest::collection::vec(any::<u8>(), 0..300)],
    ) {
        for format in FORMATS {
            for options in options_of(format) {
                let _ = read(format, &options, &bytes);
            }
        }
    }

    #[test]
    fn damaged_files_never_panic_and_errors_name_the_file((format, bytes) in any_format_damaged()) {
        for options in options_of(format) {
            if let Err(error) = read(format, &options, &bytes) {
                let message = format!("{error:#}");
                prop_assert!(message.contains("docs"), "{}", message);
                prop_assert!(!message.contains('\n'), "{}", message);
            }
        }
    }

    #[test]
    fn a_text_file_has_as_many_documents_as_lines(
        text in "[a \t\r\n\u{e9}\u{feff}]{0,60}",
    ) {
        let documents = read(Format::Text, &InputOptions::default(), text.as_bytes()).unwrap();
        let without_mark = text.strip_prefix('\u{feff}').unwrap_or(&text);
        prop_assert_eq!(documents.len(), count_lines(without_mark.as_bytes()));
        let expected: Vec<&str> = without_mark.lines().collect();
        let found: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_table_is_read_back_as_written(
        rows in proptest::collection::vec(("[a-c,\"\r\n]{0,5}", "[a-c,\"\r\n]{0,9}"), 0..10),
    ) {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["id", "text"]).unwrap();
        for (id, text) in &rows {
            writer.write_record([id, text]).unwrap();
        }
        let documents = read(Format::Csv, &options_of(Format::Csv)[0], &writer.into_inner().unwrap()).unwrap();
        let found: Vec<(String, String)> =
            documents.into_iter().map(|document| (document.id.unwrap(), document.text)).collect();
        prop_assert_eq!(found, rows);
    }
}
