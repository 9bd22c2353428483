//! Rows of comma-separated values, quoted as in RFC 4180.
//!
//! The `csv` crate is not used for reading because it forgives too much for our
//! purpose: a quote that is never closed turns the rest of the file into one field
//! without a word, its rows have no bound on their size, and the line numbers it
//! gives are off by one where lines end in CRLF. The tests hold this reader against it on
//! everything the RFC allows.
//!
//! Beyond the RFC, a quote inside a field that does not start with one is an ordinary
//! character (`5" pipe`), and LF ends a line as CRLF does. A field that goes on after
//! its closing quote is refused: it is the mark of quotes escaped some other way, and
//! any guess at the meaning would embed a wrong text.

use anyhow::Result;

use super::lines::Lines;
use super::row::Row;

/// Where in the grammar the reader stands.
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// After a quote in a quoted field: its end, or the first of a doubled quote.
    QuoteSeen,
}

/// How a line ended.
enum LineEnd {
    EndsRow,
    InsideQuotes,
    /// Something other than a comma follows a closing quote.
    StrayText,
}

/// Reads the next row, which may span lines; false at the end of the input.
pub fn read_row(lines: &mut Lines, row: &mut Row) -> Result<bool> {
    let mut state = State::FieldStart;
    let mut first_line = None;
    loop {
        let Some(line) = lines.next_line()? else {
            return match first_line {
                None => Ok(false),
                Some(first) => {
                    Err(lines
                        .error_at(first, "a quote in the row that starts here is never closed"))
                }
            };
        };
        let number = line.number;
        if first_line.is_none() {
            row.start(number, line.text.is_empty());
        }
        let first = *first_line.get_or_insert(number);
        match read_line(line.text, state, row) {
            LineEnd::EndsRow => {
                row.end_field();
                return Ok(true);
            }
            LineEnd::InsideQuotes => row.push(line.ending),
            LineEnd::StrayText => {
                return Err(lines.error_at(
                    number,
                    "a field goes on after its closing quote; a quote inside a quoted field is written twice",
                ));
            }
        }
        if row.n_bytes() > lines.max_bytes() {
            let limit = lines.max_mebibytes();
            return Err(lines.error_at(
                first,
                format!(
                    "the row that starts here is longer than {limit} MiB; is a quote left open?"
                ),
            ));
        }
        state = State::Quoted;
    }
}

/// Reads one line into the row. The last field is left open.
fn read_line(text: &str, mut state: State, row: &mut Row) -> LineEnd {
    let mut rest = text;
    loop {
        match state {
            State::FieldStart => match rest.strip_prefix('"') {
                Some(after) => (rest, state) = (after, State::Quoted),
                None => state = State::Plain,
            },
            State::Plain => match rest.split_once(',') {
                Some((field, after)) => {
                    row.push(field);
                    row.end_field();
                    (rest, state) = (after, State::FieldStart);
                }
                None => {
                    row.push(rest);
                    return LineEnd::EndsRow;
                }
            },
            State::Quoted => match rest.split_once('"') {
                Some((part, after)) => {
                    row.push(part);
                    (rest, state) = (after, State::QuoteSeen);
                }
                None => {
                    row.push(rest);
                    return LineEnd::InsideQuotes;
                }
            },
            State::QuoteSeen => {
                if rest.is_empty() {
                    return LineEnd::EndsRow;
                } else if let Some(after) = rest.strip_prefix('"') {
                    row.push("\"");
                    (rest, state) = (after, State::Quoted);
                } else if let Some(after) = rest.strip_prefix(',') {
                    row.end_field();
                    (rest, state) = (after, State::FieldStart);
                } else {
                    return LineEnd::StrayText;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(mut lines: Lines) -> Result<Vec<(u64, Vec<String>)>> {
        let mut row = Row::default();
        let mut rows = Vec::new();
        while read_row(&mut lines, &mut row)? {
            rows.push((row.line, row.fields().map(String::from).collect()));
        }
        Ok(rows)
    }

    fn rows(text: &str) -> Vec<(u64, Vec<String>)> {
        read(Lines::of("docs.csv", text.as_bytes())).unwrap()
    }

    fn error(text: &str) -> String {
        read(Lines::of("docs.csv", text.as_bytes()))
            .unwrap_err()
            .to_string()
    }

    fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(|field| field.to_string()).collect())
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_ends() {
        assert_eq!(
            rows("a,\"b,\"\"c\"\"\",\r\n\"two\r\nlines\n\",\"\"\nlast,"),
            [
                row(1, &["a", "b,\"c\"", ""]),
                row(2, &["two\r\nlines\n", ""]),
                row(5, &["last", ""])
            ]
        );
    }

    #[test]
    fn a_quote_inside_a_plain_field_is_a_character() {
        assert_eq!(rows("5\" pipe, \"x\"\n"), [row(1, &["5\" pipe", " \"x\""])]);
    }

    #[test]
    fn blank_lines_are_rows_of_one_empty_field() {
        assert_eq!(rows("\n\r\n"), [row(1, &[""]), row(2, &[""])]);
        assert_eq!(rows(""), []);
    }

    #[test]
    fn a_quote_never_closed_is_named_by_the_line_it_started_on() {
        assert_eq!(
            error("a\nb,\"c\nd\ne\n"),
            "docs.csv: line 2: a quote in the row that starts here is never closed"
        );
        assert_eq!(
            error("\""),
            "docs.csv: line 1: a quote in the row that starts here is never closed"
        );
    }

    #[test]
    fn text_after_a_closing_quote_is_refused() {
        assert_eq!(
            error("a\n\"he said \\\"no\\\"\"\n"),
            "docs.csv: line 2: a field goes on after its closing quote; \
             a quote inside a quoted field is written twice"
        );
    }

    #[test]
    fn a_row_that_grows_past_the_limit_over_many_lines_is_refused() {
        let mut text = "a\n\"".to_string();
        text.push_str(&"0123456789\n".repeat(100_000));
        let lines = Lines::of("docs.csv", text.as_bytes()).with_max_mebibytes(1);
        assert_eq!(
            read(lines).unwrap_err().to_string(),
            "docs.csv: line 2: the row that starts here is longer than 1 MiB; is a quote left open?"
        );
    }

    proptest! {
        /// What the csv crate writes, both readers read alike and as written.
        #[test]
        fn agrees_with_the_csv_crate(
            table in proptest::collection::vec(proptest::collection::vec("[a\",\r\n é]{0,6}", 1..5), 0..8),
            crlf in any::<bool>(),
        ) {
            let terminator = if crlf { ::csv::Terminator::CRLF } else { ::csv::Terminator::Any(b'\n') };
            let mut writer = ::csv::WriterBuilder::new().flexible(true).terminator(terminator).from_writer(Vec::new());
            for fields in &table {
                writer.write_record(fields).unwrap();
            }
            let bytes = writer.into_inner().unwrap();

            let ours: Vec<Vec<String>> =
                read(Lines::of("docs.csv", &bytes)).unwrap().into_iter().map(|(_, fields)| fields).collect();
            prop_assert_eq!(&ours, &table);

            let theirs: Vec<Vec<String>> = ::csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(bytes.as_slice())
                .records()
                .map(|record| record.unwrap().iter().map(String::from).collect())
                .collect();
            prop_assert_eq!(&theirs, &table);
        }
    }
}
