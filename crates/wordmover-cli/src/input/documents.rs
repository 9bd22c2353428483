//! The stream of documents, whatever the format.

use std::path::Path;

use anyhow::Result;

use super::format::Format;
use super::json_lines::JsonLines;
use super::lines::Lines;
use super::options::InputOptions;
use super::source::{Source, is_standard_input, shown};
use super::table::{Dialect, Table};
use crate::usage::usage_error;

/// One document as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentText {
    /// Present exactly when an id column was asked for.
    pub id: Option<String>,
    /// Present exactly when a label column was asked for; never empty.
    pub label: Option<String>,
    /// Present exactly when a split column was asked for.
    pub split: Option<String>,
    pub text: String,
}

/// Opens a file of documents, or standard input for `-`, which is text unless told otherwise.
///
/// A table's header is read here, so that a missing column shows before any work is done.
pub fn open(path: &Path, options: &InputOptions) -> Result<Documents> {
    let format = match options.format {
        Some(format) => format,
        None if is_standard_input(path) && options.label_column.is_some() => {
            return Err(usage_error(
                "documents with labels on standard input need --format tsv, csv or jsonl",
            ));
        }
        None if is_standard_input(path) => {
            let hint = "standard input is text unless --format says otherwise";
            let check = options.check(Format::Text);
            check.map_err(|error| usage_error(format!("{error}; {hint}")))?;
            Format::Text
        }
        None => match Format::from_suffix(path) {
            Ok(format) => format,
            // A name without a suffix may be a mistake altogether.
            Err(unknown) => return Source::open(path).and(Err(unknown)),
        },
    };
    // Before opening: wrong arguments are wrong whatever the file holds.
    options.check(format)?;
    Documents::new(Source::open(path)?, format, options)
}

/// Opens several files, one after the other; all of them are opened now, so that whatever is
/// wrong with their names or columns shows before the work.
pub fn open_all(paths: &[impl AsRef<Path>], options: &InputOptions) -> Result<Documents> {
    let mut later = Vec::new();
    for path in paths {
        later.push(open(path.as_ref(), options)?);
    }
    later.reverse();
    let mut first = later
        .pop()
        .ok_or_else(|| usage_error("no input is named"))?;
    first.later = later;
    Ok(first)
}

/// What several files are called in messages.
pub fn shown_all(paths: &[impl AsRef<Path>]) -> String {
    let names: Vec<String> = paths.iter().map(|path| shown(path.as_ref())).collect();
    names.join(", ")
}

/// The documents of one input or of several, read as they are asked for; ends after the first
/// error.
pub struct Documents {
    reader: Reader,
    /// Inputs that follow, the last first.
    later: Vec<Documents>,
    has_ended: bool,
}

enum Reader {
    Text(Lines),
    Table(Table),
    JsonLines(JsonLines),
}

impl Documents {
    /// What the input is called in messages.
    pub fn name(&self) -> &str {
        match &self.reader {
            Reader::Text(lines) => lines.name(),
            Reader::Table(table) => table.name(),
            Reader::JsonLines(json_lines) => json_lines.name(),
        }
    }

    pub(super) fn new(source: Source, format: Format, options: &InputOptions) -> Result<Documents> {
        options.check(format)?;
        let lines = Lines::new(source);
        let reader = match format {
            Format::Text => Reader::Text(lines),
            Format::Tsv => Reader::Table(Table::new(lines, Dialect::Tsv, options)?),
            Format::Csv => Reader::Table(Table::new(lines, Dialect::Csv, options)?),
            Format::JsonLines => Reader::JsonLines(JsonLines::new(lines, options)),
        };
        Ok(Documents {
            reader,
            later: Vec::new(),
            has_ended: false,
        })
    }
}

impl Iterator for Documents {
    type Item = Result<DocumentText>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = match &mut self.reader {
            Reader::Text(lines) => lines.next_line().map(|line| {
                line.map(|line| DocumentText {
                    text: line.text.to_string(),
                    ..DocumentText::default()
                })
            }),
            Reader::Table(table) => table.next_document(),
            Reader::JsonLines(json_lines) => json_lines.next_document(),
        };
        if matches!(next, Ok(None))
            && let Some(mut following) = self.later.pop()
        {
            following.later = std::mem::take(&mut self.later);
            *self = following;
            return self.next();
        }
        self.has_ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tempfile::TempDir;

    use super::*;
    use crate::usage::is_usage_error;

    fn texts(path: &Path, options: &InputOptions) -> Vec<String> {
        open(path, options)
            .unwrap()
            .map(|document| document.unwrap().text)
            .collect()
    }

    fn write(directory: &TempDir, name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn some(name: &str) -> Option<String> {
        Some(name.to_string())
    }

    #[test]
    fn documents_can_be_read_on_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<Documents>();
    }

    #[test]
    fn every_line_of_a_text_file_is_a_document() {
        let directory = tempfile::tempdir().unwrap();
        for (bytes, expected) in [
            (&b""[..], &[][..]),
            (b"\n", &[""]),
            (b"one\n\ntwo\n", &["one", "", "two"]),
            (b"one\r\n two\ttoo \r\nlast", &["one", " two\ttoo ", "last"]),
            (b"\xef\xbb\xbfone\n\n", &["one", ""]),
        ] {
            let path = write(&directory, "docs.txt", bytes);
            assert_eq!(texts(&path, &InputOptions::default()), expected);
        }
    }

    #[test]
    fn the_suffix_chooses_the_reader_and_gzip_is_seen_through() {
        let directory = tempfile::tempdir().unwrap();
        let column = InputOptions {
            column: some("text"),
            ..Default::default()
        };
        let field = InputOptions {
            column: some("text"),
            ..Default::default()
        };
        for (name, bytes, options) in [
            ("docs.txt", "a, b\n", InputOptions::default()),
            ("docs.tsv", "id\ttext\n1\ta, b\n", column.clone()),
            ("docs.csv", "id,text\n1,\"a, b\"\n", column),
            ("docs.jsonl", "{\"text\": \"a, b\"}\n", field.clone()),
            ("docs.ndjson", "{\"text\": \"a, b\"}\n", field),
        ] {
            let path = write(&directory, name, bytes.as_bytes());
            assert_eq!(texts(&path, &options), ["a, b"], "{name}");

            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes.as_bytes()).unwrap();
            let gzipped = encoder.finish().unwrap();
            let path = write(&directory, &format!("{name}.gz"), &gzipped);
            assert_eq!(texts(&path, &options), ["a, b"], "{name}.gz");
        }
    }

    #[test]
    fn several_files_follow_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let first = write(&directory, "a.txt", b"one\ntwo\n");
        let empty = write(&directory, "b.txt", b"");
        let last = write(&directory, "c.txt", b"three\n");
        let options = InputOptions::default();
        let all = open_all(&[&first, &empty, &last], &options).unwrap();
        let found: Vec<String> = all.map(|document| document.unwrap().text).collect();
        assert_eq!(found, ["one", "two", "three"]);
        let missing = directory.path().join("d.txt");
        assert!(open_all(&[&first, &missing], &options).is_err());
    }

    #[test]
    fn the_format_option_outranks_the_suffix() {
        let directory = tempfile::tempdir().unwrap();
        let path = write(&directory, "docs.csv", b"a,b\n");
        let options = InputOptions {
            format: Some(Format::Text),
            ..Default::default()
        };
        assert_eq!(texts(&path, &options), ["a,b"]);
        let path = write(&directory, "docs.dat", b"a,b\n");
        assert_eq!(texts(&path, &options), ["a,b"]);
    }

    #[test]
    fn wrong_options_are_told_before_the_file_is_opened() {
        for (name, message) in [
            (
                "Cargo.toml",
                "cannot tell the format of Cargo.toml from its suffix; pass --format text, tsv, csv or jsonl",
            ),
            (
                "missing.txt",
                "--column is for TSV, CSV and JSON lines; in a text file every line is a document",
            ),
        ] {
            let options = InputOptions {
                column: some("text"),
                ..Default::default()
            };
            let error = open(Path::new(name), &options).map(|_| ()).unwrap_err();
            assert!(is_usage_error(&error));
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn a_missing_column_is_told_on_opening() {
        let directory = tempfile::tempdir().unwrap();
        let path = write(&directory, "docs.csv", b"label,body\n");
        let options = InputOptions {
            column: some("text"),
            ..Default::default()
        };
        let error = open(&path, &options).map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{} has no column `text`; its columns are `label`, `body`",
                path.display()
            )
        );
        assert!(is_usage_error(&error));
    }

    #[test]
    fn bad_utf8_names_file_and_line_in_every_format() {
        let directory = tempfile::tempdir().unwrap();
        let column = InputOptions {
            column: some("text"),
            ..Default::default()
        };
        let field = InputOptions {
            column: some("text"),
            ..Default::default()
        };
        for (name, bytes, options) in [
            ("docs.txt", &b"a\n\xff\nb\n"[..], InputOptions::default()),
            ("docs.tsv", b"text\tb\n\xff\tc\n", column.clone()),
            ("docs.csv", b"text,b\n\xff,c\n", column),
            ("docs.jsonl", b"{\"text\": \"a\"}\n\xff\n", field),
        ] {
            let path = write(&directory, name, bytes);
            let mut documents = open(&path, &options).unwrap();
            let error = documents.find_map(Result::err).unwrap();
            assert_eq!(
                error.to_string(),
                format!(
                    "{}: line 2: not valid UTF-8 from byte 1 of the line on",
                    path.display()
                )
            );
            assert!(documents.next().is_none(), "an error ends the documents");
        }
    }

    #[test]
    fn a_gzip_file_cut_short_is_an_error_after_the_documents_before_the_cut() {
        let directory = tempfile::tempdir().unwrap();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
        encoder.write_all(b"one\ntwo\nthree\n").unwrap();
        let gzipped = encoder.finish().unwrap();
        let path = write(&directory, "docs.txt.gz", &gzipped[..gzipped.len() - 12]);
        let found: Vec<_> = open(&path, &InputOptions::default()).unwrap().collect();
        let error = found.last().unwrap().as_ref().unwrap_err();
        assert!(
            format!("{error:#}").starts_with(&format!("cannot read {} at line ", path.display()))
        );
        assert!(found[..found.len() - 1].iter().all(Result::is_ok));
    }
}
