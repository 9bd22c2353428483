//! Pairs of texts from a table, with people's scores or without.

use std::path::Path;

use anyhow::{Result, bail};

use super::format::Format;
use super::lines::Lines;
use super::row::Row;
use super::source::{Source, is_standard_input};
use super::table::Dialect;
use crate::usage::usage_error;

/// Two texts and, if the table has three columns, how similar a person finds them.
#[derive(Debug, PartialEq)]
pub struct Pair {
    pub gold: Option<f64>,
    pub texts: (String, String),
}

/// Reads a TSV or CSV file, or TSV from standard input: two texts a row, or a score and
/// two texts. There is one pair at least.
pub fn read_pairs(path: &Path, header: bool) -> Result<Vec<Pair>> {
    let dialect = match Format::from_suffix(path) {
        _ if is_standard_input(path) => Dialect::Tsv,
        Ok(Format::Tsv) => Dialect::Tsv,
        Ok(Format::Csv) => Dialect::Csv,
        _ => {
            return Err(usage_error(format!(
                "{}: pairs are read from a .tsv or .csv file; for two texts, give both",
                path.display()
            )));
        }
    };
    read(Lines::new(Source::open(path)?), dialect, header)
}

fn read(mut lines: Lines, dialect: Dialect, header: bool) -> Result<Vec<Pair>> {
    let mut row = Row::default();
    let mut pairs = Vec::new();
    let mut n_columns = None;
    let mut blank_line = None;
    let mut skip = header;
    while dialect.read_row(&mut lines, &mut row)? {
        // Blank lines are wrong unless nothing follows them.
        if row.is_blank {
            blank_line.get_or_insert(row.line);
            continue;
        }
        let found = row.n_fields();
        let due = *n_columns.get_or_insert(found);
        if let Some(line) = blank_line {
            return Err(lines.error_at(line, format!("expected {due} columns, found a blank line")));
        }
        if !(2..=3).contains(&due) {
            bail!(
                "{} has {due} columns; pairs have two (the texts) or three (a score first)",
                lines.name()
            );
        }
        if found != due {
            let problem = format!("expected {due} columns, found {found}");
            return Err(lines.error_at(row.line, problem));
        }
        if std::mem::take(&mut skip) {
            continue;
        }
        let gold = match due {
            3 => match row.field(0).trim().parse::<f64>() {
                Ok(score) if score.is_finite() => Some(score),
                _ => {
                    let hint = match pairs.is_empty() && !header {
                        true => "; pass --header if this is the header",
                        false => "",
                    };
                    let problem = format!("expected a score, found {:?}{hint}", row.field(0));
                    return Err(lines.error_at(row.line, problem));
                }
            },
            _ => None,
        };
        pairs.push(Pair {
            gold,
            texts: (row.field(due - 2).to_owned(), row.field(due - 1).to_owned()),
        });
    }
    if pairs.is_empty() {
        bail!("{} holds no pairs", lines.name());
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, header: bool) -> Result<Vec<Pair>> {
        read(Lines::of("pairs", text.as_bytes()), Dialect::Tsv, header)
    }

    #[test]
    fn two_columns_are_texts_and_a_third_before_them_is_a_score() {
        let texts = ("a b".to_owned(), String::new());
        let plain = of("a b\t\n", false).unwrap();
        assert_eq!(
            plain,
            [Pair {
                gold: None,
                texts: texts.clone()
            }]
        );
        let scored = of("score\tx\ty\n 2.5\ta b\t\n\n", true).unwrap();
        assert_eq!(
            scored,
            [Pair {
                gold: Some(2.5),
                texts
            }]
        );
        for (text, header) in [("", false), ("", true), ("\n\n", false), ("x\ty\n", true)] {
            let error = of(text, header).unwrap_err();
            assert!(error.to_string().ends_with(" holds no pairs"), "{error}");
        }
    }

    #[test]
    fn what_is_no_pair_is_named_by_its_line() {
        let say = |text, header| of(text, header).unwrap_err().to_string();
        assert_eq!(
            say("score\ta\tb\n", false),
            "pairs: line 1: expected a score, found \"score\"; pass --header if this is the header"
        );
        assert_eq!(
            say("1\ta\tb\nNaN\ta\tb\n", false),
            "pairs: line 2: expected a score, found \"NaN\""
        );
        assert_eq!(
            say("1\ta\tb\na\tb\n", false),
            "pairs: line 2: expected 3 columns, found 2"
        );
        assert_eq!(
            say("a\tb\n\na\tb\n", false),
            "pairs: line 2: expected 2 columns, found a blank line"
        );
        assert_eq!(
            say("a\n", false),
            "pairs has 1 columns; pairs have two (the texts) or three (a score first)"
        );
    }
}
