//! Text formats: a word and its numbers on each line.
//!
//! word2vec's text form and fastText's `.vec` begin with a line `COUNT
//! DIMENSION`; GloVe's files begin with the first word. What is accepted:
//!
//! - Fields are separated by one space or one tab. Spaces and tabs at the end
//!   of a line (fastText writes one) and a carriage return before the line end
//!   are ignored.
//! - The last DIMENSION fields are the numbers and must all be finite in single
//!   precision. What precedes them is the word.
//! - A word may hold inner spaces (GloVe 840B has `. . .`), unless its last
//!   part is itself a number: then the line has a number too many, and nothing
//!   tells which. The first line of a file without header cannot have such a
//!   word, because it is what tells the dimension.
//! - Empty lines may follow the last word but not precede it.
//! - Every line must end. A file cut inside its last number would otherwise
//!   give a wrong value and no complaint.

use super::error::Checked;
use super::foreign::GrowingTable;
use super::input::{Delimited, Input};
use super::{Place, VectorsError};
use crate::Result;

/// No line may be longer: 65,536 numbers of 255 characters.
pub(super) const MAX_LINE: usize = 1 << 24;

/// What is known before the first line is read.
pub(super) struct Layout {
    pub(super) dim: usize,
    /// The number of words, where a header promises it. The header itself has
    /// been consumed.
    pub(super) promised: Option<u64>,
}

/// Reads up to `limit` words.
pub(super) fn read(input: &mut Input<'_>, layout: &Layout, limit: u64) -> Result<GrowingTable> {
    let first_line = if layout.promised.is_some() { 2 } else { 1 };
    let mut table = GrowingTable::new(layout.dim);
    let mut line_number = first_line;
    let mut blank_line = None;
    while table.len() < limit {
        let at = Place::Line(line_number);
        let len = match input.find(b'\n', MAX_LINE)? {
            Delimited::After(len) => len,
            Delimited::End(0) => break,
            Delimited::End(_) => return Err(input.problem(VectorsError::UnfinishedLine { at })),
            Delimited::TooLong => {
                return Err(input.problem(VectorsError::LineTooLong {
                    at,
                    limit: MAX_LINE,
                }));
            }
        };
        let line = trim_line(input.seen(len));
        let outcome = if line.is_empty() {
            blank_line.get_or_insert(at);
            Ok(())
        } else if let Some(at) = blank_line {
            Err(VectorsError::BlankLine { at })
        } else if let Some(promised) = layout.promised.filter(|&n| n == table.len()) {
            Err(VectorsError::MoreThanPromised { at, promised })
        } else {
            parse_line(line, layout.dim, at, &mut table.values)
                .and_then(|word| table.push_word(word, at, |id| Place::Line(first_line + id)))
        };
        outcome.map_err(|problem| input.problem(problem))?;
        input.consume(len + 1);
        line_number += 1;
    }
    match layout.promised {
        Some(promised) if table.len() < promised.min(limit) => {
            let at = Place::Line(line_number);
            Err(input.problem(VectorsError::CutShort {
                at,
                promised,
                found: table.len(),
            }))
        }
        _ => Ok(table),
    }
}

/// Whether the next line is a word and `dim` finite numbers.
pub(super) fn first_line_fits(input: &mut Input<'_>, dim: usize) -> Result<bool> {
    let len = match input.find(b'\n', MAX_LINE)? {
        Delimited::After(len) | Delimited::End(len) => len,
        Delimited::TooLong => return Ok(false),
    };
    let line = trim_line(input.seen(len));
    let word = parse_line(line, dim, Place::Line(2), &mut Vec::new());
    Ok(word.is_ok_and(|word| !word.is_empty()))
}

/// The line without what may follow its last field.
pub(super) fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let n_trailing = line
        .iter()
        .rev()
        .take_while(|&&byte| is_separator(byte))
        .count();
    &line[..line.len() - n_trailing]
}

/// The fields of a line, some of them perhaps empty.
pub(super) fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t'])
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether a field would be taken for a number, finite or not.
pub(super) fn is_number(field: &str) -> bool {
    field.parse::<f32>().is_ok()
}

/// Appends the last `dim` fields to `values` and returns what precedes them.
fn parse_line<'a>(
    line: &'a [u8],
    dim: usize,
    at: Place,
    values: &mut Vec<f32>,
) -> Checked<&'a str> {
    let line = std::str::from_utf8(line).map_err(|_| VectorsError::BadUtf8 { at })?;
    let n_separators = line.bytes().filter(|&byte| is_separator(byte)).count();
    let Some(n_inner) = n_separators.checked_sub(dim) else {
        return Err(VectorsError::WrongNumberOfValues {
            at,
            expected: dim,
            found: n_separators,
        });
    };
    let (word_end, _) = line
        .bytes()
        .enumerate()
        .filter(|&(_, byte)| is_separator(byte))
        .nth(n_inner)
        .expect("there are at least n_inner + 1 separators, because dim is not 0");
    let (word, numbers) = (&line[..word_end], &line[word_end + 1..]);
    for field in fields(numbers) {
        values.push(parse_number(field, at)?);
    }
    if n_inner > 0 {
        check_inner_spaces(word, dim, at)?;
    }
    Ok(word)
}

fn parse_number(field: &str, at: Place) -> Checked<f32> {
    match field.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(VectorsError::NotFinite {
            at,
            value: field.to_owned(),
        }),
        Err(_) if field.is_empty() => Err(VectorsError::EmptyField { at }),
        Err(_) => Err(VectorsError::NotANumber {
            at,
            field: field.to_owned(),
        }),
    }
}

/// Decides whether a word with separators in it can be a word.
fn check_inner_spaces(word: &str, dim: usize, at: Place) -> Checked<()> {
    let n_numbers = word
        .rsplit([' ', '\t'])
        .take_while(|part| is_number(part))
        .count();
    if n_numbers > 0 {
        let found = dim + n_numbers;
        return Err(VectorsError::WrongNumberOfValues {
            at,
            expected: dim,
            found,
        });
    }
    if word.contains('\t') {
        return Err(VectorsError::TabInWord { at });
    }
    if fields(word).any(str::is_empty) {
        return Err(VectorsError::EmptyField { at });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Place = Place::Line(7);

    fn parse(line: &str, dim: usize) -> Checked<(&str, Vec<f32>)> {
        let mut values = Vec::new();
        let word = parse_line(trim_line(line.as_bytes()), dim, AT, &mut values)?;
        Ok((word, values))
    }

    #[test]
    fn a_line_is_a_word_and_its_numbers() {
        assert_eq!(parse("the 0.5 -1e2", 2), Ok(("the", vec![0.5, -100.0])));
        assert_eq!(parse("the\t0.5 -1 \r", 2), Ok(("the", vec![0.5, -1.0])));
        assert_eq!(parse("1 2 3", 2), Ok(("1", vec![2.0, 3.0])));
    }

    #[test]
    fn words_may_have_inner_spaces_but_not_end_in_a_number() {
        assert_eq!(parse(". . . 1 2", 2), Ok((". . .", vec![1.0, 2.0])));
        let surplus = |found| VectorsError::WrongNumberOfValues {
            at: AT,
            expected: 2,
            found,
        };
        assert_eq!(parse("the 0 1 2", 2), Err(surplus(3)));
        assert_eq!(parse(". . nan inf 1 2", 2), Err(surplus(4)));
        assert_eq!(
            parse("a\tb 1 2", 2),
            Err(VectorsError::TabInWord { at: AT })
        );
        assert_eq!(
            parse("the  1 2", 2),
            Err(VectorsError::EmptyField { at: AT })
        );
    }
}
