//! Rows of tab-separated values.
//!
//! A tab ends a field and a line end ends a row, always: there is no quoting and no
//! escaping, so a quote is an ordinary character. That is how the text-classification
//! corpora that come as TSV are written, and reading quotes there would swallow rows.

use anyhow::Result;

use super::lines::Lines;
use super::row::Row;

/// Reads the next row; false at the end of the input.
pub fn read_row(lines: &mut Lines, row: &mut Row) -> Result<bool> {
    let Some(line) = lines.next_line()? else {
        return Ok(false);
    };
    row.start(line.number, line.text.is_empty());
    for field in line.text.split('\t') {
        row.push(field);
        row.end_field();
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_split_and_quotes_mean_nothing() {
        let mut lines = Lines::of("docs.tsv", b"a\t\"b\tc\"\r\n\t\n\nd");
        let mut row = Row::default();
        let mut rows = Vec::new();
        while read_row(&mut lines, &mut row).unwrap() {
            rows.push((
                row.line,
                row.is_blank,
                row.fields().map(String::from).collect::<Vec<_>>(),
            ));
        }
        let fields = |fields: &[&str]| {
            fields
                .iter()
                .map(|field| field.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            rows,
            [
                (1, false, fields(&["a", "\"b", "c\""])),
                (2, false, fields(&["", ""])),
                (3, true, fields(&[""])),
                (4, false, fields(&["d"])),
            ]
        );
    }
}
